"""
Words with which a script compares a value of its input, and that its host writes in another way.

Only fields with a fixed list of words are judged; agents, for example, may have any name. A word counts if
no host sends it, and if it is close to one that this host sends, which the script compares with nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache
from pathlib import PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import read_text
from pytest_hookharness.campaigns.check.answers.written_answers import without_comments
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_WORD = r"[\"']?([A-Za-z][\w-]*)[\"']?"
_QUOTED = re.compile(r"[\"']([A-Za-z][\w-]*)[\"']")
# A value that jq takes out at the top, or that is searched for; and one of an object.
_BY_PROGRAM = (
    r"(?<![\w$.])(\w+)=\"?\$\([^\n]{{0,300}}?(?:\bjq\b[^\n|]{{0,100}}?[ \"']\.{0}\b|\"{0}\b)"
    r"(?![^\n'\"]*(?<![|])\|(?!\|)[^\n'\"]*['\"])"
)
_OF_OBJECT = (
    r"(?<![\w$.])(\w+)[ \t]*(?::[^=\n]{{1,100}})?=(?![=~])[ \t(]*(\w+)(?:\.get\(|\?*\.?\[|\?*\.)[ \"']*{0}\b"
)
# An object that is parsed, or given to a function.
_HOLDS = (
    r"(?<![\w.]){0}\b[^=\n]*=[^\n]*(?:\bloads?\(|\bparse\(|[sS]tdin|[iI]nput)"
    r"|\b(?:def|function)\b[^\n]*\([^)\n]*\b{0}\b|\(\s*{0}\b[^)\n]*\)\s*=>"
)
_BRANCH = re.compile(r"^[ \t]*\(?([\w|\"' \t-]+)\)", re.MULTILINE)
_FIXED = frozenset(["source", "trigger", "reason", "permission_mode"])
_CLOSE, _SHORTEST = 0.8, 4


def unsent_word(hook_set: HookSet, hook: Hook) -> tuple[str, str, str]:
    """Return a field, the word with which a hook's script compares it, and the one that the host sends."""
    events = hosts.find(hook_set.host).events
    if hook.event not in events or hook.type != "command":
        return "", "", ""
    served = {one.event for path, _ in hook_set.sources_of(hook) for one in hook_set.hooks_of(path)}
    fields = [one for one in events[hook.event].fields.fields if one.name in _FIXED and one.choices]
    for text in _scripts(hook_set, hook) if fields else ():
        code = re.sub(r"(?<=\s)#[^\n]*", "", without_comments(text))
        for field in fields:
            choices = [
                one for event in served & {*events} for one in _choices(hook_set.host, event, field.name)
            ]
            compared = [*dict.fromkeys(_compared(code, field.name))]
            unsent = [word for word in compared if word not in _everywhere(field.name)]
            for word in unsent:
                if meant := _closest(word, [one for one in choices if one not in compared]):
                    return field.name, word, meant
    return "", "", ""


def _scripts(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    """Yield the scripts of a hook, also one that another script gets by name, as in `run.cmd start`."""
    for path, text in hook_set.sources_of(hook):
        yield text
        for word in re.findall(r"(?<=\s)[a-z]+(?:-[a-z]+)+(?=\s|$)", hook.command):
            # What cannot be read as text is no script.
            with suppress(SimulationError):
                yield read_text(hook_set.root / PurePath(path).parent / word) or ""


@cache
def _everywhere(name: str) -> frozenset[str]:
    """Return the words that any host sends in a field."""
    return frozenset(
        one
        for profile in hosts.known()
        for event in profile.events
        for one in _choices(profile.name, event, name)
    )


def _choices(host: str, event: str, name: str) -> Iterator[str]:
    for field in hosts.find(host).events[event].fields.fields:
        if field.name == name:
            yield from field.choices


def _closest(word: str, choices: Sequence[str]) -> str:
    """Return the choice that is another form of a word; empty for none."""
    plain = re.sub(r"[_-]", "", word).lower()
    for choice in choices:
        other = re.sub(r"[_-]", "", choice).lower()
        short, long = sorted((plain, other), key=len)
        if (len(short) >= _SHORTEST and short in long) or SequenceMatcher(
            None, plain, other
        ).ratio() >= _CLOSE:
            return choice
    return ""


def _variables(code: str, key: str) -> Iterator[str]:
    """Yield the variables that get the value of a key of the input as it is."""
    yield from re.findall(_BY_PROGRAM.format(key), code)
    for found in re.finditer(_OF_OBJECT.format(key), code):
        base = re.escape(found[2])
        if re.search(_HOLDS.format(base), code) and not re.search(rf"\bfor\b[^\n]*\b{base}\b", code):
            yield found[1]


def _compared(code: str, key: str) -> Iterator[str]:
    """Yield the words with which a script compares the value of a key."""
    names = "|".join(map(re.escape, dict.fromkeys(_variables(code, key))))
    if not names:
        return
    for found in re.finditer(
        rf"\$\{{?(?:{names})\b(?::?-[^}}\n]*)?\}}?\"?[ \t]*(?:==?|!=)[ \t]*{_WORD}"
        rf"|(?<![\w.$])(?:{names})[ \t]*(?:[!=]==?)[ \t]*[\"']([A-Za-z][\w-]*)[\"']",
        code,
    ):
        yield found[1] or found[2]
    for found in re.finditer(rf"(?<![\w.$])(?:{names})[ \t]+(?:not[ \t]+)?in[ \t]*[(\[{{]([^)\]}}]*)", code):
        yield from _QUOTED.findall(found[1])
    for found in re.finditer(
        rf"\bcase[ \t]+\"?\$\{{?(?:{names})\b[^\n]{{0,20}}?\bin\b([\s\S]{{0,2000}}?)\besac\b", code
    ):
        for branch in _BRANCH.findall(found[1]):
            yield from (word for one in branch.split("|") if (word := one.strip(" \t\"'")))
