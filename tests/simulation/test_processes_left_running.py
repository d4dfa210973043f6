"""Processes that hooks and the agent's commands leave running, with real hooks."""

import pytest

from pytest_hookharness.model.verdicts import Livelock, Terminated, Undecided
from pytest_hookharness.reports.terminal.story import story

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo run the tests >&2; exit 2"


@pytest.mark.slow
def test_a_process_that_needs_more_time_leaves_a_loop_open(play):
    """A hook that waits for a process that it left running, and that soon ends, is no loop."""
    job = "(setsid sh -c 'sleep 1; touch done' >/dev/null 2>&1 &)"
    command = f"[ -f done ] && exit 0; [ -f begun ] || {{ touch begun; {job}; }}; {REFUSE}"
    outcome = play(hooks={"Stop": command}, env=OFF, turns=4, expect={"leftovers": 1})

    assert isinstance(outcome.verdict, Undecided)
    assert "was ended with the hook run" in outcome.verdict.why
    assert "allow the stop in turn 2" in outcome.verdict.why
    assert "wait for that process" in story(outcome)
    assert "more turns" not in story(outcome)


def test_a_process_that_a_command_left_running(play):
    """That a command of the agent left a process running is an assumption, and no loop after it is proved."""
    agent = [{"prompt": "go"}, {"run": "sleep 600 >/dev/null 2>&1 &"}, {"stop": "Done."}]
    ended = play(hooks={"Stop": "true"}, env=OFF, agent=agent)
    loop = play(hooks={"Stop": REFUSE}, env=OFF, agent=agent, turns=6)

    assert isinstance(ended.verdict, Terminated)
    assert any(
        "command left running" in sentence and "sleep 600" in sentence for sentence in ended.assumptions
    )
    assert isinstance(loop.verdict, Livelock)
    assert loop.verdict.evidence == "driven"


@pytest.mark.parametrize(
    ("hook", "verdict"),
    [
        # As long as the job lives, the stop is refused.
        ("kill -0 $(cat pid) 2>/dev/null || exit 0", "did not allow the stop"),
        ("kill -0 $(cat pid) 2>/dev/null && exit 0", "allow the stop in turn 2"),
    ],
    ids=["waits-for-its-end", "wants-it-alive"],
)
def test_a_hook_that_looks_at_a_process_of_the_agent(play, hook, verdict):
    """A hook whose decision depends on whether a background job of the agent lives is `undecided`."""
    agent = [{"prompt": "go"}, {"run": "sleep 600 >/dev/null 2>&1 & echo $! > pid"}, {"stop": "Done."}]
    outcome = play(hooks={"Stop": f"{hook}; {REFUSE}"}, env=OFF, agent=agent, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert "`sleep 600`, which the agent's command left running, was ended" in outcome.verdict.why
    assert verdict in outcome.verdict.why


def test_a_lock_that_a_process_of_a_hook_holds(play):
    """A hook that allows the stop while its own process of an earlier turn holds a lock is no proved loop."""
    command = f"exec 9> lock; flock -n 9 || exit 0; sleep 600 >/dev/null 2>&1 & {REFUSE}"
    outcome = play(hooks={"Stop": command}, env=OFF, turns=4, expect={"leftovers": 1})

    assert isinstance(outcome.verdict, Undecided)
    assert "if it stays alive, the hooks allow the stop in turn 2" in outcome.verdict.why
