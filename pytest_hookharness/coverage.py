"""
Coverage.py: a plugin by which its reports show the lines of shell scripts.

Its settings name it::

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

from pytest_hookharness.execution.coverage.statements import ScriptLines, read_script

_BASH = re.compile(rb"#!.*\bbash\b")
_OTHER = re.compile(rb"#!")
_FIRST = 256
_ELSEWHERE = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"})


class ShellFile(FileReporter):
    """
    What coverage asks about one script.
    """

    @cached_property
    def _script(self) -> ScriptLines:
        return read_script(Path(self.filename).read_bytes())

    def source(self) -> str:
        """
        The text, whatever its bytes are.
        """
        return Path(self.filename).read_text(encoding="utf-8", errors="replace")

    def lines(self) -> set[int]:
        """
        The lines that can be run.
        """
        return set(self._script.lines)

    def excluded_lines(self) -> set[int]:
        """
        The lines that the author does not want counted.
        """
        return set(self._script.excluded)


class ShellLines(CoveragePlugin):
    """
    Tells coverage what can be run in a shell script; what was run, the harness writes into the data.
    """

    def file_reporter(self, filename: str) -> ShellFile:
        """
        What coverage asks about one script.
        """
        return ShellFile(filename)

    def find_executable_files(self, src_dir: str) -> Iterable[str]:
        """
        The scripts for bash below a folder, so that those which nobody ran are reported as such.
        """
        return bash_files(src_dir)


# How the data name the plugin.
NAME = f"{__name__}.{ShellLines.__name__}"


class Registry(Protocol):
    """
    Where coverage keeps its plugins.
    """

    def add_file_tracer(self, plugin: CoveragePlugin) -> None:
        """
        Add one that knows of files that are not in Python.
        """
        ...


def coverage_init(registry: Registry, _: Mapping[str, object]) -> None:
    """
    What coverage calls when its settings name this module.
    """
    registry.add_file_tracer(ShellLines())


def bash_files(folder: str) -> Iterable[str]:
    """
    The scripts for bash below a folder; one for another shell says nothing, so it is none that nobody ran.
    """
    return filter(_is_for_bash, _files(folder))


def python_files(folder: str) -> Iterable[str]:
    """
    The modules below a folder.
    """
    return (place for place in _files(folder) if place.endswith(".py"))


def _files(folder: str) -> Iterable[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _ELSEWHERE)
        # Whoever opens a named pipe waits for its writer.
        yield from (str(path) for name in sorted(names) if (path := Path(place, name)).is_file())


def _is_for_bash(place: str) -> bool:
    try:
        with Path(place).open("rb") as file:
            first = file.read(_FIRST)
    except OSError:
        return False
    return _BASH.match(first) is not None or (place.endswith((".sh", ".bash")) and not _OTHER.match(first))
