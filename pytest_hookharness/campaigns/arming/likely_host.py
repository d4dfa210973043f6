"""The host that settings are probably for, where their place does not tell it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness import hosts


def likely_host(content: object, folders: Sequence[str], profiles: Sequence[hosts.Profile]) -> str:
    """Return the host that settings are probably for; empty if no host knows one of their events."""
    events, keys = _events_of(content)
    # Several hosts know some names of events; a folder may have the name of one, and each has its own key
    # for the command.
    named = {part.strip(".").casefold() for part in folders}
    hits = {
        profile.name: (
            bool(known := len(events & profile.events.keys())) and profile.name.split("-")[0] in named,
            known,
            profile.config.types["command"] in keys,
        )
        for profile in profiles
    }
    name = max(hits, key=lambda each: hits[each])
    return name if hits[name][1] else ""


def _events_of(content: object) -> tuple[frozenset[str], frozenset[str]]:
    """Return the events for which settings seem to configure hooks, and the keys of their entries."""
    hooks = content.get("hooks") if isinstance(content, dict) else None
    events = hooks if isinstance(hooks, dict) else {}
    lists = {str(event): value for event, value in events.items() if value and isinstance(value, list)}
    keys = (str(key) for value in lists.values() for one in value if isinstance(one, dict) for key in one)
    return frozenset(lists), frozenset(keys)
