"""
Fair measurement: all candidates in turns, medians, and ratios to a peer.

A machine is never quiet and never the same twice. So no candidate is measured alone: each one has a turn in
each round, and a ratio is the median of the ratios of single rounds.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

Turn = Callable[[], Sequence[float]]


class Ratio(float):
    """
    A ratio of two times.

    Attributes:
        noise: How far the median of another run of the same measurement may lie from this one: half the
            width of the usual notch of a box plot, 1.57 times the interquartile range / sqrt(rounds).
    """

    noise: float

    def __new__(cls, value: float, noise: float = 0.0) -> Self:
        """Create a ratio with its noise."""
        made = super().__new__(cls, value)
        made.noise = noise
        return made

    @classmethod
    def of_rounds(cls, ratios: Sequence[float]) -> Ratio:
        """Return the median of the ratios of single rounds, and their noise."""
        if len(ratios) < 2:
            return cls(ratios[0])
        low, _, high = statistics.quantiles(ratios, n=4)
        return cls(statistics.median(ratios), 1.57 * (high - low) / math.sqrt(len(ratios)))


_GAP = "  "
# Cells that say whether a target was reached, which differs from run to run.
_RESULTS = ("reached", "missed")


@dataclass(frozen=True, slots=True)
class Rounds:
    """
    The times of all candidates, round by round.

    Attributes:
        times: Seconds of each single piece of work, by name, one list per round.
    """

    times: Mapping[str, list[list[float]]]

    def median(self, name: str) -> float:
        """Return the median of all pieces of work of one name."""
        return statistics.median(time for turn in self.times[name] for time in turn)

    def ratio(self, name: str, floor: str) -> Ratio:
        """Return how many times as long as another one a candidate took: the median over the rounds."""
        pairs = zip(self.times[name], self.times[floor], strict=True)
        return Ratio.of_rounds([statistics.median(one) / statistics.median(other) for one, other in pairs])

    def difference(self, name: str, floor: str) -> float:
        """Return how many seconds longer than another one a candidate took: the median over the rounds."""
        pairs = zip(self.times[name], self.times[floor], strict=True)
        return statistics.median(statistics.median(one) - statistics.median(other) for one, other in pairs)


def take_turns(turns: Mapping[str, Turn], rounds: int) -> Rounds:
    """Give every candidate a turn in each round; the first one changes from round to round."""
    times: dict[str, list[list[float]]] = {name: [] for name in turns}
    names = list(turns)
    for name in names:  # the first time takes longer and is not representative
        turns[name]()
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(list(turns[name]()))
    return Rounds(times)


@dataclass(slots=True)
class Table:
    """
    One printed table.

    Attributes:
        title: What was measured.
        columns: The heads of its columns; the first names the row.
        rows: Its rows.
        notes: Sentences below it.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str | Ratio, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str | Ratio) -> None:
        """Add a row; cells that are left out are empty."""
        self.rows.append(cells + ("",) * (len(self.columns) - len(cells)))

    @property
    def ratios(self) -> dict[str, Ratio]:
        """The ratios by their row, which is named by its first cell and the cells that are no numbers."""
        found: dict[str, Ratio] = {}
        for row in self.rows:
            names = [cell for cell in row[1:] if isinstance(cell, str) and cell[:1].isalpha()]
            numbers = [cell for cell in row if isinstance(cell, Ratio)]
            for place, number in enumerate(numbers, 1):
                words = [str(row[0]), *names, *([f"ratio {place}"] if len(numbers) > 1 else [])]
                found[", ".join(word for word in words if not word.startswith(_RESULTS))] = number
        return found

    def __str__(self) -> str:
        rows = ([f"{cell:.2f}" if isinstance(cell, Ratio) else cell for cell in row] for row in self.rows)
        lines: list[Sequence[str]] = [self.columns, *rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]

        def written(line: Sequence[str]) -> str:
            first, *others = (
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            return _GAP.join([first, *others]).rstrip()

        head = written(self.columns)
        body = [head, "-" * len(head), *map(written, lines[1:]), *self.notes]
        return "\n".join([f"{self.title} (load {os.getloadavg()[0]:.1f})", *body])


def children_seconds() -> float:
    """The processor time of all child processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pytest_environment() -> dict[str, str]:
    """
    The environment for a pytest whose start is measured: no settings of ours, no plugins but those named.
    """
    # With bytecode, as it is installed for users: to compile everything anew would be most of a start.
    begins = ("PYTEST", "COV", "PYTHONDONTWRITEBYTECODE")
    env = {name: value for name, value in os.environ.items() if not name.startswith(begins)}
    return {**env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def against(aim: float | None, reached: float, form: str = "{:.2f}") -> tuple[str, str]:
    """An aim that is an upper bound, and whether it was reached; nothing if there is no aim."""
    if aim is None:
        return "", ""
    missed = f"missed by {form.format(reached - aim)}"
    return f"<= {form.format(aim)}", "reached" if reached <= aim else missed


def micro(seconds: float) -> str:
    """A time in microseconds."""
    return f"{seconds * 1e6:.0f} us"


def milli(seconds: float) -> str:
    """A time in milliseconds."""
    return f"{seconds * 1e3:.2f} ms"
