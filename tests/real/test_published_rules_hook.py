"""
Claims about a published hook, before and after its fix, with its real code in its real processes.

The two versions are installed by ``nox -s real`` into environments of their own; their interpreters
are named by HOOKHARNESS_REAL_BEFORE and HOOKHARNESS_REAL_AFTER.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.model.probes import PartKind
from pytest_hookharness.model.verdicts import Livelock, Undecided
from pytest_hookharness.scenario_files.loader import load

FILE = Path(__file__).with_name("published-rules-hook.scenario.yaml")


def interpreter(name):
    path = os.environ.get(name)
    if not path:
        pytest.skip(f"{name} is not set; run nox -s real, which installs the published versions")
    return path


@pytest.fixture
def played(hook_loop, monkeypatch):
    """Play a variant with the hook of the interpreter that a variable names."""

    def play(variant, name):
        python = Path(interpreter(name))
        # Its folder is first on the PATH, as in a shell where that environment is active.
        monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
        (scenario,) = (item for item in load(FILE) if item.variant == variant)
        command = "python -m deepwork.hooks.rules_check"
        return hook_loop(replace(scenario, env={**scenario.env, "RULES_HOOK": command}))

    return play


BEFORE, AFTER = "HOOKHARNESS_REAL_BEFORE", "HOOKHARNESS_REAL_AFTER"


def test_after_the_fix_one_block(played):
    """After its fix the hook shows a failing command once and then lets the agent stop."""
    outcome = played("", AFTER)

    assert outcome.terminated
    assert outcome.blocks("Stop") == 1
    assert outcome.hook_runs("Stop") == 2


def test_before_the_fix_every_stop(played):
    """Before its fix the endless loop is found without a mask, though the hook stamps a file each time."""
    outcome = played("", BEFORE)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.period, outcome.verdict.evidence) == (1, "driven")
    parts = outcome.probe_reports[-1].parts
    assert any("rules/queue/" in part.path and part.kind is PartKind.STAMP for part in parts)


def test_before_the_fix_masked(played):
    """With the time stamps declared irrelevant the endless loop is proved, and marked as masked."""
    outcome = played("masked", BEFORE)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.period, outcome.verdict.evidence) == (1, "masked")


def test_after_the_fix_masked(played):
    """The same mask does not make a loop of what terminates."""
    outcome = played("masked", AFTER)

    assert outcome.terminated


def test_after_the_fix_editing(played):
    """An agent that touches a new file before every stop is refused every time, even after the fix."""
    outcome = played("editing", AFTER)

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.blocks("Stop") == outcome.hook_runs("Stop") > 4
