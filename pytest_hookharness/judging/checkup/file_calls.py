"""The calls of a session that change files, as the agent's script names these, and what hooks decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pytest_hookharness.judging.checkup.refused_work import CallTurns, call_turns
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import WORKSPACE, Act, Edit, RunCommand, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class FileCall:
    """A call that may change a file: of a tool for files, as the script names the file, or a command."""

    tool: str
    file: str = ""
    command: str = ""

    @property
    def words(self) -> str:
        """What the agent does."""
        return (
            f"`{self.command}`" if self.command else f"an edit of {self.file.replace(WORKSPACE, '<project>')}"
        )


FileCalls: TypeAlias = CallTurns[FileCall]


def file_calls(outcome: Outcome) -> FileCalls:
    """Return the calls of a session that may change files."""
    return call_turns(outcome, call_of)


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
