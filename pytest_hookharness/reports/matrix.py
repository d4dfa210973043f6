"""
This module is concerned with the matrix: one scenario on several hosts, and the facts that part them.

Middle floor: reports. Pure. It reads rows and ways, which are plain JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pytest_hookharness.reports.plain import fit, plain
from pytest_hookharness.reports.table import Row
from pytest_hookharness.reports.ways import Turn, Way

_GAP = "  "
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Run:
    """
    One scenario as it went on one host.

    Attributes:
        row: Its row of the table.
        way: What each of its turns came to.
    """

    row: Row
    way: Way

    @property
    def scenario(self) -> str:
        """
        The scenario's name and variant.
        """
        return str(self.row["scenario"])

    @property
    def host(self) -> str:
        """
        The host with its version.
        """
        return str(self.row["host"])

    @property
    def verdict(self) -> str:
        """
        The word for the verdict.
        """
        return str(self.row["verdict"])


def render(runs: Sequence[Run], *, width: int = 100) -> str:
    """
    The verdicts of every scenario that was played on several hosts, and what parts those hosts.

    Empty if none was.
    """
    scenarios = _several(runs)
    if not scenarios:
        return ""
    hosts = list(dict.fromkeys(run.host for among in scenarios.values() for run in among))
    return "\n".join([*_grid(scenarios, hosts, width), *_all_parted(scenarios)])


def _several(runs: Sequence[Run]) -> Mapping[str, list[Run]]:
    scenarios: dict[str, list[Run]] = {}
    for run in runs:
        scenarios.setdefault(run.scenario, []).append(run)
    return {name: among for name, among in scenarios.items() if len({run.host for run in among}) > 1}


def _grid(scenarios: Mapping[str, list[Run]], hosts: Sequence[str], width: int) -> Iterator[str]:
    first = max(len("scenario"), *(len(plain(name, 60)) for name in scenarios))
    columns = [max(len(plain(host, 30)), len("terminated")) for host in hosts]
    yield _line("scenario", [plain(host, 30) for host in hosts], first, columns, width)
    for name, among in scenarios.items():
        verdicts = {run.host: run.verdict for run in among}
        cells = [verdicts.get(host, "-") for host in hosts]
        yield _line(plain(name, 60), cells, first, columns, width)


def _line(name: str, cells: Sequence[str], first: int, columns: Sequence[int], width: int) -> str:
    padded = [name.ljust(first), *(cell.ljust(size) for cell, size in zip(cells, columns, strict=True))]
    return fit(_GAP.join(padded).rstrip(), max(width, first + 20))


def _all_parted(scenarios: Mapping[str, list[Run]]) -> Iterator[str]:
    for name, among in scenarios.items():
        groups: dict[str, list[Run]] = {}
        for run in among:
            groups.setdefault(run.verdict, []).append(run)
        if len(groups) == 1:
            continue
        words = (f"{verdict} on {_hosts(runs)}" for verdict, runs in groups.items())
        listed = "; ".join(words)
        yield f"HH018 DIVERGE  {plain(name, 60)}: {listed}"
        base, *others = groups.values()
        for other in others:
            yield from parting(base[0], other[0])


def _hosts(runs: Sequence[Run]) -> str:
    return ", ".join(plain(run.host, 30) for run in runs)


def parting(one: Run, other: Run) -> Iterator[str]:
    """
    The first turn in which two hosts went different ways, with the fact behind each.
    """
    pairs = zip_longest(one.way[:-1], other.way[:-1])
    here = next(((a, b) for a, b in pairs if a is None or b is None or a["came"] != b["came"]), None)
    first, second = here or (one.way[-1], other.way[-1])
    yield f"    {_told(one, first)}"
    yield f"    {_told(other, second)}"


def _told(run: Run, turn: Turn | None) -> str:
    host = plain(run.host, 30)
    if turn is None:
        return f"{host}: the run was over before that ({run.verdict})"
    where = f"in turn {turn['turn']} {turn['came']}" if turn["turn"] else str(turn["came"])
    if not turn["fact"]:
        return f"{host}: {where}"
    source = f"{turn['basis']}: {plain(str(turn['source']), 120)}"
    return f"{host}: {where}, for {plain(str(turn['fact']), _LONGEST)} ({source})"
