"""
That hooks do and print the same whether somebody records them or not, on the scenarios that ship.
"""

from pathlib import Path

import pytest

from pytest_hookharness import loading
from pytest_hookharness.execution.ledger import read_recordings
from pytest_hookharness.harness import Harness, finding_names, host_names
from pytest_hookharness.model.processes import Exited, HeldOpen, Signaled
from pytest_hookharness.model.recordings import Ledger
from pytest_hookharness.settings import Settings

SHIPPED = Path(__file__).parents[2] / "scenarios"
EVERY = sorted(str(file.relative_to(SHIPPED)) for file in SHIPPED.rglob("*.scenario.yaml"))
# One of Python, and one of bash.
SAMPLE = [
    "context-on-stop/context-on-stop.scenario.yaml",
    "pitfalls/strict-shell/strict-shell.scenario.yaml",
]


def ended(run):
    """How a process ended, without what differs from run to run: times, numbers, what was going on."""
    match run.ending:
        case Exited() | Signaled() as ending:
            return ending
        case HeldOpen(exit=ending):
            return "held open", ending
        case other:
            return type(other)


def told(outcome):
    fires = [
        (fire.hook.command, ended(fire.run), fire.run.stdout.data, fire.run.stderr.data, fire.reply.ruling)
        for _, fire in outcome.trace.fires()
        if fire.run is not None
    ]
    decisions = [(hooked.event, hooked.decision) for _, hooked in outcome.trace.hooked()]
    findings = sorted(finding.name for finding in outcome.findings)
    return fires, decisions, outcome.verdict_name, outcome.passed, findings, outcome.assumptions


def play(file, base, ledger):
    scenarios = loading.load(SHIPPED / file, known_hosts=host_names(), known_findings=finding_names())
    # In the same place, for paths show in what hooks print.
    with Harness(Settings(ledger=ledger, base=base)) as harness:
        return {scenario.id: told(harness.simulate(scenario)) for scenario in scenarios}


def compare(file, folder):
    ledger = Ledger(folder=folder / "ledger")
    ledger.folder.mkdir()
    plain, recorded = play(file, folder / "base", None), play(file, folder / "base", ledger)
    assert recorded == plain
    return [*read_recordings(ledger.folder)]


@pytest.mark.slow
@pytest.mark.parametrize("file", SAMPLE)
def test_a_recorded_hook_says_what_it_says_otherwise(file, tmp_path):
    """Output, exit codes, decisions and findings are the same, and something was recorded."""
    recordings = compare(file, tmp_path)
    assert any(recording.shell or recording.python or recording.gaps for recording in recordings)


@pytest.mark.nightly
@pytest.mark.parametrize("file", EVERY)
def test_no_shipped_hook_says_anything_else_when_it_is_recorded(file, tmp_path):
    """The same holds for every scenario that ships."""
    compare(file, tmp_path)
