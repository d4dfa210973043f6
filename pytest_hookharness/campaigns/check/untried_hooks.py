"""Hooks that could not be tried, or not to their end, and why: never a defect of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_hookharness.campaigns.check.hindering_hooks import refused_for_want, refused_prompts
from pytest_hookharness.campaigns.check.session_errors import hindered_hooks
from pytest_hookharness.campaigns.check.static.hook_program import program_that_ends_it
from pytest_hookharness.campaigns.check.static_checks import StaticResult
from pytest_hookharness.judging.checkup.bad_ends import cut_by_us
from pytest_hookharness.judging.checkup.evidence import describe_refusal
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.find import describe_doing
from pytest_hookharness.judging.findings.finding_catalogue import HUNG_HOOK
from pytest_hookharness.model.checkup import HookSet, Symptom, hook_name, hook_names
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut

# Characters of what a hook wrote.
_LONGEST = 100
# Hooks that a line names; more are counted only.
_MOST_NAMED = 3
# Programs that wait for the network, which sessions do not have, at the end of what a hook waits for.
_NEEDS_NETWORK = re.compile(r"waits for its child (uvx?|npx|npm|pnpm|yarn|bunx|pip3?|curl|wget|ssh|gh) \(")


def untried_hooks(hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield sentences about hooks that could not be tried, were cut, or were left out for the others."""
    if hook_set.off:
        how = "; they were tried without this setting" if hook_set.hooks else ", so none could be tried"
        yield f"{hook_set.off}{how}"
    yield from _describe_stuck(hook_set, static, outcomes)
    missed = hindered_hooks(outcomes, copied=hook_set.elsewhere, root=hook_set.root)
    for command, why in missed.items():
        if command not in static.stuck:
            yield f"{hook_name(hook_set.hooks, command)} failed, as {why}"
    yield from _describe_idle(hook_set)
    waited = (symptom for outcome in outcomes for symptom in find_symptoms(outcome))
    for hook, program in {symptom.hook: network_program(symptom) for symptom in waited}.items():
        if program:
            name = hook_names(hook_set.hooks, hook)
            yield f"{name} waited for {program}, which has no network here"
    runs = (hook_run for outcome in outcomes for _, hook_run in outcome.trace.hook_runs())
    for command in dict.fromkeys(one.hook.command for one in runs if one.run and one.run.cut_in_background):
        name = hook_name(hook_set.hooks, command)
        yield f"{name} goes on in the background of its host; what it does later was not seen"
    yield from _describe_cut(hook_set, outcomes)
    yield from _describe_refused_prompts(hook_set, outcomes)


def _describe_cut(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    cut = {run.hook.command: run for outcome in outcomes for run in cut_by_us(outcome)}
    for command, run in cut.items():
        seconds = run.run.wall if run.run is not None else 0.0
        limit = f"{run.run.limit:g} s" if run.run is not None and run.run.limit is not None else "longer"
        doing = describe_doing(run.ending) if isinstance(run.ending, TimedOut) else ""
        name = hook_name(hook_set.hooks, command)
        yield (
            f"the check ended {name} after {seconds:.0f} s; its host would wait {limit}{doing}; allow more "
            "time with --hook-timeout, and with --budget for the whole check"
        )


def _describe_refused_prompts(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    found = hook_set.found or hook_set
    # Only settings in JSON files of the project can be without a hook.
    how = "were tried without it" if hook_set.texts else "were hardly tried"
    for command, said in refused_prompts(found, outcomes[0]).items() if outcomes else ():
        words = f' ("{said[:_LONGEST]}")' if said else ""
        name = hook_name(found.hooks, command)
        yield f"{name} refused the prompt of the first session{words}, so the other hooks {how}"


def _describe_stuck(hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield what this machine lacks, and what that keeps an agent from whose host fails closed."""
    refused = refused_for_want(static, outcomes)
    for lack in dict.fromkeys(static.stuck.values()):
        hooks = [hook for hook in hook_set.hooks if static.stuck.get(hook.command) == lack]
        named = [*dict.fromkeys(hook_name(hook_set.hooks, hook.command) for hook in hooks)]
        which = f", {', '.join(named)}" if len(named) <= _MOST_NAMED else ""
        text = f"{lack}: {counted(len(hooks), 'hook')} could not be tried{which}"
        events = dict.fromkeys(refused[hook.command] for hook in hooks if hook.command in refused)
        if events:
            others = "were tried without it" if hook_set.texts else "were hardly tried"
            text += f"; {describe_refusal(hook_set.host, events, outcomes)}; the other hooks {others}"
        yield text


def _describe_idle(hook_set: HookSet) -> Iterator[str]:
    """Yield which hooks do nothing here, as they end at once without a program that this machine lacks."""
    idle = [(hook, name) for hook in hook_set.hooks if (name := program_that_ends_it(hook_set, hook))]
    for name in dict.fromkeys(name for _, name in idle):
        hooks = ", ".join(dict.fromkeys(hook.command for hook, program in idle if program == name))
        yield f"{hook_names(hook_set.hooks, hooks)} did nothing, as {name} is not on PATH"


def network_program(symptom: Symptom) -> str:
    """Return the program that a hook that did not end waited for, if it needs the network; else empty."""
    found = _NEEDS_NETWORK.findall(symptom.text) if symptom.kind == HUNG_HOOK.name else []
    return str(found[-1]) if found else ""
