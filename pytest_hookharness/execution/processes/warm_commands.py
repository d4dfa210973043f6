"""Which hook commands plainly run a Python script, so that their runs can be forked."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_hookharness.execution.paths import lies_in
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import ProcessSpec, Stdio

_SHELLS = {"sh", "bash", "dash"}
# One command of plain words: variables and quotes, but nothing that a shell evaluates anew in each run.
_PLAIN = re.compile(r"(?:[\w./:@,+=%{} \"'-]|\$(?=\w|\{\w+\})|~(?=/))+")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_PYTHON = re.compile(r"python3?(\.\d+)?")
_SHEBANG = re.compile(rb"#! ?(?:/usr/bin/env )?([\w./-]+)\s*\n")
# Words of a script that looks at processes, of which the interpreter that waits is one.
_PROCESSES = re.compile(rb"\b(?:ps|pgrep|pidof|pkill|killall|psutil)\b|/proc\b")
_ELF = b"\x7fELF"
_IMPORTED = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+\.*(\w+)")
# The modules beside a script are read before each run.
_MOST_MODULES, _LARGEST = 40, 1 << 18
# With these, an interpreter finds other modules or never reads ours.
_OTHERWISE = ("PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "BASH_ENV", "ENV", "LD_PRELOAD")


@dataclass(frozen=True, slots=True)
class WarmCommand:
    """
    A hook command that plainly runs a Python script.

    Attributes:
        interpreter: The program, and what shows that it is still the same.
        digest: That of the command, the interpreter, the script and the modules beside it that it imports;
            the same in each workspace.
    """

    interpreter: str
    digest: str


def find_warm(spec: ProcessSpec, visible: Sequence[str], writable: Sequence[str]) -> WarmCommand | None:
    """
    Return what a run can be forked from; ``None`` if the hook has to be started as usual.

    Args:
        visible: The folders whose files hooks see at the same paths as this process.
        writable: The folders of the session, which hooks may change.
    """
    words = _words(spec)
    if not words or not system.FORK_WAITS_FOR_PROGRAM:
        return None
    if spec.terminal is not None or Stdio.TTY in (spec.stdio, spec.stdin.stdio):
        return None
    if any(name in _OTHERWISE or name.startswith("BASH_FUNC_") for name in spec.env):
        return None
    try:
        return _find(spec, words, visible, writable)
    except (OSError, ValueError):
        return None


def _find(
    spec: ProcessSpec, words: Sequence[str], visible: Sequence[str], writable: Sequence[str]
) -> WarmCommand | None:
    program, *rest = words
    is_python = bool(_PYTHON.fullmatch(os.path.basename(program)))
    if is_python:
        if not rest or rest[0].startswith("-"):
            return None
        script = os.path.join(spec.cwd, rest[0])
    else:
        script = os.path.join(spec.cwd, program)
        if "/" not in program or not os.access(script, os.X_OK):
            return None
    if not lies_in(os.path.realpath(script), visible):
        return None
    with open(script, "rb") as file:
        text = file.read()
    if _PROCESSES.search(text):
        return None
    if not is_python:
        named = _SHEBANG.match(text)
        program = os.fsdecode(named[1]) if named is not None else ""
        if not _PYTHON.fullmatch(os.path.basename(program)):
            return None
    path = _look_up(program, spec)
    # A session may change the packages of an interpreter in its folders.
    interpreter = "" if lies_in(path, writable) else _identify(path)
    if not interpreter:
        return None
    digest = hashlib.sha256(repr((spec.argv, interpreter)).encode())
    for part in (text, *_modules(Path(script).parent, text)):
        digest.update(b"\0" + part)
    return WarmCommand(interpreter, digest.hexdigest())


def _modules(folder: Path, script: bytes) -> Iterator[bytes]:
    """Yield the texts of the modules beside a script that it, or one of them, imports by name."""
    left, known = _IMPORTED.findall(script), set[bytes]()
    while left and len(known) < _MOST_MODULES:
        name = left.pop()
        if name in known:
            continue
        known.add(name)
        for path in (folder / f"{os.fsdecode(name)}.py", folder / os.fsdecode(name) / "__init__.py"):
            if path.is_file() and path.stat().st_size <= _LARGEST:
                left += _IMPORTED.findall(text := path.read_bytes())
                yield text


def _words(spec: ProcessSpec) -> list[str]:
    """Return the words of a command, those after a shell too; none if it is no plain command."""
    shell, *rest = spec.argv
    if os.path.basename(shell) not in _SHELLS:
        return [*spec.argv]
    if len(rest) != 2 or rest[0] != "-c" or not _PLAIN.fullmatch(rest[1]):
        return []
    try:
        words = shlex.split(rest[1])
    except ValueError:
        return []
    filled = [_VARIABLE.sub(lambda found: spec.env.get(found[1] or found[2], ""), word) for word in words]
    return [spec.env.get("HOME", "~") + word[1:] if word.startswith("~/") else word for word in filled]


def _look_up(program: str, spec: ProcessSpec) -> str:
    """Return the path of a program as the system finds it."""
    if "/" in program:
        return os.path.join(spec.cwd, program)
    for folder in spec.env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(spec.cwd, folder or ".", program)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(program)


def _identify(path: str) -> str:
    """Return an interpreter's path and what changes with it; empty if it is no plain program of that name."""
    real = os.path.realpath(path)
    with open(real, "rb") as file:
        if file.read(len(_ELF)) != _ELF or not re.fullmatch(r"python3(\.\d+)?", os.path.basename(real)):
            return ""
    status = os.stat(real)
    return f"{path} {real} {status.st_ino} {status.st_mtime_ns}"
