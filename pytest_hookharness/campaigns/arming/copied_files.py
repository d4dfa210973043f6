"""
Scripts that lie elsewhere in the project than where commands name them, and the copy of an installed plugin.

An installer copies settings and scripts into a project. The settings name a script by its path after that,
such as ``.claude/hooks/guard.sh``. In a collection of hooks it lies elsewhere, mostly beside the settings.
Hooks that look for their own plugin below HOME find no script there, and do nothing, if the folder of the
plugin was only named to the host.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path, PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import (
    files_named,
    is_small,
    project_files,
    read_known_text,
    read_object,
)
from pytest_hookharness.model.protocol import Hook

# Folders of installed or built files, and of Git. A script in one of them is never the one that is meant.
OF_TOOLS = frozenset(
    ["dist", "build", "out", "target", "node_modules", ".venv", "venv", "vendor", "bin", ".git"]
)
# Folders of scripts that are tests or examples.
_FOR_SHOW = frozenset(["test", "tests", "spec", "fixture", "fixtures", "example", "examples", "demo"])
_MOST_READ = 20_000
# A path with a name that ends as those of files do, or in a folder of hooks; a variable may precede it.
_PATH = re.compile(
    r"(?:(?:\$\w+|[})])\"?/|(?<![\w$./~-])(?:\./)?)"
    r"(?P<path>(?:[\w@+.-]+/)+[\w@+-]+\.\w+|(?:[\w@+.-]+/)*hooks/(?:[\w@+-]+/)*[\w@+-]+(?![\w@+./-]))"
)
_MOST_FILES, _LARGEST = 40, 1 << 18
# A file of data in the code of a script, and how many folders above the script it is looked for in.
_DATA = re.compile(r"[\"'](?P<name>[\w-]+\.(?:ya?ml|json|toml))[\"']")
_MOST_ABOVE = 2
# Files that belong to a project or a host and not to a script.
_OF_PROJECTS = frozenset(
    ["package.json", "package-lock.json", "tsconfig.json", "composer.json", "pyproject.toml", "Cargo.toml"]
) | {"settings.json", "settings.local.json", "hooks.json", "plugin.json", "marketplace.json"}


def namesakes(root: Path, missing: Iterable[str]) -> dict[str, str]:
    """Return, for each missing path, the only file in the project with the same name, if there is one."""
    wanted = {path: path.rpartition("/")[2] for path in missing if OF_TOOLS.isdisjoint(path.split("/")[:-1])}
    names, found, seen = {*wanted.values()}, dict[str, list[str]](), 0
    for folder, folders, files in os.walk(root) if wanted else ():
        folders[:] = sorted({*folders} - OF_TOOLS - _FOR_SHOW)
        seen += len(files)
        if seen > _MOST_READ:
            # An unread file may have the same name.
            return {}
        for name in names.intersection(files):
            found.setdefault(name, []).append(os.path.relpath(Path(folder, name), root))
    return {path: found[name][0] for path, name in wanted.items() if len(found.get(name, ())) == 1}


def copied_files(hooks: Sequence[Hook], root: Path, settings: Path, whole: Path) -> dict[str, str]:
    """
    Return the texts of missing scripts and of the files beside them, by the paths that commands name.

    Args:
        root: The folder in which the commands do not find them.
        whole: The folder in which they are looked for.
    """
    commands = " ".join(text for hook in hooks for text in hook.words)
    names = dict.fromkeys(os.path.normpath(found["path"]) for found in _PATH.finditer(commands))
    texts: dict[str, str] = {}
    for name in names:
        # Unlike pathlib, this takes a name that is too long for one of no file.
        if name.startswith("..") or os.path.exists(root / name):  # noqa: PTH110
            continue
        source = _source(name, whole, settings)
        if source is None:
            continue
        for file in _beside(source, whole):
            place = PurePath(name).parent / file.relative_to(source.parent)
            # An installer may keep what is there, so the project's own files stay as they are.
            if not (root / place).exists():
                texts.setdefault(str(place), read_known_text(file))
        for file in _data_above(source, whole):
            place = PurePath(name).parent / file.name
            if not (root / place).exists():
                texts.setdefault(str(place), read_known_text(file))
    return {place: text for place, text in texts.items() if text}


def _source(name: str, root: Path, settings: Path) -> Path | None:
    """Return the file of a name that is copied: with the most similar path, or nearest to the settings."""
    wanted = PurePath(name)
    files = files_named(root, {wanted.name})

    def likeness(file: Path) -> tuple[int, int]:
        pairs = zip(reversed(wanted.parts), reversed(file.parts), strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        common = os.path.commonpath([file, settings])
        return same, len(common)

    # A project may keep equal copies of one script, for several hosts.
    ranked = sorted(files, key=likeness, reverse=True)
    best = [file for file in ranked if likeness(file) == likeness(ranked[0])]
    return best[0] if len({read_known_text(file) for file in best}) == 1 else None


def _beside(source: Path, root: Path) -> Iterator[Path]:
    """Yield a script, and the other files of its folder if they are few: it may load them."""
    folder = source.parent
    others = [file for file in project_files(root) if file.is_relative_to(folder) and file != source]
    yield source
    yield from (file for file in others if len(others) <= _MOST_FILES and is_small(file, _LARGEST))


def _data_above(source: Path, root: Path) -> Iterator[Path]:
    """Yield files of data that a script names, from the folders above its own in the repository."""
    top = next((folder for folder in source.parents if (folder / ".git").exists()), root)
    names = sorted({found["name"] for found in _DATA.finditer(read_known_text(source))} - _OF_PROJECTS)
    for folder in source.parents[1 : _MOST_ABOVE + 1]:
        for file in (folder / name for name in names):
            if file.resolve().is_relative_to(top) and is_small(file, _LARGEST):
                yield file


# For each host, the folder of all plugins, and the folder of one plugin in it.
_FOLDERS = {
    "claude-code": (".claude/plugins/cache", "{marketplace}/{name}/{version}"),
    "gemini-cli": (".gemini/extensions", "{name}"),
}
_MARKETPLACE = ".claude-plugin/marketplace.json"
# The text between two folders of a path, also in code that joins them.
_JOINT = r"[\"']?\s*[,/]\s*[\"']?"
# The plugin is copied for each session.
_MOST_PLUGIN_FILES, _LARGEST_PLUGIN = 400, 1 << 23


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
    return len(files) <= _MOST_PLUGIN_FILES and sum(file.stat().st_size for file in files) <= _LARGEST_PLUGIN


def _value(file: Path, key: str) -> str:
    """Return a text in a file of JSON; empty if there is none."""
    value = read_object(file).get(key)
    return value if isinstance(value, str) else ""
