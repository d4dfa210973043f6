"""The project of a recorded session: at its commit where the repository has it, otherwise as it is now."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pytest_hookharness.campaigns.shrinking.scenario_parts import named_files
from pytest_hookharness.execution.workspace.committed_project import find_commit, find_top, write_commit
from pytest_hookharness.execution.workspace.project_files import IgnoredFiles, copy_folder
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.signatures import file_of
from pytest_hookharness.model.actions import Action
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.redaction import Secrets, redacted
from pytest_hookharness.scenario_files.json_records import UnreadableRecords
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_HASH = re.compile(r"\A[0-9a-f]{7,64}\Z")
# A project with more is not written into a scenario file.
_MOST_FILES, _MOST_BYTES = 100, 256 * 1024
# More are not searched for names.
_MOST_LOOKED_AT = 5000
_SESSION_ID = "{{session_id}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedProject:
    """
    The files that the hooks see.

    Attributes:
        folder: Where they are: the top of the repository, if there is one.
        subfolder: The folder in it where the session ran; empty for the same.
        commit: The commit that they are of; empty for the project as it is now.
        title: The project and its state, in words.
        files: Texts of all files, by path, if they are few; ``None`` if they are not.
        named: If they are not few, the texts of the settings, and of the files that these or each other name.
        modes: Permission bits of files that a scenario would not give them by itself.
    """

    folder: Path
    subfolder: str
    commit: str
    title: str
    files: Mapping[str, str] | None
    named: Mapping[str, str]
    modes: Mapping[str, int]
    git: bool


def find_project(
    stream: SessionStream, source: Path, given: Path | None, at: str, scratch: Path
) -> RecordedProject:
    """
    Return the project of a session.

    Args:
        given: The project, or the session's folder in it; ``None`` for the folder that the transcript names.
        at: The commit; empty for the one that the transcript names.
        scratch: An empty folder for the files of a commit.

    Raises:
        UnreadableRecords: The transcript names no project that exists.
        SimulationError: The project or the commit does not exist.
        WorkspaceError: Git fails.
    """
    folder = given or (Path(stream.cwd) if stream.cwd.startswith("/") else None)
    if folder is None:
        raise UnreadableRecords(
            f"{source}: does not name the folder of its project; give it with --project DIR"
        )
    folder = folder.resolve()
    if not folder.is_dir():
        whose = "--project" if given else f"{source}: the session's folder"
        raise SimulationError(f"{whose} {folder} does not exist; give the project with --project DIR")
    recorded = stream.commit if _HASH.match(stream.commit) else ""
    commit = find_commit(folder, at or recorded) if at or recorded else ""
    if at and not commit:
        raise SimulationError(f"--at {at}: {folder} has no such commit; look it up with `git log`")
    top = find_top(folder)
    subfolder = str(folder.relative_to(top)) if folder != top else _find_subfolder(stream.cwd, top)
    without: frozenset[Path] = frozenset()
    large = False
    if commit:
        # Raises an error if the commit does not have the folder.
        write_commit(folder, commit, scratch)
        place, title = scratch, f"{top} at commit {commit[:12]}"
    else:
        ignored = IgnoredFiles.of(top)
        without, large = ignored.paths, bool(ignored.folders)
        why = f"it has no commit {recorded[:12]}" if recorded else "the transcript names no commit"
        place, title = top, f"{top} as it is now ({why})"
    files, modes = (None, {}) if large else _few_files(place, without)
    return RecordedProject(
        folder=place,
        subfolder=subfolder,
        commit=commit,
        title=f"{title}, in its folder {subfolder}" if subfolder else title,
        files=files,
        named=_named_files(place, without, stream.form, subfolder) if files is None else {},
        modes=modes,
        git=bool(commit or find_commit(top, "HEAD")),
    )


def _find_subfolder(cwd: str, top: Path) -> str:
    """Return the folder of a project in which a session ran, if the project had the same name there."""
    path = PurePosixPath(cwd)
    found = (path.relative_to(above) for above in path.parents if above.name == top.name)
    return next((str(inner) for inner in found if (top / inner).is_dir()), "")


def infer_folder(stream: SessionStream, project: Path) -> str:
    """Return the folder of a session, known by recorded paths of files that the project has; or nothing."""
    found: Counter[str] = Counter()
    for action in (item for item in stream.items if isinstance(item, Action)):
        path = PurePosixPath(file_of(action.arguments))
        if path.is_absolute():
            parts = range(1, len(path.parts))
            places = (n for n in parts if os.path.lexists(project.joinpath(*path.parts[n:])))
            found.update(str(PurePosixPath(*path.parts[:n])) for n in [*places][:1])
    return found.most_common(1)[0][0] if found else ""


def _named_files(folder: Path, without: frozenset[Path], host: str, subfolder: str) -> Mapping[str, str]:
    """Return the texts of a host's settings in a project, and of the files that these or each other name."""
    texts: dict[str, str] = {}
    for path in islice(_walk(folder, without), _MOST_LOOKED_AT):
        text = _text(path) if path.stat().st_size <= _MOST_BYTES else None
        if text is not None and _SESSION_ID not in text:
            texts[str(path.relative_to(folder))] = text
    named = named_files(Scenario(name="named", host=host, files=texts, subfolder=subfolder))
    return {path: texts[path] for path in named}


def _walk(folder: Path, without: frozenset[Path]) -> Iterator[Path]:
    """Yield the files of a folder that git does not ignore, without those of links."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git" and Path(place, name) not in without)
        paths = (Path(place, name) for name in sorted(names) if name != ".git")
        yield from (path for path in paths if path not in without and not path.is_symlink())


def _few_files(folder: Path, without: frozenset[Path]) -> tuple[Mapping[str, str] | None, Mapping[str, int]]:
    """Return the texts and modes of a folder's files; ``None`` if they are many, or not all texts."""
    files: dict[str, str] = {}
    modes: dict[str, int] = {}
    left = _MOST_BYTES
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        if any(Path(place, name).is_symlink() for name in (*folders, *names)):
            return None, {}
        for name in sorted(names):
            path = Path(place, name)
            if path in without or name == ".git":
                continue
            left -= path.stat().st_size
            text = _text(path) if left >= 0 and len(files) < _MOST_FILES else None
            if text is None or _SESSION_ID in text:
                return None, {}
            inside = str(path.relative_to(folder))
            files[inside] = text
            executable = path.stat().st_mode & 0o111 != 0
            if executable != text.startswith("#!"):
                modes[inside] = 0o755 if executable else 0o644
    return files, modes


def _text(path: Path) -> str | None:
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\r" in text or "\0" in text else text


def copy_project(source: Path, target: Path, secrets: Secrets) -> None:
    """Copy a project beside its scenarios, without secrets in its texts."""
    with TemporaryDirectory(prefix="hookharness-copy-") as scratch:
        fresh = Path(scratch, "project")
        fresh.mkdir()
        # The scenarios may lie in the project.
        copy_folder(source, fresh, {*IgnoredFiles.of(source).paths, target.parent})
        for path in fresh.rglob("*"):
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                kept = redacted(data, secrets)
                if kept != data:
                    path.write_bytes(kept)
        shutil.move(fresh, target)
