"""The host's task list, with real hooks that refuse or allow tasks."""

import pytest

from pytest_hookharness.model.trace import Performed
from pytest_hookharness.model.verdicts import Livelock, Terminated

CREATE = {"tool": {"name": "TaskCreate", "input": {"subject": "s", "description": "d"}}}
CLOSE = {"tool": {"name": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}}
LIST = {"tool": {"name": "TaskList"}}
STOP = {"stop": "Done."}
REFUSE = "echo not yet >&2; exit 2"


def results(outcome):
    """Return the texts and the success of each call."""
    made = [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Performed)]
    return [(performed.result.text, performed.refused) for performed in made]


def test_tasks_are_made_and_closed(play, inputs, pairs_with_recording):
    """The hooks of tasks read the recorded input, and allowed calls change the list."""
    note = "cat >/dev/null"

    outcome = play(hooks={"TaskCreated": note, "TaskCompleted": note}, agent=[CREATE, CLOSE, LIST, STOP])

    assert outcome.verdict == Terminated(turn=4)
    assert [words for words, _ in results(outcome)] == [
        "Task #1 created successfully: s",
        "Updated task #1 status",
        "#1 [completed] s",
    ]
    for payload in inputs(outcome):
        ours, recorded = pairs_with_recording(payload)
        assert ours == recorded
    assert [payload["hook_event_name"] for payload in inputs(outcome)] == ["TaskCreated", "TaskCompleted"]


@pytest.mark.parametrize("hook", [REFUSE, 'echo \'{"decision": "block", "reason": "not yet"}\''])
def test_a_refused_task_is_not_made(play, hook):
    """A refusal of TaskCreated fails the call with its reason, and the list stays empty."""
    outcome = play(hooks={"TaskCreated": hook}, agent=[CREATE, LIST, STOP])

    (made, refused), (listed, _) = results(outcome)
    assert refused
    assert made.startswith("TaskCreated hook feedback:\n")
    assert made.endswith("not yet")
    assert listed == "No tasks found"


def test_a_refused_end_keeps_the_task_open(play):
    """Exit code 2 on TaskCompleted fails the call with its reason, and the task stays open."""
    outcome = play(hooks={"TaskCompleted": REFUSE}, agent=[CREATE, CLOSE, LIST, STOP])

    _, (closed, refused), (listed, _) = results(outcome)
    assert refused
    assert closed == f"TaskCompleted hook feedback:\n[{REFUSE}]: not yet"
    assert listed == "#1 [pending] s"


def test_a_decision_means_nothing_at_the_end_of_a_task(play):
    """TaskCompleted ignores decision, so the task is closed, and a finding reports the lost answer."""
    hook = 'echo \'{"decision": "block", "reason": "not yet"}\''

    outcome = play(hooks={"TaskCompleted": hook}, agent=[CREATE, CLOSE, LIST, STOP])

    assert results(outcome)[2][0] == "#1 [completed] s"
    assert [finding.name for finding in outcome.findings] == ["MANGLED"]


@pytest.mark.parametrize("event, turns", [("TaskCreated", 4), ("TaskCompleted", 2)])
def test_which_task_event_ends_a_turn(play, event, turns):
    """On TaskCompleted continue: false ends the turn, and on TaskCreated it means nothing."""
    hook = 'echo \'{"continue": false, "stopReason": "enough"}\''

    assert play(hooks={event: hook}, agent=[CREATE, CLOSE, LIST, STOP]).verdict == Terminated(turn=turns)


def test_a_guard_hook_before_the_tool_comes_first(play):
    """A task that PreToolUse refuses never reaches the hooks of TaskCreated."""
    hooks = {"PreToolUse": {"matcher": "TaskCreate", "command": REFUSE}, "TaskCreated": "true"}

    outcome = play(hooks=hooks, agent=[CREATE, LIST, STOP])

    assert outcome.hook_runs("TaskCreated") == 0
    assert results(outcome)[1][0] == "No tasks found"


def test_a_refused_task_is_a_failed_call(play):
    """The hooks after a failed tool get a task that was refused."""
    outcome = play(hooks={"TaskCreated": REFUSE, "PostToolUseFailure": "true"}, agent=[CREATE, STOP])

    assert outcome.hook_runs("PostToolUseFailure") == 1


@pytest.mark.slow
@pytest.mark.parametrize("hook, expect", [(REFUSE, "deny"), ("true", "allow")])
def test_what_is_expected_of_a_task(play, hook, expect):
    """An expectation of a task is met by the hooks of TaskCreated, and broken if they do otherwise."""
    other = {"deny": "allow", "allow": "deny"}[expect]

    assert play(hooks={"TaskCreated": hook}, agent=[{**CREATE, "expect": expect}, STOP]).passed
    assert not play(hooks={"TaskCreated": hook}, agent=[{**CREATE, "expect": other}, STOP]).passed


def test_a_task_that_is_never_done_is_a_livelock(play):
    """An agent that closes its task again and again is in a loop, which no cap of the host ends."""
    when = [{"event": "TaskCompleted", "do": [CLOSE]}]

    outcome = play(hooks={"TaskCompleted": REFUSE}, agent=[CREATE, CLOSE, STOP], when=when)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.period == 1
    assert outcome.verdict.cap.overrides is None
    assert any("TaskCompleted hook feedback" in text for text in outcome.assumptions)


@pytest.mark.slow
def test_a_growing_list_is_no_loop(play):
    """An agent that makes a task at every refusal never reaches the same state."""
    when = [{"event": "Stop", "do": [CREATE, STOP]}]
    quiet = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}

    outcome = play(hooks={"Stop": "exit 2"}, agent=[STOP], when=when, turns=9, env=quiet)

    assert not outcome.livelock


def test_a_result_that_is_given_makes_no_task(play):
    """A call with a given result runs no hooks of tasks and changes no list."""
    outcome = play(hooks={"TaskCreated": REFUSE}, agent=[{**CREATE, "result": "made"}, LIST, STOP])

    assert [words for words, _ in results(outcome)] == ["made", "No tasks found"]
    assert outcome.hook_runs() == 0
