"""
Hook scripts: the sources of the hooks of a run, for runs in which nothing was observed.

A script that only a computed name leads to is not found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.testbed.hook_source import launches, read_script
from pytest_hookharness.simulation.testbed.testbed import Testbed

# In a script: the names of others, by their suffix or after a variable, and Python's modules.
_SCRIPT = re.compile(
    rb"(?<![\w.%+-])(?:[\w.%+-]{1,80}/){0,9}[\w.%+-]{1,80}\.(?:sh|bash|py|js|mjs|cjs|pl|rb|awk)\b"
    rb"|(?:\$\w{1,80}|[})])[\"']?/(?:[\w.%+-]{1,80}/){0,9}[\w.%+-]{1,80}"
)
_MODULE = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)")
_COMMENT = re.compile(rb"(?m)^[ \t]*#.*$")
_INTERPRETER = re.compile(
    r"(?<![\w.-])(?:(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|luajit)[\d.]*|[gmn]?awk)(?![\w-])"
)
_BY_SUFFIX = {
    ".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".rb": "ruby",
    ".pl": "perl", ".php": "php", ".lua": "lua", ".awk": "awk",
}  # fmt: skip
_SUFFIXES = frozenset((*_BY_SUFFIX, ".sh", ".bash"))
_DATA = frozenset((".json", ".jsonl", ".md", ".txt", ".log", ".toml", ".yaml", ".yml", ".ini", ".csv"))
_MOST_SCRIPTS = 40


@dataclass(frozen=True, slots=True)
class HookSource:
    """
    A command of a hook, or a script that it leads to.

    Attributes:
        name: The name for people.
        interpreter: The name of what runs it; empty for a shell.
    """

    name: str
    interpreter: str
    text: bytes


def hook_scripts(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Iterator[HookSource]:
    """Yield the commands of hook runs, the scripts that they name, and those that such scripts name."""
    top, seen = testbed.workspace.top, set[Path]()
    for launch, named in launches(testbed, hook_runs):
        for argument in launch.argv:
            yield HookSource("the command of the hook", "", argument.encode("utf-8", "surrogateescape"))
        paths = [*named]
        while paths and len(seen) < _MOST_SCRIPTS:
            path = paths.pop(0)
            if path in seen or path.suffix in _DATA or not (text := read_script(path)):
                continue
            # What a script names may also be its data.
            if path not in named and path.suffix not in _SUFFIXES and not text.startswith(b"#!"):
                continue
            seen.add(path)
            name = str(path.relative_to(top) if path.is_relative_to(top) else path)
            yield HookSource(name, _interpreter_of(path, text, launch), text)
            folders = dict.fromkeys((path.parent, top))
            paths += [Path(os.path.normpath(folder / name)) for name in _names(text) for folder in folders]


def _names(text: bytes) -> Iterator[str]:
    """Yield the names of other scripts in one; the folders that a name begins with may be computed."""
    for found in _SCRIPT.findall(_COMMENT.sub(b"", text)):
        parts = found.decode().split("/")
        yield from dict.fromkeys("/".join(parts[first:]) for first in range(len(parts)))
    for module in _MODULE.findall(text):
        yield f"{module.decode()}.py"


def _interpreter_of(path: Path, text: bytes, launch: ProcessSpec) -> str:
    """Return the interpreter of a script, by its suffix, its first line or what stands before its name."""
    if known := _BY_SUFFIX.get(path.suffix):
        return known
    if text.startswith(b"#!"):
        words = _INTERPRETER.findall(text.partition(b"\n")[0].decode("utf-8", "replace"))
        return words[0] if words else ""
    named = (argument.partition(path.name)[0] for argument in launch.argv if path.name in argument)
    words = [word for before in named for word in _INTERPRETER.findall(before)]
    return words[-1] if words else ""
