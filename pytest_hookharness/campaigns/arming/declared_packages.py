"""
Packages that a project declares, so that its users have them; on this machine they may not be installed.

A hook that does not find one of them could not be tried. One that loads a package which is declared nowhere
fails at its users too.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_hookharness.campaigns.arming.project_texts import files_named, read_known_text

# The messages of Node and Python about a package; a path is a file of the project itself.
_MISSING = re.compile(
    r"Cannot find (?:module|package) '((?:@[\w.-]+/)?[\w-][\w.-]*)[^']*'|No module named '(\w+)[\w.]*'"
)
_OF_NODE = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_FILES = frozenset(["package.json", "pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.py"])
# A name in a list of requirements, quoted or at the beginning of a line.
_REQUIRED = re.compile(r"(?:^|[\"'])([A-Za-z][\w.-]*)(?:\[[\w,-]+\])?[ ]*(?:[<>=~!;\"']|$)", re.MULTILINE)
# Modules of packages with other names.
_NAMES = {"yaml": "pyyaml", "dotenv": "python-dotenv", "git": "gitpython", "bs4": "beautifulsoup4"}
_MOST = 40


def missing_package(said: str, root: Path) -> str:
    """Return the declared package that a hook did not find, as its output says; empty for none."""
    found = {one or other: bool(one) for one, other in _MISSING.findall(said)}
    declared = _declared_in(root) if found else frozenset[str]()
    return next((name for name, of_node in found.items() if _is_among(name, declared, of_node)), "")


@functools.lru_cache(maxsize=64)
def _declared_in(root: Path) -> frozenset[str]:
    # Each run of a hook may ask, and a check does not change the manifests.
    return frozenset(_declared(root))


def _is_among(name: str, declared: Collection[str], of_node: bool) -> bool:
    if of_node:
        return name in declared
    plain = name.casefold().replace("_", "-")
    return any(one in declared for one in (plain, f"python-{plain}", _NAMES.get(name, plain)))


def _declared(root: Path) -> Iterator[str]:
    """Yield the packages that the manifests in a project, and in the folders around a part of it, name."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    above = [folder / name for folder in root.parents if folder.is_relative_to(top) for name in _FILES]
    for file in (*files_named(root, _FILES)[:_MOST], *above):
        text = read_known_text(file) if file.is_file() else ""
        if file.name == "package.json":
            yield from _of_node(text)
        elif text:
            yield from (name.casefold().replace("_", "-") for name in _REQUIRED.findall(text))


def _of_node(text: str) -> Iterator[str]:
    try:
        content = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    for key in _OF_NODE:
        names = content.get(key) if isinstance(content, dict) else None
        yield from names if isinstance(names, dict) else ()
