"""Processes that hooks and the agent's commands leave running, with real hooks."""

from dataclasses import replace

import pytest

from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.verdicts import Hung, Livelock, Terminated, Undecided
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.simulation.left_running import find_difference
from pytest_hookharness.simulation.testbed.run_settings import Settings

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo run the tests >&2; exit 2"


@pytest.mark.nightly
def test_a_process_that_needs_more_time_leaves_a_loop_open(play):
    """A hook that waits for a process that it left running, and that soon ends, is no loop."""
    job = "(setsid sh -c 'sleep 1; touch done' >/dev/null 2>&1 &)"
    command = f"[ -f done ] && exit 0; [ -f begun ] || {{ touch begun; {job}; }}; {REFUSE}"
    outcome = play(hooks={"Stop": command}, env=OFF, turns=4, expect={"leftovers": 1})

    assert isinstance(outcome.verdict, Undecided)
    assert "was ended with the hook run" in outcome.verdict.why
    assert "the session ends in turn 2" in outcome.verdict.why
    assert "wait for that process" in story(outcome)
    assert "more turns" not in story(outcome)
    # What was seen to change the end is not assumed to change nothing.
    assert not any("left running" in sentence for sentence in outcome.assumptions)


@pytest.mark.nightly
def test_a_process_that_a_command_left_running(play):
    """A job that the agent left running is an assumption if the session ends; a loop is undecided."""
    agent = [{"prompt": "go"}, {"run": "sleep 600 >/dev/null 2>&1 &"}, {"stop": "Done."}]
    ended = play(hooks={"Stop": "true"}, env=OFF, agent=agent)
    loop = play(hooks={"Stop": REFUSE}, env=OFF, agent=agent, turns=6)

    assert isinstance(ended.verdict, Terminated)
    assert any(
        "command left running" in sentence and "sleep 600" in sentence for sentence in ended.assumptions
    )
    assert isinstance(loop.verdict, Livelock)
    assert loop.verdict.evidence == "driven"


GATE = f"[ -f done ] && exit 0; {REFUSE}"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (1, "if it may run for 5 s more, the session ends in turn 2"),
        (20, "what it changes at its end is unknown"),
    ],
)
def test_a_job_of_the_agent_that_the_hook_waits_for(play, seconds, why):
    """A loop that waits for a job of the agent is undecided, whether or not the job ends soon."""
    agent = [{"prompt": "go"}, {"run": f"(sleep {seconds}; touch done) >/dev/null 2>&1 &"}, {"stop": "Done."}]
    outcome = play(hooks={"Stop": GATE}, env=OFF, agent=agent, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.verdict.why.endswith(why)


@pytest.mark.nightly
def test_a_command_that_runs_in_the_background(play):
    """The agent stops while a command runs that its call put into the background."""
    job = {"name": "Bash", "input": {"command": "sleep 1; touch done", "run_in_background": True}}
    outcome = play(hooks={"Stop": GATE}, env=OFF, agent=[{"prompt": "go"}, {"tool": job}], turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.verdict.why.endswith("if it may run for 5 s more, the session ends in turn 2")


@pytest.mark.nightly
def test_a_server_that_a_hook_left_running(play):
    """A loop of a hook that left a server running is a livelock with driven evidence."""
    serve = "[ -f begun ] || { touch begun; tail -f /dev/null >/dev/null 2>&1 & }"
    outcome = play(hooks={"Stop": f"{serve}; {GATE}"}, env=OFF, turns=6, expect={"leftovers": 1})

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"


@pytest.mark.nightly
def test_a_hook_in_the_background_that_a_gate_waits_for(play):
    """A loop that waits for a hook in the background, which the harness ended, is undecided."""
    review = {"type": "command", "command": "sleep 3; touch done", "async": True}
    hooks = {
        "PostToolUse": [{"matcher": "Bash", "hooks": [review]}],
        "Stop": [{"hooks": [{"type": "command", "command": GATE}]}],
    }
    agent = [{"prompt": "go"}, {"run": "true"}, {"stop": "Done."}]
    outcome = play(hooks=hooks, env=OFF, agent=agent, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert "which runs in the background, was ended before its time" in outcome.verdict.why


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hook", "verdict"),
    [
        # As long as the job lives, the stop is refused.
        ("kill -0 $(cat pid) 2>/dev/null || exit 0", "did not allow the stop"),
        ("kill -0 $(cat pid) 2>/dev/null && exit 0", "the session ends in turn 2"),
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


@pytest.mark.nightly
def test_a_lock_that_a_process_of_a_hook_holds(play):
    """A hook that allows the stop while its own process of an earlier turn holds a lock is no proved loop."""
    command = f"exec 9> lock; flock -n 9 || exit 0; sleep 600 >/dev/null 2>&1 & {REFUSE}"
    outcome = play(hooks={"Stop": command}, env=OFF, turns=4, expect={"leftovers": 1})

    assert isinstance(outcome.verdict, Undecided)
    assert "if it stays alive, the session ends in turn 2" in outcome.verdict.why


ALIVE = 'kill -0 "$(cat pid)" 2>/dev/null'
JOB = [{"prompt": "go"}, {"run": "sleep 600 >/dev/null 2>&1 & echo $! > pid"}]


@pytest.mark.nightly
def test_a_process_of_the_agent_before_a_wait(play):
    """A clock that was moved keeps no session from being played with its processes alive."""
    agent = [*JOB, {"wait": 60}, {"stop": "Done."}]
    outcome = play(hooks={"Stop": f"{ALIVE} || exit 0; {REFUSE}"}, env=OFF, agent=agent, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert "if it stays alive, the hooks did not allow the stop" in outcome.verdict.why


@pytest.mark.nightly
def test_a_hook_that_halts_the_session_of_a_living_process(play):
    """An end that a hook forces is not reported as a stop that the hooks allow."""
    halt = """echo '{"continue": false}'; exit 0"""
    agent = [*JOB, {"stop": "Done."}]
    outcome = play(hooks={"Stop": f"{ALIVE} && {{ {halt}; }}; {REFUSE}"}, env=OFF, agent=agent, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.verdict.reasons == {"process of a command"}
    assert "if it stays alive, the session ends in turn 2" in outcome.verdict.why
    assert "allow the stop" not in outcome.verdict.why


REFUSED = Undecided(turn=6, why="no end in 6 turns", reasons=frozenset(["turns"]))
STRANGE = Undecided(turn=4, why="the session ended before the agent tried to stop")
HUNG = Hung(turn=2, event="Stop", command="wait", rule=Rule("the host waits", "assumed", ""))


@pytest.fixture
def compare(play):
    """Compare the end of a run that left a process running with the ends of further ones."""
    ended = play(hooks={"Stop": "true"}, agent=[*JOB, {"stop": "Done."}])

    def run(*others, first=ended.verdict, clock=lambda: 0.0):
        later = iter(others)

        def replay(settings):
            verdict = next(later) if settings.wall > 0 else None
            return None if verdict is None else replace(ended, verdict=verdict)

        return find_difference(replace(ended, verdict=first), Settings(turns=6, wall=60), replay, clock)

    return run


@pytest.mark.nightly
@pytest.mark.parametrize("known", [(), (REFUSED,), (REFUSED, Terminated(turn=2))])
def test_no_time_for_the_session_with_living_processes(compare, known):
    """Without time to play the session with its processes alive, no verdict on it holds."""
    assert compare(*known, None).why.endswith("no time was left to play the session with it alive")


@pytest.mark.slow
def test_the_time_of_further_runs_goes_by_the_given_clock(compare):
    """What the clock of the slot counts is what further runs may use."""
    assert "no time was left" in compare(Terminated(turn=2), clock=iter((0.0, 61.0)).__next__).why


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("living", "told"),
    [
        (HUNG, "it is hung in turn 2"),
        (STRANGE, "it is undecided in turn 4: the session ended before the agent tried to stop"),
        (REFUSED, "the hooks did not allow the stop in"),
        (Terminated(turn=3), "the session ends in turn 3"),
    ],
)
def test_the_end_of_a_session_with_living_processes_has_its_own_name(compare, living, told):
    """Each other end is reported by its name."""
    ended = Terminated(turn=2)

    assert f"if it stays alive, {told}" in compare(living, ended, living, first=ended).why


@pytest.mark.slow
def test_an_end_with_living_processes_that_does_not_come_again(compare):
    """A difference that another run with living processes does not show is chance."""
    ended = Terminated(turn=2)

    assert compare(REFUSED, ended, ended, first=ended) is None
    assert compare(REFUSED, REFUSED, first=ended) is None


@pytest.mark.slow
def test_a_session_that_ends_earlier_with_living_processes(play):
    """A hook that allows the stop later without the process has no verdict either."""
    count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $n -ge 3 ] && exit 0"
    agent = [*JOB, {"stop": "Done."}]
    outcome = play(hooks={"Stop": f"{ALIVE} && exit 0; {count}; {REFUSE}"}, env=OFF, agent=agent, turns=9)

    assert isinstance(outcome.verdict, Undecided)
    assert "if it stays alive, the session ends in turn 2" in outcome.verdict.why
