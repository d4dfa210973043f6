"""
``hookharness record``: record the payloads of hooks while a real agent works.

Meanwhile the settings files run each hook through `payload_recorder`. `guardian` restores them byte for byte.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.discovery import find_hook_sets, links_out
from pytest_hookharness.execution.user_files import ChangedMeanwhile, create_file, replace_file
from pytest_hookharness.frontends.cli.guardian import (
    ATTEMPTS,
    OURS,
    RECORDER,
    Guarded,
    GuardError,
    WrappedSettings,
    journals,
    restore,
)
from pytest_hookharness.frontends.option_types import make_folder
from pytest_hookharness.hosts.replies.json_parser import dig
from pytest_hookharness.hosts.rules.settings import ConfigRules
from pytest_hookharness.hosts.settings.formats import command_keys, replace_commands
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

FOLDER = "hook-recordings"
_DESCRIPTION = (
    "Runs the hooks of a project through a recorder until Ctrl-C, and writes the payload of each hook run, "
    "without secrets, into a JSON file. Then the settings are restored byte for byte, also after a crash. "
    "Start the agent when you are told to. Tests read the files with the fixture `hook_recordings`, "
    "scenarios with the act `recording`."
)
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Hosts that switch a hook off, without a message, when its entry in the settings changes.
_TRUST = {
    "codex": "Codex trusts a hook by a hash of its entry in the settings, so a recorded hook would be "
    "switched off without a message, and commands that it refuses would run. Let the command start Codex: "
    "`hookharness record --start codex` changes no settings",
}
_NONE_CAME = (
    "warning: no payload came. Was the agent started after `start the agent now`, in this project, and did "
    "it reach a hook? Some hosts ask before they run new or changed hooks"
)
_NOTHING = "{path}: none of its hooks is a shell command in a JSON file, so nothing can be recorded"


def declare_record(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness record``."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "path", metavar="PATH", nargs="?", type=Path, default=Path(), help="a project or a settings file (.)"
    )
    parser.add_argument("--host", default="", help="only the hooks of this host")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help=f"folder of the recordings ({FOLDER} in PATH)"
    )
    parser.add_argument(
        "--restore", action="store_true", help="only restore the settings, after a crash of the machine"
    )
    parser.add_argument(
        "--start",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="start this agent and change no settings; for hosts that run hooks with bash, such as Codex",
    )
    parser.set_defaults(call=_call)


def _call(arguments: argparse.Namespace) -> int:
    """Record until Ctrl-C, then restore everything."""
    path: Path = arguments.path
    if arguments.restore:
        return _restore_all(path, arguments.host)
    given: Path | None = arguments.output
    folder = (given or (path if path.is_dir() else path.parent) / FOLDER).resolve()
    if arguments.start is not None:
        return _start(path, arguments.host, folder, arguments.start)
    plan(path, arguments.host, folder)
    make_folder(str(folder), "--output", below=Path.cwd(), mode=0o700)
    if line := _ignore(folder):
        print(line, flush=True)
    # Blocked and taken with `sigwait`: no signal interrupts this while only some files are changed.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        return _record(path, arguments.host, folder)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)


def _start(path: Path, host: str, folder: Path, words: list[str]) -> int:
    """Run the agent, record until it ends, and return its exit code."""
    from pytest_hookharness.frontends.cli.started_agent import find_commands, run_agent

    if not words:
        raise SimulationError("--start: name the agent's command line after it, as in `--start codex`")
    commands, others = find_commands(path, host)
    make_folder(str(folder), "--output", below=Path.cwd(), mode=0o700)
    lines = [_ignore(folder), *(f"not recorded: {line}" for line in others)]
    print(*filter(None, lines), f"recording: {counted(len(commands), 'command')}", sep="\n", flush=True)
    before = {*folder.glob("*.json")}
    code = run_agent(words, commands, folder)
    number = len({*folder.glob("*.json")} - before)
    print(f"{counted(number, 'payload')} in {folder}; no settings were changed")
    if not number:
        print("warning: no payload came. Did the agent reach a hook, and does it trust the hooks here?")
    return code


def _ignore(folder: Path) -> str:
    """Have git ignore a new folder of recordings; return a warning if the folder has other files."""
    ignored = folder / ".gitignore"
    if ignored.exists():
        return ""
    if any(folder.iterdir()):
        return f"{folder}: has other files, so git is not made to ignore it; do not commit the recordings"
    create_file(ignored, "*\n")
    return ""


def _record(path: Path, host: str, folder: Path) -> int:
    before = {*folder.glob("*.json")}
    # Held open, because a new folder of the same name is another one.
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    files, guarded = begin(path, host, folder)
    try:
        for line in (*links_out(path, host), *_trusted(path, host)):
            print(f"not recorded: {line}", flush=True)
        for wrapped in files:
            print(f"recording: {wrapped.file}, {len(wrapped.commands)} hooks", flush=True)
        print("start the agent now; Ctrl-C ends this and restores the settings", flush=True)
        signal.sigwait(_ENDS)
    finally:
        restored = guarded.end()
    said = [*restored.lines]
    if not os.fstat(held).st_nlink:
        said.append(f"{folder}: was removed meanwhile, with the payloads that were in it until then")
    os.close(held)
    number = len({*folder.glob("*.json")} - before)
    said.append(f"{counted(number, 'payload')} in {folder}")
    if not restored.lines:
        said[-1] += "; the settings are restored"
    if not number:
        said.append(_NONE_CAME)
    print(*said, sep="\n")
    return 2 if restored.left else 0


def begin(path: Path, host: str, folder: Path) -> tuple[tuple[WrappedSettings, ...], Guarded]:
    """
    Wrap the hooks in settings files; return the files and what restores them.

    Raises:
        SimulationError: No hook can be recorded, or the settings cannot be guarded.
    """
    for _ in range(ATTEMPTS):
        files = plan(path, host, folder)
        try:
            return files, Guarded(files)
        except ChangedMeanwhile:
            continue
        except (OSError, GuardError) as error:
            raise SimulationError(f"nothing was changed: {error}") from error
    raise SimulationError(f"{path}: another program changes its settings again and again; end it first")


def plan(path: Path, host: str, folder: Path) -> tuple[WrappedSettings, ...]:
    """
    Return the settings files with hooks to record, and their wrapped contents.

    Raises:
        SimulationError: No hook can be recorded.
    """
    found: dict[tuple[int, int], WrappedSettings] = {}
    for hook_set in find_hook_sets(path, host):
        if hook_set.host.partition("@")[0] in _TRUST:
            continue
        trusted = _trusted_files(hook_set.root)
        for named, keys, commands in _commands(hook_set, folder):
            file = named.resolve()
            # Two names may lead to one file.
            identity = _identity(file)
            if also := trusted.get(identity):
                name, why = also
                raise SimulationError(f"nothing was changed: {named} and {name} are one file, and {why}")
            known = found.get(identity)
            before = known.before if known else file.read_bytes()
            text, number = _replaced(file, known.meanwhile if known else before, keys, commands)
            if number and not os.access(file.parent, os.W_OK):
                raise SimulationError(f"{file.parent} cannot be written; record in a copy of the project")
            if number:
                wrapped = {**(known.commands if known else {}), **{new: old for old, new in commands.items()}}
                every = keys | known.keys if known else keys
                found[identity] = WrappedSettings(named, file, before, text, every, wrapped)
    if not found:
        for line in _trusted(path, host):
            raise SimulationError(f"nothing can be recorded, and nothing was changed: {line}")
        raise SimulationError(_NOTHING.format(path=path))
    return tuple(found.values())


def _identity(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino


def _trusted_files(root: Path) -> dict[tuple[int, int], tuple[Path, str]]:
    """Return the settings files of a project that must not change, with the reason."""
    found: dict[tuple[int, int], tuple[Path, str]] = {}
    for host, why in _TRUST.items():
        with contextlib.suppress(SimulationError):
            for hook_set in find_hook_sets(root, host):
                found |= {_identity(root / file): (root / file, why) for file in hook_set.files}
    return found


def _trusted(path: Path, host: str) -> Iterator[str]:
    """Yield why hooks are not recorded whose host would notice it."""
    for hook_set in find_hook_sets(path, host):
        name = hook_set.host.partition("@")[0]
        if name in _TRUST:
            yield f"{', '.join(str(hook_set.root / file) for file in hook_set.files)}: {_TRUST[name]}"


def _commands(hook_set: HookSet, folder: Path) -> Iterator[tuple[Path, frozenset[str], dict[str, str]]]:
    """Yield each settings file with the keys of its commands and the wrapped command for each command."""
    if any(OURS in hook.command for hook in hook_set.hooks):
        raise SimulationError(
            f"{hook_set.root}: its hooks are being recorded already; end that with Ctrl-C, or call it with "
            "--restore"
        )
    profile = hosts.find(hook_set.host)
    off = _turned_off(hook_set, profile.config)
    commands = {
        hook.command: shlex.join(
            [sys.executable, "-P", str(RECORDER), str(folder), *profile.process.shell, hook.command]
        )
        for hook in hook_set.hooks
        if hook.type == "command" and hook.command and hook.args is None and hook.command not in off
    }
    for name in hook_set.files:
        yield hook_set.root / name, command_keys(profile.config), commands


def _turned_off(hook_set: HookSet, rules: ConfigRules) -> frozenset[str]:
    """Return the commands by which a person turned hooks off: with another command, they would run."""
    names = (path.removeprefix("home/") for path in rules.paths if path.startswith("home/"))
    places = (*(hook_set.root / name for name in hook_set.files), *(Path.home() / name for name in names))
    found: set[str] = set()
    for place in places if rules.turned_off else ():
        with contextlib.suppress(OSError, ValueError):
            value = dig(rules.parse(place.read_text(encoding="utf-8")), rules.turned_off)
            found |= {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()
    return frozenset(found)


def _replaced(file: Path, data: bytes, keys: frozenset[str], commands: dict[str, str]) -> tuple[bytes, int]:
    try:
        text, number = replace_commands(data.decode("utf-8"), keys, commands)
    except UnicodeDecodeError as error:
        raise SimulationError(f"{file}: is not UTF-8: {error}") from error
    return text.encode(), number


def _restore_all(path: Path, host: str) -> int:
    """Restore the settings of a project from the journals of this user, or else from the wrapped commands."""
    whole = path.resolve()
    lines: list[str] = []
    status = 0
    for journal, files in journals():
        if any(each.is_relative_to(whole) for one in files for each in (one.named, one.file)):
            restored = restore(files, journal)
            lines += restored.lines or [f"{wrapped.file}: is restored" for wrapped in files]
            status = 2 if restored.left else status
    if not status:
        lines += _unwrap(path, host, known=bool(lines))
    print(*lines, sep="\n")
    return status


def _unwrap(path: Path, host: str, *, known: bool) -> Iterator[str]:
    """Restore hooks without a journal, as in a moved project: a wrapped command ends with its original."""
    try:
        hook_sets = find_hook_sets(path, host)
    except SimulationError:
        if not known:
            raise
        return
    for hook_set in hook_sets:
        try:
            wrapped = [hook.command for hook in hook_set.hooks if OURS in hook.command]
            commands = {command: shlex.split(command)[-1] for command in wrapped}
        except ValueError as error:
            raise SimulationError(
                f"{hook_set.root}: a hook runs {RECORDER.name} and cannot be read ({error}); edit it by hand"
            ) from error
        for name in hook_set.files if commands else ():
            known, file = True, hook_set.root / name
            before = file.read_bytes()
            after, number = _replaced(file, before, command_keys(hosts.find(hook_set.host).config), commands)
            if number:
                replace_file(file, before, after)
                yield f"{file}: no journal names it; its hooks are restored from their wrapped commands"
    if not known:
        yield f"{path}: nothing has to be restored"
