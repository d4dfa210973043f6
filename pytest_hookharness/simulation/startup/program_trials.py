"""Programs of a hook that may not have run, and trials with other texts in their place."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.startup.bench import Bench, Trial

_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Program:
    """
    A program that may not have run.

    Attributes:
        word: The argument that names it, or that is its text.
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


def given(bench: Bench, argv: Sequence[str]) -> Bench:
    """Return a bench for the same program with other arguments."""
    other = copy.copy(bench)
    other.decider = replace(bench.decider, argv=tuple(argv))
    return other


def run_copy(bench: Bench, program: Program, text: str, names: Mapping[str, str] = _NO_NAMES) -> Trial:
    """Run a copy with another text, beside the original; return its end in the names of the original."""
    word, place = program.word, program.place
    if program.path is None:
        (end,) = bench.run([bench.with_word(word, text)])
        return end.renamed(names)
    name = f"{place.stem[:50]}-{new_name()}{place.suffix[:50]}"
    copy = place.with_name(name)
    if bench.may_write(copy) and bench.put(copy, text):
        (end,) = bench.run([bench.with_word(word, word[: len(word) - len(place.name)] + name)])
        copy.unlink()
        return end.renamed({name: place.name, **names})
    path = bench.write(name, text)
    (end,) = bench.run([bench.with_word(word, path)])
    return end.renamed({path: word, **names})


def decides(bench: Bench, program: Program, seen: Trial) -> bool:
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


def new_name() -> str:
    """Return a word that nobody uses; without digits, since numbers count as equal."""
    return "zq" + "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))
