"""Hooks that answer `allow` to calls for which they have no rule, so that the host does not ask the user."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import hooks_at
from pytest_hookharness.campaigns.guards.approved_lines import approved_lines, asks_users
from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.judging.checkup.refused_work import shell_text
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import ToolCall
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook, Ruling
from pytest_hookharness.model.trace import Performed

# From fewer different calls it does not follow that a hook allows everything.
_FEWEST = 6
_SHOWN = 60
# The folder of a run, which is another one in each run.
_RUN = re.compile(r"^/\S*/workspace/")
_REFUSES = re.compile(r"[\"'](?:deny|block)[\"']|\bexit[ (]\s*2\b")
# Calls about which users want to be asked.
_RISKY = re.compile(r"\b(?:sudo|curl|git push|dd|rm)\b|\.env|\.github")


def find_unasked(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[tuple[Hook, str]]:
    """
    Yield the guards that explicitly allowed each call that they did not refuse, and what shows it.

    The others are named that allow a line for one of its commands, whatever stands beside it.

    A hook that refused nothing, and whose script has no refusal, may be meant to answer the host's questions,
    so it is no guard here. Nor is one named that allowed no risky call.
    """
    if not asks_users(hosts.find(hook_set.host)):
        return
    for hook in _guards(hook_set):
        answers = [*_answers(hook, outcomes, hosts.find(hook_set.host).tools.gated)]
        rulings = [(_words(call), ruling) for call, ruling in answers]
        allowed = [*dict.fromkeys(words for words, ruling in rulings if ruling is Ruling.ALLOW)]
        refused = {words for words, ruling in rulings if ruling in (Ruling.DENY, Ruling.ASK)}
        silent = any(ruling is Ruling.NONE for _, ruling in rulings)
        # A guard that allows a list of harmless calls and denies the rest is meant to do that.
        example = next(filter(_RISKY.search, allowed), "")
        guards = refused or any(map(_REFUSES.search, hook_set.scripts_of(hook)))
        if guards and example and len(allowed) >= _FEWEST and not silent:
            text = (
                f"{hook.event}: it answers `allow` to every call that it does not refuse ({len(allowed)} "
                f"different calls, such as {example}), so {hook_set.host} never asks the user."
            )
            yield hook, text
        elif found := next(approved_lines([(shell_text(call), ruling) for call, ruling in answers]), None):
            line, risky = found
            text = (
                f"{hook.event}: it answers `allow` to `{line}`, and nothing to `{risky}` alone, so "
                f"{hook_set.host} runs the whole line without asking the user."
            )
            yield hook, text


def allowed_commands(hook_set: HookSet, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the command lines to which a hook before calls answered `allow`, each once."""
    gated = hosts.find(hook_set.host).tools.gated
    answers = (one for hook in _guards(hook_set) for one in _answers(hook, outcomes, gated))
    texts = (shell_text(call) for call, ruling in answers if ruling is Ruling.ALLOW)
    return [*dict.fromkeys(filter(None, texts))]


def _guards(hook_set: HookSet) -> list[Hook]:
    """Return the hooks that run before calls, each command once."""
    return [*{hook.command: hook for hook in hooks_at(hook_set, {hosts.Role.BEFORE_TOOL})}.values()]


def _answers(
    hook: Hook, outcomes: Sequence[Outcome], gated: Sequence[str]
) -> Iterator[tuple[ToolCall, Ruling]]:
    """Yield each call that a hook was asked about, with what it answered."""
    for outcome in outcomes:
        # With a fault in its environment a hook may answer in another way.
        if outcome.scenario.vary:
            continue
        calls = {
            step.turn: step.exchange.call
            for step in outcome.trace.steps
            if isinstance(step.exchange, Performed) and step.exchange.call.name in gated
        }
        for step, hooked in outcome.trace.hooked():
            for run in hooked.hook_runs:
                if hooked.event != hook.event or run.hook.command != hook.command or step.turn not in calls:
                    continue
                # An approval that another hook overrules changes nothing.
                if run.reply.ruling is not Ruling.ALLOW or hooked.decision.ruling is Ruling.ALLOW:
                    yield calls[step.turn], run.reply.ruling


def _words(call: ToolCall) -> str:
    file = _RUN.sub("", str(call.input.get("file_path", json.dumps(call.input))))
    words = shell_text(call) or f"{call.name} of {file}"
    return f"`{in_one_line(words, _SHOWN)}`"
