"""
Recordings: which lines of which files hooks ran, as their interpreters said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageStore:
    """
    Where what hooks run is written down.

    Attributes:
        folder: Each simulation leaves one file here.
        branch: Whether Python tells the way from line to line, and not only the lines.
    """

    folder: Path
    branch: bool = False


@dataclass(frozen=True, slots=True)
class TracedLine:
    """
    A command that a shell said it ran.

    Attributes:
        line: The line that it named, which in some places is one further on.
        text: The beginning of the command, its words filled in.
    """

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """
    A script of which nothing is known.

    Attributes:
        script: Its path.
        reason: Why, as far as that can be said.
    """

    script: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCoverage:
    """
    What was recorded, by file of the project.

    Attributes:
        shell: Commands of scripts that bash ran.
        python: Lines of files that Python ran, each alone or with the one that it was reached from.
        gaps: What was run and could not be recorded.
        context: The scenario.
    """

    shell: Mapping[str, tuple[TracedLine, ...]] = field(default_factory=dict)
    python: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    context: str = ""
