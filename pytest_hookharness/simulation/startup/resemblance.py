"""
Resemblance: whether a hook that may have run ended as its interpreter does without a program.

Where no trial shows that a program did not run, what it said decides whether that is doubtful. A program says
words of its own text and of its input. An interpreter has words of its own, and says some of them in the same
order of nonsense in the place of the program. So neither interpreters nor messages need to be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from pytest_hookharness.execution.startup.programs import GARBAGE
from pytest_hookharness.model.reads import LookKind
from pytest_hookharness.simulation.startup.bench import Bench, Trial
from pytest_hookharness.simulation.startup.experiments import has_program
from pytest_hookharness.simulation.startup.program_trials import new_name

_WORD = re.compile(r"[^\W\d_]+")
_MODULE = re.compile(r"\w+(\.\w+)*")
_LOOKS = (LookKind.OPENED, LookKind.STATUS, LookKind.ACCESS)


def find_doubt(bench: Bench, seen: Trial) -> str:
    """Return what makes it doubtful that a program ran; empty if nothing does."""
    if bench.is_of_project():
        return ""
    files = bench.decider.files
    # Installed programs say words of other files, and are rarely broken.
    programs = [word for word, kind in files.items() if kind == "file" and bench.may_write(bench.path(word))]
    arguments = [word for word in bench.decider.argv[1:] if word[:1] != "-" and _WORD.search(word)]
    missing = [word for word in arguments if files.get(word) == "missing"]
    for word in (*programs, *missing):
        if _ends_as_nonsense(bench, word, seen, inline=word in missing):
            return f"nonsense in the place of {word} has a similar end"
    for word in missing:
        for name in _missing(bench, word, seen):
            return f"{name} does not exist"
    return ""


def _ends_as_nonsense(bench: Bench, word: str, seen: Trial, *, inline: bool) -> bool:
    """Return whether a hook ended as with nonsense in the place of a program."""
    own = _own_text(bench)
    words = set(_WORD.findall(own))
    lines = [line for line in seen.stderr.splitlines() if line.strip()]
    foreign = [line for line in lines if not _WORD.search(line) or not words.issuperset(_WORD.findall(line))]
    complete = bool(bench.languages(word, inline=inline)[1])
    # A program says its own words, and one that compiled and then did something may fail as it likes.
    if (lines and not foreign) or (complete and (bench.decider.acted or not lines)):
        return False
    name = bench.path(word).name if not inline else ""
    given = [text if inline else bench.write(name, text) for text in ("", GARBAGE)]
    empty, nonsense = bench.run([bench.with_word(word, each) for each in given])
    if inline:
        is_program = empty.code != nonsense.code
    else:
        empty, nonsense = empty.renamed({given[0]: word}), nonsense.renamed({given[1]: word})
        is_program = not empty.is_same(nonsense)
    if nonsense.code != seen.code or not is_program:
        return False
    shared = _phrases("\n".join(foreign)) & _phrases(nonsense.stderr) - _phrases(f"{GARBAGE}\n{own}")
    return bool(shared) or not (complete or bench.decider.acted)


def _own_text(bench: Bench) -> str:
    """Return what a program may have its words from: its text, its input and its command line."""
    files = (word for word, kind in bench.decider.files.items() if kind == "file")
    texts = [bench.read(bench.path(word)) or "" for word in files]
    payload = bench.spec.stdin.data.decode("utf-8", "replace")
    return "\n".join((*texts, payload, bench.decider.folder, *bench.decider.argv))


def _phrases(text: str) -> set[tuple[str, ...]]:
    """Return the pairs of words in the lines of a text; the signs of lines without a pair."""
    found: set[tuple[str, ...]] = set()
    for line in text.splitlines():
        words = _WORD.findall(line)
        found.update(pairwise(words) if words[1:] else [(re.sub(r"\d+", "0", line.strip()),)])
    return found


def _missing(bench: Bench, word: str, seen: Trial) -> Iterator[str]:
    """Yield a file that a command interprets, or looks for under a longer name, and that does not exist."""
    other = new_name()
    given = [bench.write(f"text{Path(word).suffix}", text) for text in ("", GARBAGE)]
    without, empty, garbage = bench.run([bench.with_word(word, each) for each in (other, *given)])
    if not without.renamed({other: word}).ends_like(seen) or has_program(bench, word):
        return
    last = word.rpartition(".")[2]
    looks = bench.looked_for(*_LOOKS) if _MODULE.fullmatch(word) else ()
    if files := [path for path in looks if path.stem == last != path.name]:
        yield bench.shown(files[0])
    empty, garbage = empty.renamed({given[0]: word}), garbage.renamed({given[1]: word})
    interpreted = empty.differs_from(seen) and not empty.is_same(garbage)
    if interpreted or (empty.code == garbage.code == seen.code and not empty.ends_like(seen)):
        yield word
