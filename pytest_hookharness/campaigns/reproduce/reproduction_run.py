"""
Reproducing a reported loop: the recorded moves are played against the real hooks, and the refusals compared.

First all moves are played, to compare refusal by refusal; then the session is judged as any other; then it is
shrunk. Secrets are taken out before anything is played, so that what is written is what was played.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.reproduce.missing_tools import find_missing_tools
from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves
from pytest_hookharness.campaigns.reproduce.recorded_project import (
    RecordedProject,
    find_project,
    infer_folder,
)
from pytest_hookharness.campaigns.reproduce.recorded_scenario import (
    all_moves,
    compose,
    describe_hidden,
    fewer_blocks,
    is_endless,
    name_of,
    require_new,
    shorten,
    write_scenarios,
)
from pytest_hookharness.campaigns.reproduce.refusal_comparison import (
    SUBAGENT_STOP,
    UNKNOWN_CAUSE,
    Comparison,
    alike,
    compare,
    recorded_refusals,
    replayed_refusals,
)
from pytest_hookharness.campaigns.reproduce.reproduction import Reproduction
from pytest_hookharness.campaigns.reproduce.resumed_plays import open_resumed_plays
from pytest_hookharness.campaigns.reproduce.session_files import SessionFiles, read_session, texts_of
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.campaigns.shrinking.scenario_shrinker import MOST_SECONDS, Shrinker
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.refusal_rows import detect_all
from pytest_hookharness.model.actions import Break, DetectedLoop, HookRefusal
from pytest_hookharness.model.expectations import Expectation, counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Livelock, Undecided
from pytest_hookharness.reports.redaction import Secrets, find_assigned, find_secrets, redact, redacted
from pytest_hookharness.reports.terminal.verdict_text import first_line
from pytest_hookharness.reports.trace import schema
from pytest_hookharness.simulation.simulate import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

_ENDLESS = ("livelock", "capped", "lockout", "recursing")
# What the transcripts of each host lack, in addition to what none of them has.
_MISSING = {
    "claude-code": "",
    "codex": "the commands of the hooks",
    "openhands": "the folder and the commit of the project",
    "gemini-cli": "the folder and the commit of the project, which texts are from hooks, refused calls",
    "qwen-code": "what hooks said, the commit of the project",
}
# How many of the last refusals of an endless session may be of another hook.
_LAST = 3
_AS_NOW = "the project is not as it was at the start of the session; give its commit with --at COMMIT"
_MISSING_EVERYWHERE = "the environment, files that were not committed"


@dataclass(slots=True)
class ReproductionRun:
    """
    The reproduction of one session.

    Attributes:
        source: The transcript.
        settings: The settings of each play.
        resources: Where and with whose help it is played.
        project: The project; ``None`` for the folder that the transcript names.
        at: The commit; empty for the one that the transcript names.
        output: The folder for the scenarios.
        shrinks: Whether the scenario is shrunk.
    """

    source: Path
    settings: Settings
    resources: Resources
    project: Path | None = None
    at: str = ""
    output: Path = Path("reproduced")
    shrinks: bool = True
    _plays: int = 0
    _hooks: set[str] = field(default_factory=set[str])
    _secrets: Secrets = Secrets()
    # The top of the recorded project, as the transcript names it.
    _top: str = ""
    _began: float = field(default_factory=time.monotonic)

    def run(self) -> Reproduction:
        """
        Reproduce the longest row of refusals of the session.

        Raises:
            UnreadableRecords: The transcript cannot be read.
            SimulationError: The project or the commit does not exist.
        """
        session = read_session(self.source)
        stream = session.stream
        host = f"{stream.form} {stream.version}".strip()
        result = Reproduction(source=str(self.source), host=host)
        loops = detect_all(stream.items)
        rows = [loop for loop in loops if loop.name == "refusals"]
        if not rows:
            return replace(result, without=_describe_rest(stream, loops), left_out=_unread(session))
        loop = max(rows, key=lambda row: row.count)
        require_new(self.output, name_of(stream, loop))
        with TemporaryDirectory(prefix="hookharness-commit-") as scratch:
            project = find_project(stream, self.source, self.project, self.at, Path(scratch))
            stream.note(cwd=infer_folder(stream, project.folder / project.subfolder))
            self._top = stream.cwd.removesuffix(f"/{project.subfolder}")
            assigned = find_assigned([*texts_of(stream), *(project.files or project.named).values()])
            found = find_secrets(os.environ, assigned, words=schema.words())
            # Hooks read what stands in the place of a secret, as in a file of settings.
            self._secrets = replace(found, one_word=True)
            others = tuple(other.text for other in loops if other is not loop)
            result = replace(result, loop=loop.text, others=others, left_out=_unread(session))
            return redacted(self._reproduce(result, stream, loop, project), self._secrets)

    def _reproduce(
        self,
        result: Reproduction,
        stream: SessionStream,
        loop: DetectedLoop,
        project: RecordedProject,
    ) -> Reproduction:
        tier = self.settings.tier or available_tiers()[0]
        # A transcript may come from anybody, so its commands run only where they cannot reach this machine.
        moves = RecordedMoves(stream, performs=tier is Tier.NAMESPACES)
        moves.read()
        composed = compose(stream, loop, project, moves)
        scenario = redacted(composed, self._secrets)
        hidden = describe_hidden(composed, scenario)
        of_subagent = loop.refusal is not None and loop.refusal.event == SUBAGENT_STOP
        stops = (item for item in stream.items if item.agent == loop.agent and isinstance(item, Break))
        recorded = recorded_refusals(stops if of_subagent else moves.played)
        whole = self._play(all_moves(scenario, stream))
        comparison = compare(recorded, whole, self._top, of_subagent=of_subagent)
        outcome = self._play(scenario)
        complete = comparison.same == comparison.recorded > 0
        if complete and outcome.passed and scenario.expect.verdict:
            # The real session went on in the end too; the hook should not have refused as often.
            scenario = replace(scenario, expect=fewer_blocks(loop))
            outcome = self._play(scenario)
        kept = moves.refused_act(scenario.script.acts, loop)
        shown = self._shows(outcome, loop)
        if not shown and _is_cut(outcome):
            # Our budget ended, which says nothing about the hooks; a few of the moves may show the loop.
            plays = ((some, self._play(some, quick=True)) for some in shorten(scenario, kept))
            found = next((pair for pair in plays if self._shows(pair[1], loop)), None)
            if found is not None:
                (scenario, outcome), shown = found, True
                moves.left_out.append("the whole session: it takes longer than --budget allows")
        self._hooks = {one.hook for one in self._alike(outcome.trace, outcome.folders, loop)}
        missing = [part for part in (_MISSING[stream.form], _MISSING_EVERYWHERE) if part]
        tools = find_missing_tools(whole, self.settings, self.resources, self._play)
        result = replace(
            result,
            played=hosts.find(scenario.host).id,
            project=project.told,
            verdict=self._verdict(outcome, loop),
            reproduced=shown or (complete and not outcome.passed),
            left_out=(*result.left_out, *moves.left_out, *hidden, *_describe_missing(tools)),
            missing=", ".join(missing),
            recorded=comparison.recorded,
            same=comparison.same,
            more=comparison.more,
            difference=comparison.difference,
            cause=_likely_cause(comparison, tools, hidden, project),
        )
        if not result.reproduced:
            return self._timed(result)
        small = self._shrink(scenario, loop, kept, project) if shown and self.shrinks else None
        files = tuple(self._write(result, scenario, small, project))
        return self._timed(replace(result, shrunk=small.describe() if small else "", files=files))

    def _write(
        self, result: Reproduction, scenario: Scenario, small: Shrinker | None, project: RecordedProject
    ) -> Iterator[str]:
        why = f"{result.loop} Recorded by {result.host}, played on {result.project}."
        return write_scenarios(
            self.output,
            scenario,
            small.best if small else None,
            why=redact(why, self._secrets),
            project=project,
            secrets=self._secrets,
            calls=self._count_calls,
        )

    def _timed(self, result: Reproduction) -> Reproduction:
        return replace(result, plays=self._plays, seconds=time.monotonic() - self._began)

    def _verdict(self, outcome: Outcome, loop: DetectedLoop) -> str:
        """Return what the play of the whole session shows, in words."""
        if is_endless(outcome.scenario) or loop.refusal is None:
            return first_line(replace(outcome, violations=()))
        seen = self._alike(outcome.trace, outcome.folders, loop)
        hooks = ", ".join(dict.fromkeys(one.hook for one in seen))
        by = f" by {hooks}" if hooks else ""
        return f"{loop.refusal.event} was refused {counted(len(seen), 'time')} with this text{by}"

    def _count_calls(self, scenario: Scenario) -> int:
        """Return how many calls the hooks of the expected event are asked about."""
        (event,) = scenario.expect.decisions or {}
        return len(self._play(replace(scenario, expect=Expectation())).decisions(event))

    def _play(self, scenario: Scenario, wall: float = 0.0, *, quick: bool = False) -> Outcome:
        self._plays += 1
        # What changes a decision is only looked for where the verdict is about a loop without an end.
        probes = self.settings.probes and is_endless(scenario) and not quick
        settings = replace(self.settings, wall=wall or self.settings.wall, probes=probes)
        return simulate(scenario, settings, self.resources)

    def _shows(self, outcome: Outcome, loop: DetectedLoop) -> bool:
        """Return whether an outcome shows the loop: the same hook and text, and no end or too many blocks."""
        endless = is_endless(outcome.scenario)
        # Another hook may go on forever; then the loop is among the last refusals no more.
        last = _LAST if not isinstance(outcome.verdict, Livelock) else max(_LAST, outcome.verdict.period)
        seen = self._alike(outcome.trace, outcome.folders, loop, last=last if endless else 0)
        return bool(seen) and (outcome.verdict_name in _ENDLESS or not endless) and not outcome.passed

    def _alike(
        self, trace: Trace, folders: Sequence[tuple[str, str]], loop: DetectedLoop, *, last: int = 0
    ) -> list[HookRefusal]:
        """
        Return the refusals of a play that have the event, the text and, once known, a hook of the loop.

        Of refusals of several hooks at once each counts; ``last`` is how many of the last ones are looked at.
        """
        return [
            one
            for group in replayed_refusals(trace)[-last:]
            for one in group
            if loop.refusal is not None
            and alike(loop.refusal, one, self._top, folders)
            and (not self._hooks or one.hook in self._hooks)
        ]

    def _shrink(
        self,
        scenario: Scenario,
        loop: DetectedLoop,
        kept: Act,
        project: RecordedProject,
    ) -> Shrinker:
        """Return a small scenario; it shows the loop in a play as thorough as that of the written test."""
        quick = self._search(scenario, loop, kept, project, quick=True)
        if quick.best == scenario or self._shows(self._play(quick.best), loop):
            return quick
        return self._search(scenario, loop, kept, project, quick=False)

    def _search(
        self,
        scenario: Scenario,
        loop: DetectedLoop,
        kept: Act,
        project: RecordedProject,
        *,
        quick: bool,
    ) -> Shrinker:
        thorough = not quick

        def shows(some: Scenario) -> bool | None:
            nonlocal thorough
            try:
                outcome = self._play(some, MOST_SECONDS, quick=not thorough)
                if outcome.verdict_name == "undecided" and is_endless(some) and not thorough:
                    # Something changes in each turn, and experiments show whether it matters.
                    thorough = True
                    outcome = self._play(some, MOST_SECONDS)
            except (SimulationError, WorkspaceError):
                return False
            undecided = outcome.verdict_name == "undecided" and is_endless(some)
            return None if undecided else self._shows(outcome, loop)

        shrinker = Shrinker(shows=shows, best=scenario, kept=kept)
        if scenario.project is not None:
            shrinker.try_out(replace(scenario, project=None, files=redacted(project.named, self._secrets)))
        with open_resumed_plays(
            shrinker.best,
            self.settings,
            self.resources,
            seen=lambda trace, folders: bool(self._alike(trace, folders, loop)),
            endless=is_endless(scenario),
            remaining=lambda: max(0.0, shrinker.until - time.monotonic()),
        ) as plays:
            shrinker.rules_out = plays.rules_out if plays is not None else shrinker.rules_out
            shrinker.shrink()
        return shrinker


def _describe_rest(stream: SessionStream, loops: tuple[DetectedLoop, ...]) -> str:
    count = sum(map(len, recorded_refusals(stream.items)))
    number, others = counted(count, "refusal"), counted(len(loops), "loop")
    refused = f"{number}, no three in a row with one text" if count else "no refusals by hooks"
    own = f"; {others} of the agent's own moves, see `hookharness analyze`" if loops else ""
    return f"{refused}{own}"


def _is_cut(outcome: Outcome) -> bool:
    """Return whether our budget ended a play before its last move."""
    return isinstance(outcome.verdict, Undecided) and outcome.verdict.turn < outcome.scenario.turns


def _unread(session: SessionFiles) -> tuple[str, ...]:
    """Return what of the transcript was not read, in words."""
    return tuple(f"not read, {why}: {counted(count, 'record')}" for why, count in session.unread.items())


def _describe_missing(tools: Sequence[str]) -> tuple[str, ...]:
    called = ", ".join(f"`{tool}`" for tool in tools)
    return (f"not installed here, but called by hooks: {called}",) if tools else ()


def _likely_cause(
    comparison: Comparison, tools: Sequence[str], hidden: Sequence[str], project: RecordedProject
) -> str:
    """Return the likely cause of the first difference: a missing tool first, then what we changed."""
    if comparison.cause != UNKNOWN_CAUSE:
        return comparison.cause
    known = [*_describe_missing(tools), *hidden]
    return known[0] if known else comparison.cause if project.commit else _AS_NOW
