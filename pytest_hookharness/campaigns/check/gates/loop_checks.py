"""Defects of loops and limits of Stop hooks that their scripts alone prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.check.gates.early_ends import early_end
from pytest_hookharness.campaigns.check.reads.shared_symptoms import by_event, together, with_hooks
from pytest_hookharness.campaigns.check.static.shared_loops import shared_loop
from pytest_hookharness.judging.findings.codes import EARLY_EXIT, WRONG_KEY
from pytest_hookharness.model.checkup import HookSet, Symptom

_KEEP_SESSION = (
    "Let the command that starts the loop write the session into the file, and compare it with `session_id`."
)


def find_in_loops(hook_set: HookSet) -> Iterator[Iterator[Symptom]]:
    """Yield the symptoms of each kind, so that an error in one kind leaves the others."""
    yield _of_loops(hook_set)
    yield _of_limits(hook_set)


def _of_loops(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the loops that hold every session of the project; a session may show each of them better."""
    found = [(hook, file) for hook in hook_set.hooks if (file := shared_loop(hook_set, hook))]
    for hooks, file in by_event(found):
        text = f"the loop in {file} knows no session, so it holds every session of the project."
        yield replace(together(WRONG_KEY, hooks, text), advice=_KEEP_SESSION)


def _of_limits(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the loops that are over after one round, whatever their limit, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := early_end(hook_set, hook))[0]]
    for hooks, (path, line, limit) in with_hooks(found):
        text = (
            f"{path}, line {line}, allows every stop where `stop_hook_active` is true, and {hook_set.host} "
            f"sets it after each refusal, so the loop ends after one round, whatever `{limit}` is."
        )
        advice = f"Remove the test of `stop_hook_active`; the test of `{limit}` ends the loop."
        yield replace(together(EARLY_EXIT, hooks, text), advice=advice)
