"""The record of one session, in the same form for the simulation and the real host."""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import assert_never

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import SubagentText
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.protocol import Json, Rule
from pytest_hookharness.model.trace import HookEvent, HookRun, Moved
from pytest_hookharness.model.verdicts import (
    Capped,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
    verdict_name,
)
from pytest_hookharness.reports.terminal.phrases import describe_move

ENDED, CUT, HUNG = "it ended by itself", "it went on until the limit of turns", "it did not go on"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """
    One run of one hook.

    Attributes:
        exit: Its exit code, negative for a signal; ``None`` if that is unknown.
        folder: Its working folder; empty if that is unknown.
        env: The environment variables that the host changed for it, each with its value; ``None`` for one
            that the host removed.
    """

    event: str
    command: str
    stdin: bytes
    exit: int | None = None
    folder: str = ""
    env: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def payload(self) -> Json:
        """Its input as JSON; a text if it is none."""
        try:
            value: Json = json.loads(self.stdin)
        except ValueError:
            return self.stdin.decode("utf-8", "replace")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenText:
    """
    One text that the model saw, with the event whose hooks caused it, if any did.

    The rule of the profile behind it is known only in the simulation.
    """

    text: str
    event: str = ""
    rule: Rule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparableSession:
    """
    One session.

    Attributes:
        runs: The hook runs before the first message of the model, after the first, and so on.
        told: What was new for the model before each of its messages.
        moves: What the agent did in each of its messages, in words.
        files: Kind, mode and content of the files of the workspace at the end, by path.
        folders: Its absolute folders, each with a name.
        rules: The rules behind the decisions of the simulated host, by event; empty for the real one.
        words: The events of what hooks said in the simulation, by text; empty for the real host.
    """

    runs: tuple[tuple[RecordedRun, ...], ...]
    told: tuple[tuple[SeenText, ...], ...]
    files: Mapping[str, str]
    end: str
    folders: tuple[tuple[str, str], ...]
    moves: tuple[str, ...] = ()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def turns(self) -> int:
        """The number of messages of the model."""
        return len(self.told)


def changed_variables(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that differ between two environments, each with its value afterwards."""
    return {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}


def of_outcome(
    outcome: Outcome,
    files: Mapping[str, str],
    folders: Sequence[tuple[str, str]],
    limit: int,
    launches: Iterable[ProcessSpec] = (),
    given: Mapping[str, str] = MappingProxyType({}),
) -> ComparableSession:
    """Return the record of a simulated session: launches in order, in the host's environment."""
    started = iter(launches)
    runs: list[list[RecordedRun]] = [[]]
    told: list[tuple[SeenText, ...]] = []
    moves: list[str] = []
    rules: dict[str, Rule] = {}
    words: dict[str, str] = {}
    for step in outcome.trace.steps:
        match step.exchange:
            case Moved(move=SubagentText()):
                continue  # The messages of a subagent are not counted.
            case Moved(move=move, saw=saw):
                moves.append(describe_move(move))
                told.append(
                    tuple(
                        SeenText(text=one.text, event=one.event, rule=rules.get(one.event))
                        for one in saw.messages
                    )
                )
                runs.append([])
            case HookEvent(event=event, hook_runs=made, decision=decision):
                rules[event] = decision.rule
                said = (text.strip() for run in made for text in (run.reason, run.reply.context))
                words |= {text: event for text in said if text}
                runs[-1] += [_simulated_run(event, run, next(started, None), given) for run in made]
            case _:
                continue
    return ComparableSession(
        runs=tuple(map(tuple, runs)),
        told=tuple(told),
        files=files,
        end=_end(outcome, limit),
        folders=tuple(folders),
        moves=tuple(moves),
        rules=rules,
        words=words,
    )


def _simulated_run(
    event: str, run: HookRun, launch: ProcessSpec | None, given: Mapping[str, str]
) -> RecordedRun:
    return RecordedRun(
        event=event,
        command=run.hook.command,
        stdin=run.stdin,
        exit=getattr(run.run.own_ending, "code", None) if run.run else None,
        folder=launch.cwd if launch else "",
        env=changed_variables(given, launch.env) if launch else {},
    )


def _end(outcome: Outcome, limit: int) -> str:
    match outcome.verdict:
        case Terminated() | Capped():
            return ENDED
        case Hung():
            return HUNG
        case Livelock() | Recursing() | Lockout() | Undecided():
            return CUT if outcome.trace.turns >= limit else verdict_name(outcome.verdict)
        case _:
            assert_never(outcome.verdict)


def read_tapped(
    lines: Iterable[str], given: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[float, RecordedRun]]:
    """
    Return the hook runs that a tap noted, each with the time of its start, in this order.

    ``given`` is the environment of the host.
    """
    found: dict[tuple[int, float], tuple[float, RecordedRun]] = {}
    for line in lines:
        noted = literal_eval(line)
        stdin = noted["stdin"]
        run = RecordedRun(
            event=_event(stdin),
            command=noted["command"],
            stdin=stdin,
            exit=noted["exit"],
            folder=noted["cwd"],
            env=changed_variables(given, noted["env"]),
        )
        found[noted["pid"], noted["at"]] = (noted["at"], run)
    return sorted(found.values(), key=lambda pair: pair[0])


def _event(stdin: bytes) -> str:
    try:
        payload = json.loads(stdin)
    except ValueError:
        return ""
    named = payload if isinstance(payload, Mapping) else {}
    return str(named.get("hook_event_name") or named.get("event_type") or "")
