"""
``hookharness record``: record the payloads of hooks while a real agent works.

Meanwhile the settings files run each hook through `payload_recorder`. Their contents are saved before they
are changed, and restored byte for byte: at the end, by a guardian process if this one dies, or with
``--restore`` after a crash of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.frontends.option_types import make_folder
from pytest_hookharness.frontends.output.files import replace_file
from pytest_hookharness.hosts.settings.formats import command_keys, replace_commands
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

RECORDER = Path(__file__).with_name("payload_recorder.py")
# Part of every wrapped command, whichever installation wrapped it.
_OURS = f"{RECORDER.parent.name}/{RECORDER.name}"
FOLDER = "hook-recordings"
_DESCRIPTION = (
    "Runs the hooks of a project through a recorder until Ctrl-C, and writes the payload of each hook run, "
    "without secrets, into a JSON file. Then the settings are restored byte for byte, also after a crash. "
    "Start the agent when you are told to. docs/how-to/record-real-payloads.md explains how to use the files."
)
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_JOURNAL = "restore.json"
_NOTHING = "{path}: none of its hooks is a shell command in a JSON file, so nothing can be recorded"


@dataclass(frozen=True, slots=True)
class WrappedSettings:
    """
    One settings file whose commands are wrapped while hooks are recorded.

    Attributes:
        file: The file, with links followed.
        before: Its contents before.
        meanwhile: Its contents while hooks are recorded.
        keys: The keys of its commands.
        commands: The wrapped commands, each with the original.
    """

    file: Path
    before: bytes
    meanwhile: bytes
    keys: frozenset[str]
    commands: Mapping[str, str]


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
    parser.set_defaults(call=_call)


def _call(arguments: argparse.Namespace) -> int:
    """Record until Ctrl-C, then restore everything."""
    folder = _folder(arguments)
    if arguments.restore:
        _confine(folder, arguments.path.resolve())
        return _report(restore(folder), folder)
    if (folder / _JOURNAL).exists():
        raise SimulationError(f"{folder} has settings that were not restored; call it with --restore first")
    files = plan(arguments.path, arguments.host, folder)
    make_folder(str(folder), "--output", below=Path.cwd(), mode=0o700)
    before = len(list(folder.glob("*.json")))
    # Blocked and taken with `sigwait`: no signal interrupts this while only some files are changed.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    with Guarded(files, folder):
        for wrapped in files:
            print(f"recording: {wrapped.file}, {len(wrapped.commands)} hooks", flush=True)
        print("start the agent now; Ctrl-C ends this and restores the settings", flush=True)
        signal.sigwait(_ENDS)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    if (folder / _JOURNAL).exists():
        return 2
    number = len(list(folder.glob("*.json"))) - before
    print(f"{counted(number, 'payload')} in {folder}; the settings are restored")
    return 0


def _confine(folder: Path, whole: Path) -> None:
    """
    Check that a journal names only files of the project: it may have come with a project from elsewhere.

    Raises:
        SimulationError: It names another file.
    """
    for entry in _journal(folder):
        file = Path(str(entry["file"])).resolve()
        if not file.is_relative_to(whole):
            raise SimulationError(
                f"{folder / _JOURNAL}: names {file}, which is not in {whole}; nothing was changed. "
                "Call it with the PATH that was recorded"
            )


def _report(lines: Sequence[str], folder: Path) -> int:
    for line in lines:
        print(line)
    return 2 if (folder / _JOURNAL).exists() else 0


def _folder(arguments: argparse.Namespace) -> Path:
    given: Path | None = arguments.output
    path: Path = arguments.path
    return (given or (path if path.is_dir() else path.parent) / FOLDER).resolve()


def plan(path: Path, host: str, folder: Path) -> tuple[WrappedSettings, ...]:
    """
    Return the settings files with hooks to record, and their wrapped contents.

    Raises:
        SimulationError: No hook can be recorded.
    """
    found = tuple(wrapped for hook_set in find_hook_sets(path, host) for wrapped in _wrap(hook_set, folder))
    if not found:
        raise SimulationError(_NOTHING.format(path=path))
    return found


def _wrap(hook_set: HookSet, folder: Path) -> Iterator[WrappedSettings]:
    if any(_OURS in hook.command for hook in hook_set.hooks):
        raise SimulationError(
            f"{hook_set.root}: its hooks are being recorded already; end that with Ctrl-C, or call it with "
            "--restore and the same --output"
        )
    profile = hosts.find(hook_set.host)
    keys = command_keys(profile.config)
    commands = {
        hook.command: shlex.join(
            [sys.executable, "-P", str(RECORDER), str(folder), *profile.process.shell, hook.command]
        )
        for hook in hook_set.hooks
        if hook.type == "command" and hook.command and hook.args is None
    }
    for name in hook_set.files:
        file = (hook_set.root / name).resolve()
        before = file.read_bytes()
        try:
            text, number = replace_commands(before.decode("utf-8"), keys, commands)
        except UnicodeDecodeError as error:
            raise SimulationError(f"{file}: is not UTF-8: {error}") from error
        if number and not os.access(file.parent, os.W_OK):
            raise SimulationError(f"{file.parent} cannot be written; record in a copy of the project")
        if number:
            yield WrappedSettings(
                file, before, text.encode(), keys, {new: old for old, new in commands.items()}
            )


class Guarded:
    """A context in which settings files are changed; a guardian process restores them if this one dies."""

    def __init__(self, files: Sequence[WrappedSettings], folder: Path) -> None:
        self._files = files
        self._folder = folder
        self._watched, self._held = -1, -1

    def __enter__(self) -> None:
        # Recordings must not be committed by accident.
        (self._folder / ".gitignore").write_text("*\n")
        journal = [
            {
                "file": str(wrapped.file),
                "before": wrapped.before.decode("latin-1"),
                "meanwhile": sha256(wrapped.meanwhile).hexdigest(),
                "keys": sorted(wrapped.keys),
                "commands": dict(wrapped.commands),
            }
            for wrapped in self._files
        ]
        replace_file(self._folder / _JOURNAL, json.dumps(journal).encode(), 0o600)
        self._watched, self._held = os.pipe()
        # In a session of its own: Ctrl-C and a closed terminal must not reach it.
        # It notices the death of this process because the pipe it reads from is closed.
        subprocess.Popen(
            # Not from the folder it is called in: a project may hold a module of any name.
            [sys.executable, "-P", "-m", "pytest_hookharness.frontends.cli.record", str(self._folder)],
            stdin=self._watched,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(self._watched)
        for wrapped in self._files:
            replace_file(wrapped.file, wrapped.meanwhile)

    def __exit__(self, *_: object) -> None:
        _report(restore(self._folder), self._folder)
        os.close(self._held)


def restore(folder: Path) -> tuple[str, ...]:
    """
    Restore the settings files of a recording; those that cannot be restored now stay in the journal.

    Returns:
        Sentences about files that somebody else changed meanwhile, or that could not be restored.
    """
    entries = _journal(folder)
    lines: list[str] = []
    left: list[Mapping[str, Any]] = []
    for entry in entries:
        try:
            lines.append(_restore(entry))
        except (OSError, UnicodeError) as error:
            left.append(entry)
            lines.append(f"{entry['file']}: was not restored: {error}; fix that, and call it with --restore")
    if left:
        replace_file(folder / _JOURNAL, json.dumps(left).encode(), 0o600)
    else:
        (folder / _JOURNAL).unlink(missing_ok=True)
    return tuple(filter(None, lines))


def _journal(folder: Path) -> list[Mapping[str, Any]]:
    """Return what has to be restored, file by file."""
    try:
        entries: list[Mapping[str, Any]] = json.loads((folder / _JOURNAL).read_text("utf-8"))
    except FileNotFoundError:
        return []
    return entries


def _restore(entry: Mapping[str, Any]) -> str:
    file = Path(str(entry["file"]))
    before = str(entry["before"]).encode("latin-1")
    try:
        now = file.read_bytes()
    except FileNotFoundError:
        return f"{file}: was removed meanwhile, and stays removed"
    if now == before:
        return ""
    if sha256(now).hexdigest() == entry["meanwhile"]:
        replace_file(file, before)
        return ""
    keys, commands = entry["keys"], entry["commands"]
    text, _ = replace_commands(now.decode("utf-8"), keys, commands)
    replace_file(file, text.encode())
    return f"{file}: was changed meanwhile; its hooks are restored, the other changes stay"


def watch(folder: Path) -> None:
    """Wait for the end of the process that holds the other end of standard input, then restore everything."""
    while os.read(0, 1):
        pass
    restore(folder)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
