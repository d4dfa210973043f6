"""
Answers: hooks that speak and end, and what their host makes of it.
"""

from __future__ import annotations

from typing import Any

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.trace import HookEvent

from .dialects import Dialect
from .rows import Row
from .staging import (
    CALL,
    LINGERS,
    SAYS,
    Simulate,
    Terms,
    command,
    fires,
    label,
    moves,
    performed,
    scenario,
    told,
)

# Fires of a loop that are played for real; a host that goes on so long is taken to have no guard.
MANY = 60


def _fit(text: str | None, row: Row, made: str) -> str | None:
    named = row.recorded.get("command")
    return text.replace(named, made) if text is not None and named else text


def _at_home(texts: list[str], outcome: Outcome, dialect: Dialect) -> list[str]:
    # Recorded hooks stood in the settings of the person, ours stand in those of the project.
    folder = next(fire.payload.get("cwd") for _, fire in outcome.trace.hook_runs())
    return [text.replace(f"{folder}/{dialect.settings}", f"<HOME>/{dialect.settings}") for text in texts]


def replay_pre(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    What became of a call before which a hook spoke, and what the model was told instead.
    """
    made = command(row.given)
    event = row.events["pre"]
    group = dialect.group({"command": made}, matcher=dialect.shell_tool)
    outcome = simulate(scenario(row, dialect, {event: [group]}, CALL, {"stop": "done"}, turns=3))
    text = _fit(row.recorded["text"], row, made)
    recorded = {"outcome": row.recorded["outcome"], **({} if text is None else {"text": text})}
    return recorded, {"outcome": _became(outcome), "text": "".join(told(outcome, 1)[:1])}


def _became(outcome: Outcome) -> str:
    calls = performed(outcome)
    went_on = len(moves(outcome)) > 1
    if not calls:
        return "blocked" if went_on else "ended_turn_without_tool"
    if not went_on:
        return "ran_then_ended_turn"
    changed = {change.path for call in calls for change in call.changes}
    return "ran" if "workspace/ran.txt" in changed else "ran_rewritten_input"


def replay_stop(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    Whether the agent went on after a stop at which a hook spoke once, and what it was told.
    """
    made, event = command(row.given, once=True), row.events["stop"]
    group = dialect.group({"command": made})
    agent = ({"stop": "done"}, {"stop": "done again"})
    outcome = simulate(scenario(row, dialect, {event: [group]}, *agent, turns=2, until="guard"))
    recorded: dict[str, Any] = {"continued": row.recorded["continued"]}
    recorded["injected"] = [_fit(text, row, made) for text in row.recorded["injected"]]
    if row.recorded["flags"]:
        recorded["flags"] = row.recorded["flags"]
    continued = len(moves(outcome)) > 1
    injected = _at_home(told(outcome, 1), outcome, dialect)
    seen = {"continued": continued, "injected": injected, "flags": _flags(outcome, event)}
    return recorded, seen


def _flags(outcome: Outcome, event: str) -> list[Any]:
    return [fire.payload.get("stop_hook_active") for fire in fires(outcome, event)]


def replay_loop(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    How often a stop was refused by a hook that always refuses.
    """
    event = dialect.subagent_stop if row.given.get("subagent") else row.events["stop"]
    most = min(row.recorded["calls"], MANY) if row.recorded["cut"] else row.recorded["calls"]
    laps = most if row.recorded["cut"] else most + 2
    lap: list[dict[str, Any]] = [CALL] if row.given.get("between_tool") else []
    acts = [act for number in range(laps) for act in (*lap, {"stop": f"done {number}"})]
    if row.given.get("subagent"):
        acts = [{"subagent": "SUBTASK"}, {"stop": "done"}]
    events = {event: [dialect.group({"command": command(row.given)})]}
    made = scenario(row, dialect, events, *acts, until="guard", turns=len(acts), env=row.given.get("env", {}))
    outcome = simulate(made)
    flags = _flags(outcome, event)
    if row.recorded["cut"]:
        # A subagent goes on within one turn, for longer than the recording was.
        flags = flags[:most]
    recorded: dict[str, Any] = {"calls": most, "cut": row.recorded["cut"]}
    seen: dict[str, Any] = {"calls": len(flags), "cut": not _overridden(outcome)}
    if "flags" in row.recorded:
        recorded["flags"] = [*row.recorded["flags"]["first"], row.recorded["flags"]["true"] > 1]
        seen["flags"] = [*flags[:3], flags.count(True) > 1]
    return recorded, seen


def _overridden(outcome: Outcome) -> bool:
    return any(hooked.decision.overridden for _, hooked in outcome.trace.hooked())


def replay_several(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    What several hooks of one event did together.
    """
    event = row.events[row.given["event"]]
    handlers = [[_handler(one) for one in group] for group in row.given["groups"]]
    call = {"run": "echo hi > ran.txt"}
    agent = (call, {"stop": "done"}) if row.given["event"] == "pre" else ({"stop": "one"}, {"stop": "two"})
    outcome = simulate(scenario(row, dialect, {event: dialect.groups(handlers)}, *agent, turns=3))
    first = next(hooked for _, hooked in outcome.trace.hooked(event))
    starts = [fire.run.started for fire in first.hook_runs if fire.run is not None]
    seen = {
        "started": sorted(label(fire) for fire in first.hook_runs),
        "at_once": max(starts) - min(starts) < 0.15,
        "finished": _finished(first),
        "ran": bool(performed(outcome)),
        "text": "".join(told(outcome, 1)[:1]),
    }
    if "feedback" in row.recorded:
        seen["feedback"] = _at_home(told(outcome, 1)[-len(row.recorded["feedback"]) :], outcome, dialect)
    return dict(row.recorded), seen


def _handler(one: Terms) -> dict[str, Any]:
    # Half the recorded time is long enough to tell who was first.
    made = command({**one, "sleep": one["sleep"] / 2})
    return {"command": made, **({"timeout": one["timeout"]} if "timeout" in one else {})}


def _finished(hooked: HookEvent) -> list[str]:
    ends = [
        (fire.run.started + fire.run.wall, label(fire)) for fire in hooked.hook_runs if fire.run is not None
    ]
    return [label for _, label in sorted(ends)]


def replay_matchers(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    Whether a hook with a matcher fired.
    """
    group = dialect.group({"command": command({})}, matcher=row.given["matcher"])
    made = scenario(row, dialect, {row.given["event"]: [group]}, CALL, {"stop": "done"}, turns=3)
    return row.recorded, {"hook_runs": bool(list(fires(simulate(made), row.given["event"])))}


def replay_visibility(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    Whether the model saw what a hook said, and what else took place.
    """
    event = row.name.partition("/")[0]
    group = dialect.group({"command": command(row.given)})
    outcome = simulate(scenario(row, dialect, {event: [group]}, CALL, {"stop": "done"}, turns=2))
    texts = [message.text for move in moves(outcome) for message in move.saw.messages]
    seen = {
        "requests": len(moves(outcome)),
        "ran": bool(performed(outcome)),
        "seen": any("MARK" in text for text in texts),
        "calls": len(list(fires(outcome, event))),
    }
    return row.recorded, seen


def replay_settings(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """
    Which hooks of a flawed settings file fired.
    """
    # The recorder took some time to start, so a limit of some milliseconds ended it before it did anything.
    slow = " --sleep 0.1" if row.name.startswith("timeout_") else ""

    def filled(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: filled(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [filled(item) for item in value]
        if key == "command" and value != "<INTERPRETER>":
            return f"{SAYS} --label {value}{slow if value == 'BAD' else ''}"
        return {"<INTERPRETER>": "python3", "<PROGRAM>": LINGERS}.get(value, value)

    made = scenario(row, dialect, filled(dict(row.given)), CALL, {"stop": "done"}, turns=2)
    outcome = simulate(made)
    ended = [
        fire for _, fire in outcome.trace.hook_runs() if fire.run and isinstance(fire.run.ending, Exited)
    ]
    return row.recorded, {"fired": sorted({label(fire) for fire in ended} - {""})}
