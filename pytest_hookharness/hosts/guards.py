"""
This module is concerned with the guard: the host's own net against endless refusals of a stop.

Middle floor: hosts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_hookharness.hosts.profile import GuardRules
from pytest_hookharness.model.protocol import Decision, Rule
from pytest_hookharness.model.verdicts import Guard


def find_cap(rules: GuardRules, env: Mapping[str, str]) -> int | None:
    """
    How many refusals in a row the host honours; ``None`` for any number.
    """
    written = env.get(rules.variable, "") if rules.variable else ""
    number = re.match(r"\s*([+-]?\d+)", written)
    cap = rules.cap if number is None else int(number[1])
    return cap if cap is not None and cap > 0 else None


def override(
    rules: GuardRules, env: Mapping[str, str], streak: int, decision: Decision, *, calls_refused: bool = False
) -> Decision:
    """
    The decision as the guard leaves it, after a streak of refusals that were honoured.

    With ``calls_refused``, calls between them were refused as well.
    """
    cap = find_cap(rules, env)
    if not decision.refused or cap is None or streak < cap:
        return decision
    return replace(decision, refused=False, overridden=True, to_agent=(), rule=_cap(rules, calls_refused))


def _cap(rules: GuardRules, calls_refused: bool) -> Rule:
    return rules.rules["cap across refused calls" if calls_refused and rules.reset_by_tools else "cap"]


def describe(
    rules: GuardRules,
    env: Mapping[str, str],
    *,
    lap_used_tools: bool,
    calls_refused: bool = False,
    stops_refused: bool = True,
) -> Guard | None:
    """
    What the guard would do about an endless loop; ``None`` if the host has none.

    Args:
        rules: The guard.
        env: The host's environment.
        lap_used_tools: Calls were carried out in a lap.
        calls_refused: Calls were only tried in it.
        stops_refused: Stops were refused in it.
    """
    if rules.cap is None:
        return None
    cap = find_cap(rules, env)
    if cap is None:
        written = env.get(rules.variable, "")
        why = f"{rules.variable}={written} switches it off"
        return Guard(overrides=None, why=why, rule=rules.rules["off"])
    if lap_used_tools and rules.reset_by_tools:
        why = "every lap carries out a tool call, and that begins the count again"
        return Guard(overrides=None, why=why, rule=rules.rules["reset"])
    if not stops_refused:
        why = "no stop is refused in a lap, and the guard counts nothing else"
        return Guard(overrides=None, why=why, rule=rules.rules["counted"])
    why = f"{cap} refusals in a row are honoured, the next one is overridden"
    return Guard(overrides=cap + 1, why=why, rule=_cap(rules, calls_refused))
