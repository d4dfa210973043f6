"""Hooks that keep all others from being tried: they cannot run, do not end, or refuse the first prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check import causes
from pytest_hookharness.campaigns.check.static_checks import StaticResult
from pytest_hookharness.model.checkup import HookSet, hook_name
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling

_LONGEST = 100


def hindering_hooks(hook_set: HookSet, static: StaticResult, first: Outcome) -> set[str]:
    """Return the commands of the hooks that kept others from being tried in the first session."""
    broken = causes.refused_for_want(static, [first])
    return {*broken, *causes.unending_hooks(first), *_refused_prompts(hook_set, first)}


def untried_hooks(hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield sentences about hooks that could not be tried, were cut, or were left out for the others."""
    yield from causes.untried(hook_set, static, outcomes)
    found = hook_set.found or hook_set
    # Only settings in JSON files of the project can be without a hook.
    how = "were tried without it" if hook_set.texts else "were hardly tried"
    for command, said in _refused_prompts(found, outcomes[0]).items() if outcomes else ():
        words = f' ("{said[:_LONGEST]}")' if said else ""
        name = hook_name(found.hooks, command)
        yield f"{name} refused the prompt of the first session{words}, so the other hooks {how}"


def _refused_prompts(hook_set: HookSet, outcome: Outcome) -> dict[str, str]:
    """
    Return the hooks that refused each prompt of a session, with the last line that they wrote.

    A hook of further events is left out; the result is empty if all hooks of other events ran.
    """
    prompts = {rule.name for rule in hosts.find(outcome.scenario.host).for_role(hosts.Role.PROMPT)}
    asked = [hooked for _, hooked in outcome.trace.hooked() if hooked.event in prompts]
    if not asked or not all(hooked.decision.refused for hooked in asked):
        return {}
    of_others = {hook.command for hook in hook_set.hooks if hook.event not in prompts}
    ran = {run.hook.command for _, run in outcome.trace.hook_runs()}
    if of_others <= ran:
        return {}
    refusing = (run for hooked in asked for run in hooked.hook_runs if run.reply.ruling is Ruling.DENY)
    found: dict[str, str] = {}
    for one in refusing:
        if one.hook.command in of_others:
            continue
        # A host puts words of its own before a reason, or in its place.
        said = (one.run.stderr.text if one.run is not None else "") or one.reply.reason
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        found[one.hook.command] = lines[-1] if lines else ""
    return found
