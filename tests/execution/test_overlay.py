"""Where a hook's writes to the machine go, and that nothing of them is left."""

from __future__ import annotations

import stat
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.workspace import OUTSIDE, Workspace
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario

from .toys import launch


class Item:
    """One item as the testbed makes it: a workspace, a sandbox and a scanner."""

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
        self.scanner = Scanner(place.roots, walked=(OUTSIDE,))
        stack.callback(self.scanner.close)
        self.scanner.skip(self.sandbox.stubs)
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
def developers(tmp_path: Path) -> Path:
    """A folder of the developer, with a file."""
    folder = tmp_path / "developers"
    folder.mkdir()
    (folder / "kept").write_text("kept\n")
    return folder


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


@pytest.fixture
def item(stack: ExitStack, isolating: Supervisor, tmp_path: Path, developers: Path) -> Item:
    """An item that can reach that folder."""
    made = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(developers),)))
    if any("neither contained" in note for note in made.sandbox.notes):
        pytest.skip(f"no overlays here: {made.sandbox.notes}")
    return made


@pytest.fixture
def whole(item: Item) -> Item:
    """An item that contains every write outside of it."""
    if not item.sandbox.contained:
        pytest.skip(f"not everything is contained here: {item.sandbox.notes}")
    return item


def test_a_write_beside_the_project_is_contained_and_kept(item: Item, developers: Path) -> None:
    """
    A write to the developer's folder is kept for the next hook run and in the state, not on the machine.
    """
    item.say(f"echo 1 > {developers}/count; echo more >> {developers}/kept")
    assert item.say(f"cat {developers}/count {developers}/kept").split() == ["1", "kept", "more"]
    assert item.outside() == {f"{developers}/count": "file", f"{developers}/kept": "file"}
    assert list(developers.iterdir()) == [developers / "kept"]
    assert (developers / "kept").read_text() == "kept\n"


def test_every_change_outside_is_seen(item: Item, developers: Path) -> None:
    """A file outside that is rewritten in place differs in the next scan, and in the full reading alike."""
    seen = []
    for number in range(3):
        item.say(f"mkdir -p {developers}/a/b; printf {number} 1<>{developers}/a/b/count")
        seen.append(item.scanner.scan()[f"outside{developers}/a/b/count"])
        assert item.scanner.scan() == item.scanner.verify()
    assert len(set(seen)) == 3


def test_a_removal_is_contained(item: Item, developers: Path) -> None:
    """A file of the developer that a hook removes is gone for hooks, in the state, and still exists."""
    item.say(f"rm {developers}/kept")
    assert item.say(f"ls -A {developers}") == ""
    assert item.outside() == {f"{developers}/kept": "other"}
    assert (developers / "kept").read_text() == "kept\n"


@pytest.mark.parametrize("folder", ["/", "/opt", "/var/lib", "/etc", "/root", "/run", "/usr/share/a/new/one"])
def test_a_write_anywhere_is_contained_and_kept(whole: Item, folder: str) -> None:
    """With rights over the machine, hooks can write in every folder, each item for itself."""
    file = Path(folder, f"hookharness-{uuid.uuid4().hex}")
    whole.say(f"mkdir -p {folder}; echo 1 > {file}")
    assert whole.say(f"cat {file}") == "1"
    assert whole.outside() == {str(file): "file"}
    assert not file.exists()


def test_the_machine_shows_through(whole: Item) -> None:
    """Files, devices, processes and other mounts that no hook changed are those of the machine."""
    mode = stat.filemode(Path("/").stat().st_mode)
    names = " ".join(sorted(path.name for path in Path("/").glob("[!.]*")))
    assert whole.say("ls -ld / | cut -c1-10; LC_ALL=C ls / | tr '\\n' ' '").split(maxsplit=1) == [mode, names]
    assert whole.say(
        "echo lost > /dev/null; cat /proc/1/comm; ls /sys/kernel >/dev/null && echo sys"
    ).endswith("sys")
    assert whole.say("cmp /etc/passwd /proc/self/cwd/etc/passwd && echo same") == "same"


def test_programs_may_make_namespaces_of_their_own(whole: Item) -> None:
    """The root of an item is a full root, so that a program in it may isolate itself once more."""
    assert whole.say("unshare --user --map-root-user --mount sh -c 'echo inside'") == "inside"


def test_covered_folders_are_not_outside(item: Item) -> None:
    """Writes to a covered folder are listed there and nowhere else, also if it lies in a contained folder."""
    item.say(f"echo 1 > {item.workspace.root}/file; echo 1 > {item.workspace.home}/file; echo 1 > /tmp/file")
    assert item.outside() == {}
    assert {"workspace/file", "home/file", "private-tmp/file"} <= item.scanner.scan().keys()
    assert (item.workspace.root / "file").read_text() == "1\n"


def test_a_folder_above_the_base_is_contained_but_for_it(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path
) -> None:
    """A developer's folder that holds the harness's folders is contained, and those are not."""
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(tmp_path),)))
    item.say(f"echo 1 > {tmp_path}/count; echo 2 > {item.workspace.root}/file")
    assert item.say(f"cat {tmp_path}/count {item.workspace.root}/file").split() == ["1", "2"]
    assert item.outside() == {f"{tmp_path}/count": "file"}
    assert (item.workspace.root / "file").read_text() == "2\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "base"]


def test_a_name_that_is_a_link_leads_to_the_same_folder(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path, developers: Path
) -> None:
    """What is written under one name of a folder can be read under the other."""
    link = tmp_path / "link"
    link.symlink_to(developers)
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(link),)))
    item.say(f"echo 1 > {link}/count")
    assert item.say(f"cat {developers}/count {link}/count").split() == ["1", "1"]
    assert item.outside() == {f"{developers}/count": "file"}
    assert not (developers / "count").exists()


def test_a_folder_that_is_to_be_covered_is_the_machines_own(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path, developers: Path
) -> None:
    """A folder that the author covers is really written to, and listed under its own name."""
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", cover=(str(developers),)))
    item.say(f"echo 1 > {developers}/count")
    assert (developers / "count").read_text() == "1\n"
    assert item.outside() == {}
    assert f"{developers}/count" in item.scanner.scan()


def test_items_do_not_see_each_others_writes(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path, developers: Path
) -> None:
    """Two items that are open at the same time write to the same folder, each for itself."""
    scenario = Scenario(name="one", reach=(str(developers),))
    one, two = (Item(stack, isolating, tmp_path / "base", scenario) for _ in range(2))
    one.say(f"echo one > {developers}/note")
    assert two.say(f"cat {developers}/note 2>/dev/null || echo none") == "none"
    assert one.say(f"cat {developers}/note") == "one"


def test_nothing_is_left_of_what_was_contained(
    isolating: Supervisor, tmp_path: Path, developers: Path
) -> None:
    """When an item is over, its folders are gone, with the kernel's own in them, and nothing is mounted."""
    before = Path("/proc/self/mountinfo").read_text()
    with ExitStack() as stack:
        item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(developers),)))
        item.say(
            f"mkdir {developers}/a; echo 1 > {developers}/a/count; "
            f"rm {developers}/kept; chmod 0 {developers}/a"
        )
        assert Path("/proc/self/mountinfo").read_text() == before
    assert list((tmp_path / "base").iterdir()) == []
    assert list(developers.iterdir()) == [developers / "kept"]


def test_refused_overlays_are_reported(isolating: Supervisor, tmp_path: Path) -> None:
    """Where writes cannot be contained, hooks still run and a note says what that means."""
    missing = tmp_path / "missing"
    missing.write_text("a file, and no folder")
    with isolating.open(Confinement(tier=Tier.NAMESPACES, outside=str(missing))) as sandbox:
        assert not sandbox.contained
        assert "contained" in sandbox.notes[-1]
        assert sandbox.run([launch("true")])[0].ending.code == 0
