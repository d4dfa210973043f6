"""
Answers in the words of other hosts: small changes of a script after which another host may understand it.

They only replace words, so most of them lead to nothing; which one helps is found out by playing it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

# Quotation marks as scripts write them: plain, or escaped inside a text.
_QUOTE = r"""(\\?["'])"""


def _renamed(old: str, new: str) -> tuple[str, Callable[[str], str]]:
    return f"write `{new}` for the key `{old}`", lambda text: re.sub(
        rf"{_QUOTE}{old}\1(?=\s*:)", rf"\g<1>{new}\g<1>", text
    )


def _reworded(key: str, old: str, new: str) -> tuple[str, Callable[[str], str]]:
    return f"write `{key}: {new}` for `{key}: {old}`", lambda text: re.sub(
        rf"{_QUOTE}{key}\1(\s*:\s*){_QUOTE}{old}\3", rf"\g<1>{key}\g<1>\g<2>\g<3>{new}\g<3>", text
    )


def _unwrapped(text: str) -> str:
    """Return a script in which what is below ``hookSpecificOutput`` stands at the top."""
    found = re.search(rf"\{{\s*{_QUOTE}hookSpecificOutput\1\s*:\s*", text)
    if found is None:
        return text
    if name := re.compile(r"(\w+)\s*\}").match(text, found.end()):
        return text[: found.start()] + name[1] + text[name.end() :]
    end = end_of_object(text, found.end())
    closing = re.compile(r"\s*\}").match(text, end)
    if end == found.end() or closing is None:
        return text
    return text[: found.start()] + text[found.end() : end] + text[closing.end() :]


def end_of_object(text: str, begin: int) -> int:
    """Return the place behind the object that begins at a place; the same place if there is none."""
    depth = 0
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1 if text[place] == "}" else begin
    return begin


_UNWRAP = ("put the keys of `hookSpecificOutput` at the top", _unwrapped)
_ATTEMPTS: tuple[Sequence[tuple[str, Callable[[str], str]]], ...] = (
    (_reworded("decision", "block", "deny"),),
    (_reworded("decision", "deny", "block"),),
    (_renamed("permissionDecision", "decision"), _renamed("permissionDecisionReason", "reason"), _UNWRAP),
    (
        _renamed("permissionDecision", "decision"),
        _renamed("permissionDecisionReason", "reason"),
        _UNWRAP,
        _reworded("decision", "deny", "block"),
    ),
    (_renamed("permission", "decision"), _renamed("agent_message", "reason")),
    (
        _renamed("permission", "decision"),
        _renamed("agent_message", "reason"),
        _reworded("decision", "deny", "block"),
    ),
    (
        _reworded("decision", "block", "deny"),
        _renamed("decision", "permission"),
        _renamed("reason", "agent_message"),
    ),
    (_reworded("decision", "block", "continue"),),
    (_renamed("reason", "followup_message"),),
)


def reworded_answers(script: str) -> Iterator[tuple[str, str]]:
    """Yield what can be replaced in a script, in words, and the script with it."""
    seen = {script}
    for steps in _ATTEMPTS:
        after, done = script, list[str]()
        for words, step in steps:
            changed = step(after)
            if changed != after:
                done.append(words)
            after = changed
        if after not in seen:
            seen.add(after)
            yield ", ".join(done), after
