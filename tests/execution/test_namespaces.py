"""What a sandbox separates from the machine, and what it reports that it does not."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import (
    Confinement,
    ExecutionError,
    Sandbox,
    Supervisor,
    available_tiers,
)
from pytest_hookharness.model.processes import Exited, Tier

from .toys import launch

POINTS = ("/tmp", "/var/tmp", "/dev/shm")


def said(sandbox: Sandbox, script: str) -> str:
    (run,) = sandbox.run([launch("sh", "-c", script, cwd="/")])
    return (run.stdout.text + run.stderr.text).strip()


def private(base: Path) -> Confinement:
    """A confinement with folders of its own over the shared ones."""
    folders = {point: base / point.strip("/").replace("/", "-") for point in POINTS}
    for folder in folders.values():
        folder.mkdir(parents=True)
    return Confinement(tier=Tier.NAMESPACES, private={point: str(path) for point, path in folders.items()})


def test_the_tiers_are_listed_best_first() -> None:
    """The tiers that work here are listed best first, and the last one always works."""
    tiers = available_tiers()
    assert tiers == tuple(tier for tier in Tier if tier in tiers)
    assert tiers[-1] is Tier.GROUP


def test_the_best_tier_is_the_default(supervisor: Supervisor) -> None:
    """A confinement that names no tier gets the best one that is available."""
    with supervisor.open(Confinement()) as sandbox:
        assert sandbox.tier is available_tiers()[0]


def test_shared_folders_are_private_and_kept_between_hook_runs(isolating: Supervisor, tmp_path: Path) -> None:
    """What a hook writes to a private folder exists for the next hook run, and not on the machine."""
    confinement = private(tmp_path)
    with isolating.open(confinement) as sandbox:
        for point in POINTS:
            assert said(sandbox, f"ls -A {point}; echo kept > {point}/hookharness-note") == ""
            assert said(sandbox, f"cat {point}/hookharness-note") == "kept"
            assert not Path(point, "hookharness-note").exists()
            assert Path(confinement.private[point], "hookharness-note").read_text() == "kept\n"


def test_two_sandboxes_do_not_see_each_others_folders(isolating: Supervisor, tmp_path: Path) -> None:
    """A file in the /tmp of one item does not exist in that of another one that is open at the same time."""
    with (
        isolating.open(private(tmp_path / "one")) as one,
        isolating.open(private(tmp_path / "two")) as two,
    ):
        said(one, "echo one > /tmp/note")
        assert said(two, "cat /tmp/note 2>/dev/null || echo none") == "none"
        assert said(one, "cat /tmp/note") == "one"


def test_visible_paths_stay_at_their_own_place(isolating: Supervisor, tmp_path: Path) -> None:
    """Visible paths below a private folder are the machine's own, and their siblings are gone."""
    shared = tmp_path / "shared"
    for name in ("workspace", "hidden"):
        (shared / name).mkdir(parents=True)
    (shared / "settings.json").write_text("{}")
    confinement = Confinement(
        tier=Tier.NAMESPACES,
        private={str(shared): str(tmp_path / "over")},
        visible=(str(shared / "workspace"), str(shared / "settings.json"), "/etc"),
    )
    (tmp_path / "over").mkdir()
    with isolating.open(confinement) as sandbox:
        assert said(sandbox, f"ls {shared}").split() == ["settings.json", "workspace"]
        said(sandbox, f"echo seen > {shared}/workspace/note; echo gone > {shared}/loose")
        assert sorted(sandbox.stubs) == [
            str(tmp_path / "over" / name) for name in ("settings.json", "workspace")
        ]
    assert (shared / "workspace" / "note").read_text() == "seen\n"
    assert not (shared / "loose").exists()
    assert (tmp_path / "over" / "loose").read_text() == "gone\n"


def test_a_private_folder_may_lie_below_its_own_mount_point(isolating: Supervisor, tmp_path: Path) -> None:
    """Private folders and visible paths are found although they lie inside the covered folder."""
    inner, workspace = tmp_path / "private", tmp_path / "workspace"
    inner.mkdir()
    workspace.mkdir()
    (workspace / "file").write_text("here")
    confinement = Confinement(
        tier=Tier.NAMESPACES, private={str(tmp_path): str(inner)}, visible=(str(workspace),)
    )
    with isolating.open(confinement) as sandbox:
        assert said(sandbox, f"cat {workspace}/file; ls {tmp_path}") == "hereworkspace"


def test_a_visible_path_that_does_not_exist_is_an_error(isolating: Supervisor, tmp_path: Path) -> None:
    """A visible path that is missing below a mount point is a harness error that names it."""
    (tmp_path / "over").mkdir()
    missing = str(tmp_path / "shared" / "missing")
    (tmp_path / "shared").mkdir()
    confinement = Confinement(
        tier=Tier.NAMESPACES, private={str(tmp_path / "shared"): str(tmp_path / "over")}, visible=(missing,)
    )
    with pytest.raises(ExecutionError, match="missing"):
        isolating.open(confinement)


def test_process_numbers_differ_and_none_is_the_first(sandbox: Sandbox) -> None:
    """Each hook run has a process number of its own, which is never that of the first process."""
    runs = [run for _ in range(3) for run in sandbox.run([launch("sh", "-c", "echo $$")])]
    assert [run.stdout.text.strip() for run in runs] == [str(run.pid) for run in runs]
    assert len({run.pid for run in runs}) == 3
    assert all(run.pid > 1 for run in runs)


def test_a_hook_sees_only_the_processes_of_its_item(isolating: Supervisor) -> None:
    """In namespaces the process table holds the item's first process and the hook's own."""
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        seen = said(sandbox, "cd /proc; echo [0-9]*").split()
        assert len(seen) == 2
        assert seen[0] == "1"


@pytest.fixture
def listener() -> Iterator[int]:
    """A server on the machine's loopback device."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


CONNECT = "exec 3<>/dev/tcp/127.0.0.1/{}"


@pytest.mark.parametrize("network,code", [(False, 1), (True, 0)])
def test_the_network_is_reachable_only_on_request(
    isolating: Supervisor, listener: int, network: bool, code: int
) -> None:
    """A server of the machine cannot be reached by default and can be where the network is allowed."""
    with isolating.open(Confinement(tier=Tier.NAMESPACES, network=network)) as sandbox:
        (run,) = sandbox.run([launch("bash", "-c", CONNECT.format(listener))])
    assert run.ending == Exited(code)


def test_the_machine_keeps_its_name(isolating: Supervisor) -> None:
    """A hook that renames the machine renames only what its own item sees."""
    before = os.uname().nodename
    name = "/proc/sys/kernel/hostname"
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        (run,) = sandbox.run([launch("bash", "-c", f"echo renamed > {name}; cat {name}")])
    assert run.stdout.text == "renamed\n"
    assert os.uname().nodename == before


def test_loopback_itself_is_up(isolating: Supervisor) -> None:
    """Without the machine's network a hook can still reach a server that it starts itself."""
    program = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        "socket.create_connection(s.getsockname(), 5); print('reached')"
    )
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        (run,) = sandbox.run([launch("/usr/bin/env", "python3", "-c", program)])
    assert run.stdout.text == "reached\n"


def test_the_user_is_the_same_inside(isolating: Supervisor) -> None:
    """A hook runs as the user who runs pytest."""
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        assert said(sandbox, "id -u") == str(os.geteuid())


@pytest.mark.parametrize("tier", [Tier.SUBREAPER, Tier.GROUP])
def test_lesser_tiers_say_what_they_share(supervisor: Supervisor, tier: Tier) -> None:
    """A tier that cannot cut off the network or keep /tmp private reports it."""
    with supervisor.open(Confinement(tier=tier)) as sandbox:
        assert "the network is not cut off" in sandbox.notes
        assert any("/tmp" in note and "shared" in note for note in sandbox.notes)


def test_namespaces_say_nothing_that_is_not_so(isolating: Supervisor, tmp_path: Path) -> None:
    """With all folders private, namespaces have nothing to report, and without them they have."""
    with isolating.open(private(tmp_path)) as sandbox:
        assert sandbox.notes == ()
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as sandbox:
        assert [note.split()[0] for note in sandbox.notes] == list(POINTS)
