"""
State expansion: follow the path to one state, and try every move there.

Tasks and results can be pickled, so any process can expand a state.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import TypeAlias, assert_never

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.explore.hidden_state import HiddenState
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.execution.state.file_contents import Contents
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.recurrence.cycle import build_state, changes
from pytest_hookharness.judging.verdict import conclusion
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.exploration import LATE, Expansion, Successor
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act, Move, Script
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded, limited_to
from pytest_hookharness.model.trace import StateEntry, Trace
from pytest_hookharness.model.verdicts import (
    Capped,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
)
from pytest_hookharness.simulation.parallel_jobs import Job, can_run_concurrently, run_jobs
from pytest_hookharness.simulation.remote_work import receive, submit
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Expands the states of tasks; yields the position of each task and its result, in any order.
ExpandAll: TypeAlias = Callable[[Sequence["ExpansionTask"]], Iterable[tuple[int, Expansion]]]
_OPAQUE = "the state is not completely known"
# Texts of a subagent whose stop is refused again and again.
_MOST_TEXTS = 20
_TOO_LATE = Expansion(digest="", why=LATE)
_GONE = StateEntry(kind="gone", mode=0, content="")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionTask:
    """One state to expand: the acts that lead to it, the moves to try there, and the seconds for all."""

    scenario: Scenario
    settings: Settings
    path: tuple[Act, ...]
    moves: tuple[Move, ...]
    seconds: float


def expand(task: ExpansionTask, resources: Resources) -> Expansion:
    """Go to the state of a task, and try every move there."""
    until = time.monotonic() + task.seconds
    if task.seconds <= 0:
        return _TOO_LATE
    try:
        with limited_to(task.seconds), resources.open_testbed(task.scenario, task.settings) as testbed:
            return _StateExpansion(testbed, task, until).run()
    except BudgetEnded:
        return _TOO_LATE


def expand_here(resources: Resources, tasks: Sequence[ExpansionTask]) -> Generator[tuple[int, Expansion]]:
    """
    Expand states in this process, at the same time where simulations share nothing.

    Yields:
        The position of each task and its result, in order of completion.
    """
    first, ends = tasks[0], [time.monotonic() + task.seconds for task in tasks]

    def expand_one(place: int, own: Resources) -> Expansion:
        # A task has waited for those before it.
        return expand(replace(tasks[place], seconds=ends[place] - time.monotonic()), own)

    concurrent = can_run_concurrently(first.scenario, first.settings.tier, resources.supervisor)
    if len(tasks) == 1 or resources.slot is not None or not concurrent:
        yield from ((place, expand_one(place, resources)) for place in range(len(tasks)))
        return

    def with_slot(place: int) -> Job[Expansion]:
        return lambda slot, base: expand_one(place, replace(resources, base=base, slot=slot))

    yield from run_jobs([*map(with_slot, range(len(tasks)))], resources.base)


def expand_with(executor: Executor) -> ExpandAll:
    """Return a function that expands states with an executor, in its processes and on its machines."""

    def expand_all(tasks: Sequence[ExpansionTask]) -> Iterable[tuple[int, Expansion]]:
        ends = [time.monotonic() + task.seconds for task in tasks]
        given: list[Future[bytes]] = []
        try:
            given += (submit(executor, partial(expand, task)) for task in tasks)
            for place, (future, until) in enumerate(zip(given, ends, strict=True)):
                try:
                    found: Expansion = receive(future, until)
                except BudgetEnded:
                    found = _TOO_LATE
                yield place, found
        finally:
            for future in given:
                future.cancel()

    return expand_all


class _StateExpansion:
    """One task on its testbed."""

    def __init__(self, testbed: Testbed, task: ExpansionTask, until: float) -> None:
        self._until = until
        self._testbed = testbed
        self._task = task
        self._initial = testbed.files
        self._contents = Contents(testbed.workspace.roots)
        # The agent is never asked: each act is given to its host.
        self._driver = SessionDriver(testbed, agents.start(Script()))
        workspace, slug = str(testbed.workspace.base), testbed.facts.template_values["slug"]
        self._placeholders = ((workspace, "\0base\0"), (slug, "\0slug\0"))
        self._began: hosts.Session | None = None
        self._hidden = HiddenState(testbed)

    def run(self) -> Expansion:
        """Follow the path, then try each move from its end."""
        driver = self._driver
        request = self._follow_path()
        steps = tuple(driver.steps)
        if request is None:
            why = "the session ended on the path" if self._remaining() else LATE
            return Expansion(digest="", steps=steps, why=why)
        digest = self._digest(driver)
        self._hidden.go_on(driver)
        if not digest:
            return Expansion(digest="", steps=steps, why=_OPAQUE)
        try:
            checkpoint = Checkpoint(self._testbed, driver.point)
        except SnapshotError as error:
            return Expansion(digest="", steps=steps, why=f"the state cannot be restored: {error}")
        successors: list[Successor] = []
        with checkpoint:
            for move in self._task.moves:
                successors.append(self._try(move, checkpoint.resume(), request))
                checkpoint.restore()
        assumed = self._hidden.assumed
        return Expansion(digest=digest, successors=tuple(successors), steps=steps, assumed=assumed)

    def _follow_path(self) -> hosts.NextAct | None:
        """Follow the path; return the host's request at its end, ``None`` if it asks for no move there."""
        driver = self._driver
        request = driver.drive(self._remaining)
        for act in self._task.path:
            if driver.apply_event(act):
                continue
            if not isinstance(request, hosts.NextAct) or (
                request.turn_over and not isinstance(act, hosts.EVENTS)
            ):
                return None
            driver.give(request, act)
            request = self._drive(driver)
            self._reset_caps(driver)
        return request if isinstance(request, hosts.NextAct) and not request.turn_over else None

    def _drive(self, driver: SessionDriver) -> hosts.NextAct | hosts.Ended | None:
        """Drive until the agent itself moves next; ``None`` also if a subagent cannot stop."""
        request = driver.drive(self._remaining)
        for _ in range(_MOST_TEXTS):
            if not isinstance(request, hosts.NextAct) or request.given is None:
                return request
            driver.give(request, request.given)
            request = driver.drive(self._remaining)
        return None

    def _try(self, move: Move, driver: SessionDriver, request: hosts.NextAct) -> Successor:
        if not self._remaining():
            return Successor(fate="unknown", why=LATE)
        driver.give(request, move)
        after = self._drive(driver)
        steps = tuple(driver.steps)
        if driver.refused_session is not None:
            return Successor(fate="unknown", why="hooks started more agents than are allowed", steps=steps)
        if after is None:
            why = "the stop of a subagent is refused again and again" if self._remaining() else LATE
            return Successor(fate="unknown", why=why, steps=steps)
        if isinstance(after, hosts.NextAct) and not after.turn_over:
            self._reset_caps(driver)
            digest = self._digest(driver)
            why = "" if digest else _OPAQUE
            return Successor(fate="state" if digest else "unknown", digest=digest, why=why, steps=steps)
        ended = after if isinstance(after, hosts.Ended) else after.ending
        return replace(self._judge(driver, ended), steps=steps)

    def _judge(self, driver: SessionDriver, ended: hosts.Ended | None) -> Successor:
        """Return what the end of a turn means to an agent that wants to stop."""
        end = driver.run_end(ended) if ended is not None else RunEnd(how="idle", turn=driver.turn)
        formed = conclusion.form_conclusion(JudgeInput(Trace(steps=tuple(driver.steps)), end))
        undecided = [finding.name for finding in formed.findings if finding.name in INCONCLUSIVE_FINDINGS]
        match formed.verdict:
            case Terminated() if undecided:
                return Successor(
                    fate="unknown", why=f"it ends, but not by a decision of every hook ({undecided[0]})"
                )
            case Terminated():
                return Successor(fate="stopped")
            case Capped():
                return Successor(fate="held", why="only the host's cap ends it")
            case Hung():
                return Successor(fate="held", why="the host waits forever")
            case Livelock() | Recursing() | Lockout() | Undecided():
                return Successor(fate="unknown", why="the session ended in another way than by a stop")
            case _:
                assert_never(formed.verdict)

    def _remaining(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _reset_caps(self, driver: SessionDriver) -> None:
        """Reset what the host counts for its caps, which would end what the hooks do not."""
        session = driver.progress.session
        self._began = self._began or session
        reset = session.with_host_counts_of(self._began)
        if session.profile.uses_value("moves"):
            # Hooks of this host see the number of moves, so it is part of what they decide by.
            reset = replace(reset, moves=session.moves)
        driver.replace_session(reset)

    def _digest(self, driver: SessionDriver) -> str:
        """
        Return the fingerprint of the state, equal in every workspace; empty if it is not completely known.

        A state is what differs from the first one. The agent is not part of it, because its choice is free.
        """
        testbed = self._testbed
        testbed.scan()
        if testbed.scanner.opaque or self._hidden.is_unknown:
            return ""
        differing = {
            self._neutral(change.path): self._entry(change.path)
            for change in changes(self._initial, testbed.files)
        }
        # A file that the agent has read may become outdated later; another one cannot.
        session = {**driver.visible, "files seen": sorted(driver.progress.session.known_files)}
        visible = {"session": self._neutral(json.dumps(session, sort_keys=True))}
        visible |= {name: self._neutral(value) for name, value in self._hidden.look(driver).items()}
        answers = json.dumps(testbed.answers.position)
        return build_state(visible=visible, agent=answers, environment="", files=differing).digest

    def _entry(self, path: str) -> StateEntry:
        entry = self._testbed.files.get(path)
        if entry is None:
            return _GONE
        if entry.kind != "file":
            return replace(entry, content=self._neutral(entry.content))
        try:
            data = self._testbed.scanner.unmasked(path, self._contents.read(path) or b"")
        except WorkspaceError:
            # Too large to be read; its entry has a digest of all of it.
            data = None
        if data is None:
            return entry
        text = data.decode("utf-8", "surrogateescape")
        neutral = self._neutral(text)
        if neutral == text:
            return entry
        written = neutral.encode("utf-8", "surrogateescape")
        return replace(entry, content=blake2b(written).hexdigest())

    def _neutral(self, text: str) -> str:
        """Return a text with placeholders for the path of this workspace, also in the host's form."""
        for name, placeholder in self._placeholders:
            text = text.replace(name, placeholder)
        return text
