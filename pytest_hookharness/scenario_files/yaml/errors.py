"""Problems of a scenario file: position, message, allowed values, and a suggestion."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.scenario_files.yaml.nodes import LONGEST_SHOWN, Place, shown

# More problems are not recorded: nobody reads them, and it limits the cost of a hostile file.
MAX_PROBLEMS = 100
LONGEST_COMPARED = 100
MAX_ALLOWED = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioProblem:
    """
    One problem of a scenario.

    Attributes:
        file: The scenario file; ``None`` for plain data.
        line: Line from 1; 0 for plain data, or for the file as a whole.
        column: Column from 1, in characters; 0 likewise.
        path: Key path; empty for the scenario as a whole.
        seen: The written value.
        message: The problem, in words.
        allowed: The allowed values.
        nearest: The allowed word that was probably meant; ``None`` if none is close.
    """

    file: Path | None = None
    line: int = 0
    column: int = 0
    path: str = ""
    seen: str = ""
    message: str
    allowed: tuple[str, ...] = ()
    nearest: str | None = None

    def __str__(self) -> str:
        place = str(self.file) if self.file is not None else ""
        if self.line:
            place += f":{self.line}:{self.column}"
        path = self.path if len(self.path) <= 4 * LONGEST_SHOWN else self.path[: 4 * LONGEST_SHOWN] + "..."
        where = " ".join(part for part in (place, path) if part)
        text = f"{where}: {self.message}" if where else self.message
        if self.allowed:
            more = ", ..." if len(self.allowed) > MAX_ALLOWED else ""
            text += f"; allowed: {', '.join(self.allowed[:MAX_ALLOWED])}{more}"
        if self.nearest is not None:
            text += f"; did you mean {shown(self.nearest)}?"
        return text


class ScenarioErrors(ValueError):
    """
    All problems of one scenario.

    Attributes:
        problems: The problems, in the order of the file.
    """

    def __init__(self, problems: Sequence[ScenarioProblem]) -> None:
        super().__init__(tuple(problems))
        self.problems: tuple[ScenarioProblem, ...] = tuple(problems)

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if len(lines) >= MAX_PROBLEMS:
            lines.append(f"Only the first {MAX_PROBLEMS} problems are listed.")
        return "\n".join(lines)


@dataclass(slots=True)
class Problems:
    """
    The problems found so far.

    Attributes:
        file: The scenario file; ``None`` for plain data.
        found: The problems, in the order of discovery.
    """

    file: Path | None = None
    found: list[ScenarioProblem] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether no more are recorded."""
        return len(self.found) >= MAX_PROBLEMS

    def add(
        self,
        place: Place | tuple[int, int],
        path: str,
        message: str,
        *,
        seen: str = "",
        allowed: Iterable[str] = (),
        near: str | None = None,
        meant: str | None = None,
    ) -> None:
        """
        Record a problem.

        Args:
            place: Place of the problem.
            path: Its key path.
            message: What is wrong, in words.
            seen: What was written there.
            allowed: What is allowed there.
            near: The word that was written, to suggest the nearest word of ``allowed``.
            meant: The suggestion, where it is known.
        """
        if self.full:
            return
        line, column = place if isinstance(place, tuple) else (place.line, place.column)
        words = tuple(allowed)
        self.found.append(
            ScenarioProblem(
                file=self.file,
                line=line,
                column=column,
                path=path,
                seen=seen,
                message=message,
                allowed=words,
                nearest=meant if meant or near is None else nearest(near, words),
            )
        )

    def raise_if_any(self) -> None:
        """
        Raise all problems together, in the order of the file.

        Raises:
            ScenarioErrors: There are problems.
        """
        if self.found:
            raise ScenarioErrors(sorted(self.found, key=lambda problem: (problem.line, problem.column)))


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the word that was probably meant; ``None`` if none is close enough."""
    if len(word) > LONGEST_COMPARED:
        return None
    folded = {known.casefold(): known for known in words}
    close = difflib.get_close_matches(word.casefold(), folded, n=1)
    return folded[close[0]] if close else None
