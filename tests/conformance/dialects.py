"""
How each host is told about hooks: its settings file, and their form there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """
    How a host is told about hooks.

    Attributes:
        settings: Its settings file, relative to the workspace.
        shell_tool: What hooks call its tool for shell commands.
        second: A second in the unit of its time limits.
        whole: Whether a limit must be a whole number of seconds.
        subagent_stop: Its event at the stop of a subagent; empty for none.
        wrapped: Whether events stand below a key ``hooks``.
    """

    settings: str
    shell_tool: str
    second: float = 1.0
    whole: bool = True
    subagent_stop: str = "SubagentStop"
    wrapped: bool = True

    def limit(self, seconds: float) -> float | int:
        """
        A time limit as it is written.
        """
        written = seconds * self.second
        return int(written) if written == int(written) else written

    def file(self, events: Mapping[str, Any]) -> str:
        """
        The text of the settings file for groups of hooks by event.
        """
        return json.dumps({"hooks": events} if self.wrapped else events, indent=1)

    def group(self, *handlers: Mapping[str, Any], matcher: str | None = None) -> dict[str, Any]:
        """
        A group of hooks as it stands in the file.
        """
        whole = [{"type": "command", **handler} for handler in handlers]
        return {"hooks": whole} if matcher is None else {"matcher": matcher, "hooks": whole}

    def groups(self, listed: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
        """
        Groups of hooks without matchers.
        """
        return [self.group(*handlers) for handlers in listed]


DIALECTS: Mapping[str, Dialect] = {
    "claude-code": Dialect(settings=".claude/settings.json", shell_tool="Bash", whole=False),
    "codex": Dialect(settings=".codex/hooks.json", shell_tool="Bash"),
    "gemini-cli": Dialect(
        settings=".gemini/settings.json", shell_tool="run_shell_command", second=1000.0, whole=False
    ),
    "qwen-code": Dialect(settings=".qwen/settings.json", shell_tool="run_shell_command"),
    "openhands": Dialect(
        settings=".openhands/hooks.json", shell_tool="terminal", subagent_stop="", wrapped=False
    ),
}


def dialect_of(host: str) -> Dialect:
    """
    The dialect of a host, with or without its version.
    """
    return DIALECTS[host.partition("@")[0]]
