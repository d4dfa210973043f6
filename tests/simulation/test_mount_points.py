"""Private folders with mount points that one workspace leaves for the next: as new, or not used again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.disposal import Disposal
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.session.single_event import run_event
from pytest_hookharness.simulation.testbed import testbed
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from tests.simulation.test_spare_testbed import PORTRAIT


@pytest.fixture
def disposal(tmp_path):
    with Disposal(tmp_path / "base" / ".removed") as made:
        yield made


@pytest.fixture
def use(harness, disposal, tmp_path):
    """Run a hook in a testbed of its own; return what it printed, and the number of its private /tmp."""

    def run(command, name="test", reach=()):
        made = scenario_from({"name": name, "hooks": {"Stop": command}})
        scenario = replace(made, reach=tuple(map(str, reach)))
        base = tmp_path / "base"
        with testbed.Testbed(scenario, harness.settings, harness.supervisor, base, disposal=disposal) as bed:
            if bed.sandbox.tier is not Tier.NAMESPACES:
                pytest.skip("no namespaces here")
            (hook_run,) = run_event(bed, "Stop", {}).hooked.hook_runs
            assert hook_run.run is not None
            number = Path(bed.workspace.private["/tmp"]).stat().st_ino
            return hook_run.run.stdout.text.replace(str(bed.workspace.base), "BASE"), number

    return run


@pytest.mark.parametrize("name", ["test", "another"])
def test_a_hook_cannot_tell_that_mount_points_were_used_before(use, name):
    """A hook sees the same of its surroundings if they were used before, by a workspace of any name."""
    first, before = use(PORTRAIT)
    second, after = use(PORTRAIT, name=name)

    assert first == second
    assert before == after


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        "touch /tmp/file",
        "mkdir -p /var/tmp/folder/other",
        "chmod 700 /tmp",
        "touch /dev/shm/left",
        "rm /dev/stdin; ln -s /nowhere /dev/stdin",
        "touch -d 2001-01-01 /tmp",
        "echo x > /dev/new",
        'cd "$HOME/../.." && touch beside && rm beside',
    ],
)
def test_where_something_was_written_none_is_used_again(use, command):
    """A hook that changes anything among the mount points leaves nothing of it for the next one."""
    first, before = use(PORTRAIT)
    _, changed = use(command)
    second, after = use(PORTRAIT)

    assert first == second
    assert before == changed != after


@pytest.mark.slow
def test_other_mount_points_are_made_anew(use, tmp_path):
    """A workspace that shows more of the machine gets mount points of its own, and leaves none behind."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    listing = 'ls -a "$HOME/../../.."'
    first, before = use(listing)
    _, other = use(listing, reach=[theirs])
    second, _ = use(listing)

    assert (first, "theirs" in second) == (second, False)
    assert before != other


@pytest.mark.slow
def test_nothing_is_left_behind(use, disposal, tmp_path):
    """All private folders are gone once the run is over, those that nobody took as well."""
    for number in range(6):
        (tmp_path / str(number)).mkdir()
        use("true", reach=[tmp_path / str(number)])
    disposal.close()

    assert [*(tmp_path / "base").iterdir()] == []


@pytest.fixture
def order(harness, monkeypatch):
    """What is done to sandboxes, files and workspaces, in order."""
    made: list[str] = []

    def note(where, name, what):
        done = getattr(where, name)

        def noting(*given, **named):
            made.append(what)
            return done(*given, **named)

        monkeypatch.setattr(where, name, noting)

    note(harness.supervisor, "begin", "asked")
    note(Scanner, "scan", "looked")
    note(Sandbox, "wait_until_open", "awaited")
    note(Sandbox, "close", "ended")
    note(Workspace, "close", "removed")
    return made


def test_files_are_looked_at_while_the_sandbox_is_opened(harness, tmp_path, order):
    """What a sandbox makes for itself after the first look is no part of the state."""
    scenario = scenario_from({"name": "test", "hooks": {"Stop": "true"}})
    with testbed.Testbed(scenario, harness.settings, harness.supervisor, tmp_path / "base") as bed:
        assert order == ["asked", "looked", "awaited", "looked"]
        assert bed.files == bed.read_in_full()
        assert {str(bed.workspace.locate(path)) for path in bed.files}.isdisjoint(bed.sandbox.stubs)


def test_a_sandbox_that_is_not_open_yet_ends_before_its_folders(harness, tmp_path, monkeypatch, order):
    """Where a session cannot begin, what opens its sandbox is dead before the workspace is removed."""

    def fail(*_):
        raise SimulationError("no facts")

    monkeypatch.setattr(testbed, "find_facts", fail)
    scenario = scenario_from({"name": "test", "hooks": {"Stop": "true"}})
    with pytest.raises(SimulationError, match="no facts"):
        testbed.Testbed(scenario, harness.settings, harness.supervisor, tmp_path / "base")
    assert order == ["asked", "ended", "removed"]
    assert [*(tmp_path / "base").iterdir()] == []
