"""
Check reports for CI: SARIF results, annotations of GitHub Actions, and Markdown.

What a hook or a file name says stands in Markdown only in code spans and fences, and begins no line of a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.verdicts import FindingCode
from pytest_hookharness.reports.ci.github import FailureAnnotation, annotation, cell, warning
from pytest_hookharness.reports.ci.sarif import VERDICTS, Json, SarifLocation, SarifRunInfo, log, result
from pytest_hookharness.reports.safe_text import code, fence, plain, plain_lines, without_runner_command
from pytest_hookharness.reports.terminal.check_report import ReplayCommand, headline, render_check

# Returns where a problem of a report is shown.
Locate = Callable[[CheckReport, Problem], SarifLocation]
_LONGEST = 300


def sarif_log(
    reports: Sequence[CheckReport],
    codes: Iterable[FindingCode],
    info: SarifRunInfo,
    locate: Locate,
    *,
    version: str,
    status: int,
) -> Json:
    """Return check reports as one SARIF log, without fixed problems; accepted ones are suppressed results."""
    found: list[Json] = []
    for report in reports:
        found += [_result(report, problem, info, locate) for problem in _left(report)]
        for accepted in report.accepted:
            reason = {"kind": "external", "justification": plain(accepted.reason, _LONGEST)}
            found.append({**_result(report, accepted.problem, info, locate), "suppressions": [reason]})
    known = [*codes]
    known += {
        kind.code: kind
        for report in reports
        for problem in (*_left(report), *(one.problem for one in report.accepted))
        if (kind := _kind(problem)).code not in {*VERDICTS, *(code.code for code in known)}
    }.values()
    trouble = [
        f"{report.place.title}: {text}" for report in reports for text in (*report.untried, *report.undecided)
    ]
    return log(found, known, version=version, status=status, trouble=trouble)


def _left(report: CheckReport) -> list[Problem]:
    """Return the problems whose fix was not written."""
    return [problem for problem in report.problems if not problem.is_fixed]


def _result(report: CheckReport, problem: Problem, info: SarifRunInfo, locate: Locate) -> Json:
    symptom = problem.symptom
    fix = f" {problem.fix.text} {problem.fix.evidence}" if problem.fix is not None else ""
    text = f"{symptom.kind}: {symptom.hook}: {_seen(symptom)} {symptom.advice}{fix}"
    level = "error" if symptom.must_fix else "warning"
    concerned = f"{report.place.host}\0{report.place.part}\0{problem.id}"
    return result(_kind(problem), level, text, [locate(report, problem)], info, concerned)


def _seen(symptom: Symptom) -> str:
    """Return what was seen, with the assumptions that it rests on."""
    return " ".join([symptom.text, *(f"Assumes: {assumed}" for assumed in symptom.assumes)])


def _kind(problem: Problem) -> FindingCode:
    """Return the kind of a problem; what the check itself found has no code, so its name is one."""
    symptom = problem.symptom
    own = FindingCode(symptom.code or symptom.kind, symptom.kind, symptom.kind, "", symptom.advice)
    return VERDICTS.get(symptom.kind, own)


def github_log(
    reports: Sequence[CheckReport], replay: ReplayCommand, info: SarifRunInfo, locate: Locate
) -> Iterator[str]:
    """Yield the log of GitHub Actions: the report, then a workflow command for each problem left."""
    for report in reports:
        yield from map(without_runner_command, plain_lines(render_check(report, replay)))
        for problem in _left(report):
            yield annotation(_annotated(report, problem, locate(report, problem), info.root))
        for text in (*report.untried, *report.undecided):
            yield warning(f"{report.place.title}: not checked completely", text)


def _annotated(report: CheckReport, problem: Problem, place: SarifLocation, root: Path) -> FailureAnnotation:
    inside, symptom = place.file.is_relative_to(root), problem.symptom
    return FailureAnnotation(
        name=f"{report.place.title}: {problem.id}",
        file=(place.file.relative_to(root) if inside else place.file).as_posix(),
        line=place.line,
        headline=f"{symptom.kind} {symptom.hook}: {_seen(symptom)}",
        level="error" if symptom.must_fix else "warning",
    )


def markdown(reports: Sequence[CheckReport], replay: ReplayCommand) -> str:
    """Return check reports as Markdown: for each hook set the problems left, then the report, folded."""
    lines = ["## Hooks of coding agents", ""]
    for report in reports:
        lines += [f"### {code(headline(report), _LONGEST)}", ""]
        if left := _left(report):
            rows = [_row(problem, report.place, replay) for problem in left]
            lines += ["| problem | hook | seen | show again |", "| --- | --- | --- | --- |", *rows, ""]
        fixed = [problem.id for problem in report.problems if problem.is_fixed]
        lines += [f"- fixed: {code(name, _LONGEST)}" for name in fixed]
        for accepted in report.accepted:
            lines.append(f"- accepted: {code(accepted.problem.id)}: {code(accepted.reason, _LONGEST)}")
        whole = fence(plain_lines(render_check(report, replay)))
        lines += ["", "<details>", "<summary>the whole report</summary>", *whole, "</details>", ""]
    return "\n".join(lines) + "\n"


def _row(problem: Problem, place: HookSet, replay: ReplayCommand) -> str:
    symptom = problem.symptom
    cells = (symptom.kind, symptom.hook, _seen(symptom), replay(problem, place))
    return f"| {' | '.join(map(cell, cells))} |"
