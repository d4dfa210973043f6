"""The calls of a session that change files, as the agent's script names these, and what hooks decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import WORKSPACE, Act, Edit, RunCommand, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import Moved, Performed


@dataclass(frozen=True, slots=True)
class FileCall:
    """
    A call that may change a file.

    Attributes:
        tool: The host's name of the tool.
        file: The file, as the agent's script names it; empty for a command.
        command: The command line; empty for a tool for files.
    """

    tool: str
    file: str = ""
    command: str = ""

    @property
    def words(self) -> str:
        """What the agent does."""
        return (
            f"`{self.command}`" if self.command else f"an edit of {self.file.replace(WORKSPACE, '<project>')}"
        )


@dataclass(frozen=True, slots=True)
class FileCalls:
    """
    The calls of a session that may change files.

    Attributes:
        refused: The refused ones, each with its turns.
        passed: Those that were allowed without a question.
    """

    refused: dict[FileCall, list[int]]
    passed: dict[FileCall, list[int]]

    def is_kept(self, one: FileCall) -> bool:
        """Return whether a call was refused more than once, and never allowed."""
        return len(self.refused.get(one, ())) > 1 and one not in self.passed

    def frames(self, one: FileCall, other: FileCall) -> bool:
        """Return whether a call was only allowed, before another one and behind it."""
        outer, inner = self.passed.get(one, ()), self.refused.get(other, ())
        around = bool(inner and outer) and min(outer) < min(inner) and max(outer) > max(inner)
        return around and one not in self.refused


def file_calls(outcome: Outcome) -> FileCalls:
    """Return the calls of a session that may change files."""
    steps = outcome.trace.steps
    moves = {step.turn: step.exchange.move for step in steps if isinstance(step.exchange, Moved)}
    asked = {step.turn for step, hooked in outcome.trace.hooked() if hooked.decision.ruling is Ruling.ASK}
    found = FileCalls({}, {})
    for step in steps:
        if not isinstance(step.exchange, Performed):
            continue
        one = call_of(moves.get(step.turn), step.exchange.call)
        # What the user is asked about, and says yes to, is neither refused nor allowed.
        if one is not None and (step.exchange.refused or step.turn not in asked):
            by_end = found.refused if step.exchange.refused else found.passed
            by_end.setdefault(one, []).append(step.turn)
    return found


def call_of(move: Act | None, call: ToolCall) -> FileCall | None:
    """Return the call of a move that may change a file, given in the host's terms; ``None`` for another."""
    match move:
        case RunCommand(command=command):
            return FileCall(call.name, command=command)
        case Edit(file=file):
            return FileCall(call.name, file)
        case Tools(calls=(only,)):
            paths = (text for text in only.input.values() if isinstance(text, str) and WORKSPACE in text)
            file = next(paths, "").removeprefix(f"{WORKSPACE}/")
            return FileCall(call.name, file) if file else None
        case _:
            return None


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def ran_in(outcome: Outcome, turns: Sequence[int]) -> Iterator[str]:
    """Yield the commands of the hooks that ran in some turns."""
    yield from (one.hook.command for step, one in outcome.trace.hook_runs() if step.turn in turns)
