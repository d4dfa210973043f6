"""Threads that process hooks spawn, with real processes and real hooks."""

import json
import resource
from dataclasses import replace

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import Prompt
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.trace import Happened
from pytest_hookharness.model.verdicts import Recursing, Terminated, Undecided
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

DETACH = [{"run": "detach build"}, {"stop": "It runs."}]


def process(command, *hooks, **more):
    """Return one process named build, with its hooks."""
    return {"build": {"run": command, "hooks": list(hooks), **more}}


def test_a_thread_is_a_session_of_its_own(play, inputs):
    """A thread runs the agent's hooks in a session with another id, and gets nothing but its section."""
    hooks = {"SessionStart": "cat >> starts", "Stop": "true"}
    exits = {"on_exit": 7, "instructions": "Look into it.", "agent": [{"read": "log"}, {"stop": "Seen."}]}

    outcome = play(hooks=hooks, processes=process("echo broken | tee log; exit 7", exits), agent=DETACH)

    assert isinstance(outcome.verdict, Terminated)
    assert outcome.hook_runs("SessionStart") == outcome.hook_runs("Stop") == 2
    ids = [payload["session_id"] for payload in inputs(outcome, "SessionStart")]
    assert len(set(ids)) == 2
    happened = [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Happened)]
    first, prompt = (item.event for item in happened if isinstance(item.event, Prompt))
    assert first.text not in prompt.text
    assert "Trigger: on_exit (exit code 7: failure)\n" in prompt.text
    assert prompt.text.endswith("\n  | broken")


@pytest.mark.slow
def test_a_chain_of_threads_is_recursing(play):
    """The verdict names the limit and the chain behind it, and the story shows both as a tree."""
    again = {"on_exit": "any", "agent": [{"run": "detach build"}, {"stop": "Again."}]}

    outcome = play(processes=process("exit 1", again), threads={"depth": 1}, agent=DETACH)

    assert isinstance(outcome.verdict, Recursing)
    assert outcome.verdict.limit == "the depth limit of 1: the thread would be at depth 2"
    assert outcome.verdict.chain == (
        "the user's thread detached build",
        "build.on_exit spawned thread 1 (depth 1)",
        "thread 1 (depth 1) detached build.2",
        "build.2 triggered on_exit (exit code 1: failure)",
    )
    report = story(outcome)
    assert "\n      on_exit (exit code 1: failure) -> thread 1, depth 1: turns 3 to 4, terminated\n" in report
    assert "\n          build.on_exit -> no thread: the depth limit of 1" in report


@pytest.mark.nightly
def test_a_process_that_outlives_the_run_leaves_it_undecided(harness):
    """While a process lives its hooks may fire, so a run that the time budget cuts is undecided."""
    keys = {"name": "outlives", "agent": DETACH, "processes": process("sleep 86399", {"on_exit": "any"})}
    settings = replace(harness.settings, wall=2.5)

    with Harness(settings) as short:
        outcome = short.simulate(scenario_from(keys))

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.verdict.why.startswith(
        "it was ended while the process build still ran (give it `stop_after`"
    )


@pytest.mark.slow
def test_a_thread_that_never_stops_is_undecided(play):
    """No state is compared beside running processes: a thread without end is cut by the turn limit."""
    hook = {"on_exit": "any", "agent": [{"then": "idle"}]}
    refuse = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; [ $n -lt 1 ] || { echo fix >&2; exit 2; }"

    outcome = play(
        hooks={"Stop": refuse},
        processes=process("true", hook),
        env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"},
        agent=DETACH,
        turns=8,
    )

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.background.threads[0].verdict == "undecided"


def test_a_thread_asks_where_the_agent_asks(play):
    """On a host that waits for the user's answer the thread of a hook waits as well, and the run is hung."""
    guard = 'case $(cat) in *deploy*) echo \'{"decision": "ask"}\' ;; esac'
    hook = {"on_exit": "any", "agent": [{"run": "./deploy"}, {"stop": "Done."}]}

    outcome = play(
        host="gemini-cli", hooks={"BeforeTool": guard}, processes=process("true", hook), agent=DETACH
    )

    assert outcome.verdict_name == "hung"
    assert [thread.verdict for thread in outcome.background.threads] == ["hung"]


def test_a_name_that_is_not_declared_is_an_error(play):
    """A misspelt process in the agent's script is an error that lists the known names."""
    with pytest.raises(SimulationError, match=r"detach biuld: not in `processes`; known: build"):
        play(processes=process("true"), agent=[{"run": "detach biuld"}, {"stop": ""}])


def test_too_many_processes_of_the_user_are_an_error(play):
    """Too many processes of the script itself are no recursion, but an error of the scenario."""
    acts = [{"run": "detach build; detach build"}, {"stop": ""}]

    with pytest.raises(SimulationError, match=r"detach build: at most 1 processes may start"):
        play(processes=process("true"), threads={"most": 1}, agent=acts)


def test_too_many_processes_of_a_hook_are_a_recursion(play):
    """A hook that detaches more processes than allowed recurses, and the scenario is no error."""
    hooks = {"Stop": "detach build; detach build"}
    outcome = play(hooks=hooks, processes=process("true"), threads={"most": 1}, agent=[{"stop": ""}])

    assert outcome.verdict_name == "recursing"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"commands": {"detach": {"exit": 0}}}, "commands.detach: with `processes` the harness provides"),
        ({"expect": {"processes": {"threads": {"build.on_exti": 1}}}}, "did you mean 'build.on_exit'?"),
    ],
)
def test_a_contradictory_scenario_is_an_error(play, keys, message):
    """A command with the harness's own name, and an expectation about an unknown hook, are refused."""
    with pytest.raises(SimulationError) as caught:
        play(processes=process("true", {"on_exit": "any"}), **keys)

    assert message in str(caught.value)


@pytest.mark.nightly
@pytest.mark.parametrize("tier", [Tier.NAMESPACES, Tier.SUBREAPER])
def test_a_storm_is_kept_under_control(tmp_path, tier):
    """Tens of thousands of matching lines a second, without a limit, end by the harness's own limit."""
    keys = {
        "name": "storm",
        "agent": DETACH,
        "threads": {"depth": "off", "most": 3},
        "processes": process(
            "seq 20000; exec yes ERROR",
            {"on_output_match": "20000|nothing else"},
            {"on_output_match": "ERROR", "max_spawns": "off"},
        ),
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with Harness(Settings(base=tmp_path, tier=tier)) as harness:
        outcome = harness.simulate(scenario_from(keys))

    assert isinstance(outcome.verdict, Recursing)
    assert "the harness's own bound of 3 threads" in outcome.verdict.limit
    assert len(outcome.background.threads) == 3
    assert outcome.background.processes[0].lines > 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_an_outcome_with_processes_can_be_rendered(play):
    """The table and the story of such a run are safe to print with any output of a process."""
    hook = {"on_output_match": "x", "agent": [{"stop": "Seen."}]}

    outcome = play(processes=process("printf 'x\\033[2J\\r\\u202e\\n'", hook), agent=DETACH)

    assert all(character.isprintable() or character == "\n" for character in story(outcome))
    json.dumps(story(outcome))
