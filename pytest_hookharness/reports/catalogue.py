"""
This module is concerned with the catalogue of findings as text: in a terminal, and as pages of documents.

Middle floor: reports. Pure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pytest_hookharness.model.code import Code

# What stands below this on a page is written by people and kept.
SEEN = "## How it was seen"
_WIDTH = 100
_COLUMN = 119


def codes_table(codes: Sequence[Code]) -> str:
    """
    All kinds of findings, one in a line.
    """
    widest = max((len(code.name) for code in codes), default=0)
    return "\n".join(f"{code.code}  {code.name:{widest}}  {code.what}" for code in codes)


def told_codes(codes: Sequence[Code]) -> str:
    """
    Kinds of findings in full: what was seen, why it matters, how to mend it.
    """
    return "\n\n".join(_told(code) for code in codes)


def _told(code: Code) -> str:
    parts = (("what", code.what), ("why", code.why), ("mend", code.mend))
    lines = [f"{code.code} {code.name}".strip()]
    for name, text in parts:
        lines += textwrap.wrap(
            text,
            _WIDTH,
            initial_indent=f"  {name + ':':6}",
            subsequent_indent=" " * 8,
            break_on_hyphens=False,
        )
    page = f"docs/findings/{code.code}.md" if code.code else f"docs/endless-hooks.md#{code.name}"
    return "\n".join([*lines, f"  page: {page}, of the documentation of pytest-hookharness"])


def page_head(code: Code) -> str:
    """
    The part of a code's page that is made from the catalogue, with the heading under which people go on.
    """
    paragraphs = (code.what, f"**Why it matters.** {code.why}", f"**What to do.** {code.mend}")
    body = "\n\n".join(textwrap.fill(text, _COLUMN, break_on_hyphens=False) for text in paragraphs)
    return f"# {code.code} {code.name}\n\n{body}\n\n{SEEN}\n"


def index(codes: Sequence[Code]) -> str:
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
