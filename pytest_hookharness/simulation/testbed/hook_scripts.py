"""
Hook scripts: the sources of the hooks of a run where nothing was observed, and whether they draw chance.

A script that only a computed name leads to is not found.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from pytest_hookharness.hosts import Power
from pytest_hookharness.judging.recurrence.drawn_numbers import find_draws
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.trace import HookRun, Trace
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.testbed import Testbed

_NAME = rb"(?:[\w.%+-]{1,80}/){0,9}[\w.%+-]{1,80}"
_BEGIN = rb"(?:\$\w{1,80}|\$?\{[^{}\n]{1,80}\}|\$\([^()\n]{1,80}\))[\"']?/"
_NAMED = _NAME + rb"\.(?:sh|bash|py|js|mjs|cjs|pl|rb|awk)\b|" + _BEGIN + _NAME
# In a shell script: what stands where a command is called, or after a program that runs scripts.
_CALLED = re.compile(
    rb"(?m)(?:^|[;&|(`!]|(?:^|(?<=[\s;&|(]))(?:then|do|else|exec|source|\.|(?:ba|da|z|k)?sh|python[\d.]*|node|perl|ruby"
    rb"|env|nohup|if|while)[ \t]+)[ \t]*(?:-u[ \t]+)?[\"']?(" + _NAMED + rb")"
)
# In another script: a text that is nothing but such a name.
_TEXT = re.compile(rb"[\"'](" + _NAMED + rb")[\"']")
_MODULE = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)")
_INTERPRETER = re.compile(
    r"(?<![\w.-])(?:(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|luajit)[\d.]*|[gmn]?awk)(?![\w-])"
)
_BY_SUFFIX = {
    ".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".rb": "ruby",
    ".pl": "perl", ".php": "php", ".lua": "lua", ".awk": "awk",
}  # fmt: skip
_SUFFIXES = frozenset((*_BY_SUFFIX, ".sh", ".bash"))
_OF_SYSTEM = frozenset(("/", "/bin", "/usr/bin", "/usr/local/bin"))
_MOST_LOOKED_UP = 400
_LONGEST, _MOST_BLOCKS = 1 << 15, 400
_BLANK = re.compile(rb"\s{300}")


@dataclass(frozen=True, slots=True)
class HookSource:
    """A command of a hook, or a script that it leads to, and the name of what runs it; empty for a shell."""

    name: str
    interpreter: str
    text: bytes


def hook_scripts(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Iterator[HookSource]:
    """Yield the commands of hook runs, the scripts that they name, and those that such scripts name."""
    top, seen = os.path.realpath(testbed.workspace.top), set[str]()
    for launch, named in hook_source.launches(testbed, hook_runs):
        for argument in launch.argv:
            yield HookSource("the command of the hook", "", argument.encode("utf-8", "surrogateescape"))
        given = {place: hook_source.read_script(Path(place)) for place in map(os.path.realpath, named)}
        # A hook that is tried beside a project has its scripts beside it.
        beside = {str(Path(place).parent) for place, text in given.items() if text}
        roots = {top, *(beside - _OF_SYSTEM)}
        places = deque(given)
        while places and len(seen) < _MOST_LOOKED_UP:
            place = places.popleft()
            path, inside = Path(place), place.startswith(f"{top}/")
            # A script that only another one names is followed in these folders alone.
            known = place in given or any(place.startswith(f"{root}/") for root in roots)
            if place in seen or path.suffix in hook_source.DATA_SUFFIXES or not known:
                continue
            seen.add(place)
            text = given[place] if place in given else hook_source.read_script(path)
            # A file that a script names may also be its data.
            is_script = place in given or path.suffix in _SUFFIXES or text.startswith(b"#!")
            if not is_script or not _is_readable(text):
                continue
            interpreter = _interpreter_of(path, text, launch)
            yield HookSource(os.path.relpath(place, top) if inside else place, interpreter, text)
            folders = dict.fromkeys((path.parent, Path(top)))
            names = islice(_names(text, interpreter), _MOST_LOOKED_UP)
            places += [os.path.realpath(folder / name) for name in names for folder in folders]


def _is_readable(text: bytes) -> bool:
    """Return whether a person may have written a text; the readers of sources take long on others."""
    return 0 < len(text) <= _LONGEST and text.count(b"{") <= _MOST_BLOCKS and _BLANK.search(text) is None


def _names(text: bytes, interpreter: str) -> Iterator[str]:
    """Yield the names of other scripts in one; the folders that a name begins with may be computed."""
    for found in (_TEXT if interpreter else _CALLED).findall(hook_source.COMMENT.sub(b"", text)):
        parts = found.decode().split("/")
        # Only of a name that begins with a variable it is not known in which folder it lies.
        ends = range(len(parts)) if b"$" in found or b"{" in found else range(1)
        yield from dict.fromkeys("/".join(parts[first:]).strip("\"'") for first in ends)
    for module in _MODULE.findall(text) if interpreter.startswith(("python", "pypy")) else ():
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


_MOST_SHOWN = 2


def describe_chance(testbed: Testbed, trace: Trace) -> str:
    """Return how the hooks that could refuse draw random numbers, in words; empty if no source shows that."""
    events = testbed.profile.events
    refusing = [
        run
        for _, run in trace.hook_runs()
        if (rule := events.get(run.hook.event)) is not None
        and (rule.power is not Power.NOTHING or rule.context_continues)
    ]
    # A test double of `shuf` draws nothing.
    doubles = testbed.scenario.commands
    found = [
        f"{word} in {script.name}"
        for script in hook_scripts(testbed, refusing)
        for word in _draws(script.text, script.interpreter)
        if word not in doubles
    ]
    return ", ".join([*dict.fromkeys(found)][:_MOST_SHOWN])


def _draws(text: bytes, interpreter: str) -> Iterator[str]:
    yield from find_draws(text, interpreter)
    if not interpreter:
        for other, code in hook_source.inlined_code(text):
            yield from find_draws(code, other)
