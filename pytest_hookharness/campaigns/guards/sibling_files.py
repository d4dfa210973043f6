"""The files beside a guarded file that its guard must mean as well, if the project has a use for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files
from pytest_hookharness.campaigns.guards.denials import is_denied
from pytest_hookharness.judging.checkup.file_bypasses import LOCKS, siblings_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit

# How guards, and documents about them, speak of the lock files of all programs.
_LOCK_FILES = re.compile(r"\block[ _-]?files\b", re.IGNORECASE)
_PROMISES = re.compile(
    r"(?:\bblock|protect|\bden[iy]|refus|\bguard).*\block[ -]?files\b"
    r"|\block[ -]?files\b.*(?:blocked|protected|denied)",
    re.IGNORECASE,
)
# The lock files of a language, with files that every project in it has.
_LANGUAGES = (
    (("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"), ("package.json",)),
    (("poetry.lock", "uv.lock"), ("pyproject.toml",)),
    (("Cargo.lock",), ("Cargo.toml",)),
)
_MOST_DOCUMENTS, _LARGEST = 12, 1 << 17


def siblings(hook_set: HookSet, edit: Edit, source: str) -> Iterator[Edit]:
    """Yield edits that a guard should refuse as well, because it refused one of a related file."""
    name = posixpath.basename(edit.file)
    if is_denied(hook_set, name) or (name in LOCKS and not are_locks_meant(hook_set, source)):
        return
    # First those that the project has.
    others = [file for file in siblings_of(edit.file) if not _is_spoken_of(file, source)]
    for file in sorted(others, key=lambda file: not (hook_set.root / file).exists()):
        if _is_meant(hook_set, file, name) and not is_denied(hook_set, posixpath.basename(file)):
            yield replace(edit, file=file)


def _is_spoken_of(file: str, source: str) -> bool:
    """Return whether guards name a file: if they allow it, they are meant to."""
    return posixpath.basename(file) in source.replace("\\", "")


def are_locks_meant(hook_set: HookSet, source: str) -> bool:
    """Return whether guards, or the words of the project about them, say that lock files are protected."""
    if _LOCK_FILES.search(source):
        return True
    documents = [path for path in project_files(hook_set.root) if path.suffix == ".md"]
    nearest = sorted(documents, key=lambda path: len(path.parts))[:_MOST_DOCUMENTS]
    texts = (path.read_text("utf-8", "replace") for path in nearest if is_small(path, _LARGEST))
    return any(_PROMISES.search(line) for text in texts for line in text.splitlines())


def _is_meant(hook_set: HookSet, file: str, known: str) -> bool:
    """Return whether the project has, or may have, a file that a guard of another one must mean."""
    exists, name = (hook_set.root / file).exists(), posixpath.basename(file)
    if name not in LOCKS:
        # An environment that the project keeps for all has no secrets.
        return not (exists and name.startswith(".env"))
    languages = [one for one in _LANGUAGES if name in one[0]]
    same = any(known in locks for locks, _ in languages)
    return (
        exists or same or any((hook_set.root / begin).exists() for _, begins in languages for begin in begins)
    )
