"""Exploration with real hooks, here and by executors, in this process and in other processes."""

import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pytest_hookharness import explore
from pytest_hookharness.model.moves import RunCommand, Stop
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.verdicts import Lockout
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

LOCKS = "#!/bin/sh\n[ -e .lock ] || exit 0\necho 'It is locked.' >&2; exit 2\n"
LOCKED = {
    "name": "test",
    "files": {"check.sh": LOCKS},
    "hooks": {"Stop": "./check.sh"},
    "explore": {"moves": [{"run": "touch .lock"}]},
    "expect": {"verdict": "lockout", "way_in": [{"run": "touch .lock"}]},
}
# Open until the first request, and then closed for five minutes.
BY_TIME = (
    "#!/bin/sh\n[ $(($(date +%s) - $(stat -c %Y mark))) -gt 300 ] && exit 0\necho 'Not yet.' >&2; exit 2\n"
)

ELSEWHERE = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from pytest_hookharness import explore
from pytest_hookharness.scenario_files import scenario_from


@contextmanager
def cluster():
    from distributed import Client, LocalCluster

    made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with made, Client(made) as client:
        yield client.get_executor()


def found(outcome):
    explored = outcome.explored
    trap = replace(explored.trap, trace=None, met=(), holding=())
    met = [(one.fate, one.digest) for one in explored.trap.met]
    return outcome.passed, replace(explored, trap=trap, wall=0.0), met


if __name__ == "__main__":
    scenario = scenario_from({locked})
    with {executor} as executor:
        there = explore(scenario, executor)
    (move,) = there.explored.trap.path
    same = "the same" if found(there) == found(explore(scenario)) else "another"
    print(f"{{there.verdict_name}} {{move.command}}, {{same}} here")
"""


def found(outcome):
    """Return an exploration without its time and its steps."""
    explored = outcome.explored
    trap = replace(explored.trap, trace=None, met=(), holding=())
    return replace(explored, trap=trap, wall=0.0), [(one.fate, one.digest) for one in explored.trap.met]


@pytest.mark.nightly
def test_a_trap_state_is_found_with_its_path(harness):
    """One command after which every stop is refused is found, though the agent of the script never ran it."""
    outcome = harness.simulate(scenario_from(LOCKED))

    assert outcome.passed
    assert outcome.verdict.moves == (Stop(), RunCommand(command="touch .lock"))


@pytest.mark.nightly
def test_a_hook_that_names_itself_is_not_removed(harness):
    """A hook that is called from its folder, and names itself, still holds an agent."""
    never = "echo 'Refused by scripts/never.sh.' >&2; exit 2\n"
    keys = {
        "files": {"scripts/never.sh": never},
        "hooks": {"Stop": "cd scripts && sh never.sh"},
        "agent": [{"stop": "Done."}],
        "explore": True,
        "expect": {"verdict": "lockout", "way_in": []},
    }
    outcome = harness.simulate(scenario_from({"name": "test", **keys}))

    assert outcome.passed
    assert not any("scripts/never.sh" in str(move) for move in outcome.explored.candidates)


@pytest.mark.nightly
def test_what_a_hook_warns_of_is_not_done_to_the_machine(harness, tmp_path):
    """Without containment a command that only a hook names does not run, and nothing is claimed."""
    kept = tmp_path / "kept"
    kept.touch()
    keys = {
        "files": {"check.sh": f"#!/bin/sh\necho 'Never run `rm -f {kept}` here.' >&2; exit 2\n"},
        "hooks": {"Stop": "./check.sh"},
        "explore": True,
    }
    settings = replace(harness.settings, tier=Tier.GROUP)
    outcome = explore(scenario_from({"name": "test", **keys}), settings=settings)

    assert kept.exists()
    assert outcome.explored.trap is None
    assert any("a command that only a hook names" in why for why in outcome.explored.open)


@pytest.mark.nightly
def test_threads_find_the_same(harness):
    """The threads of an executor find the same trap state, with the same states."""
    scenario = scenario_from(LOCKED)
    with ThreadPoolExecutor(2) as executor:
        there = explore(scenario, executor, harness.settings)

    assert found(there) == found(harness.simulate(scenario))


def explore_elsewhere(folder, executor):
    """Explore with an executor in a process of its own, which leaves nothing behind when it ends."""
    (folder / "elsewhere.py").write_text(ELSEWHERE.format(locked=LOCKED, executor=executor))
    command = [sys.executable, "elsewhere.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_processes_find_the_same(tmp_path):
    """Processes that share nothing with this one find the same trap state."""
    result = explore_elsewhere(
        tmp_path, 'ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))'
    )

    assert result.stdout == "lockout touch .lock, the same here\n", result.stderr


@pytest.mark.nightly
@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
def test_a_cluster_finds_the_same(tmp_path):
    """A cluster of two processes expands the states, and finds the same trap state."""
    result = explore_elsewhere(tmp_path, "cluster()")

    assert result.stdout == "lockout touch .lock, the same here\n", result.stderr


@pytest.mark.nightly
def test_a_state_that_is_left_by_waiting_is_no_trap(harness):
    """A hook that allows the stop after five minutes makes no trap state, though no move leads out."""
    keys = {"files": {"check.sh": BY_TIME, "mark": ""}, "expect": {"verdict": "undecided"}}
    outcome = harness.simulate(scenario_from({**LOCKED, **keys, "explore": {"moves": [{"run": "true"}]}}))

    assert outcome.verdict_name == "undecided"
    assert outcome.explored.trap is None
    assert any("at a later time" in why for why in outcome.explored.open)


@pytest.mark.parametrize("keys", [{"world": {"cover": ["/opt"]}}, {"processes": {"build": {"run": "true"}}}])
def test_what_cannot_be_undone_is_not_explored(harness, keys):
    """Folders of the developer, and background processes, are refused together with an exploration."""
    with pytest.raises(SimulationError, match="explore: moves cannot be undone with"):
        harness.simulate(scenario_from({**LOCKED, **keys}))


BUILDS = "(sleep 1; touch built) >/dev/null 2>&1 &"
# What may allow the stop later: the gate's test, and words of the verdict.
LATER = {
    "what a command leaves running": ("[ -e built ] && exit 0", "left running"),
    "another time": ("[ -e minute ] || date +%M >minute; [ $(date +%M) = $(cat minute) ] || exit 0", ""),
    "chance": ("[ $(($(od -An -N4 -tu4 /dev/urandom) % 1000003)) = 1 ] && exit 0", "random"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("way", LATER)
def test_no_lock_out_if_the_stop_may_be_allowed_later(way):
    """If work still running, the time or chance may allow the stop later, it is no lock-out."""
    decides, told = LATER[way]
    build = BUILDS if told == "left running" else "exit 1"
    gate = f"#!/bin/bash\n{decides}\necho 'Build it first.' >&2; exit 2\n"
    outcome = explore(
        scenario_from(
            {
                "name": "test",
                "files": {"check.sh": gate, "build.sh": f"#!/bin/sh\n{build}\n"},
                "hooks": {"Stop": "./check.sh"},
                "agent": [{"stop": "Done."}],
                "explore": {"moves": [{"run": "./build.sh"}]},
            }
        )
    )

    assert outcome.explored.trap is None
    assert not isinstance(outcome.verdict, Lockout)
    assert any(told in why for why in outcome.explored.open)


@pytest.mark.nightly
def test_a_commit_is_a_way_out():
    """A path with a commit, run again, leads to the same state, so the stop that follows counts."""
    gate = "#!/bin/sh\n[ -z \"$(git status --porcelain)\" ] && exit 0\necho 'Commit it first.' >&2; exit 2\n"
    outcome = explore(
        scenario_from(
            {
                "name": "test",
                "git": True,
                "files": {"check.sh": gate, "a.txt": "old"},
                "hooks": {"Stop": "./check.sh"},
                "agent": [{"run": "echo new >a.txt"}, {"stop": "Done."}],
                "explore": {"moves": [{"run": "git commit -qam work"}]},
            }
        )
    )

    assert [getattr(move, "command", "") for move in outcome.explored.escape] == ["git commit -qam work", ""]


COMMITS_FIRST = (
    "#!/bin/sh\n[ -z \"$(git status --porcelain)\" ] && exit 0\necho 'Commit your changes.' >&2; exit 2\n"
)
NO_COMMITS = "#!/bin/sh\ngrep -q commit || exit 0\necho 'No commits here.' >&2; exit 2\n"


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(("guard", "verdict"), [("true", "livelock"), ("./guard.sh", "lockout")])
def test_an_agent_may_commit_where_hooks_ask_git(harness, guard, verdict):
    """A hook that waits for a commit holds no agent that may commit, and holds one that may not."""
    keys = {
        "files": {"check.sh": COMMITS_FIRST, "guard.sh": NO_COMMITS},
        "git": True,
        "hooks": {"Stop": "./check.sh", "PreToolUse": guard},
        "agent": [{"edit": {"file": "a.txt", "text": "a"}}, {"stop": "Done."}],
        "explore": True,
        "expect": {"verdict": verdict},
    }
    outcome = harness.simulate(scenario_from({"name": "test", **keys}))

    assert outcome.verdict_name == verdict
    assert sum("git commit" in str(move) for move in outcome.explored.candidates) == 1


NEWER = "#!/bin/bash\n[ code -nt log ] || exit 0\necho 'Run the tests.' >&2; exit 2\n"
SAID = """#!/bin/sh
grep -q 'touch pushed' "$(jq -r .transcript_path)" || exit 0
echo 'You have pushed.' >&2; exit 2
"""


def explored_with(harness, script, move, **keys):
    files = {"check.sh": script, "code": "1", "log": "1"}
    asked = {"name": "test", "files": files, "hooks": {"Stop": "./check.sh"}, **keys}
    return explore(scenario_from({**asked, "explore": {"moves": [{"run": move}]}}), settings=harness.settings)


@pytest.mark.slow
def test_a_move_that_changes_only_times(harness):
    """Where a hook compares the times of files, a file that is only touched is another state."""
    shut = explored_with(harness, NEWER, "sleep 0.05; touch code")
    assert isinstance(shut.verdict, Lockout)
    early = {"SessionStart": "sleep 0.05; touch code", "Stop": "./check.sh"}
    led_out = explored_with(harness, NEWER, "sleep 0.05; touch log", hooks=early)
    assert led_out.explored.trap is None
    assert led_out.explored.escape[0] == RunCommand(command="sleep 0.05; touch log")


@pytest.mark.slow
def test_a_hook_that_reads_the_transcript(harness):
    """What the agent did is part of a state if a hook reads the transcript, and the rest is said."""
    outcome = explored_with(harness, SAID, "touch pushed; rm pushed")
    assert outcome.verdict_name in ("lockout", "undecided")
    count = SAID.replace("grep -q 'touch pushed'", "[ $(grep -c tool_use").replace(
        'transcript_path)"', 'transcript_path)") -gt 9 ]'
    )
    assert explored_with(harness, count, "true").explored.assumed
    assert not explored_with(harness, NEWER, "true").explored.assumed


@pytest.mark.slow
def test_a_hook_that_goes_by_the_index_of_git(harness):
    """What only the index knows is no part of a state, so nothing is claimed."""
    script = "#!/bin/sh\ngit diff-index --quiet HEAD -- code && exit 0\necho 'Look first.' >&2; exit 2\n"
    outcome = explored_with(harness, script, "git status --short", git=True)
    assert not isinstance(outcome.verdict, Lockout)
    assert outcome.explored.open == {"the state is not completely known": 2}
