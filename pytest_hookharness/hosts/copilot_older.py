"""
This module is concerned with GitHub's Copilot CLI 1.0.71, the last release without a guard, as a profile.

Middle floor: hosts. What its changelog has changed later is left out; all other facts are those of 1.0.78.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.copilot import COPILOT_CLI
from pytest_hookharness.hosts.copilot_events import PAPERS
from pytest_hookharness.hosts.events import EventRule
from pytest_hookharness.hosts.profile import GuardRules
from pytest_hookharness.hosts.rules.guarding import FlagUse

_FLAG = "stop_hook_active"
_SAME = PAPERS.open("but for its stops 1.0.71 is taken to be as 1.0.78")


def _older(event: EventRule) -> EventRule:
    fields = tuple(field for field in event.fields.fields if field.name != _FLAG)
    return replace(event, fields=replace(event.fields, fields=fields), rests_on=(*event.rests_on, _SAME))


COPILOT_CLI_1_0_71 = replace(
    COPILOT_CLI,
    version="1.0.71",
    events={name: _older(event) for name, event in COPILOT_CLI.events.items()},
    guard=GuardRules(
        flag=FlagUse.NEVER,
        rules={
            "no cap": PAPERS.says("before 1.0.72 nothing counts continuations"),
            "flag": PAPERS.says("before 1.0.72 hooks are told nothing of earlier refusals"),
        },
    ),
)
