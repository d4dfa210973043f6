"""
``hookharness record``: real payloads, kept while an agent works with its hooks.

The settings files have the hooks run by the recorder meanwhile. How they were is written down
before they are touched, and put back byte for byte: at the end, by a guardian if this process dies, or by
``--restore`` if the machine did.
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
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.discovery import find_places
from pytest_hookharness.frontends.output.incident_files import make_folder, replace_file
from pytest_hookharness.hosts.settings.formats import command_keys, replace_commands
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

RECORDER = Path(__file__).with_name("payload_recorder.py")
# In commands that are recorded, whichever installation does it.
_OURS = f"{RECORDER.parent.name}/{RECORDER.name}"
FOLDER = "hook-recordings"
DESCRIPTION = (
    "Has the hooks of a project run by a recorder until Ctrl-C, and keeps what each of them is given, "
    "without secrets, as JSON files; then the settings are as they were, byte for byte, also after a crash. "
    "Start the agent once this says so. docs/how-to/record-real-payloads.md says what to do with the files."
)
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_JOURNAL = "restore.json"
_NOTHING = (
    "{path}: none of its hooks is a shell command in a JSON file; there is nothing that could be recorded"
)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """
    One settings file that is changed meanwhile.

    Attributes:
        file: The file, with links followed.
        before: How it was.
        meanwhile: How it is while hooks are recorded.
        keys: The keys behind which its commands stand.
        commands: What stands there meanwhile, with what stood there before.
    """

    file: Path
    before: bytes
    meanwhile: bytes
    keys: frozenset[str]
    commands: Mapping[str, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    Declare what the command takes.
    """
    parser.add_argument(
        "path", metavar="PATH", nargs="?", type=Path, default=Path(), help="a project or a settings file (.)"
    )
    parser.add_argument("--host", default="", help="only the hooks of this host")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help=f"where recordings go ({FOLDER} in PATH)"
    )
    parser.add_argument(
        "--restore", action="store_true", help="only put settings back, after a crash of the machine"
    )


def tell(arguments: argparse.Namespace) -> int:
    """
    Record until Ctrl-C, and put everything back.
    """
    folder = _folder(arguments)
    if arguments.restore:
        _confine(folder, arguments.path.resolve())
        return _told(restore(folder), folder)
    if (folder / _JOURNAL).exists():
        raise SimulationError(f"{folder} holds settings that were not put back; call it with --restore first")
    files = plan(arguments.path, arguments.host, folder)
    make_folder(str(folder), "--output", below=Path.cwd(), mode=0o700)
    before = len(list(folder.glob("*.json")))
    # Blocked, and waited for: nobody is interrupted with half of the files changed.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    with Guarded(files, folder):
        for wrapped in files:
            print(f"recording: {wrapped.file}, {len(wrapped.commands)} hooks", flush=True)
        print("start the agent now; Ctrl-C ends this and puts the settings back", flush=True)
        signal.sigwait(_ENDS)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    if (folder / _JOURNAL).exists():
        return 2
    number = len(list(folder.glob("*.json"))) - before
    print(f"{counted(number, 'payload')} in {folder}; the settings are as they were")
    return 0


def _confine(folder: Path, whole: Path) -> None:
    """
    See that a journal names files of a project alone, for it may have come with the project.

    Raises:
        SimulationError: It names another one.
    """
    for entry in _journal(folder):
        file = Path(str(entry["file"])).resolve()
        if not file.is_relative_to(whole):
            raise SimulationError(
                f"{folder / _JOURNAL}: names {file}, which is not in {whole}; nothing was changed. "
                "Call it with the PATH that was recorded"
            )


def _told(lines: Sequence[str], folder: Path) -> int:
    for line in lines:
        print(line)
    return 2 if (folder / _JOURNAL).exists() else 0


def _folder(arguments: argparse.Namespace) -> Path:
    given: Path | None = arguments.output
    path: Path = arguments.path
    return (given or (path if path.is_dir() else path.parent) / FOLDER).resolve()


def plan(path: Path, host: str, folder: Path) -> tuple[Wrapped, ...]:
    """
    What is changed in which settings files.

    Raises:
        SimulationError: There is no hook that can be recorded.
    """
    found = tuple(wrapped for place in find_places(path, host) for wrapped in _wrap(place, folder))
    if not found:
        raise SimulationError(_NOTHING.format(path=path))
    return found


def _wrap(place: HookSet, folder: Path) -> Iterator[Wrapped]:
    if any(_OURS in hook.command for hook in place.hooks):
        raise SimulationError(
            f"{place.root}: its hooks are recorded already; end that with Ctrl-C, or call it with --restore "
            "and the --output that was given then"
        )
    profile = hosts.find(place.host)
    keys = command_keys(profile.config)
    commands = {
        hook.command: shlex.join(
            [sys.executable, "-P", str(RECORDER), str(folder), *profile.process.shell, hook.command]
        )
        for hook in place.hooks
        if hook.type == "command" and hook.command and hook.args is None
    }
    for name in place.files:
        file = (place.root / name).resolve()
        before = file.read_bytes()
        try:
            text, number = replace_commands(before.decode("utf-8"), keys, commands)
        except UnicodeDecodeError as error:
            raise SimulationError(f"{file}: is no UTF-8: {error}") from error
        if number and not os.access(file.parent, os.W_OK):
            raise SimulationError(f"{file.parent} cannot be written; record in a copy of the project")
        if number:
            yield Wrapped(file, before, text.encode(), keys, {new: old for old, new in commands.items()})


class Guarded:
    """
    Settings files that are changed while this is entered.
    """

    def __init__(self, files: Sequence[Wrapped], folder: Path) -> None:
        self._files = files
        self._folder = folder
        self._ears, self._mouth = -1, -1

    def __enter__(self) -> None:
        # What is in here is nobody's to commit by the way.
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
        self._ears, self._mouth = os.pipe()
        # In a session of its own, so that Ctrl-C and a closed terminal reach only its ward.
        subprocess.Popen(
            # Not from the folder it is called in: a project may hold a module of any name.
            [sys.executable, "-P", "-m", "pytest_hookharness.frontends.cli.record", str(self._folder)],
            stdin=self._ears,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(self._ears)
        for wrapped in self._files:
            replace_file(wrapped.file, wrapped.meanwhile)

    def __exit__(self, *_: object) -> None:
        _told(restore(self._folder), self._folder)
        os.close(self._mouth)


def restore(folder: Path) -> tuple[str, ...]:
    """
    Put back what a recording changed; what cannot be put back now is left for another time.

    Returns:
        What is to be told: files that somebody else has changed meanwhile, or that could not be put back.
    """
    entries = _journal(folder)
    told: list[str] = []
    left: list[Mapping[str, Any]] = []
    for entry in entries:
        try:
            told.append(_restore(entry))
        except (OSError, UnicodeError) as error:
            left.append(entry)
            told.append(
                f"{entry['file']}: could not be put back: {error}; mend that, and call it with --restore"
            )
    if left:
        replace_file(folder / _JOURNAL, json.dumps(left).encode(), 0o600)
    else:
        (folder / _JOURNAL).unlink(missing_ok=True)
    return tuple(filter(None, told))


def _journal(folder: Path) -> list[Mapping[str, Any]]:
    """
    What has to be put back, file for file.
    """
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
        return f"{file}: was removed meanwhile, and stays so"
    if now == before:
        return ""
    if sha256(now).hexdigest() == entry["meanwhile"]:
        replace_file(file, before)
        return ""
    keys, commands = entry["keys"], entry["commands"]
    text, _ = replace_commands(now.decode("utf-8"), keys, commands)
    replace_file(file, text.encode())
    return f"{file}: was changed meanwhile; the hooks are as they were, the changes stay"


def watch(folder: Path) -> None:
    """
    Wait for the end of the process that holds the other end of standard input, and put everything back.
    """
    while os.read(0, 1):
        pass
    restore(folder)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
