"""
Expectations about the end of a run: files, findings, processes, times, masks, and paths of an exploration.

Findings and leftover processes are never allowed unless they are expected. A time limit applies to each hook
run; with 20 or more runs, one in 20 may be slower, so that one slow moment of the machine breaks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.findings.finding_catalogue import look_up, nearest
from pytest_hookharness.model import moves
from pytest_hookharness.model.expectations import Expectation, FileExpectations, Range, counted, first_few
from pytest_hookharness.model.name_hint import without_events
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
    """Check the files of the workspace at the end."""
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
    return Violation(f"expect.files.{path}", expected, seen)


def _below(entries: Mapping[str, StateEntry], file: str) -> dict[str, StateEntry]:
    path = f"workspace/{file.strip('/')}".removesuffix("/.")
    return {name: entry for name, entry in entries.items() if name == path or name.startswith(f"{path}/")}


def _changed(before: Mapping[str, StateEntry], after: Mapping[str, StateEntry]) -> str:
    if not before:
        # Every hook would meet an expectation about a file that never existed, so this is a mistake.
        return "it did not exist at the beginning"
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
        return f"line {shorter + 1} is superfluous: {found[shorter]!r}"
    return f"it ends before line {shorter + 1}: {wanted[shorter]!r}"


def broken_findings(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check for findings that were expected and did not occur, and for findings that were not expected."""
    seen = {finding.code for finding in outcome.findings}
    for index, word in enumerate(expect.findings):
        code = look_up(word)
        if code is not None and code.code in seen:
            continue
        wanted = (
            f"{code.code} {code.name}" if code is not None else f"{word} (no such finding{_nearest(word)})"
        )
        listed = ", ".join(sorted(f"{item.code} {item.name}" for item in outcome.findings))
        yield Violation(f"expect.findings[{index}]", wanted, listed or "no findings")
    for finding in outcome.findings:
        # A scenario that expects a loop is about the loop, in which the same reason comes again and again.
        if finding.code == finding_catalogue.EMPTY_ADVICE.code and expect.a_loop:
            continue
        if not expect.allows(finding.code, finding.name):
            # The finding itself is reported too, with the list of all names.
            seen_text = f"{finding.code} {finding.name}: {without_events(finding.text)}"
            yield Violation("expect.findings", f"no {finding.name}", seen_text)


def _nearest(word: str) -> str:
    near = nearest(word)
    return f"; nearest is {near}" if near else ""


def broken_end_of_calls(outcome: Outcome, after: int | None) -> Iterator[Violation]:
    """Check that no tool call of the agent succeeds after a turn, and that at least one is tried."""
    if after is None:
        return
    calls = [(step.turn, call) for step, call in outcome.trace.performed() if step.turn > after]
    made = next(((turn, call.call.name) for turn, call in calls if not call.refused), None)
    wanted = f"every tool call after turn {after} refused, and at least one tried"
    if made is not None:
        yield Violation("expect.no_call_after", wanted, f"a call of {made[1]} was made in turn {made[0]}")
    elif not calls:
        yield Violation("expect.no_call_after", wanted, "no call was tried")


def broken_leftovers(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check the number of leftover processes: 0, unless the scenario says otherwise."""
    allowed = expect.leftovers
    if allowed is None:
        excused = {finding_catalogue.HELD_OPEN, finding_catalogue.LEFTOVER}
        if any(look_up(word) in excused for word in expect.findings):
            return
        allowed = Range.exactly(0)
    left = outcome.leftovers
    if len(left) not in allowed:
        commands = first_few([f"`{process.command}`" for process in left])
        seen = f"{len(left)}: {commands}" if left else "0"
        yield Violation("expect.leftovers", f"{allowed} leftover processes", seen)


def broken_masks(outcome: Outcome, unmatched: Mapping[int, str]) -> Iterator[Violation]:
    """Report masks that left nothing out, and so would hide a mistake in their names."""
    for place, seen in unmatched.items():
        mask = outcome.scenario.masks[place]
        within = f"{' or '.join(mask.keys) or mask.text!r} in " if mask.keys or mask.text else ""
        yield Violation(f"mask[{place}]", f"something to mask: {within}{mask.file}", seen)


def broken_times(outcome: Outcome, expected: Mapping[str, int]) -> Iterator[Violation]:
    """Check for events of which a hook took too long, or of which no hook ran."""
    measured = timings(outcome.trace) if expected else ()
    started = {
        hook_run.hook.event
        for _, hook_run in outcome.trace.hook_runs()
        if hook_run.run is not None and not isinstance(hook_run.run.ending, NotStarted)
    }
    for event, budget in expected.items():
        of_event = [timing for timing in measured if timing.event == event]
        slowest = max(of_event, key=lambda timing: timing.slowness, default=None)
        path, wanted = f"expect.within_ms.{event}", f"each hook of {event} within {budget} ms"
        if slowest is None or event not in started:
            yield Violation(path, wanted, f"no command of {event} ran")
        elif slowest.slowness.cut or slowest.slowness.seconds * 1000 > budget:
            yield Violation(path, wanted, _describe_slowest(slowest))


def _describe_slowest(timing: Timing) -> str:
    hook_run, number = timing.slowness, len(timing.hook_runs)
    took = f"{1000 * hook_run.seconds:,.0f} ms"
    which = "its only run" if number == 1 else f"the slowest of {counted(number, 'run')}"
    if hook_run != timing.hook_runs[-1]:
        slowest = timing.hook_runs[-1]
        which = f"95 % of {number} runs took no longer; the slowest was in turn {slowest.turn}"
    # The command comes last, because a long text may be cut at its end.
    return f"{'cut after ' if hook_run.cut else ''}{took} in turn {hook_run.turn} ({which}): {timing.command}"


def broken_paths(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check the expected paths into and out of a lock-out."""
    explored = outcome.explored
    trap = explored.trap if explored is not None else None
    path_in = None if trap is None else trap.path
    path_out = None if explored is None or not explored.escape else explored.escape
    for name, expected, seen in (("way_in", expect.way_in, path_in), ("way_out", expect.way_out, path_out)):
        wanted = None if expected is None else tuple(map(moves.unlabelled, expected))
        known = None if seen is None else tuple(map(moves.unlabelled, seen))
        if wanted is not None and wanted != known:
            yield Violation(f"expect.{name}", _describe_path(wanted), _describe_path(known))


def _describe_path(path: Sequence[moves.Move] | None) -> str:
    if path is None:
        return "no path is known"
    return ", ".join(map(_describe_move, path)) or "no move"


def _describe_move(move: moves.Move) -> str:
    match move:
        case moves.RunCommand(command=command):
            return f"run: {command}"
        case moves.Edit(file=file):
            return f"edit: {file}"
        case moves.Read(file=file):
            return f"read: {file}"
        case moves.Stop(text=text):
            return f"stop: {text}"
        case moves.Subagent(kind=kind):
            return f"subagent: {kind}"
        case moves.SubagentText(text=text):
            return f"the subagent's text: {text}"
        case moves.Tools(calls=calls):
            return "tool: " + " and ".join(call.name for call in calls)
        case _:
            assert_never(move)
