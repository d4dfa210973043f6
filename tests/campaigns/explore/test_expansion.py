"""State expansion with real hooks: paths that are followed, moves that are tried and undone, equal states."""

import pytest

from pytest_hookharness.campaigns.explore.expansion import ExpansionTask, expand
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit, Read, RunCommand, Stop
from pytest_hookharness.model.trace import Moved
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.single_run import Resources

REFUSES = "#!/bin/sh\necho 'deps.lock must be there.' >&2; exit 2\n"
LOOKS = "#!/bin/sh\n[ -e deps.lock ] && exit 0\necho 'deps.lock must be there.' >&2; exit 2\n"
WRITES_WHERE = '#!/bin/sh\npwd >where.txt; echo "$HOME" >>where.txt; exit 2\n'


def expansion_task(hook, moves, path=(), *, seconds=30.0, settings, **keys):
    """Return a task with one hook for the stop."""
    scenario = scenario_from(
        {"name": "test", "files": {"check.sh": hook}, "hooks": {"Stop": "./check.sh"}, **keys}
    )
    return ExpansionTask(
        scenario=scenario,
        settings=settings,
        path=(FIRST_PROMPT, *path),
        moves=tuple(moves),
        seconds=seconds,
    )


def resources(harness, base):
    """Return what an expansion needs, with a folder of its own."""
    return Resources(supervisor=harness.supervisor, base=base)


@pytest.mark.slow
def test_each_move_is_tried_in_the_same_state(harness, tmp_path):
    """A move sees nothing of the one before, and a move that changes nothing leads back to the state."""
    moves = [
        Edit(file="deps.lock", text=""),
        Stop(),
        RunCommand(command="true"),
        RunCommand(command="rm -f deps.lock"),
    ]
    given = expansion_task(LOOKS, moves, settings=harness.settings)
    found = expand(given, resources(harness, tmp_path))
    made, stop, nothing, removed = found.successors

    assert [successor.fate for successor in found.successors] == ["state"] * 4
    assert nothing.digest == removed.digest == found.digest
    assert len({made.digest, stop.digest, found.digest}) == 3
    assert [hook_run.reason.strip() for hook_run in stop.refusals] == ["deps.lock must be there."]
    assert [step.exchange.move for step in made.steps if isinstance(step.exchange, Moved)] == moves[:1]


def test_a_file_that_was_seen_is_part_of_the_state(harness, tmp_path):
    """If a host refuses to edit a file that changed since it was read, having read it makes another state."""
    moves = [Read(file="check.sh"), Read(file="none.txt")]
    found = expand(expansion_task(REFUSES, moves, settings=harness.settings), resources(harness, tmp_path))

    assert found.successors[0].digest != found.digest
    assert found.successors[1].digest == found.digest


def test_a_path_leads_to_the_same_state_again(harness, tmp_path):
    """The state that a move led to is found again at the end of a path, and there a stop is allowed."""
    make = Edit(file="deps.lock", text="")
    first = expand(
        expansion_task(LOOKS, [make], settings=harness.settings), resources(harness, tmp_path / "a")
    )
    again = expand(
        expansion_task(LOOKS, [Stop()], [make], settings=harness.settings), resources(harness, tmp_path / "b")
    )

    assert again.digest == first.successors[0].digest
    assert again.successors[0].fate == "stopped"


@pytest.mark.slow
def test_states_are_the_same_in_any_folder(harness, tmp_path):
    """A hook that writes its own folder's path makes the same state in another folder."""
    given = expansion_task(WRITES_WHERE, [Read(file="where.txt")], [Stop()], settings=harness.settings)
    places = (tmp_path / "near", tmp_path / "far" / "away")
    near, far = (expand(given, resources(harness, place)) for place in places)

    assert near.digest == far.digest
    assert near.successors[0].digest == far.successors[0].digest


@pytest.mark.slow
def test_what_is_masked_makes_no_state(harness, tmp_path):
    """A mask hides a number that differs each time also if the workspace's own path is beside it."""
    counts = '#!/bin/sh\necho "at $(date +%s%N) $PWD" >log\nexit 2\n'
    mask = [{"file": "workspace/log", "text": r"at \d+"}]
    given = expansion_task(counts, [Stop()], [Stop()], settings=harness.settings, mask=mask)
    found = expand(given, resources(harness, tmp_path))

    assert found.successors[0].digest == found.digest != ""


@pytest.mark.slow
def test_no_cap_ends_what_the_hooks_do_not(harness, tmp_path):
    """After more refusals than the host's cap allows, the next stop is still sent to hooks and refused."""
    given = expansion_task(REFUSES, [Stop()], [Stop()] * 12, settings=harness.settings)
    found = expand(given, resources(harness, tmp_path))

    assert found.successors[0].fate == "state"
    assert found.successors[0].digest == found.digest


@pytest.mark.slow
def test_a_stop_that_no_hook_allowed_is_not_known(harness, tmp_path):
    """If the hook could not run, the host allows the stop, which proves nothing."""
    given = expansion_task(REFUSES, [Stop()], settings=harness.settings, hooks={"Stop": "./missing.sh"})
    found = expand(given, resources(harness, tmp_path))

    assert (found.successors[0].fate, "NOT-RUN" in found.successors[0].why) == ("unknown", True)


def test_a_path_that_ends_the_session_has_no_state(harness, tmp_path):
    """A path on which the stop is allowed has no state at its end, and says so."""
    given = expansion_task("#!/bin/sh\n", [Stop()], [Stop(), Stop()], settings=harness.settings)
    found = expand(given, resources(harness, tmp_path))

    assert (found.digest, found.why) == ("", "the session ended on the path")


def test_without_time_nothing_is_tried(harness, tmp_path):
    """A task whose time is over is not begun."""
    given = expansion_task(REFUSES, [Stop()], seconds=-1.0, settings=harness.settings)

    assert expand(given, resources(harness, tmp_path)).why == "not tried, because the time was over"
