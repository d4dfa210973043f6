"""Marketplaces, which list the plugins of a folder, and folders of plugins without one."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import read_text
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_MARKETPLACE = "marketplace.json"


def lists_plugins(root: Path) -> bool:
    """Return whether a folder has a marketplace."""
    return any((root / file).is_file() for file in marketplaces(hosts.known()))


def manifests() -> frozenset[str]:
    """Return the manifests by which hosts know a plugin."""
    return frozenset(profile.config.plugin_manifest for profile in hosts.known()) - {""}


def plugin_folders(root: Path) -> list[Path]:
    """Return the folders of the plugins that marketplaces name, or that lie below a folder of plugins."""
    profiles = hosts.known()
    texts = {root / file: read_text(root / file) for file in marketplaces(profiles)}
    found = {file: text for file, text in texts.items() if text is not None}
    if not found:
        below = {
            path.parents[mark.count("/")]
            for mark in manifests()
            if "/" in mark
            for depth in ("*", "*/*")
            for path in root.glob(f"{depth}/{mark}")
        }
        return sorted(below)
    folders = [folder for file, text in found.items() for folder in _listed_plugins(root, file, text)]
    # Unlike pathlib, this takes a name that is too long for one of no folder.
    return [
        folder
        for folder in dict.fromkeys(folders)
        if folder.is_relative_to(root) and os.path.isdir(folder)  # noqa: PTH112
    ]


def marketplaces(profiles: Iterable[hosts.Profile]) -> tuple[str, ...]:
    """Return the files that list the plugins of a folder; each lies where its host has that of a plugin."""
    folders = (posixpath.dirname(profile.config.plugin_manifest) for profile in profiles)
    return tuple(dict.fromkeys(f"{folder}/{_MARKETPLACE}" for folder in folders if folder))


def _listed_plugins(root: Path, file: Path, text: str) -> Iterator[Path]:
    """Yield the folders that the text of a marketplace names; each entry may be below a common folder."""
    try:
        content = json.loads(text)
        sources = [one.get("source") for one in content.get("plugins", [])]
        common = (content.get("metadata") or {}).get("pluginRoot", "")
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        problem = f"{file}: expected an object with a list `plugins`: {error}"
        raise SimulationError(problem) from None
    base = root / common if isinstance(common, str) and "\0" not in common else root
    for source in sources:
        if isinstance(source, str) and "\0" not in source:
            # As text: what is too long for a path has no target.
            yield Path(os.path.realpath(root / source))
            if base != root:
                yield Path(os.path.realpath(base / source))
