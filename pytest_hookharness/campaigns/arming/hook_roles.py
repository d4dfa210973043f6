"""The roles of events, and the hooks at events of some roles."""

from __future__ import annotations

from collections.abc import Collection

from pytest_hookharness import hosts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

STOPS = frozenset({hosts.Role.STOP, hosts.Role.SUBAGENT_STOP})
# The events before a tool call.
BEFORE_CALLS = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION})
# The events at which a hook may refuse something.
GATES = BEFORE_CALLS | STOPS | {hosts.Role.PROMPT}


def role_of(host: str, event: str) -> hosts.Role | None:
    """Return the role of an event of a host; ``None`` if the host does not have the event."""
    rule = hosts.find(host).events.get(event)
    return rule.role if rule is not None else None


def hooks_at(hook_set: HookSet, roles: Collection[hosts.Role]) -> list[Hook]:
    """Return the hooks at events of some roles."""
    return [hook for hook in hook_set.hooks if role_of(hook_set.host, hook.event) in roles]


def only_script(hook_set: HookSet, hook: Hook, roles: Collection[hosts.Role]) -> str:
    """Return the text of a hook's only script if its event has one of some roles; else an empty text."""
    texts = hook_set.scripts_of(hook)
    alone = hook.type == "command" and len(texts) == 1
    return texts[0] if alone and role_of(hook_set.host, hook.event) in roles else ""
