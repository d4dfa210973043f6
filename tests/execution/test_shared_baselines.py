"""Records of the starts of interpreters, which simulations share where the start is the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.reads import baseline
from pytest_hookharness.execution.reads.baseline import SharedBaselines
from pytest_hookharness.execution.reads.observer import ReadObserver
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, Tier
from pytest_hookharness.model.reads import LookKind, Reads

from .toys import launch

# The start of bash reads the file of this variable, and the hook reads another one.
SETTINGS = {"PATH": "/usr/bin:/bin", "BASH_ENV": "settings"}


@pytest.fixture
def place(supervisor: Supervisor, tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox that can write to the folder of the test."""
    if reason := supervisor.tiers()[Tier.SUBREAPER]:
        pytest.skip(f"no subreaper here: {reason}")
    folder = str(tmp_path)
    confinement = Confinement(tier=Tier.SUBREAPER, visible=(folder,), writable=(folder,))
    with supervisor.open(confinement) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test without the records of others."""
    monkeypatch.setattr(baseline, "_known", {})


class Simulation:
    """A simulation that observes one run of a hook, and counts the processes that it starts for that."""

    def __init__(self, place: Sandbox, folder: Path) -> None:
        self.place = place
        self.folder = folder
        self.started = 0
        (folder / "workspace").mkdir(parents=True)
        (folder / "workspace/limit").write_text("3\n")

    def reads(self, **env: str) -> Reads:
        observer = ReadObserver()
        observer.shared = SharedBaselines(str(self.folder))
        variables = {
            name: value.replace("settings", f"{self.folder}/settings") for name, value in env.items()
        }
        spec = launch("bash", "-c", "read -r x <limit", cwd=str(self.folder / "workspace"), env=variables)
        (result,) = observer.run(self._run, [spec])
        observer.share()
        assert result.reads is not None
        return result.reads

    def _run(self, specs: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
        self.started += len(specs)
        return self.place.run(specs)


def opened(reads: Reads, folder: Path) -> list[str]:
    """Return the files of a simulation that a hook opened."""
    looks = (look for look in reads.looks if look.kind is LookKind.OPENED)
    return [look.path[len(str(folder)) + 1 :] for look in looks if look.path.startswith(f"{folder}/")]


def test_a_start_is_recorded_once_for_all_simulations(place: Sandbox, tmp_path: Path) -> None:
    """A second simulation runs no empty program, and its record is the one that it would have made itself."""
    first, second, alone = (Simulation(place, tmp_path / name) for name in ("first", "second", "alone"))
    first.reads(PATH="/usr/bin:/bin")

    found = second.reads(PATH="/usr/bin:/bin")
    baseline._known.clear()

    assert (first.started, second.started) == (3, 1)
    assert opened(found, second.folder) == ["workspace/limit"]
    expected = alone.reads(PATH="/usr/bin:/bin")
    assert repr(found).replace("second", "alone") == repr(expected)


def test_a_start_that_reads_a_file_of_its_simulation_is_not_shared(place: Sandbox, tmp_path: Path) -> None:
    """What the start reads in one simulation may be what a hook reads in another one."""
    first, second = Simulation(place, tmp_path / "first"), Simulation(place, tmp_path / "second")
    (first.folder / "settings").write_text("read -r y <limit\n")
    (second.folder / "settings").write_text(":\n")

    assert opened(first.reads(**SETTINGS), first.folder) == []
    assert opened(second.reads(**SETTINGS), second.folder) == ["workspace/limit"]
    assert second.started == 3


def test_a_start_that_missed_a_file_is_not_shared_where_there_is_one(place: Sandbox, tmp_path: Path) -> None:
    """A start that finds a file goes another way than one that looked for it in vain."""
    first, second = Simulation(place, tmp_path / "first"), Simulation(place, tmp_path / "second")
    (second.folder / "settings").write_text("read -r y <limit\n")

    assert opened(first.reads(**SETTINGS), first.folder) == ["workspace/limit"]
    assert opened(second.reads(**SETTINGS), second.folder) == []
    assert second.started == 3
