"""
A plugin for coverage.py: its reports show the lines of shell scripts.

The settings of coverage.py name it::

    [tool.coverage.run]
    plugins = ["pytest_hookharness.coverage"]
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

from coverage import CoveragePlugin, FileReporter

from pytest_hookharness.execution.coverage.scripts import ScriptLines, read_script

_BASH = re.compile(rb"#!.*\bbash\b")
_OTHER = re.compile(rb"#!")
_FIRST = 256
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"})


class ShellFile(FileReporter):
    """The lines of one script, as coverage.py asks for them."""

    @cached_property
    def _script(self) -> ScriptLines:
        return read_script(Path(self.filename).read_bytes())

    def source(self) -> str:
        """Return the text; bytes that are not UTF-8 are replaced."""
        return Path(self.filename).read_text(encoding="utf-8", errors="replace")

    def lines(self) -> set[int]:
        """Return the executable lines."""
        return set(self._script.lines)

    def excluded_lines(self) -> set[int]:
        """Return the lines that the author excluded."""
        return set(self._script.excluded)


class ShellLines(CoveragePlugin):
    """Tells coverage.py which lines of shell scripts are executable; the harness writes those that ran."""

    def file_reporter(self, filename: str) -> ShellFile:
        """Return the lines of one script."""
        return ShellFile(filename)

    def find_executable_files(self, src_dir: str) -> Iterable[str]:
        """Return the bash scripts below a folder, so that scripts that never ran are reported too."""
        return bash_files(src_dir)


# The name of the plugin in data files.
NAME = f"{__name__}.{ShellLines.__name__}"


class Registry(Protocol):
    """The part of coverage.py that registers plugins."""

    def add_file_tracer(self, plugin: CoveragePlugin) -> None:
        """Register a plugin for files that are not in Python."""
        ...


def coverage_init(registry: Registry, _: Mapping[str, object]) -> None:
    """Register the plugin. coverage.py calls this if its settings name this module."""
    registry.add_file_tracer(ShellLines())


def bash_files(folder: str) -> Iterable[str]:
    """
    Return the bash scripts below a folder. Other shells are left out, because their lines cannot be recorded.
    """
    return filter(_is_for_bash, _files(folder))


def python_files(folder: str) -> Iterable[str]:
    """Return the Python modules below a folder."""
    return (path for path in _files(folder) if path.endswith(".py"))


def _files(folder: str) -> Iterable[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        # Opening a named pipe would wait for its writer.
        yield from (str(path) for name in sorted(names) if (path := Path(parent, name)).is_file())


def _is_for_bash(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            first = file.read(_FIRST)
    except OSError:
        return False
    return _BASH.match(first) is not None or (path.endswith((".sh", ".bash")) and not _OTHER.match(first))
