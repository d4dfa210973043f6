"""Files whose contents a guard keeps from one tool of the agent, and that another of its tools reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.judging.checkup.bypasses import framed
from pytest_hookharness.judging.checkup.refused_work import symptom_of
from pytest_hookharness.judging.comparison.traces import is_asked, refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act, Read, RunCommand
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import Moved, Performed

_PRINTED = re.compile(r"cat ([\w./-]+)")
_TWICE = 2
# A file that no guard means.
_PLAIN = "notes.txt"


@dataclass(frozen=True, slots=True)
class FileReading:
    """
    A way to read a file.

    Attributes:
        file: The file.
        by_command: Whether a command of the shell prints it; else the host's tool for files reads it.
    """

    file: str
    by_command: bool

    @property
    def other(self) -> FileReading:
        """The other way to read the same file."""
        return FileReading(self.file, not self.by_command)

    @property
    def control(self) -> FileReading:
        """The same way to read a file without secrets; a guard that refuses this too is not about secrets."""
        return FileReading(_PLAIN, self.by_command)

    @property
    def act(self) -> RunCommand | Read:
        """What the agent does."""
        return RunCommand(command=f"cat {self.file}") if self.by_command else Read(file=self.file)


def reading_of(act: Act | None) -> FileReading | None:
    """Return the reading of a file that an act is; ``None`` for any other."""
    match act:
        case Read(file=file):
            return FileReading(file, by_command=False)
        case RunCommand(command=command) if found := _PRINTED.fullmatch(command):
            return FileReading(found[1], by_command=True)
        case _:
            return None


def find_other_readers(outcome: Outcome) -> Iterator[Symptom]:
    """Find files whose reading was refused each time, and allowed by another tool before and after."""
    asked = {step.turn for step, one in outcome.trace.hooked() if one.decision.ruling is Ruling.ASK}
    refused, passed = dict[FileReading, list[int]](), dict[FileReading, list[int]]()
    tools: dict[FileReading, str] = {}
    moved: FileReading | None = None
    for step in outcome.trace.steps:
        match step.exchange:
            case Moved(move=move):
                moved = reading_of(move)
            case Performed(call=call, refused=was_refused) if moved is not None:
                # What the user is asked about is neither refused for sure nor allowed.
                if was_refused or step.turn not in asked:
                    (refused if was_refused else passed).setdefault(moved, []).append(step.turn)
                tools[moved] = call.name
            case _:
                continue
    for one, turns in refused.items():
        both = one.other, one.control
        around = all(two not in refused and framed(turns, passed.get(two, ())) for two in both)
        if len(turns) >= _TWICE and one not in passed and around:
            done = "asked about" if is_asked(outcome.trace, turns[0]) else "refused"
            text = f"{_describe(one, tools)} is {done}, but {_describe(one.other, tools)} is allowed."
            hook = refusers(outcome.trace, turns[0])
            text = f"{text[0].upper()}{text[1:]}"
            yield symptom_of(codes.MISSED_SECRET.found(text, turn=turns[0], hook=hook))


def _describe(one: FileReading, tools: dict[FileReading, str]) -> str:
    return f"`cat {one.file}`" if one.by_command else f"reading {one.file} with {tools[one]}"
