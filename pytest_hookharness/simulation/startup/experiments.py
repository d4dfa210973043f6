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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.execution.startup.programs import GARBAGE, Probe, modules, search_paths
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.simulation.startup.bench import Bench, Trial

_MOST_NAMES = 12
_NAME = re.compile(r"[\w@./][\w@./:+-]*\w")
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
    files = bench.decider.files
    words = [word for word in files if word and not word.startswith("-")]
    for word in words:
        if files.get(word) in ("missing", "unreadable") and _is_cause(bench, word, seen):
            return StartFailure(kind="missing" if files[word] == "missing" else "unreadable", name=word)
    for word in words:
        if files.get(word) == "file" and (text := bench.read(bench.path(word))) is not None:
            executed, strict = bench.languages(word)
            if not executed:
                continue
            # First what is more exact: some languages load modules while they compile.
            module = _find_missing_module(bench, word, text, seen)
            if module:
                return StartFailure(kind="module", name=module, program=word)
            if _is_unreadable_text(bench, word, text, strict, seen):
                return StartFailure(kind="syntax", name=word)
    for word in words:
        if files.get(word) == "missing" and _is_missing_module_name(bench, word, seen):
            return StartFailure(kind="module", name=word)
    return None


def _is_cause(bench: Bench, word: str, seen: Trial) -> bool:
    """Return whether a file that cannot be opened is a program, and the hook ends as it does without it."""
    (empty,) = bench.run([bench.with_word(word, bench.write(f"empty{Path(word).suffix}", ""))])
    if empty.code == seen.code or not bench.languages(word)[0]:
        return False
    return _decides(bench, bench.path(word), seen)


def _decides(bench: Bench, path: Path, seen: Trial) -> bool:
    """
    Return whether the whole hook ends otherwise with an empty program at a path.

    A program outside of the throw-away folders is never touched; the trials of the deciding program alone
    must do.
    """
    if not bench.may_write(path):
        return True
    before = bench.read(path)
    if not bench.put(path, ""):
        return True
    ended = bench.run_hook()
    if before is None:
        path.unlink()
    else:
        bench.put(path, before)
    return ended.code != seen.code


def _is_unreadable_text(bench: Bench, word: str, text: str, strict: tuple[Probe, ...], seen: Trial) -> bool:
    """Return whether the interpreter cannot read a program to its end."""
    for probe in strict:
        end = _run_copy(bench, word, probe.holding(text))
        if end.probed:
            return False
        if end.ends_like(seen):
            return _decides(bench, bench.path(word), seen)
    return _is_unfinished(bench, word, text, seen) and _decides(bench, bench.path(word), seen)


def _is_unfinished(bench: Bench, word: str, text: str, seen: Trial) -> bool:
    """
    Return whether a program that is executed while it is read lacks its end.

    Then a probe at its end is not executed, and other text there gives another message. Of a program that
    ended before its last line neither is true.
    """
    executed, strict = bench.languages(word)
    probe = next((each for each in executed if each not in strict and not each.after), None)
    if probe is None:
        return False
    last = _run_copy(bench, word, f"{text}\n{probe.before}")
    if last.probed or not last.ends_like(seen):
        return False
    other, again = (_run_copy(bench, word, f"{text}\n{GARBAGE}") for _ in range(2))
    return other.code == seen.code and other.ends_like(again) and not other.ends_like(last)


def _run_copy(bench: Bench, word: str, text: str, names: Mapping[str, str] = _NO_NAMES) -> Trial:
    """Run a copy with another text, beside the original; return its end in the names of the original."""
    place = bench.path(word)
    name = f"{place.stem}-{new_name()}{place.suffix}"
    copy = place.with_name(name)
    if bench.may_write(copy) and bench.put(copy, text):
        (end,) = bench.run([bench.with_word(word, word[: len(word) - len(place.name)] + name)])
        copy.unlink()
        return end.renamed({name: place.name, **names})
    path = bench.write(name, text)
    (end,) = bench.run([bench.with_word(word, path)])
    return end.renamed({path: word, **names})


def _find_missing_module(bench: Bench, word: str, text: str, seen: Trial) -> str:
    """Return the module that a program loads and that does not exist; empty if there is none."""
    place = bench.path(word)
    found: Iterator[str] = (one[0].rstrip(".:") for one in _NAME.finditer(seen.stderr))
    names = [name for name in reversed(dict.fromkeys(found)) if name in text and name != place.name][
        :_MOST_NAMES
    ]
    probe = bench.languages(word)[0][0]
    if not names or not _loads(bench, place, text, names, probe):
        return ""
    for name in names:
        if _loads(bench, place, text, [name], probe) and _fails_without(bench, word, text, name, seen):
            return name
    return ""


def _loads(bench: Bench, place: Path, text: str, names: Sequence[str], probe: Probe) -> bool:
    """Return whether a program executes one of some modules if they are provided."""
    files: dict[str, str] = {}
    beside: dict[Path, str] = {}
    for name in names:
        lines = "\n".join(line for line in text.splitlines() if name in line)
        exports = "".join(f"exports.{each} = 0;\n" for each in dict.fromkeys(_IDENTIFIER.findall(lines)))
        for path, content in modules(name, extension=place.suffix, probe=probe, exports=exports):
            if ".." not in path.split("/"):
                files[path] = content
            folders = [place.parent / "node_modules", place.parent, Path(bench.decider.folder)]
            beside |= {Path(os.path.normpath(folder / path)): content for folder in folders}
    folder = bench.folder(files)
    known = bench.decider.environment
    env = {
        variable: f"{paths}{os.pathsep}{known[variable]}" if known.get(variable) else paths
        for variable, paths in search_paths(folder).items()
    }
    with bench.present(beside):
        return bench.run([bench.decider.argv], env=env)[0].probed


def _fails_without(bench: Bench, word: str, text: str, name: str, seen: Trial) -> bool:
    """Return whether a module of a name that nobody uses gives the end that was seen."""
    head, stem, end = _split(name)
    other = new_name()
    pattern = rf"(?<![\w@]){re.escape(name)}(?!\w)"
    changed = re.sub(pattern, lambda _: head + other + end, text)
    without = _run_copy(bench, word, changed, {other: stem})
    return without.ends_like(seen) and _decides(bench, bench.path(word), seen)


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
        return not provided or bench.run_hook().code != seen.code


def new_name() -> str:
    """Return a word that nobody uses; without digits, since numbers count as equal."""
    return "zq" + "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))
