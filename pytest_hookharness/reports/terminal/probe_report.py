"""
Probes in a report: what changed, what was tried, and what follows.

Written for readers who do not know what a probe is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.probes import (
    PartKind,
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    StatePart,
    Threshold,
)
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated, Undecided, Verdict
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.phrases import and_more, text_of_changes

_MOST_PARTS = 8
_MOST_PROBES = 12
_LONGEST = 160


def render_probes(probing: ProbeReport, verdict: Verdict) -> Iterator[str]:
    """Return the experiments of one probe report, a line for each fact; ``verdict`` is that of the run."""
    yield _occasion(probing, verdict)
    for part in probing.parts[:_MOST_PARTS]:
        yield f"  changes: {_part(part)}"
    yield from and_more(len(probing.parts) - _MOST_PARTS, "part")
    if probing.uncapped and probing.probes:
        yield f"  played: on to turn {probing.uncapped} without the limits of the host"
    yield from _tried(probing.probes)
    yield from (f"  but: {plain(limit, _LONGEST)}" for limit in probing.limits)
    driven = ""
    if probing.threshold is not None and probing.threshold.allows_stop and isinstance(verdict, Terminated):
        driven = f"; played to that point, they did in turn {verdict.turn}"
    yield f"  so: {_conclusion(probing)}{driven}"


def _occasion(probing: ProbeReport, verdict: Verdict) -> str:
    done = "the session was played on without the limits of the host"
    if count := len(probing.probes):
        done = f"the hooks were run on {count} changed {'copy' if count == 1 else 'copies'} of that state"
    if not (alike := _alike(probing, verdict)):
        return f"After turn {probing.turn} {done}"
    return f"Up to turn {probing.turn} {alike}; {done}"


def _alike(probing: ProbeReport, verdict: Verdict) -> str:
    """Return a phrase for the turns that repeat and for what changes in them; empty if that is not known."""
    every = "every turn repeats" if probing.period == 1 else f"every {probing.period} turns repeat"
    if probing.parts:
        return f"{every} except for {counted(len(probing.parts), 'part')}"
    match verdict:
        case Capped(changed=changed) | Undecided(changed=changed) if changed:
            return f"{every} except for {text_of_changes(changed)}"
        case Livelock(evidence="closed"):
            return every
        case _:
            return ""


def _part(part: StatePart) -> str:
    words = f"{plain(part.place, 80)} ({part.kind.value}"
    if part.kind is PartKind.COUNTER and part.step is not None:
        words += f", {part.step:+,g} each time: {plain(part.before, 30)} -> {plain(part.after, 30)})"
    elif part.kind in (PartKind.GROWTH, PartKind.FILES):
        words += f", growing: {plain(part.after, 50)})"
    else:
        words += f": {plain(part.before, 30)} -> {plain(part.after, 30)})"
    return words


def _tried(probes: Sequence[Probe]) -> Iterator[str]:
    """Yield the experiments; those of one kind with one result share a line."""
    lines: list[str] = []
    for same, group in groupby(probes, key=lambda probe: (probe.kind, probe.seen.reaction)):
        members = [*group]
        first, last = members[0], members[-1]
        tried = plain(first.tried, _LONGEST)
        if len(members) > 1:
            tried = f"{tried} ... {plain(last.tried, _LONGEST)}, {counted(len(members), 'time')}"
        what = "no difference" if same[1] is ProbeEffect.SAME else plain(last.seen.what, _LONGEST)
        if same[1] is ProbeEffect.EFFECT:
            what = f"the same decisions, but {what}"
        lines.append(f"  tried: {tried}: {what}")
    yield from lines[:_MOST_PROBES]
    if len(lines) > _MOST_PROBES:
        yield f"  and {counted(len(lines) - _MOST_PROBES, 'more kind')} of change"


def _conclusion(probing: ProbeReport) -> str:
    if probing.unclear:
        return f"inconclusive: {plain(probing.unclear, _LONGEST)}"
    if probing.threshold is not None:
        return describe_threshold(probing.threshold)
    if not probing.parts:
        names = {PerturbationKind.TRANSCRIPT: "transcript", PerturbationKind.AHEAD: "what the host counts"}
        kinds = {probe.kind for probe in probing.probes}
        *more, last = ["time", *(name for kind, name in names.items() if kind in kinds)]
        changed = f"{', '.join(more)} or {last}" if more else last
        return f"no tried change of {changed} makes a difference"
    return "none of the changing parts makes a difference, as far as tried"


def describe_threshold(threshold: Threshold) -> str:
    """Describe where something else would happen, and what."""
    otherwise = f"something else would happen ({plain(threshold.what, 80)})"
    if not threshold.at:
        return f"the hooks allow the stop in turn {threshold.turn:,}"
    what = "the hooks would allow the stop" if threshold.allows_stop else otherwise
    when = f", in turn {threshold.turn:,}" if threshold.turn is not None else ""
    return f"{what} at {plain(threshold.at, 100)}{when}"
