"""Symptoms that several hooks have together: each cause is reported once, with all its hooks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.verdicts import FindingCode

T = TypeVar("T", bound=Hashable)


def together(code: FindingCode, hooks: Sequence[Hook], text: str) -> Symptom:
    """Return the symptom that several hooks have together."""
    events = ", ".join(dict.fromkeys(hook.event for hook in hooks))
    commands = ", ".join(dict.fromkeys(hook.command for hook in hooks))
    return Symptom(kind=code.name, code=code.code, hook=commands, text=f"{events}: {text}", advice=code.fix)


def by_event(found: Iterable[tuple[Hook, T]]) -> Iterator[tuple[list[Hook], T]]:
    """Yield the hooks of one event with which the same was found, together."""
    pairs = ((hook, (hook.event, what)) for hook, what in found)
    yield from ((hooks, what) for hooks, (_, what) in with_hooks(pairs))


def with_hooks(found: Iterable[tuple[Hook, T]]) -> Iterator[tuple[list[Hook], T]]:
    """Yield all that was found, each once with its hooks."""
    hooks: dict[T, list[Hook]] = {}
    for hook, what in found:
        hooks.setdefault(what, []).append(hook)
    yield from ((same, what) for what, same in hooks.items())
