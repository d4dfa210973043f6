"""
Scripts that only lack the executable bit, so that sessions can have them with it, and other defects show.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from pytest_hookharness.campaigns.check.static.hook_program import find_obstacle
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

NOT_EXECUTABLE = "not executable"


def bare_scripts(hook_set: HookSet) -> dict[str, Mapping[str, str]]:
    """Return the scripts that only lack the executable bit, by path, for each command that they stop."""
    bare = [hook for hook in hook_set.hooks if _lacks_bit(hook_set, hook)]
    found = {hook.command: _scripts(hook_set, hook) for hook in bare}
    return {command: scripts for command, scripts in found.items() if scripts}


def cannot_run(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether sessions cannot try a hook, as its program or its script is missing here."""
    found = find_obstacle(hook_set, hook)
    return found is not None and found.cause != NOT_EXECUTABLE


def _lacks_bit(hook_set: HookSet, hook: Hook) -> bool:
    # A session has the settings of a component, and not its file.
    if hook_set.inline is not None:
        return False
    found = find_obstacle(hook_set, hook)
    return found is not None and found.cause == NOT_EXECUTABLE


def _scripts(hook_set: HookSet, hook: Hook) -> dict[str, str]:
    """Return the scripts of a hook that are programs and may not be executed, by their paths."""
    own = {path: text for path, text in hook_set.sources_of(hook) if text.startswith("#!")}
    return {path: text for path, text in own.items() if not os.access(hook_set.root / path, os.X_OK)}
