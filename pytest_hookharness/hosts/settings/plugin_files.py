"""The files of a plugin that configure hooks: the usual one, and what its manifest names or contains."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping

from pytest_hookharness.hosts.rules.settings import ConfigRules
from pytest_hookharness.model.protocol import Json


def plugin_files(config: ConfigRules, read: Callable[[str], str | None]) -> dict[str, str]:
    """
    Return the texts of a plugin's files with hooks, by path relative to the plugin.

    Args:
        config: The rules of the host.
        read: Returns the text of a file of the plugin, given its relative path; ``None`` for no such file.
    """
    manifest = read(config.plugin_manifest) if config.plugin_manifest else None
    named = [*_named(manifest_hooks(config, manifest or ""))]
    paths = dict.fromkeys(posixpath.normpath(path) for path in (config.plugin_path, *named) if path)
    found = {path: text for path in paths if (text := read(path)) is not None}
    if manifest is not None and _inline(manifest_hooks(config, manifest)):
        found[config.plugin_manifest] = manifest
    return found


def manifest_hooks(config: ConfigRules, text: str) -> Json:
    """Return the value of ``hooks`` in a manifest; ``None`` if there is none, or it cannot be parsed."""
    try:
        content = config.parse(text)
    except (ValueError, RecursionError):
        return None
    return content.get("hooks") if isinstance(content, Mapping) else None


def read_manifest(config: ConfigRules, text: str) -> Mapping[str, Json]:
    """Return the hooks that a manifest contains itself, in the form of a settings file."""
    events: dict[str, Json] = {}
    for value in _inline(manifest_hooks(config, text)):
        events.update(value)
    return {"hooks": events}


def _values(hooks: Json) -> list[Json]:
    return [*hooks] if isinstance(hooks, list) else [hooks]


def _named(hooks: Json) -> Iterator[str]:
    yield from (value for value in _values(hooks) if isinstance(value, str))


def _inline(hooks: Json) -> list[Mapping[str, Json]]:
    found: list[Mapping[str, Json]] = []
    for value in _values(hooks):
        if isinstance(value, Mapping):
            inner = value.get("hooks")
            found.append(inner if isinstance(inner, Mapping) else value)
    return found
