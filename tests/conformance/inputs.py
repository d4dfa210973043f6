"""
The input of hooks, recorded and simulated.

Sessions that come to all events are named as the recorded ones; a hook on each event tells what it was given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import HookRun

from .dialects import Dialect
from .rows import Row
from .sessions import claude_code, codex, gemini_cli, openhands, qwen_code
from .sessions.session import WORK, Session
from .staging import PLACE, Simulate, Terms, scenario

# By host, by the name of the recorded session; one that is not there is played as the plain one.
SESSIONS: Mapping[str, Mapping[str, Session]] = {
    "claude-code": claude_code.SESSIONS,
    "codex": codex.SESSIONS,
    "gemini-cli": gemini_cli.SESSIONS,
    "qwen-code": qwen_code.SESSIONS,
    "openhands": openhands.SESSIONS,
}


def session_of(host: str, name: str) -> Session:
    """
    The session of a host that was recorded under a name.
    """
    sessions = SESSIONS.get(host.partition("@")[0], {})
    return sessions.get(name) or sessions.get("plain") or Session(acts=WORK)


def replay_payloads(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    What hooks of an event were given.
    """
    session = session_of(row.host, row.given["session"])
    named = (event for event in hosts.find(row.host).events if event not in session.quiet)
    commands = {event: f"{PLACE} {session.said.get(event, '')}".strip() for event in named}
    events = {event: [dialect.group({"command": command})] for event, command in commands.items()}
    keys = {"turns": 12, "why": row.given["session"], **session.keys}
    outcome = simulate(scenario(row, dialect, events, *session.acts, **keys))
    recorded, seen = compare(row.recorded, row.given["event"], outcome)
    if "group" in hosts.find(row.host).process.rules:
        # The profile says so itself: this is another here.
        recorded = {term: value for term, value in recorded.items() if term != "group"}
    return recorded, seen


def shape(value: Any) -> Any:
    """
    Keys in order and kinds of values, without the values.
    """
    if isinstance(value, Mapping):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return ["list", *(shape(item) for item in value)]
    return type(value).__name__


def compare(recorded: Terms, event: str, outcome: Outcome) -> tuple[Terms, Terms]:
    """
    A recorded input and the fire of the event that is most like it, in comparable terms.
    """
    wanted = _wanted(recorded)
    found = [_seen(fire, recorded) for _, fire in outcome.trace.hook_runs() if fire.hook.event == event]
    if not found:
        return wanted, dict.fromkeys(wanted, "the event was not come to")
    return wanted, max(found, key=lambda seen: sum(seen[term] == wanted[term] for term in wanted))


def _wanted(recorded: Terms) -> dict[str, Any]:
    process = recorded["process"]
    stdin = recorded["stdin"]
    wanted: dict[str, Any] = {
        "form": shape(stdin),
        "newline": recorded["newline"],
        "tool": stdin.get("tool_name"),
        "variables": sorted(recorded["env"]),
        "group": process["group_leader"],
        "session": process["session_leader"],
    }
    # A hook whose output goes nowhere, as those of Qwen's MessageDisplay, could not tell what it was given.
    if process["stdin"] is not None and process["stderr"] != "/dev/null":
        wanted["streams"] = [process[stream] for stream in ("stdin", "stdout", "stderr")]
    return wanted


def _seen(fire: HookRun, recorded: Terms) -> dict[str, Any]:
    stdin = json.loads(fire.stdin)
    lines = fire.run.stderr.text.splitlines() if fire.run is not None else []
    facts = dict(_facts(lines))
    variables = {line.partition(" ")[2] for line in lines if line.startswith("variable ")}
    return {
        "form": shape(stdin),
        "newline": fire.stdin.endswith(b"\n"),
        "tool": stdin.get("tool_name"),
        "variables": sorted(variables & set(recorded["env"])),
        "group": facts.get("group") == "leader",
        "session": facts.get("session") == "leader",
        "streams": [line.partition(" ")[2].partition(":")[0] for line in lines if line.startswith("stream ")],
    }


def _facts(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, _, value = line.partition(" ")
        if name in ("group", "session", "folder"):
            yield name, value
