"""
Excursions: the way to one state is played, and there every move is tried.

An errand and what it gives are plain values, so that any process can go on it.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.execution.state.file_contents import Contents
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.recurrence.cycle import build_state, changes
from pytest_hookharness.judging.verdict import conclusion
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.judging.verdict.verdict import JudgeInput
from pytest_hookharness.model.exploration import LATE, Expansion, Successor
from pytest_hookharness.model.moves import Act, Move, Script
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import StateEntry, Trace
from pytest_hookharness.model.verdicts import Capped, Hung, Terminated
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

_OPAQUE = "the state is not known completely"
_GONE = StateEntry(kind="gone", mode=0, content="")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionTask:
    """
    What is to be tried in one state.

    Attributes:
        scenario: What is played.
        settings: The settings of the run.
        way: The acts that lead to the state.
        moves: The moves that are tried there.
        until: When it must be over, in seconds of the epoch.
    """

    scenario: Scenario
    settings: Settings
    way: tuple[Act, ...]
    moves: tuple[Move, ...]
    until: float


def expand(
    errand: ExpansionTask, supervisor: Supervisor, base: Path, slot: CpuSlot | None = None
) -> Expansion:
    """
    Go to a state and try every move there.
    """
    if time.time() > errand.until:
        return Expansion(digest="", why=LATE)
    with Testbed.open(errand.scenario, errand.settings, supervisor, base, slot) as stage:
        return _Expansion(stage, errand).make()


def expand_apart(errand: ExpansionTask) -> Expansion:
    """
    The same in any process, which has neither supervisor nor folder yet.
    """
    with tempfile.TemporaryDirectory(prefix="hookharness-") as folder, Supervisor() as supervisor:
        return expand(errand, supervisor, Path(folder))


class _Expansion:
    """
    One errand on its stage.
    """

    def __init__(self, stage: Testbed, errand: ExpansionTask) -> None:
        self._stage = stage
        self._errand = errand
        self._initial = stage.files
        self._contents = Contents(stage.workspace.roots)
        # The agent is never asked: each act is given to its host.
        self._player = SessionDriver(stage, agents.start(Script()))
        self._signs = ((str(stage.workspace.base), "\0base\0"), (stage.facts.words["slug"], "\0slug\0"))
        self._began: hosts.Session | None = None

    def make(self) -> Expansion:
        """
        Play the way, and then each move from there.
        """
        player = self._player
        request = self._walk()
        steps = tuple(player.steps)
        if request is None:
            why = "the session was over on the way" if self._remaining() else LATE
            return Expansion(digest="", steps=steps, why=why)
        digest = self._digest(player)
        if not digest:
            return Expansion(digest="", steps=steps, why=_OPAQUE)
        try:
            rehearsal = Checkpoint(self._stage, player.moment)
        except SnapshotError as error:
            return Expansion(digest="", steps=steps, why=f"the state cannot be put back: {error}")
        arrivals: list[Successor] = []
        with rehearsal:
            for move in self._errand.moves:
                arrivals.append(self._try(move, rehearsal.player(), request))
                rehearsal.put_back()
        return Expansion(digest=digest, successors=tuple(arrivals), steps=steps)

    def _walk(self) -> hosts.NextAct | None:
        """
        Play the way; gives what is asked at its end, ``None`` if the agent is not asked for a move there.
        """
        player = self._player
        request = player.go_on(self._remaining)
        for act in self._errand.way:
            if player.undergo(act):
                continue
            if not isinstance(request, hosts.NextAct) or (
                request.turn_over and not isinstance(act, hosts.EVENTS)
            ):
                return None
            player.take(request, act)
            request = player.go_on(self._remaining)
            self._calm(player)
        return request if isinstance(request, hosts.NextAct) and not request.turn_over else None

    def _try(self, move: Move, player: SessionDriver, request: hosts.NextAct) -> Successor:
        if not self._remaining():
            return Successor(fate="unknown", why=LATE)
        player.take(request, move)
        after = player.go_on(self._remaining)
        steps = tuple(player.steps)
        if player.refused is not None:
            return Successor(fate="unknown", why="hooks started more agents than are allowed", steps=steps)
        if after is None:
            why = "a subagent is refused its stop again and again" if self._remaining() else LATE
            return Successor(fate="unknown", why=why, steps=steps)
        if isinstance(after, hosts.NextAct) and not after.turn_over:
            self._calm(player)
            digest = self._digest(player)
            why = "" if digest else _OPAQUE
            return Successor(fate="state" if digest else "unknown", digest=digest, why=why, steps=steps)
        ended = after if isinstance(after, hosts.Ended) else after.ending
        return replace(self._judge(player, ended), steps=steps)

    def _judge(self, player: SessionDriver, ended: hosts.Ended | None) -> Successor:
        """
        What the end of a turn is to an agent that wants to stop.
        """
        end = player.end_of(ended) if ended is not None else RunEnd(how="idle", turn=player.turn)
        formed = conclusion.form_conclusion(JudgeInput(Trace(steps=tuple(player.steps)), end))
        hollow = [finding.name for finding in formed.findings if finding.name in INCONCLUSIVE_FINDINGS]
        match formed.verdict:
            case Terminated() if hollow:
                return Successor(
                    fate="unknown", why=f"it ends, but not by a decision of every hook ({hollow[0]})"
                )
            case Terminated():
                return Successor(fate="stopped")
            case Capped():
                return Successor(fate="held", why="only the host's guard ends it")
            case Hung():
                return Successor(fate="held", why="the host waits for ever")
            case _:
                return Successor(fate="unknown", why="the session ended in another way than by a stop")

    def _remaining(self) -> float:
        return max(0.0, self._errand.until - time.time())

    def _calm(self, player: SessionDriver) -> None:
        """
        Let the host forget what its guards count, which would end what the hooks do not.
        """
        session = player.progress.session
        self._began = self._began or session
        calm = session.relieved(self._began)
        if session.profile.tells("moves"):
            calm = replace(calm, moves=session.moves)
        player.progress = replace(player.progress, session=calm)

    def _digest(self, player: SessionDriver) -> str:
        """
        The fingerprint of the state, the same in every workspace; empty if it is not known completely.

        A state is what differs from the beginning. The agent has no place in it, for it is free.
        """
        stage = self._stage
        stage.scan()
        if stage.scanner.opaque:
            return ""
        differing = {
            self._anywhere(change.path): self._entry(change.path)
            for change in changes(self._initial, stage.files)
        }
        # A file that was seen may become stale later, one that was not seen cannot.
        session = {**player.visible, "files seen": sorted(player.progress.session.seen)}
        visible = {"session": self._anywhere(json.dumps(session, sort_keys=True))}
        answers = json.dumps(stage.answers.position)
        return build_state(visible=visible, agent=answers, environment="", files=differing).digest

    def _entry(self, path: str) -> StateEntry:
        entry = self._stage.files.get(path)
        if entry is None:
            return _GONE
        if entry.kind != "file":
            return replace(entry, content=self._anywhere(entry.content))
        try:
            data = self._stage.scanner.unmasked(path, self._contents.read(path) or b"")
        except WorkspaceError:
            # Too large to be looked into; then it is known by what was seen of all of it.
            data = None
        if data is None:
            return entry
        text = data.decode("utf-8", "surrogateescape")
        neutral = self._anywhere(text)
        if neutral == text:
            return entry
        written = neutral.encode("utf-8", "surrogateescape")
        return replace(entry, content=blake2b(written).hexdigest())

    def _anywhere(self, text: str) -> str:
        """
        A text as it would be in any workspace: with signs for its own path, and for what hosts make of that.
        """
        for name, sign in self._signs:
            text = text.replace(name, sign)
        return text
