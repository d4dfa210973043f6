"""Simulations whose Python hooks are forked (--hook-warm): the same results, or a finding."""

from __future__ import annotations

import json

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

COUNTING = """\
import json
import pathlib
import sys

event = json.load(sys.stdin)
log = pathlib.Path("count.txt")
count = int(log.read_text()) + 1 if log.exists() else 1
log.write_text(str(count))
if count < 5:
    print(json.dumps({"decision": "block", "reason": f"run {count} of {event['hook_event_name']}"}))
"""
# The numbers of the first processes of a sandbox are lower.
CHANGING = "import gc, os\nprint('forked' if gc.get_freeze_count() else os.getpid() > 12)"
# Only with this can a script tell how it was started.
KNOWING = "import gc\nprint(gc.get_freeze_count() > 0)"
PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def harness_and_play(base, **settings):
    """Return a function that simulates a scenario whose hook is a Python script."""
    harness = Harness(Settings(base=base, probes=False, **settings))
    if harness.supervisor.tiers()[Tier.NAMESPACES]:
        harness.close()
        pytest.skip("runs are forked only where no trial reaches the machine")

    def play(text, command="python3 hook.py", **keys):
        files = {"hook.py": text}
        made = {"name": "warm", "env": PATH, "files": files, "hooks": {"Stop": command}, **keys}
        return harness.simulate(scenario_from(made))

    return harness, play


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Simulate a scenario with runs that may be forked."""
    harness, play = harness_and_play(tmp_path_factory.mktemp("warm"), warm=True)
    with harness:
        yield play


def results(outcome):
    """Return the results of all hook runs."""
    return [hook_run.run for _, hook_run in outcome.trace.hook_runs()]


@pytest.mark.nightly
def test_forked_runs_come_to_the_same(warm, tmp_path):
    """A session with forked runs has the outputs, decisions and changes of one without, and says so."""
    usually, play = harness_and_play(tmp_path / "usual")
    with usually:
        usual = play(COUNTING)
    forked = warm(COUNTING)

    assert [run.warm for run in results(usual)] == [False] * 5
    assert [run.warm for run in results(forked)] == [True] * 5
    assert [run.stdout for run in results(forked)] == [run.stdout for run in results(usual)]
    changes = [
        [(change.path, change.after) for _, hooked in one.trace.hooked() for change in hooked.changes]
        for one in (forked, usual)
    ]
    assert changes[0] == changes[1] != []
    assert (forked.verdict, forked.findings) == (usual.verdict, usual.findings)
    (new,) = {*forked.assumptions} - {*usual.assumptions}
    assert "--hook-warm" in new


@pytest.mark.slow
def test_a_hook_that_runs_otherwise_when_forked_is_found(warm):
    """A hook whose forked run differs from usual ones that agree is a finding, and all its runs are usual."""
    outcome = warm(KNOWING)
    (finding,) = (found for found in outcome.findings if found.name == "WARM-DIFFERS")

    assert finding.text == "Stop: a forked run differed in its standard output."
    assert not any(run.warm for run in results(outcome))
    assert "True" not in results(outcome)[0].stdout.text


@pytest.mark.slow
def test_each_simulation_with_such_a_hook_has_the_finding(warm):
    """A hook that runs differently when forked is a finding in each simulation, not only in the first."""
    found = [{one.name for one in warm(KNOWING).findings} for _ in range(2)]

    assert all("WARM-DIFFERS" in names for names in found)


@pytest.mark.nightly
def test_a_module_beside_the_script_is_a_part_of_the_hook(warm):
    """If a module beside the script changed, the hook is tried again."""
    keys = {"hooks": {"PostToolUse": "python3 hook.py"}, "agent": [{"run": "true"}] * 3}
    forked = []
    for module in ("print(1)", KNOWING):
        outcome = warm("", files={"hook.py": "import helper", "helper.py": module}, **keys)
        forked.append([run.warm for run in results(outcome)])

    assert forked == [[True] * 3, [False] * 3]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        "import os\nprint(os.urandom(4))",
        "import time\nopen('now', 'w').write(str(time.time()))",
        "import json\n1 /",
        CHANGING,
    ],
    ids=["chance", "clock", "syntax", "later"],
)
def test_a_hook_that_differs_from_itself_has_no_defect(warm, text):
    """A hook whose usual runs differ, or that cannot be prepared, is started as usual, without a finding."""
    outcome = warm(text, turns=2)

    assert "WARM-DIFFERS" not in [found.name for found in outcome.findings]
    assert not any(run.warm for run in results(outcome))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "keys",
    [
        {"command": "python3 -u hook.py"},
        {"world": {"network": True}},
        {"command": "python3 hook.py; exit 2", "turns": 2},
        {"hooks": {"Stop": ["python3 hook.py", "python3 hook.py 2"]}},
        {"env": {**PATH, "PYTHONPATH": "lib"}},
        {"expect": {"within_ms": {"Stop": 9000}}},
    ],
    ids=["option", "network", "shell", "several", "modules", "duration"],
)
def test_all_other_runs_are_usual_ones(warm, keys):
    """Runs with options, a network, shell syntax, several hooks, own modules or a time limit are usual."""
    outcome = warm("print(1)", **keys)

    assert results(outcome)
    assert not any(run.warm for run in results(outcome))


@pytest.mark.nightly
@pytest.mark.usefixtures("warm")  # it skips where runs are never forked
def test_a_failure_is_played_again_with_forked_runs(pytester):
    """The command that plays a failed scenario again has the option, so it shows the same finding."""
    scenario = {
        "name": "knowing",
        "env": PATH,
        "files": {"hook.py": KNOWING},
        "hooks": {"Stop": "python3 hook.py"},
    }
    pytester.path.joinpath("knowing.scenario.yaml").write_text(json.dumps(scenario))
    result = pytester.runpytest_subprocess("-q", "-o", "hook_warm=true", "knowing.scenario.yaml")

    result.stdout.fnmatch_lines(["*replay: pytest *knowing.scenario.yaml* --hook-warm --hook-seed 0"])
    result.stdout.fnmatch_lines(["*expected no WARM-DIFFERS*"])


def test_runs_that_could_change_the_machine_are_usual_ones(tmp_path):
    """Where hooks can write outside of the workspace, each runs once, so that nothing there is done twice."""
    harness, play = harness_and_play(tmp_path / "base", warm=True, tier=Tier.SUBREAPER)
    with harness:
        outcome = play(f"open({str(tmp_path / 'log')!r}, 'a').write('x')", turns=1)

    assert [run.warm for run in results(outcome)] == [False]
    assert (tmp_path / "log").read_text() == "x"


@pytest.mark.slow
def test_a_process_of_the_trials_changes_nothing(warm):
    """The trials that compare both ways leave no file, so the first run of the session is the first."""
    outcome = warm("open('log', 'a').write('x')\nprint(len(open('log').read()))", turns=2)

    assert results(outcome)[0].warm
    assert results(outcome)[0].stdout.text == "1\n"
