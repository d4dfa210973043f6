"""The loop as a whole, with real hooks in real processes."""

import dataclasses
import json
import re
import shutil

import pytest

from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Hook, Ruling
from pytest_hookharness.model.trace import HookEvent, Moved, Performed
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated, Undecided
from pytest_hookharness.simulation.testbed.hook_batch import EndOrder
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

REFUSE = "echo run the tests >&2; exit 2"
OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}


def test_a_hook_that_never_allows_the_stop(play):
    """The simplest endless loop takes three hook runs to prove."""
    outcome = play(hooks={"Stop": REFUSE})

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.stem, outcome.verdict.period, outcome.verdict.repetitions) == (1, 1, 2)
    assert outcome.hook_runs() == 3


@pytest.mark.slow
def test_a_hook_that_counts(play):
    """A hook that allows the stop after its own count terminates, although its state looks like a loop."""
    count = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; [ $n -ge 5 ] || { echo no >&2; exit 2; }"

    outcome = play(hooks={"Stop": count})

    assert outcome.verdict == Terminated(turn=6)
    assert outcome.blocks("Stop") == 5


@pytest.mark.nightly
@pytest.mark.parametrize("place", ["$HOME", "$TMPDIR", "/tmp", "/var/tmp", "/dev/shm", ".git"])
def test_a_count_anywhere_in_the_state(play, place):
    """A count is part of the state wherever a hook may keep it, so no loop is claimed."""
    file = f"{place}/n"
    count = f'n=$(cat {file} 2>/dev/null || echo 0); echo $((n+1)) > {file}; [ "$n" -ge 4 ] || exit 2'

    assert play(hooks={"Stop": count}, git=True).verdict == Terminated(turn=5)


@pytest.mark.nightly
def test_a_count_in_the_git_index(play):
    """The git index is part of the state."""
    count = "touch f$(git ls-files | wc -l); git add -A; [ $(git ls-files | wc -l) -ge 6 ] || exit 2"

    assert play(hooks={"Stop": count}, git=True, files={"a": "a"}).terminated


@pytest.mark.nightly
def test_a_refreshed_git_index_is_no_change(play):
    """A hook that only runs git status is still a loop."""
    assert play(hooks={"Stop": "git status >/dev/null; exit 2"}, git=True, files={"a": "a"}).livelock


@pytest.mark.nightly
def test_a_cycle_of_two(play):
    """Two states that alternate are a loop of period two."""
    flip = "if [ -e flag ]; then rm flag; else touch flag; fi; exit 2"

    outcome = play(hooks={"Stop": flip})

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.period == 2


@pytest.mark.nightly
def test_a_refusal_with_a_new_text_each_time(play):
    """A loop is proved although each reason has another text, if the agent does not read it."""
    outcome = play(hooks={"Stop": "echo ran in $(date +%s.%N)s >&2; exit 2"})

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "closed"
    assert len({*outcome.reasons()}) > 1


@pytest.mark.slow
def test_a_random_file(play):
    """A loop with a file of random bytes is played and not proved, even if no hook reads the file."""
    chance = f"head -c 9 /dev/urandom > noise; {REFUSE}"

    outcome = play(hooks={"Stop": chance}, env=OFF, turns=6)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.matters) == ("driven", ("random numbers",))


def test_a_log_that_is_masked(play):
    """A file that the author masks is left out, and the proof says so."""
    outcome = play(hooks={"Stop": f"echo x >> log; {REFUSE}"}, mask=["workspace/log"])

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "masked"
    assert any("workspace/log" in text for text in outcome.verdict.assumptions)


@pytest.mark.slow
def test_a_mask_does_not_hide_an_end(play):
    """A masked count that ends the loop within the repetition is still seen to end it."""
    count = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; [ $n -ge 1 ] || exit 2"

    assert play(hooks={"Stop": count}, mask=["workspace/n"]).terminated


@pytest.mark.nightly
def test_a_transcript_that_is_read(play):
    """The transcript belongs to the state once a hook opens it, and probes find it to be inert."""
    read = 'sed \'s/.*"transcript_path":"\\([^"]*\\)".*/\\1/\' | xargs cat >/dev/null; exit 2'

    outcome = play(hooks={"Stop": read}, env=OFF, turns=5)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert any(part.path.endswith(".jsonl") for part in outcome.probe_reports[-1].parts)
    assert all(hook_run.transcript_opened for _, hook_run in outcome.trace.hook_runs())


@pytest.mark.nightly
def test_a_transcript_that_is_not_read(play):
    """A transcript that no hook opened is left out of the state, and that is printed as an assumption."""
    outcome = play(hooks={"Stop": f"cat >/dev/null; : $$; {REFUSE}"})

    assert outcome.livelock
    assert any("transcript" in text for text in outcome.assumptions)
    assert not any(hook_run.transcript_opened for _, hook_run in outcome.trace.hook_runs())


def test_a_covered_folder(play, tmp_path):
    """A folder outside of the workspace that the scenario covers is part of the state."""
    file = tmp_path / "n"
    count = f'echo x >> {file}; [ "$(wc -l < {file})" -ge 7 ] || exit 2'

    outcome = play(hooks={"Stop": count}, world={"cover": [str(tmp_path)]})

    assert outcome.verdict == Terminated(turn=7)
    assert len(file.read_text().splitlines()) == 7


@pytest.mark.nightly
def test_the_cap_ends_what_cannot_be_proved(play):
    """A loop without a repeated state is reported with its cap, and is no success of the hook."""
    outcome = play(hooks={"Stop": "head -c 9 /dev/urandom | od -An -tx1 | tee log >&2; exit 2"}, turns=12)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.verdict.cap.overrides == 9
    assert outcome.blocks() == outcome.hook_runs() == 8


def test_until_guard(play):
    """A scenario can let the cap end a loop that was proved long before."""
    outcome = play(hooks={"Stop": REFUSE}, until="guard")

    assert isinstance(outcome.verdict, Capped)
    assert outcome.blocks() == 8
    assert outcome.findings == ()


def test_the_agent_sees_what_the_model_would(play):
    """The agent gets the refusal in the host's words, and nothing that is for the user only."""
    reply = '{"decision": "block", "reason": "run the tests", "systemMessage": "secret"}'

    outcome = play(hooks={"Stop": "cat reply"}, files={"reply": reply}, turns=2)

    seen = [step.exchange.saw for step in outcome.trace.steps if isinstance(step.exchange, Moved)][1]
    assert Message("feedback", "Stop hook feedback:\nrun the tests", "Stop") in seen.messages
    assert "secret" not in str(seen)


@pytest.mark.slow
def test_tool_calls_really_happen(play):
    """An allowed call is performed, and a refused one is not."""
    guard = "grep -q forbidden && { echo no >&2; exit 2; }; exit 0"

    outcome = play(
        hooks={"PreToolUse": guard},
        agent=[
            {"run": "echo x > allowed.txt"},
            {"run": "echo x > forbidden.txt"},
            {"edit": {"file": "made.txt", "text": "made\n"}},
            {"read": "made.txt"},
        ],
        expect={
            "files": {
                "equal": {"made.txt": "made\n"},
                "contain": {"allowed.txt": "x"},
                "absent": ["forbidden.txt"],
            }
        },
    )

    calls = [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Performed)]
    assert [call.refused for call in calls] == [False, True, False, False]
    assert "made" in calls[3].result.text
    assert outcome.passed


def test_failed_tools_fire_their_own_event(play):
    """A failed call runs the hooks for failures and not those for results."""
    outcome = play(
        hooks={"PostToolUse": "exit 0", "PostToolUseFailure": "exit 0"},
        agent=[{"run": "exit 3"}, {"run": "exit 0"}, {"read": "nowhere"}],
    )

    events = [hooked.event for _, hooked in outcome.trace.hooked()]
    assert events == ["PostToolUseFailure", "PostToolUse", "PostToolUseFailure"]


def test_parallel_calls_are_refused_one_by_one(play):
    """Two refused calls of one move are two blocks."""
    call = {"name": "Bash", "input": {"command": "true"}}

    outcome = play(
        hooks={"PreToolUse": REFUSE}, agent=[{"tool": [call, {**call, "input": {"command": "id"}}]}]
    )

    assert outcome.blocks("PreToolUse") == 2


def test_hooks_of_one_event_run_at_once(play):
    """The hooks of an event are started at the same time: each finds the files of the others."""
    wait = "touch {me}; while [ ! -e {other} ]; do :; done"
    hooks = {"Stop": [wait.format(me="a", other="b"), wait.format(me="b", other="a")]}

    outcome = play(hooks=hooks, hook_timeout=5)

    assert outcome.terminated
    assert outcome.findings == ()


def test_a_tool_that_cannot_be_performed(play):
    """A tool that the harness cannot perform is an error that asks for its result."""
    with pytest.raises(SimulationError, match=r"agent\[0\].*WebFetch.*result"):
        play(agent=[{"tool": {"name": "WebFetch", "input": {"url": "x"}}}])


def test_a_given_result(play):
    """A result that the scenario gives replaces the call, and hooks see it as such."""
    outcome = play(
        hooks={"PostToolUse": "grep -q 'two hits' || exit 2"},
        agent=[{"tool": {"name": "WebFetch", "input": {"url": "x"}}, "result": "two hits"}],
    )

    assert outcome.decisions("PostToolUse") == (Ruling.ALLOW,)


@pytest.mark.slow
def test_a_corrupted_file(play):
    """A file can be damaged between turns."""
    outcome = play(
        hooks={"Stop": "[ ! -e key ] || exit 2"},
        files={"key": "x"},
        agent=[{"stop": "One."}, {"corrupt": {"file": "key", "how": "delete"}}, {"stop": "Two."}],
    )

    assert outcome.verdict == Terminated(turn=2)


@pytest.mark.parametrize(
    "keys",
    [
        {"expect": {"blocks": {"Stpo": 0}}},
        {"expect": {"decisions": {"Stpo": ["allow"]}}},
        {"expect": {"sometimes": ["Stpo:deny"]}},
        {"expect": {"fires": {"Stpo": {"max": 3}}}},
    ],
    ids=str,
)
def test_expectations_about_nothing_are_refused(play, keys):
    """An expectation that names an unknown event or command is an error, not a met expectation."""
    with pytest.raises(SimulationError, match=r"Stpo.*did you mean 'Stop'"):
        play(hooks={"Stop": "true"}, **keys)


def test_an_answer_that_runs_out(play):
    """How often a handler was answered is part of the state, so a last answer is not taken for a loop."""
    refusal = {"event": "Stop", "type": "prompt", "reply": {"ok": False, "reason": "no"}, "times": 5}
    consent = {"event": "Stop", "type": "prompt", "reply": {"ok": True}}

    outcome = play(
        hooks={"Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}]}]},
        world={"answers": [refusal, consent]},
    )

    assert outcome.verdict == Terminated(turn=6)


def test_the_environment_file(play):
    """A variable that a hook writes to the host's environment file reaches the agent's later commands."""
    outcome = play(
        hooks={"SessionStart": 'echo "export GREETING=hello" >> "$CLAUDE_ENV_FILE"'},
        agent=[{"run": "echo $GREETING"}],
    )

    (call,) = (step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Performed))
    assert "hello" in call.result.text
    assert outcome.findings == ()


def test_the_host_writes_nothing_through_a_link(play, tmp_path):
    """A hook that turns a folder of the host into a link does not make the harness write to its target."""
    away = tmp_path / "away"
    away.mkdir()

    with pytest.raises(WorkspaceError):
        play(
            hooks={"SessionStart": f"rm -rf ~/.claude/session-env; ln -s {away} ~/.claude/session-env"},
            agent=[{"stop": "Done."}, {"resume": None}, {"prompt": "On."}],
            world={"cover": [str(away)]},
        )

    assert list(away.iterdir()) == []


@pytest.mark.slow
def test_a_hook_that_removes_itself(play):
    """Settings that a hook rewrites are read again, as the host does, so such a loop ends."""
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./once.sh"}]}]}}
    once = "#!/bin/sh\necho '{}' > .claude/settings.json; echo no >&2; exit 2\n"

    outcome = play(files={".claude/settings.json": json.dumps(settings), "once.sh": once})

    assert outcome.verdict == Terminated(turn=2)
    assert outcome.hook_runs() == 1


def test_a_hook_below_tmp(play, tmp_path):
    """A hook that is given by its full path below /tmp is found, although hooks have a /tmp of their own."""
    script = tmp_path / "deep" / "hook.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho found >&2; exit 2\n")
    script.chmod(0o755)

    outcome = play(hooks={"Stop": str(script)})

    assert "found" in outcome.reasons()[0]


@pytest.mark.nightly
@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_deeply_nested_output(play, text):
    """Output that is nested too deeply to be read is no answer, and does not harm the harness."""
    assert play(hooks={"Stop": "cat nonsense"}, files={"nonsense": text}).verdict == Terminated(turn=1)


@pytest.mark.parametrize("command", ["", " "], ids=repr)
def test_an_empty_command_decides_nothing(play, command):
    """A hook with an empty command does not run, so the session has not terminated by its decision."""
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}

    outcome = play(files={".claude/settings.json": json.dumps(settings)})

    assert not outcome.terminated
    assert "NOT-RUN" in [finding.name for finding in outcome.findings]


@pytest.mark.nightly
def test_two_quick_refusals_come_in_one_order(play):
    """Which of two quick hooks ends first is chance, and does not make the same state give two answers."""
    for _ in range(5):
        outcome = play(hooks={"Stop": ["echo one >&2; exit 2", "echo two >&2; exit 2"]})

        assert outcome.livelock
        assert [reason[-3:] for reason in outcome.reasons()[:2]] == ["one", "two"]


@pytest.mark.slow
def test_a_cycle_until_the_cap_is_no_contradiction(play):
    """A loop of two states that the cap ends is capped, without a finding about two answers."""
    flip = "if [ -e flag ]; then rm flag; else touch flag; fi; echo run the tests >&2; exit 2"

    outcome = play(hooks={"Stop": flip}, until="guard")

    assert isinstance(outcome.verdict, Capped)
    assert outcome.findings == ()


@pytest.mark.nightly
def test_a_transcript_that_is_removed(play):
    """A hook that removes the transcript at every stop causes no finding about two answers."""
    outcome = play(hooks={"Stop": "rm -rf ~/.claude/projects; echo no >&2; exit 2"}, turns=8, env=OFF)

    assert "FLAKY" not in [finding.name for finding in outcome.findings]


@pytest.mark.slow
def test_the_time_budget_causes_no_finding(harness, play):
    """A hook run that the time budget of the whole run cut is no finding, and the run is undecided."""
    whole = harness.settings
    harness.settings = dataclasses.replace(whole, wall=0.4)
    try:
        outcome = play(hooks={"Stop": "sleep 86399"})
    finally:
        harness.settings = whole

    assert isinstance(outcome.verdict, Undecided)
    assert "HUNG-HOOK" not in [finding.name for finding in outcome.findings]
    assert not any("hook_timeout" in text for text in outcome.assumptions)
    assert outcome.verdict.why.startswith("time budget used up: 0.4 s before the first turn was over")
    assert "--hook-budget 34m in pytest" in outcome.verdict.why
    assert outcome.verdict.running == ("sleep 86399",)
    assert "with 'sleep 86399' still running" in outcome.verdict.why
    assert outcome.findings == ()
    assert outcome.hook_runs() == outcome.iterations == 0


@pytest.mark.nightly
@pytest.mark.parametrize(("wall", "whole_turns"), [(1.2, False), (3, True)])
def test_a_turn_that_the_budget_cut_is_none(harness, play, wall, whole_turns):
    """Where the budget ends in a turn, in a hook run or while a failure is looked into, the turn is none."""
    whole = harness.settings
    harness.settings = dataclasses.replace(whole, wall=wall)
    count = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; sleep 0.4; exit 2"
    try:
        outcome = play(hooks={"Stop": count}, env=OFF)
    finally:
        harness.settings = whole

    assert isinstance(outcome.verdict, Undecided)
    assert "time budget used up" in outcome.verdict.why
    assert "give the run" not in outcome.verdict.why
    assert outcome.iterations == outcome.blocks("Stop")
    assert bool(outcome.iterations) is whole_turns


def test_instructions_are_announced(play):
    """A CLAUDE.md in the project runs the hooks for loaded instructions."""
    outcome = play(hooks={"InstructionsLoaded": "exit 0"}, files={"CLAUDE.md": "Be kind.\n"})

    assert outcome.hook_runs("InstructionsLoaded") == 1


@pytest.mark.slow
def test_no_end_of_input(play):
    """A hook that reads an input which never ends is cut, and the finding says what it waited for."""
    outcome = play(hooks={"Stop": "cat >/dev/null"}, stdin={"close": False}, hook_timeout=0.3)

    (hook_run,) = (hook_run for _, hook_run in outcome.trace.hook_runs())
    assert outcome.verdict == Terminated(turn=1)
    assert [finding.name for finding in outcome.findings] == ["HUNG-HOOK"]
    assert "stdin" in str(hook_run.run.ending)


def test_settings_files_add_up(play):
    """The hooks of all settings files of the project run, each once."""
    one = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true one"}]}]}}
    two = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true two"}]}]}}

    outcome = play(
        files={".claude/settings.json": json.dumps(one), ".claude/settings.local.json": json.dumps(two)}
    )

    assert sorted(hook_run.hook.command for _, hook_run in outcome.trace.hook_runs()) == [
        "true one",
        "true two",
    ]


def test_a_settings_file_that_is_not_there(play):
    """A settings file that does not exist is an error, not an empty configuration."""
    with pytest.raises(SimulationError, match=r"no file '.claude/hooks.json'"):
        play(hooks=".claude/hooks.json")


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_trace(play):
    """Two runs with the same seed differ in nothing but times, process numbers and memory."""
    keys = {
        "hooks": {"Stop": "cat > seen.json; exit 2", "PreToolUse": "cat >&2", "PostToolUse": "cat"},
        "agent": [{"run": "echo hello"}, {"edit": {"file": "a", "text": "b"}}, {"stop": "Done."}],
        "git": True,
    }
    first, second = (normalised(play(**keys)) for _ in range(2))

    assert first == second
    assert "hello" in first


@pytest.mark.slow
def test_another_seed_gives_other_ids(harness, play):
    """All values that the host makes up follow from the seed."""

    def session(seed):
        harness.settings = dataclasses.replace(harness.settings, seed=seed)
        try:
            outcome = play(hooks={"Stop": "true"})
        finally:
            harness.settings = dataclasses.replace(harness.settings, seed=0)
        return next(hook_run.payload["session_id"] for _, hook_run in outcome.trace.hook_runs())

    assert session(0) == session(0) != session(1)


def test_the_order_in_which_hooks_end_stays():
    """Hooks that refuse together are a loop, whichever of them ends first; only a clear difference counts."""
    ends, hooks = EndOrder(), [Hook(event="Stop", command=name) for name in "ab"]

    def order(*seconds):
        return ends.find(hooks, [ProcessResult(ending=Exited(2), wall=wall) for wall in seconds])

    assert order(0.5, 0.2) == (1, 0)
    assert order(0.2, 0.6) == (1, 0)
    assert order(0.2, 1.3) == (0, 1)
    assert order(0.6, 0.2) == (0, 1)


def normalised(outcome) -> str:
    """Return a trace as text, without what differs in every run."""

    def plain(run: ProcessResult) -> ProcessResult:
        return dataclasses.replace(run, started=0.0, wall=0.0, cpu=0.0, peak_memory=0, pid=0)

    lines = []
    for step in outcome.trace.steps:
        exchange = step.exchange
        if isinstance(exchange, HookEvent):
            hook_runs = tuple(
                dataclasses.replace(hook_run, run=plain(hook_run.run)) for hook_run in exchange.hook_runs
            )
            exchange = dataclasses.replace(exchange, hook_runs=hook_runs)
        if isinstance(exchange, Performed) and exchange.run is not None:
            exchange = dataclasses.replace(exchange, run=plain(exchange.run))
        lines.append(repr(dataclasses.replace(step, exchange=exchange)))
    # Two simulations cannot have the same folder at the same time.
    return re.sub(r"/simulation\d+/test(\.\d+)?/|-simulation\d+-test(-\d+)?-", "/base/", "\n".join(lines))


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_logs_of_npm_are_no_difference(play):
    """A hook that runs npm can repeat a state: npm writes no logs, whose names would contain the time."""
    outcome = play(
        hooks={"Stop": "npm test >&2 || exit 2"}, files={"package.json": '{"scripts": {"test": "exit 1"}}'}
    )

    assert outcome.livelock
    assert outcome.verdict.period == 1
