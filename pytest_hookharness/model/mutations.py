"""
What a scenario asks of mutations and parallel hook runs, and what is reported of them.

What a mutation changes and how its effect is judged stands in ``campaigns.stress.mutations``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

# The words of `vary`. The cheap and most telling families come first.
VARY_FAMILIES = (
    "key-order", "words", "quoting", "input", "unset", "shells", "order", "names", "state", "tools",
    "sessions", "processes", "stdin", "faults",
)  # fmt: skip
# The families that the word `faults` stands for. Faults of standard input have a word of their own.
FAULT_FAMILIES = (
    "tools", "folder", "path", "script", "state", "disk", "locale", "profile", "git", "shell",
)  # fmt: skip
# The name of the mutation in which another agent of the session does the same.
ANOTHER_AGENT = "another agent"
# What a hook does when it cannot decide.
Direction: TypeAlias = Literal["allow", "block"]
FaultOutcome: TypeAlias = Literal[
    "as declared", "fail-open", "fail-closed", "inert", "hung", "differs", "not tried"
]


@dataclass(frozen=True, slots=True)
class VaryRequest:
    """
    A family of mutations that a scenario asks for.

    Attributes:
        family: A word of `vary`.
        names: The tools, variables, shells, files or fault families to try; empty for those that the hooks
            suggest.
    """

    family: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """
    Changes to the JSON on the standard input of hooks.

    Attributes:
        reversed: Whether the keys are written in reverse order, at every depth.
        extra: Further keys, written after all others.
    """

    reversed: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkingFolder:
    """
    The folder that hooks are started in, where that is not the workspace.

    Attributes:
        path: Relative to the workspace, or absolute; a missing relative folder is created.
        removed: Whether the folder is removed before the hook begins.
    """

    path: str
    removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """
    What one hook did in one trial, for one kind of payload.

    Attributes:
        mutation: The mutation in words; ``--only`` accepts them.
        outcome: How the hook took it.
        subject: What the mutation is about, such as a command; empty where the family says it.
        name: Which mutation of that subject it is, in a word or two.
        payload: ``deny`` for payloads that are refused without the mutation, ``allow`` for others; empty
            where they are not distinguished, or nothing was tried.
        hook: The command of the hook; empty where nothing was tried.
        evidence: What was seen, or why nothing was tried.
        left: Whether it should have been tried and was not, or proved nothing.
    """

    family: str
    mutation: str
    outcome: FaultOutcome
    subject: str = ""
    name: str = ""
    payload: Literal["", "deny", "allow"] = ""
    hook: str = ""
    evidence: str = ""
    left: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedIn:
    """
    A file in which every hook run must leave something.

    Attributes:
        file: Its path, relative to the workspace.
        json: The keys to a number, or to a list or mapping whose length counts, joined by dots; ``.`` for
            the whole document; empty if lines are counted.
    """

    file: str
    json: str = ""

    def __str__(self) -> str:
        return f"{self.json} in {self.file}" if self.json else f"the lines of {self.file}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """
    Runs of the same hooks side by side.

    Where counters are named, the order of their writes is controlled; elsewhere a race shows by chance.

    Attributes:
        event: The event whose hooks run; empty for every event of the session.
        width: How many runs of each hook there are at once.
        waves: How often that is done, each time on what the time before has left; 0 for the usual number.
        apart: Seconds between the starts of two hook runs.
        hook: A word of the command of the only hook that runs; empty for all hooks of the event.
        counts: The counters in which every run must appear.
        different: Whether the runs get the different inputs of the session in turn, and not all the same.
    """

    event: str = ""
    width: int = 8
    waves: int = 0
    apart: float = 0.0
    hook: str = ""
    counts: tuple[CountedIn, ...] = ()
    different: bool = False

    def __str__(self) -> str:
        at = f" of {self.event}" if self.event else ""
        return f"{self.width} hook runs{at} side by side"
