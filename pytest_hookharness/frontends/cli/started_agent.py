"""
Recording without a change of any settings: the agent is started with a file that bash reads before a command.

Codex trusts a hook by a hash of its entry in the settings, and runs it as ``bash -c COMMAND`` if bash is the
login shell (0.169.0, observed). Bash then first reads the file that ``BASH_ENV`` names. For the command of a
hook this file puts the recorder in between. For any other command it does nothing, and no command sees it.
"""

from __future__ import annotations

import os
import pwd
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.frontends.cli.guardian import RECORDER
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_VARIABLE = "BASH_ENV"


def other_shell(hook_set: HookSet) -> str:
    """Return the shell that runs the hooks of a host, if it reads no such file; empty for bash."""
    shell = hosts.find(hook_set.host).process.shell[0]
    if hook_set.host.partition("@")[0] == "codex":
        # Whatever SHELL says.
        shell = pwd.getpwuid(os.getuid()).pw_shell or shell
    return "" if PurePath(shell).name == "bash" else shell


def find_commands(path: Path, host: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """
    Return the commands that can be recorded, and a sentence about each host whose hooks cannot.

    Raises:
        SimulationError: None can be recorded.
    """
    found: set[str] = set()
    others: list[str] = []
    for hook_set in find_hook_sets(path, host):
        files = ", ".join(str(hook_set.root / file) for file in hook_set.files)
        shell = other_shell(hook_set)
        commands = {hook.command for hook in hook_set.hooks if hook.type == "command" and hook.args is None}
        found |= set() if shell else commands - {""}
        if shell:
            others.append(f"{files}: the host runs these hooks with {shell}, and --start needs bash")
    if not found:
        why = "; ".join(others) or f"{path}: none of its hooks is a shell command"
        raise SimulationError(f"nothing can be recorded, and nothing was started: {why}")
    return frozenset(found), tuple(others)


def run_agent(words: Sequence[str], commands: frozenset[str], folder: Path) -> int:
    """
    Run an agent to its end and record hooks with these commands; return its exit code.

    Raises:
        SimulationError: The agent cannot be started.
    """
    with TemporaryDirectory(prefix="hookharness-record-") as scratch:
        file = Path(scratch, "bash_env")
        file.write_text("\n".join([*_lines(commands, folder), ""]))
        try:
            process = subprocess.Popen(words, env={**os.environ, _VARIABLE: str(file)})
        except OSError as error:
            raise SimulationError(f"{words[0]}: cannot be started: {error.strerror}") from error
        # Ctrl-C reaches the agent as well, and it may use it for something else than to end.
        signal.signal(signal.SIGINT, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda received, _: process.send_signal(received))
        return process.wait()


def _lines(commands: frozenset[str], folder: Path) -> Iterator[str]:
    before = os.environ.get(_VARIABLE)
    restored = f"export {_VARIABLE}={shlex.quote(before)}" if before else f"unset {_VARIABLE}"
    recorder = shlex.join([sys.executable, "-P", str(RECORDER), str(folder)])
    yield restored
    yield 'case "$BASH_EXECUTION_STRING" in'
    patterns = "|".join(shlex.quote(command) for command in sorted(commands))
    yield f'{patterns}) exec {recorder} "$BASH" -c "$BASH_EXECUTION_STRING" ;;'
    yield "esac"
    if before:
        yield f'[ ! -r "${_VARIABLE}" ] || . "${_VARIABLE}"'
