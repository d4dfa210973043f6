"""Programs that hooks need and that may be missing: without them scripts refuse nothing, or every prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.failed_refusals import is_allowed_by_failure
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import lone_answer
from pytest_hookharness.campaigns.check.lone_programs.lone_switches import lone_switch
from pytest_hookharness.campaigns.check.lone_programs.paired_readers import silent_pair
from pytest_hookharness.campaigns.check.lone_programs.refused_prompts import refused_without
from pytest_hookharness.campaigns.check.lone_programs.silent_ends import silent_end, unheard_end
from pytest_hookharness.campaigns.check.lone_programs.strict_scripts import ends_without
from pytest_hookharness.campaigns.check.reads.shared_symptoms import by_event, together
from pytest_hookharness.judging.findings.codes import UNGUARDED_TOOL
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.protocol import Hook

_SAY_SO = "Begin with `command -v {0} >/dev/null || {{ echo '{0} is missing' >&2; exit {1}; }}`."
_UNHEARD = " Its warning goes to standard error, which nobody sees with that status."
# Status 2 refuses a call. At a stop, it would be an endless loop, and at a prompt, nobody could work.
_GUARDS = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION})
# What a host decides about at an event, if it is no call.
DECIDED = {hosts.Role.STOP: "stop", hosts.Role.SUBAGENT_STOP: "stop", hosts.Role.PROMPT: "prompt"}


def missing_programs(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield a symptom for each program that hooks cannot do without; a session may show it better."""
    # Where a failure refuses, the failure of a missing program does too.
    open_hooks = [hook for hook in hook_set.hooks if is_allowed_by_failure(hook_set.host, hook)]
    answers = [(hook, tool) for hook in open_hooks if (tool := lone_answer(hook_set, hook))]
    for hooks, tool in by_event(answers):
        text = f"`{tool}` writes every refusal, so with no `{tool}` on the PATH nothing is refused."
        rule = hosts.find(hook_set.host).events[hooks[0].event]
        advice = _SAY_SO.format(tool, 2 if rule.role in _GUARDS else 1)
        yield replace(together(UNGUARDED_TOOL, hooks, text), advice=advice)
    told = [hook for hook, _ in answers]
    others = [hook for hook in open_hooks if hook not in told]
    # A command that is the script itself does not mind how a script ends.
    inline = [hook for hook in hook_set.hooks if not hook_set.sources_of(hook) and hook not in open_hooks]
    switches = [(hook, tool) for hook in (*others, *inline) if (tool := lone_switch(hook_set, hook))]
    for hooks, tool in by_event(switches):
        role = hosts.find(hook_set.host).events[hooks[0].event].role
        what = DECIDED.get(role, "call")
        text = f"it decides by what `{tool}` prints, so with no `{tool}` on the PATH every {what} is allowed."
        advice = _SAY_SO.format(tool, 2 if role in _GUARDS else 1)
        yield replace(together(UNGUARDED_TOOL, hooks, text), advice=advice)
        told += hooks
    others = [hook for hook in hook_set.hooks if hook not in told]
    for how, find in (("with an error", ends_without), ("silently", silent_end), ("with 0", unheard_end)):
        asked = [hook for hook in others if find is not ends_without or hook in open_hooks]
        found = [(hook, one) for hook in asked if (one := find(hook_set, hook))[0]]
        yield from _of_ends(hook_set, found, how)
    yield from _of_pairs(hook_set)
    yield from _of_prompts(hook_set, others)


def _of_prompts(hook_set: HookSet, hooks: Sequence[Hook]) -> Iterator[Symptom]:
    """Yield the programs without which hooks refuse every prompt."""
    found = [(hook, tool) for hook in hooks if (tool := refused_without(hook_set, hook))]
    for same, tool in by_event(found):
        text = f"with no `{tool}` on the PATH it ends with 2, which refuses every prompt."
        advice = f"End with 0 where `{tool}` is missing, and say so on standard error."
        named = f"{advice} Try `python3` first, as many systems have no `python`."
        symptom = together(UNGUARDED_TOOL, same, text)
        yield replace(symptom, advice=named if tool == "python" else advice)


def _of_ends(hook_set: HookSet, found: Sequence[tuple[Hook, tuple[str, int]]], how: str) -> Iterator[Symptom]:
    """Yield the programs without which scripts end before they can refuse, each event once."""
    for hooks, tool in by_event([(hook, tool) for hook, (tool, _) in found]):
        lines = dict.fromkeys(str(line) for hook, (_, line) in found if hook in hooks)
        role = hosts.find(hook_set.host).events[hooks[0].event].role
        then = f"every {DECIDED[role]} is allowed" if role in DECIDED else "it refuses nothing"
        text = f"with no `{tool}` on the PATH the script ends {how} in line {' or '.join(lines)}, and {then}."
        text += _UNHEARD if how == "with 0" else ""
        advice = _SAY_SO.format(tool, 2 if role in _GUARDS else 1)
        yield replace(together(UNGUARDED_TOOL, hooks, text), advice=advice)


def _of_pairs(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the programs of which guards need one to read their input, each event once."""
    pairs = [(hook, one) for hook in hook_set.hooks if (one := silent_pair(hook_set, hook))[0]]
    named = [(hook, " nor ".join(f"`{one}`" for one in tools)) for hook, (tools, _) in pairs]
    for hooks, names in by_event(named):
        lines = dict.fromkeys(str(line) for hook, (_, line) in pairs if hook in hooks)
        role = hosts.find(hook_set.host).events[hooks[0].event].role
        then = f"every {DECIDED[role]} is allowed" if role in DECIDED else "it refuses nothing"
        text = (
            f"with neither {names} on the PATH the script ends silently in line {' or '.join(lines)}, "
            f"and {then}."
        )
        status = 2 if role in _GUARDS else 1
        advice = f"Where none of them is there, say so on standard error, and end with {status}."
        yield replace(together(UNGUARDED_TOOL, hooks, text), advice=advice)
