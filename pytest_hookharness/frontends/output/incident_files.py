"""Incident reports: their text, without secrets, and the files that hold them."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from pytest_hookharness.frontends.output.files import create_in, write_all
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.markdown.incident import IncidentContext, incident_report
from pytest_hookharness.reports.redaction import Secrets, find_secrets, redacted
from pytest_hookharness.reports.trace import schema


def compose(outcome: Outcome, replay: str, responses: Sequence[Response] = ()) -> str:
    """
    Return the incident report of an outcome, with the date and the versions used, without secrets.

    Args:
        outcome: The outcome.
        replay: The command that plays it again.
        responses: The responses to single events that the same test fired.
    """
    secrets = secrets_of(outcome.scenario)
    # A report prints no states, and redacting thousands of them takes long.
    seen = replace(outcome, trace=replace(outcome.trace, states={}))
    return incident_report(redacted(seen, secrets), redacted(context(replay, responses), secrets))


def context(replay: str, responses: Sequence[Response] = ()) -> IncidentContext:
    """Return the context of a report that is written now, on this machine."""
    versions = (
        f"pytest-hookharness {version('pytest-hookharness')}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"{platform.system()} {platform.release()}",
    )
    day = datetime.now().astimezone().date().isoformat()
    return IncidentContext(
        replay_command=replay, day=day, versions=versions, asked=responses, root=Path.cwd()
    )


def secrets_of(scenario: Scenario) -> Secrets:
    """Return what must not be written: secrets in the variables of a scenario and of this process."""
    return find_secrets(scenario.env, os.environ, words=schema.words())


def most_informative(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first outcome of a test that failed its expectations, or else the last."""
    return next((outcome for outcome in outcomes if not outcome.passed), outcomes[-1])


def write_in(folder: Path, item: str, text: str) -> Path:
    """
    Write a report about a test item into a new file; earlier ones stay, as somebody may have edited them.
    """
    with create_in(folder, item, ".md") as file:
        write_all(file, text.encode())
    return Path(str(file.name))
