"""
The table of a matrix: what was different, and how each hook took it.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.mutations import FaultOutcome, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.safe_text import columns, fit, plain, squeeze
from pytest_hookharness.reports.terminal.phrases import without_folder

# The worst first.
_RANK: Sequence[FaultOutcome] = (
    "inert", "fail-open", "hung", "fail-closed", "differs", "not tried", "as declared",
)  # fmt: skip
_FINE = frozenset({"as declared", "not tried"})
_GAP = "  "
_INDENT = "    "
_HEAD = "what was different"
_WIDEST, _HOOK = 64, 28
_EVIDENCE, _LONGEST = 240, 1000
_MOST = 20


@dataclass(frozen=True, slots=True)
class _Row:
    """
    One thing that was different.

    Attributes:
        words: That in words.
        worst: The cell that tells most, of each hook; where nothing was tried there is one without a hook.
    """

    words: str
    worst: Mapping[str, TrialResult]

    @property
    def cell(self) -> TrialResult:
        return min(self.worst.values(), key=_weight)

    def bearing(self, hook: str) -> str:
        """
        The word for one hook, which what concerns no single hook concerns too.
        """
        found = [self.worst[name] for name in (hook, "") if name in self.worst]
        return min(found, key=_weight).outcome if found else "-"


def _weight(cell: TrialResult) -> int:
    return _RANK.index(cell.outcome)


def table(outcome: Outcome, again: Callable[[str], str], *, width: int = 100) -> str:
    """
    The table of all that was tried, the worst first, with evidence and with what plays it again.

    Args:
        outcome: What was seen.
        again: The command that plays what is different in these words.
        width: Columns of the terminal; what is meant to be pasted is never cut.
    """
    rows = sorted(_rows(outcome.trial_results), key=lambda row: _weight(row.cell))
    hooks = [*dict.fromkeys(cell.hook for cell in outcome.trial_results if cell.hook)]
    if not rows:
        return "nothing was tried"
    first = min(_WIDEST, max(columns(plain(row.words)) for row in rows))
    names = [plain(without_folder(hook), 200) for hook in hooks]
    heads = [squeeze(name, min(_HOOK, max(11, len(name)))) for name in names]
    lines = [_line(_HEAD, heads, first, width)]
    for row in rows:
        shown = [fit(row.bearing(hook), columns(head)) for hook, head in zip(hooks, heads, strict=True)]
        lines.append(_line(row.words, shown or [row.cell.outcome], first, width))
        lines += _below(row, again, width)
    return "\n".join([*lines, _total(rows)])


def _rows(trial_results: Sequence[TrialResult]) -> Iterator[_Row]:
    # Two kinds may try the same in their own ways; one row tells the worst of both.
    alike: dict[str, dict[str, TrialResult]] = {}
    for cell in trial_results:
        row = alike.setdefault(cell.mutation, {})
        row[cell.hook] = min((row.get(cell.hook, cell), cell), key=_weight)
    for words, worst in alike.items():
        yield _Row(words, worst)


def _line(words: str, trial_results: Sequence[str], first: int, width: int) -> str:
    line = _GAP.join([squeeze(plain(words, 200), max(first, len(_HEAD))), *trial_results]).rstrip()
    return fit(line, max(width, first)).rstrip()


def _below(row: _Row, again: Callable[[str], str], width: int) -> Iterator[str]:
    cell = row.cell
    if cell.evidence and cell.outcome != "as declared":
        yield fit(f"{_INDENT}{plain(cell.evidence, _EVIDENCE)}", max(width, 60)).rstrip()
    if cell.outcome not in _FINE:
        yield f"{_INDENT}again:  {plain(again(row.words), _LONGEST)}"


def _total(rows: Sequence[_Row]) -> str:
    number = Counter(row.cell.outcome for row in rows)
    parts = [f"{number[word]} {word}" for word in _RANK if number[word]]
    return f"{counted(len(rows), 'difference')}: {', '.join(parts)}"


def found(outcome: Outcome) -> str:
    """
    What that comes to, with what mends it; empty for nothing.
    """
    lines = []
    for finding in outcome.findings[:_MOST]:
        lines.append(f"{plain(finding.code, 8)} {plain(finding.name, 20)}  {plain(finding.text, _EVIDENCE)}")
        lines.append(f"{_INDENT}{plain(finding.advice, _EVIDENCE)}")
    left = len(outcome.findings) - _MOST
    lines += [f"and {counted(left, 'more finding')}"] if left > 0 else []
    return "".join(f"{line}\n" for line in lines)


def plan(trials: Sequence[tuple[str, str]], untried: Sequence[TrialResult], notes: Sequence[str]) -> str:
    """
    What will be tried, in order, and what will not.
    """
    lines = [
        f"{place:4d}  {family:10}  {plain(words, 160)}" for place, (family, words) in enumerate(trials, 1)
    ]
    left = ((one.family, plain(one.mutation, 100), plain(one.evidence, 160)) for one in untried)
    lines += [f"   -  {family:10}  {words}: {why}" for family, words, why in left]
    lines += [f"   -  {plain(note, 240)}" for note in notes]
    return "\n".join([*lines, f"{counted(len(trials), 'difference')} to be tried"])
