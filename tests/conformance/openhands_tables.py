"""Replay the tables that were recorded of OpenHands alone: answers, loops and processes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.model.verdicts import Capped, Terminated, verdict_name
from pytest_hookharness.scenario_files import script_from

from .row_scenario import (
    CALL,
    LINGERS,
    Dialect,
    Simulate,
    Terms,
    command,
    marks,
    moves,
    performed,
    runs_of,
    scenario,
    texts_seen,
)
from .rows import Row

_EVERY = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
_CLOSING = ("SessionEnd",)
# The limit of rows without one of their own: their run ended in an error after this number of moves.
_STEPS_OF_CALLS = 6
# Where a hook refuses the stop once, the recorded agent had two moves: the second stop asked no hook.
_STEPS_OF_STOPS = 2


def _play(
    row: Row,
    dialect: Dialect,
    simulate: Simulate,
    events: Mapping[str, Any],
    acts: Sequence[Mapping[str, Any]],
    **options: Any,
) -> Outcome:
    keys = {"until": "guard", "turns": len(acts), "options": options}
    return simulate(replace(scenario(row, dialect, events, **keys), script=script_from(acts, then="idle")))


def _status(outcome: Outcome) -> str:
    verdict = outcome.verdict
    if isinstance(verdict, Terminated):
        return "finished"
    return verdict.status if isinstance(verdict, Capped) else verdict_name(verdict)


def _joined(messages: Sequence[Message]) -> str:
    """Return the messages as one text. Consecutive texts of hooks are on separate lines."""
    text, before = "", ""
    for message in messages:
        text += ("\n" if before == message.kind == "context" else "") + message.text
        before = message.kind
    return text


def _prompt(outcome: Outcome) -> str:
    made = moves(outcome)
    return _joined(made[0].saw.messages) if made else ""


def replay_matrix(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare the effect of an answer on an event."""
    event = row.given["event"]
    handler = {"command": command(row.given, once=event == "Stop")}
    if event == "Stop" and "command" in row.given:
        handler = {"command": _once(handler["command"], "0")}
    tools = event in ("PreToolUse", "PostToolUse")
    acts = [{"prompt": "PROMPT"}, *([CALL] if tools else []), {"stop": "done"}, {"stop": "done again"}]
    outcome = _play(row, dialect, simulate, {event: [dialect.group(handler)]}, acts)
    seen = {
        "ran": bool(performed(outcome)),
        "text": "".join(texts_seen(outcome, 1)[:1]),
        "continued": len(moves(outcome)) > 1,
        "injected": texts_seen(outcome, 1),
        "calls": len(list(runs_of(outcome, event))),
        "requests": len(moves(outcome)),
        "prompt": _prompt(outcome),
        "more": texts_seen(outcome, 1)[1:],
        "status": _status(outcome),
    }
    recorded = dict(row.recorded)
    # Error messages of a shell were not recorded.
    for term in ("text", "injected"):
        if not recorded.get(term) and (row.recorded.get("continued") or term == "text"):
            recorded.pop(term, None)
    return recorded, seen


def _once(line: str, name: str) -> str:
    # On separate lines, so that the shell executes the first before it reads the second.
    return f'if [ -e "$TMPDIR/said-{name}" ]; then exit 0; fi; : >"$TMPDIR/said-{name}"\n{line}'


def replay_loops(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare how often a stop was refused, and how the host ended that."""
    given = row.given
    denials = given["denials"]
    refuses = "cat >/dev/null; echo 'not yet' >&2; exit 2"
    if denials is not None:
        few = f'[ "$(wc -c <"$TMPDIR/asked")" -gt {denials} ] && exit 0'
        refuses = f'printf x >>"$TMPDIR/asked"; {few}; {refuses}'
    words = _agent(given["agent"])
    acts = [{"prompt": "go"}, *(next(words) for _ in range(given["steps"] + 1))]
    options = {"max_iteration_per_run": given["steps"], "stuck_detection": given["stuck_detection"]}
    if given["guard"] is not None:
        options["max_consecutive_stop_denials"] = given["guard"]
    groups = {"Stop": [dialect.group({"command": refuses})]}
    outcome = _play(row, dialect, simulate, groups, acts, **options)
    verdict = outcome.verdict
    said = verdict.cap.why if isinstance(verdict, Capped) else ""
    seen = {
        "calls": len(list(runs_of(outcome, "Stop"))),
        "requests": len(moves(outcome)),
        "status": _status(outcome),
        "errors": [name for name in ("StopHookLoopDetected",) if name in said],
    }
    return row.recorded, seen


def _agent(kind: str) -> Iterator[dict[str, Any]]:
    if kind == "text, with a thought after 2 refusals":
        yield from ({"stop": "text 0"}, {"stop": "text 1"}, _tool("think", thought="hmm"))
    for number in count():
        match kind:
            case "text":
                yield {"stop": "done"}
            case "finish, same words":
                yield _tool("finish", message="done")
            case "finish, new words":
                yield _tool("finish", message=f"done {number}")
            case "same thought":
                yield _tool("think", thought="hmm")
            case "new thoughts":
                yield _tool("think", thought=f"thought {number}")
            case "thought, then text":
                yield _tool("think", thought=f"thought {number}")
                yield {"stop": f"text {number}"}
            case "unknown tool, then text":
                refused = {"text": "Tool 'nothing' not found.", "failed": True}
                yield {"tool": {"name": "nothing", "input": {}}, "result": refused}
                yield {"stop": f"text {number}"}
            case _:
                yield {"stop": f"text {number}"}


def _tool(name: str, **given: str) -> dict[str, Any]:
    return {"tool": {"name": name, "input": given}}


def replay_process(row: Row, dialect: Dialect, simulate: Simulate) -> tuple[Terms, Terms]:
    """Compare how hooks were run, and what the host did meanwhile."""
    given = row.given
    numbers = count()
    groups = {
        event: [dialect.group(*(_handler(one, next(numbers)) for one in group)) for group in listed]
        for event, listed in given["hooks"].items()
    }
    outcome = _play(row, dialect, simulate, groups, _acts(given), **_steps(given))
    recorded = _comparable(row)
    seen = {**_result(outcome), **_course(outcome, row)}
    for term, most in (("refused", len(recorded.get("refused", ()))), ("timed_out", 4)):
        if term in recorded:
            seen[term] = seen[term][:most]
    return recorded, seen


def _comparable(row: Row) -> dict[str, Any]:
    """
    Return the comparable terms of a row. The harness waits for hooks in the background, the host did not.
    """
    recorded = dict(row.recorded)
    if any(one.get("async") for one in _hooks(row)):
        for term in ("seconds", "closing_seconds", "counts", "starts"):
            recorded.pop(term, None)
    if not recorded.get("closing_seconds"):
        recorded.pop("closing_seconds", None)
    return recorded


def _hooks(row: Row) -> Iterator[Terms]:
    return (one for listed in row.given["hooks"].values() for group in listed for one in group)


def _acts(given: Terms) -> list[dict[str, Any]]:
    agent = _agent(given.get("agent", ""))
    work = [next(agent) for _ in range(given.get("steps", _STEPS_OF_CALLS) + 1)]
    if "agent" in given:
        return [{"prompt": "PROMPT"}, *work]
    if "PreToolUse" in given["hooks"] or "PostToolUse" in given["hooks"]:
        calls = [_tool("terminal", command=f"echo t{number} >ran.txt")["tool"] for number in range(2)]
        call = {"tool": calls[: given.get("calls_at_once", 1)]}
        return [{"prompt": "PROMPT"}, call, {"stop": "done"}]
    acts: list[dict[str, Any]] = []
    for prompt in given.get("prompts", ["PROMPT"]):
        acts += [{"prompt": prompt}, {"stop": "done"}]
    return [*acts, {"stop": "done again"}] if "Stop" in given["hooks"] else acts


def _steps(given: Terms) -> dict[str, int]:
    if "agent" in given:
        return {"max_iteration_per_run": given.get("steps", _STEPS_OF_CALLS)}
    stops = (one for group in given["hooks"].get("Stop", ()) for one in group)
    return {"max_iteration_per_run": _STEPS_OF_STOPS} if any(one.get("once") for one in stops) else {}


def _handler(one: Terms, number: int) -> dict[str, Any]:
    keys = {key: one[key] for key in ("timeout", "async") if key in one}
    name = str(number)
    if not ({"child", "on_term"} & set(one)):
        return {"command": command({**one, "label": name}), **keys}
    words = [LINGERS, f"--exit={one['exit']}"]
    words += [f"--out={one['stdout']}"] if one["stdout"] else []
    words += [f"--sleep={one['sleep']}"] if "sleep" in one else []
    words += ["--term=ignores"] if one.get("on_term") else []
    child = one.get("child")
    if child is not None:
        words += [f"--child={child['seconds']}"]
        words += ["--session"] if child["session"] else []
        words += [] if child["streams"] else ["--quiet"]
        words += ["--waits"] if one.get("waits_for_child") else []
    line = shlex.join(words)
    return {"command": _once(line, name) if one.get("once") else line, **keys}


def _result(outcome: Outcome) -> dict[str, Any]:
    whole = [hook_run for event in _EVERY for hook_run in runs_of(outcome, event)]
    lived = [bool(hook_run.run.leftovers) for hook_run in whole if hook_run.run is not None]
    return {
        "requests": len(moves(outcome)),
        "status": _status(outcome),
        "finished_after_the_cut": any(lived),
        "child_lives": any(lived),
        "sigterm": "mark-term" in marks(outcome),
        "injected": texts_seen(outcome, 1),
        "ran": bool(performed(outcome)),
        "prompt": _prompt(outcome),
    }


def _course(outcome: Outcome, row: Row) -> dict[str, Any]:
    course = [(event, hook_run) for event, hook_run in _in_order(outcome) if hook_run.run is not None]
    counts: dict[str, int] = {}
    for event, _ in course:
        counts[event] = counts.get(event, 0) + 1
    starts = [hook_run.run.started for _, hook_run in course if hook_run.run is not None]
    closing = sum(
        hook_run.run.wall for event, hook_run in course if event in _CLOSING and hook_run.run is not None
    )
    recorded = row.recorded
    # The host itself took up to 0.04 seconds for each move.
    own = 0.3 + 0.04 * recorded["requests"]
    # After a refusal by the exit code alone the harness takes time to find out whether the hook ran at all.
    late = 1.0 + 2.0 * sum(_refuses(hook_run) for _, hook_run in course)
    # A loop with processes that a hook left running is played again, with more time for them.
    late += 5.0 * any(hook_run.run.leftovers for _, hook_run in course if hook_run.run is not None)
    by_call = any(isinstance(one, list) for one in recorded.get("order", ()))
    return {
        "counts": counts,
        "refused": [_refuses(hook_run) for _, hook_run in course],
        "timed_out": [_times_out(hook_run) for _, hook_run in course],
        "order": [[event, _named(hook_run)] if by_call else event for event, hook_run in course],
        "starts": _near(recorded.get("starts", []), [start - starts[0] for start in starts]),
        "seconds": _near([recorded["seconds"]], [outcome.wall - closing], own, late)[0],
        "closing_seconds": _near([recorded["closing_seconds"]], [closing])[0],
    }


def _in_order(outcome: Outcome) -> Iterator[tuple[str, HookRun]]:
    return ((hooked.event, hook_run) for _, hooked in outcome.trace.hooked() for hook_run in hooked.hook_runs)


def _refuses(hook_run: HookRun) -> bool:
    # A refusal on an event without the power to refuse was still recorded as one.
    return hook_run.reply.ruling is Ruling.DENY or "a refusal has no effect" in (hook_run.reply.fault or "")


def _times_out(hook_run: HookRun) -> bool:
    # For a hook in the background the host recorded only its start.
    waited = hook_run.hook.options.get("async") is not True
    return waited and hook_run.run is not None and isinstance(hook_run.run.ending, TimedOut)


def _named(hook_run: HookRun) -> str:
    line = str(json.loads(hook_run.stdin)["tool_input"]["command"])
    return line.split()[1]


def _near(
    recorded: Sequence[float], seen: Sequence[float], own: float = 0.3, late: float = 1.0
) -> list[float]:
    """Return the recorded times that the replay was close to, and the seen times in place of all others."""
    if len(recorded) != len(seen):
        return list(seen)
    pairs = zip(recorded, seen, strict=True)
    return [then if -own < now - then < late else round(now, 2) for then, now in pairs]
