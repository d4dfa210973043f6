"""Which parts of a repository belong to the state."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha1
from pathlib import Path

import pytest

from pytest_hookharness.execution.state.relevance import counts, head_of_log, index_digest, is_index
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.model.scenario import Scenario

from .toys import watches

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    scenario = Scenario(name="repository", git=True, files={"a.txt": "a\n", "b/c.txt": "c\n"})
    with Workspace.create(scenario, tmp_path) as made:
        yield made


@pytest.fixture
def git(workspace: Workspace) -> Callable[..., str]:
    def ask(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=workspace.root, env=workspace.environment, check=True, capture_output=True
        )
        return done.stdout.decode()

    return ask


@pytest.fixture(params=[True, False], ids=["watched", "unwatched"])
def scanner(workspace: Workspace, request: pytest.FixtureRequest) -> Iterator[Scanner]:
    opened = Scanner({"workspace": workspace.root}, watches=watches(request.param))
    opened.scan()
    yield opened
    opened.close()


def differing(scanner: Scanner) -> set[str]:
    old = dict(scanner._published[1])
    new = dict(scanner.scan())
    assert new == dict(scanner.verify())
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


@pytest.mark.slow
def test_a_refreshed_index_is_the_same(
    scanner: Scanner, workspace: Workspace, git: Callable[..., str]
) -> None:
    """Asking for the status makes git rewrite its index, and that is no difference."""
    index = workspace.root / ".git" / "index"
    before = index.read_bytes()
    os.utime(workspace.root / "a.txt", (1, 1))
    assert git("status", "--porcelain") == ""
    assert index.read_bytes() != before
    assert differing(scanner) == set()


@pytest.mark.slow
def test_staging_is_seen(scanner: Scanner, workspace: Workspace, git: Callable[..., str]) -> None:
    """A staged file differs in the index, and unstaging it gives the first index again."""
    first = scanner.scan()["workspace/.git/index"]
    (workspace.root / "a.txt").write_text("b\n")
    git("add", "a.txt")
    assert differing(scanner) == {"workspace/a.txt", "workspace/.git/index"}
    git("reset", "--quiet")
    scanner.scan()
    assert scanner.scan()["workspace/.git/index"] == first


@pytest.mark.slow
def test_a_commit_is_seen_by_its_ref(scanner: Scanner, git: Callable[..., str]) -> None:
    """A commit differs in the branch, the logs and the message, and not in objects."""
    git("commit", "--quiet", "--allow-empty", "--message", "second")
    assert differing(scanner) == {
        f"workspace/.git/{place}"
        for place in ("refs/heads/main", "logs/refs/heads/main", "logs/HEAD", "COMMIT_EDITMSG")
    }


@pytest.mark.slow
def test_objects_that_nothing_refers_to_are_no_difference(
    scanner: Scanner, workspace: Workspace, git: Callable[..., str]
) -> None:
    """New objects, packed or not, are no difference."""
    (workspace.root / ".git" / "draft").write_text("x\n")
    scanner.scan()
    git("hash-object", "-w", ".git/draft")
    assert differing(scanner) == set()
    git("repack", "-q", "-d", "-n")
    git("multi-pack-index", "write")
    git("prune")
    assert differing(scanner) == set()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "place",
    [
        ".git/objects/count",
        ".git/objects/ab",
        ".git/objects/zz/count",
        ".git/objects/ab/count",
        f".git/objects/ab/{'c' * 38}/count",
        ".git/objects/pack/count",
        ".git/objects/info/alternates",
        ".git/logs/count",
        ".git/logs/HEAD",
        "sub/.git/objects/n",
        "sub/.git/logs/HEAD",
    ],
)
def test_what_is_not_gits_own_counts(scanner: Scanner, workspace: Workspace, place: str) -> None:
    """A file that a hook keeps among git's files is seen whenever it is written, and when it is gone."""
    file = workspace.root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    for text in ("1\n", "2\n", "3\n"):
        file.write_text(text)
        assert f"workspace/{place}" in differing(scanner)
    file.unlink()
    assert differing(scanner) == {f"workspace/{place}"}


@pytest.mark.slow
def test_a_counter_among_objects_goes_with_its_folder(scanner: Scanner, workspace: Workspace) -> None:
    """What stood in a folder of objects is forgotten when the folder is gone, or becomes a file."""
    folder = workspace.root / ".git" / "objects" / "ab"
    for remove in (lambda: shutil.rmtree(folder), lambda: folder.rename(workspace.base / "away")):
        folder.mkdir()
        (folder / "count").write_text("1")
        assert differing(scanner) == {"workspace/.git/objects/ab/count"}
        remove()
        assert differing(scanner) == {"workspace/.git/objects/ab/count"}
    folder.mkdir()
    (folder / "count").write_text("1")
    scanner.scan()
    folder.rename(workspace.base / "aside")
    folder.write_text("1")
    assert differing(scanner) == {"workspace/.git/objects/ab", "workspace/.git/objects/ab/count"}


@pytest.mark.slow
def test_a_log_counts_without_its_times(scanner: Scanner, workspace: Workspace) -> None:
    """In a log the time of a ref's move is no difference; author, old and new commit are."""
    log = workspace.root / ".git" / "logs" / "HEAD"
    line = f"{'0' * 40} {'1' * 40} A <a@b> %s\tcommit: x\n"
    log.write_text(line % "1700000000 +0000")
    first = scanner.scan()["workspace/.git/logs/HEAD"]
    log.write_text(line % "1700000001 +0200")
    assert differing(scanner) == set()
    log.write_text(line.replace("1" * 40, "2" * 40) % "1700000001 +0200")
    assert differing(scanner) == {"workspace/.git/logs/HEAD"}
    log.write_text(2 * line % ("1700000001 +0200", "1700000002 +0200"))
    assert scanner.scan()["workspace/.git/logs/HEAD"] != first


@pytest.mark.slow
def test_a_checkout_is_seen(scanner: Scanner, git: Callable[..., str]) -> None:
    """Another branch differs in HEAD, in the refs and in the logs."""
    git("checkout", "--quiet", "-b", "side")
    assert differing(scanner) == {
        f"workspace/.git/{place}"
        for place in ("HEAD", "refs/heads/side", "logs/HEAD", "logs/refs/heads/side")
    }


@pytest.mark.slow
def test_a_stash_is_seen(scanner: Scanner, workspace: Workspace, git: Callable[..., str]) -> None:
    """Each stash differs, also one below the newest."""
    for text in ("one\n", "two\n"):
        (workspace.root / "a.txt").write_text(text)
        git("stash")
        assert {"workspace/.git/refs/stash", "workspace/.git/logs/refs/stash"} <= differing(scanner)
    git("stash", "drop", "stash@{1}")
    assert differing(scanner) == {"workspace/.git/logs/refs/stash"}


@pytest.mark.slow
def test_hooks_configuration_and_locks_are_seen(scanner: Scanner, workspace: Workspace) -> None:
    """A new hook, a setting, an exclusion and a lock that was left behind all differ."""
    folder = workspace.root / ".git"
    for place in ("hooks/pre-commit", "info/exclude", "index.lock"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text("x\n")
    with (folder / "config").open("a") as stream:
        stream.write("[core]\n\tpager = cat\n")
    assert {
        f"workspace/.git/{place}" for place in ("hooks/pre-commit", "info/exclude", "index.lock", "config")
    } <= differing(scanner)


@pytest.mark.slow
def test_flags_of_entries_are_seen(scanner: Scanner, git: Callable[..., str]) -> None:
    """A file that git has to take as unchanged, or to skip, differs in the index."""
    git("update-index", "--assume-unchanged", "a.txt")
    assert differing(scanner) == {"workspace/.git/index"}
    git("update-index", "--skip-worktree", "a.txt")
    assert differing(scanner) == {"workspace/.git/index"}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_format_of_the_index_has_the_same_entries(
    workspace: Workspace, git: Callable[..., str], version: str
) -> None:
    """The digest of an index depends on its entries, and not on the format in which git wrote them."""
    index = workspace.root / ".git" / "index"
    for number in range(20):
        (workspace.root / "b" / f"{'x' * number}{number}.txt").write_text(f"{number}\n")
    # The next name shares nothing with the long one, which format 4 states by a number of two bytes.
    (workspace.root / "b" / ("y" * 200)).write_text("long\n")
    (workspace.root / "c").write_text("short\n")
    git("add", "--all")
    first = index_digest(index.read_bytes())
    git("update-index", "--force-write-index", "--index-version", version)
    assert index_digest(index.read_bytes()) == first
    assert first.startswith("entries:")


def test_an_index_without_checksum_is_understood(workspace: Workspace) -> None:
    """An index for which git left the checksum out has the same entries."""
    data = (workspace.root / ".git" / "index").read_bytes()
    assert index_digest(data[:-20] + bytes(20)) == index_digest(data)


@pytest.mark.slow
def test_entries_are_read_as_git_reads_them(workspace: Workspace, git: Callable[..., str]) -> None:
    """Two indexes have the same digest exactly if git lists the same entries for them."""
    seen: dict[str, str] = {}
    for text in ("1\n", "2\n", "1\n"):
        (workspace.root / "a.txt").write_text(text)
        git("add", "--all")
        listed = git("ls-files", "--stage", "-z")
        digest = index_digest((workspace.root / ".git" / "index").read_bytes())
        assert seen.setdefault(listed, digest) == digest
    assert len(set(seen.values())) == len(seen) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"DIRC",
        b"DIRC" + struct.pack(">II", 2, 5) + bytes(20),
        b"DIRC" + struct.pack(">II", 9, 0) + bytes(20),
        b"DIRC" + struct.pack(">II", 2, 0) + b"link" + struct.pack(">I", 0) + bytes(20),
        b"DIRC" + struct.pack(">II", 2, 0) + b"x" * 20,
    ],
    ids=["empty", "short", "cut", "version", "split", "checksum"],
)
def test_an_unknown_index_counts_by_its_bytes(data: bytes) -> None:
    """An index that is not understood counts byte for byte, which can only distinguish too many states."""
    assert index_digest(data).startswith("raw:")
    assert index_digest(data) != index_digest(data + b"\0")


def test_extensions_that_may_be_ignored_are() -> None:
    """Caches that git keeps in the index do not change its digest."""
    body = b"DIRC" + struct.pack(">II", 2, 0)
    cache = body + b"TREE" + struct.pack(">I", 3) + b"abc"
    digests = {index_digest(data + sha1(data, usedforsecurity=False).digest()) for data in (body, cache)}
    assert len(digests) == 1


OBJECT, LONGER = f"ab/{'c' * 38}", f"ab/{'c' * 62}"
PACK = f"pack/pack-{'d' * 40}"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("workspace/.git", True),
        ("workspace/.git/HEAD", True),
        ("workspace/.git/objects", True),
        ("workspace/.git/objects/ab/cd", True),
        (f"workspace/.git/objects/{OBJECT}", False),
        (f"workspace/.git/objects/{LONGER}", False),
        (f"workspace/.git/objects/{OBJECT}c", True),
        (f"workspace/.git/objects/{OBJECT}/n", True),
        (f"workspace/.git/objects/{PACK}.pack", False),
        (f"workspace/.git/objects/{PACK}.idx", False),
        (f"workspace/.git/objects/{PACK}.keep", True),
        (f"workspace/.git/objects/{PACK}.count", True),
        ("workspace/.git/objects/info/packs", False),
        ("workspace/.git/objects/info/alternates", True),
        ("workspace/.git/logs", True),
        ("workspace/.git/logs/HEAD", True),
        (f"workspace/.git/refs/heads/objects/{OBJECT}", True),
        (f"workspace/.git/modules/lib/objects/{OBJECT}", False),
        (f"workspace/.git/modules/a/b/objects/{OBJECT}", False),
        (f"workspace/.git/modules/a/refs/heads/objects/{OBJECT}", True),
        (f"workspace/objects/{OBJECT}", True),
        (f"workspace/inner/.git/objects/{OBJECT}", False),
    ],
)
def test_objects_do_not_count(path: str, expected: bool) -> None:
    """In a repository in any folder, exactly the objects of git are left out."""
    assert counts(path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("workspace/.git/objects", True),
        ("workspace/.git/objects/ab", False),
        ("workspace/.git/objects/zz", True),
        (f"workspace/.git/objects/{OBJECT}", True),
    ],
)
def test_folders_of_objects_do_not_count(path: str, expected: bool) -> None:
    """
    Exactly those folders of a repository are left out that git makes and removes for its objects.
    """
    assert counts(path, folder=True) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("w/.git/logs/HEAD", "/x/.git/HEAD"),
        ("w/.git/logs/refs/heads/a/b", "/x/.git/HEAD"),
        ("w/.git/modules/lib/logs/refs/stash", "/x/.git/modules/lib/HEAD"),
        ("w/.git/worktrees/one/logs/HEAD", "/x/.git/worktrees/one/HEAD"),
        ("w/.git/logs/count", ""),
        ("w/logs/HEAD", ""),
    ],
)
def test_a_log_belongs_to_a_head(path: str, expected: str) -> None:
    """A log of refs is known by its place, and so is the HEAD of its repository."""
    assert head_of_log(path, "/x" + path.removeprefix("w")) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("workspace/.git/index", True),
        ("workspace/.git/modules/lib/index", True),
        ("workspace/.git/worktrees/one/index", True),
        ("workspace/.git/refs/heads/index", False),
        ("workspace/index", False),
    ],
)
def test_an_index_is_known_by_its_place(path: str, expected: bool) -> None:
    """Only the index of a repository, a submodule or a worktree is one."""
    assert is_index(path) is expected
