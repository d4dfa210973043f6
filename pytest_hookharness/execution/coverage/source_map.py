"""
The source map: which files of the project stand behind the scripts that hooks run.

Hooks run copies. A line of a copy is a line of the original only as long as both hold the same text.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.execution.paths import WorkspaceError, read_bytes
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.line_coverage import Gap
from pytest_hookharness.model.processes import ProcessSpec

_MAX_SIZE = 4 << 20
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SUFFIXES = (".sh", ".bash", ".py")
_BASH = re.compile(rb"#!.*\bbash\b")
_PYTHON = re.compile(rb"#!.*\bpython")
_SHELL = re.compile(rb"#!.*\b(sh|dash|ash|ksh|mksh|zsh)\b")
INLINE = "a scenario writes it itself (`files`) or it was changed meanwhile, so its lines are in no file"
GONE = "it no longer exists"
OWN_TRACE = (
    "it, or a file that it may load, sets or reads options such as xtrace, or closes all descriptors, so the "
    "trace is left to it"
)
CLEARED = "line {line} starts a process with a cleared environment, which is not recorded"
TAKEN = "line {line} of {script} began a trace, which the recorder took from standard error; run it without"
_SILENT = {
    "bash": "bash reported nothing of it: started as sh, with -p, or with a cleared environment (env -i)",
    "python": "Python reported nothing of it: started with -I, -E or -S or with a cleared environment "
    "(env -i), killed, or older than 3.10",
    "shell": "it is run by another shell than bash, which writes a trace to standard error only",
    "other": "it is written neither for bash nor for Python",
}


@dataclass(frozen=True, slots=True)
class SourceMap:
    """
    Finds the file behind a script.

    Attributes:
        copies: Folders that hooks see, and the folders that these are copies of.
        base: The folder of the workspace; what lies in it and is not a copy belongs to no project.
        own: Folders of the harness, whose scripts are not the hooks'.
    """

    copies: Mapping[Path, Path]
    base: Path
    own: tuple[Path, ...]

    def find(self, script: str) -> str | Gap | None:
        """Return the project's file; a gap where there is none, and ``None`` for a script of the harness."""
        path = Path(script)
        if any(path.is_relative_to(folder) for folder in self.own):
            return None
        for copy, source in self.copies.items():
            original = source / path.relative_to(copy) if path.is_relative_to(copy) else path
            if original != path:
                text = _text(original)
                # Compared at the end of the run: a hook may have changed its own copy.
                same = text is not None and text == _text(path)
                return os.path.realpath(original) if same else Gap(str(path.relative_to(copy)), INLINE)
        if path.is_relative_to(self.base):
            return Gap(str(path.relative_to(self.base)), INLINE)
        return os.path.realpath(path) if _text(path) is not None else Gap(script, GONE)


def _text(path: Path) -> bytes | None:
    try:
        return read_bytes(Path(os.path.realpath(path)), most=_MAX_SIZE)
    except WorkspaceError:
        return None


def called_scripts(spec: ProcessSpec) -> Iterator[str]:
    """Yield the scripts that a command line names."""
    for word in _words(spec.argv):
        filled = _VARIABLE.sub(lambda found: spec.env.get(found[1] or found[2], ""), word)
        path = os.path.normpath(os.path.join(spec.cwd, filled))
        text = _text(Path(path)) if "/" in filled and "\0" not in filled else None
        if text is not None and (text.startswith(b"#!") or path.endswith(_SUFFIXES)):
            yield path


def _words(argv: Sequence[str]) -> Iterator[str]:
    for word in argv:
        try:
            yield from shlex.split(word)
        except ValueError:
            yield word


def why_silent(script: str) -> str:
    """Explain why nothing was recorded of a script that ran."""
    first = (_text(Path(script)) or b"").split(b"\n", 1)[0]
    if _BASH.match(first) or (not first.startswith(b"#!") and script.endswith((".sh", ".bash"))):
        return _SILENT["bash"]
    if _PYTHON.match(first) or script.endswith(".py"):
        return _SILENT["python"]
    return _SILENT["shell" if _SHELL.match(first) else "other"]
