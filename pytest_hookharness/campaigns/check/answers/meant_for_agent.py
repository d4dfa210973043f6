"""
Texts of a shell script that a comment in the line above says the agent sees, whatever they say.

A note about progress is otherwise no loss. Only a text behind which the script surely ends with 0 is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.answers.lost_warnings import surely_allows
from pytest_hookharness.campaigns.check.shell_code.shell_functions import functions_of, is_within
from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of

_AGENT = r"(?:claude|the (?:agent|model|assistant)|(?:the )?context|the conversation)\b"
# The text is said to reach the agent, and not only to be about it.
_REACHES = (
    r"(?:visible|shown|displayed|sent|passed|fed back|feed back|returned|injected|printed)"
    r"[ \t]+(?:back[ \t]+)?(?:in|into|to|for)[ \t]+"
    + _AGENT
    + r"|\b(?:claude|agent|model)[ \t]+(?:will |can )?sees?\b"
)
_SAID_SO = re.compile(
    rf"^[ \t]*#(?![^\n]*\b(?:not|never|no|n't|only|log)\b)[^\n]*(?:{_REACHES})[^\n]*\n"
    r"[ \t]*(?:echo(?:[ \t]+-\w+)*|printf)[ \t]+"
    r"(?P<mark>[\"'])(?P<text>(?:(?!(?P=mark))[^\n]){3,400})(?P=mark)"
    r"[ \t]*(?P<err>1?>&2)?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_OWN_WAY = re.compile(r"^[ \t]*(?:trap\b|exec\b|eval\b|(?:source|\.)[ \t])", re.MULTILINE)
# Answers that the host may read in the place of plain text.
_ANSWERS = re.compile(r"hookSpecificOutput|systemMessage|\bdecision\b|permission|_message\b", re.IGNORECASE)


def meant_for_agent(text: str) -> Iterator[tuple[str, str]]:
    """Yield the streams and the texts of what a shell script prints and says that the agent sees."""
    shown = code_of(text) if SHELL_SCRIPT.match(text) else ""
    if not shown or _OWN_WAY.search(shown) or _ANSWERS.search(text):
        return
    functions = [*functions_of(shown)]
    for found in _SAID_SO.finditer(text):
        place = found.start("mark")
        inside = is_within(place, functions)
        is_code = shown[place] == found["mark"] and not inside and not goes_elsewhere(text, place)
        if is_code and surely_allows(text, shown, place, found.end()):
            yield "stderr" if found["err"] else "stdout", " ".join(found["text"].split())
