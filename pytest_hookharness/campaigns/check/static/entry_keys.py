"""
Keys of a hook's entry that its host does not read, and that would change how the hook runs.

Notes such as a name or a description are left alone: they are not meant for the host.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_WAITS = "so the host waits for the hook; it reads `async`"
_LIMIT = "so the default timeout holds; it reads `timeout`, in seconds"
_RUNS = "so the hook runs"
_MEANT: Mapping[str, Mapping[str, str]] = {
    "claude-code": dict.fromkeys(
        ["background", "run_in_background", "runInBackground", "isAsync", "detached", "nonBlocking"], _WAITS
    )
    | dict.fromkeys(
        ["timeoutMs", "timeout_ms", "timeoutSec", "timeout_sec", "timeoutSeconds", "timeout_seconds"], _LIMIT
    )
    | dict.fromkeys(["disabled"], _RUNS)
}
_OFF: Mapping[str, Mapping[str, str]] = {"claude-code": {"enabled": _RUNS}}


def unread_key(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a key of an entry that has no effect, and what follows, in words; or nothing."""
    for table, acts in ((_MEANT, True), (_OFF, False)):
        for key, why in table.get(hook_set.host, {}).items():
            if key in hook.options and bool(hook.options[key]) is acts:
                return key, why
    return "", ""
