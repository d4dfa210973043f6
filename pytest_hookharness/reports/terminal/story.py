"""The whole report on one outcome, from its first turn to what to do next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import OBSERVED, Finding, Livelock, Lockout, Recursing, Terminated
from pytest_hookharness.reports.model_texts import with_short_paths
from pytest_hookharness.reports.safe_text import (
    columns,
    fit,
    fold_line,
    plain,
    without_runner_command,
    wrapped,
)
from pytest_hookharness.reports.terminal.agent_tree import render_background
from pytest_hookharness.reports.terminal.campaign_report import describe_exploration, render_trap
from pytest_hookharness.reports.terminal.phrases import EVERYTHING, LONGEST_TEXT, and_more, describe_tier
from pytest_hookharness.reports.terminal.probe_report import render_probes
from pytest_hookharness.reports.terminal.turns import render_turns
from pytest_hookharness.reports.terminal.verdict_text import first_line

__all__ = ["first_line", "story"]

# A word with a slash that is no absolute path.
_RELATIVE = re.compile(r"(?<![^\s=])[\w.-]+/")
_MOST_FINDINGS = 10
_MOST_VIOLATIONS = 20
_MOST_ASSUMPTIONS = 20
_MOST_VARIED = 20
_MOST_PROBINGS = 2
_MOST_LINKS = 8
_LONGEST = 400
_PLACE = 38


def story(outcome: Outcome, *, width: int = 100, replay_command: str = "", verbose: bool = False) -> str:
    """
    Return the whole report on one simulation, in lines of some columns.

    By default the replay command is made from its file. Nothing is cut or left out if ``verbose``.
    """
    lookup = _lookup(outcome, width)
    outcome = with_short_paths(outcome)
    longest = EVERYTHING if verbose else LONGEST_TEXT
    head = plain(first_line(outcome, verbose=verbose), max(longest, 2 * _LONGEST))
    tree = [fit(line, width).rstrip() for line in render_background(outcome.background)]
    lines = [
        head,
        *_turns(outcome, width, verbose=verbose),
        *tree,
        *_chain(outcome, width),
        *_limits(outcome, width),
    ]
    lines += _violations(outcome, width, longest)
    lines += _advice(outcome, width)
    lines += _findings(outcome, width, longest)
    lines += [*lookup, *_varied(outcome, width)]
    tried = [] if outcome.explored is None else [*describe_exploration(outcome.explored)]
    # Earlier probes only led to later ones. A lock-out shows the turns of another run, without these probes.
    for probing in () if isinstance(outcome.verdict, Lockout) else outcome.probe_reports[-_MOST_PROBINGS:]:
        tried += render_probes(probing, outcome.verdict)
    lines += [line for words in tried for line in _wrapped(words, width, hanging=" " * 6)]
    lines += _assumptions(outcome, width)
    if outcome.kept_workspace:
        lines.append(f"  workspace: {plain(outcome.kept_workspace, _LONGEST)}")
    return "\n".join([*lines, *_replay(outcome, replay_command)])


def _wrapped(text: str, width: int, indent: str = "  ", hanging: str | None = None) -> list[str]:
    return [without_runner_command(line) for line in wrapped(text, max(20, width), indent, hanging)]


def _turns(outcome: Outcome, width: int, *, verbose: bool) -> list[str]:
    explored = outcome.explored
    if explored is not None and explored.trap is not None:
        return render_trap(outcome, explored, explored.trap, width, verbose=verbose)
    return render_turns(outcome, width, verbose=verbose)


def _limits(outcome: Outcome, width: int) -> Iterator[str]:
    for limit in outcome.verdict.limits if isinstance(outcome.verdict, Livelock) else ():
        yield from _wrapped(f"limit:   turn {limit.turn}: {plain(limit.why)}", width, hanging=" " * 11)


def _chain(outcome: Outcome, width: int) -> Iterator[str]:
    verdict = outcome.verdict
    if not isinstance(verdict, Recursing) or not verdict.chain:
        return
    yield "  chain of causes:"
    middle = ["..."] if len(verdict.chain) > _MOST_LINKS + 1 else []
    for sentence in (*verdict.chain[:_MOST_LINKS], *middle, *verdict.chain[_MOST_LINKS:][-1:]):
        yield from _wrapped(plain(sentence, _LONGEST), width, " " * 4, " " * 6)


def _violations(outcome: Outcome, width: int, longest: int) -> Iterator[str]:
    origin = outcome.scenario.origin
    for violation in outcome.violations[:_MOST_VIOLATIONS]:
        expected = plain(violation.expected, 160)
        file = "" if origin is None else plain(str(origin.file), _LONGEST)
        place = "" if origin is None else f"{file}:{origin.line(violation.path)}  "
        where = f"{place}{plain(violation.path)}"
        gap = _PLACE - columns(expected)
        left = width - len("  expected: ") - columns(expected) - columns(where)
        if left >= 2:
            yield f"  expected: {expected}{' ' * max(2, min(gap, left))}{where}"
        else:
            yield from (f"  expected: {expected}", f"            {where}")
        seen = fold_line(f"  seen:     {plain(violation.seen, longest)}", width, " " * 12)
        yield from map(without_runner_command, seen)
    yield from and_more(len(outcome.violations) - _MOST_VIOLATIONS, "broken expectation")


def _findings(outcome: Outcome, width: int, longest: int) -> Iterator[str]:
    for finding in outcome.findings[:_MOST_FINDINGS]:
        yield from _finding(finding, width, longest)
    yield from and_more(len(outcome.findings) - _MOST_FINDINGS, "finding")
    codes = dict.fromkeys(plain(finding.code, 8) for finding in outcome.findings[:_MOST_FINDINGS])
    if codes:
        yield f"  more:   hookharness findings {' '.join(codes)}"


def _finding(finding: Finding, width: int, longest: int) -> Iterator[str]:
    times = f", {finding.times} times" if finding.times > 1 else ""
    when = f"first in turn {finding.turn}{times}" if finding.turn else f"before the first turn{times}"
    hook = f" [{plain(finding.hook, 60)}]" if finding.hook else ""
    text = (
        f"{plain(finding.code, 8)} {plain(finding.name, 20)}  {plain(finding.text, longest)}{hook} ({when})"
    )
    yield from _wrapped(text, width, hanging=" " * 8)
    yield from _wrapped(plain(finding.advice, _LONGEST), width, " " * 8)


def _lookup(outcome: Outcome, width: int) -> Iterator[str]:
    """Yield where a hook beside the test was looked for, if one did not run."""
    failed = {finding.hook for finding in outcome.findings if finding.name == "NOT-RUN"}
    if outcome.scenario.reach and any(_RELATIVE.search(command) for command in failed):
        where = plain(outcome.scenario.reach[0], _LONGEST)
        yield from _wrapped(
            f"note:   files that a hook's command names are looked up in {where}, then in its working folder",
            width,
            hanging=" " * 10,
        )


def _advice(outcome: Outcome, width: int) -> Iterator[str]:
    if isinstance(outcome.verdict, Terminated):
        return
    # Most runs end, and need none.
    from pytest_hookharness.reports.terminal.advice import advice, advice_on_agent

    yield from _wrapped(advice(outcome), width)
    # In lines of their own: it is about the scenario, not about the hook.
    yield from _wrapped(advice_on_agent(outcome), width)


def _varied(outcome: Outcome, width: int) -> Iterator[str]:
    for sentence in outcome.varied[:_MOST_VARIED]:
        yield from _wrapped(f"varied:  {plain(sentence, _LONGEST)}", width, hanging=" " * 11)
    if (left := len(outcome.varied) - _MOST_VARIED) > 0:
        yield f"  and {counted(left, 'more sentence')} about mutations"


def _assumptions(outcome: Outcome, width: int) -> Iterator[str]:
    verdict = outcome.verdict
    own = verdict.assumptions if isinstance(verdict, Livelock) else ()
    sentences = list(dict.fromkeys([*own, *outcome.assumptions]))
    if outcome.verdict_name in OBSERVED:
        # It rests on nothing but what is assumed about the host.
        sentences = [sentence for sentence in sentences if sentence.startswith("Assumed ")]
        if not sentences:
            return
    for sentence in sentences[:_MOST_ASSUMPTIONS]:
        # Some sentences say by themselves that they are assumed.
        label = "assumed" if sentence.startswith("Assumed ") else "assumed:"
        text = f"{label} {plain(sentence.removeprefix('Assumed '), _LONGEST)}"
        yield from _wrapped(text, width, hanging=" " * 11)
    yield from and_more(len(sentences) - _MOST_ASSUMPTIONS, "assumption")
    yield from _wrapped(f"tier:    {describe_tier(outcome.tier)}", width, hanging=" " * 11)


def _replay(outcome: Outcome, replay_command: str) -> Iterator[str]:
    origin = outcome.scenario.origin
    # In a line of its own, since people copy the command.
    if replay_command:
        yield f"  replay: {plain(replay_command, _LONGEST)}"
    elif origin is None:
        yield f"  replay: the same scenario ({plain(outcome.scenario.id)}) with seed {outcome.seed}"
    else:
        node = shlex.quote(f"{plain(str(origin.file), _LONGEST)}::{plain(outcome.scenario.id, _LONGEST)}")
        yield f"  replay: hookharness run {node} --seed {outcome.seed}"
    if outcome.chance:
        yield "          which may go differently: the source names random numbers"
