"""
Guards that read their input by one of several programs, and allow everything if none of them is there.

The guard ends with 0 in the last branch, or where the value that it reads is empty, before it can refuse. The
reading may be a function, also of a file that the guard loads. A message of another hook counts only if
somebody gets it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import GATES, only_script
from pytest_hookharness.campaigns.check.answers.failed_refusals import read_printed
from pytest_hookharness.campaigns.check.lone_programs.lone_searches import ASSIGNED, can_refuse, refusals_of
from pytest_hookharness.campaigns.check.lone_programs.lone_switches import switches_off
from pytest_hookharness.campaigns.check.lone_programs.program_questions import (
    ASKS,
    scripts_before,
    without_silent_questions,
)
from pytest_hookharness.campaigns.check.lone_programs.reader_chains import (
    ReaderChain,
    reader_chains,
    without_silent_chains,
)
from pytest_hookharness.campaigns.check.shell_code.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_functions import functions_of, is_within
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    loaded_texts,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_REFUSES = re.compile(r"\b(?:exit|return)[ \t]+2\b")
_LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
# A program may come from elsewhere, or the script knows what to do where something fails.
_OWN_WAY = re.compile(r"^[ \t]*(?:trap|alias|eval)\b|\bPATH\+?=", re.MULTILINE)
_PRINTS = re.compile(r"(?<![\w$-])(?:echo|printf|cat|sed|grep|awk)(?![\w-])")
_FILLED = r"^(?P<name>[A-Za-z_]\w*)=\"?\$\((?:[^\n;&()|]*\|[ \t]*)?{0}(?=[ \t)])[^\n;&()]*\)\"?[ \t]*(?:;|$)"
_EMPTY = re.compile(r"(?:\"\"|'')?[ \t]*(?:$|[;}])", re.MULTILINE)
_TO_ERROR = re.compile(
    r"^[ \t]*(?:echo|printf)[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*1?>&2[ \t]*;?[ \t]*$", re.MULTILINE
)
_ASKED = re.compile(ASKS)
_NONE_OF_THEM = re.compile(
    rf"if[ \t]+![ \t]+{ASKS}(?:[ \t]*&&[ \t]*![ \t]+"
    + re.sub(r"\(\?P(<|=)(\w+)(>|)", lambda found: f"(?P{found[1]}other_{found[2]}{found[3]}", ASKS)
    + r")[ \t]*(?:;|\n)\s*then\s*fi\b"
)


def silent_pair(hook_set: HookSet, hook: Hook) -> tuple[tuple[str, ...], int]:
    """Return the programs without all of which a hook allows everything, and the line; or nothing."""
    text = only_script(hook_set, hook, GATES)
    tools, line = silent_chain(text, [*loaded_texts(hook_set, text)])
    return (tools, line) if tools and not _is_told(hook_set, tools) else ((), 0)


def silent_chain(text: str, loaded: Sequence[str] = ()) -> tuple[tuple[str, ...], int]:
    """Return the programs without all of which a script ends before it refuses, and the line; or nothing."""
    code, shown = without_comment_lines(text), code_of(text)
    known = SHELL_SCRIPT.match(text) and len(_LOADS.findall(shown)) <= len(loaded)
    if not known or any(_OWN_WAY.search(without_comment_lines(one)) for one in (text, *loaded)):
        return (), 0
    places = [*refusals_of(code, shown)]
    if not places or not can_refuse(code, shown):
        return (), 0
    for tools, place in _ends(code, shown, loaded):
        asked = {found["tool"] for found in _ASKED.finditer(without_silent_chains(code, shown))}
        if place < min(places) and asked.isdisjoint(tools):
            return tools, code.count("\n", 0, place) + 1
    return (), 0


def _ends(code: str, shown: str, loaded: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the programs without which a script ends with 0, and where it ends."""
    bodies = [*functions_of(code)]
    for chain in reader_chains(code, shown):
        within = is_within(chain.begin, bodies)
        if within or conditions_at(shown, chain.begin):
            continue
        if chain.leaves:
            yield chain.tools, shown.rindex("exit", chain.begin, chain.end)
            continue
        each = [{*ASSIGNED.findall(shown[begin:end])} for begin, end in chain.branches]
        place = _end_for(set[str]().union(each[0]).intersection(*each), code, chain.begin, chain.end)
        if place:
            yield chain.tools, place
    for name, tools in _reading_functions([code, *map(without_comment_lines, loaded)]):
        called = re.compile(_FILLED.format(re.escape(name)), re.MULTILINE)
        for found in called.finditer(code):
            outside = not is_within(found.start(), bodies)
            place = _end_for({found["name"]}, code, found.start(), found.end()) if outside else 0
            if place and not conditions_at(shown, found.start()):
                yield tools, place


def _end_for(names: Collection[str], code: str, begin: int, end: int) -> int:
    """Return where a script ends for an empty variable that only one of its parts fills; 0 for nowhere."""
    for place, name in switches_off(code):
        others = (
            one
            for one in ASSIGNED.finditer(code)
            if one[1] == name and not begin <= one.start() < end and not _EMPTY.match(code, one.end())
        )
        if name in names and place >= end and next(others, None) is None:
            return place
    return 0


def _reading_functions(codes: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the functions that print what one of several programs reads, or nothing, with the programs."""
    for code in codes:
        shown = code_of(code)
        for name, begin, end in functions_of(code):
            chains = [one for one in reader_chains(code, shown) if begin <= one.begin < end]
            if len(chains) == 1 and not chains[0].leaves and not _prints(chains[0], shown, begin, end):
                yield name, chains[0].tools


def _prints(chain: ReaderChain, shown: str, begin: int, end: int) -> bool:
    """Return whether a function may print something outside of its chain."""
    return _PRINTS.search(shown[begin : chain.begin] + shown[chain.end : end]) is not None


def _is_told(hook_set: HookSet, tools: Collection[str]) -> bool:
    """Return whether another script may tell somebody that the programs are missing."""
    sources = dict(hook_set.sources)
    texts = [_heard(hook_set, path, text) for path, text in sources.items()]
    texts += [one for one in scripts_before(hook_set) if one not in sources.values()]
    for text in (*texts, *(hook.command for hook in hook_set.hooks)):
        if any(tool in text for tool in tools):
            code = without_comment_lines(text)
            rest = without_silent_questions(without_silent_chains(code, code_of(text)))
            if any(found["tool"] in tools for found in _ASKED.finditer(_NONE_OF_THEM.sub("", rest))):
                return True
    return False


def _heard(hook_set: HookSet, path: str, text: str) -> str:
    """Return the text of a hook's script without what it says on standard error if the host drops that."""
    profile, hooks = hosts.find(hook_set.host), hook_set.hooks_of(path)
    if not hooks or any(hook.event not in profile.events for hook in hooks):
        return text
    replies = [read_printed(profile, hook, 0, stderr="jq is missing") for hook in hooks]
    dropped = not any(one.context or one.user_text or one.fault for one in replies)
    return _TO_ERROR.sub("", text) if dropped and not _REFUSES.search(text) else text
