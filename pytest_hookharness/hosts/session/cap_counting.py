"""
Guards: the host's own nets against endless turns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_hookharness.hosts.rules.caps import AtCap, FlagUse, Resets
from pytest_hookharness.hosts.rules.profile import CapRules
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.protocol import Decision, Hook, Json, Reply, Rule, Ruling
from pytest_hookharness.model.verdicts import Cap


@dataclass(frozen=True, slots=True, kw_only=True)
class CapSetting:
    """
    What sets the cap of a guard, as far as something does.

    Attributes:
        env: The host's environment.
        options: Options that it was started with.
        configured: What its settings say.
    """

    env: Mapping[str, str]
    options: Mapping[str, Json]
    configured: Json = None


def find_cap(rules: CapRules, setting: CapSetting) -> int | None:
    """
    How many refusals in a row the guard lets pass before it steps in; ``None`` for any number.
    """
    written = _written_cap(rules, setting)
    number = re.match(r"\s*([+-]?\d+)", written)
    cap = rules.cap if number is None else int(number[1])
    if cap is None:
        return None
    if cap < 1:
        return rules.low
    return cap if rules.most is None else min(cap, rules.most)


def _written_cap(rules: CapRules, setting: CapSetting) -> str:
    given = setting.options.get(rules.option) if rules.option else None
    if given is None and rules.variable in setting.env:
        given = setting.env[rules.variable]
    if given is None and isinstance(setting.configured, int | str):
        given = setting.configured
    return "" if given is None or isinstance(given, bool) else str(given)


def _honoured_refusals(rules: CapRules, setting: CapSetting) -> int | None:
    cap = find_cap(rules, setting)
    return cap - 1 if cap is not None and rules.on else cap


def apply_cap(
    rules: CapRules,
    setting: CapSetting,
    refusals_in_row: int,
    decision: Decision,
    *,
    calls_refused: bool = False,
    refusing: Sequence[Hook] = (),
) -> Decision:
    """
    The decision as the guard leaves it, after a refusals_in_row of refusals that were honoured.

    Args:
        rules: The guard.
        setting: What sets its cap.
        refusals_in_row: How many refusals were honoured in a row.
        decision: What the host made of the replies.
        calls_refused: Calls between them were refused as well.
        refusing: The hooks that refuse now.
    """
    honoured = _honoured_for(rules, refusing, _honoured_refusals(rules, setting))
    if not decision.refused or honoured is None or refusals_in_row < honoured:
        return decision
    return replace(
        decision, refused=False, overridden=True, to_agent=(), rule=_cap_rule(rules, calls_refused)
    )


def _honoured_for(rules: CapRules, refusing: Sequence[Hook], honoured: int | None) -> int | None:
    own = [hook.options[rules.per_hook] for hook in refusing if rules.per_hook in hook.options]
    if any(cap is None for cap in own):
        return None
    numbers = [int(cap) for cap in own if isinstance(cap, int | float)]
    return max(numbers) if numbers else honoured


def find_refusing(hooks: Sequence[Hook], replies: Sequence[Reply]) -> list[Hook]:
    """
    The hooks that refuse.
    """
    pairs = zip(hooks, replies, strict=True)
    return [hook for hook, reply in pairs if reply.ruling is Ruling.DENY]


def skips_stop_hooks(rules: CapRules, setting: CapSetting, refusals_in_row: int) -> bool:
    """
    Whether the hooks of a stop are not asked any more.
    """
    honoured = _honoured_refusals(rules, setting)
    return rules.then is AtCap.ASKS_NO_MORE and honoured is not None and refusals_in_row >= honoured


def reported_flag(rules: CapRules, flags: Sequence[bool], refusals: int, *, refused: bool) -> bool:
    """
    What the hooks of a stop are told of earlier refusals.

    Args:
        rules: The guard.
        flags: What they are told instead, one after the other and over again; empty for what the host says.
        refusals: How many times this stop was refused before.
        refused: Whether the host still has one of these in mind.
    """
    if flags:
        return flags[refusals % len(flags)]
    return rules.flag is FlagUse.ALWAYS or (refused and rules.flag is not FlagUse.NEVER)


def _cap_rule(rules: CapRules, calls_refused: bool) -> Rule:
    across = calls_refused and rules.resets is Resets.CALLS_DONE
    return rules.rules["cap across refused calls" if across else "cap"]


def describe_cap(
    rules: CapRules,
    setting: CapSetting,
    *,
    repetition_used_tools: bool,
    calls_refused: bool = False,
    stops_refused: bool = True,
) -> Cap | None:
    """
    What the guard would do about an endless loop; ``None`` if the host has none.

    Args:
        rules: The guard.
        setting: What sets its cap.
        repetition_used_tools: Calls were carried out in a lap.
        calls_refused: Calls were only tried in it.
        stops_refused: Stops were refused in it.
    """
    if rules.cap is None:
        return None
    honoured = _honoured_refusals(rules, setting)
    if honoured is None:
        written = _written_cap(rules, setting)
        why = f"{rules.variable or rules.option or '.'.join(rules.setting)}={written} switches it off"
        return Cap(overrides=None, why=why, rule=rules.rules["off"])
    tried = rules.resets is Resets.CALLS_TRIED and calls_refused
    if (repetition_used_tools and rules.resets is not Resets.NOTHING) or tried:
        how = "tries" if rules.resets is Resets.CALLS_TRIED else "carries out"
        why = f"every lap {how} a tool call, and that begins the count again"
        return Cap(overrides=None, why=why, rule=rules.rules["reset"])
    if not stops_refused:
        why = "no stop is refused in a lap, and the guard counts nothing else"
        return Cap(overrides=None, why=why, rule=rules.rules["counted"])
    after = "is overridden" if rules.then is AtCap.OVERRIDES else f"ends it: {rules.then.value}"
    are = "is" if honoured == 1 else "are"
    why = f"{counted(honoured, 'refusal')} in a row {are} honoured, the next one {after}"
    return Cap(overrides=honoured + 1, why=why, rule=_cap_rule(rules, calls_refused))
