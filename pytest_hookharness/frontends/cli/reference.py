"""
``hookharness hosts``, ``explain``, ``findings`` and ``schema``: facts, with nothing run.

Each imports only what it prints from.
"""

from __future__ import annotations

import argparse
from importlib.resources import files


def declare_hosts(parser: argparse.ArgumentParser) -> None:
    """Declare ``hookharness hosts``."""
    parser.description = (
        "Prints a table of the hosts that can be simulated: the version of each, its events, its cap on "
        "refusals, and whether its rules were measured or are only documented."
    )
    parser.set_defaults(call=_print_hosts)


def _print_hosts(_: argparse.Namespace) -> int:
    from pytest_hookharness import hosts
    from pytest_hookharness.reports.terminal.host_facts import hosts_table

    print(hosts_table([hosts.summarise(profile) for profile in hosts.known()]))
    return 0


def declare_explain(parser: argparse.ArgumentParser) -> None:
    """Declare ``hookharness explain``."""
    parser.description = (
        "Prints, for each event of HOST or for one, how the host interprets each exit code and output of a "
        "hook, with the source of each rule. Example: hookharness explain claude-code Stop"
    )
    parser.add_argument("host", metavar="HOST", help="a host, with or without a version")
    parser.add_argument("event", metavar="EVENT", nargs="?", default="", help="one of its events (all)")
    parser.set_defaults(call=_explain)


def _explain(arguments: argparse.Namespace) -> int:
    from pytest_hookharness import hosts
    from pytest_hookharness.reports.terminal.host_facts import explanation

    print(explanation(hosts.explain(hosts.find(arguments.host), arguments.event)))
    return 0


def declare_findings(parser: argparse.ArgumentParser) -> None:
    """Declare ``hookharness findings``."""
    parser.description = (
        "Prints all kinds of findings, one per line; or what the named ones and verdicts mean, why they "
        "matter and what to do. Example: hookharness findings HH004 livelock"
    )
    parser.add_argument("codes", metavar="CODE", nargs="*", help="codes or names: HH001, livelock (all)")
    parser.set_defaults(call=_print_findings)


def _print_findings(arguments: argparse.Namespace) -> int:
    """Print the given kinds of findings in full, or all of them in a line each."""
    from pytest_hookharness.judging.findings.finding_catalogue import catalogue, look_up, nearest
    from pytest_hookharness.model.bad_ends import look_up_end, nearest_end
    from pytest_hookharness.reports.terminal.host_facts import codes_table, describe_findings

    known = {word: look_up(word) or look_up_end(word) for word in arguments.codes}
    unknown = [word for word, code in known.items() if code is None]
    if unknown:
        near = nearest_end(unknown[0]) or nearest(unknown[0])
        meant = f"did you mean {near!r}?" if near else "call it without a word to list all"
        raise ValueError(f"findings: {unknown[0]!r} is neither code nor name; {meant}")
    found = [code for code in known.values() if code is not None]
    print(describe_findings(found) if found else codes_table(catalogue()))
    return 0


def declare_schema(parser: argparse.ArgumentParser) -> None:
    """Declare ``hookharness schema``."""
    parser.description = (
        "Prints the JSON Schema of scenario files, with which editors complete and check their keys."
    )
    parser.add_argument("--trace", action="store_true", help="the schema of trace files")
    parser.set_defaults(call=_print_schema)


def _print_schema(arguments: argparse.Namespace) -> int:
    # Both are generated and shipped for editors; a test compares them with the code.
    name = "trace.schema.json" if arguments.trace else "scenario.schema.json"
    print(files("pytest_hookharness").joinpath(name).read_text("utf-8"), end="")
    return 0
