"""The turns of a story: the lines of each turn, with equal turns folded into one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Cut, ProcessResult, TimedOut
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.trace import Happened, HookEvent, HookRun, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import IF_MASKED, Livelock
from pytest_hookharness.reports.model_texts import with_short_paths, with_short_paths_of_event
from pytest_hookharness.reports.safe_text import (
    columns,
    fit,
    fold_line,
    plain,
    quoted,
    without_runner_command,
)
from pytest_hookharness.reports.terminal.agent_tree import render_sessions
from pytest_hookharness.reports.terminal.phrases import (
    EVERYTHING,
    LONGEST_TEXT,
    bounded,
    describe_activity,
    describe_cap,
    describe_ending,
    describe_event,
    describe_move,
    describe_reply,
    last_error_line,
    text_of_command,
)

_LONGEST = 100
_MOST = 5


def describe_dialogue(run: ProcessResult | None) -> Iterator[str]:
    """
    Describe the dialogue on the terminal of a hook run.

    A question that made it time out is left out: it is described with the process that asked.
    """
    dialogue = None if run is None else run.dialogue
    if run is None or dialogue is None:
        return
    for asked in dialogue.asked[:_MOST]:
        question, answer = quoted(asked.question, _LONGEST), quoted(asked.answer, _LONGEST)
        yield f"asks {question} on the terminal and gets {answer}"
    held_up = isinstance(run.ending, TimedOut) and any(activity.asks for activity in run.ending.doing)
    if dialogue.unanswered and not held_up:
        yield f"writes {quoted(dialogue.unanswered, _LONGEST)} on the terminal, and nobody answers"


_LABEL = 20
# Columns: a longer reply gets a line of its own below the command.
_ROOM = 76
_LONGEST_CYCLE = 8
_MOST_LINES = 14
_HEAD, _TAIL = 6, 4
_DOING = 3
# A reason such as `12 passed in 0.31s` is the same reason in the next turn.
_DURATION = re.compile(r"\b\d+(?:[.,]\d+)?\s?(?:ms|s|sec|secs|seconds?)\b")


@dataclass(frozen=True, slots=True)
class StoryLine:
    """
    One line of a turn.

    Attributes:
        label: Who acts: the agent, the script, a tool or an event.
        key: The text without durations and process numbers, to compare turns.
    """

    label: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class TurnGroup:
    """One turn in full, or several that are ``like`` those from one earlier turn to another."""

    first: int
    last: int
    lines: tuple[StoryLine, ...] = ()
    like: tuple[int, int] | None = None


def render_turns(outcome: Outcome, width: int, *, verbose: bool = False) -> list[str]:
    """Return the lines of all turns, folded; without ``verbose`` also bounded."""
    outcome = with_short_paths(outcome)
    turns = _by_turn(outcome.trace, EVERYTHING if verbose else LONGEST_TEXT)
    labels = min(_LABEL, max((columns(line.label) for _, lines in turns for line in lines), default=0))
    groups = fold(turns)
    written = [_write(group, labels, width, EVERYTHING if verbose else _MOST_LINES) for group in groups]
    if len(written) > _HEAD + _TAIL + 1 and not verbose:
        number = groups[-_TAIL - 1].last - groups[_HEAD].first + 1
        written = [*written[:_HEAD], [f"  ... {counted(number, 'turn')} ..."], *written[-_TAIL:]]
    lines = [line for block in written for line in block]
    if isinstance(outcome.verdict, Livelock):
        lines += _forever(outcome, outcome.verdict, lines.pop() if groups and groups[-1].like else "", width)
    return [without_runner_command(fit(line, width).rstrip()) for line in lines]


def render_response(response: Response, width: int = 100, *, verbose: bool = False) -> str:
    """Return the lines of one single event."""
    response = with_short_paths_of_event(response)
    lines = [*_hooked(response.hooked, EVERYTHING if verbose else LONGEST_TEXT)]
    labels = max((columns(line.label) for line in lines), default=0)
    folded = (line for one in lines for line in _fold(f"{fit(one.label, labels)}  {one.text}", labels, width))
    return "\n".join(without_runner_command(line) for line in folded)


def _fold(line: str, labels: int, width: int) -> list[str]:
    """Return a labelled line, with what does not fit below its text."""
    text = line[labels:]
    indent = labels + len(text) - len(text.lstrip(" ")) + 2
    return fold_line(line, width, " " * indent)


def _forever(outcome: Outcome, verdict: Livelock, repeated: str, width: int) -> list[str]:
    """Return the last lines of an endless story; a line that names repeated turns is continued."""
    would = describe_cap(verdict.cap, plain(outcome.host, 40), verdict.limits, outcome.scenario.cap)
    words = "and no end was seen" if verdict.evidence == "driven" else "and so on forever"
    words += IF_MASKED if verdict.evidence == "masked" else ""
    line = f"{repeated}, {words}" if repeated else f"  {words}"
    whole = f"{line}{' ' * max(1, 23 - len(words))}({would})"
    return [whole] if columns(whole) <= width else [line, f"    ({would})"]


def fold(turns: Sequence[tuple[int, tuple[StoryLine, ...]]]) -> list[TurnGroup]:
    """Fold equal turns into groups, also where several turns repeat as a whole."""
    keys = [tuple((line.label, line.key) for line in lines) for _, lines in turns]
    groups: list[TurnGroup] = []
    place = 0
    while place < len(turns):
        period = _period(keys, place)
        if period is None:
            number, lines = turns[place]
            groups.append(TurnGroup(number, number, lines))
            place += 1
            continue
        end = place + period
        while end + period <= len(keys) and keys[end : end + period] == keys[place - period : place]:
            end += period
        like = (turns[place - period][0], turns[place - 1][0])
        groups.append(TurnGroup(turns[place][0], turns[end - 1][0], like=like))
        place = end
    return groups


def _period(keys: Sequence[object], place: int) -> int | None:
    for period in range(1, min(_LONGEST_CYCLE, place, len(keys) - place) + 1):
        if keys[place : place + period] == keys[place - period : place]:
            return period
    return None


def _write(group: TurnGroup, labels: int, width: int, most: int) -> list[str]:
    if group.like is not None:
        return [_same(group, group.like)]
    head = "  before" if group.first == 0 else f"  turn {group.first}"
    lines = bounded([f"{fit(line.label, labels)}  {line.text}" for line in group.lines], most)
    folded = [each for line in lines for each in _fold(line, labels, width - 10)]
    return [f"{head:9} {folded[0]}", *(" " * 10 + line for line in folded[1:])]


def _same(group: TurnGroup, like: tuple[int, int]) -> str:
    as_which = "" if like[0] == like[1] else f" as turns {_span(*like)}"
    named = f"turn {group.first}" if group.first == group.last else f"turns {_span(group.first, group.last)}"
    return f"  {named}  the same{as_which}"


def _span(first: int, last: int) -> str:
    return f"{first} and {last}" if last == first + 1 else f"{first} to {last}"


def _by_turn(trace: Trace, longest: int) -> list[tuple[int, tuple[StoryLine, ...]]]:
    turns: dict[int, list[StoryLine]] = {}
    for step in trace.steps:
        turns.setdefault(step.turn, []).extend(_lines(step, longest))
    return [(turn, tuple(lines)) for turn, lines in turns.items() if lines]


def _lines(step: Step, longest: int) -> Iterator[StoryLine]:
    match step.exchange:
        case Moved(move=move):
            yield _line("agent", describe_move(move))
        case Happened(event=event):
            yield _line("script", describe_event(event))
        case Performed() as performed:
            yield from _performed(performed, longest)
        case HookEvent() as hooked:
            yield from _hooked(hooked, longest)
        case _:
            assert_never(step.exchange)


def _line(label: str, text: str, key: str | None = None) -> StoryLine:
    return StoryLine(plain(label, _LABEL), text, text if key is None else key)


def _performed(performed: Performed, longest: int) -> Iterator[StoryLine]:
    if performed.refused:
        yield _line("tool", f"{plain(performed.call.name, 40)} was not carried out")
    elif performed.result.failed:
        yield _line(
            "tool", f"{plain(performed.call.name, 40)} failed: {quoted(performed.result.text, longest)}"
        )
    yield from (_line("", line) for line in render_sessions(performed.children))


def _hooked(hooked: HookEvent, longest: int) -> Iterator[StoryLine]:
    for hook_run in hooked.hook_runs:
        said = describe_reply(hook_run, hooked, longest)
        wall = None if hook_run.run is None else hook_run.run.wall
        yield from _hook_run(hooked.event, hook_run, wall, said)
        last = plain(last_error_line(hook_run), longest)
        if last and last.replace('"', '\\"') not in said:
            # Times and process numbers differ from run to run.
            yield _line("", f"  stderr: {last}", re.sub(r"[0-9]+", "0", last))
        yield from (_line("", f"  {words}") for words in describe_dialogue(hook_run.run))
        if isinstance(hook_run.ending, TimedOut) and hook_run.ending.by is not Cut.BACKGROUND:
            for activity in hook_run.ending.doing[:_DOING]:
                yield _line("", f"  {describe_activity(activity)}", activity.process.command)
    yield from (_line("", line) for line in render_sessions(hooked.children))
    decision = hooked.decision
    if decision.refused and not hooked.deciding:
        because = f": {quoted(decision.reasons[0], longest)}" if decision.reasons else ""
        yield _line(hooked.event, f"-> block{because}")


def _hook_run(event: str, hook_run: HookRun, wall: float | None, said: str) -> Iterator[StoryLine]:
    run = hook_run.run
    ended = (
        "answered by the scenario" if run is None else describe_ending(run.ending, took)
        for took in (wall, None)
    )
    ran, timeless = (f"{text_of_command(hook_run)}  {how}" for how in ended)
    if columns(ran) + columns(said) > _ROOM:
        yield _line(event, ran, timeless)
        if said:
            yield _line("", f"  {said}", _DURATION.sub("0 s", said))
    else:
        together = f"  {said}" if said else ""
        yield _line(event, ran + together, timeless + _DURATION.sub("0 s", together))
