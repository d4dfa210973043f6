"""Hooks that keep all others from being tried: they cannot run, do not end, or refuse every prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check import causes
from pytest_hookharness.campaigns.check.static_checks import StaticResult
from pytest_hookharness.model.checkup import HookSet, hook_name
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling

_LONGEST = 100


def hindering_hooks(static: StaticResult, first: Outcome) -> set[str]:
    """Return the commands of the hooks that kept others from being tried in the first session."""
    return {
        *causes.refused_for_want(static, [first]),
        *causes.unending_hooks(first),
        *_refused_prompts(first),
    }


def untried_hooks(hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield sentences about hooks that could not be tried, were cut, or were left out for the others."""
    yield from causes.untried(hook_set, static, outcomes)
    for command, said in _refused_prompts(outcomes[0]).items() if outcomes else ():
        words = f' ("{said[:_LONGEST]}")' if said else ""
        name = hook_name((hook_set.found or hook_set).hooks, command)
        yield f"{name} refuses every prompt here{words}, so the other hooks were tried without it"


def _refused_prompts(outcome: Outcome) -> dict[str, str]:
    """Return the hooks that refused each prompt of a session, with the last line that they wrote."""
    prompt = {rule.name for rule in hosts.find(outcome.scenario.host).for_role(hosts.Role.PROMPT)}
    asked = [hooked for _, hooked in outcome.trace.hooked() if hooked.event in prompt]
    if not asked or not all(hooked.decision.refused for hooked in asked):
        return {}
    refusing = (run for hooked in asked for run in hooked.hook_runs if run.reply.ruling is Ruling.DENY)
    found: dict[str, str] = {}
    for one in refusing:
        # A host puts words of its own before a reason, or in its place.
        said = (one.run.stderr.text if one.run is not None else "") or one.reply.reason
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        found[one.hook.command] = lines[-1] if lines else ""
    return found
