"""Find the project and plugin folders of a scenario file."""

from __future__ import annotations

from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.trace import is_cache

# Stands for the repository that contains the scenario file. A folder of that name is `./repository`.
REPOSITORY = "repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfound:
    """
    The reason why a folder cannot be used.

    Attributes:
        why: The reason, in words that follow the path.
        missing: The component of the path that does not exist; empty for other reasons.
        there: The existing folders beside it.
    """

    why: str
    missing: str = ""
    there: tuple[str, ...] = ()


def find_folder(text: str, base: Path, *, confined: bool) -> Path | Unfound:
    """
    Return the absolute path of a folder, with links resolved.

    Args:
        text: The path, as written.
        base: The folder that the path is relative to.
        confined: Whether the folder must be below ``base``, or be its repository.
    """
    if text == REPOSITORY:
        return _find_repository(base)
    if "\0" in text or not text:
        return Unfound(why="is not a path")
    if confined and text.startswith("/"):
        return Unfound(why="is absolute; write it relative to the scenario file")
    if confined and ".." in text.split("/"):
        return Unfound(why="leaves the scenario's folder")
    try:
        root = base.resolve()
        folder = (root / text).resolve()
        if confined and not folder.is_relative_to(root):
            return Unfound(why=f"is a link that leaves the scenario's folder, to {folder}")
        if folder.is_dir():
            return folder
        if folder.exists():
            return Unfound(why="is not a folder")
        return _missing(folder, root if confined else None)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        return Unfound(why=f"cannot be looked up: {reason}")


def _find_repository(base: Path) -> Path | Unfound:
    top = base.resolve()
    found = next((folder for folder in (top, *top.parents) if (folder / ".git").exists()), None)
    return found or Unfound(why=f"does not exist: neither {top} nor a folder above it contains .git")


def _missing(folder: Path, root: Path | None) -> Unfound:
    there = next(parent for parent in folder.parents if parent.is_dir())
    missing = folder.relative_to(there).parts[0]
    names = sorted(
        entry.name
        for entry in there.iterdir()
        if entry.is_dir()
        and not is_cache(entry.name)
        and (root is None or entry.resolve().is_relative_to(root))
    )
    return Unfound(
        why=f"does not exist: {there} has no folder {missing}", missing=missing, there=tuple(names)
    )
