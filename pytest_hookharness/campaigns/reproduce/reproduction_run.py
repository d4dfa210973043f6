"""
Reproducing a reported loop: the recorded moves are played against the real hooks, and the refusals compared.

First all moves are played, to compare refusal by refusal; then the session is judged as any other; then it is
shrunk. Secrets are taken out before anything is played, so that what is written is what was played.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves
from pytest_hookharness.campaigns.reproduce.recorded_project import (
    RecordedProject,
    copy_project,
    find_project,
    infer_folder,
)
from pytest_hookharness.campaigns.reproduce.refusal_comparison import (
    SUBAGENT_STOP,
    UNKNOWN_CAUSE,
    alike,
    compare,
    recorded_refusals,
    replayed_refusals,
)
from pytest_hookharness.campaigns.reproduce.reproduction import Reproduction
from pytest_hookharness.campaigns.reproduce.resumed_plays import open_resumed_plays
from pytest_hookharness.campaigns.reproduce.session_files import read_session, texts_of
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.campaigns.shrinking.scenario_shrinker import MOST_SECONDS, Shrinker
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.messages import Limits
from pytest_hookharness.judging.detectors.refusal_rows import detect_all
from pytest_hookharness.model.actions import Break, DetectedLoop, HookRefusal
from pytest_hookharness.model.expectations import Expectation, Range, counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Prompt, Script, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.reports.redaction import Secrets, find_assigned, find_secrets, redact, redacted
from pytest_hookharness.reports.terminal.verdict_text import first_line
from pytest_hookharness.reports.trace import schema
from pytest_hookharness.scenario_files.writer import write
from pytest_hookharness.simulation.simulate import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

SUFFIX = ".scenario.yaml"
_ENDLESS = ("livelock", "capped", "lockout", "recursing")
# What the transcripts of each host lack, in addition to what none of them has.
_MISSING = {
    "claude-code": "",
    "codex": "the commands of the hooks",
    "openhands": "the folder and the commit of the project",
    "gemini-cli": "the folder and the commit of the project, which texts are from hooks, refused calls",
    "qwen-code": "what hooks said, the commit of the project",
}
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
        stream = read_session(self.source).stream
        host = f"{stream.form} {stream.version}".strip()
        result = Reproduction(source=str(self.source), host=host)
        loops = detect_all(stream.items)
        rows = [loop for loop in loops if loop.name == "refusals"]
        if not rows:
            return replace(result, without=_describe_rest(stream, loops))
        loop = max(rows, key=lambda row: row.count)
        self._require_new(_name(stream, loop))
        with TemporaryDirectory(prefix="hookharness-commit-") as scratch:
            project = find_project(stream, self.source, self.project, self.at, Path(scratch))
            stream.note(cwd=infer_folder(stream, project.folder / project.subfolder))
            self._top = stream.cwd.removesuffix(f"/{project.subfolder}")
            assigned = find_assigned([*texts_of(stream), *(project.files or project.named).values()])
            secrets = self._secrets = find_secrets(os.environ, assigned, words=schema.words())
            found = self._reproduce(replace(result, loop=loop.text), stream, loop, project, secrets)
            return redacted(found, secrets)

    def _require_new(self, name: str) -> None:
        for suffix in (SUFFIX, f"-full{SUFFIX}", "-project"):
            path = self.output / f"{name}{suffix}"
            if path.exists():
                raise SimulationError(f"{path} exists already; move it away, or give another folder with -o")

    def _reproduce(
        self,
        result: Reproduction,
        stream: SessionStream,
        loop: DetectedLoop,
        project: RecordedProject,
        secrets: Secrets,
    ) -> Reproduction:
        tier = self.settings.tier or available_tiers()[0]
        # A transcript may come from anybody, so its commands run only where they cannot reach this machine.
        moves = RecordedMoves(stream, performs=tier is Tier.NAMESPACES)
        moves.read()
        scenario = redacted(self._compose(stream, loop, project, moves), secrets)
        of_subagent = loop.refusal is not None and loop.refusal.event == SUBAGENT_STOP
        stops = (item for item in stream.items if item.agent == loop.agent and isinstance(item, Break))
        recorded = recorded_refusals(stops if of_subagent else moves.played)
        whole = self._play(_all_moves(scenario, stream))
        comparison = compare(recorded, whole, self._top, of_subagent=of_subagent)
        outcome = self._play(scenario)
        complete = comparison.same == comparison.recorded > 0
        if complete and outcome.passed and scenario.expect.verdict:
            # The real session went on in the end too; the hook should not have refused as often.
            scenario = replace(scenario, expect=_fewer_blocks(loop))
            outcome = self._play(scenario)
        shown = self._shows(outcome, loop)
        self._hooks = {one.hook for one in self._alike(outcome.trace, outcome.folders, loop)}
        missing = [part for part in (_MISSING[stream.form], _MISSING_EVERYWHERE) if part]
        result = replace(
            result,
            played=hosts.find(scenario.host).id,
            project=project.told,
            verdict=first_line(outcome),
            reproduced=shown or (complete and not outcome.passed),
            left_out=tuple(moves.left_out),
            missing=", ".join(missing),
            recorded=comparison.recorded,
            same=comparison.same,
            more=comparison.more,
            difference=comparison.difference,
            cause=_AS_NOW if comparison.cause == UNKNOWN_CAUSE and not project.commit else comparison.cause,
        )
        if not result.reproduced:
            return replace(result, plays=self._plays, seconds=time.monotonic() - self._began)
        small = self._shrink(scenario, loop, moves, project) if shown and self.shrinks else None
        files = [*self._write(result, scenario, small.best if small else None, project, secrets)]
        return replace(
            result,
            shrunk=small.describe() if small else "",
            plays=self._plays,
            seconds=time.monotonic() - self._began,
            files=tuple(files),
        )

    def _compose(
        self, stream: SessionStream, loop: DetectedLoop, project: RecordedProject, moves: RecordedMoves
    ) -> Scenario:
        small = project.files is not None
        return Scenario(
            name=_name(stream, loop),
            host=_profile(stream),
            project=None if small else project.folder,
            files=project.files or {},
            modes=project.modes,
            git=project.git,
            subfolder=project.subfolder,
            script=Script(acts=tuple(moves.acts)),
            turns=max(200, len(moves.acts) + 60),
            expect=_expectation(loop),
        )

    def _play(self, scenario: Scenario, wall: float = 0.0) -> Outcome:
        self._plays += 1
        # What changes a decision is only looked for where the verdict is about a loop without an end.
        probes = self.settings.probes and _is_endless(scenario)
        settings = replace(self.settings, wall=wall or self.settings.wall, probes=probes)
        return simulate(scenario, settings, self.resources)

    def _shows(self, outcome: Outcome, loop: DetectedLoop) -> bool:
        """Return whether an outcome shows the loop: the same hook and text, and no end or too many blocks."""
        seen = self._alike(outcome.trace, outcome.folders, loop)
        endless = outcome.verdict_name in _ENDLESS or not _is_endless(outcome.scenario)
        return bool(seen) and endless and not outcome.passed

    def _alike(
        self, trace: Trace, folders: Sequence[tuple[str, str]], loop: DetectedLoop
    ) -> list[HookRefusal]:
        """Return the refusals of a play that have the event, the text and, once known, a hook of the loop."""
        wanted, replayed = loop.refusal, (one for group in replayed_refusals(trace) for one in group)
        return [
            one
            for one in replayed
            if wanted is not None
            and alike(wanted, one, self._top, folders)
            and (not self._hooks or one.hook in self._hooks)
        ]

    def _shrink(
        self,
        scenario: Scenario,
        loop: DetectedLoop,
        moves: RecordedMoves,
        project: RecordedProject,
    ) -> Shrinker:
        def shows(some: Scenario) -> bool | None:
            try:
                outcome = self._play(some, MOST_SECONDS)
            except (SimulationError, WorkspaceError):
                return False
            undecided = outcome.verdict_name == "undecided" and _is_endless(some)
            return None if undecided else self._shows(outcome, loop)

        shrinker = Shrinker(shows=shows, best=scenario, kept=moves.refused_act(scenario.script.acts, loop))
        if scenario.project is not None:
            shrinker.try_out(replace(scenario, project=None, files=redacted(project.named, self._secrets)))
        with open_resumed_plays(
            shrinker.best,
            self.settings,
            self.resources,
            seen=lambda trace, folders: bool(self._alike(trace, folders, loop)),
            endless=_is_endless(scenario),
            remaining=lambda: max(0.0, shrinker.until - time.monotonic()),
        ) as plays:
            shrinker.rules_out = plays.rules_out if plays is not None else shrinker.rules_out
            shrinker.shrink()
        return shrinker

    def _write(
        self,
        result: Reproduction,
        full: Scenario,
        small: Scenario | None,
        project: RecordedProject,
        secrets: Secrets,
    ) -> Iterator[str]:
        """Write the scenarios, and the project if they need it, and yield their paths."""
        self.output.mkdir(parents=True, exist_ok=True)
        folder = ""
        if full.project is not None:
            folder = f"{full.name}-project"
            copy_project(project.folder, (self.output / folder).resolve(), secrets)
        why = redact(f"{result.loop} Recorded by {result.host}, played on {result.project}.", secrets)
        # The scenario is for others as well.
        why = why.replace(f"{Path.home()}/", "~/")
        for scenario, suffix in ((small, ""), (full, "-full")):
            if scenario is None:
                continue
            name = f"{full.name}{suffix}"
            path = self.output / f"{name}{SUFFIX}"
            text = write(scenario, name=name, why=why, folder=folder)
            create_file(path, text + self._expectation(scenario))
            yield str(path)

    def _expectation(self, scenario: Scenario) -> str:
        """Return the expectation as text: of calls, that the hooks allow each of those that are made."""
        blocks = scenario.expect.blocks
        if isinstance(blocks, Mapping):
            limits = ", ".join(f"{event}: {{max: {limit.max}}}" for event, limit in blocks.items())
            return f"expect: {{verdict: terminated, blocks: {{{limits}}}}}\n"
        if not scenario.expect.decisions:
            return "expect: {verdict: terminated}\n"
        (event,) = scenario.expect.decisions
        calls = len(self._play(replace(scenario, expect=Expectation())).decisions(event))
        return f"expect: {{decisions: {{{event}: [{', '.join(['allow'] * calls)}]}}}}\n"


def _describe_rest(stream: SessionStream, loops: tuple[DetectedLoop, ...]) -> str:
    count = sum(map(len, recorded_refusals(stream.items)))
    number, others = counted(count, "refusal"), counted(len(loops), "loop")
    refused = f"{number}, no three in a row with one text" if count else "no refusals by hooks"
    own = f"; {others} of the agent's own moves, see `hookharness analyze`" if loops else ""
    return f"{refused}{own}"


def _name(stream: SessionStream, loop: DetectedLoop) -> str:
    event = loop.refusal.event if loop.refusal else ""
    words = "-".join(filter(None, (stream.form, event.lower(), stream.session[:8])))
    return re.sub(r"[^a-z0-9-]+", "-", words.lower()).strip("-")


def _profile(stream: SessionStream) -> str:
    """Return the profile of the host's version, or of the newest one that is known."""
    wanted = f"{stream.form}@{stream.version}"
    try:
        return hosts.find(wanted).id if stream.version else stream.form
    except hosts.UnknownHost:
        return stream.form


def _expectation(loop: DetectedLoop) -> Expectation:
    """Return what holds once the hook is fixed: the session ends, or the calls are not refused."""
    event = loop.refusal.event if loop.refusal else ""
    if event in ("Stop", SUBAGENT_STOP, "AfterAgent"):
        return Expectation(verdict="terminated")
    return Expectation(decisions={event: ("allow",) * loop.count})


def _fewer_blocks(loop: DetectedLoop) -> Expectation:
    """Return what holds once a hook is fixed that refused often and then allowed: no loop is reported."""
    event = loop.refusal.event if loop.refusal else ""
    return Expectation(verdict="terminated", blocks={event: Range(max=Limits().repetitions - 1)})


def _is_endless(scenario: Scenario) -> bool:
    """Return whether only a session without an end shows the loop."""
    return not scenario.expect.decisions and scenario.expect.blocks is None


def _all_moves(scenario: Scenario, stream: SessionStream) -> Scenario:
    """Return a scenario that plays all of its moves and no more, whatever repeats."""
    turns = sum(not isinstance(act, Prompt | Wait) for act in scenario.script.acts)
    # The stops of a subagent are no acts.
    below = sum(bool(item.agent and item.refusals and isinstance(item, Break)) for item in stream.items)
    return replace(scenario, until="guard", turns=max(1, turns) + below)
