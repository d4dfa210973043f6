"""
This module is concerned with what was tried: the conditions of further runs by kind, in a few words.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from pytest_hookharness.model.variations import (
    EmptyInput,
    FailingTool,
    HangingTool,
    HookOrder,
    KeyOrder,
    Kind,
    MovedWords,
    Quoted,
    SameName,
    Shell,
    StateFile,
    TwoAgents,
    TwoProcesses,
    TwoSessions,
    Unset,
    Variation,
    Wide,
    WithoutTool,
)

_MOST_WAYS = 4


def tried_words(variations: Iterable[Variation]) -> str:
    """
    What was tried, such as ``key-order; tools jq (missing, failing, hanging)``.
    """
    kinds: dict[Kind, dict[str, list[str]]] = {}
    for variation in variations:
        kind, subject, way = _placed(variation)
        kinds.setdefault(kind, {}).setdefault(subject, []).append(way)
    return "; ".join(f"{kind} {_subjects(subjects)}".rstrip() for kind, subjects in kinds.items())


def _subjects(subjects: dict[str, list[str]]) -> str:
    return ", ".join(f"{subject} {_ways(ways)}".strip() for subject, ways in subjects.items())


def _ways(ways: list[str]) -> str:
    named = [*filter(None, dict.fromkeys(ways))]
    if len(named) > _MOST_WAYS:
        return f"({len(named)} ways)"
    return f"({', '.join(named)})" if named else ""


def _placed(variation: Variation) -> tuple[Kind, str, str]:
    """
    The kind of a variation, what it is about, and in what way.
    """
    match variation:
        case KeyOrder():
            return "key-order", "", ""
        case MovedWords(command=command, words=words):
            return "words", "", f"`{command}` described as `{words}`"
        case Quoted(command=command, form=form):
            return "quoting", f"`{command}`", form
        case WithoutTool(name=name):
            return "tools", name, "missing"
        case FailingTool(name=name):
            return "tools", name, "failing"
        case HangingTool(name=name):
            return "tools", name, "hanging"
        case Unset(variable=variable):
            return "unset", variable, ""
        case StateFile(path=path, how=how):
            return "state", path, how
        case EmptyInput():
            return "input", "", ""
        case HookOrder(event=event, places=places):
            return "order", event, "-".join(map(str, places))
        case Shell():
            return "shells", "", str(variation).removeprefix("the shell ")
        case SameName(twin=twin):
            return "names", twin, ""
        case TwoAgents():
            return "sessions", "", "another agent"
        case TwoSessions():
            return "sessions", "", "another session"
        case TwoProcesses():
            return "processes", "", ""
        case Wide():
            return "wide", "", ""
        case _:
            assert_never(variation)
