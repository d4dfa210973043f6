"""
The shell command: its table of commands, and how every error ends it.

A command's module is imported when the command is called, so that what only prints something stays fast.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from pytest_hookharness import __version__
from pytest_hookharness.frontends.option_types import OptionError

UNUSABLE = 2
_PACKAGE = "pytest_hookharness.frontends.cli"
# Every command: the module that declares it, in a function `declare_COMMAND`, and what `--help` says of it.
_COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("play", "play one item of a scenario file"),
    "try": ("play", "play a session around one hook, without any file"),
    "check": ("check_command", "find what is wrong with the hooks of a project"),
    "init": ("init", "write first scenarios for the hooks of a project"),
    "record": ("record", "record the payloads that a real agent sends to its hooks"),
    "reproduce": ("reproduce", "play the loop of a real session again, and make it small"),
    "report": ("report", "summarise trace files"),
    "analyze": ("report", "find loops in the transcript of a real agent"),
    "hosts": ("reference", "list the hosts that can be simulated, and how well each is known"),
    "explain": ("reference", "show how a host interprets exit codes and output"),
    "calibrate": ("calibrate", "ask a real program whether it follows the rules of its profile"),
    "findings": ("reference", "list all kinds of findings, or explain some"),
    "schema": ("reference", "print the JSON Schema of scenario files, or of trace files"),
}
# Commands that run no hooks work on every system.
_ANYWHERE = ("reference",)


def _require_known(called: str) -> None:
    if called and called not in _COMMANDS:
        from pytest_hookharness.model.name_hint import name_hint

        raise OptionError(f"there is no command {called!r}{name_hint(called, _COMMANDS, 'commands')}")


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hookharness",
        description="Simulate agent hosts, run real hooks, and report whether the session ends.",
    )
    parser.add_argument("--version", action="version", version=f"hookharness {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    # No option before the command takes a value, so the first other word is the command.
    called = next((word for word in words if not word.startswith("-")), "")
    _require_known(called)
    for name, (module, text) in _COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == called:
            if module not in _ANYWHERE:
                _require_system()
            declaring = import_module(f"{_PACKAGE}.{module}")
            getattr(declaring, f"declare_{name}")(command)
    return parser


def _require_system() -> None:
    from pytest_hookharness.execution.platform import why_unsupported

    if why := why_unsupported():
        raise OptionError(why)


def _leave(number: int, _: object) -> None:
    # As an exception, so that everything is removed on the way out.
    raise SystemExit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the shell command.

    Returns:
        0 if all is as expected, 1 if something is not, 2 if the answer is unknown.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    words = sys.argv[1:] if argv is None else argv
    try:
        arguments = _parser(words).parse_args(words)
        status = int(arguments.call(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe. Python flushes standard output once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        # A command that plays something has printed what it has seen so far.
        print("hookharness: interrupted", file=sys.stderr)
        return UNUSABLE
    except Exception as error:
        if not _is_users(error):
            raise
        from pytest_hookharness.reports.safe_text import plain

        text = "\n".join(plain(line, 1000) for line in str(error).splitlines())
        print(f"hookharness: {text}", file=sys.stderr)
        return UNUSABLE
    return status


def _is_users(error: Exception) -> bool:
    """Return whether a person can do something about an error, so that it needs no traceback."""
    if isinstance(error, OptionError | ValueError | OSError):
        return True
    from pytest_hookharness.frontends.harness import USER_ERRORS

    return isinstance(error, USER_ERRORS)


if __name__ == "__main__":
    raise SystemExit(main())
