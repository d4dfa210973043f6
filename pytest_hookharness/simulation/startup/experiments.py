"""
Experiments that show whether a program of a hook could run: which file, text or module is at fault.

Each conclusion needs three things, and all are ends of real processes. A probe program in the place of the
suspect is executed, so the suspect is a program of the hook. The suspect, or something like it that certainly
does not work, gives the end that was seen. And with an empty program in its place the hook ends differently,
so the fault is the cause. What one of them does not show stays unknown, and unknown means that the hook ran.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.execution.startup.programs import EXTENSIONS, GARBAGE, PROBES, ProbeProgram
from pytest_hookharness.model.reads import LookKind
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.simulation.startup.languages import find_languages
from pytest_hookharness.simulation.startup.program_trials import (
    InnerProgram,
    decides,
    find_missing_module,
    given,
    is_missing_module_name,
    new_name,
    run_copy,
)
from pytest_hookharness.simulation.startup.trial_runs import Trial, TrialRuns

_MOST_FILES = 8
_SHOWN = 60


def find_failure(trials: TrialRuns, seen: Trial) -> StartFailure | None:
    """Return why the program that decided did not run; ``None`` if it ran, or if that is unknown."""
    files, arguments = trials.decider.files, trials.decider.argv[1:]
    if missing := find_missing(trials, seen.code, seen):
        return missing
    words = [word for word, kind in files.items() if kind == "file" and not word.startswith("-")]
    read = {word: trials.read(trials.path(word)) for word in words}
    programs = [
        InnerProgram(word, text, trials.path(word)) for word, text in read.items() if text is not None
    ]
    programs += (InnerProgram(word, word) for word in arguments if files.get(word) == "missing")
    known = [(each, *find_languages(trials, each.word, inline=each.path is None)) for each in programs]
    executed = [each for each in known if each[1]]
    if unopened := _find_unopened(trials, seen, alone=not executed):
        return unopened
    for program, probes, strict in executed:
        if broken := _find_broken(trials, replace(program, nothing=probes[0].nothing), probes, strict, seen):
            return broken
    for word in arguments:
        if files.get(word) == "missing" and is_missing_module_name(trials, word, seen):
            return StartFailure(kind="module", name=word)
    options = " ".join(word for word in arguments if word.startswith("-")) if executed else None
    module = find_missing_module(trials, InnerProgram("", ""), seen, PROBES, within=options)
    return StartFailure(kind="module", name=module) if module else None


def find_missing(trials: TrialRuns, code: int | None, seen: Trial) -> StartFailure | None:
    """Return the program that a process could not open, if the hook ends with this code for that reason."""
    for word, kind in trials.decider.files.items():
        if not word or word.startswith("-") or kind == "file":
            continue
        if not (_is_empty_folder(trials, word, seen) if kind == "other" else _is_absent(trials, word, code)):
            continue
        # A text with spaces is rather a program itself, which may name other ones.
        if " " in word and find_languages(trials, word, inline=True)[0]:
            continue
        executed, _ = find_languages(trials, word)
        program = InnerProgram(word, "", trials.path(word), executed[0].nothing if executed else "")
        if _is_cause(trials, program, Trial(code, ""), known=bool(executed)) and decides(
            trials, program, seen
        ):
            return StartFailure(kind="missing" if kind == "missing" else "unreadable", name=word)
    return None


def _is_absent(trials: TrialRuns, word: str, code: int | None) -> bool:
    """Return whether a process ends as it did with a name that nothing has; commands are found elsewhere."""
    (end,) = trials.run([trials.with_word(word, f"{new_name()}{Path(word).suffix}")])
    return end.code == code


def _is_empty_folder(trials: TrialRuns, word: str, seen: Trial) -> bool:
    """Return whether the hook ends as it does with an empty folder, so that no program in one decided."""
    empty, place = trials.folder({}), f"{trials.decider.folder}/{word}"
    (end,) = trials.run([trials.with_word(word, empty)])
    return end.renamed({empty: word}).ends_like(seen.renamed({place: word}))


def _is_cause(trials: TrialRuns, program: InnerProgram, ended: Trial, *, known: bool) -> bool:
    """Return whether a file that cannot be opened is a program, and a process ends differently with it."""
    nothing = trials.write(f"empty{program.place.suffix}", program.nothing)
    (empty,) = trials.run([trials.with_word(program.word, nothing)])
    return empty.differs_from(ended) and (known or is_read_as_program(trials, program.word))


def is_read_as_program(trials: TrialRuns, word: str) -> bool:
    """
    Return whether a command reads a missing file as a text with a syntax, in a language without a probe.

    The command must be no program of the project and execute no file beside it, else the file is data.
    """
    if trials.is_of_project() or has_program(trials, word):
        return False
    texts = [trials.write(f"text{Path(word).suffix}", text) for text in ("", GARBAGE)]
    empty, garbage = trials.run([trials.with_word(word, path) for path in texts])
    return empty.code == 0 and bool(garbage.code)


def has_program(trials: TrialRuns, word: str) -> bool:
    """Return whether a command executes another of its words, so that this one is data."""
    others = [each for each in trials.decider.files.items() if each[0] != word and each[0][:1] != "-"]
    # Some programs are executed only for a line, or a value, of the data.
    data = trials.write(f"data{Path(word).suffix}", "0\n")
    with_data = given(trials, trials.with_word(word, data))
    return any(find_languages(with_data, each, inline=kind != "file")[0] for each, kind in others)


def _find_unopened(trials: TrialRuns, seen: Trial, *, alone: bool) -> StartFailure | None:
    """
    Return the missing program that some process of the hook looked for.

    Args:
        alone: Whether the deciding program was given no program, so that it looks for one by itself, as make
            does. Else only files count that were opened, and whose names are shown; others are optional.
    """
    shown = " ".join((*trials.spec.argv, seen.stderr))
    kinds = (LookKind.OPENED, LookKind.STATUS, LookKind.ACCESS) if alone else (LookKind.OPENED,)
    found = (path for path in trials.looked_for(*kinds) if alone or path.name in shown)
    # No text is a class of Java, and each trial with one starts a machine.
    paths = [path for path in found if not alone or path.suffix in EXTENSIONS][:_MOST_FILES]

    def ends(places: Sequence[Path], text: str) -> Trial:
        with trials.present(dict.fromkeys(places, text)):
            return trials.run_hook()

    # What is no program means the same to the hook with nothing and with nonsense in it.
    if not paths or ends(paths, "").is_same(ends(paths, GARBAGE)):
        return None
    for probe in PROBES:
        if ends(paths, probe.holding()).probed:
            missing = [
                path
                for path in reversed(paths)
                if ends([path], probe.holding()).probed and ends([path], probe.nothing).differs_from(seen)
            ]
            names = " or ".join(map(trials.shown, missing))
            return StartFailure(kind="missing", name=names) if missing else None
    return None


def _find_broken(
    trials: TrialRuns,
    program: InnerProgram,
    executed: Sequence[ProbeProgram],
    strict: Sequence[ProbeProgram],
    seen: Trial,
) -> StartFailure | None:
    """Return the module that a program lacks, or that it does not compile; ``None`` for neither."""
    # First what is more exact: some languages load modules while they compile.
    if module := find_missing_module(trials, program, seen, executed):
        # Not where it is a part of another name, such as the ending of a file.
        word = re.compile(rf"(?<![\w.]){re.escape(module)}(?![\w])")
        named = program.path is not None and word.search(program.text) is not None
        return StartFailure(kind="module", name=module, program=program.word if named else "")
    if _is_unreadable_text(trials, program, executed, strict, seen):
        shown = program.word if len(program.word) <= _SHOWN else f"{program.word[:_SHOWN]}..."
        return StartFailure(kind="syntax", name=shown if program.path else f"`{shown}`")
    return None


def _is_unreadable_text(
    trials: TrialRuns,
    program: InnerProgram,
    executed: Sequence[ProbeProgram],
    strict: Sequence[ProbeProgram],
    seen: Trial,
) -> bool:
    """Return whether the interpreter cannot read a program to its end."""
    for probe in strict:
        end = run_copy(trials, program, probe.holding(program.text))
        if end.probed:
            return False
        if end.ends_like(seen):
            return decides(trials, program, seen)
    by_line = [probe for probe in executed if probe not in strict and not probe.after]
    return _is_unfinished(trials, program, by_line, seen) and decides(trials, program, seen)


def _is_unfinished(
    trials: TrialRuns, program: InnerProgram, by_line: Sequence[ProbeProgram], seen: Trial
) -> bool:
    """
    Return whether a program that is executed while it is read lacks its end.

    Then a probe at its end is not executed, and other text there gives another message. Of a program that
    ended before its last line neither is true.
    """
    if not by_line:
        return False
    last = run_copy(trials, program, f"{program.text}\n{by_line[0].before}")
    if last.probed or not last.ends_like(seen):
        return False
    other, again = (run_copy(trials, program, f"{program.text}\n{GARBAGE}") for _ in range(2))
    return other.code == seen.code and other.ends_like(again) and not other.ends_like(last)
