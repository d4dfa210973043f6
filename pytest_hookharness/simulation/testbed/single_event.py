"""
Asking: the hooks of one event, once, outside of any session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Payload, Reply
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.simulation.testbed.hook_batch import attribute, collect, finished
from pytest_hookharness.simulation.testbed.testbed import Testbed


def ask(stage: Testbed, event: str, fields: Mapping[str, Any]) -> Response:
    """
    Ask the hooks of one event once, outside of any session.

    Raises:
        ValueError: The host has no such event, or the event no such field.
    """
    payload = hosts.payload_for(stage.profile, event, stage.facts, fields)
    target = hosts.matcher_target(stage.profile, event, payload)
    hooks = hosts.select(stage.profile, stage.configuration.hooks, event, target)
    given: list[ProcessResult | Payload] = []
    stdins: list[bytes] = []
    replies: list[Reply] = []
    before = stage.workspace.lineage.begin()
    for wave in hosts.start_groups(stage.profile, hooks):
        runs, sent = stage.fire(wave, payload, stage.settings.wall)
        pairs = zip(wave, runs, strict=True)
        said = [hosts.read_reply(stage.profile, hook, event, run) for hook, run in pairs]
        given, stdins, replies = [*given, *runs], [*stdins, *sent], [*replies, *said]
        if hosts.refuses_at_once(stage.profile.events[event], said):
            break
    hooks = hooks[: len(given)]
    decision = hosts.aggregate(stage.profile, event, replies, finished(given), hooks=hooks, target=target)
    return Response(
        HookEvent(
            event=event,
            target=target,
            hook_runs=collect(hooks, payload, stdins, given, replies),
            decision=decision,
            changes=stage.scan(),
            children=attribute(stage.workspace.lineage.read(before), event, hooks, given),
        )
    )
