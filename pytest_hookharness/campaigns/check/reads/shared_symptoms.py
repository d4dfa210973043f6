"""Symptoms that several hooks have together: each cause is reported once, with all its hooks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.verdicts import FindingCode

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRule:
    """
    A kind of defect that single hooks have: how it is found and reported.

    Attributes:
        find: Returns what is wrong with a hook, as a text or a tuple of values; empty if nothing is.
        text: A template of the sentence about it; ``{0}``, ``{1}`` and so on are the values, ``{host}`` the
            host.
        advice: How to fix it; a template with the same fields, empty for the advice of the finding.
        by_event: Whether each event has a symptom of its own.
        by_entry: Whether the same command may be right in another entry, so that the symptom names the
            entries.
    """

    code: FindingCode
    find: Callable[[HookSet, Hook], Any]
    text: str
    advice: str = ""
    by_event: bool = False
    by_entry: bool = False

    def symptoms(self, hook_set: HookSet) -> Iterator[Symptom]:
        """Yield one symptom for each cause that is found in a hook set."""
        for hooks, what in each_found(hook_set, self.find, by_event=self.by_event):
            values = what if isinstance(what, tuple) else (what,)
            text, advice = (one.format(*values, host=hook_set.host) for one in (self.text, self.advice))
            symptom = together(self.code, hooks, text, advice)
            numbers = (number for number, hook in enumerate(hook_set.hooks, 1) if hook in hooks)
            yield replace(symptom, entries=tuple(numbers)) if self.by_entry else symptom


def together(code: FindingCode, hooks: Sequence[Hook], text: str, advice: str = "") -> Symptom:
    """Return one symptom for several hooks; its text is their events, followed by ``text``."""
    events = ", ".join(dict.fromkeys(hook.event for hook in hooks))
    commands = ", ".join(dict.fromkeys(hook.command for hook in hooks))
    return symptom_of(code, commands, f"{events}: {text}", advice)


def symptom_of(code: FindingCode, commands: str, text: str, advice: str = "", turn: int = 0) -> Symptom:
    """Return a symptom of some hooks; an empty ``advice`` stands for the advice of the finding."""
    return Symptom(
        kind=code.name, code=code.code, hook=commands, text=text, advice=advice or code.fix, turn=turn
    )


def each_found(
    hook_set: HookSet,
    find: Callable[[HookSet, Hook], T | None],
    hooks: Iterable[Hook] | None = None,
    *,
    by_event: bool = False,
) -> Iterator[tuple[list[Hook], T]]:
    """
    Yield what is found for the hooks of a hook set, or for some of them: each result once, with its hooks.

    ``find`` returns the result for one hook; a tuple of empty values counts as none.
    """
    found: dict[tuple[T, str], list[Hook]] = {}
    for hook in hook_set.hooks if hooks is None else hooks:
        what = find(hook_set, hook)
        if what and (any(what) if isinstance(what, tuple) else True):
            found.setdefault((what, hook.event if by_event else ""), []).append(hook)
    yield from ((same, what) for (what, _), same in found.items())
