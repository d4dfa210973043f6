"""
Both sides of a live comparison as a record of a trace file, which the trace page shows.

A row of it is one message of the model: what it was told, what it did, and the hook runs that followed.
Texts are normalised as in the comparison, so that equal ones look equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.campaigns.live.comparison import CATEGORIES, Comparison, Difference
from pytest_hookharness.campaigns.live.listed_differences import find_listed
from pytest_hookharness.campaigns.live.normalisation import TABLE, normalised_text
from pytest_hookharness.campaigns.live.session_record import ComparableSession, RecordedRun
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.trace.hook_runs import TraceRecord, excerpt, rule_data


def new_differences(comparison: Comparison) -> list[Difference]:
    """Return the differences that are not known, in the order of the session."""
    return [one for one in comparison.differences if find_listed(comparison.host, one) is None]


def headline(comparison: Comparison) -> str:
    """Return in one line how far both sides agree, and the first difference that is not known."""
    fresh, total = new_differences(comparison), sum(comparison.compared.values())
    sides = f"{comparison.host} and the real program {comparison.version}"
    if not fresh:
        known = len(comparison.differences)
        besides = f", {counted(known, 'known difference')}" if known else ""
        return f"{total - known} of {counted(total, 'item')} agree between {sides}{besides}"
    first = fresh[0]
    verb = "differs" if len(fresh) == 1 else "differ"
    return (
        f"{counted(len(fresh), 'item')} of {total} {verb} between {sides}; "
        f"first: {first.category} {plain(first.where, 120)}"
    )


def live_record(comparison: Comparison, simulated: ComparableSession, real: ComparableSession) -> TraceRecord:
    """Return the record of a comparison with the two sessions that were compared."""
    last = max(len(side.runs) for side in (simulated, real))
    return {
        "record": "live",
        "version": comparison.version,
        "headline": headline(comparison),
        "agreed": not new_differences(comparison),
        "categories": [
            {"name": name, "agreed": comparison.agreed(name), "compared": comparison.compared[name]}
            for name in CATEGORIES
            if comparison.compared.get(name)
        ],
        "differences": [_difference(comparison, one) for one in comparison.differences],
        "turns": [
            {"simulated": [*_turn(simulated, turn)], "real": [*_turn(real, turn)]} for turn in range(last)
        ],
        "ends": {"simulated": simulated.end, "real": real.end},
        "made_alike": [row.what for row in TABLE],
    }


def _difference(comparison: Comparison, difference: Difference) -> Json:
    known = find_listed(comparison.host, difference)
    return {
        "turn": difference.turn,
        "category": difference.category,
        "where": difference.where,
        "simulated": excerpt(difference.simulated),
        "real": excerpt(difference.real),
        "rule": None if difference.rule is None else rule_data(difference.rule),
        "known": "" if known is None else known.reason,
    }


def _turn(side: ComparableSession, turn: int) -> Iterator[Json]:
    """Yield what happened with one message of the model; turn 0 is what came before the first."""
    if 0 < turn <= len(side.told):
        for one in side.told[turn - 1]:
            who = f"told by {one.event}" if one.event else "told"
            yield {"who": who, "text": excerpt(normalised_text(one.text, side.folders))}
    if 0 < turn <= len(side.moves):
        yield {"who": "agent", "text": excerpt(normalised_text(side.moves[turn - 1], side.folders))}
    if turn < len(side.runs):
        for run in side.runs[turn]:
            yield {"who": run.event, "text": excerpt(f"{run.command}{_ending(run)}")}


def _ending(run: RecordedRun) -> str:
    if run.exit is None:
        return ""
    return f" exited {run.exit}" if run.exit >= 0 else f" was ended by signal {-run.exit}"
