"""
Reproducing a reported loop: the recorded moves are played against the real hooks, and the refusals compared.

First all moves are played, to compare refusal by refusal; then the session is judged as any other; then it is
shrunk. Secrets are taken out before anything is played, so that what is written is what was played.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves
from pytest_hookharness.campaigns.reproduce.recorded_project import (
    RecordedProject,
    find_project,
    infer_folder,
)
from pytest_hookharness.campaigns.reproduce.refusal_comparison import (
    SUBAGENT_STOP,
    alike,
    compare,
    recorded_refusals,
    replayed_refusals,
)
from pytest_hookharness.campaigns.reproduce.reproduction import Reproduction
from pytest_hookharness.campaigns.reproduce.session_files import read_session
from pytest_hookharness.campaigns.reproduce.shrunk_scenario import MOST_SECONDS, Shrinker
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.execution.workspace.project_files import IgnoredFiles, copy_folder
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.refusal_rows import detect_all
from pytest_hookharness.model.actions import DetectedLoop, HookRefusal
from pytest_hookharness.model.expectations import Expectation, counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act, Prompt, Script, Stop, Subagent, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.redaction import Secrets, find_secrets, redact, redacted
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
            stream.note(cwd=infer_folder(stream, project.folder))
            secrets = find_secrets(os.environ, words=schema.words())
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
        comparison = compare(stream, self._play(_all_moves(scenario, loop)), loop.agent)
        outcome = self._play(scenario)
        shown = self._shows(outcome, loop, stream)
        self._hooks = {one.hook for one in self._alike(outcome, loop, stream)}
        complete = comparison.same == comparison.recorded > 0
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
            cause=comparison.cause,
        )
        if not result.reproduced:
            return replace(result, plays=self._plays, seconds=time.monotonic() - self._began)
        small = self._shrink(scenario, loop, stream, moves) if shown and self.shrinks else None
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
            script=Script(acts=tuple(moves.acts)),
            turns=max(200, len(moves.acts) + 60),
            expect=_expectation(loop),
        )

    def _play(self, scenario: Scenario, wall: float = 0.0) -> Outcome:
        self._plays += 1
        return simulate(scenario, replace(self.settings, wall=wall or self.settings.wall), self.resources)

    def _shows(self, outcome: Outcome, loop: DetectedLoop, stream: SessionStream) -> bool:
        """Return whether an outcome shows the loop: the same text, and no end, or calls not allowed."""
        seen = [
            one for one in self._alike(outcome, loop, stream) if not self._hooks or one.hook in self._hooks
        ]
        endless = outcome.verdict_name in _ENDLESS or bool(outcome.scenario.expect.decisions)
        return bool(seen) and endless and not outcome.passed

    def _alike(self, outcome: Outcome, loop: DetectedLoop, stream: SessionStream) -> list[HookRefusal]:
        """Return the refusals of a play that have the event and the text of the loop."""
        wanted, replayed = loop.refusal, replayed_refusals(outcome, loop.agent)
        return [one for one in replayed if wanted is not None and alike(wanted, one, stream.cwd, outcome)]

    def _shrink(
        self, scenario: Scenario, loop: DetectedLoop, stream: SessionStream, moves: RecordedMoves
    ) -> Shrinker:
        kept = _refused_act(scenario, loop, moves)

        def shows(some: Scenario) -> bool | None:
            try:
                outcome = self._play(some, MOST_SECONDS)
            except (SimulationError, WorkspaceError):
                return False
            undecided = outcome.verdict_name == "undecided" and not some.expect.decisions
            return None if undecided else self._shows(outcome, loop, stream)

        shrinker = Shrinker(shows=shows, best=scenario, kept=kept)
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
            _copy(project.folder, (self.output / folder).resolve(), secrets)
        why = redact(f"{result.loop} Recorded by {result.host}, played on {result.project}.", secrets)
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
        if not scenario.expect.decisions:
            return "expect: {verdict: terminated}\n"
        (event,) = scenario.expect.decisions
        calls = len(self._play(replace(scenario, expect=Expectation())).decisions(event))
        return f"expect: {{decisions: {{{event}: [{', '.join(['allow'] * calls)}]}}}}\n"


def _describe_rest(stream: SessionStream, loops: tuple[DetectedLoop, ...]) -> str:
    count = len(recorded_refusals(stream))
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


def _all_moves(scenario: Scenario, loop: DetectedLoop) -> Scenario:
    """Return a scenario that plays all of its moves and no more, whatever repeats."""
    turns = sum(not isinstance(act, Prompt | Wait) for act in scenario.script.acts)
    # The stops of a subagent are no acts.
    return replace(scenario, until="guard", turns=max(1, turns) + (loop.count if loop.agent else 0))


def _refused_act(scenario: Scenario, loop: DetectedLoop, moves: RecordedMoves) -> Act:
    """Return the act that the loop refuses: the last stop, the task of the subagent, or the first call."""
    acts = scenario.script.acts
    event = loop.refusal.event if loop.refusal else ""
    if event == SUBAGENT_STOP:
        return next((act for act in acts if isinstance(act, Subagent)), acts[-1])
    if event in ("Stop", "AfterAgent"):
        return next((act for act in reversed(acts) if isinstance(act, Stop)), acts[-1])
    return acts[moves.positions.get(loop.first, -1)]


def _copy(source: Path, target: Path, secrets: Secrets) -> None:
    """Copy the project beside the scenarios, without secrets in its texts."""
    with TemporaryDirectory(prefix="hookharness-copy-") as scratch:
        home, fresh = Path(scratch, "home"), Path(scratch, "project")
        home.mkdir()
        fresh.mkdir()
        # The scenarios may lie in the project.
        copy_folder(source, fresh, {*IgnoredFiles.of(source, home).paths, target.parent})
        for path in fresh.rglob("*"):
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                kept = redacted(data, secrets)
                if kept != data:
                    path.write_bytes(kept)
        shutil.move(fresh, target)
