"""
Settings files that Claude Code refuses as a whole, though each of their hooks is well formed.

Observed: the manifest of a plugin names the file that the host loads by itself ("Duplicate hooks file
detected"); 2.1.138 reports it, and 2.1.220 loads none of the plugin's hooks (affaan-m/ECC#103,
open-gsd/gsd-core#3029). A permission mode that does not exist is an error of the settings, and files with
errors are skipped as a whole.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import read_object
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Json

_HOST = "claude-code"
_MODES = ("acceptEdits", "bypassPermissions", "default", "dontAsk", "plan", "auto", "delegate")
# Another word may be a mode of a newer release.
_NEAR = 0.55


def refused_files(hook_set: HookSet) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with files of the settings that the host refuses, and what to do about it."""
    if hook_set.host != _HOST:
        return
    config = hosts.find(hook_set.host).config
    if hook_set.plugin and config.plugin_path in hook_set.files:
        written = read_object(hook_set.root / config.plugin_manifest).get("hooks")
        named = [posixpath.normpath(one) for one in _list(written) if isinstance(one, str)]
        if config.plugin_path in named:
            text = (
                f"{config.plugin_manifest} names {config.plugin_path}, which {_HOST} loads by itself: it "
                "reports `Duplicate hooks file detected`, and newer releases load none of the plugin's hooks."
            )
            yield text, f"Remove `hooks` from {config.plugin_manifest}; keep it for further files only."
    for file in hook_set.files:
        permissions = read_object(hook_set.root / file).get("permissions")
        mode = permissions.get("defaultMode") if isinstance(permissions, Mapping) else None
        near = get_close_matches(mode, _MODES, 1, _NEAR) if isinstance(mode, str) else []
        if near and mode not in _MODES:
            text = (
                f"{file}: `permissions.defaultMode` is {mode!r}, which is no mode of {_HOST}; it skips a "
                "settings file with such an error as a whole, with all hooks in it."
            )
            yield text, f"Write `{near[0]}`, if that is meant."


def _list(value: Json) -> list[Json]:
    return [*value] if isinstance(value, list) else [value]
