"""Claims about defects that the source of a hook and a session show."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.causes import certain, independent, settled
from pytest_hookharness.campaigns.check.grouping import SymptomEvidence
from pytest_hookharness.campaigns.check.static.correctable_hooks import NOT_EXECUTABLE
from pytest_hookharness.campaigns.check.static_checks import StaticResult
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import RunCommand, Script, Stop
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace

PLACE = HookSet(host="claude-code", root=Path(__file__).parent, files=())
ALONE = "Stop: `jq` writes every refusal, so with no `jq` on the PATH nothing is refused."
LOOP = "Stop: the loop in .claude/loop.md knows no session, so it holds every session of the project."
WITHOUT = "Stop in turn 1: refuses (exit 0); with no `jq` on the PATH, allows (exit 127)."
ANOTHER = "Stop is also refused in a session that did not start the loop, with the state that it left."


def seen(kind, hook, text, *, host="claude-code"):
    """Return what a session without a course shows of a hook."""
    return SymptomEvidence(
        id=kind,
        symptom=Symptom(kind=kind, hook=hook, text=text),
        session=CheckSession(title="x", scenario=Scenario(name="x", host=host)),
        trace=Trace(steps=()),
        shown_by=(),
    )


@pytest.mark.parametrize(
    ("text", "shown", "hook", "left"),
    [
        (ALONE, WITHOUT, "bash x.sh", False),
        (LOOP, ANOTHER, "bash x.sh", False),
        (ALONE, WITHOUT, "bash x.sh, bash y.sh", False),
        (ALONE, WITHOUT.replace("jq", "git"), "bash x.sh", True),
        (ALONE, WITHOUT, "bash y.sh", True),
        (LOOP, WITHOUT, "bash x.sh", True),
        (ALONE, ANOTHER, "bash x.sh", True),
    ],
)
def test_what_a_session_shows_too(text, shown, hook, left):
    """What is certain about a hook is left out if a session has shown the same of it."""
    static = StaticResult(symptoms=(Symptom(kind="X", hook="bash x.sh", text=text),))
    problem = Problem(
        id="y", symptom=Symptom(kind="Y", hook=hook, text=shown), scenario=Scenario(name="y", host="x")
    )
    assert bool([*certain(PLACE, static, [], [problem])]) == left
    assert [*certain(PLACE, static, [], [])]
    assert not [*settled(PLACE, static, [])]


def test_sessions_that_show_the_same_of_several_hooks():
    """What is certain about two hooks is left out only if sessions have shown it of both."""
    hooks = ("bash x.sh", "bash y.sh")
    static = StaticResult(symptoms=(Symptom(kind="X", hook=", ".join(hooks), text=ALONE),))
    problems = [
        Problem(
            id=hook, symptom=Symptom(kind="Y", hook=hook, text=WITHOUT), scenario=Scenario(name="y", host="x")
        )
        for hook in hooks
    ]
    assert [*certain(PLACE, static, [], problems[:1])]
    assert not [*certain(PLACE, static, [], problems)]


@pytest.mark.parametrize(("kind", "left"), [("LOST-UPDATES", False), ("TORN-STATE", True)])
def test_lost_updates_that_a_session_shows_too(kind, left):
    """A file that a hook's source overwrites is left out if runs side by side have lost updates of it."""
    static = StaticResult(symptoms=(Symptom(kind="LOST-UPDATES", hook="bash x.sh", text="Records."),))
    shown = Symptom(kind=kind, hook="bash x.sh", text="8 runs side by side leave less.")
    problem = Problem(id="y", symptom=shown, scenario=Scenario(name="y", host="x"))

    assert bool([*certain(PLACE, static, [], [problem])]) == left


@pytest.mark.parametrize(
    ("kind", "hook", "left"),
    [
        ("CRASHED", "bash x.sh", False),
        ("CRASHED", "bash y.sh", True),
        ("MANGLED", "bash x.sh", True),
    ],
)
def test_what_else_a_hook_says_that_advises_by_a_failure(kind, hook, left):
    """A hook that advises with exit code 1 has not crashed where its words are no advice that is known."""
    text = 'PreToolUse: exit code 1 is not a refusal on claude-code (2 is): "Call nx."'
    found = [seen("UNSEEN-REASON", "bash x.sh", text), seen(kind, hook, text)]
    assert [one.id for one in independent(found, StaticResult())] == ["UNSEEN-REASON", *[kind] * left]


@pytest.mark.parametrize(
    ("text", "hook", "left"),
    [
        ('exit code 0 allows, although it says "/bin/sh: 1: [[: not found"', "bash x.sh", False),
        ('exit code 0 allows, although it says "/bin/sh: 1: [[: not found"', "bash y.sh", True),
        ('exit code 0 allows, although it says "no"', "bash x.sh", True),
    ],
)
def test_a_condition_that_the_shell_does_not_know(text, hook, left):
    """A session that shows the error is left out beside the source that shows the condition itself."""
    static = StaticResult(symptoms=(Symptom(kind="STRICT-SHELL", hook="bash x.sh", text="No `[[`."),))
    found = seen("MANGLED", hook, text)
    assert bool(independent([found], static)) == left


@pytest.mark.parametrize(("hook", "left"), [("bash x.sh", False), ("bash y.sh", True)])
def test_a_phase_of_a_hook_that_allows_nothing(hook, left):
    """A phase that a session cannot leave is not reported beside a hook that refuses everything."""
    found = [seen("BLOCKS-EVERYTHING", "bash x.sh", "Refused."), seen("STUCK-PHASE", hook, "Refused.")]
    kinds = [one.id for one in independent(found, StaticResult())]
    assert kinds == ["BLOCKS-EVERYTHING", *(["STUCK-PHASE"] if left else [])]


@pytest.mark.parametrize(
    ("kind", "hook", "left"),
    [
        ("PINGPONG", "bash x.sh, bash y.sh", False),
        ("PINGPONG", "bash y.sh", True),
        ("LOST-UPDATES", "bash x.sh, bash y.sh", True),
    ],
)
def test_a_revert_by_a_hook_that_is_known_to_remove_imports(kind, hook, left):
    """A revert in a session is not reported again if the source of one of its hooks already shows it."""
    static = StaticResult(symptoms=(Symptom(kind="PINGPONG", hook="bash x.sh", text="Removes imports."),))
    found = seen(kind, hook, "Hooks reverted the same change twice.")

    assert bool(independent([found], static)) == left


@pytest.mark.parametrize(
    ("source", "said", "left"),
    [
        (
            "`grep` takes the pattern `--x` for an option because of its dash, and fails.",
            "unrecognized",
            False,
        ),
        ("`grep` takes the pattern `--x` for an option because of its dash, and fails.", "no such", True),
        ("`local` hides the status.", "unrecognized", True),
    ],
)
def test_a_text_that_was_taken_for_an_option(source, said, left):
    """A program's complaint about an option is not reported again if the source shows its cause."""
    static = StaticResult(symptoms=(Symptom(kind="CRASHED", hook="bash x.sh", text=source),))
    text = f"exit code 0 allows, although it says \"grep: {said} option '--x'\""
    found = seen("MANGLED", "bash x.sh", text, host="claude-code")

    assert bool(independent([found], static)) == left


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "left"), [("exit 2", False), ("grep -q '_active.: *true' || exit 2", True)]
)
def test_a_loop_that_a_session_shows_to_go_on(harness, command, left):
    """That a loop ends after one round is not said if a session refuses a stop after a refused one."""
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    scenario = Scenario(name="x", host="claude-code", hooks=hooks, script=Script(acts=(Stop(),)), turns=4)
    outcome = harness.simulate(scenario)
    static = StaticResult(symptoms=(Symptom(kind="EARLY-EXIT", hook=command, text="It ends."),))

    assert outcome.blocks("Stop") > 0
    assert bool([*certain(PLACE, static, [outcome], [])]) == left


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "left"), [(0o644, False), (0o755, True)])
def test_what_a_script_that_could_not_run_shows(harness, tmp_path, mode, left):
    """If a script is executable only in later sessions, only symptoms of these sessions are kept."""
    (tmp_path / "start.sh").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "start.sh").chmod(mode)
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": "./start.sh"}]}]}
    scenario = Scenario(
        name="x", host="gemini-cli", project=tmp_path, hooks=hooks, script=Script(acts=(Stop(),))
    )
    session = CheckSession(title="x", scenario=scenario)
    trace = harness.simulate(scenario).trace
    static = StaticResult(
        symptoms=(Symptom(kind="NOT-RUN", hook="./start.sh", text=f"SessionStart: {NOT_EXECUTABLE}."),)
    )
    (tmp_path / "start.sh").chmod(0o755)
    later = harness.simulate(scenario)
    symptom = Symptom(kind="MANGLED", hook="./start.sh", text="SessionStart: a refusal has no effect.")
    seen = SymptomEvidence(id="x", symptom=symptom, session=session, trace=trace, shown_by=())

    assert bool(independent([seen], static, [later])) == left


@pytest.mark.parametrize(
    ("host", "event", "left"),
    [("cursor", "afterFileEdit", False), ("cursor", "postToolUse", True), ("gemini-cli", "AfterTool", True)],
)
def test_output_where_no_answer_is_read(host, event, left):
    """Output that is no answer is a problem only on an event on which the host reads answers."""
    text = f"{event}: what it printed is no answer that the host knows"
    found = seen("MANGLED", "bash x.sh", text, host=host)

    assert bool(independent([found], StaticResult())) == left


@pytest.mark.parametrize(
    ("event", "script", "left"),
    [
        ("stop", "echo Removing old branches", False),
        ("stop", "echo 'followup_message: go on'", True),
        ("sessionStart", "echo Read the rules", True),
    ],
)
def test_output_that_is_meant_for_a_log(event, script, left):
    """A hook of stops that knows no key of an answer only says what it does."""
    hook = Hook(event=event, command="bash x.sh")
    place = HookSet(host="cursor", root=Path("/x"), files=(), hooks=(hook,), sources=(("x.sh", script),))
    text = f"{event}: what it printed is no answer that the host knows"
    found = seen("MANGLED", "bash x.sh", text, host="cursor")

    assert bool(independent([found], StaticResult(), (), place)) == left


@pytest.mark.parametrize(
    ("state", "active", "acts", "left"),
    [
        ("Do the work.", "loop.txt as in the documents", (Stop(),), False),
        ("0", "loop.txt as in the documents", (Stop(),), True),
        ("Do the work.", "", (Stop(),), True),
        ("Do the work.", "/loop used", (RunCommand(command="true"), Stop()), True),
    ],
)
def test_a_loop_that_cannot_count_with_a_state_of_the_check(harness, state, active, acts, left):
    """A hook is not called endless because a state that the check made up has no number where it counts."""
    command = '[ "$(cat loop.txt)" -ge 9 ] && exit 0; echo Go on. >&2; exit 2'
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    script = Script(acts=acts)
    scenario = Scenario(
        name="x", host="claude-code", hooks=hooks, files={"loop.txt": state}, script=script, turns=3
    )
    outcome = harness.simulate(scenario)
    seen = SymptomEvidence(
        id="x",
        symptom=Symptom(kind="livelock", hook=command, text="Stop is refused each time."),
        session=CheckSession(title="x", scenario=scenario, active=active),
        trace=outcome.trace,
        shown_by=(),
    )

    assert outcome.blocks("Stop") > 0
    assert bool(independent([seen], StaticResult())) == left
