"""
Programs of a hook that may not have run, trials with other texts in their place, and what they ask for.

What a hook asks for and does not exist is found by providing it: modules that its program loads, and
commands. A command that a hook calls is distinguished from a hook that does not exist itself.
"""

from __future__ import annotations

import copy
import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pytest_hookharness.execution.startup.programs import ProbeProgram, modules, search_paths
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.reads import LookKind
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.simulation.startup.trial_runs import Trial, TrialRuns

_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class InnerProgram:
    """
    A program that may not have run: a file, or (without a path) a text on the command line.

    ``word`` is the argument that names it or is its text; ``nothing`` a program of its language that does
    nothing.
    """

    word: str
    text: str
    path: Path | None = None
    nothing: str = ""

    @property
    def place(self) -> Path:
        """Its file, or a name for a text on the command line."""
        return self.path or Path("inline")


def given(trials: TrialRuns, argv: Sequence[str]) -> TrialRuns:
    """Return a trials for the same program with other arguments."""
    other = copy.copy(trials)
    other.decider = replace(trials.decider, argv=tuple(argv))
    return other


def run_copy(
    trials: TrialRuns, program: InnerProgram, text: str, names: Mapping[str, str] = _NO_NAMES
) -> Trial:
    """Run a copy with another text, beside the original; return its end in the names of the original."""
    word, place = program.word, program.place
    if program.path is None:
        (end,) = trials.run([trials.with_word(word, text)])
        return end.renamed(names)
    name = f"{place.stem[:50]}-{new_name()}{place.suffix[:50]}"
    copy = place.with_name(name)
    if trials.may_write(copy) and trials.put(copy, text):
        (end,) = trials.run([trials.with_word(word, word[: len(word) - len(place.name)] + name)])
        copy.unlink()
        return end.renamed({name: place.name, **names})
    path = trials.write(name, text)
    (end,) = trials.run([trials.with_word(word, path)])
    return end.renamed({path: word, **names})


def decides(trials: TrialRuns, program: InnerProgram, seen: Trial) -> bool:
    """
    Return whether the whole hook ends differently with a program that does nothing in the place of another.

    A program outside of the throw-away folders is never touched; the trials of the deciding program alone
    must do.
    """
    path = program.path
    if path is None:
        argv = [each.replace(program.text, program.nothing) for each in trials.spec.argv]
        return argv != [*trials.spec.argv] and trials.run_hook(argv=argv).differs_from(seen)
    if not trials.may_write(path):
        return True
    before = trials.read(path)
    if not trials.put(path, program.nothing):
        return True
    ended = trials.run_hook()
    if before is None:
        path.unlink()
    else:
        trials.put(path, before)
    return ended.differs_from(seen)


def new_name() -> str:
    """Return a word that nobody uses; without digits, since numbers count as equal."""
    return "zq" + "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))


_MOST_NAMES = 12
_MOST_FILES = 8
_LONGEST_MESSAGE = 1 << 14
_NAME = re.compile(r"[\w@./:+-]+")
_MODULE = re.compile(r"\w+(\.\w+)*")
_QUOTED = re.compile(r"['\"`]([^'\"`\s]+)['\"`]")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


def find_missing_module(
    trials: TrialRuns,
    program: InnerProgram,
    seen: Trial,
    probes: Sequence[ProbeProgram],
    *,
    within: str | None = None,
) -> str:
    """Return the module that a program, or a text, names and that does not exist; empty if there is none."""
    found = (one[0].lstrip(":+-").rstrip("@./:+-") for one in _NAME.finditer(seen.stderr[-_LONGEST_MESSAGE:]))
    names = [name for name in reversed(dict.fromkeys(found)) if len(name) > 1]
    # A message may show the whole path of what a program names from its folder.
    if program.path:
        names = [name.removeprefix(f"{program.path.parent}/") for name in names]
    names = [name for name in names if name != program.place.name]
    # What the program names itself first: what it loads may load others. Then modules before their packages,
    # and what the message quotes before the words of a stack.
    packages = {name.rpartition(".")[0] for name in names}
    quoted = {*_QUOTED.findall(seen.stderr[-_LONGEST_MESSAGE:])}
    names.sort(key=lambda name: (name not in program.text, name in packages, name not in quoted))
    # A file that a text on the command line names may be looked for first, as by `test -f`.
    names = [name for name in names if program.path or "/" not in name]
    # No file has a longer name.
    names = [name for name in names if len(name) < 200 and (within is None or name in within)][:_MOST_NAMES]
    if not names or not _loads(trials, program, names, probes):
        return ""
    for name in names:
        if _loads(trials, program, [name], probes) and _fails_without(trials, program, name, seen):
            return name
    return ""


def _loads(
    trials: TrialRuns, program: InnerProgram, names: Sequence[str], probes: Sequence[ProbeProgram]
) -> bool:
    """Return whether a program executes one of some modules if they are provided."""
    files: dict[str, str] = {}
    beside: dict[Path, str] = {}
    folders = _folders_of(trials, program)
    for name in names:
        lines = "\n".join(line for line in program.text.splitlines() if name in line)
        exports = "".join(f"exports.{each} = 0;\n" for each in dict.fromkeys(_IDENTIFIER.findall(lines)))
        for path, content in modules(name, extension=program.place.suffix, probes=probes, exports=exports):
            if ".." not in path.split("/"):
                files[path] = content
            beside |= {Path(os.path.normpath(folder / path)): content for folder in folders}
    folder = trials.folder(files)
    known = trials.decider.environment
    env = {
        variable: f"{paths}{os.pathsep}{known[variable]}" if known.get(variable) else paths
        for variable, paths in search_paths(folder).items()
    }
    with trials.present(beside):
        return trials.run([trials.decider.argv], env=env)[0].probed


def _fails_without(trials: TrialRuns, program: InnerProgram, name: str, seen: Trial) -> bool:
    """Return whether the hook ends as it does because a module does not exist."""
    if name not in program.text:
        # Another program loads it, or an option names it: then an empty one must make the difference.
        folders = _folders_of(trials, program)
        return _ends_differently_with(trials, folders, name, seen) or _inner_fails_without(trials, name, seen)
    other, stem, changed = _with_other_name(program.text, name)
    without = run_copy(trials, program, changed, {other: stem})
    return without.ends_like(seen) and decides(trials, program, seen)


def _with_other_name(text: str, name: str) -> tuple[str, str, str]:
    """Return a name that nobody uses, what it stands for, and a program that names it instead of a module."""
    head, stem, end = _split(name)
    other = new_name()
    pattern = rf"(?<![\w@]){re.escape(name)}(?!\w)"
    return other, stem, re.sub(pattern, lambda _: head + other + end, text)


def _inner_fails_without(trials: TrialRuns, name: str, seen: Trial) -> bool:
    """Return whether a program of the project that the hook opens makes it end so without a module."""
    opened = ((path, trials.read(path)) for path in trials.looked_for(LookKind.OPENED, existing=True))
    naming = ((path, text) for path, text in opened if text is not None and name in text)
    for path, text in islice(naming, _MOST_FILES):
        other, stem, changed = _with_other_name(text, name)
        if not trials.put(path, changed):
            continue
        (without,) = trials.run([trials.decider.argv])
        trials.put(path, text)
        if without.renamed({other: stem}).ends_like(seen) and decides(
            trials, InnerProgram("", text, path), seen
        ):
            return True
    return False


def _ends_differently_with(trials: TrialRuns, folders: Sequence[Path], name: str, seen: Trial) -> bool:
    """Return whether the whole hook ends differently with empty modules of a name in some folders."""
    with trials.present({folder / path: "" for folder in folders for path, _ in modules(name)}):
        return trials.run_hook(env=search_paths(trials.decider.folder)).differs_from(seen)


def _folders_of(trials: TrialRuns, program: InnerProgram) -> list[Path]:
    """Return the folders where a program may look for modules: those above it, and that where it runs."""
    above = trials.folders_above(program.path) if program.path else []
    return [*above, Path(trials.decider.folder)]


def _split(name: str) -> tuple[str, str, str]:
    """Return the parts of a module's name before, in and after its last word."""
    found = re.fullmatch(r"(.*?[/:]|.*\.(?=\w{6,})|)([^/:]*?)(\.\w{1,4}|)", name)
    return (found[1], found[2], found[3]) if found is not None else ("", name, "")


def is_missing_module_name(trials: TrialRuns, word: str, seen: Trial) -> bool:
    """Return whether an argument names a program that is looked up as a module, and does not exist."""
    if not _MODULE.fullmatch(word) or word not in seen.stderr:
        return False
    folder = trials.folder(dict(modules(word)))
    if not trials.run([trials.decider.argv], folder=folder)[0].probed:
        return False
    other = new_name()
    (without,) = trials.run([trials.with_word(word, other)])
    if not without.renamed({other: word}).ends_like(seen):
        return False
    empty = {Path(trials.decider.folder, path): "" for path, _ in modules(word)}
    with trials.present(empty) as provided:
        return not provided or trials.run_hook().differs_from(seen)


_MOST_TOOLS = 40
_TOOL = re.compile(r"\w[\w.+-]*\w")
_CALLED = "called"
# A test double notes its name, beside its own folder.
_STAND_IN = '#!/bin/sh\nprintf "%s\\n" "${0##*/}" >>"${0%/*}/../called"\nexit 77\n'


def find_missing_tool(trials: TrialRuns, hook: Hook, seen: Trial) -> StartFailure | None:
    """
    Return the command that a hook called and that was not found; ``None`` if its own command line names it.

    The interpreter that its first line names is not such a command: without it the hook did not run.

    Stand-ins for all words of its message that are no commands come last on the search path. The one that
    is called first is what was missing.
    """
    path = trials.spec.env.get("PATH", os.defpath)
    names = [name for name in dict.fromkeys(_TOOL.findall(seen.stderr)) if not shutil.which(name, path=path)]
    folder = trials.folder({f"bin/{name}": _STAND_IN for name in names[:_MOST_TOOLS]})
    trials.run_hook(env={"PATH": f"{path}{os.pathsep}{folder}/bin"})
    called = trials.read(Path(folder, _CALLED)) or ""
    tool = called.partition("\n")[0]
    if not tool or re.search(rf"(?<![\w./-]){re.escape(tool)}(?![\w./-])", hook.command):
        return None
    return StartFailure(kind="missing" if _is_interpreter(trials, tool) else "tool", name=tool)


def _is_interpreter(trials: TrialRuns, tool: str) -> bool:
    """Return whether a command was called only because the first line of a program names it."""
    argv, files = trials.decider.argv, trials.decider.files
    programs = (trials.read(trials.path(word)) or "" for word in argv[1:] if files.get(word) == "file")
    first_lines = [program.partition("\n")[0] for program in programs]
    return tool in argv and any(line.startswith("#!") and tool in line.split() for line in first_lines)
