"""Harmless files whose edits a guard refuses, because their paths resemble those of others that it guards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.judging.checkup.file_bypasses import TOPIC
from pytest_hookharness.judging.checkup.file_calls import FileCall, FileCalls, file_calls
from pytest_hookharness.judging.checkup.refused_work import capitalized, symptom_in_turn
from pytest_hookharness.judging.comparison.traces import is_asked, refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome

_MOST_NAMED = 3
# Folders that guards name, and below which somebody may have a project.
FOLDERS = (
    "secrets",
    "build",
    "dist",
    "vendor",
    "migrations",
    "generated",
    "node_modules",
    "target",
    "certs",
    "credentials",
)
# A file that no guard means.
HARMLESS = "notes.txt"
_OF_FOLDERS = "folders"
_WHOLE_NAMES = "Compare the whole name of the file, or a whole folder, and not a part of the path."
_EXAMPLES = "Allow names that end with `.example`, `.sample` or `.template` before the test."
_BELOW_PROJECT = "Remove the project's folder from the beginning of the path before it is compared."
# The endings of examples, the usual one first.
KINDS = ("example", "sample", "template")
_EXAMPLE = r"(?:.*/)?\.env(?:\.\w+)*\.(?:example|sample|template)"


@dataclass(frozen=True, slots=True)
class FileLookalike:
    """
    A harmless file.

    Attributes:
        pattern: A pattern of its path.
        detail: What it is, in words that follow it and a comma.
        control: A file that differs from it in one detail.
        beside: A pattern of the guarded files that it resembles.
        advice: How to tell it from these.
    """

    pattern: str
    detail: str
    control: str
    beside: str
    advice: str = _WHOLE_NAMES


_ENV, _CODE = r"(?:.*/)?\.env", "a file of code"
# Beside an example of another kind, where a guard makes an exception for that one.
_BESIDE_EXAMPLES = tuple(
    FileLookalike(_EXAMPLE, "which has no secrets", f".env.{kind}", _ENV, _EXAMPLES) for kind in KINDS
)
_LOOKALIKES = (
    FileLookalike(_EXAMPLE, "which has no secrets", "example.txt", _ENV, _EXAMPLES),
    *_BESIDE_EXAMPLES,
    FileLookalike(r"src/environment\.ts", _CODE, "src/surroundings.ts", _ENV),
    FileLookalike(r"docs/package-lock\.md", "a document", "docs/packages.md", r"package-lock\.json"),
    FileLookalike(r"src/secrets_test\.py", "a test", "src/values_test.py", r"secrets\.yaml"),
    FileLookalike(r"src/i18n\.keys\.ts", _CODE, "src/i18n.words.ts", r".*\.(?:pem|key)"),
    FileLookalike(r"src/keyboard\.ts", _CODE, "src/mouse.ts", r".*\.(?:pem|key)"),
    FileLookalike(r"src/distance\.js", _CODE, "src/length.js", r"dist/.*"),
    FileLookalike(r"docs/migrations\.md", "a document", "docs/changes.md", r"migrations/.*"),
)
# Those of the files above that can be tried in each project.
TRIED = (
    ".env.example",
    "src/environment.ts",
    "docs/package-lock.md",
    "src/secrets_test.py",
    "src/i18n.keys.ts",
    "src/keyboard.ts",
    "src/distance.js",
    "docs/migrations.md",
)


def lookalike_of(file: str, guarded: str) -> FileLookalike | None:
    """Return what a file is that a guard may confuse with a guarded one; ``None`` for any other."""
    return next(_lookalikes_of(file, guarded), None)


def _lookalikes_of(file: str, guarded: str) -> Iterator[FileLookalike]:
    fits = (one for one in _LOOKALIKES if re.fullmatch(one.pattern, file) and file != one.control)
    yield from (one for one in fits if re.fullmatch(one.beside, guarded))


def find_file_overblocks(outcome: Outcome) -> Iterator[Symptom]:
    """Find harmless files whose edits were refused each time, because of their names or a folder above."""
    calls = file_calls(outcome)
    found: dict[str, list[tuple[int, str, str]]] = {}
    for one, turns in calls.refused.items():
        # A question too many costs little.
        if one.file and calls.is_kept(one) and not is_asked(outcome.trace, turns[0]):
            lookalike = _lookalike_in(calls, one)
            if lookalike is not None:
                words = f"{one.words}, {lookalike.detail}, is refused, but of {lookalike.control} allowed"
                hook = refusers(outcome.trace, turns[0])
                found.setdefault(hook, []).append((turns[0], words, lookalike.advice))
    for some in found.values():
        text = "; ".join(words for _, words, _ in some[:_MOST_NAMED])
        symptom = symptom_in_turn(codes.OVERBLOCK, capitalized(f"{text}."), outcome, some[0][0])
        advice = dict.fromkeys(advice for _, _, advice in some[:_MOST_NAMED])
        yield replace(symptom, advice=" ".join(advice), topic=TOPIC)
    yield from _find_folders(outcome, calls)


def _lookalike_in(calls: FileCalls, one: FileCall) -> FileLookalike | None:
    """Return what a refused file is, if what it resembles was refused, and its control allowed around it."""
    kept = (other.file for other in calls.refused if other.tool == one.tool and calls.is_kept(other))
    found = (two for guarded in kept for two in _lookalikes_of(one.file, guarded))
    return next((two for two in found if calls.is_allowed_around(FileCall(one.tool, two.control), one)), None)


def _find_folders(outcome: Outcome, calls: FileCalls) -> Iterator[Symptom]:
    """Find that a harmless file was refused in a project that lies in a folder with a guarded name."""
    place = outcome.scenario.place
    for one, turns in calls.refused.items():
        kept = one.file == HARMLESS and calls.is_kept(one) and not is_asked(outcome.trace, turns[0])
        if place in FOLDERS and kept:
            text = (
                f"In a project whose own folder is called {place}, {one.words} is refused, as the folders "
                "above the file are compared too."
            )
            symptom = symptom_in_turn(codes.OVERBLOCK, text, outcome, turns[0])
            yield replace(symptom, advice=_BELOW_PROJECT, topic=_OF_FOLDERS)
