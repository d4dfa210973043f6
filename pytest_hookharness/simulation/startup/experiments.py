"""
Experiments that show whether a program of a hook could run: which file, text or module is at fault.

Each conclusion needs three things, and all are ends of real processes. A probe program in the place of the
suspect is executed, so the suspect is a program of the hook. The suspect, or something like it that certainly
does not work, gives the end that was seen. And with an empty program in its place the hook ends otherwise,
so the fault is the cause. What one of them does not show stays unknown, and unknown means that the hook ran.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.execution.startup.programs import GARBAGE, PROBES, Probe, modules, search_paths
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.reads import LookKind
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.simulation.startup.bench import Bench, Trial

_MOST_NAMES = 12
_MOST_FILES = 8
_SHOWN = 60
_LONGEST_MESSAGE = 1 << 14
_NAME = re.compile(r"[\w@./:+-]+")
_NO_NAMES: Mapping[str, str] = {}
_MODULE = re.compile(r"\w+(\.\w+)*")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


def find_failure(bench: Bench, seen: Trial) -> StartFailure | None:
    """
    Return why the program that decided did not run; ``None`` if it ran, or if that is unknown.

    Args:
        bench: Where it is run again.
        seen: How the hook ended.
    """
    files, arguments = bench.decider.files, bench.decider.argv[1:]
    if missing := find_missing(bench, seen.code, seen):
        return missing
    words = [word for word, kind in files.items() if kind == "file" and not word.startswith("-")]
    read = {word: bench.read(bench.path(word)) for word in words}
    programs = [Program(word, text, bench.path(word)) for word, text in read.items() if text is not None]
    programs += (Program(word, word) for word in arguments if files.get(word) == "missing")
    known = [(each, *bench.languages(each.word, inline=each.path is None)) for each in programs]
    executed = [each for each in known if each[1]]
    if unopened := _find_unopened(bench, seen, alone=not executed):
        return unopened
    for program, probes, strict in executed:
        if broken := _find_broken(bench, replace(program, nothing=probes[0].nothing), probes, strict, seen):
            return broken
    for word in arguments:
        if files.get(word) == "missing" and _is_missing_module_name(bench, word, seen):
            return StartFailure(kind="module", name=word)
    options = " ".join(word for word in arguments if word.startswith("-"))
    module = _find_missing_module(bench, Program("", ""), seen, PROBES, within=options)
    return StartFailure(kind="module", name=module) if module else None


def find_missing(bench: Bench, code: int | None, seen: Trial) -> StartFailure | None:
    """
    Return the program that a process could not open, if the hook ends as it does for that reason.

    Args:
        bench: Where that process is run again.
        code: Its exit code.
        seen: How the hook ended.
    """
    for word, kind in bench.decider.files.items():
        if not word or word.startswith("-") or kind not in ("missing", "unreadable"):
            continue
        # A text with spaces is rather a program itself, which may name other ones.
        if " " in word and bench.languages(word, inline=True)[0]:
            continue
        executed, _ = bench.languages(word)
        program = Program(word, "", bench.path(word), executed[0].nothing if executed else "")
        if _is_cause(bench, program, Trial(code, ""), known=bool(executed)) and _decides(
            bench, program, seen
        ):
            return StartFailure(kind="missing" if kind == "missing" else "unreadable", name=word)
    return None


def _is_cause(bench: Bench, program: Program, ended: Trial, *, known: bool) -> bool:
    """Return whether a file that cannot be opened is a program, and a process ends otherwise with it."""
    nothing = bench.write(f"empty{program.place.suffix}", program.nothing)
    (empty,) = bench.run([bench.with_word(program.word, nothing)])
    return empty.differs_from(ended) and (known or is_read_as_program(bench, program.word))


def find_doubt(bench: Bench, seen: Trial) -> str:
    """Return what makes it doubtful that a program ran whose language has no probe; empty if nothing does."""
    for word, kind in bench.decider.files.items():
        if kind == "file" and not bench.is_of_project() and not bench.languages(word)[1]:
            program = Program(word, "", bench.path(word))
            empty, garbage = (_run_copy(bench, program, text) for text in ("", GARBAGE))
            if garbage.ends_like(seen) and not empty.is_same(garbage):
                return f"nonsense in the place of {word} has the same end"
    return ""


def is_read_as_program(bench: Bench, word: str) -> bool:
    """
    Return whether a command reads a missing file as a text with a syntax, in a language without a probe.

    The command must be no program of the project and execute no file beside it, else the file is data.
    """
    others = (each for each, kind in bench.decider.files.items() if kind == "file")
    if bench.is_of_project() or any(bench.languages(each)[0] for each in others):
        return False
    texts = [bench.write(f"text{Path(word).suffix}", text) for text in ("", GARBAGE)]
    empty, garbage = bench.run([bench.with_word(word, path) for path in texts])
    return empty.code == 0 and bool(garbage.code)


def _find_unopened(bench: Bench, seen: Trial, *, alone: bool) -> StartFailure | None:
    """
    Return the program that some process of the hook looked for in vain.

    Args:
        bench: Where the hook is run again.
        seen: How it ended.
        alone: Whether the deciding program was given no program, so that it looks for one by itself, as make
            does. Else only files count that were opened, and whose names are shown; others are optional.
    """
    shown = " ".join((*bench.spec.argv, seen.stderr))
    kinds = (LookKind.OPENED, LookKind.STATUS, LookKind.ACCESS) if alone else (LookKind.OPENED,)
    paths = [path for path in bench.looked_for(*kinds) if alone or path.name in shown][:_MOST_FILES]

    def ends(places: Sequence[Path], text: str) -> Trial:
        with bench.present(dict.fromkeys(places, text)):
            return bench.run_hook()

    # What is no program means the same to the hook with nothing and with nonsense in it.
    if not paths or ends(paths, "").is_same(ends(paths, GARBAGE)):
        return None
    for probe in PROBES:
        if ends(paths, probe.holding()).probed:
            found = [
                path
                for path in reversed(paths)
                if ends([path], probe.holding()).probed and ends([path], probe.nothing).differs_from(seen)
            ]
            names = " or ".join(map(bench.shown, found))
            return StartFailure(kind="missing", name=names) if found else None
    return None


@dataclass(frozen=True, slots=True)
class Program:
    """
    A program that may not have run.

    Attributes:
        word: The argument that names it, or that is its text.
        text: Its text.
        path: Its file; ``None`` for a text on the command line.
        nothing: A program of its language that does nothing.
    """

    word: str
    text: str
    path: Path | None = None
    nothing: str = ""

    @property
    def place(self) -> Path:
        """Its file, or a name for a text on the command line."""
        return self.path or Path("inline")


def _find_broken(
    bench: Bench, program: Program, executed: Sequence[Probe], strict: Sequence[Probe], seen: Trial
) -> StartFailure | None:
    """Return the module that a program lacks, or that it does not compile; ``None`` for neither."""
    # First what is more exact: some languages load modules while they compile.
    if module := _find_missing_module(bench, program, seen, executed):
        named = program.path is not None and module in program.text
        return StartFailure(kind="module", name=module, program=program.word if named else "")
    if _is_unreadable_text(bench, program, executed, strict, seen):
        shown = program.word if len(program.word) <= _SHOWN else f"{program.word[:_SHOWN]}..."
        return StartFailure(kind="syntax", name=shown if program.path else f"`{shown}`")
    return None


def _decides(bench: Bench, program: Program, seen: Trial) -> bool:
    """
    Return whether the whole hook ends otherwise with a program that does nothing in the place of another.

    A program outside of the throw-away folders is never touched; the trials of the deciding program alone
    must do.
    """
    path = program.path
    if path is None:
        argv = [each.replace(program.text, program.nothing) for each in bench.spec.argv]
        return argv != [*bench.spec.argv] and bench.run_hook(argv=argv).differs_from(seen)
    if not bench.may_write(path):
        return True
    before = bench.read(path)
    if not bench.put(path, program.nothing):
        return True
    ended = bench.run_hook()
    if before is None:
        path.unlink()
    else:
        bench.put(path, before)
    return ended.differs_from(seen)


def _is_unreadable_text(
    bench: Bench, program: Program, executed: Sequence[Probe], strict: Sequence[Probe], seen: Trial
) -> bool:
    """Return whether the interpreter cannot read a program to its end."""
    for probe in strict:
        end = _run_copy(bench, program, probe.holding(program.text))
        if end.probed:
            return False
        if end.ends_like(seen):
            return _decides(bench, program, seen)
    by_line = [probe for probe in executed if probe not in strict and not probe.after]
    return _is_unfinished(bench, program, by_line, seen) and _decides(bench, program, seen)


def _is_unfinished(bench: Bench, program: Program, by_line: Sequence[Probe], seen: Trial) -> bool:
    """
    Return whether a program that is executed while it is read lacks its end.

    Then a probe at its end is not executed, and other text there gives another message. Of a program that
    ended before its last line neither is true.
    """
    if not by_line:
        return False
    last = _run_copy(bench, program, f"{program.text}\n{by_line[0].before}")
    if last.probed or not last.ends_like(seen):
        return False
    other, again = (_run_copy(bench, program, f"{program.text}\n{GARBAGE}") for _ in range(2))
    return other.code == seen.code and other.ends_like(again) and not other.ends_like(last)


def _run_copy(bench: Bench, program: Program, text: str, names: Mapping[str, str] = _NO_NAMES) -> Trial:
    """Run a copy with another text, beside the original; return its end in the names of the original."""
    word, place = program.word, program.place
    if program.path is None:
        (end,) = bench.run([bench.with_word(word, text)])
        return end.renamed(names)
    name = f"{place.stem}-{new_name()}{place.suffix}"
    copy = place.with_name(name)
    if bench.may_write(copy) and bench.put(copy, text):
        (end,) = bench.run([bench.with_word(word, word[: len(word) - len(place.name)] + name)])
        copy.unlink()
        return end.renamed({name: place.name, **names})
    path = bench.write(name, text)
    (end,) = bench.run([bench.with_word(word, path)])
    return end.renamed({path: word, **names})


def _find_missing_module(
    bench: Bench, program: Program, seen: Trial, probes: Sequence[Probe], *, within: str | None = None
) -> str:
    """Return the module that a program, or a text, names and that does not exist; empty if there is none."""
    found = (one[0].lstrip(":+-").rstrip("@./:+-") for one in _NAME.finditer(seen.stderr[-_LONGEST_MESSAGE:]))
    names = [name for name in reversed(dict.fromkeys(found)) if len(name) > 1 and name != program.place.name]
    # What the program names itself first: what it loads may load others.
    names.sort(key=lambda name: name not in program.text)
    # A file that a text on the command line names may be looked for first, as by `test -f`.
    names = [name for name in names if program.path or "/" not in name]
    names = [name for name in names if within is None or name in within][:_MOST_NAMES]
    if not names or not _loads(bench, program, names, probes):
        return ""
    for name in names:
        if _loads(bench, program, [name], probes) and _fails_without(bench, program, name, seen):
            return name
    return ""


def _loads(bench: Bench, program: Program, names: Sequence[str], probes: Sequence[Probe]) -> bool:
    """Return whether a program executes one of some modules if they are provided."""
    files: dict[str, str] = {}
    beside: dict[Path, str] = {}
    for name in names:
        lines = "\n".join(line for line in program.text.splitlines() if name in line)
        exports = "".join(f"exports.{each} = 0;\n" for each in dict.fromkeys(_IDENTIFIER.findall(lines)))
        for path, content in modules(name, extension=program.place.suffix, probes=probes, exports=exports):
            if ".." not in path.split("/"):
                files[path] = content
            beside_it = program.path.parent if program.path else Path(bench.decider.folder)
            folders = [beside_it, Path(bench.decider.folder)]
            beside |= {Path(os.path.normpath(folder / path)): content for folder in folders}
    folder = bench.folder(files)
    known = bench.decider.environment
    env = {
        variable: f"{paths}{os.pathsep}{known[variable]}" if known.get(variable) else paths
        for variable, paths in search_paths(folder).items()
    }
    with bench.present(beside):
        return bench.run([bench.decider.argv], env=env)[0].probed


def _fails_without(bench: Bench, program: Program, name: str, seen: Trial) -> bool:
    """Return whether the hook ends as it does because a module does not exist."""
    if name not in program.text:
        # Another program loads it, or an option names it: then an empty one must make the difference.
        return _ends_otherwise_with(bench, name, seen)
    head, stem, end = _split(name)
    other = new_name()
    pattern = rf"(?<![\w@]){re.escape(name)}(?!\w)"
    changed = re.sub(pattern, lambda _: head + other + end, program.text)
    without = _run_copy(bench, program, changed, {other: stem})
    return without.ends_like(seen) and _decides(bench, program, seen)


def _ends_otherwise_with(bench: Bench, name: str, seen: Trial) -> bool:
    """Return whether the whole hook ends otherwise with empty modules of a name in its folder."""
    folder = Path(bench.decider.folder)
    with bench.present({folder / path: "" for path, _ in modules(name)}):
        return bench.run_hook(env=search_paths(str(folder))).differs_from(seen)


def _split(name: str) -> tuple[str, str, str]:
    """Return the parts of a module's name before, in and after its last word."""
    found = re.fullmatch(r"(.*?[/:]|.*\.(?=\w{6,})|)([^/:]*?)(\.\w{1,4}|)", name)
    return (found[1], found[2], found[3]) if found is not None else ("", name, "")


def _is_missing_module_name(bench: Bench, word: str, seen: Trial) -> bool:
    """Return whether an argument names a program that is looked up as a module, and does not exist."""
    if not _MODULE.fullmatch(word) or word not in seen.stderr:
        return False
    folder = bench.folder(dict(modules(word)))
    if not bench.run([bench.decider.argv], folder=folder)[0].probed:
        return False
    other = new_name()
    (without,) = bench.run([bench.with_word(word, other)])
    if not without.renamed({other: word}).ends_like(seen):
        return False
    empty = {Path(bench.decider.folder, path): "" for path, _ in modules(word)}
    with bench.present(empty) as provided:
        return not provided or bench.run_hook().differs_from(seen)


def new_name() -> str:
    """Return a word that nobody uses; without digits, since numbers count as equal."""
    return "zq" + "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))
