"""What a host does on its testbed: run the hooks of an event, and perform tool calls."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.agent_tools import perform, performance_of
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, Stdio, Tier
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.time_budget import check_time, remaining
from pytest_hookharness.simulation.testbed import launch_overrides
from pytest_hookharness.simulation.testbed.hook_batch import linger, run_batch, started
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Keys of a call that let its command run on while the agent goes on (documented: Claude Code, Qwen Code).
_IN_BACKGROUND = ("run_in_background", "is_background")


def run_hooks(
    testbed: Testbed, hooks: Sequence[Hook], payload: Payload, budget: float
) -> tuple[tuple[ProcessResult | Payload, ...], tuple[ProcessSpec | None, ...]]:
    """
    Run hooks at the same time, as the host does.

    Args:
        budget: Seconds after which all of them are cut.

    Returns:
        For each hook the result of its process, or the reply that the scenario gives instead; and how it was
        started, or ``None`` if it was not.

    Raises:
        SimulationError: A hook is not a command, and the scenario has no answer for it.
    """
    profile, scenario = testbed.profile, testbed.scenario
    if any(launch_overrides.is_sent_twice(scenario, profile.events[hook.event], payload) for hook in hooks):
        # The other session's hooks run first. Only what they leave in shared files matters.
        with _another_session(testbed, hooks[0].event, payload) as other:
            others, _ = _run_together(testbed, hooks, other, budget)
        testbed.note_changes(started(hooks, others))
    return _run_together(testbed, hooks, payload, budget)


@contextmanager
def _another_session(testbed: Testbed, event: str, payload: Payload) -> Generator[Payload]:
    """Have the facts of another session or agent for a block; yields the input that it sends."""
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
) -> tuple[tuple[ProcessResult | Payload, ...], tuple[ProcessSpec | None, ...]]:
    commands = [index for index, hook in enumerate(hooks) if hook.type == "command"]
    launches = {index: prepare_launch(testbed, hooks, index, payload) for index in commands}
    for launch in launches.values():
        for receive in testbed.launch_receivers:
            receive(launch)

    def ended(place: int, result: ProcessResult) -> None:
        testbed.note_changes(started([hooks[commands[place]]], [result]))

    in_turn = any(hook.event in testbed.scenario.order for hook in hooks)
    run = testbed.run_processes
    if testbed.settings.warm and launches:
        from pytest_hookharness.simulation.testbed.warm_runs import run_warm

        run = partial(run_warm, testbed)
    run_all = partial(launch_overrides.run_in_turn, run, ended) if in_turn else run
    given = run_batch(hooks, launches, lambda specs: run_all(specs, budget), testbed.answers)
    return given, tuple(launches.get(index) for index in range(len(hooks)))


def run_again(testbed: Testbed, specs: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
    """
    Run processes beside the session, to find out more about one of its hook runs.

    Raises:
        BudgetEnded: The time is over; a run that this cut shows nothing.
    """
    left = remaining()
    # Without the clock that the kernel shows: a process that traces others cannot be traced itself.
    results = testbed.sandbox.run(specs, budget=None if math.isinf(left) else left)
    check_time("a hook was run again")
    return results


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
        hooks_of_event=hooks,
        index=index,
    )
    stated = scenario.hook_timeout is not None
    folder, rest = workspace.present(spec.cwd), testbed.settings.linger
    if rest is not None:
        rest = linger(scenario) or rest or spec.linger
    # A fake agent that a hook starts has a session to play.
    background = testbed.hook_timeout if stated or scenario.fake_agents else spec.background
    # A play that gives processes more time gives it to hooks in the background too.
    background = max(background, testbed.settings.linger or 0.0)
    spec = replace(spec, cwd=folder, linger=rest, exact=stated, background=background)
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
    if any(call.input.get(key) is True for key in _IN_BACKGROUND):
        operation = replace(operation, command=f"(\n{operation.command}\n) >/dev/null 2>&1 &")
    result = testbed.run_processes([_shell_command(testbed, operation)], budget)[0]
    return replace(performance_of(result), folder=testbed.workspace.shell.pop_folder()), result


def edit_or_read(testbed: Testbed, operation: Edit | Read) -> Performance:
    """Edit or read a file, as the agent does."""
    workspace = testbed.workspace
    hidden = workspace.private if testbed.sandbox.tier is Tier.NAMESPACES else {}
    return perform(
        workspace.root, operation, folders=(workspace.top, workspace.home, workspace.tmp), private=hidden
    )


def _shell_command(testbed: Testbed, operation: RunCommand) -> ProcessSpec:
    workspace, profile, facts = testbed.workspace, testbed.profile, testbed.facts
    folder = Path(hosts.env_folder(profile, facts) or "/dev/null")
    present = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    sourced = hosts.env_files(profile, facts, present)
    environment = workspace.clock.environment(workspace.environment)
    argv, env = workspace.shell.prepare(operation.command, environment, sourced)
    spec = ProcessSpec(
        argv=argv,
        cwd=workspace.present(operation.folder or str(workspace.root)),
        env=env,
        stdio=Stdio.PIPE,
        limit=testbed.hook_timeout,
        hook_timeout=testbed.hook_timeout,
    )
    longer = testbed.settings.linger
    return replace(spec, linger=longer) if longer is None or longer > 0 else spec
