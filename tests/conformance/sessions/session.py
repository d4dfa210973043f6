"""
What takes place in a session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """
    What takes place in a session.

    Attributes:
        acts: What the agent does, and what happens to it.
        keys: Further keys of the scenario.
        quiet: Events without a hook, where one would change what happens.
        said: What the hook of an event prints, as a word of the shell.
    """

    acts: Sequence[Mapping[str, Any]]
    keys: Mapping[str, Any] = field(default_factory=dict)
    quiet: Sequence[str] = ()
    said: Mapping[str, str] = field(default_factory=dict)


WORK: Sequence[Mapping[str, Any]] = (
    {"say": "I will run a command"},
    {"run": "echo hi > ran.txt; echo visible"},
    {"edit": {"file": "new.txt", "text": "abc\n"}},
    {"read": "nope.txt"},
    {"run": "exit 3"},
    {"stop": "All done."},
)
SUBAGENT: Sequence[Mapping[str, Any]] = (
    {"subagent": {"prompt": "SUBTASK do sub", "text": "sub done"}},
    {"stop": "All done."},
)
