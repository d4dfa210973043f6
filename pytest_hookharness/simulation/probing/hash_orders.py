"""Which scripts of a repetition may show the order of a set, or a hash, which differ in each process."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from pytest_hookharness.execution import platform
from pytest_hookharness.judging.recurrence.hash_order import perl_shows_order, python_shows_order
from pytest_hookharness.model.reads import LookKind, ProgramReads, Reads
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.testbed.hook_source import inlined

_LANGUAGES = (
    (re.compile(r"/(python|pypy)[0-9.]*$"), python_shows_order),
    (re.compile(r"/perl[0-9.]*$"), perl_shows_order),
)
_SHELL = re.compile(r"/(sh|dash|bash|ash|zsh|ksh|mksh|yash)$")
# What is compiled has a source, and modules that were installed are no scripts of a hook.
_COMPILED = re.compile(r"__pycache__/([^/]+)\.[^/.]+\.pyc$")
_INSTALLED = re.compile(r"/lib/(python|perl)|/(site|dist)-packages/")
_SCRIPTS = frozenset(("", ".py", ".pl", ".pm", ".sh", ".bash", ".zsh"))
_LARGEST = 1 << 20


def find_hash_orders(
    runs: Iterable[Reads | None],
    hook_runs: Iterable[HookRun],
    places: Mapping[str, tuple[str | None, str]],
) -> Iterator[str]:
    """
    Yield where an order or a hash may be shown, in words.

    Args:
        runs: What each process of the repetition looked at.
        hook_runs: The hook runs among them.
        places: For each path that was looked at its state path, and where it really is.
    """
    records = [reads for reads in runs if reads is not None]
    commands = {run.hook.command for run in hook_runs}
    for language, shows in _LANGUAGES:
        for programs in (reads.programs for reads in records):
            if not any(language.search(program.path) for program in programs):
                continue
            for program in programs:
                shell = _SHELL.search(program.path) is not None
                if not shell and language.search(program.path) is None:
                    continue
                for path in _scripts(program):
                    name, real = places[path]
                    text = _read(_COMPILED.sub(r"\1.py", real))
                    if any(map(shows, inlined(text) if shell else (text,))):
                        yield _describe(_COMPILED.sub(r"\1.py", name or path))
            for command in commands:
                if any(map(shows, inlined(command.encode("utf-8", "surrogateescape")))):
                    yield _describe("the command of the hook")


def _describe(where: str) -> str:
    return f"random numbers (the order of a set or a hash in {where})"


def _scripts(program: ProgramReads) -> Collection[str]:
    """Return the files that a program opened and that may be its scripts."""
    of_system = platform.read_calls().is_of_system
    opened = (look.path for look in program.looks if look.kind is LookKind.OPENED and look.existed)
    return dict.fromkeys(
        path
        for path in (*opened, *filter(None, (program.script,)))
        if not of_system(path)
        and _INSTALLED.search(path) is None
        and (Path(path).suffix in _SCRIPTS or _COMPILED.search(path))
    )


def _read(path: str) -> bytes:
    try:
        # Not a pipe or a device, which could block.
        if not Path(path).is_file() or Path(path).stat().st_size > _LARGEST:
            return b""
        return Path(path).read_bytes()
    except OSError:
        return b""
