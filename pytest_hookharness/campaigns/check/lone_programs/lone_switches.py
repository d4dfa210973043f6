"""
Shell scripts that decide by what one program prints: without it on the PATH, they allow everything.

There are two kinds. In one, a variable is assigned once, and an empty value ends the script with 0 before
every refusal. In the other, every refusal stands below a condition that an empty variable never meets, or in
a function that is called only below such conditions; only ``jq`` or ``python3`` fills the variable from the
input. Scripts that may notice that the program is missing are left out, as in `lone_answers`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, MutableMapping
from dataclasses import replace
from itertools import islice

from pytest_hookharness.campaigns.arming.hook_roles import GATES, role_of
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import REFUSES_IN_JSON, TOOLS, may_notice
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    PRINTS,
    Condition,
    ShellScript,
    shell_program,
    shell_script_of,
)
from pytest_hookharness.campaigns.check.shell_code.shell_wrappers import with_programs_in_place
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# A value that only a program gives, also where its failure is ignored.
_PASSED = r"(?:\|\|[ \t]*(?:true|(?:echo|printf)[ \t]+(?:\"\"|''))[ \t]*)?"
_GIVEN = re.compile(
    r"(?:^|[;&|]|\bthen|\bdo|'|\")[ \t]*(?:local[ \t]+)?(?P<name>[A-Za-z_]\w*)=\"?\$\((?P<program>"
    r"(?:[^\n|&()]*\|[ \t]*)?(?P<tool>jq|python3)\b(?:'[^']*'|\"(?:[^\"\\\n]|\\.)*\"|[^\n|&'\"()])*"
    + _PASSED
    + r")\)\"?[ \t]*(?:\|\|[ \t]*(?:true|exit[ \t]+0)[ \t]*)?(?=;|\n|$)",
    re.MULTILINE,
)
# The same value in another form.
_DERIVED = re.compile(
    r"(?:^|[;&|])[ \t]*(?:local[ \t]+)?(?P<name>[A-Za-z_]\w*)=\"?\$(?:\("
    + PRINTS
    + r"\"?\$\{?(?P<of>\w+)\}?\"?[ \t]*\|[ \t]*(?:tr|sed|head|tail|cut|awk)\b[^\n()]*\)"
    r"|\{?(?P<other>\w+)[,#%/]*[^\n}:]*\}?)\"?[ \t]*$",
    re.MULTILINE,
)
_ASSIGNED = re.compile(r"(?<![\w$.-])([A-Za-z_]\w*)\+?=(?![=~])")
_REFUSES = re.compile(r"(?<![\w-])(?:exit|return)[ \t]+(?:[1-9]\b|[\"$])")
# Ends with the status that refuses, and ends that may refuse by the value of a variable.
_BY_STATUS = re.compile(r"(?<![\w-])(?:exit|return)[ \t]+2\b")
_BY_VARIABLE = re.compile(
    r"(?<![\w-])(?:exit|return)[ \t]+[\"$]|(?<![\w-])exit[ \t]*(?:$|[;)}])", re.MULTILINE
)
_IS_TWO = re.compile(r"=[\"']?2\b|:-2\b|\$\?|[\"' \t]2[\"']?[ \t]*(?:$|[;&|)])", re.MULTILINE)
_SEARCHED = r"grep[ \t]+(?:-(?!\w*v)[\w-]+[ \t]+)*[\"'](?=[^\n]*\w\w)"
_FITS = (
    r"(?:\[\[?[ \t]+|&&[ \t]*\(?|^[ \t]*)(?:-n[ \t]+\"?\$\{{?{0}\b"
    r"|\"?\$\{{?{0}(?::-)?\}}?\"?[ \t]+(?:=~|==?)[ \t]+(?!\*?[ \t]|\"\"|''|\"?\$\{{?{0}))"
    r"|(?:echo|printf)[ \t][^|\n]*\"?\$\{{?{0}\}}?\"?[ \t]*(?:\|[ \t]*(?:tr|sed|head)\b[^|\n]*)?\|[ \t]*"
    + _SEARCHED
)
# A list of quoted texts, one in each line, and a loop over it.
_LISTED = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)=\((?P<texts>(?:\s+(?:'[^'\n]+'|\"[^\"\n]+\"|\#[^\n]*))+)\s*\)"
)
_ITEM = re.compile(r"^\s*['\"]([^\n]*)", re.MULTILINE)
_EACH = re.compile(
    r"\bfor[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in[ \t]+\"\$\{(?P<list>\w+)\[@\]\}\"[ \t]*(?:;|$)", re.MULTILINE
)
_SUBJECT = r"case[ \t]+\"?\$\{{?{0}(?::-)?\}}?\"?[ \t]*(?:in\b|$)"
_MOST = 40
_TEXT, _NOT = re.compile(r"\w\w"), re.compile(r"(?<![\w\"'=])![ \t]")
# What a script does at its left edge where a value is empty, or is not the one that it looks for.
_VALUE = r"\"?\$\{{?(?P<{0}>\w+)(?::-)?\}}?\"?"
_WORD = r"[\"']?[\w.-]+[\"']?"
_ENDS = r"(?:\{[ \t]*)?exit[ \t]+0\b"
_OFF = re.compile(
    r"^(?:if[ \t]+)?\[\[?[ \t]+(?:" + _VALUE.format("other") + r"[ \t]+!=[ \t]+" + _WORD
    + r"|-z[ \t]+" + _VALUE.format("empty") + r"|" + _VALUE.format("none") + r"[ \t]+==?[ \t]+(?:\"\"|''))"
    r"[ \t]+\]\]?[ \t]*(?:&&|;[ \t]*then|\n[ \t]*then)\s*" + _ENDS
    + r"|^\[\[?[ \t]+(?:" + _VALUE.format("same") + r"[ \t]+==?[ \t]+" + _WORD
    + r"|-n[ \t]+" + _VALUE.format("full") + r")[ \t]+\]\]?[ \t]*\|\|[ \t]*" + _ENDS,
    re.MULTILINE,
)  # fmt: skip
# A list of texts, one of which has to fit.
_CASE = re.compile(
    r"^case[ \t]+" + _VALUE.format("chosen") + r"[ \t]+in\b(?P<list>(?:(?!^esac\b)[\s\S]){1,600}?)"
    r"(?:^[ \t]*|;;[ \t]*|\bin[ \t]+)\*\)\s*" + _ENDS,
    re.MULTILINE,
)
_PATTERN = re.compile(r"(?:^|;;|\bin\b)[ \t]*\(?(?P<texts>[^()\n;]{1,300})\)", re.MULTILINE)


def only_shown_by(text: str) -> str:
    """Return the only program that fills the variables by which a script refuses; empty for none."""
    script = shell_script_of(text)
    if script is None or not can_refuse(script):
        return ""
    code = _with_listed_texts(script.code)
    script = replace(script, code=code)
    refusals = [*islice(refusals_of(script), _MOST + 1)]
    often = Counter(_ASSIGNED.findall(code))
    given = [found for found in _GIVEN.finditer(code) if often[found["name"]] == 1]
    tools = {found["tool"] for found in given}
    if len(tools) != 1 or not refusals or max(len(refusals), len(given)) > _MOST:
        return ""
    names = {found["name"] for found in given}
    for found in _DERIVED.finditer(code):
        if (found["of"] or found["other"]) in names and often[found["name"]] == 1:
            names.add(found["name"])
    # A variable with a default may have a text without the program.
    names = {name for name in names if not re.search(rf"\$\{{{name}:?=", code)}
    fits: dict[str, bool] = {}
    if all(_needs_text(place, script, names, fits) for place in refusals):
        return str(tools.pop())
    return ""


def _needs_text(
    place: int, script: ShellScript, names: Collection[str], fits: MutableMapping[str, bool]
) -> bool:
    """
    Return whether a place is only reached if one of some variables has a text.

    ``fits`` has the answer for each function that was looked at before; answers for others are added.
    """
    if any(_fits(one, script.code, names) for one in script.conditions_at(place)):
        return True
    around = script.function_at(place)
    if around is None or re.search(rf"[\"']{around.name}[\"']", script.code):
        return False
    if around.name not in fits:
        # This ends the search if the function calls itself.
        fits[around.name] = False
        calls = [*islice(_calls_of(around.name, script.shown), _MOST)]
        fits[around.name] = 0 < len(calls) < _MOST and all(
            _needs_text(one, script, names, fits) for one in calls
        )
    return fits[around.name]


def _with_listed_texts(code: str) -> str:
    """Return a script of the same length, with texts in place of loop variables over a list of texts."""
    lists = {one["name"]: _ITEM.findall(one["texts"]) for one in _LISTED.finditer(code)}
    for one in [*islice(_EACH.finditer(code), _MOST)]:
        set_once = len(re.findall(rf"(?<![\w$]){one['list']}\+?=", code)) == 1
        if set_once and one["list"] in lists and all(map(_finds_text, lists[one["list"]])):
            used = re.compile(rf"(?<=\")\$\{{?{one['name']}\}}?(?=\")")
            code = used.sub(lambda found: "_" * len(found[0]), code)
    return code


def _finds_text(pattern: str) -> bool:
    """Return whether a pattern has words to look for, and finds nothing in an empty text."""
    try:
        empty = re.search(re.sub(r"\[\[:\w+:\]", "[x", pattern.rstrip("\"'")), "")
    except re.error:
        return False
    return empty is None and _TEXT.search(pattern) is not None


def can_refuse(script: ShellScript) -> bool:
    """Return whether a script may refuse, by an answer or by status 2; to ask a person is no refusal."""
    answers = (one[0] for one in REFUSES_IN_JSON.finditer(script.code))
    if any(not one.endswith("ask") for one in answers) or _BY_STATUS.search(script.shown):
        return True
    return bool(_BY_VARIABLE.search(script.shown) and _IS_TWO.search(script.code))


def refusals_of(script: ShellScript) -> Iterator[int]:
    """Yield where a script refuses or fails, or calls a function of its own that does."""
    found = (*_REFUSES.finditer(script.shown), *REFUSES_IN_JSON.finditer(script.code))
    places = [one.start() for one in found]
    yield from (place for place in places if script.function_at(place) is None)
    for name, begin, end in script.functions:
        if any(begin <= place < end for place in places):
            yield from _calls_of(name, script.shown)


def _calls_of(name: str, shown: str) -> Iterator[int]:
    """Yield where a function may be called."""
    called = re.compile(rf"(?<![\w$./-]){re.escape(name)}(?![\w(-])(?![ \t]*\()")
    yield from (one.start() for one in called.finditer(shown))


def _fits(condition: Condition, code: str, names: Collection[str]) -> bool:
    """Return whether a condition holds only if one of some variables has a text."""
    words = code[condition.begin : condition.end]
    if condition.is_arm:
        subject = code[condition.case : condition.begin]
        known = any(re.match(_SUBJECT.format(name), subject) for name in names)
        return known and all(map(_TEXT.search, words.split("|")))
    return all(_part_fits(part, names) for part in _alternatives(words))


def _alternatives(words: str) -> Iterator[str]:
    """Yield the parts of a condition of which one has to hold; what is in brackets stays together."""
    depth = begin = 0
    for found in re.finditer(r"[()]|\|\|", words):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found[0] == "||" and depth <= 0:
            yield words[begin : found.start()]
            begin = found.end()
    yield words[begin:]


def _part_fits(part: str, names: Collection[str]) -> bool:
    found = (re.search(_FITS.format(name), part) for name in names)
    return any(one and not _NOT.search(part, 0, one.start()) for one in found)


def lone_switch(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook's script allows everything; empty for none."""
    text = shell_program(hook_set, hook) if role_of(hook_set.host, hook.event) in GATES else ""
    if hook.type != "command" or not text:
        return ""
    for one in dict.fromkeys((text, *(with_programs_in_place(text, name) for name in TOOLS))):
        tool = only_switched_by(one) or only_shown_by(one)
        if tool and not may_notice(hook_set, one, tool):
            return tool
    return ""


def only_switched_by(text: str) -> str:
    """Return the program that alone gives the value without which a shell script ends at once with 0."""
    script = shell_script_of(text)
    if script is None or not can_refuse(script):
        return ""
    before = script.code[: min(refusals_of(script), default=0)]
    tests = {name: place for place, name in _switches_off(before)}
    switches = [found for found in _GIVEN.finditer(before) if tests.get(found["name"], -1) >= found.end()]
    often = Counter(_ASSIGNED.findall(script.code)) if switches else Counter[str]()
    return next((found["tool"] for found in switches if often[found["name"]] == 1), "")


def _switches_off(code: str) -> Iterator[tuple[int, str]]:
    """Yield the variables whose empty value ends a script with 0, with the place of the test."""
    for found in _OFF.finditer(code):
        yield found.start(), next(name for name in found.groups() if name)
    for found in _CASE.finditer(code):
        texts = [text.strip() for one in _PATTERN.finditer(found["list"]) for text in one["texts"].split("|")]
        # A text that an empty value fits leads elsewhere.
        if all(re.search(r"[^*\"'\s]", text) for text in texts):
            yield found.start(), found["chosen"]
