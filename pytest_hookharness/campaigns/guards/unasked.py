"""Guards that answer `allow` to all that they do not refuse, so that the host asks the user about nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
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

    A hook that refused nothing, and whose script has no refusal, may be meant to answer the host's questions,
    so it is no guard here. Nor is one named that allowed no risky call.
    """
    profile = hosts.find(hook_set.host)
    if profile.by_role(hosts.Role.PERMISSION) is None or not profile.tools.gated:
        return
    before = {rule.name for rule in profile.for_role(hosts.Role.BEFORE_TOOL)}
    for hook in {hook.command: hook for hook in hook_set.hooks if hook.event in before}.values():
        rulings = [*_rulings(hook, outcomes, profile.tools.gated)]
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


def _rulings(hook: Hook, outcomes: Sequence[Outcome], gated: Sequence[str]) -> Iterator[tuple[str, Ruling]]:
    """Yield each call that a hook was asked about, in words, with what it answered."""
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
                if hooked.event == hook.event and run.hook.command == hook.command and step.turn in calls:
                    yield _words(calls[step.turn]), run.reply.ruling


def _words(call: ToolCall) -> str:
    file = _RUN.sub("", str(call.input.get("file_path", json.dumps(call.input))))
    words = shell_text(call) or f"{call.name} of {file}"
    short = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."
    return f"`{' '.join(short.split())}`"
