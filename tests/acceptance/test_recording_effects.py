"""Claims that hooks behave the same whether they are recorded or not, on the shipped scenarios."""

import re
import shutil
from pathlib import Path

import pytest

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.execution.coverage.recorder import read_recordings
from pytest_hookharness.frontends.harness import Harness, finding_names
from pytest_hookharness.judging.verdict.assumptions import ASSUMED_CLOCK, RECORDED
from pytest_hookharness.model.line_coverage import CoverageStore
from pytest_hookharness.model.processes import Exited, HeldOpen, Signaled
from pytest_hookharness.simulation.testbed.run_settings import Settings

SHIPPED = Path(__file__).parents[2] / "scenarios"
EVERY = sorted(str(file.relative_to(SHIPPED)) for file in SHIPPED.rglob("*.scenario.yaml"))
# Of Python.
SAMPLE = ["failing-tool/failing-tool.scenario.yaml", "prompt-gate/prompt-gate.scenario.yaml"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?")
# Of sh, with a plugin, and with a hook that runs twice.
SAMPLE_FOR_BASH = [
    "plugin-folder/plugin-folder.scenario.yaml",
    "pitfalls/double-noise/double-noise.scenario.yaml",
]


LOOKS = """\
name: looks
hooks: {Stop: 'echo "${HOOKHARNESS_RECORDED:-nobody}"'}
agent: [{prompt: Go.}, {stop: Done.}]
"""


def ended(run):
    """Return how a process ended, without times, numbers and activities, which differ from run to run."""
    match run.ending:
        case Exited() | Signaled() as ending:
            return ending
        case HeldOpen(exit=ending):
            return "held open", ending
        case other:
            return type(other)


def timeless(text):
    """Return a text, or bytes as a text, without times of the host: they begin at the real time."""
    return TIME.sub("", text if isinstance(text, str) else text.decode("latin-1"))


def facts(outcome):
    hook_runs = [
        (
            hook_run.hook.command,
            ended(hook_run.run),
            timeless(hook_run.run.stdout.data),
            timeless(hook_run.run.stderr.data),
            hook_run.reply.ruling,
        )
        for _, hook_run in outcome.trace.hook_runs()
        if hook_run.run is not None
    ]
    decisions = [(hooked.event, timeless(repr(hooked.decision))) for _, hooked in outcome.trace.hooked()]
    findings = sorted(finding.name for finding in outcome.findings)
    # The recorder spares a hook some time, so it is cut later, and perhaps by the host instead. How many
    # other times are played depends on how long a play takes.
    rests_on = [
        one
        for one in outcome.assumptions
        if one != RECORDED and "hook timeout of" not in one and not one.startswith(ASSUMED_CLOCK)
    ]
    return hook_runs, decisions, outcome.verdict_name, outcome.passed, findings, rests_on


def play(file, base, coverage_store):
    scenarios = scenario_files.load(file, known_hosts=hosts.names(), known_findings=finding_names())
    # In the same folder, because hooks print paths.
    with Harness(Settings(coverage_store=coverage_store, base=base)) as harness:
        return {scenario.id: facts(harness.simulate(scenario)) for scenario in scenarios}


def compare(file, folder):
    store = CoverageStore(folder=folder / "store")
    store.folder.mkdir()
    plain, recorded = play(file, folder / "base", None), play(file, folder / "base", store)
    assert recorded == plain
    return [*read_recordings(store.folder)]


@pytest.fixture(scope="module")
def in_bash(tmp_path_factory):
    """The shipped scenarios, with bash in place of sh."""
    folder = tmp_path_factory.mktemp("scenarios") / "scenarios"
    shutil.copytree(SHIPPED, folder, symlinks=True)
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        if b"#!/bin/sh" in data:
            path.write_bytes(data.replace(b"#!/bin/sh", b"#!/bin/bash"))
    return folder


@pytest.mark.slow
def test_a_hook_that_detects_its_recorder_is_noticed(tmp_path):
    """A hook that prints a variable of the recorder makes the comparison fail."""
    file = tmp_path / "looks.scenario.yaml"
    file.write_text(LOOKS)
    with pytest.raises(AssertionError):
        compare(file, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("file", ["prompt-gate/prompt-gate", "process-hooks/on-output"])
def test_a_verdict_on_recorded_hooks_names_that_assumption(file, tmp_path):
    """Sessions and tracked processes with a recorder assume that it changes no decision."""
    known = {"known_hosts": hosts.names(), "known_findings": finding_names()}
    scenario = scenario_files.load(SHIPPED / f"{file}.scenario.yaml", **known)[0]
    for store in (None, CoverageStore(folder=tmp_path)):
        with Harness(Settings(coverage_store=store)) as harness:
            assert (RECORDED in harness.simulate(scenario).assumptions) is (store is not None)


@pytest.mark.nightly
@pytest.mark.parametrize("file", SAMPLE)
def test_a_recorded_hook_behaves_as_usual(file, tmp_path):
    """Output, exit codes, decisions and findings are the same, and something was recorded."""
    assert any(recording.shell or recording.python for recording in compare(SHIPPED / file, tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("file", SAMPLE_FOR_BASH)
def test_it_does_if_bash_runs_what_is_written_for_sh(file, in_bash, tmp_path):
    """The same holds for shipped hooks for sh that are run by bash with all their lines traced."""
    assert any(recording.shell for recording in compare(in_bash / file, tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("file", EVERY)
def test_every_shipped_hook_behaves_as_usual_if_recorded(file, tmp_path):
    """The first claim holds for every shipped scenario."""
    compare(SHIPPED / file, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("file", EVERY)
def test_none_does_if_bash_runs_what_is_written_for_sh(file, in_bash, tmp_path):
    """The second claim does too."""
    compare(in_bash / file, tmp_path)
