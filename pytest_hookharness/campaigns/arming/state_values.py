"""
The values of a state for which a hook goes on, as its own comparisons show.

A comparison that leads to an early exit says what a value must not be; any other says what it must be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pytest_hookharness.campaigns.arming.state_fields import StateReads
from pytest_hookharness.campaigns.arming.state_names import Value
from pytest_hookharness.model.fast_dataclass import dataclass

# The text between a field and its comparison: the file that jq reads, closing brackets, a default.
_COMPARED = re.compile(
    r"(?:[\"']?[ \t]+[\"']?[\w${}./-]*[$./][\w${}./-]*[\"']?(?:[ \t]*2>\S+)?(?=[ \t]*\)))?"
    r"(?:\.\w+\(\d?\)|[\"')\]}]|\[1\]|\s*//\s*[\w\"]+|\s*\|\|\s*[\"'\w]+\))*\s*"
    r"(?P<sign>===|!==|==|!=|>=|<=|>(?![>&])|<(?!<)|=~|=(?!=)|-(?:eq|ne|lt|le|gt|ge)\b|(?:not )?in\b)\s*"
    r"(?:\\?[\"'](?P<text>[^\"'\n$\\]*)\\?[\"']|(?P<word>\d+|[A-Za-z][\w-]*)"
    r"|[\"']?\$\{?(?P<variable>\w+)|[(\[{]\s*[\"'](?P<first>[\w -]+)[\"'])"
)
_OF_LINE = re.compile(r"(?:\s|\\s|\*|\+|\[\[:space:\]\]|\?)*[\"\\]*([\w-]+)\\?\"?\$?[\"']")
_LEFT = re.compile(r"(-z|-n|!|\bnot)\s*[\"'(]*$")
_ASKED = re.compile(r"(?:\bif\s*\(?|&&|\|\||\band|\bor|\bwhile\s*\(?)\s*\(?$")
_OPENED = re.compile(
    r"\bthen\b|\{|:[ \t]*(?=$|return|sys|exit)|&&\s*(?=exit|return|\{)|\)\s*(?=return|process|$)",
    re.MULTILINE,
)
_OUT = re.compile(
    r"\bexit\b(?!\(?\s*[1-9])|\breturn\b(?!\s*(?:True|true|0\b|\{?\s*[\"']?(?:decision|block)))"
    r"|[\"']approve|\ballow\w*\("
)
_REFUSES = re.compile(r"block|deny|exit\(?\s*2|followup", re.IGNORECASE)
_OTHERWISE = re.compile(r"\|\|\s*(?:\{[^}\n]*?)?(?:exit\b|return\b)")
_CASE = re.compile(r"[\"']?\s+in\b[ \t]*\n?(?P<labels>[^\n]*)\)(?P<body>[^;]{0,80})")
_SIGNS = {
    "-eq": "==",
    "-ne": "!=",
    "-lt": "<",
    "-le": "<=",
    "-gt": ">",
    "-ge": ">=",
    "===": "==",
    "!==": "!=",
    "=": "==",
}
_OPPOSITES = (("==", "!="), ("<", ">="), (">", "<="), ("in", "not in"))
_OPPOSITE = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
_WORDS: Mapping[str, Value] = {"true": True, "True": True, "false": False, "False": False}
_NOTHING = frozenset(["null", "None", "undefined", ""])
_ORDER = frozenset(["<", ">", "<=", ">="])
# The text before a value from which something is subtracted, or to which it is added.
_SUM = re.compile(r"\$\(\([^()\n]*$|(?:[\w)\]]|\bnow\w*\(\))\s+-\s+(?:\(|\w+\()?$")
_AHEAD, _LINES, _NEAR, _TICKS = 260, 3, 80, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedField:
    """
    What a hook asks of one field of its state.

    Attributes:
        wanted: Values with which it goes on; the first one is tried.
        avoided: Values with which it lets the agent go.
        empty: Whether it goes on only if the field has no value.
        filled: Whether it goes on only if the field has one.
        counted: Whether it compares the field with a number.
        ticks: Of a second, where it calculates with the field as a time; 0 if it does not.
    """

    wanted: tuple[Value, ...] = ()
    avoided: tuple[Value, ...] = ()
    empty: bool = False
    filled: bool = False
    counted: bool = False
    ticks: int = 0


def asked_values(reads: StateReads) -> dict[str, AskedField]:
    """Return what a script asks of the fields that it reads, in the order of its text."""
    found = dict.fromkeys(reads.fields, AskedField())
    for begin, end, name in sorted(reads.places):
        found[name] = _with_comparison(reads, found[name], begin, end)
        if _SUM.search(reads.text[max(0, begin - _NEAR) : begin]):
            found[name] = replace(found[name], ticks=_TICKS if "Date.now" in reads.text else 1)
        compared = _COMPARED.match(reads.text, end)
        if compared and _SIGNS.get(compared["sign"], compared["sign"]) in _ORDER:
            for one in (name, *_standing_at(reads, compared.end("sign"))):
                found[one] = replace(found[one], counted=True)
    return found


def _standing_at(reads: StateReads, place: int) -> Iterator[str]:
    """Yield the fields that stand next to a place, after quotes and brackets."""
    for begin, _, name in reads.places:
        if begin >= place and not reads.text[place:begin].strip(" \t\"'({$"):
            yield name


def _with_comparison(reads: StateReads, asked: AskedField, begin: int, end: int) -> AskedField:
    text = reads.text
    compared = _COMPARED.match(text, end)
    case = _CASE.match(text, end)
    if case and re.search(r"\bcase\s+[\"']?$", text[max(0, begin - 8) : begin]):
        words = re.findall(r"[\w-]+", case["labels"].partition(")")[0])
        return _with(asked, "not in" if _OUT.search(case["body"]) else "in", words)
    if compared:
        sign = _SIGNS.get(compared["sign"], compared["sign"])
        operand = compared["text"] if compared["text"] is not None else compared["first"] or compared["word"]
        if operand is None or sign == "=~" or (operand in reads.names and compared["text"] is None):
            return replace(asked, counted=asked.counted or sign in _ORDER)
        before = text[text.rfind("\n", 0, begin) + 1 : end]
        if compared["sign"] == "=" and not re.search(r"\[\s|\btest\s", before):
            return asked
        turned = _OPPOSITE.get(sign, sign) if _leads_out(text, compared.end()) else sign
        return _with(asked, turned, [operand])
    line = _OF_LINE.match(text, end) if text[end - 1 : end] == ":" else None
    if line:
        return _with(asked, "!=" if _leads_out(text, line.end()) else "==", [line[1]])
    return _with_truth(asked, text, begin, end)


def _with_truth(asked: AskedField, text: str, begin: int, end: int) -> AskedField:
    """Return what is asked by a test for a value, or for the lack of one."""
    before = text[max(0, begin - 14) : begin]
    left = _LEFT.search(before)
    out = _leads_out(text, end)
    if left and left[1] == "-n":
        return replace(asked, empty=True) if out else asked
    if left:
        return replace(asked, filled=True) if out else asked
    if _ASKED.search(before) and re.match(r"[\"')]*\s*(?:\)|:|&&|\|\||and\b|or\b|\])", text[end : end + 8]):
        return replace(asked, avoided=(*asked.avoided, True)) if out else replace(asked, filled=True)
    return asked


def _with(asked: AskedField, sign: str, operands: list[str]) -> AskedField:
    values = [_WORDS.get(word, int(word) if word.isdigit() else word) for word in operands]
    number = values[0] if type(values[0]) is int else None
    if operands[0] in _NOTHING:
        return replace(asked, empty=asked.empty or sign == "==")
    match sign:
        case "==" | "in":
            return replace(asked, wanted=(*asked.wanted, *values[:1]), counted=number is not None)
        case "!=" | "not in":
            return replace(asked, avoided=(*asked.avoided, *values))
        case _ if number is None:
            return asked
        case "<" | "<=":
            fits = max(0, number - (sign == "<"))
        case _:
            fits = number + (sign == ">")
    return replace(asked, wanted=(*asked.wanted, fits), counted=True)


def _leads_out(text: str, end: int) -> bool:
    """Return whether a condition that goes on at a place leads to an exit that lets the agent go."""
    ahead = text[end : end + _AHEAD]
    first = ahead.partition("\n")[0]
    if _OTHERWISE.search(first):
        return False
    opened = _OPENED.search(ahead)
    if opened is None or ahead.count("\n", 0, opened.start()) > 1:
        return False
    lines = [
        line
        for line in ahead[opened.end() :].splitlines()
        if line.strip() and not line.lstrip().startswith(("#", "//"))
    ]
    body = "\n".join(lines[:_LINES])
    out, refuses = _OUT.search(body), _REFUSES.search(body)
    return out is not None and not (refuses is not None and refuses.start() < out.start())
