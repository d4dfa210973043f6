"""
Faults: what may be wrong with the world around a hook, and how it was taken.

Each fault says in words what is wrong; none knows how that is brought about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.mutations import FailingTool, HangingTool, Kind, Shell, Variation, WithoutTool

Direction: TypeAlias = Literal["allow", "block"]
Cause: TypeAlias = Literal[
    "stdin", "tools", "folder", "path", "script", "state", "disk", "locale", "profile", "git", "shell"
]
# Those of the kind of variation that is called so; standard input is a kind of its own.
CAUSES: tuple[Cause, ...] = (
    "tools", "folder", "path", "script", "state", "disk", "locale", "profile", "git", "shell",
)  # fmt: skip
FaultOutcome: TypeAlias = Literal["as declared", "open", "closed", "inert", "hung", "differs", "not tried"]


@dataclass(frozen=True, slots=True)
class WorkingFolder:
    """
    The folder that hooks are started in, where that is not the workspace.

    Attributes:
        path: Relative to the workspace, or absolute; it is made if it is missing and relative.
        removed: Whether it is removed before the hook begins.
    """

    path: str
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Fed:
    """
    Standard input that arrives in another way.

    Attributes:
        words: That way in words.
        way: The way.
    """

    words: str
    way: Delivery

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class JunkTool:
    """
    One command that succeeds and prints what nobody can use.
    """

    name: str

    def __str__(self) -> str:
        return f"a `{self.name}` that prints junk"


@dataclass(frozen=True, slots=True)
class StartedIn:
    """
    Hooks that are started in another folder.

    Attributes:
        words: Which, in words.
        folder: The folder.
    """

    words: str
    folder: WorkingFolder

    def __str__(self) -> str:
        return f"started in {self.words}"


@dataclass(frozen=True, slots=True)
class InWorktree:
    """
    A session in a linked worktree of the repository.
    """

    name: str = "elsewhere"

    def __str__(self) -> str:
        return "in a linked worktree"


@dataclass(frozen=True, slots=True)
class Placed:
    """
    A workspace whose path holds what unquoted words fall over.

    Attributes:
        words: What that is.
        name: The last part of the path.
    """

    words: str
    name: str

    def __str__(self) -> str:
        return f"{self.words} in the path of the workspace"


@dataclass(frozen=True, slots=True)
class SpoiledScript:
    """
    A hook's own script, spoiled before the first move.

    Attributes:
        path: The script, relative to the workspace.
        how: ``crlf``, ``bom``, or ``chmod`` for the executable bit lost.
    """

    path: str
    how: Literal["crlf", "bom", "chmod"]

    def __str__(self) -> str:
        done = {"crlf": "with CRLF line ends", "bom": "behind a byte order mark", "chmod": "not executable"}
        return f"{self.path} {done[self.how]}"


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """
    State that nobody can write to, root included.

    Attributes:
        path: Its state path.
    """

    path: str

    def __str__(self) -> str:
        return f"{self.path} on a read-only file system"


@dataclass(frozen=True, slots=True)
class Occupied:
    """
    A folder where a hook's file of state would be.

    Attributes:
        path: The file, relative to the workspace.
    """

    path: str

    def __str__(self) -> str:
        return f"a folder in the place of {self.path}"


@dataclass(frozen=True, slots=True)
class FullDisk:
    """
    A file system without room for one more byte.

    Attributes:
        path: The state path of the folder that lies on it.
    """

    path: str

    def __str__(self) -> str:
        return f"a full disk below {self.path}"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """
    Variables, and the files that they name.

    Attributes:
        words: What they bring about.
        env: The variables.
        files: Files of the workspace.
        home: Files of the home folder.
        extra: A further key of each input, without which the fault would not show; empty for none.
    """

    words: str
    env: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    home: Mapping[str, str] = field(default_factory=dict)
    extra: str = ""

    def __str__(self) -> str:
        return self.words


Change: TypeAlias = (
    Fed
    | WithoutTool
    | FailingTool
    | HangingTool
    | JunkTool
    | StartedIn
    | InWorktree
    | Placed
    | SpoiledScript
    | ReadOnly
    | Occupied
    | FullDisk
    | Surroundings
    | Shell
)


@dataclass(frozen=True, slots=True)
class Fault:
    """
    One thing that is wrong with the world, and what kind of thing that is.
    """

    cause: Cause
    change: Change

    def __str__(self) -> str:
        return str(self.change)


@dataclass(frozen=True, slots=True)
class Varied:
    """
    One thing that must not matter, and what kind of thing that is.
    """

    cause: Kind
    change: Variation

    def __str__(self) -> str:
        return str(self.change)


# One thing that is different when a scenario is played again.
Trial: TypeAlias = Fault | Varied


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """
    How hooks took one thing that was different, with one kind of payload.

    Attributes:
        cause: Of what kind that is.
        fault: That in words.
        payload: Whether the payload is one that is refused without the fault (``deny``) or not (``allow``);
            empty where that is not told apart, or nothing was tried.
        verdict: How it was taken.
        hook: The command concerned; empty where nothing was tried.
        evidence: What was seen, or why nothing was tried.
        left: Whether it was to be tried, and was not or proved nothing.
    """

    cause: Cause | Kind
    fault: str
    verdict: FaultOutcome
    payload: Literal["", "deny", "allow"] = ""
    hook: str = ""
    evidence: str = ""
    left: bool = False
