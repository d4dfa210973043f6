"""A cap on refusals that a scenario assumes instead of the one that its host has."""

from __future__ import annotations

from pytest_hookharness.hosts.rules.profile import CapRules, Profile
from pytest_hookharness.hosts.rules.turns import Resets
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.protocol import THE_SCENARIO, Basis, Rule
from pytest_hookharness.model.scenario import AssumedCap

_RESETS = {
    "prompt": Resets.NOTHING,
    "calls_done": Resets.CALLS_DONE,
    "calls_tried": Resets.CALLS_TRIED,
}
_RULES = ("cap", "cap across refused calls", "counted", "off", "reset", "no cap")


def with_cap(profile: Profile, cap: AssumedCap) -> Profile:
    """Return a host whose cap is the assumed one, wherever the host itself would read a cap from."""
    resets = _RESETS.get(cap.resets, profile.cap.resets)
    rule = Rule(describe_assumed_cap(profile, cap), Basis.ASSUMED, THE_SCENARIO)
    rules = CapRules(
        cap=cap.refusals,
        resets=resets,
        at_cap=profile.cap.at_cap,
        message=profile.cap.message,
        status=profile.cap.status,
        flag=profile.cap.flag,
        rules={**profile.cap.rules, **dict.fromkeys(_RULES, rule)},
    )
    return replace(profile, cap=rules)


def describe_assumed_cap(profile: Profile, cap: AssumedCap) -> str:
    """Return what the scenario assumes, as a clause."""
    if cap.refusals is None:
        return f"{profile.id} honours any number of refusals of a stop"
    resets = _RESETS.get(cap.resets, profile.cap.resets)
    honoured = f"{profile.id} honours {counted(cap.refusals, 'refusal')} of a stop in a row"
    return f"{honoured}, and {resets.value} resets the count"
