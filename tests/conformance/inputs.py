"""
Replay rows about input: the payloads of hooks, recorded and simulated.

The scripted sessions reach all events. A hook on each event prints the facts about its own process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import HookRun

from .row_scenario import PLACE, Dialect, Simulate, Terms, scenario
from .rows import Row
from .sessions import session_of


def replay_payloads(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare the input of the hooks of an event."""
    session = session_of(row.host, row.given["session"])
    named = (event for event in hosts.find(row.host).events if event not in session.quiet)
    commands = {event: f"{PLACE} {session.said.get(event, '')}".strip() for event in named}
    events = {event: [dialect.group({"command": command})] for event, command in commands.items()}
    keys = {"turns": 12, "why": row.given["session"], **session.keys}
    outcome = simulate(scenario(row, dialect, events, *session.acts, **keys))
    recorded, seen = compare(row.recorded, row.given["event"], outcome)
    if "group" in hosts.find(row.host).process.rules:
        # The profile itself says that the process group differs here.
        recorded = {term: value for term, value in recorded.items() if term != "group"}
    return recorded, seen


def shape(value: Any) -> Any:
    """Return keys in order and types of values, without the values."""
    if isinstance(value, Mapping):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return ["list", *(shape(item) for item in value)]
    return type(value).__name__


def compare(recorded: Terms, event: str, outcome: Outcome) -> tuple[Terms, Terms]:
    """Return a recorded input and the most similar hook run of the event, in comparable terms."""
    wanted = _wanted(recorded)
    found = [
        _seen(hook_run, recorded) for _, hook_run in outcome.trace.hook_runs() if hook_run.hook.event == event
    ]
    if not found:
        return wanted, dict.fromkeys(wanted, "the session did not reach the event")
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
    # A hook whose output goes to /dev/null, as those of Qwen's MessageDisplay, could not report its streams.
    if process["stdin"] is not None and process["stderr"] != "/dev/null":
        wanted["streams"] = [process[stream] for stream in ("stdin", "stdout", "stderr")]
    return wanted


def _seen(hook_run: HookRun, recorded: Terms) -> dict[str, Any]:
    stdin = json.loads(hook_run.stdin)
    lines = hook_run.run.stderr.text.splitlines() if hook_run.run is not None else []
    facts = dict(_facts(lines))
    variables = {line.partition(" ")[2] for line in lines if line.startswith("variable ")}
    return {
        "form": shape(stdin),
        "newline": hook_run.stdin.endswith(b"\n"),
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
