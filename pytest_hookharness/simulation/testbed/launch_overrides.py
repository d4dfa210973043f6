"""
The conditions of a fire: where a scenario has its host start hooks differently.

Deliveries brought about: a launch whose standard input arrives otherwise.

Pure.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, assert_never

from pytest_hookharness import hosts
from pytest_hookharness.hosts.hook_input.stdin import name_of, value_of
from pytest_hookharness.hosts.session_state.facts import derive_uuid
from pytest_hookharness.model.delivery import Delivery, Form, Inlet
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.mutations import WorkingFolder
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Stdio, Tier
from pytest_hookharness.model.protocol import Hook, Json, Payload
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_BOM = b"\xef\xbb\xbf"
# The shell becomes the command, so what is seen of the process is seen of the hook.
_NOTHING, _CLOSED = 'exec "$@" </dev/null', 'exec "$@" <&-'


def deliver(launch: ProcessSpec, way: Delivery) -> ProcessSpec:
    """
    A launch whose standard input is written in a given way.
    """
    data = _formed(_grown(launch.stdin.data, way.size), way.shape)
    stdin = replace(launch.stdin, data=data, close=way.close, chunk=way.chunk, delay=way.delay)
    return _connected(replace(launch, stdin=stdin), way.kind)


def _connected(launch: ProcessSpec, kind: Inlet) -> ProcessSpec:
    match kind:
        case "":
            return launch
        case "socket" | "pipe":
            return replace(launch, stdin=replace(launch.stdin, stdio=Stdio(kind)))
        case "pty":
            return replace(launch, stdin=replace(launch.stdin, stdio=Stdio.TTY))
        case "null" | "closed":
            redirected = _NOTHING if kind == "null" else _CLOSED
            argv = ("/bin/sh", "-c", redirected, "host", *launch.argv)
            return replace(launch, argv=argv, stdin=replace(launch.stdin, data=b""))
        case _:
            assert_never(kind)


def _formed(data: bytes, shape: Form) -> bytes:
    match shape:
        case "whole":
            return data
        case "empty":
            return b""
        case "partial-line":
            return data.rstrip(b"\n")
        case "partial-json":
            return data[: len(data) // 2]
        case "bom":
            return _BOM + data
        case _:
            assert_never(shape)


def _grown(data: bytes, size: int) -> bytes:
    missing = size - len(data)
    head, brace, end = data.rpartition(b"}")
    if missing <= 0 or not brace:
        return data
    filling = b',"a_key_that_nobody_knows":"%s"' % (b"x" * missing)
    return head + filling + brace + end


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# One byte, at the end of a file or in a new one.
_WRITES = """
file=$1; [ -d "$1" ] && file=$1/.probe
printf x >>"$file"; status=$?
[ "$file" = "$1" ] || rm -f "$file"
exit $status
"""
# A script that asks for no shell in particular.
_PLAIN = re.compile(rb"#!\s*(\S*/)?(env\s+)?sh(\s|$)")
_FIRST_LINE = 256
# Hooks of one event begin together, and one may remove the folder before the other has entered it.
_REMOVED = 'until mkdir -p "$1" && cd "$1"; do :; done 2>/dev/null; rmdir "$1"; shift; exec "$@"'
# A parent that ends as the command did. A shell cannot be one: it tells a kill as an exit code, and says more
# on standard error. Python brings a variable of its own where there is no locale.
_PARENT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
unset, *words = sys.argv[1:]
env = {name: value for name, value in os.environb.items() if os.fsdecode(name) != unset}
try:
    number = os.posix_spawnp(words[0], words, env, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
except OSError as problem:
    sys.exit(f"{words[0]}: {problem.strerror}")
code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
if code < 0:
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class LaunchPlace(Protocol):
    """
    Where hooks run.
    """

    tier: Tier

    def run(self, launches: Sequence[ProcessSpec], /) -> Sequence[ProcessResult]:
        """
        Start all launches at once and return their runs in the same order.
        """
        ...


def check_disks(scenario: Scenario, locate: Callable[[str], Path], place: LaunchPlace) -> None:
    """
    Prove that nobody can write where a scenario says so.

    Args:
        scenario: The scenario.
        locate: Gives the place of a state path.
        place: Where hooks run.

    Raises:
        SimulationError: Somebody can, or the tier cannot do that.
    """
    paths = [str(locate(path)) for path in (*scenario.readonly, *scenario.full)]
    if not paths:
        return
    if place.tier is not Tier.NAMESPACES:
        raise SimulationError(
            f"readonly, full: the tier {place.tier.value!r} cannot do that; it takes namespaces of the kernel"
        )
    env = {"PATH": os.defpath}
    tries = [ProcessSpec(argv=("/bin/sh", "-c", _WRITES, "probe", path), cwd="/", env=env) for path in paths]
    for path, tried in zip(paths, place.run(tries), strict=True):
        if tried.ending == Exited(0):
            raise SimulationError(f"readonly, full: {path} can be written to all the same")


def shaped(payload: Payload, rule: hosts.EventRule, scenario: Scenario, root: Path) -> Payload:
    """
    The input of hooks in the shape that a scenario wants.
    """
    if scenario.cwd is not None and (name := name_of(rule, "cwd")) in payload:
        payload = {**payload, name: str(root / scenario.cwd.path)}
    return payload if scenario.payload is None else hosts.shape(payload, scenario.payload)


def has_company(scenario: Scenario, rule: hosts.EventRule, payload: Payload) -> bool:
    """
    Whether somebody else sends an event too; of agents of one session, each makes tool calls of its own.
    """
    if scenario.company == "agent":
        return bool(value_of(rule, payload, "tool_name"))
    return bool(scenario.company)


def as_sent_by_another(
    profile: hosts.Profile, facts: hosts.Facts, company: str, event: str, payload: Payload
) -> tuple[hosts.Facts, Payload]:
    """
    The facts of another session in the workspace, or of another agent of the same one, and its input.
    """
    if company == "agent":
        sent = hosts.as_agent(profile, facts, event, payload)
        path = str(sent.get("transcript_path", facts.transcript_path))
        return replace(facts, transcript_path=path), sent
    other = derive_uuid(facts.seed, "another session")
    path = facts.transcript_path.replace(facts.session_id, other).replace(facts.session_id[:8], other[:8])
    companion = replace(facts, session_id=other, transcript_path=path)
    return companion, _as_session(companion, facts, payload)


def _as_session(other: hosts.Facts, own: hosts.Facts, payload: Payload) -> Payload:
    words = [(own.transcript_path, other.transcript_path), (own.session_id, other.session_id)]
    return {key: _renamed(value, [pair for pair in words if all(pair)]) for key, value in payload.items()}


def _renamed(value: Json, words: Sequence[tuple[str, str]]) -> Json:
    match value:
        case str():
            for old, new in words:
                value = value.replace(old, new)
            return value
        case Mapping():
            return {key: _renamed(item, words) for key, item in value.items()}
        case list() | tuple():
            return [_renamed(item, words) for item in value]
        case _:
            return value


def changed(launch: ProcessSpec, hook: Hook, scenario: Scenario, root: Path) -> ProcessSpec:
    """
    A launch of a hook as a scenario wants it.
    """
    if scenario.unset:
        env = {name: value for name, value in launch.env.items() if name not in scenario.unset}
        launch = replace(launch, env=env)
    if scenario.shell and hook.args is None:
        launch = replace(launch, argv=_by_shell(scenario.shell, hook.command, launch))
    if scenario.stdin is not None:
        launch = deliver(launch, scenario.stdin.of(hook.event))
    if scenario.cwd is not None:
        launch = _started_in(scenario.cwd, root, launch)
    if scenario.relaunched:
        launch = _with_parent(launch)
    return replace(launch, terminal=scenario.terminal)


def _started_in(folder: WorkingFolder, root: Path, launch: ProcessSpec) -> ProcessSpec:
    path = str(root / folder.path)
    if not folder.removed:
        return replace(launch, cwd=path)
    return replace(launch, argv=("/bin/sh", "-c", _REMOVED, "host", path, *launch.argv))


def _with_parent(launch: ProcessSpec) -> ProcessSpec:
    unset = "" if "LC_CTYPE" in launch.env else "LC_CTYPE"
    return replace(launch, argv=(sys.executable, "-I", "-S", "-B", "-c", _PARENT, unset, *launch.argv))


def _by_shell(shell: str, command: str, launch: ProcessSpec) -> tuple[str, ...]:
    plain = f"{shell} {command}" if _asks_for_any(command, launch) else command
    return (*shlex.split(shell), "-c", plain)


def _asks_for_any(command: str, launch: ProcessSpec) -> bool:
    """
    Whether a command line begins with a script whose first line names ``sh`` alone.
    """
    word = named_script(command, launch.env)
    try:
        with Path(launch.cwd, word).open("rb") as file:
            return _PLAIN.match(file.read(_FIRST_LINE)) is not None
    except (OSError, ValueError):
        return False


def named_script(command: str, env: Mapping[str, str]) -> str:
    """
    The first word of a command line, with its variables filled in.
    """
    filled = _VARIABLE.sub(lambda found: env.get(found[1] or found[2], ""), command)
    try:
        return next(iter(shlex.split(filled)), "")
    except ValueError:
        return ""


def ordered(configuration: hosts.Configuration, scenario: Scenario) -> hosts.Configuration:
    """
    The hooks in the order that a scenario wants.

    Raises:
        SimulationError: An order is not one of the hooks that the event has.
    """
    hooks = [*configuration.hooks]
    for event, places in scenario.order.items():
        own = [place for place, hook in enumerate(hooks) if hook.event == event]
        if sorted(places) != [*range(1, len(own) + 1)]:
            raise SimulationError(
                f"order.{event}: {[*places]} is no order of its {counted(len(own), 'hook')}; "
                f"name each of 1 to {len(own)} once"
            )
        moved = [hooks[own[place - 1]] for place in places]
        for place, hook in zip(own, moved, strict=True):
            hooks[place] = hook
    return replace(configuration, hooks=tuple(hooks)) if scenario.order else configuration


def run_in_turn(
    run: Callable[[Sequence[ProcessSpec], float], tuple[ProcessResult, ...]],
    launches: Sequence[ProcessSpec],
    budget: float,
) -> tuple[ProcessResult, ...]:
    """
    Fires one after the other that would begin together, each as if it had begun when the one before ended.
    """
    runs: list[ProcessResult] = []
    after = 0.0
    for launch in launches:
        (done,) = run([launch], max(0.0, budget - after))
        runs.append(replace(done, started=done.started + after))
        after += done.wall
    return tuple(runs)
