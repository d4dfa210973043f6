"""
This module is concerned with telling what is known of hosts.

Middle floor: reports. Pure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pytest_hookharness.model.meanings import EventMeanings, HostSummary, Meaning
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.reports.plain import columns, fit, quoted

_HEADS = ("host", "events", "guard against endless refusals", "observed", "documented", "assumed")
_CASE = 26
_WIDTH = 110


def hosts_table(summaries: Sequence[HostSummary]) -> str:
    """
    One line for each host, in aligned columns, and what the numbers mean.
    """
    cells = [_HEADS, *map(_cells, summaries)]
    widths = [max(columns(line[place]) for line in cells) for place in range(len(_HEADS))]
    lines = ["  ".join(map(fit, line, widths)).rstrip() for line in cells]
    told = (
        "The last three columns count facts by how they are known. Events that a simulated session never "
        "comes to stand behind the plus. `hookharness explain HOST [EVENT]` tells what each answer means."
    )
    return "\n".join([*lines, "", *textwrap.wrap(told, _WIDTH)])


def _cells(one: HostSummary) -> tuple[str, ...]:
    events = f"{one.events} + {one.unreached}" if one.unreached else str(one.events)
    return (one.id, events, one.guard, str(one.observed), str(one.documented), str(one.assumed))


def explanation(events: Sequence[EventMeanings]) -> str:
    """
    What hooks can mean, event by event.
    """
    return "\n\n".join("\n".join(_event(event)) for event in events)


def _event(event: EventMeanings) -> Iterator[str]:
    yield f"{event.event} of {event.host}: {event.role}; a hook has {event.limit:g} s unless it sets a limit"
    yield from _rule(event.rule, "  ")
    for rule in event.rests_on:
        yield from _rule(rule, "  ")
    if event.unreachable:
        yield f"  a simulated session never comes to it: {event.unreachable}"
    for meaning in event.meanings:
        yield from _meaning(meaning)


def _meaning(meaning: Meaning) -> Iterator[str]:
    does = f"REFUSES: {meaning.deed}" if meaning.refuses else meaning.deed
    yield f"  {fit(meaning.case, _CASE)}  {does}"
    if meaning.printed.startswith("{"):
        yield f"      prints: {meaning.printed}"
    for text in meaning.to_agent:
        yield f"      agent sees: {quoted(text, 160)}"
    if meaning.fault:
        yield f"      pointed out: {quoted(meaning.fault, 160)}"
    yield from _rule(meaning.rule, "      ")


def _rule(rule: Rule, indent: str) -> list[str]:
    text = f"{rule.text} [{rule.basis.value}: {rule.source}]"
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
