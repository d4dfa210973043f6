"""Line coverage: which lines of which files hooks ran, as reported by their interpreters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageStore:
    """
    Where the coverage of hooks is written.

    Attributes:
        folder: Folder with one file for each simulation.
        branch: Whether Python records branches (pairs of lines), and not only lines.
    """

    folder: Path
    branch: bool = False


@dataclass(frozen=True, slots=True)
class TracedLine:
    """
    The beginning of a command, after expansion, that a shell reported in its trace.

    For some statements the reported line is one too high.
    """

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A script without recorded lines."""

    script: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCoverage:
    """
    The recorded lines, by file of the project.

    Attributes:
        shell: Commands that bash ran, by script.
        python: Lines that Python ran, by file: (line,) or, for branches, (from, to).
        gaps: Scripts that ran and could not be recorded.
        context: Name of the scenario.
    """

    shell: Mapping[str, tuple[TracedLine, ...]] = field(default_factory=dict)
    python: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    context: str = ""
