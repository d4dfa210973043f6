"""
Observed repetitions: one more repetition of a cycle, recorded to find out what its hook runs read.

It is played from the present state and compared with the last real repetition, as a probe is, and undone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pytest_hookharness.execution.clock.clock import next_tick
from pytest_hookharness.execution.platform.linux_kernel_paths import LINUX_PATHS
from pytest_hookharness.execution.platform.linux_read_calls import is_of_system
from pytest_hookharness.execution.reads.baseline import SharedBaselines, empty_program
from pytest_hookharness.execution.reads.observer import ReadObserver
from pytest_hookharness.execution.reads.path_map import PathMap, exists, written_since
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.execution.state.relevance import counts
from pytest_hookharness.execution.workspace.workspace import OUTSIDE
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.judging.recurrence.influences import (
    KnownPaths,
    draws,
    find_influences,
    unobserved,
    with_time,
)
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.probes import ProbeEffect
from pytest_hookharness.model.processes import ProcessSpec, Tier
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.reads import Influences, LookKind, Reads
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Performed, StateEntry, Step, Trace
from pytest_hookharness.simulation.probing.hidden_chance import find_clock_use, find_hidden_chance
from pytest_hookharness.simulation.probing.host_values import MADE_UP, HostValues, find_host_values
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.history import Repetition
from pytest_hookharness.simulation.testbed.hook_scripts import hook_scripts
from pytest_hookharness.simulation.testbed.testbed import Testbed

_WORKSPACE = "workspace/"
_OF_TOOLS = re.compile(r"/(\.git(ignore|attributes|modules)?|__pycache__)(/|$)")
_OBJECTS = ("/objects", "/objects/pack", "/objects/info")


def find_shared(testbed: Testbed) -> SharedBaselines | None:
    """Return what simulations share; ``None`` once this one wrote outside of its own folders."""
    place = testbed.workspace
    hidden = {*place.private.values(), str(place.roots[OUTSIDE])}
    outside = tuple(f"{name}/" for name, root in place.roots.items() if str(root) in hidden)
    written = any(path.startswith(outside) and path not in place.roots for path in testbed.files)
    return SharedBaselines(str(place.base)) if testbed.sandbox.contained and not written else None


def time_was_shown(testbed: Testbed) -> bool:
    """Return whether any process whose clock the kernel moved was shown a time that depends on that."""
    records = [(spec, with_time(reads)) for spec, reads in testbed.workspace.clock.shown]
    shown = [pair for pair in records if pair[1].programs]
    if any(with_time(_without_interpreters(*pair)).programs for pair in shown):
        return True
    if not shown:
        return False
    # Interpreters ask for the time when they start.
    observer = ReadObserver()
    observer.shared = find_shared(testbed)
    if observer.shared is None:
        return True
    start = testbed.sandbox.run
    asked = any(with_time(observer.subtract(start, spec, reads)).programs for spec, reads in shown)
    observer.share()
    return asked


def _without_interpreters(spec: ProcessSpec, reads: Reads) -> Reads:
    """Return a record without the time of day that interpreters asked for."""
    programs = [
        program
        if empty_program(program, spec) is None
        else replace(program, sources=tuple(one for one in program.sources if one.detail != "realtime"))
        for program in reads.programs
    ]
    return replace(reads, programs=tuple(programs))


class ReadObservation:
    """Observes repetitions of one run."""

    def __init__(self, run: ProbedRun) -> None:
        self._testbed = run.testbed
        self._remaining = run.remaining
        self._began = run.began
        # The turn after which a repetition was observed last.
        self._observed = -1
        # It remembers what the start of each interpreter looks at.
        self._observer = ReadObserver()

    def observe(self, repetition: Repetition, differing: Collection[Change]) -> Influences:
        """
        Play one more repetition, and return what it read that could make a later one go another way.

        Args:
            differing: What differed between the states after the last repetitions.

        Raises:
            UnknownDecisionError: A hook run of the repetition was cut before it decided.
        """
        testbed = self._testbed
        if testbed.scenario.cover:
            return unobserved("nothing is tried on covered folders")
        now = self._unwritten_since(repetition)
        testbed.sandbox.expect_observed()
        try:
            checkpoint = Checkpoint(testbed, repetition.uncapped)
        except SnapshotError as error:
            return unobserved(f"the state cannot be saved and restored: {error}")
        with checkpoint:
            paths, since = self._paths, next_tick(now)
            self._observer.shared = find_shared(testbed)
            with testbed.observed_by(self._observer):
                driver = checkpoint.resume()
                seen = repetition.compare_decisions(driver, self._remaining)
            runs = [*_runs(driver.steps)]
            places = {path: paths.locate(path) for path in _looked_at(runs)}
            scripts = runs, repetition.hook_runs, places
            chance = [*find_hidden_chance(*scripts)]
            if seen.reaction is not ProbeEffect.SAME:
                drawn = bool(chance) or any(reads is None or draws(reads) for reads in runs)
                return unobserved(f"one more repetition went another way: {seen.what}", chance=drawn)
            testbed.scan()
            self._observer.shared = find_shared(testbed)
            self._observer.share()
            differing = (*differing, *changes(repetition.files, testbed.files))
            around = self._surroundings(paths, places, differing, repetition.files, since)
            found = self._with_opened(find_influences(runs, around), [*_opened(runs, places)])
            timed = [*find_clock_use(*scripts, str(testbed.workspace.clock.folder))] if found.clock else []
            used = self._find_host_values(repetition.hook_runs)
            timed, chance = [*timed, *used.compared], [*chance, *used.hashed]
        if not found.observed:
            return found
        # The next repetition may make others of those that come or go.
        moving = {change.path for change in differing if change.how != "content"}
        inputs = dict.fromkeys(_changed_inputs(repetition.hook_runs, driver.steps))
        return replace(
            found,
            matters=(*found.matters, *dict.fromkeys((*inputs, *chance))),
            outside=(*found.outside, *inputs),
            timed=tuple(dict.fromkeys(timed)),
            clock=found.clock or bool(used.times),
            chance=found.chance or bool(chance),
            missing=tuple(dict.fromkeys(_missing(driver.steps, places))),
            unread=frozenset(
                change.path
                for change in differing
                if change.path not in moving and change.path not in found.decisive
            ),
        )

    def _unwritten_since(self, repetition: Repetition) -> int:
        """Mark the turn as observed; return a time since which nothing wrote to the files."""
        turn = repetition.point.turn
        # Nothing was written since the repetition ended, unless others were played from there and undone.
        now = time.time_ns() if turn == self._observed else repetition.ended
        self._observed = turn
        return now

    def _find_host_values(self, hook_runs: Collection[HookRun]) -> HostValues:
        """Return the times and ids of their input that the scripts of some hook runs use."""
        own = [run for run in hook_runs if not run.hook.is_one_word]
        scripts = hook_scripts(self._testbed, own)
        return find_host_values([run.payload for run in own], scripts, self._testbed.facts.session_id)

    def _with_opened(self, found: Influences, opened: Sequence[tuple[str | None, str]]) -> Influences:
        """Return influences with the files that were opened for reading, masked ones also by name."""
        is_masked = self._testbed.scanner.is_masked
        masked = dict.fromkeys(name for name, _ in opened if name and is_masked(name))
        return replace(found, read=tuple(real for _, real in opened), masked=tuple(masked))

    @property
    def _paths(self) -> PathMap:
        place = self._testbed.workspace
        confined = self._testbed.sandbox.tier is Tier.NAMESPACES
        return PathMap(place.roots, place.private if confined else {}, place.visible, place.base)

    def _surroundings(
        self,
        paths: PathMap,
        places: Mapping[str, tuple[str | None, str]],
        differing: Collection[Change],
        before: Mapping[str, StateEntry],
        since: int,
    ) -> KnownPaths:
        testbed, place = self._testbed, self._testbed.workspace
        names: dict[str, str] = {}
        for path, (name, real) in places.items():
            covered = name if name is not None else f"{OUTSIDE}{path}"
            known = covered in before or covered in testbed.files or name in place.roots
            if known or (name is not None and not exists(real)):
                names[path] = covered
        rest = {path: real for path, (_, real) in places.items() if path not in names}
        new = written_since(rest.values(), self._began)
        rewritten = written_since((places[path][1] for path in names), since)
        changed = {change.path for change in differing}
        moving = {change.path for change in differing if change.how in ("added", "removed")}
        listed = {str(PurePosixPath(path).parent) for path in moving}
        clock = str(place.clock.folder)
        own = {path for path in rest if paths.is_around(path) or paths.is_own(path)}
        # Git names an object by its content.
        own |= {path for path in rest if (name := places[path][0]) is not None and not counts(name)}
        # What a mask leaves out is irrelevant, as its author says.
        own |= {path for path, (name, _) in places.items() if name and testbed.scanner.is_masked(name)}
        # Which objects there are is not part of the state.
        objects = {path for path, name in names.items() if "/.git/" in name and name.endswith(_OBJECTS)}
        stored = written_since((places[path][1] for path in objects), self._began)
        return KnownPaths(
            kernel=LINUX_PATHS,
            names=names,
            changed=_with_names(names, changed),
            moving=_with_names(names, moving),
            relisted=_with_names(names, listed) | {path for path in objects if places[path][1] in stored},
            rewritten=frozenset(path for path in names if places[path][1] in rewritten),
            foreign=frozenset(path for path, real in rest.items() if real in new),
            own=frozenset(own | _doubles(testbed, names)),
            clocks=frozenset(path for path in places if f"{path}/".startswith(f"{clock}/")),
        )


def _with_names(names: Mapping[str, str], wanted: Collection[str]) -> frozenset[str]:
    return frozenset(path for path, name in names.items() if name in wanted)


def _doubles(testbed: Testbed, names: Mapping[str, str]) -> set[str]:
    """Return the paths of the test doubles, whose scripts mention process numbers."""
    own = {f"bin/{name}" for name in testbed.scenario.commands}
    return {path for path, name in names.items() if name in own}


def _runs(steps: Collection[Step]) -> Iterator[Reads | None]:
    for step in steps:
        match step.exchange:
            case HookEvent(hook_runs=hook_runs):
                yield from (run.run.reads for run in hook_runs if run.run is not None)
            case Performed(run=run) if run is not None:
                yield run.reads
            case _:
                pass


def _opened(
    runs: Collection[Reads | None], places: Mapping[str, tuple[str | None, str]]
) -> Iterator[tuple[str | None, str]]:
    """Yield the state path and the real place of each file that was opened for reading."""
    for look in (look for reads in runs if reads is not None for look in reads.looks):
        if look.kind is LookKind.OPENED and look.existed and not is_of_system(look.path):
            yield places[look.path]


def _missing(steps: Collection[Step], places: Mapping[str, tuple[str | None, str]]) -> Iterator[str]:
    """Yield the missing paths in the workspace that hooks looked for, except those of Git and Python."""
    hook_runs = [run.run for _, run in Trace(steps=tuple(steps)).hook_runs() if run.run is not None]
    records = [run.reads for run in hook_runs if run.reads is not None]
    # The agent need not make a file that hooks make and remove themselves, such as a lock.
    written = {write.path for reads in records for write in reads.writes}
    for reads in records:
        for look in reads.looks:
            name = places[look.path][0] or ""
            if (
                look.path not in written
                and not (look.existed or look.own or _OF_TOOLS.search(name))
                and name.startswith(_WORKSPACE)
            ):
                yield name.removeprefix(_WORKSPACE)


def _looked_at(runs: Collection[Reads | None]) -> set[str]:
    known = [reads for reads in runs if reads is not None]
    looks = {look.path for reads in known for look in reads.looks}
    writes = {write.path for reads in known for write in reads.writes}
    return looks | writes | {mention.path for reads in known for mention in reads.mentions if mention.path}


def _changed_inputs(before: Collection[HookRun], steps: Collection[Step]) -> Iterator[str]:
    """Yield what differs between the inputs of two repetitions, apart from ids."""
    after = (run for _, run in Trace(steps=tuple(steps)).hook_runs())
    for one, other in zip(before, after, strict=False):
        for key in one.payload.keys() | other.payload.keys():
            differs = _without_ids(one.payload.get(key)) != _without_ids(other.payload.get(key))
            if differs and not key.endswith(MADE_UP):
                yield f"{key} in its input"


def _without_ids(value: Json) -> Json:
    match value:
        case Mapping():
            return {key: _without_ids(item) for key, item in value.items() if not key.endswith(MADE_UP)}
        case list() | tuple():
            return [_without_ids(item) for item in value]
        case _:
            return value
