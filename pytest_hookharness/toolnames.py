"""
This module is concerned with names of tools: in matchers, in scripts, and as their host has them.

Upper floor. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.agents import corpora
from pytest_hookharness.model.checkups import Place
from pytest_hookharness.model.moves import Edit, Run
from pytest_hookharness.model.protocol import Hook

_NAME = re.compile(r"[A-Za-z_][\w-]*")
# A line of a script in which the name of the tool is compared, and the texts in it.
_COMPARED = re.compile(r"^.*\btool_?name\b.*$", re.IGNORECASE | re.MULTILINE)
_TEXT = re.compile(r"""(["'])([A-Za-z_]\w*)\1""")
_KEY = re.compile(r"tool_?\w*", re.IGNORECASE)
_USUAL = (Run(command="true"), Edit(file="f", text="t"), Edit(file="f", text="t", old="o"), corpora.READ)


def known_tools(host: str) -> frozenset[str]:
    """
    The names of the tools that are known of a host.
    """
    profile = hosts.find(host)
    tools = profile.tools
    others = (*tools.gated, *tools.edits, *((tools.subagent,) if tools.subagent else ()))
    matched = (name for rule in profile.events.values() for name in rule.tools)
    return frozenset({*_usual_tools(profile), *others, *matched})


def _usual_tools(profile: hosts.Profile) -> Iterator[str]:
    """
    The tools by which commands are run and files are read and written.
    """
    return (profile.tools.call(operation, "/w").name for operation in _USUAL)


def matched_tools(place: Place, hook: Hook) -> tuple[str, ...]:
    """
    The names of tools in the matcher of a hook.
    """
    rule = hosts.find(place.host).events.get(hook.event)
    if rule is None or rule.target != "tool_name" or hook.matcher is None:
        return ()
    parts = re.split(r"[|,]", hook.matcher)
    return tuple(part.strip() for part in parts if _NAME.fullmatch(part.strip()))


def misnamed_tools(place: Place, hook: Hook) -> tuple[tuple[str, str], ...]:
    """
    Names in a matcher that are known with other capitals only, each with the name that is meant.
    """
    known = {name.casefold(): name for name in known_tools(place.host)}
    named = matched_tools(place, hook)
    return tuple((name, known[name.casefold()]) for name in named if known.get(name.casefold(), name) != name)


def foreign_tools(place: Place, hook: Hook) -> tuple[str, ...]:
    """
    The names that the script of a hook compares with the tool's, if none is of this host and one of another.

    Names that no host has may be tools that the person has added, and prove nothing.
    """
    texts = [text for path, text in place.sources if path in hook.command.replace('"', "")]
    named = tuple(dict.fromkeys(name for text in texts for name in _compared(text)))
    if not named or {*map(_plain, named)} & {*map(_plain, known_tools(place.host))}:
        return ()
    others = {_plain(name) for profile in hosts.known() for name in _usual_tools(profile)}
    return named if others & {*map(_plain, named)} else ()


def _compared(text: str) -> Iterator[str]:
    for line in _COMPARED.findall(text):
        yield from (name for _, name in _TEXT.findall(line) if not _KEY.fullmatch(name))


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
