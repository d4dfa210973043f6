"""
The host matrix: one scenario on several hosts, and the facts that make them differ.

A path has the result of each turn, and the host fact behind it. Rows and paths are plain JSON, so that they
can cross from one process to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Decision, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, Step
from pytest_hookharness.model.verdicts import Capped, Livelock
from pytest_hookharness.reports.safe_text import aligned, columns, fit, plain

Turn: TypeAlias = Mapping[str, str | int]
HostPath: TypeAlias = Sequence[Turn]

_LONGEST = 400
_NOTE = 160
# More hosts than this are shown as rows.
_MOST_COLUMNS = 6
_MOST_TURNS = 60
# The field of the payload in which most hosts report an earlier refusal to a stop hook.
FLAG = "stop_hook_active"
REFUSED = "refused"
UNASKED = "no hook was asked"
_ALLOWED = "allowed"


def path_of(outcome: Outcome) -> list[dict[str, str | int]]:
    """Return the result of each turn; the last entry is the verdict."""
    turns: dict[int, list[Step]] = {}
    for step in outcome.trace.steps:
        turns.setdefault(step.turn, []).append(step)
    found = [_turn(number, steps) for number, steps in sorted(turns.items())[:_MOST_TURNS]]
    return [*found, {"turn": 0, "result": outcome.verdict_name, **_fact(_last_rule(outcome))}]


def _turn(number: int, steps: Sequence[Step]) -> dict[str, str | int]:
    asked = [step.exchange for step in steps if isinstance(step.exchange, HookEvent)]
    # A refusal counts first, then a reply that the host could not use; of several the last one.
    refusing = [hooked for hooked in asked if _word(hooked.decision) != _ALLOWED]
    decisive = refusing or [hooked for hooked in asked if _note(hooked)] or asked
    if not decisive:
        return {"turn": number, "result": UNASKED, **_fact(None)}
    hooked = decisive[-1]
    note = _note(hooked) if not refusing else ""
    return {
        "turn": number,
        "result": _word(hooked.decision),
        "event": hooked.event,
        "note": note,
        "flag": _flag(hooked),
        **_fact(_deciding(hooked, note)),
    }


def _note(hooked: HookEvent) -> str:
    """Return what the host could not use of the replies; empty if it used all."""
    replies = [hook_run.reply for hook_run in hooked.hook_runs]
    undone = "a refusal was overruled" if any(reply.ruling is Ruling.DENY for reply in replies) else ""
    return next((reply.fault for reply in replies if reply.fault), undone)


def _flag(hooked: HookEvent) -> str:
    """Return the value of the flag in the payloads; empty if there was none."""
    values = [hook_run.payload[FLAG] for hook_run in hooked.hook_runs if FLAG in hook_run.payload]
    return str(values[0]).lower() if values else ""


def _deciding(hooked: HookEvent, note: str) -> Rule:
    faulty = (hook_run.reply.rule for hook_run in hooked.hook_runs if hook_run.reply.fault == note)
    return next(faulty, hooked.decision.rule) if note else hooked.decision.rule


def _word(decision: Decision) -> str:
    if decision.overridden:
        return "refusal overridden"
    if decision.halt is not None:
        return "halted"
    return REFUSED if decision.refused else _ALLOWED


def _last_rule(outcome: Outcome) -> Rule | None:
    verdict = outcome.verdict
    if isinstance(verdict, Capped | Livelock) and verdict.cap is not None:
        return verdict.cap.rule
    rules = [hooked.decision.rule for _, hooked in outcome.trace.hooked()]
    return rules[-1] if rules else None


def _fact(rule: Rule | None) -> dict[str, str | int]:
    if rule is None:
        return {"fact": "", "basis": "", "source": ""}
    return {"fact": rule.text, "basis": rule.basis.value, "source": rule.source}


@dataclass(frozen=True, slots=True)
class HostRun:
    """One scenario on one host, with the result of each turn."""

    scenario: str
    host: str
    verdict: str
    path: HostPath

    @property
    def result(self) -> str:
        """
        Return the verdict; for a terminated session with the number of turns that had a refusal.

        A guard that the host ignores ends well too: only this number shows the difference.
        """
        refused = sum(turn["result"] == REFUSED for turn in self.path[:-1])
        return f"{self.verdict}, {refused} refused" if self.verdict == "terminated" else self.verdict


def render_matrix(runs: Sequence[HostRun], *, width: int = 100) -> str:
    """
    Return the results of every scenario that was played on several hosts, and why the hosts differ.

    Empty if there is none. Of several scenarios those whose hosts agree are only counted.
    """
    scenarios = _several(runs)
    if not scenarios:
        return ""
    differing = {name: among for name, among in scenarios.items() if len(_by_result(among)) > 1}
    shown = differing or (scenarios if len(scenarios) == 1 else {})
    agreed = len(scenarios) - len(shown)
    rest = [f"same result on all hosts: {counted(agreed, 'scenario')}"] if agreed else []
    return "\n".join([*_grid(shown, width), *rest, *_all_differing(differing)])


def _by_result(among: Sequence[HostRun]) -> Mapping[str, list[HostRun]]:
    groups: dict[str, list[HostRun]] = {}
    for run in among:
        groups.setdefault(run.result, []).append(run)
    return groups


def _several(runs: Sequence[HostRun]) -> Mapping[str, list[HostRun]]:
    scenarios: dict[str, list[HostRun]] = {}
    for run in runs:
        scenarios.setdefault(run.scenario, []).append(run)
    return {name: among for name, among in scenarios.items() if len({run.host for run in among}) > 1}


def _grid(scenarios: Mapping[str, list[HostRun]], width: int) -> Iterator[str]:
    if not scenarios:
        return
    hosts = list(dict.fromkeys(run.host for among in scenarios.values() for run in among))
    cells = {name: _cells(among) for name, among in scenarios.items()}
    rows = [["scenario", *(plain(host, 30) for host in hosts)]]
    rows += [[plain(name, 60), *(among.get(host, "-") for host in hosts)] for name, among in cells.items()]
    if len(hosts) > _MOST_COLUMNS:
        rows = [[*column] for column in zip(*rows, strict=True)]
    least = max(columns(row[0]) for row in rows) + 20
    for line in aligned(rows[0], rows[1:]):
        yield fit(line, max(width, least)).rstrip()


def _cells(among: Sequence[HostRun]) -> Mapping[str, str]:
    """Return the text for each host: only the verdict if that distinguishes all results."""
    enough = len({run.verdict for run in among}) == len(_by_result(among))
    return {run.host: run.verdict if enough else run.result for run in among}


def _all_differing(scenarios: Mapping[str, list[HostRun]]) -> Iterator[str]:
    for name, among in scenarios.items():
        groups, cells = _by_result(among), _cells(among)
        words = (f"{cells[runs[0].host]} on {_hosts(runs)}" for runs in groups.values())
        listed = "; ".join(words)
        yield f"HH018 DIVERGE  {plain(name, 60)}: {listed}"
        yield from _reasons([*groups.values()])


def _reasons(groups: Sequence[Sequence[HostRun]]) -> Iterator[str]:
    """Yield why the hosts differ: each reason once, with the hosts it applies to."""
    (base, *alike), (first, *_), *_ = groups
    pairs = [(base, run) for group in groups[1:] for run in group]
    pairs += [(run, first) for run in alike]
    hosts: dict[str, dict[str, None]] = {}
    sources: dict[str, dict[str, None]] = {}
    for one, other in pairs:
        for run, reason in zip((one, other), first_difference(one, other), strict=True):
            hosts.setdefault(reason.words, {})[plain(run.host, 30)] = None
            sources.setdefault(reason.words, {})[reason.source] = None
    for words, among in hosts.items():
        named = "; ".join(filter(None, sources[words]))
        yield f"    {', '.join(among)}: {words}" + (f" ({named})" if named else "")


def _hosts(runs: Sequence[HostRun]) -> str:
    return ", ".join(plain(run.host, 30) for run in runs)


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for a run's course on one host: turn, result and host fact, and how that fact is known."""

    words: str
    source: str = ""


def first_difference(one: HostRun, other: HostRun) -> tuple[Reason, Reason]:
    """Return the first turn in which two hosts differ, with the fact behind each."""
    pairs = zip_longest(one.path[:-1], other.path[:-1])
    here = next(((a, b) for a, b in pairs if a is None or b is None or a["result"] != b["result"]), None)
    first, second = here or (one.path[-1], other.path[-1])
    # A different input explains the difference before a different answer does.
    inputs = [_flag_words(turn) for turn in (first, second) if turn is not None and turn["result"] != UNASKED]
    words = inputs if len(set(inputs)) > 1 else ["", ""]
    return _reason(one, first, words[0]), _reason(other, second, words[1])


def _flag_words(turn: Turn) -> str:
    flag = turn.get("flag")
    return f", with {FLAG} {flag}" if flag else f", without {FLAG}"


def _reason(run: HostRun, turn: Turn | None, heard: str) -> Reason:
    if turn is None:
        return Reason(f"the run had ended before ({run.verdict})")
    if turn["result"] == UNASKED and run.verdict == "capped":
        # Hooks that are not asked any more: the cap decided the run.
        turn = {**run.path[-1], "turn": turn["turn"], "result": UNASKED}
    note = f" ({plain(str(turn['note']), _NOTE)})" if turn.get("note") else ""
    result = f"{turn['result']}{note}{heard}"
    where = f"in turn {turn['turn']} {result}" if turn["turn"] else result
    if not turn["fact"]:
        return Reason(where)
    source = f"{turn['basis']}: {plain(str(turn['source']), 120)}"
    return Reason(f"{where}: {plain(str(turn['fact']), _LONGEST)}", source)
