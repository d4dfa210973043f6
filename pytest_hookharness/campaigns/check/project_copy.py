"""
Copies of projects with files that cannot be copied: links that leave the project, sockets, pipes.

A script of a hook may be such a link, for example into a shared folder of hooks; then its target is copied.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness.campaigns.arming.project_texts import read_known_text
from pytest_hookharness.execution.workspace.project_files import IgnoredFiles, stays_below
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.expectations import first_few


@contextmanager
def copyable(hook_set: HookSet, base: Path) -> Generator[tuple[HookSet, str]]:
    """
    Yield a hook set whose project can be copied, and a sentence about what is left out; empty for nothing.

    What has to be copied for that is put below ``base``.

    A virtual environment has links to an interpreter elsewhere, and a server leaves its socket. Neither can
    be copied, so what hooks do with them is not tested.
    """
    with TemporaryDirectory(prefix="hookharness-check-", dir=base) as folder:
        # Files that git ignores are not copied anyway.
        ignored = IgnoredFiles.of(hook_set.root)
        odd = {*_uncopyable(hook_set.root, ignored.paths)}
        hook_set = _with_ignored(hook_set, ignored)
        if not odd:
            yield hook_set, ""
            return
        root = Path(folder, hook_set.root.name)
        shutil.copytree(hook_set.root, root, symlinks=True, ignore=_leave_out(hook_set.root, odd))
        left = {path for path in odd if not _copy_target(hook_set, path, root)}
        yield replace(hook_set, root=root), _describe_left_out(hook_set.root, left) if left else ""


def _with_ignored(hook_set: HookSet, ignored: IgnoredFiles) -> HookSet:
    """Return a hook set whose sessions also get its own files that git ignores, as personal settings."""
    files, folders = {*ignored.files}, tuple(f"{folder}/" for folder in ignored.folders)
    own = {*hook_set.files, *(path for path, _ in hook_set.sources)} - hook_set.texts.keys()
    left = sorted(path for path in own if path in files or path.startswith(folders))
    if hook_set.plugin or not left:
        return hook_set
    texts = {path: read_known_text(hook_set.root / path) for path in left}
    return replace(hook_set, texts={**hook_set.texts, **texts})


def _uncopyable(root: Path, ignored: Collection[Path]) -> Generator[Path]:
    for folder, folders, files in os.walk(root):
        left_out = {root / ".git", *ignored}
        folders[:] = [name for name in folders if Path(folder, name) not in left_out]
        files[:] = [name for name in files if Path(folder, name) not in left_out]
        inside = Path(folder).relative_to(root).parts
        for path in (Path(folder, name) for name in (*folders, *files)):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                if not stays_below(root, inside, str(path.readlink())):
                    yield path
            elif not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                yield path


def _copy_target(hook_set: HookSet, path: Path, root: Path) -> bool:
    """Copy the target of a link if a hook's command names it or a file in it; return whether it was so."""
    name = str(path.relative_to(hook_set.root))
    texts = [text for hook in hook_set.hooks for text in hook.words]
    if not path.is_symlink() or not any(name in text for text in texts):
        return False
    try:
        if path.is_file():
            shutil.copy2(path, root / name)
        elif path.is_dir():
            shutil.copytree(path, root / name, symlinks=False, ignore_dangling_symlinks=True)
        else:
            return False
    except (OSError, shutil.Error):
        return False
    return True


def _leave_out(root: Path, odd: Collection[Path]) -> Callable[[str, list[str]], list[str]]:
    def choose(folder: str, names: list[str]) -> list[str]:
        top = Path(folder) == root
        return [name for name in names if Path(folder, name) in odd or (top and name == ".git")]

    return choose


def _describe_left_out(root: Path, odd: Collection[Path]) -> str:
    names = sorted(str(path.relative_to(root)) for path in odd)
    return f"Left out of the copies, because they lead out of the project: {first_few(names)}."
