"""Facts about hosts, and the catalogue of findings, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pytest_hookharness.model.host_facts import EventMeanings, HostSummary, Meaning
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.verdicts import FindingCode
from pytest_hookharness.reports.safe_text import aligned, fit, quoted, wrapped

_HEADS = (
    "host",
    "events",
    "cap on refusals",
    "observed",
    "documented",
    "assumed",
    "asked the real program",
)
_CASE = 26
_WIDTH = 110


def hosts_table(summaries: Sequence[HostSummary]) -> str:
    """Return one line for each host, in aligned columns, and what the numbers mean."""
    lines = aligned(_HEADS, map(_cells, summaries))
    legend = (
        "The columns of numbers count facts by how they are known. After the plus: events that a simulated "
        "session never reaches. `hookharness explain HOST [EVENT]` shows what each answer means, and "
        "`hookharness calibrate HOST` asks the real program. The files in `hosts/profiles/calibrated/` of "
        "this package list its answers, also those that differ from the profile, and questions that were not "
        "reached."
    )
    return "\n".join([*lines, "", *textwrap.wrap(legend, _WIDTH)])


def _cells(one: HostSummary) -> tuple[str, ...]:
    events = f"{one.events} + {one.unreached}" if one.unreached else str(one.events)
    return (one.id, events, one.cap, str(one.observed), str(one.documented), str(one.assumed), one.asked)


def explanation(events: Sequence[EventMeanings]) -> str:
    """Return how a host interprets exit codes and output, event by event."""
    return "\n\n".join("\n".join(_event(event)) for event in events)


def _event(event: EventMeanings) -> Iterator[str]:
    yield f"{event.event} of {event.host}: {event.role}; timeout {event.limit:g} s unless the hook sets one"
    yield from _rule(event.rule, "  ")
    for rule in event.rests_on:
        yield from _rule(rule, "  ")
    if event.unreachable:
        yield f"  a simulated session never reaches it: {event.unreachable}"
    for meaning in event.meanings:
        yield from _meaning(meaning)


def _meaning(meaning: Meaning) -> Iterator[str]:
    does = f"REFUSES: {meaning.action}" if meaning.refuses else meaning.action
    yield f"  {fit(meaning.case, _CASE)}  {does}"
    if meaning.printed.startswith("{"):
        yield f"      prints: {meaning.printed}"
    for text in meaning.to_agent:
        yield f"      agent sees: {quoted(text, 160)}"
    if meaning.fault:
        yield f"      reported: {quoted(meaning.fault, 160)}"
    yield from _rule(meaning.rule, "      ")


def _rule(rule: Rule, indent: str) -> list[str]:
    text = f"{rule.text} [{rule.basis.value}: {rule.source}]"
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


_PAGE_WIDTH = 100


def codes_table(codes: Sequence[FindingCode]) -> str:
    """Return all kinds of findings, one per line."""
    widest = max((len(code.name) for code in codes), default=0)
    return "\n".join(f"{code.code}  {code.name:{widest}}  {code.what}" for code in codes)


def describe_findings(codes: Sequence[FindingCode]) -> str:
    """Return kinds of findings in full: what was seen, why it matters, what to do."""
    return "\n\n".join(_describe(code) for code in codes)


def _describe(code: FindingCode) -> str:
    parts = (("what", code.what), ("why", code.why), ("fix", code.fix))
    lines = [f"{code.code} {code.name}".strip()]
    for name, text in parts:
        lines += wrapped(text, _PAGE_WIDTH, f"  {name + ':':6}", " " * 8)
    return "\n".join(lines)
