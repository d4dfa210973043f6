"""
Reproducing a reported loop: the recorded moves are played against the real hooks, and the refusals compared.

First all moves are played, to compare refusal by refusal; then the session is judged as any other; then it is
shrunk. Secrets are taken out before anything is played, so that what is written is what was played.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.reproduce.loop_plays import LoopPlays, is_cut
from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves
from pytest_hookharness.campaigns.reproduce.recorded_project import (
    RecordedProject,
    find_project,
    infer_folder,
)
from pytest_hookharness.campaigns.reproduce.recorded_scenario import (
    IF_RIGHT,
    all_moves,
    compose,
    describe_hidden,
    fewer_blocks,
    names_of,
    require_new,
    without_commands,
    write_scenarios,
)
from pytest_hookharness.campaigns.reproduce.reproduction import (
    SUBAGENT_STOP,
    UNKNOWN_CAUSE,
    RefusalCounts,
    Reproduction,
    alike,
    compare,
    find_missing_tools,
    recorded_refusals,
    replayed_refusals,
)
from pytest_hookharness.campaigns.reproduce.session_files import read_session, texts_of
from pytest_hookharness.campaigns.shrinking.scenario_shrinker import Shrinker
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.refusal_rows import detect_all
from pytest_hookharness.judging.detectors.signatures import mask_numbers
from pytest_hookharness.model.actions import Break, DetectedLoop
from pytest_hookharness.model.checkup import script_of
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.redaction import Secrets, find_assigned, find_secrets, redact, redacted
from pytest_hookharness.reports.trace import schema
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings

# The gaps of each host's transcripts, besides those that all transcripts have.
_MISSING = {
    "claude-code": "",
    "codex": "the commands of the hooks",
    "openhands": "the folder and the commit of the project",
    "gemini-cli": "the folder and the commit of the project, which texts are from hooks, refused calls",
    "qwen-code": "what hooks said, the commit of the project",
}
# Further loops of one session are only named.
_MOST_LOOPS = 5
_AS_NOW = "the project is not as it was at the start of the session; give its commit with --at COMMIT"
# How commands name the project's folder, before a script in it.
_OF_PROJECT = re.compile(r"^\$\{?\w+_PROJECT_DIR\}?/")
_MISSING_EVERYWHERE = "the environment, files that were not committed"


@dataclass(slots=True)
class ReproductionRun:
    """The reproduction of one session, at the project and commit that its transcript names, or others."""

    source: Path
    settings: Settings
    resources: Resources
    project: Path | None = None
    at: str = ""
    output: Path = Path("reproduced")
    shrinks: bool = True
    _secrets: Secrets = Secrets()
    # The top of the recorded project, as the transcript names it.
    _top: str = ""

    def run(self) -> Reproduction:
        """
        Reproduce the rows of refusals of the session, the longest first.

        Raises:
            UnreadableRecords: The transcript cannot be read.
            SimulationError: The project or the commit does not exist.
        """
        session = read_session(self.source)
        stream = session.stream
        host = f"{stream.form} {stream.version}".strip()
        unread = (f"not read, {why}: {counted(count, 'record')}" for why, count in session.unread.items())
        result = Reproduction(source=str(self.source), host=host, left_out=tuple(unread))
        loops = detect_all(stream.items)
        rows = _distinct(loops)[:_MOST_LOOPS]
        if not rows:
            return replace(result, without=_describe_rest(stream, loops))
        names = names_of(stream, rows)
        require_new(self.output, names)
        with TemporaryDirectory(prefix="hookharness-commit-") as scratch:
            project = find_project(stream, self.source, self.project, self.at, Path(scratch))
            stream.note(cwd=infer_folder(stream, project.folder / project.subfolder))
            self._top = stream.cwd.removesuffix(f"/{project.subfolder}")
            assigned = find_assigned([*texts_of(stream), *(project.files or project.named).values()])
            found = find_secrets(os.environ, assigned, words=schema.words())
            # Hooks read what stands in the place of a secret, as in a file of settings.
            self._secrets = replace(found, one_word=True)
            others = tuple(other.text for other in loops if other not in rows)
            first, *more = (
                redacted(self._reproduce(result, stream, loop, rows, project, name), self._secrets)
                for loop, name in zip(rows, names, strict=True)
            )
            return replace(first, others=redacted(others, self._secrets), further=tuple(more))

    def _reproduce(
        self,
        result: Reproduction,
        stream: SessionStream,
        loop: DetectedLoop,
        rows: Sequence[DetectedLoop],
        project: RecordedProject,
        name: str,
    ) -> Reproduction:
        plays = LoopPlays(loop, self.settings, self.resources, self._top)
        moves = self._read_moves(stream, project)
        composed = compose(stream, loop, project, moves, name)
        scenario, named = redacted((composed, project.named), self._secrets)
        hidden = describe_hidden(composed, scenario)
        of_subagent = loop.refusal is not None and loop.refusal.event == SUBAGENT_STOP
        stops = (item for item in stream.items if item.agent == loop.agent and isinstance(item, Break))
        whole = plays.play(all_moves(scenario, stream))
        recorded = recorded_refusals(stops if of_subagent else moves.played)
        comparison = compare(recorded, whole, self._top, of_subagent=of_subagent)
        others = self._find_other_hooks(whole, loop, rows)
        scenario = without_commands(scenario, named, others)
        outcome = plays.play_on(whole, scenario)
        complete = comparison.same == comparison.recorded > 0
        if complete and outcome.passed and scenario.expect.verdict:
            # The real session went on in the end too; the hook should not have refused as often.
            scenario = replace(scenario, expect=fewer_blocks(loop))
            outcome = plays.play(scenario)
        kept, shown = moves.refused_act(scenario.script.acts, loop), plays.shows(outcome)
        # Our budget ended, which says nothing about the hooks; a few of the moves may show the loop.
        short = plays.find_short(scenario, kept) if not shown and is_cut(outcome) else None
        if short is not None:
            (scenario, outcome), shown = short, True
            moves.left_out.append("the whole session: it takes longer than --budget allows")
        plays.hooks = {one.hook for one in plays.find_alike(outcome.trace, outcome.folders)}
        tools = find_missing_tools(whole, self.settings, self.resources, plays.play)
        left_out = (*moves.left_out, *hidden, *describe_others(others, outcome), *_describe_missing(tools))
        result = replace(
            result,
            loop=loop.text,
            played=hosts.find(scenario.host).id,
            project=project.title,
            verdict=plays.describe(outcome),
            reproduced=shown or (complete and not outcome.passed),
            left_out=(*result.left_out, *left_out),
            missing=", ".join(filter(None, (_MISSING[stream.form], _MISSING_EVERYWHERE))),
            compared=replace(
                comparison,
                cause=_likely_cause(comparison, tools, hidden, project, self._missing(loop, project)),
            ),
        )
        small = plays.shrink(scenario, kept, named) if result.reproduced and shown and self.shrinks else None
        files = tuple(self._write(result, scenario, small, project, plays)) if result.reproduced else ()
        return replace(
            result,
            shrunk=small.describe() if small else "",
            files=files,
            doubt=IF_RIGHT if files and scenario.expect.decisions else "",
            plays=plays.plays,
            seconds=time.monotonic() - plays.began,
        )

    def _read_moves(self, stream: SessionStream, project: RecordedProject) -> RecordedMoves:
        tier = self.settings.tier or available_tiers()[0]
        below = stream.cwd.endswith(f"/{project.subfolder}")
        above = len(PurePath(project.subfolder).parts) if below else 0
        # A transcript may come from anybody, so its commands run only where they cannot reach this machine.
        moves = RecordedMoves(stream, performs=tier is Tier.NAMESPACES, above=above)
        moves.read()
        return moves

    def _missing(self, loop: DetectedLoop, project: RecordedProject) -> str:
        """Return the script of the project that refused and that is not in this project; empty for none."""
        command = loop.refusal.hook if loop.refusal is not None else ""
        named = script_of(command.replace('"', ""))
        script = _OF_PROJECT.sub("", named.removeprefix(f"{self._top}/"))
        inside = script and not script.startswith(("/", "~", "$"))
        places = (project.folder, project.folder / project.subfolder)
        return script if inside and not any((place / script).exists() for place in places) else ""

    def _find_other_hooks(
        self, whole: Outcome, loop: DetectedLoop, rows: Sequence[DetectedLoop]
    ) -> frozenset[str]:
        """
        Return the commands of the hooks that refuse in other loops only.

        A scenario without them passes as soon as the hook of its own loop is fixed.
        """
        hooks = {
            id(row): {
                one.hook
                for group in replayed_refusals(whole.trace)
                for one in group
                if row.refusal is not None and alike(row.refusal, one, self._top, whole.folders)
            }
            for row in rows
        }
        own = hooks.pop(id(loop))
        return frozenset(hook for others in hooks.values() for hook in others if own) - own

    def _write(
        self,
        result: Reproduction,
        scenario: Scenario,
        small: Shrinker | None,
        project: RecordedProject,
        plays: LoopPlays,
    ) -> Iterator[str]:
        why = f"{result.loop} Recorded by {result.host}, played on {result.project}."
        return write_scenarios(
            self.output,
            scenario,
            small.best if small else None,
            why=redact(why, self._secrets),
            project=project,
            secrets=self._secrets,
            calls=plays.count_calls,
        )


def _distinct(loops: Sequence[DetectedLoop]) -> list[DetectedLoop]:
    """Return the rows of refusals, the longest first, and one of those with the same event, hook and text."""
    rows = [(loop, one) for loop in loops if (one := loop.refusal) is not None]
    rows.sort(key=lambda pair: pair[0].count)
    found = {(one.event, one.hook, mask_numbers(one.reason)): loop for loop, one in rows}
    return sorted(found.values(), key=lambda loop: -loop.count)


def _describe_rest(stream: SessionStream, loops: tuple[DetectedLoop, ...]) -> str:
    count = sum(map(len, recorded_refusals(stream.items)))
    number, others = counted(count, "refusal"), counted(len(loops), "loop")
    refused = f"{number}, no three in a row with one text" if count else "no refusals by hooks"
    own = f"; {others} of the agent's own moves, see `hookharness analyze`" if loops else ""
    return f"{refused}{own}"


def describe_others(hooks: frozenset[str], played: Outcome) -> Iterator[str]:
    """Yield which hooks of other loops the scenarios of a loop are without, and which are in them still."""
    still = {run.hook.command for _, run in played.trace.hook_runs()} & hooks
    if called := _in_words(hooks - still):
        yield f"in the scenarios of this loop, hooks of other loops: {called}"
    if called := _in_words(still):
        yield (
            f"not {called}, hooks of other loops whose settings cannot be changed: the scenarios of this "
            "loop pass only once these are fixed too"
        )


def _in_words(commands: Collection[str]) -> str:
    return ", ".join(f"`{command}`" for command in sorted(commands))


def _describe_missing(tools: Sequence[str]) -> tuple[str, ...]:
    return (f"not installed here, but called by hooks: {_in_words(tools)}",) if tools else ()


def _likely_cause(
    comparison: RefusalCounts,
    tools: Sequence[str],
    hidden: Sequence[str],
    project: RecordedProject,
    missing: str,
) -> str:
    """
    Return the likely cause of the first difference: another project, a missing tool, or a change of ours.

    ``missing`` is the script that refused, if it is not in the project.
    """
    known = [*_describe_missing(tools), *hidden]
    cause = comparison.cause if project.commit else _AS_NOW
    if comparison.cause != UNKNOWN_CAUSE:
        cause = comparison.cause
    elif known:
        cause = known[0]
    if not missing or not comparison.difference:
        return cause
    return f"`{missing}`, which refused, is not in {project.title}: is this the right project? If so: {cause}"
