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

from pytest_hookharness import __version__
from pytest_hookharness.frontends.option_types import OptionError

UNUSABLE = 2
# Every command, with what `--help` says of it. `_declare` knows its module.
_COMMANDS: Mapping[str, str] = {
    "run": "play one item of a scenario file",
    "try": "play a session around one hook, without any file",
    "check": "find what is wrong with the hooks of a project",
    "init": "write first scenarios for the hooks of a project",
    "record": "record the payloads that a real agent sends to its hooks",
    "report": "summarise trace files",
    "analyze": "find loops in the transcript of a real agent",
    "hosts": "list the hosts that can be simulated, and how well each is known",
    "explain": "show how a host interprets exit codes and output",
    "findings": "list all kinds of findings, or explain some",
    "schema": "print the JSON Schema of scenario files, or of trace files",
}


def _declare(name: str, parser: argparse.ArgumentParser) -> None:
    """Import a command, and declare its arguments."""
    match name:
        case "run":
            from pytest_hookharness.frontends.cli.run_command import declare

            declare(parser)
        case "try":
            from pytest_hookharness.frontends.cli.try_hook import declare

            declare(parser)
        case "check":
            from pytest_hookharness.frontends.cli.check_command import declare

            declare(parser)
        case "init":
            from pytest_hookharness.frontends.cli.init import declare

            declare(parser)
        case "record":
            from pytest_hookharness.frontends.cli.record import declare

            declare(parser)
        case "report":
            from pytest_hookharness.frontends.cli.report import declare

            declare(parser)
        case "analyze":
            from pytest_hookharness.frontends.cli.report import declare_analyze

            declare_analyze(parser)
        case "hosts":
            from pytest_hookharness.frontends.cli.reference import declare_hosts

            declare_hosts(parser)
        case "explain":
            from pytest_hookharness.frontends.cli.reference import declare_explain

            declare_explain(parser)
        case "findings":
            from pytest_hookharness.frontends.cli.reference import declare_findings

            declare_findings(parser)
        case "schema":
            from pytest_hookharness.frontends.cli.reference import declare_schema

            declare_schema(parser)
        case _:
            raise KeyError(name)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hookharness",
        description="Simulate agent hosts, run real hooks, and tell whether the session ends.",
    )
    parser.add_argument("--version", action="version", version=f"hookharness {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    # No option before the command takes a value, so the first other word is the command.
    called = next((word for word in words if not word.startswith("-")), "")
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == called:
            _declare(name, command)
    return parser


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
