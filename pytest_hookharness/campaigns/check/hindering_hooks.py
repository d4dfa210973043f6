"""Hooks that keep all others from being tried: they cannot run, do not end, or refuse the first prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static_checks import StaticResult
from pytest_hookharness.judging.checkup.bad_ends import cut_by_us
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.finding_catalogue import HUNG_HOOK, NOT_RUN
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut
from pytest_hookharness.model.protocol import Ruling


def hindering_hooks(hook_set: HookSet, static: StaticResult, first: Outcome) -> set[str]:
    """Return the commands of the hooks that kept others from being tried in the first session."""
    broken = refused_for_want(static, [first])
    return {*broken, *unending_hooks(first), *refused_prompts(hook_set, first)}


def refused_prompts(hook_set: HookSet, outcome: Outcome) -> dict[str, str]:
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


def refused_for_want(static: StaticResult, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the commands of hooks that cannot run, which their host took for a refusal, with the event."""
    broken = {*static.stuck, *commands_of(one for one in static.symptoms if one.kind == NOT_RUN.name)}
    return {
        hook_run.hook.command: hook_run.hook.event
        for outcome in outcomes
        for _, hook_run in outcome.trace.hook_runs()
        if hook_run.hook.command in broken and hook_run.reply.ruling is Ruling.DENY
    }


def unending_hooks(outcome: Outcome) -> set[str]:
    """Return the commands of hooks each of whose runs was cut, so that they only take the time of others."""
    cut = {hook_run.hook.command for hook_run in cut_by_us(outcome)}
    hung = commands_of(one for one in find_symptoms(outcome) if one.kind == HUNG_HOOK.name)
    ended = {run.hook.command for _, run in outcome.trace.hook_runs() if not isinstance(run.ending, TimedOut)}
    return {*cut, *hung} - ended


def commands_of(symptoms: Iterable[Symptom]) -> Iterator[str]:
    """Yield the commands of the hooks that symptoms concern."""
    for symptom in symptoms:
        yield from symptom.hook.split(", ")
