"""Hooks that ask for the history of a project: its copies have one commit, on one branch, and no more."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, hook_names
from pytest_hookharness.model.protocol import Hook

# A command of a shell that asks for it, or the words of one in another language.
_ASKS = re.compile(
    r"(?:^|[;&|(`!{]|\b(?:if|then|do|else|while))[ \t]*git\b[^\n;|&]{0,60}?(?<![\w/.-])"
    r"(?:log|rev-list|describe|remote|tag|merge-base|branch|show-ref|symbolic-ref|cherry|--abbrev-ref"
    r"|--show-current|--symbolic-full-name|HEAD[~^@][^\n]*|origin/[^\n]*|@\{(?:u|upstream|push)\}[^\n]*)"
    r"(?![\w/.-])"
    r"|[\"']git[\"'],[^\n\])]{0,60}?[\"'](?:log|rev-list|describe|remote|tag|merge-base|branch|show-ref"
    r"|symbolic-ref|--abbrev-ref|--show-current|HEAD[~^@][^\n\"']*|origin/[^\n\"']*)[\"']",
    re.MULTILINE,
)
_COPY = "has one commit, on the branch main, without remotes and tags"


def with_copied_history(report: CheckReport) -> CheckReport:
    """Return a report that says which hooks ask for more than a copy has, and calls none of them endless."""
    place = report.place
    asking = [hook for hook in place.hooks if place.git and asks_for_history(place, hook)]
    if not asking:
        return report
    commands = {hook.command for hook in asking}
    names = hook_names(place.hooks, ", ".join(dict.fromkeys(hook.command for hook in asking)))
    what = "asks Git for branches, tags, remotes or earlier commits"
    note = (
        f"{names} {what}. Each copy of the project {_COPY}, so it may decide otherwise than in the project."
    )
    return replace(
        report,
        problems=tuple(_doubted(one, commands) for one in report.problems),
        open=(*report.open, note),
    )


def asks_for_history(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook asks for branches, tags, remotes or earlier commits."""
    return any(_ASKS.search(text) for text in (hook.command, *hook_set.scripts_of(hook)))


def _doubted(problem: Problem, commands: set[str]) -> Problem:
    symptom = problem.symptom
    if symptom.kind not in ENDLESS or not commands & {*symptom.hook.split(", ")}:
        return problem
    assumed = f"The copy of the project {_COPY}; in the project itself the hook may decide otherwise."
    return replace(problem, symptom=replace(symptom, avoidable=True, assumes=(*symptom.assumes, assumed)))
