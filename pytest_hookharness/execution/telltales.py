"""
This module is concerned with telltales: what scripts say that trace themselves, and which files say it.

Middle floor: execution. A trace has one place for a whole shell. So a script that loads a file which traces
itself is left alone as well, and that must be known before it begins: bash has no moment at which the trace
could be given back. Patterns are those of bash; what they cannot tell apart counts as a telltale.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from pytest_hookharness.execution.confinement import WorkspaceError, read_bytes

_FLAGS = r"set[[:blank:]]+([-+][a-zA-Z]+[[:blank:]]+([a-z]+[[:blank:]]+)?)*[-+][a-zA-Z]*x"
# What closes descriptors that it does not know, the trace's among them: bash traces to standard error then.
_CLOSES = r"\$[^[:space:]]*[<>]&-|217[<>]&-"
# What a script says that traces itself, or that asks which options are set.
TELLTALES = rf"{_FLAGS}|xtrace|PS4|XTRACEFD|SHELLOPTS|\$-|\$\{{-|{_CLOSES}"
# Where a command begins that loads something, and then its name, or what ends a word that does not name it.
_BEGINS = r"""(^|[[:cntrl:];&|({!"']|then|else|do|if|while|until|command|=[^[:space:]]*)[[:blank:]]*"""
_LOADS = rf"{_BEGINS}(\.|source)[[:blank:]]+[^;|[:cntrl:]]*"
_NAMELESS = r"""(\$[a-zA-Z0-9_@]+|[})]|[*][^[:space:]"/;&|]*)"?([[:space:];&|]|$)"""
_CLASSES = {"[[:blank:]]": r"[ \t]", "[:space:]": r"\s", "[:cntrl:]": r"\x00-\x1f"}

_SUFFIXES = ("", ".sh", ".bash", ".inc", ".env", ".lib", ".rc", ".conf", ".cfg", ".functions")
_ELSEWHERE = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"})
_MOST_NAMES, _MOST_FILES, _MOST = 20_000, 1000, 256 << 10


def find_loadable(folder: Path) -> Mapping[Path, str]:
    """
    The texts below a folder that a shell may load, a thousand at most.
    """
    found: dict[Path, str] = {}
    named = (path for path in islice(_files(folder), _MOST_NAMES) if path.suffix in _SUFFIXES)
    for path in islice(named, _MOST_FILES):
        try:
            data = read_bytes(Path(os.path.realpath(path)), most=_MOST)
        except WorkspaceError:
            continue
        if data is not None and b"\0" not in data:
            found[path] = data.decode("utf-8", "replace")
    return found


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _ELSEWHERE]
        yield from (Path(place, name) for name in names)


def loads_trace(texts: Mapping[Path, str]) -> str:
    """
    A pattern for scripts that load a text which traces itself, or may do so; nothing if none does that.
    """
    tracing = _having(texts, TELLTALES)
    while tracing:
        names = "|".join(re.sub(r"[][\\.*^$+?(){}|]", r"\\\g<0>", name) for name in sorted(tracing))
        pattern = f"{_LOADS}({names}|{_NAMELESS})"
        more = _having(texts, pattern) - tracing
        if not more:
            return pattern
        tracing |= more
    return ""


def _having(texts: Mapping[Path, str], pattern: str) -> set[str]:
    for known, same in _CLASSES.items():
        pattern = pattern.replace(known, same)
    wanted = re.compile(pattern, re.MULTILINE)
    return {path.name for path, text in texts.items() if wanted.search(text)}
