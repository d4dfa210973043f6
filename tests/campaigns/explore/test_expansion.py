"""
Excursions with real hooks: ways that are played, moves that are tried and undone, states that are the same.
"""

import time

from pytest_hookharness.campaigns.explore.expansion import ExpansionTask, expand
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit, Read, RunCommand, Stop
from pytest_hookharness.model.trace import Moved
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.simulate import Resources

REFUSES = "#!/bin/sh\necho 'deps.lock must be there.' >&2; exit 2\n"
LOOKS = "#!/bin/sh\n[ -e deps.lock ] && exit 0\necho 'deps.lock must be there.' >&2; exit 2\n"
WRITES_WHERE = '#!/bin/sh\npwd >where.txt; echo "$HOME" >>where.txt; exit 2\n'


def errand(hook, moves, path=(), *, seconds=30.0, settings, **keys):
    """An errand with one hook at the stop."""
    scenario = scenario_from(
        {"name": "test", "files": {"check.sh": hook}, "hooks": {"Stop": "./check.sh"}, **keys}
    )
    return ExpansionTask(
        scenario=scenario,
        settings=settings,
        path=(FIRST_PROMPT, *path),
        moves=tuple(moves),
        until=time.time() + seconds,
    )


def resources(harness, base):
    """Return what an expansion needs, with a folder of its own."""
    return Resources(supervisor=harness.supervisor, base=base)


def test_each_move_is_tried_in_the_same_state(harness, tmp_path):
    """A move sees nothing of the one before, and what leads to no other state is seen to come back."""
    moves = [
        Edit(file="deps.lock", text=""),
        Stop(),
        RunCommand(command="true"),
        RunCommand(command="rm -f deps.lock"),
    ]
    given = errand(LOOKS, moves, settings=harness.settings)
    found = expand(given, resources(harness, tmp_path))
    made, stop, nothing, removed = found.successors

    assert [arrival.fate for arrival in found.successors] == ["state"] * 4
    assert nothing.digest == removed.digest == found.digest
    assert len({made.digest, stop.digest, found.digest}) == 3
    assert [fire.reason.strip() for fire in stop.refusals] == ["deps.lock must be there."]
    assert [step.exchange.move for step in made.steps if isinstance(step.exchange, Moved)] == moves[:1]


def test_a_file_that_was_seen_is_part_of_the_state(harness, tmp_path):
    """Where a host refuses to edit what changed since it was seen, having seen it makes another state."""
    moves = [Read(file="check.sh"), Read(file="none.txt")]
    found = expand(errand(REFUSES, moves, settings=harness.settings), resources(harness, tmp_path))

    assert found.successors[0].digest != found.digest
    assert found.successors[1].digest == found.digest


def test_a_way_leads_to_the_state_that_was_seen_at_its_end(harness, tmp_path):
    """The state that a move led to is found again when that is played as a way, and there one may stop."""
    make = Edit(file="deps.lock", text="")
    first = expand(errand(LOOKS, [make], settings=harness.settings), resources(harness, tmp_path / "a"))
    again = expand(
        errand(LOOKS, [Stop()], [make], settings=harness.settings), resources(harness, tmp_path / "b")
    )

    assert again.digest == first.successors[0].digest
    assert again.successors[0].fate == "stopped"


def test_states_are_the_same_in_any_folder(harness, tmp_path):
    """What hooks write of their own place makes no state of its own in another place."""
    given = errand(WRITES_WHERE, [Read(file="where.txt")], [Stop()], settings=harness.settings)
    places = (tmp_path / "near", tmp_path / "far" / "away")
    near, far = (expand(given, resources(harness, place)) for place in places)

    assert near.digest == far.digest
    assert near.successors[0].digest == far.successors[0].digest


def test_what_is_masked_makes_no_state(harness, tmp_path):
    """A mask hides a number that differs each time also where the workspace's own path stands beside it."""
    counts = '#!/bin/sh\necho "at $(date +%s%N) $PWD" >log\nexit 2\n'
    mask = [{"file": "workspace/log", "text": r"at \d+"}]
    given = errand(counts, [Stop()], [Stop()], settings=harness.settings, mask=mask)
    found = expand(given, resources(harness, tmp_path))

    assert found.successors[0].digest == found.digest != ""


def test_no_guard_ends_what_the_hooks_do_not(harness, tmp_path):
    """After more refusals than the host's guard allows, the next stop is still asked about and refused."""
    given = errand(REFUSES, [Stop()], [Stop()] * 12, settings=harness.settings)
    found = expand(given, resources(harness, tmp_path))

    assert found.successors[0].fate == "state"
    assert found.successors[0].digest == found.digest


def test_a_stop_that_no_hook_allowed_is_not_known(harness, tmp_path):
    """Where the hook could not be run, the host lets the agent stop, and nothing follows from that."""
    given = errand(REFUSES, [Stop()], settings=harness.settings, hooks={"Stop": "./missing.sh"})
    found = expand(given, resources(harness, tmp_path))

    assert (found.successors[0].fate, "NOT-RUN" in found.successors[0].why) == ("unknown", True)


def test_a_way_that_ends_the_session_leads_nowhere(harness, tmp_path):
    """A way on which the agent is let go has no state at its end, and says so."""
    given = errand("#!/bin/sh\n", [Stop()], [Stop(), Stop()], settings=harness.settings)
    found = expand(given, resources(harness, tmp_path))

    assert (found.digest, found.why) == ("", "the session ended on the path")


def test_without_time_nothing_is_tried(harness, tmp_path):
    """An errand whose time is over is not begun."""
    given = errand(REFUSES, [Stop()], seconds=-1.0, settings=harness.settings)

    assert expand(given, resources(harness, tmp_path)).why == "not tried, because the time was over"
