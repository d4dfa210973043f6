"""The hooks of one event, run once outside of any session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.hosts.hook_input.recorded_paths import move_recorded
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.time_budget import check_time, remaining
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.simulation.startup.start_check import explain_failures
from pytest_hookharness.simulation.testbed.hook_batch import attribute, collect, finished, started
from pytest_hookharness.simulation.testbed.host_actions import run_hooks
from pytest_hookharness.simulation.testbed.testbed import Testbed


def run_event(testbed: Testbed, event: str, fields: Mapping[str, Any]) -> Response:
    """
    Run the hooks of one event once, outside of any session.

    Args:
        testbed: Where they run.
        event: The event.
        fields: Fields of the input that replace the made-up ones. Paths of a recorded session, known by its
            ``cwd``, lead into the workspace.

    Raises:
        ValueError: The host has no such event, or the event no such field.
    """
    profile = testbed.profile
    payload = hosts.payload_for(profile, event, testbed.facts, move_recorded(fields, testbed.facts))
    target = hosts.matcher_target(profile, event, payload)
    hooks = hosts.select(profile, testbed.configuration.hooks, event, target)
    given: list[ProcessResult | Payload] = []
    stdins: list[bytes] = []
    before = testbed.workspace.doubles.session_records.begin()
    for batch in hosts.start_groups(profile, hooks):
        runs, sent = run_hooks(testbed, batch, payload, min(testbed.settings.wall, remaining()))
        # Nothing follows from what a hook did until a limit of ours cut it.
        check_time(f"hooks of {event} ran")
        testbed.note_changes(started(batch, runs))
        pairs = zip(batch, runs, strict=True)
        read = [hosts.read_reply(profile, hook, event, run) for hook, run in pairs]
        given, stdins = [*given, *runs], [*stdins, *sent]
        if hosts.refuses_at_once(profile.events[event], read):
            break
    hooks = hooks[: len(given)]
    changes = testbed.scan()
    given = [*explain_failures(testbed, hooks, payload, given)]
    replies = [hosts.read_reply(profile, hook, event, run) for hook, run in zip(hooks, given, strict=True)]
    decision = hosts.aggregate(profile, event, replies, finished(given), hooks=hooks, target=target)
    return Response(
        HookEvent(
            event=event,
            target=target,
            hook_runs=collect(hooks, payload, stdins, given, replies),
            decision=decision,
            changes=changes,
            children=attribute(testbed.workspace.doubles.session_records.read(before), event, hooks, given),
        ),
        (*testbed.workspace.folders, *testbed.scenario.named_reach),
    )
