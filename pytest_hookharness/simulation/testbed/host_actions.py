"""What a host does on its testbed: run the hooks of an event, and perform tool calls."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.agent_tools import perform, performance_of
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, Stdio, Tier
from pytest_hookharness.model.protocol import Hook, Payload, Reply
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.simulation.testbed import launch_overrides
from pytest_hookharness.simulation.testbed.hook_batch import attribute, collect, finished, linger
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


def run_hooks(
    testbed: Testbed, hooks: Sequence[Hook], payload: Payload, budget: float
) -> tuple[tuple[ProcessResult | Payload, ...], tuple[bytes, ...]]:
    """
    Run hooks at the same time, as the host does.

    Args:
        testbed: Where they run.
        hooks: The hooks, in the order of configuration.
        payload: Their input.
        budget: Seconds after which all of them are cut.

    Returns:
        For each hook the result of its process, or the reply that the scenario gives instead; and the bytes
        of its standard input.

    Raises:
        SimulationError: A hook is not a command, and the scenario has no answer for it.
    """
    profile, scenario = testbed.profile, testbed.scenario
    if any(launch_overrides.is_sent_twice(scenario, profile.events[hook.event], payload) for hook in hooks):
        # The other session's hooks run first. Only what they leave in shared files matters.
        with _another_session(testbed, hooks[0].event, payload) as other:
            _run_together(testbed, hooks, other, budget)
    return _run_together(testbed, hooks, payload, budget)


@contextmanager
def _another_session(testbed: Testbed, event: str, payload: Payload) -> Generator[Payload]:
    """
    Have the facts of another session, or of another agent of this one, for a block; gives the input it sends.
    """
    own, company = testbed.facts, testbed.scenario.company
    facts, sent = launch_overrides.as_sent_by_another(testbed.profile, own, company, event, payload)
    testbed.use_facts(facts)
    try:
        if facts.transcript_path != own.transcript_path:
            testbed.write_transcript(facts.transcript_path, ())
        yield sent
    finally:
        testbed.use_facts(own)


def _run_together(
    testbed: Testbed, hooks: Sequence[Hook], payload: Payload, budget: float
) -> tuple[tuple[ProcessResult | Payload, ...], tuple[bytes, ...]]:
    commands = [index for index, hook in enumerate(hooks) if hook.type == "command"]
    launches = {index: prepare_launch(testbed, hooks, index, payload) for index in commands}

    in_turn = any(hook.event in testbed.scenario.order for hook in hooks)
    run_all = (
        partial(launch_overrides.run_in_turn, testbed.run_processes) if in_turn else testbed.run_processes
    )
    runs = dict(zip(launches, run_all([*launches.values()], budget), strict=True))
    given = tuple(
        runs[index] if index in runs else testbed.answers.give(hook) for index, hook in enumerate(hooks)
    )
    stdins = tuple(launches[index].stdin.data if index in runs else b"" for index in range(len(hooks)))
    return given, stdins


def prepare_launch(testbed: Testbed, hooks: Sequence[Hook], index: int, payload: Payload) -> ProcessSpec:
    """Return how one of the hooks of an event is started."""
    profile, scenario, workspace = testbed.profile, testbed.scenario, testbed.workspace
    rule = profile.events[hooks[index].event]
    spec = hosts.launch(
        profile,
        hooks[index],
        launch_overrides.override_payload(payload, rule, scenario, workspace.root),
        testbed.facts,
        workspace.environment,
        testbed.hook_timeout,
        siblings=hooks,
        index=index,
    )
    spec = replace(spec, cwd=workspace.present(spec.cwd), linger=linger(scenario) or spec.linger)
    variable = profile.process.env_file[0]
    if variable in spec.env:
        workspace.make_folder(Path(spec.env[variable]).parent)
    spec = launch_overrides.override_launch(spec, hooks[index], scenario, workspace.root)
    return workspace.instruments.apply_to(spec)


def perform_call(
    testbed: Testbed, call: ToolCall, operation: hosts.Operation | None, budget: float
) -> tuple[Performance, ProcessResult | None]:
    """
    Perform a tool call in the workspace; return what the agent sees and, of a command, its process.

    Raises:
        SimulationError: The harness cannot perform this tool.
    """
    if operation is None:
        raise SimulationError(
            f"{call.label or 'agent'}: the harness cannot perform the tool {call.name!r}; "
            "give the call a result: {tool: {...}, result: text}"
        )
    if not isinstance(operation, RunCommand):
        return edit_or_read(testbed, operation), None
    result = testbed.run_processes([_shell_command(testbed, operation)], budget)[0]
    return replace(performance_of(result), folder=testbed.workspace.shell.pop_folder()), result


def edit_or_read(testbed: Testbed, operation: Edit | Read) -> Performance:
    """Edit or read a file, as the agent does."""
    workspace = testbed.workspace
    hidden = workspace.private if testbed.sandbox.tier is Tier.NAMESPACES else {}
    return perform(workspace.root, operation, folders=(workspace.home, workspace.tmp), private=hidden)


def _shell_command(testbed: Testbed, operation: RunCommand) -> ProcessSpec:
    workspace, profile, facts = testbed.workspace, testbed.profile, testbed.facts
    folder = Path(hosts.env_folder(profile, facts) or "/dev/null")
    present = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    sourced = hosts.env_files(profile, facts, present)
    environment = workspace.clock.environment(workspace.environment)
    argv, env = workspace.shell.prepare(operation.command, environment, sourced)
    return ProcessSpec(
        argv=argv,
        cwd=workspace.present(operation.folder or str(workspace.root)),
        env=env,
        stdio=Stdio.PIPE,
        limit=testbed.hook_timeout,
        hook_timeout=testbed.hook_timeout,
    )


def run_event(testbed: Testbed, event: str, fields: Mapping[str, Any]) -> Response:
    """
    Run the hooks of one event once, outside of any session.

    Args:
        testbed: Where they run.
        event: The event.
        fields: Fields of the input that replace the made-up ones.

    Raises:
        ValueError: The host has no such event, or the event no such field.
    """
    profile = testbed.profile
    payload = hosts.payload_for(profile, event, testbed.facts, fields)
    target = hosts.matcher_target(profile, event, payload)
    hooks = hosts.select(profile, testbed.configuration.hooks, event, target)
    given: list[ProcessResult | Payload] = []
    stdins: list[bytes] = []
    replies: list[Reply] = []
    before = testbed.workspace.doubles.session_records.begin()
    for batch in hosts.start_groups(profile, hooks):
        runs, sent = run_hooks(testbed, batch, payload, testbed.settings.wall)
        pairs = zip(batch, runs, strict=True)
        read = [hosts.read_reply(profile, hook, event, run) for hook, run in pairs]
        given, stdins, replies = [*given, *runs], [*stdins, *sent], [*replies, *read]
        if hosts.refuses_at_once(profile.events[event], read):
            break
    hooks = hooks[: len(given)]
    decision = hosts.aggregate(profile, event, replies, finished(given), hooks=hooks, target=target)
    return Response(
        HookEvent(
            event=event,
            target=target,
            hook_runs=collect(hooks, payload, stdins, given, replies),
            decision=decision,
            changes=testbed.scan(),
            children=attribute(testbed.workspace.doubles.session_records.read(before), event, hooks, given),
        )
    )
