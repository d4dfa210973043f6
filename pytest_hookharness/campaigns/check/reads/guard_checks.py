"""Defects of guards that are certain from their scripts: their tests, and the programs that they start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.command_guards.secret_guards import example_guard
from pytest_hookharness.campaigns.check.command_guards.word_guards import (
    bypassed_guard,
    root_guard,
    word_guard,
)
from pytest_hookharness.campaigns.check.lone_programs.missing_programs import DECIDED
from pytest_hookharness.campaigns.check.reads.long_arguments import long_argument
from pytest_hookharness.campaigns.check.reads.shared_symptoms import by_event, together, with_hooks
from pytest_hookharness.campaigns.check.static.uncaught_programs import UncaughtProgram, uncaught_programs
from pytest_hookharness.campaigns.check.static.untracked_files import overlooked_files
from pytest_hookharness.judging.findings.codes import (
    BYPASS,
    FAILS_OPEN,
    OVERBLOCK,
    TEXT_MATCH,
    UNGUARDED_TOOL,
)
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.protocol import Hook


def find_in_guards(hook_set: HookSet) -> Iterator[Iterator[Symptom]]:
    """Yield the symptoms of each kind, so that an error in one kind leaves the others."""
    yield _of_words(hook_set)
    yield _of_spellings(hook_set)
    yield _of_folders(hook_set)
    yield _of_examples(hook_set)
    yield _of_programs(hook_set)
    yield _of_questions(hook_set)
    yield _of_arguments(hook_set)


def _of_words(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield what guards refuse because of words that are only data, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := word_guard(hook_set, hook))[0]]
    for hooks, (command, data) in with_hooks(found):
        text = f"where `{command}` is refused, `{data}` is too, as the script only looks for the words."
        yield replace(together(TEXT_MATCH, hooks, text), advice=TEXT_MATCH.fix)


def _of_spellings(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield what guards allow in another spelling, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := bypassed_guard(hook_set, hook))[0]]
    for hooks, (command, spelling) in with_hooks(found):
        text = f"where `{command}` is refused, `{spelling}` is allowed, as no test in the script fits it."
        yield together(BYPASS, hooks, text)


def _of_folders(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield what guards refuse because any absolute path looks like the root folder, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := root_guard(hook_set, hook))[0]]
    for hooks, (command, harmless) in with_hooks(found):
        text = f"where `{command}` is refused, `{harmless}` is too, as every path that begins with `/` fits."
        yield together(OVERBLOCK, hooks, text)


def _of_examples(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield what guards of secrets refuse although it holds none, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := example_guard(hook_set, hook))[0]]
    for hooks, (secret, example) in with_hooks(found):
        text = f"where `{secret}` is refused, `{example}` is too, which holds no secrets."
        advice = "Allow names that end with `.example`, `.sample`, `.template` or `.pub` before the test."
        yield replace(together(OVERBLOCK, hooks, text), advice=advice)


def _of_programs(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the programs whose failure ends a gate in Python without an answer, each call once."""
    found: dict[tuple[str, str, UncaughtProgram], list[Hook]] = {}
    for hook in hook_set.hooks:
        for path, one in uncaught_programs(hook_set, hook):
            found.setdefault((hook.event, path, one), []).append(hook)
    for (event, path, one), hooks in found.items():
        what = DECIDED.get(hosts.find(hook_set.host).events[event].role, "call")
        if one.program:
            code, when = UNGUARDED_TOOL, f"with no `{one.program}` on the PATH"
            advice = f"Catch `FileNotFoundError`, and tell the user that `{one.program}` is missing."
        else:
            code, when = CRASHED, "where the program takes longer than its limit"
            advice = (
                "Catch `subprocess.TimeoutExpired`, and refuse, or tell the user that nothing was checked."
            )
        text = (
            f"{when}, nothing catches the error of the call in {path}, line {one.line}, so the hook ends "
            f"with a traceback, and the {what} is allowed."
        )
        yield replace(together(code, hooks, text), advice=advice)


def _of_questions(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the gates that never see new files, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := overlooked_files(hook_set, hook))[1]]
    for hooks, (path, line) in with_hooks(found):
        where = f" in {path}, line {line}," if path else ""
        text = (
            f"it asks only `git diff`{where} whether anything changed, which leaves out files that are not "
            "added yet, so where the agent only made such files every stop is allowed."
        )
        advice = "Ask `git status --porcelain`, or `git ls-files --others --exclude-standard` as well."
        yield replace(together(FAILS_OPEN, hooks, text), advice=advice)


def _of_arguments(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the programs that a long input keeps from starting, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := long_argument(hook_set, hook))]
    for hooks, one in by_event(found):
        then = "the call is allowed" if one.opens else f"`{one.name}` stays empty"
        text = (
            f"`{one.program}` in {one.path}, line {one.line}, gets the whole input as one argument or "
            "variable. Linux allows 128 KiB for it, so with a longer input the program does not start, and "
            f"{then}."
        )
        advice = (
            f"Give the input on standard input: `printf '%s' \"$INPUT\" | {one.program} ...`; first move a "
            "program that stands in a here-document to a file or to `-c`."
        )
        yield replace(together(FAILS_OPEN if one.opens else CRASHED, hooks, text), advice=advice)
