"""Files whose edits a guard refuses, and that the agent may change in another way that is as usual."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.judging.checkup.file_calls import FileCall, FileCalls, file_calls, listed, ran_in
from pytest_hookharness.judging.checkup.refused_work import capitalized, refusal_word, symptom_in_turn
from pytest_hookharness.judging.comparison.traces import refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom, is_named
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.outcome import Outcome

# The most commands with which a report names a file.
_MOST_COMMANDS = 3
# The suffixes of files that a guard of all code may mean: what is compared with these has the same one.
_CODE = frozenset([".py", ".js", ".ts", ".tsx", ".jsx", ".go", ".rs", ".sh", ".md", ".json", ".yml", ".yaml"])
TOPIC = "files"
_EDITS = "edits of "
# Files in which programs write the versions of what they installed.
LOCKS = (
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "poetry.lock",
    "uv.lock",
    "Cargo.lock",
)
# What is made from other files is usually removed before it is made again.
_MADE = re.compile(r"(?:build|dist|generated|node_modules|target)/")
_BY_SHELL = (
    "Let the guard hook be asked about the shell's tool as well, and look for the file in the words of the "
    "command; or deny changes of the file in the host's own permissions, or in a sandbox."
)
_BY_PATH = "Make the path absolute, without `.` and `..`, before it is compared."
_BY_NAME = "Name the other files too, or use a pattern that fits all of them."
_BY_TOOL = "Name all tools that change files in the matcher."


def shell_ways(file: str) -> tuple[str, ...]:
    """Return usual commands that change or remove a file."""
    name = shlex.quote(file)
    is_made = posixpath.basename(file) in LOCKS or _MADE.match(file)
    whole = () if is_made else (f"rm {name}", f"cp x {name}", f"mv {name} x")
    return (f"echo x >> {name}", f"sed -i s/a/b/ {name}", *whole, f"echo x | tee {name}")


def other_paths(file: str) -> tuple[str, ...]:
    """Return other usual paths of a file."""
    return (f"./{file}", f"{WORKSPACE}/{file}")


def siblings_of(file: str) -> tuple[str, ...]:
    """Return the files in the same folder that somebody who guards a file surely means as well."""
    folder, name = posixpath.split(file)
    if name in LOCKS:
        others = tuple(other for other in LOCKS if other != name)
    elif name == "settings.json" and posixpath.basename(folder) == ".claude":
        # It is read too, and can switch the hooks off.
        others = ("settings.local.json",)
    else:
        others = (".env.local", ".env.production") if name == ".env" else ()
    return tuple(posixpath.join(folder, other) for other in others)


def control_of(file: str) -> str:
    """Return a harmless file that a guard of the named one has no reason to refuse."""
    suffix = posixpath.splitext(file)[1]
    return f"notes{suffix if suffix in _CODE else '.txt'}"


def find_file_bypasses(outcome: Outcome) -> Iterator[Symptom]:
    """
    Find files whose edits were refused each time, and what was allowed that a guard of them must mean too.

    An edit of another file was allowed too, so the guard is one of files.
    """
    calls = file_calls(outcome)
    found: dict[str, list[FileBypass]] = {}
    for known in calls.refused:
        control = FileCall(known.tool, control_of(known.file))
        if known.file and calls.is_kept(known) and calls.is_allowed_around(control, known):
            one = FileBypass(
                known, tuple(other for other in calls.passed if calls.is_allowed_around(other, known))
            )
            if one.others:
                hook = refusers(outcome.trace, calls.refused[known][0])
                found.setdefault(hook, []).append(one)
    for hook, some in found.items():
        text = " ".join(_describe(outcome, calls, one, hook) for one in some)
        advice = dict.fromkeys(words for one in some for words in one.advice)
        turn = calls.refused[some[0].known][0]
        symptom = symptom_in_turn(codes.BYPASS, text, outcome, turn)
        yield replace(symptom, advice=" ".join(advice), topic=TOPIC)


@dataclass(frozen=True, slots=True)
class FileBypass:
    """A file that a guard keeps: the refused call, and all the calls around it that were allowed."""

    known: FileCall
    allowed: tuple[FileCall, ...]

    @property
    def commands(self) -> list[FileCall]:
        """The commands that change or remove the file."""
        ways = shell_ways(self.known.file)
        found = [one for one in self.allowed if one.command in ways]
        return sorted(found, key=lambda one: ways.index(one.command))[:_MOST_COMMANDS]

    @property
    def tools(self) -> list[str]:
        """The other tools that change or remove it."""
        known = self.known
        return [one.tool for one in self.allowed if one.file == known.file and one.tool != known.tool]

    @property
    def others(self) -> list[str]:
        """All of these, in words."""
        return [
            *(one.words for one in self.commands),
            *(f"the tool {tool} for it" for tool in self.tools),
            *(f"{one.words}, the same file," for one in self._edits(other_paths(self.known.file))),
            *_edits_in_words([one.file for one in self._edits(siblings_of(self.known.file))]),
        ]

    def _edits(self, files: Sequence[str]) -> list[FileCall]:
        """Return the allowed edits of some files, by the tool whose edit was refused."""
        calls = (FileCall(self.known.tool, file) for file in files)
        return [one for one in calls if one in self.allowed]

    @property
    def advice(self) -> list[str]:
        """What to do about them."""
        file = self.known.file
        reasons = (
            (_BY_SHELL, self.commands),
            (_BY_TOOL, self.tools),
            (_BY_PATH, self._edits(other_paths(file))),
            (_BY_NAME, self._edits(siblings_of(file))),
        )
        return [text for text, reason in reasons if reason]


def _edits_in_words(files: Sequence[str]) -> list[str]:
    """Return the edits of some files in words, as one part of a list; none for no files."""
    return [f"{_EDITS}{listed(files)}" if len(files) > 1 else f"an edit of {files[0]}"] if files else []


def _describe(outcome: Outcome, calls: FileCalls, one: FileBypass, hook: str) -> str:
    """Return the refusal and the other ways that were allowed, in a sentence."""
    first = calls.refused[one.known][0]
    done = refusal_word(outcome, first)
    turns = [turn for command in one.commands for turn in calls.passed[command]]
    more = ""
    if turns and not any(is_named(ran, hook) for ran in ran_in(outcome, turns)):
        more = "; the host asks this hook about no command"
    verb = "is" if len(one.others) == 1 and not one.others[0].startswith(_EDITS) else "are"
    return capitalized(f"{one.known.words} is {done}, but {listed(one.others)} {verb} allowed{more}.")
