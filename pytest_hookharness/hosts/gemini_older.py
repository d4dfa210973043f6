"""
This module is concerned with releases of Gemini CLI whose stops were reported to go wrong, as profiles.

Middle floor: hosts. Only their stops are known apart; all other facts are taken from the measured release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_hookharness.hosts.events import EventRule
from pytest_hookharness.hosts.gemini import GEMINI_CLI
from pytest_hookharness.hosts.gemini_events import CHOSEN
from pytest_hookharness.hosts.profile import GuardRules, Profile
from pytest_hookharness.hosts.rules.guarding import Capped, FlagUse
from pytest_hookharness.model.protocol import Basis, Rule

_REPORTS = "Gemini CLI, its makers' issue tracker, 2026"


def _reported(text: str) -> Rule:
    return Rule(text, Basis.DOCUMENTED, _REPORTS)


def _older(version: str, guard: GuardRules) -> Profile:
    same = f"but for its stops {version} is taken to be as {GEMINI_CLI.version}"
    rest = Rule(same, Basis.ASSUMED, CHOSEN)
    return replace(GEMINI_CLI, version=version, guard=guard, events=_resting(GEMINI_CLI.events, rest))


def _resting(events: Mapping[str, EventRule], rest: Rule) -> Mapping[str, EventRule]:
    return {name: replace(event, rests_on=(*event.rests_on, rest)) for name, event in events.items()}


GEMINI_CLI_0_30_0 = _older(
    "0.30.0",
    replace(
        GEMINI_CLI.guard,
        flag=FlagUse.NEVER,
        rules={
            **GEMINI_CLI.guard.rules,
            "flag": _reported("stop_hook_active is false at every stop, also after a refusal"),
        },
    ),
)

GEMINI_CLI_0_26_0 = _older(
    "0.26.0",
    GuardRules(
        cap=1,
        low=1,
        then=Capped.ASKS_NO_MORE,
        flag=FlagUse.NEVER,
        rules={
            "cap": _reported("AfterAgent is not asked again about the stop that follows a refusal"),
            "counted": Rule("nothing but a refused AfterAgent is counted", Basis.ASSUMED, CHOSEN),
        },
    ),
)
