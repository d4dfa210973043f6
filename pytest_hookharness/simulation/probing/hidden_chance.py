"""Influences that only the sources of a repetition's scripts show: random numbers, and use of the clock."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from pytest_hookharness.execution.platform.linux_read_calls import is_of_system
from pytest_hookharness.judging.recurrence import clock_use, hidden_chance, run_conditions
from pytest_hookharness.judging.recurrence.hidden_chance import SHELL, Language
from pytest_hookharness.judging.recurrence.inline_code import ANY_CLOCK
from pytest_hookharness.model.reads import LookKind, ProgramReads, Reads, SourceKind
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.testbed.hook_scripts import HookSource
from pytest_hookharness.simulation.testbed.hook_source import DATA_SUFFIXES, inlined, read_small

_WITH_LIBRARY = re.compile(r"/(python|pypy|node|nodejs|ruby)[0-9.]*$")
# A script with one of these may ask for the time itself, and the reader of its language follows that. They
# count in code, and not in its comments and texts.
_NAMES_CLOCK = re.compile(
    rf"{ANY_CLOCK}|\b(?:getLogger|basicConfig|(?:logg|log4|struct)\w+|loguru|winston|pino|uuid[167]|Intl)\b"
)
_LONG = ('"""', "'''")
_QUIET = re.compile(
    r"\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?:(?<=\s)|^)(?:#|//)[^\n]*|/\*[\s\S]*?(?:\*/|\Z)", re.MULTILINE
)  # fmt: skip
# What is compiled has a source, and modules that were installed are no scripts of a hook.
_COMPILED = re.compile(r"__pycache__/([^/]+)\.[^/.]+\.pyc$")
_INSTALLED = re.compile(r"/lib/(python|perl|ruby|node_modules)|/(site-packages|dist-packages|node_modules)/")
# Interpreters whose code may compare a time, and which no reader of sources understands.
_UNKNOWN = re.compile(
    r"/(tclsh|wish|expect|php|lua|luajit|guile|Rscript|R|julia|octave|elixir|erl|escript|ocaml|java|dotnet|pwsh"
    r"|racket|sbcl|emacs|vim|ex)[0-9.]*$"
)
_PROGRAM = re.compile(r"(?<![\w-])[A-Za-z]\w*")
_LARGEST = 1 << 20
# Bytes that are read of a source that was not seen to ask for the time.
_LONGEST = 1 << 15


def find_hidden_chance(
    runs: Iterable[Reads | None], hook_runs: Iterable[HookRun], places: Mapping[str, tuple[str | None, str]]
) -> Iterator[str]:
    """
    Yield where scripts get random numbers, or what else differs in each run, that no call shows, in words.

    Args:
        runs: What each process of the repetition looked at.
        places: For each path that was looked at its state path, and where it really is.
    """
    languages = (*hidden_chance.LANGUAGES, *run_conditions.LANGUAGES)
    for used, where, kind in _find(languages, runs, hook_runs, places):
        yield f"{kind} ({used} in {where})"


def find_clock_use(
    runs: Iterable[Reads | None],
    hook_runs: Iterable[HookRun],
    places: Mapping[str, tuple[str | None, str]],
    shims: str,
) -> Iterator[str]:
    """
    Yield where scripts decide by the time, in words, without those of the harness that show a moved clock.

    ``shims`` is the folder of those scripts. The other arguments are those of `find_hidden_chance`.
    """
    runs = [*runs]
    for program in (program for reads in runs if reads is not None for program in reads.programs):
        if own := _unreadable(program, places):
            yield f"the clock (read by {own}, whose source cannot be checked)"
        elif own := _asks_by_library(program, places):
            yield f"the clock (read by a library of {own})"
    for used, where, _ in _find(clock_use.LANGUAGES, runs, hook_runs, places, f"{shims}/"):
        yield f"the clock (`{used}` in {where})"


_COMMENTS = re.compile(rb"^[ \t]*(?:#|//)[^\n]*", re.MULTILINE)
# Clocks that count from the start of the machine; what they say is comparable from run to run.
_RUNNING = re.compile(
    rb"/proc/uptime\b|\btime\.monotonic(?:_ns)?\b|\bCLOCK_(?:MONOTONIC|BOOTTIME)\w*|\bos\.uptime\b|\bhrtime\b"
)


def find_clock_words(scripts: Iterable[HookSource]) -> Iterator[str]:
    """Yield where scripts decide by the time, in words, for hooks whose reads were not observed."""
    for script in (one for one in scripts if len(one.text) <= _LONGEST):
        in_shell = not script.interpreter
        # A shell script has the code of what it calls.
        called = _PROGRAM.findall(script.text.decode("utf-8", "replace")) if in_shell else ()
        programs = [f"/{name}" for name in {script.interpreter or "sh", *called}]
        for language in clock_use.LANGUAGES:
            if any(language.program.search(program) for program in programs):
                for used, where in _found(language, script.text, script.name, in_shell):
                    yield f"`{used}` in {where}"


def find_running_clocks(scripts: Iterable[HookSource]) -> Iterator[str]:
    """Yield where scripts ask how long the machine runs, in words: no play at another time changes that."""
    for script in scripts:
        text = _COMMENTS.sub(b"", script.text)
        found = _RUNNING.search(text)
        # What asks twice measures how long something takes.
        if found is not None and text.count(found[0]) == 1:
            yield f"`{found[0].decode()}` in {script.name}, which no play moves"


def _unreadable(program: ProgramReads, places: Mapping[str, tuple[str | None, str]]) -> str:
    """
    Return the name of a program that asks for the time and whose source cannot be read.

    It is a program of the project, or an interpreter, whose code may also come from its standard input.
    """
    if not _asks_time(program) or any(_is_of(program, language) for language in clock_use.LANGUAGES):
        return ""
    path = program.script or program.path
    if path == program.path and _UNKNOWN.search(path):
        return path
    name, _ = places.get(path, (None, path))
    return name if name is not None and _INSTALLED.search(path) is None else ""


def _asks_by_library(program: ProgramReads, places: Mapping[str, tuple[str | None, str]]) -> str:
    """Return the name of a script that names no clock although its interpreter asks for the time."""
    scripts = [*_scripts(program)] if _asks_time(program) and _WITH_LIBRARY.search(program.path) else []
    # Code that came from standard input or an argument is not there to be read.
    if not scripts or any(names_clock(read_small(places[path][1], _LARGEST)) for path in scripts):
        return ""
    return places[scripts[0]][0] or scripts[0]


def _asks_time(program: ProgramReads) -> bool:
    return any(one.kind is SourceKind.CLOCK and one.detail == "realtime" for one in program.sources)


def names_clock(script: bytes) -> bool:
    """Return whether the code of a script has a name by which it may get the time."""
    code = _QUIET.sub(_keep_template, script.decode("utf-8", "replace"))
    return _NAMES_CLOCK.search(code) is not None


def _keep_template(found: re.Match[str]) -> str:
    """Return a text that may have code in braces, and nothing for other texts and for comments."""
    return found[0] if found[0][0] in "\"'" and "{" in found[0] and found[0][:3] not in _LONG else " "


def _find(
    languages: Iterable[Language],
    runs: Iterable[Reads | None],
    hook_runs: Iterable[HookRun],
    places: Mapping[str, tuple[str | None, str]],
    left_out: str = "\0",
) -> Iterator[tuple[str, str, str]]:
    """Yield what the scripts of a repetition use, where, and of what kind it is."""
    records = [reads.programs for reads in runs if reads is not None]
    commands = {run.hook.command.encode("utf-8", "surrogateescape") for run in hook_runs}
    for language in languages:
        own = [programs for programs in records if any(_is_of(program, language) for program in programs)]
        # Hook runs often have the same scripts: each is read and searched once.
        scripts = dict.fromkeys(
            (path, _is_shell(program))
            for programs in own
            for program in programs
            if _is_shell(program) or _is_of(program, language)
            for path in _scripts(program)
            if not path.startswith(left_out)
        )
        texts: list[tuple[bytes, str, bool]] = []
        for path, in_shell in scripts:
            name, real = places[path]
            text = read_small(_COMPILED.sub(r"\1.py", real), _LARGEST)
            texts.append((text, _COMPILED.sub(r"\1.py", name or path), in_shell))
        texts += [(command, "the command of the hook", True) for command in commands if own]
        found = [each for text in texts for each in _found(language, *text)]
        if not found and language.together:
            # One script may call what another one defines.
            together = b"\n".join(text for text, _, in_shell in texts if language.whole or not in_shell)
            found = [*_found(language, together, "the scripts of the hook", in_shell=False)]
        yield from ((*each, language.kind) for each in found)


def _is_of(program: ProgramReads, language: Language) -> bool:
    return language.program.search(program.path) is not None


def _is_shell(program: ProgramReads) -> bool:
    return SHELL.search(program.path) is not None


def _found(language: Language, text: bytes, where: str, in_shell: bool) -> Iterator[tuple[str, str]]:
    codes = (text,) if language.whole or not in_shell else inlined(text)
    if used := next(filter(None, (_use(language.find, code) for code in codes)), ""):
        yield used, where


@functools.lru_cache(maxsize=1024)  # simulations read the same scripts again, and a parser takes long
def _use(find: Callable[[bytes], str], code: bytes) -> str:
    return find(code)


def _scripts(program: ProgramReads) -> Collection[str]:
    """Return the files that a program opened and that may be its scripts."""
    opened = (look.path for look in program.looks if look.kind is LookKind.OPENED and look.existed)
    return dict.fromkeys(
        path
        for path in (*opened, *filter(None, (program.script,)))
        if not is_of_system(path)
        and _INSTALLED.search(path) is None
        and (Path(path).suffix not in DATA_SUFFIXES)
    )
