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
    A kind of defect that is found for single hooks, and how it is reported.

    Attributes:
        find: Returns what is wrong with a hook: a text or several values, all empty for nothing.
        text: The sentence about it, with ``{0}``, ``{1}`` ... for the values, and ``{host}``.
        advice: How to fix it, with the same places; that of the finding if empty.
        by_event: Whether the hooks of each event have a symptom of their own.
        by_entry: Whether the same command may be right in another entry.
    """

    code: FindingCode
    find: Callable[[HookSet, Hook], Any]
    text: str
    advice: str = ""
    by_event: bool = False
    by_entry: bool = False

    def symptoms(self, hook_set: HookSet) -> Iterator[Symptom]:
        """Yield all that is wrong with the hooks of a hook set, each cause once."""
        for hooks, what in each_found(hook_set, self.find, by_event=self.by_event):
            values = what if isinstance(what, tuple) else (what,)
            text, advice = (one.format(*values, host=hook_set.host) for one in (self.text, self.advice))
            symptom = together(self.code, hooks, text, advice)
            numbers = (number for number, hook in enumerate(hook_set.hooks, 1) if hook in hooks)
            yield replace(symptom, entries=tuple(numbers)) if self.by_entry else symptom


def together(code: FindingCode, hooks: Sequence[Hook], text: str, advice: str = "") -> Symptom:
    """Return the symptom that several hooks have together; ``text`` follows their events."""
    events = ", ".join(dict.fromkeys(hook.event for hook in hooks))
    commands = ", ".join(dict.fromkeys(hook.command for hook in hooks))
    return symptom_of(code, commands, f"{events}: {text}", advice)


def symptom_of(code: FindingCode, commands: str, text: str, advice: str = "", turn: int = 0) -> Symptom:
    """Return a symptom of some hooks; without advice, with that of the finding."""
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
    Yield all that is found for the hooks of a hook set, each once with its hooks.

    Args:
        find: Returns what is found; a tuple of empty values counts as nothing.
        hooks: The hooks to look at; ``None`` for all.
        by_event: Whether hooks of different events stay apart.
    """
    found: dict[tuple[T, str], list[Hook]] = {}
    for hook in hook_set.hooks if hooks is None else hooks:
        what = find(hook_set, hook)
        if what and (any(what) if isinstance(what, tuple) else True):
            found.setdefault((what, hook.event if by_event else ""), []).append(hook)
    yield from ((same, what) for (what, _), same in found.items())
