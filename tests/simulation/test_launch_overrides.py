"""Unusual folders and disks around hooks."""

from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Exited, ProcessResult, Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.startup import trial_runs
from pytest_hookharness.simulation.testbed.launch_overrides import check_disks
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

PRINTS = 'echo "[$(pwd -P 2>&1)]" >&2; exit 2'
WRITES = "(echo 1 >>.n/count) 2>/dev/null && echo written >&2 || echo lost >&2; exit 2"


@pytest.fixture
def mounting(play):
    """Simulate a scenario that needs mounts of its own, if these are available."""

    def run(**keys):
        if Tier.NAMESPACES not in available_tiers():
            pytest.skip("no namespaces here")
        return play(**keys)

    return run


def said(outcome):
    return outcome.reasons("Stop")[0]


def test_hooks_are_started_in_a_folder(play):
    """The folder is made, hooks are started in it, and the input names it too."""
    outcome = play(hooks={"Stop": PRINTS}, world={"cwd": "src/deep"}, turns=1)
    (_, hook_run), *_ = outcome.trace.hook_runs()

    assert "workspace/src/deep]" in said(outcome)
    assert b'workspace/src/deep"' in hook_run.stdin


@pytest.mark.slow
def test_hooks_are_started_in_a_removed_folder(play):
    """The folder is removed under the hook, which cannot name it any more."""
    outcome = play(
        hooks={"Stop": 'ls -d . ; [ -e "$PWD" ] || echo gone >&2; exit 2'},
        turns=1,
        world={"cwd": {"path": "src", "removed": True}},
    )

    assert "gone" in said(outcome)


@pytest.mark.nightly
def test_a_folder_that_cannot_be_removed_under_a_hook_is_told(play):
    """Where a file is in the place of that folder, the hook is not started, and a message says why."""
    outcome = play(
        hooks={"Stop": "echo ran >&2; exit 2"},
        turns=1,
        files={"src": "a file"},
        world={"cwd": {"path": "src", "removed": True}},
    )
    (_, hook_run), *_ = outcome.trace.hook_runs()

    assert hook_run.ending == Exited(126)
    assert "Cannot create the folder" in hook_run.run.stderr.text
    assert outcome.reasons("Stop") == ()


@pytest.mark.slow
def test_a_removed_folder_is_no_file_that_a_hook_looked_for(play, monkeypatch):
    """A hook that fails for a missing file is run again with that file, and never with one as its folder."""
    made, present = [], trial_runs.TrialRuns.present

    def noted(trials, files):
        made.extend(path.name for path in files)
        return present(trials, files)

    monkeypatch.setattr(trial_runs.TrialRuns, "present", noted)
    play(
        hooks={"Stop": "cat data.txt; ls -d .; exit 1"},
        turns=1,
        world={"cwd": {"path": "src", "removed": True}},
    )

    assert made
    assert "src" not in made


@pytest.mark.parametrize("name", ["/dev/stderr", "/dev/fd/2"])
def test_hooks_have_streams_of_their_own(play, name):
    """A command that names its streams runs, also where those of this process are files."""
    outcome = play(hooks={"Stop": f"echo no >{name}; exit 2"}, turns=1)

    assert [hook_run.ending for _, hook_run in outcome.trace.hook_runs()] == [Exited(2)]


@pytest.mark.parametrize("place", ["my project", "it's", "a$HOME", "two\nlines", "häuser"])
def test_workspace_has_any_name(play, place):
    """A workspace whose path has spaces or special characters is made, and its files are found."""
    outcome = play(
        hooks={"Stop": "hooks/ends.sh"},
        files={"hooks/ends.sh": f"#!/bin/sh\n{PRINTS}\n"},
        world={"place": place},
        turns=1,
    )

    assert f"workspace/{place}]" in said(outcome)


@pytest.mark.parametrize(
    "keys, message",
    [
        ({}, "written"),
        ({"world": {"readonly": ["workspace/.n/count"]}}, "lost"),
        ({"world": {"readonly": ["workspace/.n"]}}, "lost"),
    ],
)
def test_read_only_files_stay_as_they_are(mounting, keys, message):
    """A read-only file or folder stays as it is, whichever user the hook runs as."""
    outcome = mounting(hooks={"Stop": WRITES}, files={".n/count": "0\n"}, turns=1, **keys)

    assert message in said(outcome)


@pytest.mark.parametrize(
    "keys, message",
    [({"files": {".n/.keep": ""}}, "written"), ({"world": {"full": ["workspace/.n"]}}, "lost")],
)
def test_nothing_fits_on_a_full_disk(mounting, keys, message):
    """Not one byte can be written below a folder on a full disk."""
    assert message in said(mounting(hooks={"Stop": WRITES}, turns=1, **keys))


def test_a_folder_with_files_is_not_put_on_a_full_disk(play):
    """A full disk over a folder with files is refused, because it would hide them."""
    with pytest.raises(WorkspaceError, match="is not empty"):
        play(hooks={"Stop": WRITES}, files={".n/count": "0\n"}, world={"full": ["workspace/.n"]})


@pytest.mark.parametrize("world", [{"readonly": ["workspace/.n"]}, {"full": ["tmp"]}])
def test_a_tier_that_cannot_close_a_disk_says_so(tmp_path, world):
    """Without namespaces a scenario with such a disk is refused, and never run as if it had one."""
    keys = {"hooks": {"Stop": WRITES}, "files": {".n/count": "0"}, "world": world}
    scenario = scenario_from({"name": "test", **keys})
    harness = Harness(Settings(base=tmp_path, tier=Tier.GROUP))
    with harness, pytest.raises(SimulationError, match="need kernel namespaces"):
        harness.simulate(scenario)


class Open:
    """Launch place in which every program succeeds, as none with such a disk does."""

    tier = Tier.NAMESPACES

    def run(self, launches):
        return [ProcessResult(ending=Exited(0)) for _ in launches]


def test_a_disk_that_can_still_be_written_is_refused():
    """If a byte can be written although the mount was made, the scenario does not run."""
    with pytest.raises(SimulationError, match="can still be written to"):
        check_disks(Scenario(name="x", full=("tmp",)), Path, Open())
