"""
Where a host keeps the plugins that it installed, for hooks that look for their own plugin there.

In a plugin whose folder was only named to the host, such hooks find no script and do nothing. A person who
installed it has a copy of it below HOME.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import project_files, read_known_text, read_object

# Of each host the folder of its plugins, and that of one of them in it.
_FOLDERS = {
    "claude-code": (".claude/plugins/cache", "{marketplace}/{name}/{version}"),
    "gemini-cli": (".gemini/extensions", "{name}"),
}
_MARKETPLACE = ".claude-plugin/marketplace.json"
# Between two folders of a path, also where a program joins them.
_JOINT = r"[\"']?\s*[,/]\s*[\"']?"
# It is copied for each session.
_MOST_FILES, _LARGEST = 400, 1 << 23


def installed_plugin(profile: hosts.Profile, root: Path, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """
    Return the folder below HOME to which a host copies a plugin, in a pair with ``.``.

    Nothing is returned if none of the texts names the folder of all plugins, if the user already has the
    plugin's folder, or if the plugin is large.
    """
    if profile.name not in _FOLDERS:
        return ()
    every, one = _FOLDERS[profile.name]
    named = re.compile(_JOINT.join(map(re.escape, every.split("/"))))
    if not any(named.search(text) for text in texts) or not _is_small(root):
        return ()
    name = hosts.plugin_name(profile.config, lambda file: read_known_text(root / file) or None) or root.name
    manifest = profile.config.plugin_manifest
    values = {
        "name": name,
        "marketplace": _value(root / _MARKETPLACE, "name") or name,
        "version": (_value(root / manifest, "version") if manifest else "") or "1.0.0",
    }
    path = f"{every}/{one.format(**values)}"
    return () if ".." in path or os.path.lexists(Path.home() / path) else ((path, "."),)


def _is_small(root: Path) -> bool:
    files = project_files(root)
    return len(files) <= _MOST_FILES and sum(file.stat().st_size for file in files) <= _LARGEST


def _value(file: Path, key: str) -> str:
    """Return a text in a file of JSON; empty if there is none."""
    value = read_object(file).get(key)
    return value if isinstance(value, str) else ""
