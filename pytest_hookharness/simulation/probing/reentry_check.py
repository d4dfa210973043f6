"""
Gates that are off in sessions which hooks start: fired again without the guard.

A variable that keeps hooks from starting themselves again is inherited by all
hooks of the session that they start, gates included. So each of these gates is asked the same once more with
the variables that the hooks above it have set, and once without; if only that makes it refuse, it is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pytest_hookharness import hosts
from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.model.agent_sessions import ChildHookRun, ChildSession
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.testbed import Testbed

_MOST_GATES = 10
# What shells set for every command is no guard of anybody's.
_OF_SHELLS = frozenset({"_", "PWD", "OLDPWD", "SHLVL"})


@dataclass(frozen=True, slots=True)
class _Gate:
    """
    A gate that let a call through in a session that was started on the way.
    """

    turn: int
    hook: Hook
    fire: ChildHookRun
    child: ChildSession
    added: frozenset[str]


def find_open_gates(player: SessionDriver, trace: Trace) -> tuple[Finding, ...]:
    """
    One finding for each gate that refuses only without the variables that other hooks have set.
    """
    gates = {
        (gate.hook.command, str(gate.fire.payload.get("tool_input"))): gate for gate in _gates(player, trace)
    }
    found: list[Finding] = []
    for gate in [*gates.values()][:_MOST_GATES]:
        with Checkpoint(player.stage, player.moment) as rehearsal:
            again = _refuses(player.stage, gate, gate.child.environment)
            rehearsal.put_back()
            kept = {name: value for name, value in gate.child.environment.items() if name not in gate.added}
            if not again and _refuses(player.stage, gate, kept):
                found.append(_finding(gate))
    return tuple(found)


def _gates(player: SessionDriver, trace: Trace) -> Iterator[_Gate]:
    stage = player.stage
    rule = stage.profile.by_role(hosts.Role.BEFORE_TOOL)
    for step, child in trace.children():
        added = _added(stage, child.environment)
        if not added or rule is None or child.host != stage.profile.id:
            continue
        for fire in child.hook_runs:
            known = (hook for hook in stage.configuration.hooks if hook.command == fire.command)
            hook = next((hook for hook in known if hook.event == rule.name == fire.event), None)
            if hook is not None and fire.done and fire.payload and fire.ruling in ("none", "allow"):
                yield _Gate(step.turn, hook, fire, child, added)


def _added(stage: Testbed, environment: Mapping[str, str]) -> frozenset[str]:
    process, place = stage.profile.process, stage.workspace
    own = place.instruments.environment(place.environment)
    of_plugins = {*process.plugin_env, stage.profile.config.plugin_root}
    hosts_own = {*process.env, process.env_file[0], *of_plugins, *_OF_SHELLS}
    return frozenset(
        name for name, value in environment.items() if name not in hosts_own and own.get(name) != value
    )


def _refuses(stage: Testbed, gate: _Gate, environment: Mapping[str, str]) -> bool:
    made = hosts.launch(
        stage.profile, gate.hook, gate.fire.payload, stage.facts, environment, stage.hook_timeout
    )
    run: ProcessResult = stage.sandbox.run([replace(made, cwd=gate.child.folder)])[0]
    reply = hosts.read_reply(stage.profile, gate.hook, gate.hook.event, run)
    return reply.ruling.value == "deny"


def _finding(gate: _Gate) -> Finding:
    names = ", ".join(sorted(gate.added)[:3])
    tool = gate.fire.payload.get("tool_name", "a tool")
    text = (
        f"In session {gate.child.number}, started from {gate.child.starter}, the gate lets a call of {tool} "
        f"through; asked the same without {names}, it refuses."
    )
    return finding_catalogue.GUARD_OPEN.found(text, turn=gate.turn, hook=gate.hook.command)
