"""
Promises about ways: into a lock-out, and out of a loop.

Pure.

Promises about the workspace at the end.

Pure: texts and entries are handed in.

Promises about findings and about processes that are left over.

Pure. Both are never allowed unless named, so an expectation that says nothing
promises that there are none.

Promises about time: how long a host may stand still for the hooks of an event.

Pure. Of twenty fires and more one in twenty may be slower, so that one bad moment of
the machine breaks no promise; of fewer none may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.findings.finding_catalogue import look_up, nearest
from pytest_hookharness.model.expectations import Expectation, FileExpectations, Range, counted
from pytest_hookharness.model.moves import (
    Edit,
    Move,
    Read,
    RunCommand,
    Stop,
    Subagent,
    Tools,
    unlabelled,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import NotStarted
from pytest_hookharness.model.timings import Timing, timings
from pytest_hookharness.model.trace import StateEntry
from pytest_hookharness.model.verdicts import Violation


def broken_files(
    expected: FileExpectations | None,
    *,
    initial: Mapping[str, StateEntry],
    final: Mapping[str, StateEntry],
    final_text: Callable[[str], str | None],
) -> Iterator[Violation]:
    """
    Files that are not as promised.
    """
    if expected is None:
        return
    for file, text in expected.equal.items():
        seen = final_text(file)
        if seen != text:
            difference = "no such file" if seen is None else _first_difference(text, seen)
            yield _violation(f"equal.{file}", f"{file} equal to the given text", difference)
    for file, part in expected.contain.items():
        seen = final_text(file)
        if seen is None or part not in seen:
            words = "no such file" if seen is None else f"{len(seen)} characters without it"
            yield _violation(f"contain.{file}", f"{file} with {part!r}", words)
    for index, file in enumerate(expected.absent):
        if final_text(file) is not None or _below(final, file):
            yield _violation(f"absent[{index}]", f"no {file}", "it is there")
    for index, file in enumerate(expected.unchanged):
        seen = _changed(_below(initial, file), _below(final, file))
        if seen:
            yield _violation(f"unchanged[{index}]", f"{file} as it was", seen)


def _violation(path: str, expected: str, seen: str) -> Violation:
    return Violation(path=f"expect.files.{path}", expected=expected, seen=seen)


def _below(entries: Mapping[str, StateEntry], file: str) -> dict[str, StateEntry]:
    path = f"workspace/{file.strip('/')}".removesuffix("/.")
    return {name: entry for name, entry in entries.items() if name == path or name.startswith(f"{path}/")}


def _changed(before: Mapping[str, StateEntry], after: Mapping[str, StateEntry]) -> str:
    if not before:
        # A promise about a file that never was would be kept by every hook.
        return "it was not there at the beginning"
    for name in sorted(before.keys() | after.keys()):
        short = name.removeprefix("workspace/")
        if name not in after:
            return f"{short} is gone"
        if name not in before:
            return f"{short} is new"
        if before[name] != after[name]:
            return f"{short} differs"
    return ""


def _first_difference(expected: str, seen: str) -> str:
    wanted, found = expected.splitlines(keepends=True), seen.splitlines(keepends=True)
    for number, (one, other) in enumerate(zip(wanted, found, strict=False), 1):
        if one != other:
            return f"line {number} is {other!r}, not {one!r}"
    shorter = min(len(wanted), len(found))
    if len(found) > shorter:
        return f"line {shorter + 1} is too many: {found[shorter]!r}"
    return f"it ends before line {shorter + 1}: {wanted[shorter]!r}"


def broken_findings(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    Findings that were named and did not occur, and those that occurred and were not named.
    """
    seen = {finding.code for finding in outcome.findings}
    for index, word in enumerate(expect.findings):
        code = look_up(word)
        if code is not None and code.code in seen:
            continue
        wanted = (
            f"{code.code} {code.name}" if code is not None else f"{word} (no such finding{_nearest(word)})"
        )
        listed = ", ".join(sorted(f"{item.code} {item.name}" for item in outcome.findings))
        yield Violation(path=f"expect.findings[{index}]", expected=wanted, seen=listed or "no findings")
    for finding in outcome.findings:
        if not expect.allows(finding.code, finding.name):
            seen_text = f"{finding.code} {finding.name}: {finding.text}"
            yield Violation(path="expect.findings", expected=f"no {finding.name}", seen=seen_text)


def _nearest(word: str) -> str:
    near = nearest(word)
    return f"; nearest is {near}" if near else ""


def broken_leftovers(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    A number of left over processes that is not as promised: none, unless the scenario says otherwise.
    """
    allowed = expect.leftovers
    if allowed is None:
        excused = {finding_catalogue.HELD_OPEN, finding_catalogue.LEFTOVER}
        if any(look_up(word) in excused for word in expect.findings):
            return
        allowed = Range.exactly(0)
    left = outcome.leftovers
    if len(left) not in allowed:
        commands = ", ".join(f"`{process.command}`" for process in left[:3])
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        seen = f"{len(left)}: {commands}{more}" if left else "0"
        yield Violation(path="expect.leftovers", expected=f"{allowed} processes left over", seen=seen)


def broken_times(outcome: Outcome, expected: Mapping[str, int]) -> Iterator[Violation]:
    """
    Events of which a hook took longer than promised, or of which none ran at all.
    """
    measured = timings(outcome.trace) if expected else ()
    started = {
        fire.hook.event
        for _, fire in outcome.trace.hook_runs()
        if fire.run is not None and not isinstance(fire.run.ending, NotStarted)
    }
    for event, budget in expected.items():
        of_event = [timing for timing in measured if timing.event == event]
        slowest = max(of_event, key=lambda timing: timing.slowness, default=None)
        path, wanted = f"expect.within_ms.{event}", f"each hook of {event} within {budget} ms"
        if slowest is None or event not in started:
            yield Violation(path=path, expected=wanted, seen=f"no command of {event} was run")
        elif slowest.slowness.cut or slowest.slowness.seconds * 1000 > budget:
            yield Violation(path=path, expected=wanted, seen=_seen(slowest))


def _seen(timing: Timing) -> str:
    fire, number = timing.slowness, len(timing.hook_runs)
    took = f"{1000 * fire.seconds:,.0f} ms"
    which = "its only fire" if number == 1 else f"the slowest of {counted(number, 'fire')}"
    if fire != timing.hook_runs[-1]:
        slowest = timing.hook_runs[-1]
        which = f"95 % of {number} fires took no longer; the slowest was in turn {slowest.turn}"
    # A command may be long, and what is behind it be cut.
    return f"{'cut after ' if fire.cut else ''}{took} in turn {fire.turn} ({which}): {timing.command}"


def broken_paths(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    Ways that are promised and are others, or are none.
    """
    explored = outcome.explored
    trap = explored.trap if explored is not None else None
    way_in = None if trap is None else trap.way
    way_out = None if explored is None or not explored.escape else explored.escape
    for name, promised, seen in (("way_in", expect.way_in, way_in), ("way_out", expect.way_out, way_out)):
        wanted = None if promised is None else tuple(map(unlabelled, promised))
        known = None if seen is None else tuple(map(unlabelled, seen))
        if wanted is not None and wanted != known:
            yield Violation(path=f"expect.{name}", expected=_words(wanted), seen=_words(known))


def _words(way: Sequence[Move] | None) -> str:
    if way is None:
        return "no way is known"
    return ", ".join(map(_word, way)) or "no move at all"


def _word(move: Move) -> str:
    match move:
        case RunCommand(command=command):
            return f"run: {command}"
        case Edit(file=file):
            return f"edit: {file}"
        case Read(file=file):
            return f"read: {file}"
        case Stop(text=text):
            return f"stop: {text}"
        case Subagent(kind=kind):
            return f"subagent: {kind}"
        case Tools(calls=calls):
            return "tool: " + " and ".join(call.name for call in calls)
        case _:
            assert_never(move)
