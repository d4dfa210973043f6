"""
The catalogue of findings as text: in a terminal, and as pages of documents.

Pure.

Telling what is known of hosts.

Pure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pytest_hookharness.model.host_facts import EventMeanings, HostSummary, Meaning
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.verdicts import FindingCode
from pytest_hookharness.reports.safe_text import columns, fit, quoted

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
    return (one.id, events, one.cap, str(one.observed), str(one.documented), str(one.assumed))


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
    does = f"REFUSES: {meaning.action}" if meaning.refuses else meaning.action
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


# What stands below this on a page is written by people and kept.
SEEN = "## How it was seen"
_WIDTH_of_catalogue = 100
_COLUMN = 119


def codes_table(codes: Sequence[FindingCode]) -> str:
    """
    All kinds of findings, one in a line.
    """
    widest = max((len(code.name) for code in codes), default=0)
    return "\n".join(f"{code.code}  {code.name:{widest}}  {code.what}" for code in codes)


def told_codes(codes: Sequence[FindingCode]) -> str:
    """
    Kinds of findings in full: what was seen, why it matters, how to mend it.
    """
    return "\n\n".join(_told(code) for code in codes)


def _told(code: FindingCode) -> str:
    parts = (("what", code.what), ("why", code.why), ("fix", code.fix))
    lines = [f"{code.code} {code.name}".strip()]
    for name, text in parts:
        lines += textwrap.wrap(
            text,
            _WIDTH_of_catalogue,
            initial_indent=f"  {name + ':':6}",
            subsequent_indent=" " * 8,
            break_on_hyphens=False,
        )
    page = f"docs/findings/{code.code}.md" if code.code else f"docs/endless-hooks.md#{code.name}"
    return "\n".join([*lines, f"  page: {page}, of the documentation of pytest-hookharness"])


def page_head(code: FindingCode) -> str:
    """
    The part of a code's page that is made from the catalogue, with the heading under which people go on.
    """
    paragraphs = (code.what, f"**Why it matters.** {code.why}", f"**What to do.** {code.fix}")
    body = "\n\n".join(textwrap.fill(text, _COLUMN, break_on_hyphens=False) for text in paragraphs)
    return f"# {code.code} {code.name}\n\n{body}\n\n{SEEN}\n"


def index(codes: Sequence[FindingCode]) -> str:
    """
    The page that leads to all others.
    """
    rows = [f"| [{code.code}]({code.code}.md) | {code.name} | {code.what} |" for code in codes]
    return "\n".join(
        [
            "# Findings",
            "",
            "Defects that are seen on the way to a verdict. A scenario names those that it expects, by code",
            "or by name, under `expect.findings`; any other breaks its promise. `hookharness findings CODE`",
            "tells the same in a terminal. The first part of each page is made by `nox -s pages`.",
            "",
            "| code | name | what was seen |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )
