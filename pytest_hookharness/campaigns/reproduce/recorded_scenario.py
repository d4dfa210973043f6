"""
The scenario of a recorded session: how it is composed, what must hold once the hook is fixed, and its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves
from pytest_hookharness.campaigns.reproduce.recorded_project import RecordedProject, copy_project
from pytest_hookharness.campaigns.reproduce.reproduction import SUBAGENT_STOP
from pytest_hookharness.campaigns.shrinking.scenario_parts import command_of, hooks_of, without_hooks
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.messages import LoopLimits
from pytest_hookharness.model.actions import Break, DetectedLoop
from pytest_hookharness.model.expectations import Expectation, Range, counted
from pytest_hookharness.model.moves import Act, Compact, Edit, Prompt, Script, Tools, Wait
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.redaction import Secrets
from pytest_hookharness.scenario_files.writer import write
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_SUFFIX = ".scenario.yaml"
# A transcript does not tell whether a refused call is the hook's fault or the agent's.
IF_RIGHT = (
    "This test expects that the hook allows the call. If the refusal is right, the agent is at fault: expect "
    "deny, or delete the file."
)
# For a session that is too long to be played: the number of its moves that are played, and of turns after.
_MOST_CHANGES, _MORE_TURNS = 300, 60


def compose(
    stream: SessionStream, loop: DetectedLoop, project: RecordedProject, moves: RecordedMoves, name: str
) -> Scenario:
    """Return the scenario that plays a whole session, and passes once the hook is fixed."""
    small = project.files is not None
    return Scenario(
        name=name,
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


def require_new(output: Path, names: Sequence[str]) -> None:
    """
    Check that nothing is overwritten.

    Raises:
        SimulationError: A file or folder exists already.
    """
    for name, suffix in product(names, (_SUFFIX, f"-full{_SUFFIX}", "-project")):
        path = output / f"{name}{suffix}"
        if path.exists():
            raise SimulationError(f"{path} exists already; move it away, or give another folder with -o")


def write_scenarios(
    output: Path,
    full: Scenario,
    small: Scenario | None,
    *,
    why: str,
    project: RecordedProject,
    secrets: Secrets,
    calls: Callable[[Scenario], int],
) -> Iterator[str]:
    """
    Write the scenarios, and the project if they need it, and yield their paths.

    The path of the copied project ends with a slash.

    Args:
        small: The shrunk scenario; ``None`` if there is none.
        secrets: Removed from a copy of the project.
        calls: Returns how many calls of a scenario the hooks are asked about.
    """
    output.mkdir(parents=True, exist_ok=True)
    folder = ""
    if full.project is not None:
        folder = f"{full.name}-project"
        copy_project(project.folder, (output / folder).resolve(), secrets)
        yield f"{output / folder}/"
    # The scenario is for others as well.
    why = why.replace(f"{Path.home()}/", "~/")
    for scenario, suffix in ((small, ""), (full, "-full")):
        if scenario is None:
            continue
        name = f"{full.name}{suffix}"
        path = output / f"{name}{_SUFFIX}"
        text = write(scenario, name=name, why=why, folder=folder if scenario.project is not None else "")
        create_file(path, text + _expected(scenario, calls))
        yield str(path)


def _expected(scenario: Scenario, calls: Callable[[Scenario], int]) -> str:
    """Return the expectation as text: of calls, that the hooks allow each of those that are made."""
    blocks = scenario.expect.blocks
    if isinstance(blocks, Mapping):
        limits = ", ".join(f"{event}: {{max: {limit.max}}}" for event, limit in blocks.items())
        return f"expect: {{verdict: terminated, blocks: {{{limits}}}}}\n"
    if not scenario.expect.decisions:
        return "expect: {verdict: terminated}\n"
    (event,) = scenario.expect.decisions
    allowed = ", ".join(["allow"] * calls(scenario))
    return f"# {IF_RIGHT}\nexpect: {{decisions: {{{event}: [{allowed}]}}}}\n"


def names_of(stream: SessionStream, loops: Sequence[DetectedLoop]) -> list[str]:
    """Return the names of the scenarios: host, event and session, and a number if several have them."""
    names: list[str] = []
    for loop in loops:
        event = loop.refusal.event if loop.refusal else ""
        words = "-".join(filter(None, (stream.form, event.lower(), stream.session[:8])))
        name = re.sub(r"[^a-z0-9-]+", "-", words.lower()).strip("-")
        number = sum(re.fullmatch(rf"{name}(?:-\d)?", other) is not None for other in names)
        names.append(f"{name}-{number + 1}" if number else name)
    return names


def without_commands(scenario: Scenario, named: Mapping[str, str], commands: Collection[str]) -> Scenario:
    """
    Return a scenario without the hooks that have certain commands.

    ``named`` has settings of the project that are not among the files of the scenario, by path.
    """
    whole = replace(scenario, files={**named, **scenario.files})
    left_out = [hook for hook in hooks_of(whole) if command_of(whole, hook) in commands]
    fewer = without_hooks(whole, left_out).files
    return replace(scenario, files={**scenario.files, **{path: fewer[path] for path, *_ in left_out}})


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


def fewer_blocks(loop: DetectedLoop) -> Expectation:
    """Return what holds once a hook is fixed that refused often and then allowed: no loop is reported."""
    event = loop.refusal.event if loop.refusal else ""
    return Expectation(verdict="terminated", blocks={event: Range(max=LoopLimits().repetitions - 1)})


def is_endless(scenario: Scenario) -> bool:
    """Return whether only a session without an end shows the loop."""
    return not scenario.expect.decisions and scenario.expect.blocks is None


def all_moves(scenario: Scenario, stream: SessionStream) -> Scenario:
    """Return a scenario that plays all of its moves and no more, whatever repeats."""
    turns = sum(not isinstance(act, Prompt | Wait | Compact) for act in scenario.script.acts)
    # The stops of a subagent are no acts.
    below = sum(bool(item.agent and item.refusals and isinstance(item, Break)) for item in stream.items)
    return replace(scenario, until="guard", turns=max(1, turns) + below)


def shorten(scenario: Scenario, kept: Act) -> Iterator[Scenario]:
    """Yield a scenario with the first and the refused move only, and one with changes of files as well."""
    first, *others = scenario.script.acts
    changes = [act for act in others if isinstance(act, Edit | Tools) and act is not kept][-_MOST_CHANGES:]
    for some in ((), changes):
        acts = (first, *some, kept)
        script = replace(scenario.script, acts=acts)
        yield replace(scenario, script=script, turns=len(acts) + _MORE_TURNS)


def describe_hidden(before: Scenario, after: Scenario) -> tuple[str, ...]:
    """Return where secrets were replaced before the play, in words; nothing if nowhere."""
    files = [path for path, text in before.files.items() if after.files.get(path) != text]
    pairs = zip(before.script.acts, after.script.acts, strict=True)
    acts = sum(old != new for old, new in pairs)
    places = [*files, *([counted(acts, "recorded move")] if acts else [])]
    return (f"secrets in {', '.join(places)}: hooks see placeholders",) if places else ()
