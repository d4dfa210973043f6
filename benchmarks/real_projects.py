"""
Measure ``hookharness check`` on checkouts of public projects, against labels.

The label file says, for each project, how many hooks it has and which defects they are known to have. These
were found by reading each hook and driving it by hand, before ``check`` ran on it. Afterwards each cause that
``check`` reported was marked there: ``true`` (a maintainer wants to know), ``useless`` (right, and of no use)
or ``false``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABELS = Path(__file__).with_name("real_projects.json")
BUDGET, OVER = 60.0, 1.1
PRECISION, RECALL = 0.9, 0.7
_PLACE = re.compile(r"\bhooks\.(\w+)\[(\d+)\]")
_POSITION = re.compile(r"\w+ \d+")
# The same defect, seen for longer or shorter: stops that are refused without end.
_ENDLESS = frozenset({"livelock", "capped", "no-end"})


@dataclass(frozen=True, slots=True)
class Cause:
    """
    One cause, known or reported.

    Attributes:
        hooks: The hooks that it concerns, such as ``Stop 1``, with their host before them: ``cursor Stop 1``.
        findings: Names of the findings or verdicts that describe it.
        words: What it is, in one sentence.
    """

    hooks: frozenset[str]
    findings: frozenset[str]
    words: str

    def is_shown_by(self, reported: Cause) -> bool:
        """Return whether a report may mean this cause: they share a finding, and a hook if this has any."""
        together = self.hooks & reported.hooks if self.hooks else True
        return bool(self.findings & reported.findings and together)


@dataclass(frozen=True, slots=True)
class Result:
    """
    What ``check`` made of one project.

    Attributes:
        label: The project's entry in the label file.
        seconds: Wall time, start of the command included.
        status: Exit status; ``None`` if it did not print a report.
        hooks: Number of hooks that it found.
        reported: The causes that it reported.
    """

    label: dict[str, Any]
    seconds: float
    status: int | None
    hooks: int
    reported: tuple[Cause, ...]

    @property
    def name(self) -> str:
        """The repository, and the folder in it."""
        return "/".join(filter(None, (self.label["repository"], self.label.get("folder"))))

    @property
    def known(self) -> tuple[Cause, ...]:
        """The known defects."""
        return tuple(_cause(one) for one in self.label["defects"])

    @property
    def missed(self) -> list[Cause]:
        """The known defects that were not reported."""
        return [one for one in self.known if not any(one.is_shown_by(cause) for cause in self.reported)]

    def mark(self, cause: Cause) -> str:
        """Return the mark of a reported cause; a known defect is true, and others are unmarked at first."""
        for one in self.label.get("reports", ()):
            if _cause(one).is_shown_by(cause) and cause.words.startswith(one.get("begins", "")):
                return str(one["mark"])
        return "true" if any(known.is_shown_by(cause) for known in self.known) else "unmarked"


def _cause(entry: dict[str, Any]) -> Cause:
    findings = frozenset(entry["findings"])
    return Cause(
        frozenset(entry["hooks"]), findings | (_ENDLESS if findings & _ENDLESS else set()), entry["cause"]
    )


def check(folder: Path, label: dict[str, Any], budget: float, log: Path | None) -> Result:
    """Run ``check`` on the checkout of a project, and return what it reported."""
    place = folder / label["repository"].replace("/", "+") / label.get("folder", "")
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest_hookharness", "check", str(place), "--yes", "--format", "json"]
    run = subprocess.run(
        [*command, "--budget", f"{budget:g}s", *(["--host", label["host"]] if "host" in label else [])],
        capture_output=True,
        text=True,
        env={**os.environ},
        check=False,
    )
    seconds = time.monotonic() - began
    name = "+".join(place.relative_to(folder).parts)
    if log is not None:
        log.mkdir(parents=True, exist_ok=True)
        (log / f"{name}.json").write_text(run.stdout or run.stderr, encoding="utf-8")
    try:
        reports = json.loads(run.stdout)["checkups"]
    except ValueError:
        print(f"{name}: no report: {run.stderr.strip()[-400:]}", file=sys.stderr)
        return Result(label, seconds, None, 0, ())
    return Result(
        label,
        seconds,
        run.returncode,
        sum(len(report["hooks"]) for report in reports),
        tuple(_reported(report, problem) for report in reports for problem in report["problems"]),
    )


def _reported(report: dict[str, Any], problem: dict[str, Any]) -> Cause:
    where = (
        f"{report['part']} "
        if report["part"]
        else ""
        if report["host"] == "claude-code"
        else f"{report['host']} "
    )
    names = _POSITION.findall(problem["hook_name"])
    # An entry that the host cannot read has no hook name, so its place in the event's list counts.
    names = names or [f"{event} {int(place) + 1}" for event, place in _PLACE.findall(problem["text"])]
    hooks = frozenset(f"{where}{name}" for name in names)
    return Cause(hooks, frozenset([problem["name"]]), problem["text"])


def _checkout_differs(folder: Path, label: dict[str, Any]) -> bool:
    place = folder / label["repository"].replace("/", "+")
    head = subprocess.run(
        ["git", "-C", str(place), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return not head.stdout.startswith(label["commit"])


def _report(result: Result, budget: float) -> Iterator[str]:
    over = "  OVER BUDGET" if result.seconds > OVER * budget else ""
    hooks = f"{result.hooks} of {result.label['hooks']} hooks"
    causes = f"{len(result.reported)} causes"
    seconds = f"{result.seconds:.0f} s of {budget:.0f} s"
    yield f"{result.name}: {hooks}, {seconds}, {causes}, status {result.status}{over}"
    for cause in result.reported:
        yield f"  {result.mark(cause):8} {_describe(cause)}"
    for cause in result.missed:
        yield f"  missed   {_describe(cause)}"


def _describe(cause: Cause) -> str:
    hooks = ", ".join(sorted(cause.hooks))
    return f"{'/'.join(sorted(cause.findings))} {hooks}: {cause.words[:150]}"


def _summary(results: Sequence[Result], budget: float) -> Iterator[str]:
    marks = Counter(result.mark(cause) for result in results for cause in result.reported)
    known = sum(len(result.known) for result in results)
    missed = sum(len(result.missed) for result in results)
    total = sum(marks.values())
    precision = f"{marks['true'] / total:.2f}" if total else "unknown, as nothing was reported"
    recall = f"{(known - missed) / known:.2f}" if known else "unknown"
    over = [result.name for result in results if result.seconds > OVER * budget]
    yield f"\n{len(results)} projects, {total} causes reported: {dict(marks)}"
    yield f"precision {precision} (aim {PRECISION}), false reports {marks['false']} (aim 0)"
    yield f"recall {recall}: {known - missed} of {known} known defects (aim {RECALL})"
    yield f"more than 10 % over the budget: {', '.join(over) or 'none'} (aim none)"


def main() -> int:
    """Check the projects of the label file that are in a folder, and print what was found and missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of checkouts, each named OWNER+NAME")
    parser.add_argument("--labels", type=Path, default=LABELS, help="the label file")
    parser.add_argument("--only", default="", metavar="WORD", help="only projects whose name contains this")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds for each project (60)")
    parser.add_argument("--log", type=Path, help="folder for the whole reports")
    options = parser.parse_args()
    results: list[Result] = []
    for label in json.loads(options.labels.read_text("utf-8"))["projects"]:
        name = "/".join(filter(None, (label["repository"], label.get("folder"))))
        if options.only not in name:
            continue
        if _checkout_differs(options.folder, label):
            print(f"{name}: {options.folder} has no checkout of commit {label['commit']}", file=sys.stderr)
            continue
        results.append(check(options.folder, label, options.budget, options.log))
        print("\n".join(_report(results[-1], options.budget)), flush=True)
    if not results:
        print("nothing was measured: no checkout of a labelled project was found", file=sys.stderr)
        return 2
    print("\n".join(_summary(results, options.budget)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
