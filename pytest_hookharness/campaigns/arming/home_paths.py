"""Files below HOME that start a loop, as the scripts of hooks name them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.arming.state_paths import HookScript
from pytest_hookharness.model.checkup import HookSet

# Begins the path of a file below HOME, among those in the project.
HOME = "~/"
_ROOT = r"(?:\$HOME|\$\{HOME(?::-[^}\n]*)?\}|~)"
_FILE = r"[\w./-]*[\w-]+\.(?:json|md|ya?ml|txt|state|flag|local)(?![\w.-])"
_NAMED = re.compile(rf"(?<![\w.])[\"']?{_ROOT}[\"']?/(?P<path>{_FILE})")
# A folder below HOME that a shell script, Python or JavaScript keeps under a name.
_KEPT = re.compile(
    rf"^\s*(?:export\s+|local\s+)?(\w+)=[\"']?{_ROOT}[\"']?/([\w./-]+)[\"']?\s*$", re.MULTILINE
)
_IN_KEPT = re.compile(rf"\$\{{?(?P<name>\w+)\}}?[\"']?/(?P<path>{_FILE})")
_PARTS = r"(?:\s*[/,]\s*[\"'][\w./-]+[\"'])"
_HOME_CALL = r"(?:Path\.home\(\)|(?:os\.)?homedir\(\)|(?:os\.path\.)?expanduser\([\"']~[\"']\))"
_JOINED = re.compile(
    rf"(?:^\s*(?:const\s+|let\s+)?(?P<name>\w+)\s*=\s*)?[^\n]*?{_HOME_CALL}(?P<parts>{_PARTS}+)", re.MULTILINE
)
_FURTHER = re.compile(rf"\b(?P<name>\w+)(?P<parts>{_PARTS}+)")
_TEXT = re.compile(r"[\"']([\w./-]+)[\"']")
_ENDING = re.compile(_FILE)
# What programs and hosts keep there, and what may hold secrets.
_OF_OTHERS = re.compile(
    r"(?:^|/)(?:settings(?:\.local)?|config|credentials?|auth|tokens?|secrets?|package|hooks|plugins?|installed_\w+"
    r"|known_\w+|mcp|history|CLAUDE|AGENTS|GEMINI|README)\.\w+$|(?:^|/)(?:\.ssh|\.aws|\.npm|\.cache|logs?)(?:/|$)",
    re.IGNORECASE,
)
_MOST = 4


def home_files(hook_set: HookSet, script: HookScript) -> list[str]:
    """Return the files below HOME that a script names and that are not lent to it, each as ``~/path``."""
    named = (posixpath.normpath(path) for path in _named(script.text))
    paths = dict.fromkeys(path for path in named if not path.startswith("..") and not _OF_OTHERS.search(path))
    there = hook_set.home
    return [f"{HOME}{path}" for path in paths if there is None or not (there / path).exists()][:_MOST]


def _named(text: str) -> Iterator[str]:
    """Yield paths below HOME, in the order in which each kind of script names them."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "//")))
    yield from (match["path"] for match in _NAMED.finditer(lines))
    kept = dict(_KEPT.findall(lines))
    for match in _IN_KEPT.finditer(lines):
        if match["name"] in kept:
            yield posixpath.join(kept[match["name"]], match["path"])
    folders: dict[str, str] = {}
    for match in _JOINED.finditer(lines):
        path = posixpath.join(*_TEXT.findall(match["parts"]))
        if _ENDING.fullmatch(path):
            yield path
        elif match["name"]:
            folders[match["name"]] = path
    for match in _FURTHER.finditer(lines):
        path = posixpath.join(*_TEXT.findall(match["parts"]))
        if match["name"] in folders and _ENDING.fullmatch(path):
            yield posixpath.join(folders[match["name"]], path)
