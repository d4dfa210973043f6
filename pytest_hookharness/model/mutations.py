"""
Variations: the one thing that is different when a scenario is played again.

Each says in words what is different; none knows how that is brought about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_hookharness.model.protocol import Json

Harm: TypeAlias = Literal["delete", "empty", "truncate", "garbage"]
Kind: TypeAlias = Literal[
    "key-order",
    "words",
    "quoting",
    "tools",
    "unset",
    "state",
    "input",
    "order",
    "wide",
    "sessions",
    "processes",
    "shells",
    "names",
    "stdin",
    "faults",
]
# The cheap ones, and those that tell most, first.
KINDS: tuple[Kind, ...] = (
    "key-order",
    "words",
    "quoting",
    "input",
    "unset",
    "shells",
    "order",
    "names",
    "state",
    "tools",
    "sessions",
    "processes",
    "wide",
    "stdin",
    "faults",
)


@dataclass(frozen=True, slots=True)
class Wish:
    """
    A kind of variation that a scenario asks for.

    Attributes:
        kind: Which.
        names: The tools, variables, files or causes that it is about; empty for what suggests itself.
    """

    kind: Kind
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """
    How the JSON on the standard input of hooks differs from what the host usually writes.

    Attributes:
        reversed: The keys stand in reverse order, at every depth.
        extra: Further keys, behind all others.
    """

    reversed: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyOrder:
    """
    The keys of every input in another order, with one more that nobody knows.
    """

    def __str__(self) -> str:
        return "the keys of its input in reverse order, and an unknown one behind them"


@dataclass(frozen=True, slots=True)
class MovedWords:
    """
    Words in a field in which they command nothing, in place of a call that was refused.

    Attributes:
        turn: The turn of the call.
        command: What the shell is given.
        words: What stands in the description beside it.
        must_be_refused: Whether it is the command that was refused.
    """

    turn: int
    command: str
    words: str
    must_be_refused: bool

    def __str__(self) -> str:
        return f"`{self.command}` described as `{self.words}`"


@dataclass(frozen=True, slots=True)
class Quoted:
    """
    The words of a command that was refused, as data or as code of another form.

    Attributes:
        turn: The turn of the call.
        command: The command that was refused.
        form: Name of the form, as in ``judging.wordings``.
        text: The command line in that form.
        must_be_refused: Whether the words are carried out in that form.
        harmless: A command line of the same form with words that nobody refuses; where that is refused too,
            a refusal proves nothing.
    """

    turn: int
    command: str
    form: str
    text: str
    must_be_refused: bool
    harmless: str

    def __str__(self) -> str:
        return f"the same words {'run by' if self.must_be_refused else 'in'} {self.form}"


@dataclass(frozen=True, slots=True)
class WithoutTool:
    """
    One command that is on no folder of PATH.
    """

    name: str

    def __str__(self) -> str:
        return f"no `{self.name}` on the PATH"


@dataclass(frozen=True, slots=True)
class FailingTool:
    """
    One command that fails in a way that is no answer.

    Attributes:
        name: The command.
        exit: Its exit code; 70 is that of a fault inside a program.
    """

    name: str
    exit: int = 70

    def __str__(self) -> str:
        return f"a `{self.name}` that fails with exit code {self.exit}"


@dataclass(frozen=True, slots=True)
class HangingTool:
    """
    One command that never returns.
    """

    name: str

    def __str__(self) -> str:
        return f"a `{self.name}` that never returns"


@dataclass(frozen=True, slots=True)
class Unset:
    """
    One variable that is not in the environment.
    """

    variable: str

    def __str__(self) -> str:
        return f"the variable {self.variable} not set"


@dataclass(frozen=True, slots=True)
class StateFile:
    """
    Harm to a file that hooks wrote, between two turns.

    Attributes:
        path: The file, relative to the workspace.
        how: The harm.
        turn: The turn after which it is done.
    """

    path: str
    how: Harm
    turn: int

    def __str__(self) -> str:
        done = {"delete": "deleted", "empty": "emptied", "truncate": "cut in half", "garbage": "overwritten"}
        return f"{self.path} {done[self.how]} after turn {self.turn}"


@dataclass(frozen=True, slots=True)
class EmptyInput:
    """
    Nothing at all on the standard input of every hook.
    """

    def __str__(self) -> str:
        return "nothing on standard input"


@dataclass(frozen=True, slots=True)
class HookOrder:
    """
    The hooks of an event one after the other, in a given order.

    Attributes:
        event: The event.
        places: Their places in the configuration, from 1.
    """

    event: str
    places: tuple[int, ...]

    def __str__(self) -> str:
        return f"the hooks of {self.event} in the order {', '.join(map(str, self.places))}"


@dataclass(frozen=True, slots=True)
class Shell:
    """
    Another shell, where the hook leaves open which one it is run by.

    Attributes:
        words: How it is started; empty for the host's own.
        env: Variables that make it another.
    """

    words: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in self.env.items())
        return f"the shell `{self.words or 'bash'}`" + (f" with {given}" if given else "")


@dataclass(frozen=True, slots=True)
class SameName:
    """
    A move repeated on another file, which may have the base name of the first.

    Attributes:
        turn: The turn of the move.
        file: The file that it was about.
        twin: The other one.
    """

    turn: int
    file: str
    twin: str

    def __str__(self) -> str:
        return f"{self.twin} after {self.file}"


@dataclass(frozen=True, slots=True)
class Wide:
    """
    Many fires of the same hooks side by side, instead of one after the other.
    """

    hook_runs: int = 8

    def __str__(self) -> str:
        return f"{self.hook_runs} fires side by side"


@dataclass(frozen=True, slots=True)
class TwoAgents:
    """
    The same calls from another agent of the session, told as the host tells those of a subagent.
    """

    def __str__(self) -> str:
        return "another agent of the same session that does the same"


@dataclass(frozen=True, slots=True)
class TwoSessions:
    """
    The same events from another session in the workspace.
    """

    def __str__(self) -> str:
        return "another session that does the same"


@dataclass(frozen=True, slots=True)
class TwoProcesses:
    """
    Every fire from a new process of the host.
    """

    def __str__(self) -> str:
        return "each fire from a new process of the host"


Replayed: TypeAlias = (
    KeyOrder
    | MovedWords
    | Quoted
    | WithoutTool
    | FailingTool
    | HangingTool
    | Unset
    | StateFile
    | EmptyInput
    | HookOrder
    | Shell
    | SameName
    | TwoAgents
    | TwoSessions
    | TwoProcesses
)
Variation: TypeAlias = Replayed | Wide
