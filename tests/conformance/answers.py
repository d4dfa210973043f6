"""Replay rows about answers: hooks that answer and end, and the host's reaction."""

from __future__ import annotations

from typing import Any

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.trace import HookEvent

from .row_scenario import (
    CALL,
    LINGERS,
    SAYS,
    Dialect,
    Simulate,
    Terms,
    command,
    label,
    moves,
    performed,
    runs_of,
    scenario,
    texts_seen,
)
from .rows import Row

# Refusals that a loop is played for; a host that honours as many is taken to have no cap.
MOST_REFUSALS = 60


def _with_own_command(text: str | None, row: Row, made: str) -> str | None:
    named = row.recorded.get("command")
    return text.replace(named, made) if text is not None and named else text


def _with_home_folder(texts: list[str], outcome: Outcome, dialect: Dialect) -> list[str]:
    # Recorded hooks were in the user's settings, those of the replay are in the project's.
    folder = next(hook_run.payload.get("cwd") for _, hook_run in outcome.trace.hook_runs())
    return [text.replace(f"{folder}/{dialect.settings}", f"<HOME>/{dialect.settings}") for text in texts]


def replay_pre(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare the outcome of a call before which a hook answered, and the text for the model."""
    made = command(row.given)
    event = row.events["pre"]
    group = dialect.group({"command": made}, matcher=dialect.shell_tool)
    outcome = simulate(scenario(row, dialect, {event: [group]}, CALL, {"stop": "done"}, turns=3))
    text = _with_own_command(row.recorded["text"], row, made)
    recorded = {"outcome": row.recorded["outcome"], **({} if text is None else {"text": text})}
    return recorded, {"outcome": _call_outcome(outcome), "text": "".join(texts_seen(outcome, 1)[:1])}


def _call_outcome(outcome: Outcome) -> str:
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
    Compare whether the agent went on after a hook answered once on its stop, and the text for the model.
    """
    made, event = command(row.given, once=True), row.events["stop"]
    group = dialect.group({"command": made})
    agent = ({"stop": "done"}, {"stop": "done again"})
    outcome = simulate(scenario(row, dialect, {event: [group]}, *agent, turns=2, until="guard"))
    recorded: dict[str, Any] = {"continued": row.recorded["continued"]}
    recorded["injected"] = [_with_own_command(text, row, made) for text in row.recorded["injected"]]
    if row.recorded["flags"]:
        recorded["flags"] = row.recorded["flags"]
    continued = len(moves(outcome)) > 1
    injected = _with_home_folder(texts_seen(outcome, 1), outcome, dialect)
    seen = {"continued": continued, "injected": injected, "flags": _flags(outcome, event)}
    return recorded, seen


def _flags(outcome: Outcome, event: str) -> list[Any]:
    return [hook_run.payload.get("stop_hook_active") for hook_run in runs_of(outcome, event)]


def replay_loop(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare how often a hook refused a stop that it always refuses."""
    event = dialect.subagent_stop if row.given.get("subagent") else row.events["stop"]
    most = min(row.recorded["calls"], MOST_REFUSALS) if row.recorded["cut"] else row.recorded["calls"]
    repetitions = most if row.recorded["cut"] else most + 2
    # Recorded with another call each time: some hosts end a turn of equal calls.
    acts = [
        act
        for number in range(repetitions)
        for act in ({"run": f"true {number}"}, {"stop": f"done {number}"})
        if "stop" in act or row.given.get("between_tool")
    ]
    if row.given.get("subagent"):
        acts = [{"subagent": "SUBTASK"}, {"stop": "done"}]
    events = {event: [dialect.group({"command": command(row.given)})]}
    # Each text of a subagent whose stop was refused is a turn.
    turns = len(acts) + (repetitions if row.given.get("subagent") else 0)
    made = scenario(row, dialect, events, *acts, until="guard", turns=turns, env=row.given.get("env", {}))
    outcome = simulate(made)
    flags = _flags(outcome, event)
    if row.recorded["cut"]:
        # A subagent may continue past the length of the recording.
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
    """Compare the joint effect of several hooks of one event."""
    event = row.events[row.given["event"]]
    handlers = [[_handler(one) for one in group] for group in row.given["groups"]]
    call = {"run": "echo hi > ran.txt"}
    agent = (call, {"stop": "done"}) if row.given["event"] == "pre" else ({"stop": "one"}, {"stop": "two"})
    outcome = simulate(scenario(row, dialect, {event: dialect.groups(handlers)}, *agent, turns=3))
    first = next(hooked for _, hooked in outcome.trace.hooked(event))
    starts = [hook_run.run.started for hook_run in first.hook_runs if hook_run.run is not None]
    seen = {
        "started": sorted(label(hook_run) for hook_run in first.hook_runs),
        "at_once": max(starts) - min(starts) < 0.15,
        "finished": _finished(first),
        "ran": bool(performed(outcome)),
        "text": "".join(texts_seen(outcome, 1)[:1]),
    }
    if "feedback" in row.recorded:
        seen["feedback"] = _with_home_folder(
            texts_seen(outcome, 1)[-len(row.recorded["feedback"]) :], outcome, dialect
        )
    return dict(row.recorded), seen


def _handler(one: Terms) -> dict[str, Any]:
    # Half the recorded time is long enough to see which hook was first.
    made = command({**one, "sleep": one["sleep"] / 2})
    return {"command": made, **({"timeout": one["timeout"]} if "timeout" in one else {})}


def _finished(hooked: HookEvent) -> list[str]:
    ends = [
        (hook_run.run.started + hook_run.run.wall, label(hook_run))
        for hook_run in hooked.hook_runs
        if hook_run.run is not None
    ]
    return [label for _, label in sorted(ends)]


def replay_matchers(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare whether a hook with a matcher ran."""
    group = dialect.group({"command": command({})}, matcher=row.given["matcher"])
    made = scenario(row, dialect, {row.given["event"]: [group]}, CALL, {"stop": "done"}, turns=3)
    return row.recorded, {"hook_runs": bool(list(runs_of(simulate(made), row.given["event"])))}


def replay_visibility(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare whether the model saw a hook's output, and the rest of the session."""
    event = row.name.partition("/")[0]
    group = dialect.group({"command": command(row.given)})
    outcome = simulate(scenario(row, dialect, {event: [group]}, CALL, {"stop": "done"}, turns=2))
    texts = [message.text for move in moves(outcome) for message in move.saw.messages]
    seen = {
        "requests": len(moves(outcome)),
        "ran": bool(performed(outcome)),
        "seen": any("MARK" in text for text in texts),
        "calls": len(list(runs_of(outcome, event))),
    }
    return row.recorded, seen


def replay_settings(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare which hooks of a flawed settings file ran."""
    # The recorder starts slowly, so a timeout of a few milliseconds ended it before it did anything.
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
        hook_run
        for _, hook_run in outcome.trace.hook_runs()
        if hook_run.run and isinstance(hook_run.run.ending, Exited)
    ]
    return row.recorded, {"fired": sorted({label(hook_run) for hook_run in ended} - {""})}
