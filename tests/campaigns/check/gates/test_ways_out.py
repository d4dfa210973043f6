"""Claims about loops that end when the agent does what the refusal asks for."""

import json
from types import SimpleNamespace

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.gates.ways_out import find_way_out
from pytest_hookharness.model.checkup import CheckSession, Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit, RunCommand, Script, Stop
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace

RULE = Rule("a refusal", Basis.DOCUMENTED, "a page")
NOT_MADE = "The agent does not make docs/REPORT.md, which the hooks look for."
SESSION = CheckSession(title="stops", scenario=Scenario(name="check", script=Script(acts=(FIRST_PROMPT,))))


def refused(reason):
    """The trace of a session whose stop was refused once."""
    reply = Reply(ruling=Ruling.DENY, reason=reason, rule=RULE)
    hook_run = HookRun(hook=Hook(event="Stop", command="./gate.sh"), payload={}, reply=reply)
    decision = Decision(event="Stop", ruling=Ruling.DENY, refused=True, reasons=(reason,), rule=RULE)
    hooked = HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)
    return Trace(steps=(Step(number=1, turn=1, exchange=hooked),))


def search(root, *reasons, assumes=(), runs=True):
    """The way out of a gate that gives one reason after the other, the sessions played, and the symptom."""
    played, left = [], list(reasons[1:])

    def play(session):
        played.append(session.scenario.script.acts)
        ended = SimpleNamespace(verdict_name="terminated", trace=None)
        return SimpleNamespace(verdict_name="livelock", trace=refused(left.pop(0))) if left else ended

    symptom = Symptom(kind="livelock", text="", advice="Let it go.", assumes=assumes)
    way = find_way_out(SESSION, refused(reasons[0]), symptom, root, play, runs=runs)
    return way, played, way and way.described(symptom)


def test_a_file_that_hooks_look_for(tmp_path):
    """An agent makes the file that the hooks look for in vain, where they look for it, and may stop."""
    _, played, gate = search(tmp_path, "Write REPORT.md first.", assumes=(NOT_MADE,))

    assert played == [(FIRST_PROMPT, Stop(), Edit(file="docs/REPORT.md", text="text\n"), Stop())]
    assert gate.text == (
        'Stop is refused as long as docs/REPORT.md does not exist ("Write REPORT.md first."): an agent that '
        "makes it may stop, and one that cannot is refused again and again."
    )
    assert (gate.must_fix, gate.assumes) == (False, ())
    assert gate.advice == "For agents that cannot: let it go."


def test_a_command_that_the_refusal_quotes(tmp_path):
    """An agent runs the command that the refusal quotes, also one of several parts."""
    reason = 'Not committed: run git add -A && git commit -m "more work".'
    way, _, gate = search(tmp_path, reason)

    assert way.moves == (RunCommand(command='git add -A && git commit -m "more work"'),)
    assert 'an agent that runs `git add -A && git commit -m "more work"` may stop' in gate.text


def test_a_command_that_makes_the_file(tmp_path):
    """A file that the quoted command makes is not also made by an edit."""
    made = "The agent does not make .passed, which the hooks look for."
    way, _, _ = search(tmp_path, "Run `touch .passed` once the tests pass.", assumes=(made,))

    assert way.moves == (RunCommand(command="touch .passed"),)


@pytest.mark.parametrize(
    "reason",
    [
        "Do not stop until `git tag x` was run.",
        "You did not run `git tag x`.",
        "Do not forget to run `git tag x`.",
        "Do not skip this: run `git tag x`.",
        "Before you quit, run `git tag x`.",
    ],
)
def test_what_is_asked_for_in_other_words(tmp_path, reason):
    """A command is asked for also where a word near it looks like a warning."""
    assert search(tmp_path, reason)[0].moves == (RunCommand(command="git tag x"),)


@pytest.mark.parametrize("reason", ["Run `make test` first.", "You edited files: run the tests (make test)."])
def test_a_check_that_is_asked_for(tmp_path, reason):
    """A test or a linter is not run: the hooks are told that it succeeded, and the report assumes it."""
    way, _, gate = search(tmp_path, reason)
    assert [(one.command, one.given is not None) for one in way.moves] == [("make test", True)]
    assert any(one.startswith("`make test` succeeds: it was not run") for one in gate.assumes)


def test_a_list_with_open_items(tmp_path):
    """An agent that finishes the items of the list that a refusal names may stop."""
    (tmp_path / "TODO.md").write_text("# To do\n- [x] one\n- [ ] two\n  * [ ] three\n")
    way, _, gate = search(tmp_path, "TODO.md has open items: finish them.")
    assert [one.text for one in way.moves] == ["# To do\n- [x] one\n- [x] two\n  * [x] three\n"]
    assert "an agent that ticks all items of TODO.md may stop" in gate.text


def test_one_thing_after_the_other(tmp_path):
    """If a gate then asks for a second thing, the agent does both; a third refusal ends the search."""
    way, played, _ = search(tmp_path, "Run `git add .` first.", "Now run `git commit -m x`.")

    assert len(played) == 2
    assert [one.command for one in way.moves] == ["git add .", "git commit -m x"]
    assert search(tmp_path, *(f"Run `git tag v{number}`." for number in range(5)))[0] is None


@pytest.mark.parametrize(
    ("reason", "more"),
    [
        pytest.param("Run the tests first.", {}, id="no command"),
        pytest.param("Say <promise>DONE</promise> to stop.", {}, id="words"),
        pytest.param("To give up, run `rm .loop.md`.", {}, id="gives up the loop"),
        pytest.param("Errors in there.py.", {}, id="is there"),
        pytest.param("Not yet.", {"assumes": (NOT_MADE,)}, id="not named"),
        pytest.param("Not yet (XREPORT.md).", {"assumes": (NOT_MADE,)}, id="another name"),
        pytest.param("Run `git tag x`.", {"assumes": ("Assumed of chance: x",)}, id="chance"),
        pytest.param("Never run `git push --force`.", {}, id="warned"),
        pytest.param("Do not create NOTES.md.", {}, id="not to make"),
        pytest.param("To cancel the loop, run `git tag stop`.", {}, id="cancels"),
        pytest.param("Touch docs/REPORT.md to skip this.", {"assumes": (NOT_MADE,)}, id="skips"),
        pytest.param("Run `cd . && rm x` or `sudo rm x`.", {}, id="removes behind"),
        pytest.param("Finish the open items of LIST.md.", {}, id="no list"),
    ],
)
def test_what_is_not_asked_for(tmp_path, reason, more):
    """Nothing is played if a refusal names nothing to do, or something that an agent should not do."""
    (tmp_path / "there.py").touch()
    (tmp_path / "LIST.md").write_text("- one\n")
    assert search(tmp_path, reason, **more)[:2] == (None, [])


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        pytest.param("git -C /opt/other pull", True, id="elsewhere"),
        pytest.param("git commit -m x", False, id="not contained"),
        pytest.param("git tag x; psql -c 'drop table t'", True, id="a database"),
        pytest.param("make deploy", True, id="a program of the project"),
        pytest.param("git tag $(./name.sh)", True, id="a program within"),
        pytest.param("git reset --hard", True, id="undoes"),
    ],
)
def test_what_is_asked_for_and_never_run_is_not_tried(tmp_path, command, runs):
    """A loop that asks for a command which no session may run is no loop that surely must be fixed."""
    way, played, gate = search(tmp_path, f"Run `{command}`.", runs=runs)

    assert (way.tried, played, gate.must_fix) == (False, [], False)
    assert gate.text == ""
    assert gate.assumes == (
        f"Not tried: an agent that runs `{command}`, as it is asked to, may be allowed to stop.",
    )


def test_a_way_out_without_time_for_it_is_not_tried(tmp_path):
    """If no session could be played for what a refusal asks for, nothing is said of its effect."""
    symptom = Symptom(kind="livelock", text="", advice="Let it go.")
    way = find_way_out(SESSION, refused("Run `git tag x`."), symptom, tmp_path, lambda _: None, runs=True)

    assert way.described(symptom).assumes == (
        "Not tried: an agent that runs `git tag x`, as it is asked to, may be allowed to stop.",
    )


@pytest.fixture
def problem(tmp_path, harness):
    """The loop of a Stop hook."""

    def check(command):
        (tmp_path / ".claude").mkdir(exist_ok=True)
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
        (hook_set,) = find_hook_sets(tmp_path)
        (only,) = CheckRun(hook_set, harness.settings, harness.resources, "livelock").run().problems
        return only.symptom

    return check


@pytest.mark.nightly
def test_a_gate_and_a_loop_that_looks_like_one(problem):
    """A gate is only worth knowing; a loop that the file does not end must be fixed, and names the file."""
    gate = problem("[ -f REPORT.md ] || { echo Write REPORT.md first. >&2; exit 2; }")
    assert (gate.must_fix, gate.text.partition(" (")[0]) == (
        False,
        "Stop is refused as long as REPORT.md does not exist",
    )
    loop = problem("[ -x REPORT.md ] || { echo Write REPORT.md first. >&2; exit 2; }")
    assert loop.must_fix
    assert loop.assumes == ("The agent does not make REPORT.md, which the hooks look for.",)
