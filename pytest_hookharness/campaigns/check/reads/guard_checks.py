"""Defects of guards that are certain from their scripts: their tests, and the programs that they start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.check.command_guards.secret_guards import example_guard
from pytest_hookharness.campaigns.check.command_guards.word_guards import (
    bypassed_guard,
    root_guard,
    word_guard,
)
from pytest_hookharness.campaigns.check.reads.shared_symptoms import together, with_hooks
from pytest_hookharness.campaigns.check.static.untracked_files import overlooked_files
from pytest_hookharness.judging.findings.codes import (
    BYPASS,
    FAILS_OPEN,
    OVERBLOCK,
    TEXT_MATCH,
)
from pytest_hookharness.model.checkup import HookSet, Symptom


def find_in_guards(hook_set: HookSet) -> Iterator[Iterator[Symptom]]:
    """Yield the symptoms of each kind, so that an error in one kind leaves the others."""
    yield _of_words(hook_set)
    yield _of_spellings(hook_set)
    yield _of_folders(hook_set)
    yield _of_examples(hook_set)
    yield _of_questions(hook_set)


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
