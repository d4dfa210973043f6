"""
Guard hooks that are off in sessions which other hooks start.

A variable that keeps hooks from starting themselves again is inherited by all hooks of the session that they
start, guard hooks included. So each guard hook that let a call pass there is run again with the same input:
once with the variables that the hooks above it have set, and once without. If only the second run refuses,
the variable switches it off. The check is sound because everything else is equal: state, input, folder and
command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_hookharness import hosts
from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.model.agent_sessions import ChildHookRun, ChildSession
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.host_actions import run_again
from pytest_hookharness.simulation.testbed.testbed import Testbed

_GUARD_LIMIT = 10
# Shells set these for every command.
_OF_SHELLS = frozenset({"_", "PWD", "OLDPWD", "SHLVL"})


@dataclass(frozen=True, slots=True)
class _PassedCall:
    """
    A call that a guard hook allowed in a session that another hook started in a turn of the outer session.

    ``added`` has the names of the variables that the hooks above it have set.
    """

    turn: int
    hook: Hook
    run: ChildHookRun
    child: ChildSession
    added: frozenset[str]


def find_open_guards(driver: SessionDriver, trace: Trace) -> tuple[Finding, ...]:
    """Return a finding for each guard hook that refuses only without the variables that other hooks set."""
    calls = {
        (call.hook.command, str(call.run.payload.get("tool_input"))): call
        for call in _passed_calls(driver, trace)
    }
    if not calls:
        return ()
    from pytest_hookharness.simulation.session.checkpoint import Checkpoint

    found: list[Finding] = []
    for call in [*calls.values()][:_GUARD_LIMIT]:
        with Checkpoint(driver.testbed, driver.point) as checkpoint:
            refused = _refuses(driver.testbed, call, call.child.environment)
            checkpoint.restore()
            kept = {name: value for name, value in call.child.environment.items() if name not in call.added}
            if not refused and _refuses(driver.testbed, call, kept):
                found.append(_finding(call))
    return tuple(found)


def _passed_calls(driver: SessionDriver, trace: Trace) -> Iterator[_PassedCall]:
    testbed = driver.testbed
    rule = testbed.profile.by_role(hosts.Role.BEFORE_TOOL)
    for step, child in trace.children():
        added = _added_variables(testbed, child.environment)
        if not added or rule is None or child.host != testbed.profile.id:
            continue
        for run in child.hook_runs:
            known = (hook for hook in testbed.configuration.hooks if hook.command == run.command)
            hook = next((hook for hook in known if hook.event == rule.name == run.event), None)
            if hook is not None and run.done and run.payload and run.ruling in ("none", "allow"):
                yield _PassedCall(step.turn, hook, run, child, added)


def _added_variables(testbed: Testbed, environment: Mapping[str, str]) -> frozenset[str]:
    process, workspace = testbed.profile.process, testbed.workspace
    own = workspace.instruments.environment(workspace.environment)
    of_plugins = {*process.plugin_env, testbed.profile.config.plugin_root}
    hosts_own = {*process.env, process.env_file[0], *of_plugins, *_OF_SHELLS}
    return frozenset(
        name for name, value in environment.items() if name not in hosts_own and own.get(name) != value
    )


def _refuses(testbed: Testbed, call: _PassedCall, environment: Mapping[str, str]) -> bool:
    spec = hosts.launch(
        testbed.profile, call.hook, call.run.payload, testbed.facts, environment, testbed.hook_timeout
    )
    (result,) = run_again(testbed, [replace(spec, cwd=call.child.folder)])
    reply = hosts.read_reply(testbed.profile, call.hook, call.hook.event, result)
    return reply.ruling.value == "deny"


def _finding(call: _PassedCall) -> Finding:
    names = ", ".join(sorted(call.added)[:3])
    tool = call.run.payload.get("tool_name", "a tool")
    text = (
        f"In session {call.child.number}, started from {call.child.starter}, the guard hook lets a call of "
        f"{tool} pass; with the same input but without {names} it refuses."
    )
    return finding_catalogue.GUARD_OPEN.found(text, turn=call.turn, hook=call.hook.command)
