"""Files of a project as a fix would leave them. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.hosts.settings.formats import command_keys, replace_commands
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.file_change import FileChange
from pytest_hookharness.model.scenario import Scenario

_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class DraftFiles:
    """The files of a project, some of them with other contents."""

    root: Path
    changes: Mapping[str, FileChange]

    def read(self, file: str) -> bytes | None:
        """Return the contents of a file; ``None`` if there is no regular file, or a very large one."""
        if file in self.changes:
            return self.changes[file].after
        path = self.root / file
        inside = path.resolve().is_relative_to(self.root.resolve())
        if not (inside and path.is_file()) or path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes()

    def mode(self, file: str) -> int:
        """Return the permission bits of a file; 0 if it does not exist."""
        if file in self.changes:
            return self.changes[file].mode
        path = self.root / file
        return path.stat().st_mode & 0o7777 if path.is_file() else 0

    def write(self, file: str, after: bytes, mode: int | None = None) -> DraftFiles:
        """Return these files with one more change."""
        known = self.changes.get(file)
        change = FileChange(
            file=file,
            before=self.read(file) if known is None else known.before,
            after=after,
            mode_before=self.mode(file) if known is None else known.mode_before,
            mode=(self.mode(file) or 0o644) if mode is None else mode,
        )
        return replace(self, changes={**self.changes, file: change})

    def changed_since(self, earlier: DraftFiles) -> tuple[str, ...]:
        """Return the files that differ from those of an earlier draft."""
        return tuple(file for file, change in self.changes.items() if earlier.changes.get(file) != change)

    @property
    def texts(self) -> dict[str, str]:
        """The new text of each changed file."""
        return {
            change.file: change.after.decode("utf-8", "surrogateescape") for change in self.changes.values()
        }

    def put_into(self, scenario: Scenario) -> Scenario:
        """Return a scenario whose workspace has these files."""
        modes = {change.file: change.mode for change in self.changes.values()}
        return replace(scenario, files={**scenario.files, **self.texts}, modes={**scenario.modes, **modes})

    def with_commands(self, host: str, file: str, commands: Mapping[str, str]) -> DraftFiles | None:
        """Return these files with other commands in a settings file; ``None`` if it has none of them."""
        data = self.read(file)
        if data is None or not file.endswith(".json"):
            return None
        try:
            keys = command_keys(hosts.find(host).config)
            text, number = replace_commands(data.decode("utf-8"), keys, commands)
        except UnicodeDecodeError:
            return None
        return self.write(file, text.encode()) if number else None

    def write_below(self, folder: Path) -> None:
        """Write the changed files into a copy of the project."""
        for change in self.changes.values():
            path = folder / change.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change.after)
            path.chmod(change.mode)
