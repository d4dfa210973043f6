"""Launch overrides: how a scenario changes the way in which its host starts hooks."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, assert_never

from pytest_hookharness import hosts
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.hosts.hook_input.stdin import key_of, value_in
from pytest_hookharness.hosts.session_state.facts import derive_uuid
from pytest_hookharness.model.delivery import Delivery, Form, Inlet
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.mutations import WorkingFolder
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Stdio, Tier
from pytest_hookharness.model.protocol import Hook, Payload, fill_variables, map_texts
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_BOM = b"\xef\xbb\xbf"
# `exec`: the shell becomes the hook, so its process number and end are those of the hook.
_FROM_NULL, _CLOSED = 'exec "$@" </dev/null', 'exec "$@" <&-'


def confinement_of(
    scenario: Scenario, workspace: Workspace, tier: Tier | None, visible: tuple[str, ...]
) -> Confinement:
    """Return what the hooks of a scenario may reach; ``visible`` they see at its own place."""
    return Confinement(
        tier=tier,
        network=scenario.network,
        private=workspace.private,
        visible=visible,
        writable=workspace.writable,
        outside=str(workspace.outside),
        readonly=tuple(str(workspace.locate(path)) for path in scenario.readonly),
        full=tuple(str(workspace.locate(path)) for path in scenario.full),
    )


def deliver(launch: ProcessSpec, delivery: Delivery) -> ProcessSpec:
    """Return a launch whose standard input is delivered in a given way."""
    data = _shape(_pad(launch.stdin.data, delivery.size), delivery.shape)
    stdin = replace(launch.stdin, data=data, close=delivery.close, chunk=delivery.chunk, delay=delivery.delay)
    return _connect(replace(launch, stdin=stdin), delivery.kind)


def _connect(launch: ProcessSpec, kind: Inlet) -> ProcessSpec:
    match kind:
        case "":
            return launch
        case "socket" | "pipe":
            return replace(launch, stdin=replace(launch.stdin, stdio=Stdio(kind)))
        case "pty":
            return replace(launch, stdin=replace(launch.stdin, stdio=Stdio.TTY))
        case "null" | "closed":
            redirected = _FROM_NULL if kind == "null" else _CLOSED
            argv = ("/bin/sh", "-c", redirected, "host", *launch.argv)
            return replace(launch, argv=argv, stdin=replace(launch.stdin, data=b""))
        case _:
            assert_never(kind)


def _shape(data: bytes, shape: Form) -> bytes:
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


def _pad(data: bytes, size: int) -> bytes:
    missing = size - len(data)
    head, brace, end = data.rpartition(b"}")
    if missing <= 0 or not brace:
        return data
    filling = b',"a_key_that_nobody_knows":"%s"' % (b"x" * missing)
    return head + filling + brace + end


# Tries to write one byte, at the end of a file or in a new one.
_TRY_TO_WRITE = """
file=$1; [ -d "$1" ] && file=$1/.probe
printf x >>"$file"; status=$?
[ "$file" = "$1" ] || rm -f "$file"
exit $status
"""
# The first line of a script that asks for no shell in particular, or for any bash; then its options.
_ANY_SHELL = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+)?sh(?:[ \t]+([^\r\n]*))?(?:\s|$)")
_ANY_BASH = re.compile(_ANY_SHELL.pattern.replace(b"sh(", b"(?:ba)?sh(", 1))
_FIRST_LINE = 256
# Starts a hook in a folder that is removed. Hooks of one event begin together, and one may remove the folder
# before another has entered it; hence the loop, which ends after 100 tries.
_IN_REMOVED_FOLDER = """
tries=0
until mkdir -p "$1" && cd "$1"; do
    tries=$((tries + 1))
    if [ $tries = 100 ]; then
        echo "Cannot create the folder that the scenario removes: $1" >&3
        exit 126
    fi
done 3>&2 2>/dev/null
rmdir "$1"; shift; exec "$@"
"""
# A parent process that ends as the hook did. A shell cannot do this: it turns a signal into an exit code and
# writes to standard error. Python sets LC_CTYPE where there is no locale, so the hook gets it unset.
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
    """A sandbox in which hooks run."""

    tier: Tier

    def run(self, launches: Sequence[ProcessSpec], /) -> Sequence[ProcessResult]:
        """Start all launches at once and return their results in the same order."""
        ...


def check_disks(scenario: Scenario, locate: Callable[[str], Path], place: LaunchPlace) -> None:
    """
    Check by trying that the `readonly` and `full` folders of a scenario cannot be written to.

    Raises:
        SimulationError: They can be written to, or the tier does not support these keys.
    """
    paths = [str(locate(path)) for path in (*scenario.readonly, *scenario.full)]
    if not paths:
        return
    if place.tier is not Tier.NAMESPACES:
        raise SimulationError(
            f"readonly, full: need kernel namespaces; the tier here is {place.tier.value!r}"
        )
    env = {"PATH": os.defpath}
    tries = [
        ProcessSpec(argv=("/bin/sh", "-c", _TRY_TO_WRITE, "probe", path), cwd="/", env=env) for path in paths
    ]
    for path, tried in zip(paths, place.run(tries), strict=True):
        if tried.ending == Exited(0):
            raise SimulationError(f"readonly, full: {path} can still be written to")


def override_payload(payload: Payload, rule: hosts.EventRule, scenario: Scenario, root: Path) -> Payload:
    """Return the input of hooks as a scenario changes it."""
    if scenario.cwd is not None and (name := key_of(rule, "cwd")) in payload:
        payload = {**payload, name: str(root / scenario.cwd.path)}
    return payload if scenario.payload is None else hosts.shape(payload, scenario.payload)


def is_sent_twice(scenario: Scenario, rule: hosts.EventRule, payload: Payload) -> bool:
    """Return whether another session or agent sends an event too; an agent only sends those of calls."""
    if scenario.company == "agent":
        return bool(value_in(rule, payload, "tool_name"))
    return bool(scenario.company)


def as_sent_by_another(
    profile: hosts.Profile, facts: hosts.Facts, company: str, event: str, payload: Payload
) -> tuple[hosts.Facts, Payload]:
    """Return the facts of another session, or agent of this session, and the input that it sends."""
    if company == "agent":
        sent = hosts.payload_of_subagent(profile, facts, event, payload)
        path = str(sent.get("transcript_path", facts.transcript_path))
        return replace(facts, transcript_path=path), sent
    other = derive_uuid(facts.seed, "another session")
    path = facts.transcript_path.replace(facts.session_id, other).replace(facts.session_id[:8], other[:8])
    companion = replace(facts, session_id=other, transcript_path=path)
    return companion, _as_session(companion, facts, payload)


def _as_session(other: hosts.Facts, own: hosts.Facts, payload: Payload) -> Payload:
    words = ((own.transcript_path, other.transcript_path), (own.session_id, other.session_id))

    def renamed(text: str) -> str:
        for old, new in words:
            text = text.replace(old, new) if old and new else text
        return text

    return {key: map_texts(value, renamed) for key, value in payload.items()}


def override_launch(launch: ProcessSpec, hook: Hook, scenario: Scenario, root: Path) -> ProcessSpec:
    """Return a launch of a hook as a scenario changes it."""
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
    return launch if scenario.terminal is None else replace(launch, terminal=scenario.terminal)


def _started_in(folder: WorkingFolder, root: Path, launch: ProcessSpec) -> ProcessSpec:
    path = str(root / folder.path)
    if not folder.removed:
        return replace(launch, cwd=path)
    return replace(launch, argv=("/bin/sh", "-c", _IN_REMOVED_FOLDER, "host", path, *launch.argv))


def _with_parent(launch: ProcessSpec) -> ProcessSpec:
    unset = "" if "LC_CTYPE" in launch.env else "LC_CTYPE"
    return replace(launch, argv=(sys.executable, "-I", "-S", "-B", "-c", _PARENT, unset, *launch.argv))


def _by_shell(shell: str, command: str, launch: ProcessSpec) -> tuple[str, ...]:
    words = shlex.split(shell)
    # In POSIX mode it is no bash that such a script asks for.
    any_of = _ANY_BASH if [posixpath.basename(word) for word in words] == ["bash"] else _ANY_SHELL
    options = _options_for(any_of, command, launch)
    asked = [] if options is None else [shell, options]
    return (*words, "-c", " ".join(filter(None, [*asked, command])))


def _options_for(shell: re.Pattern[bytes], command: str, launch: ProcessSpec) -> str | None:
    """
    Return the options for the shell of the script that a command line begins with.

    ``None`` if the first line of that asks for another shell, or if it begins with no script.
    """
    word = named_script(command, launch.env)
    try:
        with Path(launch.cwd, word).open("rb") as file:
            first = shell.match(file.read(_FIRST_LINE))
    except (OSError, ValueError):
        return None
    return None if first is None else os.fsdecode(first[1] or b"")


def named_script(command: str, env: Mapping[str, str]) -> str:
    """Return the first word of a command line, with its variables expanded."""
    try:
        return next(iter(shlex.split(fill_variables(command, env))), "")
    except ValueError:
        return ""


def ordered(configuration: hosts.Configuration, scenario: Scenario) -> hosts.Configuration:
    """Return the hooks in the order of a scenario; raise ``SimulationError`` if it lacks a hook."""
    hooks = [*configuration.hooks]
    for event, places in scenario.order.items():
        own = [place for place, hook in enumerate(hooks) if hook.event == event]
        if sorted(places) != [*range(1, len(own) + 1)]:
            raise SimulationError(
                f"order.{event}: got {[*places]} for {counted(len(own), 'hook')}; "
                f"name each of 1 to {len(own)} once"
            )
        moved = [hooks[own[place - 1]] for place in places]
        for place, hook in zip(own, moved, strict=True):
            hooks[place] = hook
    return replace(configuration, hooks=tuple(hooks)) if scenario.order else configuration


def run_in_turn(
    run: Callable[[Sequence[ProcessSpec], float], tuple[ProcessResult, ...]],
    ended: Callable[[int, ProcessResult], None],
    launches: Sequence[ProcessSpec],
    budget: float,
) -> tuple[ProcessResult, ...]:
    """
    Run hooks one after the other that would begin together; each seems to begin when the one before ended.

    After each of them, ``ended`` is called with its place and its result.
    """
    runs: list[ProcessResult] = []
    after = 0.0
    for place, launch in enumerate(launches):
        (done,) = run([launch], max(0.0, budget - after))
        ended(place, done)
        runs.append(replace(done, started=done.started + after))
        after += done.wall
    return tuple(runs)
