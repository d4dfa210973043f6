"""
The incident report: an outcome as a Markdown page for the history of a project's hooks.

The page has seven sections. What the trace knows is filled in. What only a person can know is marked with a
sentence that can be searched for.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook, Rule
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.trace import HookEvent, Performed
from pytest_hookharness.model.verdicts import Capped, Finding, Hung, Livelock
from pytest_hookharness.reports.model_texts import with_short_paths
from pytest_hookharness.reports.safe_text import code, fence, plain, without_runner_command
from pytest_hookharness.reports.terminal.advice import advice
from pytest_hookharness.reports.terminal.phrases import and_more, describe_cap, describe_tier, text_of_changes
from pytest_hookharness.reports.terminal.probe_report import render_probes
from pytest_hookharness.reports.terminal.turns import render_response, render_turns
from pytest_hookharness.reports.terminal.verdict_text import first_line
from pytest_hookharness.reports.trace.hook_runs import TraceRecord
from pytest_hookharness.reports.trace.read import TraceRun

TO_DO = "To be filled in by the author:"

_WIDTH = 100
_MOST = 20
_MOST_LINES_OF_REASON = 12
_LONGEST = 400
# A command that was cut cannot be given again.
_LONGEST_COMMAND = 4000
# A word of a command line that names a file: it contains a folder, or has the suffix of a script.
_WORD = re.compile(r"[^\s`;|&<>()=]+")
_FILE = re.compile(r".*/[^/]+|[^/]+\.(?:[cm]?[jt]s|sh|bash|py|rb|pl)")
_QUOTES = str.maketrans("", "", "'\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentContext:
    """
    The context of a report that the outcome does not contain.

    Attributes:
        asked: Single events of the same test.
        root: The folder that file names are shown relative to.
    """

    replay_command: str
    day: str = ""
    versions: Sequence[str] = ()
    asked: Sequence[Response] = ()
    root: Path | None = None


def incident_report(outcome: Outcome, context: IncidentContext) -> str:
    """Return the whole report as Markdown."""
    outcome = with_short_paths(outcome)
    day = f"{context.day}: " if context.day else ""
    lines = [f"## {day}{outcome.verdict_name} in {code(outcome.scenario.id)}"]
    for heading, write in _SECTIONS.items():
        lines += ["", f"### {heading}", "", *write(outcome, context)]
    return "\n".join(map(without_runner_command, _without_double_gaps(lines))) + "\n"


def _without_double_gaps(lines: Iterable[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        if line or before:
            yield line
        before = line


def _symptoms(outcome: Outcome, _: IncidentContext) -> Iterator[str]:
    yield from fence(_wrapped(first_line(outcome)))
    if outcome.scenario.why:
        yield f"Purpose of the scenario: {code(outcome.scenario.why, _LONGEST)}"
        yield ""
    yield f"- {counted(outcome.iterations, 'turn')}, {counted(outcome.hook_runs(), 'hook run')}"
    yield f"- {counted(outcome.blocks(), 'refusal')} that the host honoured"
    for event, number in Counter(hooked.event for _, hooked in outcome.trace.hooked()).items():
        yield f"- {code(event)} was asked {counted(number, 'time')}: {_rulings(outcome, event)}"
    for violation in outcome.violations[:_MOST]:
        yield f"- expected {code(violation.expected)}, seen {code(violation.seen, _LONGEST)}"
    reasons = Counter(outcome.reasons())
    if reasons:
        yield from ("", "The agent received:")
        for reason, number in reasons.most_common(_MOST):
            yield from ("", f"{counted(number, 'time')}:", *fence(_lines_of(reason)))
        yield from and_more(len(reasons) - _MOST, "reason", "- ")
    yield from _to_do("where it was first noticed, what hung or failed, and for how long.")


def _rulings(outcome: Outcome, event: str) -> str:
    numbers = Counter(ruling.value for ruling in outcome.decisions(event))
    return ", ".join(f"{number} {word}" for word, number in numbers.items())


def _lines_of(text: str) -> list[str]:
    lines = text.strip().splitlines()
    more = ["..."] if len(lines) > _MOST_LINES_OF_REASON else []
    return [*(plain(line, _LONGEST) for line in lines[:_MOST_LINES_OF_REASON]), *more]


def _investigation(outcome: Outcome, context: IncidentContext) -> Iterator[str]:
    yield from ("Replay:", *fence([plain(context.replay_command, _LONGEST_COMMAND)], "sh"))
    yield f"- host: {code(outcome.host)}"
    script = outcome.scenario.script
    yield f"- agent: {counted(len(script.acts), 'act')} of its script, then {code(script.then.name)}"
    yield from _hooks(outcome)
    yield f"- isolation: {describe_tier(outcome.tier)}"
    yield f"- seed {outcome.seed}, {outcome.wall:.1f} s"
    yield from (f"- {code(version)}" for version in context.versions)
    yield from ("", "Turn by turn:", *fence(render_turns(outcome, _WIDTH)))
    for probing in outcome.probe_reports:
        said = (line for text in render_probes(probing, outcome.verdict) for line in _wrapped(text))
        yield from ("Experiments on saved states:", *fence(said))
    for response in context.asked[-_MOST:]:
        yield from ("Single event:", *fence(render_response(response, _WIDTH).splitlines()))
    yield from _assumptions(outcome)
    yield from _to_do("which parts of the hook were checked, and what was ruled out.")


def _assumptions(outcome: Outcome) -> Iterator[str]:
    own = outcome.verdict.assumptions if isinstance(outcome.verdict, Livelock) else ()
    assumed = list(dict.fromkeys([*own, *outcome.assumptions]))
    if assumed:
        yield from ("Assumptions of the verdict:", *_sentences(assumed))


def _hooks(outcome: Outcome) -> Iterator[str]:
    hooks = Counter(_hook_words(run.hook) for _, run in outcome.trace.hook_runs())
    for words, number in hooks.most_common(_MOST):
        yield f"- hook {words}, run {counted(number, 'time')}"
    yield from and_more(len(hooks) - _MOST, "hook", "- ")


def _hook_words(hook: Hook) -> str:
    what = code(hook.command, _LONGEST) if hook.command else f"of type {code(hook.type)}"
    where = f", configured in {code(hook.source)}" if hook.source else ""
    return f"{what} on {code(hook.event)}{where}"


def _root_cause(outcome: Outcome, _: IncidentContext) -> Iterator[str]:
    verdict = outcome.verdict
    if isinstance(verdict, Livelock):
        yield f"- The loop begins after turn {verdict.stem} and is {counted(verdict.period, 'turn')} long."
        times = counted(verdict.repetitions, "time")
        yield f"- It was played {times}; evidence: {code(verdict.evidence)}."
    parts = dict.fromkeys(part.place for probing in outcome.probe_reports for part in probing.parts)
    yield from (f"- Changes in every cycle: {code(place)}" for place in list(parts)[:_MOST])
    for rule in _rules(outcome)[:_MOST]:
        source = code(rule.source, _LONGEST)
        yield f"- The host's rule: {code(rule.text, _LONGEST)} ({rule.basis.value}: {source})"
    yield from _sentences(list(map(_finding, outcome.findings)))
    yield from ("", "The trace shows what the hooks did and how the host reacted, not why.")
    yield from _to_do("the lines of the hook that cause it.")


def _rules(outcome: Outcome) -> list[Rule]:
    """Return the host facts behind the verdict and every refusal, each once."""
    verdict = outcome.verdict
    rules: list[Rule] = [verdict.rule] if isinstance(verdict, Hung) else []
    if isinstance(verdict, Capped | Livelock) and verdict.cap is not None:
        rules.append(verdict.cap.rule)
    for _, hooked in outcome.trace.hooked():
        if hooked.decision.refused or hooked.decision.overridden:
            rules += [hooked.decision.rule, *hooked.decision.rests_on]
    return list(dict.fromkeys(rules))


def _finding(finding: Finding) -> str:
    hook = f" [{finding.hook}]" if finding.hook else ""
    times = f", {counted(finding.times, 'time')}"
    return f"{finding.code} {finding.name}: {finding.text}{hook} (first in turn {finding.turn}{times})"


def _fix(outcome: Outcome, _: IncidentContext) -> Iterator[str]:
    said = [advice(outcome), *(finding.advice for finding in outcome.findings)]
    yield from _sentences(list(dict.fromkeys(filter(None, said))))
    yield from _to_do("the change that was made, and why it is sufficient.")


def _tests(outcome: Outcome, context: IncidentContext) -> Iterator[str]:
    origin = outcome.scenario.origin
    where = f" in {code(_shown(origin.file, context.root), _LONGEST)}" if origin is not None else ""
    state = "passes" if outcome.passed else "fails"
    yield f"- {code(outcome.scenario.id)}{where} {state}"
    for violation in outcome.violations[:_MOST]:
        line = f", line {origin.line(violation.path)}" if origin is not None else ""
        yield f"- {code(violation.path)}{line}"
    yield from _to_do("the test that fails without the fix and passes with it, and related tests.")


def _learnings(outcome: Outcome, _: IncidentContext) -> Iterator[str]:
    verdict = outcome.verdict
    if isinstance(verdict, Livelock):
        cap = describe_cap(verdict.cap, outcome.host, assumed=outcome.scenario.cap)
        yield f"- The host's cap: {code(cap)}."
    if isinstance(verdict, Capped) and verdict.changed:
        yield f"- Nothing recurred before the cap; changing: {code(text_of_changes(verdict.changed))}."
    yield from _to_do("what holds for other hooks too.")


def _files(outcome: Outcome, context: IncidentContext) -> Iterator[str]:
    found = _related_files(outcome, context.root)
    yield from (f"- {code(path, _LONGEST)} - {role}" for path, role in found[:_MOST])
    yield from and_more(len(found) - _MOST, "file", "- ")
    yield from _to_do("what else belongs to it.")


def _shown(path: Path, root: Path | None) -> str:
    """Return a path relative to a folder, if it lies in it."""
    return str(path.relative_to(root) if root is not None and path.is_relative_to(root) else path)


def _files_in(hook: Hook) -> Iterator[str]:
    words = " ".join(hook.words)
    for word in _WORD.findall(words.translate(_QUOTES)):
        if _FILE.fullmatch(word) and not word.startswith("/dev/"):
            yield word


def _related_files(outcome: Outcome, root: Path | None) -> list[tuple[str, str]]:
    """Return paths with what they are: scenario, folders, settings, scripts of hooks, and changed files."""
    scenario = outcome.scenario
    found: dict[str, str] = {}
    if scenario.origin is not None:
        found[_shown(scenario.origin.file, root)] = "the scenario"
    for folder, role in ((scenario.project, "the project it starts from"), (scenario.plugin, "the plugin")):
        if folder is not None:
            found[_shown(folder, root)] = role
    for _, run in outcome.trace.hook_runs():
        if run.hook.source:
            found.setdefault(run.hook.source, "configures hooks")
        for word in _files_in(run.hook):
            found.setdefault(word, f"named by a hook on {run.hook.event}")
    changed = Counter(
        change.path
        for step in outcome.trace.steps
        if isinstance(step.exchange, HookEvent | Performed)
        for change in step.exchange.changes
    ).most_common()
    return [*found.items(), *((path, f"changed {counted(number, 'time')}") for path, number in changed)]


def _sentences(texts: Sequence[str]) -> list[str]:
    lines = [line for text in texts[:_MOST] for line in _wrapped(text)]
    if len(texts) > _MOST:
        lines.append(f"and {len(texts) - _MOST} more")
    return fence(lines) if lines else []


def _wrapped(text: str) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return textwrap.wrap(
        plain(text, _LONGEST * 2),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_on_hyphens=False,
    )


def _to_do(what: str) -> tuple[str, str]:
    return "", f"{TO_DO} {what}"


_SECTIONS: Mapping[str, Callable[[Outcome, IncidentContext], Iterator[str]]] = {
    "Symptoms": _symptoms,
    "Investigation": _investigation,
    "Root Cause": _root_cause,
    "The Fix": _fix,
    "Test Cases Affected": _tests,
    "Key Learnings": _learnings,
    "Related Files": _files,
}


def unfinished(run: TraceRun) -> str:
    """Return a note on a run that was interrupted, or that could not be played."""
    title = "interrupted" if run.trouble is None else "not played"
    lines = [f"## {title}: {code(str(run.begin['id']))}"]
    if run.trouble is not None:
        why = run.trouble["why"]
        lines += fence([plain(str(why["text"]) if isinstance(why, dict) else "", _LONGEST)])
    lines += ["", f"Seen until then: {counted(len(run.steps), 'step')}."]
    if run.steps:
        lines += fence(map(_describe_step, run.steps[-_MOST:]))
    return "\n".join(lines) + "\n"


def _describe_step(step: TraceRecord) -> str:
    return f"turn {step['turn']}  {plain(str(step['words']), _LONGEST)}"
