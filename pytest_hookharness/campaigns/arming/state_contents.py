"""
The text of a state file: an example with its placeholders filled in, or the fields that a hook compares.

Each value comes from the example, from a comparison in the source of the hook, or is the session's own: its
identifier, the present time, a count that just began, a limit that is near.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_hookharness.campaigns.arming import state_names
from pytest_hookharness.campaigns.arming.state_names import LIMIT, SESSION, TASK, Value
from pytest_hookharness.campaigns.arming.state_values import AskedField
from pytest_hookharness.model.fast_dataclass import dataclass

CHECKLIST = f"# Tasks\n\n- [ ] {TASK}\n"
LISTS = re.compile(r"(?:plan|todo|task|check|progress|spec|prd)[\w-]*\.(?:md|markdown|txt)$", re.IGNORECASE)
_KEY = re.compile(
    r"^(?P<head>[ \t]*(?:- )?[\"']?(?P<key>[A-Za-z_][\w-]*)[\"']?\s*:[ \t]+)(?P<value>\S[^\n]*?)"
    r"(?P<tail>,?[ \t]*)$",
    re.MULTILINE,
)
_PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]*\}\}|<[a-zA-Z][^<>\n]*>|\$\{?[A-Za-z_]\w*\}?|\{[a-zA-Z][^{}\n:\"]*\}"
    r"|\[[a-zA-Z][^\[\]\n\"]*\](?!\()|\.\.\.|\u2026|\$\([^\n]*?\)"
)
_CHOICE = re.compile(r"\w\s*\|\s*\w|\bor\b")
_OPTIONAL = re.compile(r"\b(?:null|none|empty|optional|if set|if any|not set)\b", re.IGNORECASE)
_FRONT = re.compile(r"(\s*---[ \t]*\n)(.*?^---[ \t]*$)(.*)", re.DOTALL | re.MULTILINE)
_BOX = re.compile(r"^([ \t]*[-*] \[ \] ).*$", re.MULTILINE)
# An item of a list that is not done.
TICKABLE = re.compile(r"^([ \t]*[-*+] )\[ \]", re.MULTILINE)
# How hooks look for an open task.
_OPEN = re.compile(r"\[(?: |\\s|\[?\[:space:\]\]?)[*+?]?\\*\]")
_OWN = (
    state_names.is_session,
    state_names.is_switch,
    state_names.is_limit,
    state_names.is_time,
    state_names.is_work,
)
# Words for the end of the work, the usual ones first.
_OVER = ("complete", "completed", "done", "finished", "closed", "passed", "approved")
_OFF = ("", "null", "false", "0")
# What makes JSON out of the JSON of documents: quotes around placeholders, and what stands for more.
_CURES: Sequence[tuple[str, Callable[[re.Match[str]], str]]] = (
    (r"(?<![:\"\w])//[^\n]*", lambda _: ""),
    (r":\s*(?![\"\[{\dtfn-])([^,\n}]+)", lambda match: f": {json.dumps(match[1].strip())}"),
    (r",?\s*(?:\.\.\.|\u2026)\s*(?=[,}\]])", lambda _: ""),
    (r",(\s*[}\]])", lambda match: match[1]),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateContents:
    """Fills in the text of one state file; ``lists`` are checklists that the same document names."""

    path: str
    asked: Mapping[str, AskedField]
    lists: Sequence[str] = ()

    def of_example(self, text: str, *, strict: bool) -> dict[str, str]:
        """
        Return the file, and files that it names, as an example has it.

        With ``strict``, values for which the hook allows the stop are replaced too.
        """
        more: dict[str, str] = {}
        if self.path.endswith(".json"):
            values = self._object(parsed(text) or {}, "", more, strict=strict)
            missing = [
                each for each in self.asked.items() if each[0] not in values and each[0].isidentifier()
            ]
            values |= {name: each.wanted[0] for name, each in missing if strict and each.wanted}
            values |= {name: LIMIT for name, each in missing if _limits(name, each)}
            times = [each for each in missing if strict and state_names.is_time(each[0])]
            values |= {name: state_names.now(ticks=each.ticks) for name, each in times}
            return {self.path: f"{json.dumps(values, indent=2)}\n", **more}

        def fill(match: re.Match[str]) -> str:
            value = self._value(match["key"], match["key"], match["value"], more, strict=strict)
            written = match["value"] if value is None else state_names.as_yaml(value)
            return f"{match['head']}{written}{match['tail']}"

        head, fields, body = _parts(text)
        written = {match["key"] for match in _KEY.finditer(fields)}
        limits = [name for name, each in self.asked.items() if _limits(name, each) and name not in written]
        head += "".join(f"{name}: {LIMIT}\n" for name in limits if fields)
        body = _PLACEHOLDER.sub(TASK, _BOX.sub(rf"\g<1>{TASK}", body))
        return {self.path: f"{head}{_KEY.sub(fill, fields)}{body}", **more}

    def of_source(self, source: str) -> dict[str, str]:
        """Return the file with the fields that the hook compares; nothing if its contents are unknown."""
        if LISTS.search(self.path) and _OPEN.search(source):
            return {self.path: CHECKLIST}
        values = dict[str, Any]()
        for name, each in self.asked.items():
            known = each.wanted or each.counted or each.filled
            own = any(is_own(name) for is_own in _OWN)
            if name not in state_names.OF_HOSTS and (known or own):
                _put(values, name.split("."), _asked_value(name, each))
        text = self._written(values)
        return {self.path: text} if text else {}

    def _written(self, values: Mapping[str, Any]) -> str:
        if self.path.endswith(".json"):
            return f"{json.dumps(values, indent=2)}\n" if values else ""
        plain = {key: value for key, value in values.items() if not isinstance(value, dict | list)}
        lines = "".join(f"{key}: {state_names.as_yaml(value)}\n" for key, value in plain.items())
        if self.path.endswith((".yml", ".yaml")):
            return lines
        if self.path.endswith((".md", ".local")):
            return f"---\n{lines}---\n\n{TASK}\n" if lines else ""
        return "" if "." in posixpath.basename(self.path).lstrip(".") else f"{TASK}\n"

    def _object(
        self, found: Mapping[str, Any], prefix: str, more: dict[str, str], *, strict: bool
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in found.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                values[key] = self._object(value, f"{name}.", more, strict=strict)
            elif isinstance(value, list):
                values[key] = [
                    self._object(one, f"{name}[].", more, strict=strict) if isinstance(one, dict) else one
                    for one in value
                ]
            else:
                written = "null" if value is None else json.dumps(value).strip('"')
                new = self._value(key, name, written, more, strict=strict)
                values[key] = value if new is None or str(new) == str(value) else new
        return values

    def _value(
        self, key: str, name: str, written: str, more: dict[str, str], *, strict: bool
    ) -> Value | None:
        """Return the value for a key of an example; ``None`` to keep the written one."""
        asked = self.asked.get(name, AskedField())
        plain = written.strip("\"' ").partition(" #")[0].strip()
        holds = bool(_PLACEHOLDER.search(written) or _CHOICE.search(written))
        if state_names.is_session(key) and plain and plain not in ("null", "~"):
            return "" if asked.empty and strict else SESSION
        if holds and _OPTIONAL.search(written) and not asked.wanted:
            return "null"
        if state_names.is_time(key) and (holds or re.match(r"\d{4}-\d\d|\d{9,}", plain)):
            return state_names.now(plain)
        if plain.isdigit() and int(plain) > LIMIT and state_names.is_limit(key):
            return LIMIT
        if plain.isdigit() and asked.counted and _above(asked, max(int(plain), LIMIT)):
            return asked.wanted[0]
        if holds:
            return self._for_placeholder(key, written, asked, more)
        if strict and asked.wanted and plain.lower() not in {str(each).lower() for each in asked.wanted}:
            return asked.wanted[0]
        return state_names.by_name(key, filled=True) if strict and asked.filled and plain in _OFF else None

    def _for_placeholder(self, key: str, written: str, asked: AskedField, more: dict[str, str]) -> Value:
        words = re.findall(r"[\w-]+", written)
        lower = {word.lower() for word in words}
        if asked.counted and (state_names.is_limit(key) or state_names.is_total(key)):
            # Whatever is counted up to it begins below it.
            return LIMIT
        if asked.wanted:
            return next((each for each in asked.wanted if str(each).lower() in lower), asked.wanted[0])
        if asked.empty:
            return ""
        if state_names.is_path(key):
            path = next(iter(self.lists), "tasks.md")
            more[path] = CHECKLIST
            return path
        if {"true", "false"} <= lower:
            return True
        if _CHOICE.search(written):
            others = {"or", "and", "from", "if", *(str(each) for each in asked.avoided)}
            return next((word for word in words if word not in others), TASK)
        return state_names.by_name(key)


def is_done_list(path: str, text: str, source: str) -> bool:
    """Return whether a file is a list of tasks without an open one, for which a script looks."""
    return bool(LISTS.search(path) and _OPEN.search(source)) and not TICKABLE.search(text)


def parsed(text: str) -> dict[str, Any] | None:
    """Return an object of JSON with comments, placeholders and commas too many; ``None`` if it is none."""
    for pattern, change in (("", None), *_CURES):
        text = text if change is None else re.sub(pattern, change, text)
        try:
            found = json.loads(text)
        except ValueError:
            continue
        return found if isinstance(found, dict) else None
    return None


def _parts(text: str) -> tuple[str, str, str]:
    """Return what stands before the fields of a text, the fields, and the rest."""
    if found := _FRONT.match(text):
        return found[1].lstrip(), found[2], f"{found[3].rstrip()}\n"
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(_KEY.match(line) for line in lines):
        return "---\n", f"{text.strip()}\n---", f"\n\n{TASK}\n"
    return "", "", text


def _limits(name: str, asked: AskedField) -> bool:
    """Return whether a field is a limit that the hook compares with a count."""
    return asked.counted and bool(state_names.is_limit(name)) and name.isidentifier()


def _above(asked: AskedField, number: int) -> bool:
    """Return whether the hook counts up to a higher number, so that a count near it shows the end."""
    return bool(asked.wanted) and type(asked.wanted[0]) is int and asked.wanted[0] > number


def _asked_value(name: str, asked: AskedField) -> Value:
    if state_names.is_limit(name) or (asked.counted and state_names.is_total(name)):
        return LIMIT
    if state_names.is_session(name):
        return "" if asked.empty else SESSION
    if asked.wanted:
        return asked.wanted[0]
    if state_names.is_time(name):
        return state_names.now(ticks=asked.ticks)
    # A count that just began, whatever it counts.
    return 1 if asked.counted else state_names.by_name(name, filled=asked.filled)


def _put(values: dict[str, Any], names: Sequence[str], value: Value) -> None:
    """Put a value at ``a``, ``a.b`` or ``items[].b``."""
    head, rest = names[0], names[1:]
    if head.endswith("[]"):
        items = values.setdefault(head[:-2], [{}])
        if rest and isinstance(items, list):
            _put(items[0], rest, value)
    elif not rest:
        values.setdefault(head, value)
    elif isinstance(inner := values.setdefault(head, {}), dict):
        _put(inner, rest, value)


def finished(files: Mapping[str, str], asked: Mapping[str, AskedField]) -> dict[str, str]:
    """Return the files that a model changes when the work is done: boxes ticked, words of an end set."""

    def over(match: re.Match[str]) -> str:
        each = asked.get(match["key"], AskedField())
        words = [word for word in _OVER if word in each.avoided]
        if words:
            return f"{match['head']}{json.dumps(words[0])}{match['tail']}"
        off = match["value"] == "true" and state_names.is_switch(match["key"])
        return f"{match['head']}false{match['tail']}" if off and True in each.wanted else match[0]

    done = {path: _KEY.sub(over, TICKABLE.sub(r"\1[x]", text)) for path, text in files.items()}
    return {path: text for path, text in done.items() if text != files[path]}
