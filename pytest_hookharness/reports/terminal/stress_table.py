"""The table of a stress run: what was mutated, and how each hook took it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
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
from pytest_hookharness.reports.terminal.phrases import EVERYTHING, LONGEST_TEXT, and_more, without_folder

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


@dataclass(frozen=True, slots=True)
class _Row:
    """One mutation with the worst trial result of each hook; where nothing was tried, one without a hook."""

    words: str
    worst: Mapping[str, TrialResult]

    @property
    def result(self) -> TrialResult:
        return min(self.worst.values(), key=_weight)

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
    with ``verbose`` the evidence is not cut either.
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
    for row in rows:
        shown = [fit(row.outcome(hook), columns(head)) for hook, head in zip(hooks, heads, strict=True)]
        lines.append(_line(row.words, shown or [row.result.outcome], first, width))
        lines += _below(row, replay_command, width, longest)
    return "\n".join([*lines, _total(rows)])


def _rows(trial_results: Sequence[TrialResult]) -> Iterator[_Row]:
    # Two families may try the same thing; one row shows the worse result.
    alike: dict[str, dict[str, TrialResult]] = {}
    for result in trial_results:
        row = alike.setdefault(result.mutation, {})
        row[result.hook] = min((row.get(result.hook, result), result), key=_weight)
    for words, worst in alike.items():
        yield _Row(words, worst)


def _line(words: str, trial_results: Sequence[str], first: int, width: int) -> str:
    line = _GAP.join([squeeze(plain(words, 200), max(first, len(_HEAD))), *trial_results]).rstrip()
    return fit(line, max(width, first)).rstrip()


def _below(row: _Row, replay_command: Callable[[str], str], width: int, longest: int) -> Iterator[str]:
    result = row.result
    if result.evidence and result.outcome != "as declared":
        evidence = f"{_INDENT}{plain(result.evidence, longest)}"
        yield from map(without_runner_command, fold_line(evidence, max(width, 60), _INDENT + "  "))
    if result.outcome not in _FINE:
        yield f"{_INDENT}replay: {plain(replay_command(row.words), _LONGEST)}"


def _total(rows: Sequence[_Row]) -> str:
    number = Counter(row.result.outcome for row in rows)
    parts = [f"{number[word]} {word}" for word in _RANK if number[word]]
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
