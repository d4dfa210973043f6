"""Agents: how each is given one task, and where it reads its hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

WORDS, FOLDER = "{words}", "{folder}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """
    A command line agent.

    Attributes:
        program: Its name on the PATH.
        host: The profile that plays it in simulations.
        start: Its argument vector for one task, with ``{words}`` and ``{folder}``.
        settings: The file in the project that names its hooks.
        event: Its name of the event at a stop.
        refusal: The decision that refuses a stop.
        timeout: The limit of a hook as its settings have it, about half a minute.
        named: Whether commands stand in groups under the key ``command``; else alone under ``bash``.
        wrapped: Whether events stand below a key ``hooks``.
        env: Variables that it is started with.
        asks: What it may ask on its terminal, as a regular expression, and what is answered.
        tells_message: Whether a hook at a stop gets the agent's last message.
        guard_of_two: Variables that let its guard override the third refusal; empty for none.
    """

    program: str
    host: str
    start: Sequence[str]
    settings: str
    event: str = "Stop"
    refusal: str = "block"
    timeout: int = 30
    named: bool = True
    wrapped: bool = True
    env: Mapping[str, str] = field(default_factory=dict)
    asks: Mapping[str, str] = field(default_factory=dict)
    tells_message: bool = False
    guard_of_two: Mapping[str, str] = field(default_factory=dict)

    def command_line(self, words: str, folder: Path) -> list[str]:
        """The argument vector for a task in a folder."""
        return [word.replace(FOLDER, str(folder)).replace(WORDS, words) for word in self.start]

    def settings_for(self, command: str) -> str:
        """The text of its settings file with one hook at every stop."""
        if self.refusal != "block":
            command += f""" | sed 's/"decision": "block"/"decision": "{self.refusal}"/'"""
        if self.named:
            handler = {"type": "command", "command": command, "timeout": self.timeout}
            return json.dumps(self._wrap([{"hooks": [handler]}]), indent=1)
        handler = {"type": "command", "bash": command, "timeoutSec": self.timeout}
        return json.dumps({"version": 1, **self._wrap([handler])}, indent=1)

    def _wrap(self, entries: Sequence[object]) -> dict[str, object]:
        events: dict[str, object] = {self.event: entries}
        return {"hooks": events} if self.wrapped else events


# In one-shot mode none of them is documented to ask. Where a question comes all the same, it is whether the
# folder is trusted, and the folder is ours.
TRUST = {r"(?i)do you trust[^\n]*": "y\r"}

AGENTS = (
    Agent(
        program="claude",
        host="claude-code",
        start=("claude", "-p", WORDS, "--allowedTools", "Read", "Edit", "Write"),
        settings=".claude/settings.json",
        asks=TRUST,
        tells_message=True,
        guard_of_two={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"},
    ),
    Agent(
        program="codex",
        host="codex",
        # Without a word it leaves out hooks of a project that is not trusted, and those nobody reviewed.
        start=(
            "codex",
            "exec",
            "--skip-git-repo-check",
            "--sandbox",
            "workspace-write",
            "--dangerously-bypass-hook-trust",
            "-c",
            'projects={"{folder}"={trust_level="trusted"}}',
            WORDS,
        ),
        settings=".codex/hooks.json",
        asks=TRUST,
        tells_message=True,
    ),
    Agent(
        program="gemini",
        host="gemini-cli",
        start=("gemini", "-p", WORDS, "--approval-mode", "auto_edit"),
        settings=".gemini/settings.json",
        event="AfterAgent",
        timeout=30_000,
        env={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        asks=TRUST,
    ),
    Agent(
        program="qwen",
        host="qwen-code",
        start=("qwen", "-p", WORDS, "--approval-mode", "auto-edit"),
        settings=".qwen/settings.json",
        timeout=30,
        asks=TRUST,
        tells_message=True,
    ),
    Agent(
        program="openhands",
        host="openhands",
        start=("openhands", "--headless", "-t", WORDS),
        settings=".openhands/hooks.json",
        refusal="deny",
        wrapped=False,
        asks=TRUST,
    ),
    Agent(
        program="copilot",
        host="copilot-cli",
        start=("copilot", "-p", WORDS, "--allow-tool", "write"),
        settings=".github/hooks/rules.json",
        event="agentStop",
        named=False,
        asks=TRUST,
    ),
)
