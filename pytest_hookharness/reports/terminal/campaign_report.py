"""
Campaigns in a report: how an agent is locked in and gets out, and how each hook took what was mutated.

Written for readers who do not know what a state graph is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.exploration import (
    BEYOND,
    INTERRUPTED,
    LATE,
    LEFT,
    Exploration,
    Successor,
    TrapState,
)
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.mutations import FaultOutcome, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.safe_text import (
    columns,
    fit,
    fold_line,
    plain,
    squeeze,
    without_runner_command,
)
from pytest_hookharness.reports.terminal.phrases import (
    EVERYTHING,
    LONGEST_TEXT,
    and_more,
    describe_move,
    text_of_command,
    text_of_reason,
    without_folder,
)
from pytest_hookharness.reports.terminal.turns import render_turns

_LABEL = 40
_MOST_MOVES = 12
_REMEDIES = {
    LATE: "allow more with --time, or `time` under `explore`; --budget bounds it too",
    BEYOND: "allow more with --states, or `states` under `explore`",
    LEFT: "name those that matter under `explore`, as `moves`",
}


def render_trap(
    outcome: Outcome, explored: Exploration, trap: TrapState, width: int, *, verbose: bool = False
) -> list[str]:
    """Return the path into a lock-out, and what each move leads to there."""
    lines = render_turns(replace(outcome, trace=trap.trace), width, verbose=verbose)
    lines.append("  from then on, whatever the agent does:")
    words = [describe_move(move) for move in explored.candidates[:_MOST_MOVES]]
    label = min(_LABEL, max(map(columns, words), default=0))
    for said, successor in zip(words, trap.met, strict=False):
        line = f"    {fit(said, label)}  {_met(successor, trap)}"
        lines += map(without_runner_command, fold_line(line, width, " " * (label + 6)))
    return [*lines, *and_more(len(explored.candidates) - len(words), "move", "    ")]


def describe_exploration(explored: Exploration) -> Iterator[str]:
    """Describe what was explored and what it showed, in sentences."""
    states, moves = counted(explored.states, "state"), counted(len(explored.candidates), "move")
    made = counted(explored.tried, "time")
    yield f"explored: {states}, {moves} tried in each, {made} in all"
    if explored.trap is not None:
        inside = counted(explored.trap.states, "state")
        yield f"  {inside} can be reached from there; a simulated year later all moves give the same"
    elif explored.covered:
        yield "  from every state some of these moves lead to a stop that the hooks allow"
        yield from (f"  assumed: {words}" for words in explored.assumed)
    else:
        yield f"  a path to a stop is known from {explored.stopping} of them"
    for why, number in explored.open.items():
        remedy = f" ({_REMEDIES[why]})" if why in _REMEDIES else ""
        yield f"  unknown: {counted(number, 'move')}, {plain(why, 120)}{remedy}"
    if explored.since is not None and explored.trap is None:
        yield f"  {_describe_escape(explored)}"
    yield f"  moves: {', '.join(describe_move(move) for move in explored.candidates)}"


def conclusion_of(explored: Exploration | None, *, interrupted: bool = False) -> str:
    """Return the result of an exploration; ``interrupted``: whether the session before it was."""
    if explored is None:
        why = "the session before was interrupted" if interrupted else "the session itself did not end"
        return f"nothing was explored, because {why}"
    if explored.trap is not None:
        return "a lock-out: from the state above none of these moves leads to a stop"
    if explored.covered:
        return "no lock-out: from every state some move leads to a stop that the hooks allow"
    why = "it was interrupted" if INTERRUPTED in explored.open else "some results are unknown (see above)"
    return f"inconclusive: {why}"


def describe_path(moves: Sequence[Move]) -> str:
    """Describe moves in order."""
    return ", then ".join(map(describe_move, moves))


def _describe_escape(explored: Exploration) -> str:
    if not explored.escape:
        which = "of the moves that were tried" if explored.open else "of these moves"
        return f"none {which} leads out of the loop"
    return f"out of the loop: after turn {explored.since} the agent {describe_path(explored.escape)}"


def _met(successor: Successor, trap: TrapState) -> str:
    for run in successor.refusals:
        return f"{plain(run.hook.event, 20)}  {text_of_command(run)} -> block {text_of_reason(run)}"
    if successor.fate == "held":
        return plain(successor.why, 120)
    return (
        "changes nothing" if successor.digest == trap.digest else "leads to a state without a path to a stop"
    )


# Worst first.
_RANK: Sequence[FaultOutcome] = (
    "inert", "fail-open", "hung", "fail-closed", "differs", "not tried", "as declared",
)  # fmt: skip
_FINE = frozenset({"as declared", "not tried"})
_GAP = "  "
_INDENT = "    "
_HEAD = "mutation"
_WIDEST, _HOOK = 64, 28
_EVIDENCE, _LONGEST = 240, 1000
_MOST = 20
# From this many mutations that were not tried for one reason, one line stands for all of them.
_FOLDED = 4


@dataclass(frozen=True, slots=True)
class _MutationRow:
    """One mutation with the worst trial result of each hook; where nothing was tried, one without a hook."""

    words: str
    worst: Mapping[str, TrialResult]

    @property
    def result(self) -> TrialResult:
        return min(self.worst.values(), key=_weight)

    @property
    def untried(self) -> str:
        """Why it was not tried; empty if it was."""
        return self.result.evidence if self.result.outcome == "not tried" else ""

    def outcome(self, hook: str) -> str:
        """Return the fault outcome for one hook; results that concern no single hook count for all."""
        found = [self.worst[name] for name in (hook, "") if name in self.worst]
        return min(found, key=_weight).outcome if found else "-"


def _weight(result: TrialResult) -> int:
    return _RANK.index(result.outcome)


def table(
    outcome: Outcome,
    replay_command: Callable[[str], str],
    *,
    width: int = 100,
    verbose: bool = False,
) -> str:
    """
    Return the table of all trials, worst first, with evidence and replay commands.

    ``replay_command`` returns the command for a mutation in words. What is meant to be pasted is never cut;
    with ``verbose`` the evidence is not cut either, and each mutation that was not tried has its row.
    """
    longest = EVERYTHING if verbose else LONGEST_TEXT
    rows = sorted(_rows(outcome.trial_results), key=lambda row: _weight(row.result))
    hooks = [*dict.fromkeys(result.hook for result in outcome.trial_results if result.hook)]
    if not rows:
        return "nothing was tried"
    first = min(_WIDEST, max(columns(plain(row.words)) for row in rows))
    names = [plain(without_folder(hook), 200) for hook in hooks]
    heads = [squeeze(name, min(_HOOK, max(11, len(name)))) for name in names]
    lines = [_line(_HEAD, heads, first, width)]
    folded = Counter(row.untried for row in rows if row.untried and not verbose)
    printed: set[str] = set()
    for row in rows:
        if folded[row.untried] >= _FOLDED:
            if row.untried not in printed:
                printed.add(row.untried)
                words = f"{folded[row.untried]} mutations not tried: {plain(row.untried, longest)}"
                lines += map(without_runner_command, fold_line(words, max(width, 60), _INDENT))
            continue
        shown = [
            fit(_named(row.outcome(hook), outcome), columns(head))
            for hook, head in zip(hooks, heads, strict=True)
        ]
        lines.append(_line(row.words, shown or [_named(row.result.outcome, outcome)], first, width))
        lines += _below(row, replay_command, width, longest)
    return "\n".join([*lines, _total(rows, outcome)])


def _named(result: str, outcome: Outcome) -> str:
    """Return a fault outcome in words; where nothing is declared, hooks do as without the mutation."""
    return "as usual" if result == "as declared" and not outcome.scenario.on_failure else result


def _rows(trial_results: Sequence[TrialResult]) -> Iterator[_MutationRow]:
    # Two families may try the same thing; one row shows the worse result.
    alike: dict[str, dict[str, TrialResult]] = {}
    for result in trial_results:
        row = alike.setdefault(result.mutation, {})
        row[result.hook] = min((row.get(result.hook, result), result), key=_weight)
    for words, worst in alike.items():
        yield _MutationRow(words, worst)


def _line(words: str, trial_results: Sequence[str], first: int, width: int) -> str:
    line = _GAP.join([squeeze(plain(words, 200), max(first, len(_HEAD))), *trial_results]).rstrip()
    return fit(line, max(width, first)).rstrip()


def _below(
    row: _MutationRow, replay_command: Callable[[str], str], width: int, longest: int
) -> Iterator[str]:
    result = row.result
    if result.evidence and result.outcome != "as declared":
        evidence = f"{_INDENT}{plain(result.evidence, longest)}"
        yield from map(without_runner_command, fold_line(evidence, max(width, 60), _INDENT + "  "))
    if result.outcome not in _FINE:
        yield f"{_INDENT}replay: {plain(replay_command(row.words), _LONGEST)}"


def _total(rows: Sequence[_MutationRow], outcome: Outcome) -> str:
    number = Counter(row.result.outcome for row in rows)
    parts = [f"{number[word]} {_named(word, outcome)}" for word in _RANK if number[word]]
    return f"{counted(len(rows), 'mutation')}: {', '.join(parts)}"


def describe_found(outcome: Outcome) -> str:
    """Return the findings with their advice; empty if there is none."""
    lines = []
    for finding in outcome.findings[:_MOST]:
        lines.append(f"{plain(finding.code, 8)} {plain(finding.name, 20)}  {plain(finding.text, _EVIDENCE)}")
        lines.append(f"{_INDENT}{plain(finding.advice, _EVIDENCE)}")
    lines += and_more(len(outcome.findings) - _MOST, "finding", "")
    return "".join(f"{line}\n" for line in lines)


def plan(trials: Sequence[tuple[str, str]], untried: Sequence[TrialResult], notes: Sequence[str]) -> str:
    """Return what will be tried, in order, as families with descriptions, and what will not, and why."""
    lines = [
        f"{place:4d}  {family:10}  {plain(words, 160)}" for place, (family, words) in enumerate(trials, 1)
    ]
    left = ((one.family, plain(one.mutation, 100), plain(one.evidence, 160)) for one in untried)
    lines += [f"   -  {family:10}  {words}: {why}" for family, words, why in left]
    lines += [f"   -  {plain(note, 240)}" for note in notes]
    return "\n".join([*lines, f"{counted(len(trials), 'mutation')} to be tried"])
