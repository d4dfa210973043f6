"""
Where a hook's writes go that are meant for the machine, and that nothing of them is left.
"""

from __future__ import annotations

import stat
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_hookharness.execution.isolation.confinement import Confinement
from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.workspace import OUTSIDE, Workspace
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario

from .toys import launch


class Item:
    """
    One item as the stage makes it: a workspace, a sandbox and a scanner.
    """

    def __init__(self, stack: ExitStack, supervisor: Supervisor, base: Path, scenario: Scenario) -> None:
        self.workspace = stack.enter_context(Workspace.create(scenario, base))
        place = self.workspace
        confinement = Confinement(
            tier=Tier.NAMESPACES,
            private=place.private,
            visible=place.visible,
            writable=place.writable,
            outside=str(place.outside),
        )
        self.sandbox: Sandbox = stack.enter_context(supervisor.open(confinement))
        self.scanner = Scanner(place.roots, walked=(OUTSIDE,), skip=self.sandbox.stubs)
        stack.callback(self.scanner.close)
        self.scanner.scan()

    def say(self, script: str) -> str:
        (run,) = self.sandbox.run([launch("sh", "-c", script, cwd="/")])
        return (run.stdout.text + run.stderr.text).strip()

    def outside(self) -> dict[str, str]:
        return {
            path.removeprefix("outside"): entry.kind
            for path, entry in self.scanner.scan().items()
            if path.startswith("outside/") and entry.kind != "folder"
        }


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """
    A folder of the developer, with a file.
    """
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "kept").write_text("kept\n")
    return folder


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


@pytest.fixture
def item(stack: ExitStack, isolating: Supervisor, tmp_path: Path, theirs: Path) -> Item:
    """
    An item that reaches that folder.
    """
    made = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(theirs),)))
    if any("neither contained" in note for note in made.sandbox.notes):
        pytest.skip(f"no overlays here: {made.sandbox.notes}")
    return made


@pytest.fixture
def whole(item: Item) -> Item:
    """
    An item outside of which everything is contained.
    """
    if not item.sandbox.contained:
        pytest.skip(f"not everything is contained here: {item.sandbox.notes}")
    return item


def test_a_write_beside_the_project_is_contained_and_kept(item: Item, theirs: Path) -> None:
    """
    What is written in the developer's folder is kept for the next fire, in the state, not on the machine.
    """
    item.say(f"echo 1 > {theirs}/count; echo more >> {theirs}/kept")
    assert item.say(f"cat {theirs}/count {theirs}/kept").split() == ["1", "kept", "more"]
    assert item.outside() == {f"{theirs}/count": "file", f"{theirs}/kept": "file"}
    assert list(theirs.iterdir()) == [theirs / "kept"]
    assert (theirs / "kept").read_text() == "kept\n"


def test_every_change_outside_is_seen(item: Item, theirs: Path) -> None:
    """
    A file outside that is written again in place differs in the next scan, and in the full reading alike.
    """
    seen = []
    for number in range(3):
        item.say(f"mkdir -p {theirs}/a/b; printf {number} 1<>{theirs}/a/b/count")
        seen.append(item.scanner.scan()[f"outside{theirs}/a/b/count"])
        assert item.scanner.scan() == item.scanner.verify()
    assert len(set(seen)) == 3


def test_a_removal_is_contained(item: Item, theirs: Path) -> None:
    """
    A file of the developer that a hook removes is gone for the hooks, part of the state, and still there.
    """
    item.say(f"rm {theirs}/kept")
    assert item.say(f"ls -A {theirs}") == ""
    assert item.outside() == {f"{theirs}/kept": "other"}
    assert (theirs / "kept").read_text() == "kept\n"


@pytest.mark.parametrize("folder", ["/", "/opt", "/var/lib", "/etc", "/root", "/run", "/usr/share/a/new/one"])
def test_a_write_anywhere_is_contained_and_kept(whole: Item, folder: str) -> None:
    """
    With rights over the machine every folder is one in which hooks write for themselves.
    """
    file = Path(folder, f"hookharness-{uuid.uuid4().hex}")
    whole.say(f"mkdir -p {folder}; echo 1 > {file}")
    assert whole.say(f"cat {file}") == "1"
    assert whole.outside() == {str(file): "file"}
    assert not file.exists()


def test_the_machine_shows_through(whole: Item) -> None:
    """
    What nobody wrote is as it is on the machine: files, devices, processes and what else is mounted.
    """
    mode = stat.filemode(Path("/").stat().st_mode)
    names = " ".join(sorted(path.name for path in Path("/").glob("[!.]*")))
    assert whole.say("ls -ld / | cut -c1-10; LC_ALL=C ls / | tr '\\n' ' '").split(maxsplit=1) == [mode, names]
    assert whole.say(
        "echo lost > /dev/null; cat /proc/1/comm; ls /sys/kernel >/dev/null && echo sys"
    ).endswith("sys")
    assert whole.say("cmp /etc/passwd /proc/self/cwd/etc/passwd && echo same") == "same"


def test_programs_may_make_namespaces_of_their_own(whole: Item) -> None:
    """
    The root of an item is a full root, so that what a hook starts may isolate itself once more.
    """
    assert whole.say("unshare --user --map-root-user --mount sh -c 'echo inside'") == "inside"


def test_covered_folders_are_not_outside(item: Item) -> None:
    """
    What is written in a covered folder is listed there and nowhere else, also if that lies among the others.
    """
    item.say(f"echo 1 > {item.workspace.root}/file; echo 1 > {item.workspace.home}/file; echo 1 > /tmp/file")
    assert item.outside() == {}
    assert {"workspace/file", "home/file", "private-tmp/file"} <= item.scanner.scan().keys()
    assert (item.workspace.root / "file").read_text() == "1\n"


def test_a_folder_above_the_base_is_contained_but_for_it(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path
) -> None:
    """
    A developer's folder in which the harness keeps its own ones is contained, and those are not.
    """
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(tmp_path),)))
    item.say(f"echo 1 > {tmp_path}/count; echo 2 > {item.workspace.root}/file")
    assert item.say(f"cat {tmp_path}/count {item.workspace.root}/file").split() == ["1", "2"]
    assert item.outside() == {f"{tmp_path}/count": "file"}
    assert (item.workspace.root / "file").read_text() == "2\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "base"]


def test_a_name_that_is_a_link_leads_to_the_same_folder(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path, theirs: Path
) -> None:
    """
    What is written by one name of a folder is read by the other.
    """
    link = tmp_path / "link"
    link.symlink_to(theirs)
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(link),)))
    item.say(f"echo 1 > {link}/count")
    assert item.say(f"cat {theirs}/count {link}/count").split() == ["1", "1"]
    assert item.outside() == {f"{theirs}/count": "file"}
    assert not (theirs / "count").exists()


def test_a_folder_that_is_to_be_covered_is_the_machines_own(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path, theirs: Path
) -> None:
    """
    A folder that the author covers is written for real, and listed under its own name.
    """
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", cover=(str(theirs),)))
    item.say(f"echo 1 > {theirs}/count")
    assert (theirs / "count").read_text() == "1\n"
    assert item.outside() == {}
    assert f"{theirs}/count" in item.scanner.scan()


def test_items_do_not_see_each_others_writes(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path, theirs: Path
) -> None:
    """
    Two items that are open at the same time write in the same folder, each for itself.
    """
    scenario = Scenario(name="one", reach=(str(theirs),))
    one, two = (Item(stack, isolating, tmp_path / "base", scenario) for _ in range(2))
    one.say(f"echo one > {theirs}/note")
    assert two.say(f"cat {theirs}/note 2>/dev/null || echo none") == "none"
    assert one.say(f"cat {theirs}/note") == "one"


def test_nothing_is_left_of_what_was_contained(isolating: Supervisor, tmp_path: Path, theirs: Path) -> None:
    """
    When an item is over its folders are gone, with the kernel's own in them, and nothing is mounted.
    """
    before = Path("/proc/self/mountinfo").read_text()
    with ExitStack() as stack:
        item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(theirs),)))
        item.say(f"mkdir {theirs}/a; echo 1 > {theirs}/a/count; rm {theirs}/kept; chmod 0 {theirs}/a")
        assert Path("/proc/self/mountinfo").read_text() == before
    assert list((tmp_path / "base").iterdir()) == []
    assert list(theirs.iterdir()) == [theirs / "kept"]


def test_where_overlays_are_refused_that_is_said(isolating: Supervisor, tmp_path: Path) -> None:
    """
    Where what is written cannot be kept, hooks are fired all the same and the note says what that means.
    """
    missing = tmp_path / "missing"
    missing.write_text("a file, and no folder")
    with isolating.open(Confinement(tier=Tier.NAMESPACES, outside=str(missing))) as sandbox:
        assert not sandbox.contained
        assert "contained" in sandbox.notes[-1]
        assert sandbox.run([launch("true")])[0].ending.code == 0
