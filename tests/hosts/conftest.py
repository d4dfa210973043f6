"""Drive host sessions on plain values: no process, no file, no clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Act, Message, Performance
from pytest_hookharness.model.processes import Exited, Output, ProcessResult, Signaled
from pytest_hookharness.model.protocol import Decision, Payload, Reply
from pytest_hookharness.model.trace import Performed

DATA = Path(__file__).parents[1] / "data" / "claude-code"
Script = Callable[[hosts.RunHooks, int], ProcessResult | Payload | None]


def ended(
    code: int = 0, stdout: str = "", stderr: str = "", *, signal: int | None = None, wall: float = 0.1
) -> ProcessResult:
    """Return the result of a process that ended by itself."""
    ending = Exited(code) if signal is None else Signaled(signal)
    out, err = stdout.encode(), stderr.encode()
    return ProcessResult(ending=ending, stdout=Output(out, len(out)), stderr=Output(err, len(err)), wall=wall)


@dataclass
class Play:
    """The record of a session from its start to its end."""

    requests: list[hosts.Request] = field(default_factory=list)
    written: list[Mapping[str, tuple[Payload, ...]]] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    performed: list[Performed] = field(default_factory=list)
    observations: list[tuple[Message, ...]] = field(default_factory=list)
    endings: list[hosts.Ended] = field(default_factory=list)
    sessions: list[hosts.Session] = field(default_factory=list)

    @property
    def events(self) -> list[str]:
        """The events whose hooks ran, in order."""
        return [request.event for request in self.asked()]

    @property
    def lines(self) -> list[Payload]:
        """The lines of all transcripts, in order."""
        return [line for written in self.written for lines in written.values() for line in lines]

    def asked(self, event: str | None = None) -> list[hosts.RunHooks]:
        """Return the requests to run hooks, all or those of one event."""
        asked = [request for request in self.requests if isinstance(request, hosts.RunHooks)]
        return [request for request in asked if event in (None, request.event)]

    def flags(self) -> list[object]:
        """Return the values of stop_hook_active, in order."""
        return [request.payload["stop_hook_active"] for request in self.asked("Stop")]

    def seen(self) -> list[str]:
        """Return all texts that the agent saw, in order."""
        return [message.text for messages in self.observations for message in messages]


def play(
    settings: Mapping[str, Any],
    acts: Iterable[Act],
    answer: Script,
    *,
    finished: tuple[int, ...] = (),
    perform: Callable[[hosts.PerformCall], Performance] | None = None,
    most: int = 2000,
    profile: hosts.Profile | None = None,
    files: Mapping[str, str] | None = None,
    **given: Any,
) -> Play:
    """Drive a session with acts in order and an answer for each hook."""
    profile = profile or hosts.find("claude-code")
    configuration = hosts.configure(profile, files or {}, inline=settings)
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp/x", seed=7, **given)
    script = iter(acts)
    result = Play()
    progress = hosts.begin(profile, configuration, facts)
    for _ in range(most):
        request = progress.request
        result.requests.append(request)
        result.written.append(progress.lines)
        result.sessions.append(progress.session)
        result.performed += progress.performed
        match request:
            case hosts.RunHooks():
                runs = tuple(answer(request, index) for index in range(len(request.hooks)))
                progress = hosts.advance(progress.session, hosts.HooksFinished(runs=runs, finished=finished))
                if progress.decision is not None:
                    result.decisions.append(progress.decision)
                    result.replies += progress.replies
            case hosts.PerformCall():
                done = perform(request) if perform else Performance(exit=0, stdout="visible\n")
                progress = hosts.advance(progress.session, done)
            case hosts.NextAct():
                act: Act | None
                if request.given is not None:
                    act = request.given
                elif request.turn_over:
                    result.endings += [request.ending] if request.ending else []
                    act = next((act for act in script if isinstance(act, hosts.EVENTS)), None)
                else:
                    result.observations.append(request.observation.messages)
                    act = next(script, None)
                progress = hosts.advance(progress.session, act)
            case hosts.Ended():
                result.endings.append(request)
                return result
    return result


@pytest.fixture
def profile() -> hosts.Profile:
    """The profile of the newest Claude Code."""
    return hosts.find("claude-code")


@pytest.fixture(name="play")
def give_play() -> Callable[..., Play]:
    """The function that drives a session."""
    return play


@pytest.fixture(name="ended")
def give_ended() -> Callable[..., ProcessResult]:
    """The function that makes results of processes."""
    return ended


@pytest.fixture(scope="session")
def recorded() -> list[dict[str, Any]]:
    """Inputs that hooks of the real host were given."""
    return list(json.loads((DATA / "payloads.json").read_text())["payloads"])


@pytest.fixture(scope="session")
def results() -> dict[str, Any]:
    """Results of the real host for each answer."""
    return dict(json.loads((DATA / "results.json").read_text()))
