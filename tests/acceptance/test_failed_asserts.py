"""Claims about how failed Python tests read."""

import pytest

TESTS = """\
def test_passed(hook_loop):
    assert hook_loop(Stop="./never.sh").passed

def test_with_a_message(hook_loop):
    outcome = hook_loop(Stop="./never.sh")
    assert not outcome.livelock, "it must end"

def test_response(hook_fire):
    assert hook_fire("Stop", "./never.sh").allowed

def test_other_value(hook_loop):
    assert hook_loop(Stop="./never.sh").blocks() == 1

def test_verdict(hook_loop):
    assert hook_loop(Stop="./never.sh").verdict == "terminated"

def test_method(hook_loop):
    assert hook_loop(Stop="./never.sh").blocks == 1
"""
MISTAKES = """\
def test_key(hook_loop):
    hook_loop(Stop="true", expct={})

def test_event(hook_fire):
    hook_fire("Stpo", "true")

def test_double(failing_command):
    failing_command("npm", exitt=1)

def test_agent(scripted_agent):
    scripted_agent({"stopp": "Done."})

def test_missing(hook_fire):
    assert hook_fire("Stop", "./nope.sh").allowed
"""


@pytest.fixture
def never(project):
    """A project with a hook that always refuses, beside the test."""
    project.write("never.sh", "#!/bin/sh\necho 'run never' >&2\nexit 2\n", 0o755)
    return project


@pytest.mark.nightly
@pytest.mark.parametrize(
    "style",
    [
        ("--tb=line", "-q"),
        pytest.param(("--tb=short",), marks=pytest.mark.slow),
        pytest.param(("-n2", "-p", "xdist"), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_summary_says_what_the_hooks_did(never, style, monkeypatch):
    """The summary line of a failed test has verdict, hook and reason, however the rest is printed."""
    monkeypatch.setenv("COLUMNS", "300")
    never.write("test_it.py", TESTS)

    result = never.run(*style)

    loop = "livelock: Stop is blocked forever by ./never.sh (*"
    result.stdout.fnmatch_lines_random(
        [
            f"FAILED test_it.py::test_passed - {loop}",
            "FAILED test_it.py::test_with_a_message - it must end",
            'FAILED test_it.py::test_response - Stop ./never.sh exited 2 * "run never"; expected: allowed',
            "FAILED test_it.py::test_other_value - *assert 3 == 1",
            "FAILED test_it.py::test_verdict - assert livelock == 'terminated'",
            "FAILED test_it.py::test_method - assert outcome.blocks == 1",
        ]
    )
    result.stdout.fnmatch_lines([f"*{loop}*; expected: not livelock"])
    result.stdout.fnmatch_lines(["*write outcome.verdict_name == 'terminated'"])
    result.stdout.fnmatch_lines(["*outcome.blocks is a method: write outcome.blocks() == 1"])
    result.stdout.no_fnmatch_line("*HookLoop object at*.passed*")


@pytest.mark.nightly
def test_a_line_for_each_failure(never):
    """With --tb=line neither a test nor a scenario prints its story."""
    never.write("test_it.py", TESTS)
    never.scenario("stuck", body="echo 'run never' >&2; exit 2")

    result = never.run("--tb=line", "test_it.py", "scenarios/stuck.scenario.yaml")

    result.assert_outcomes(failed=7)
    told = ["*stuck.scenario.yaml:*: livelock: *", "*test_it.py:2: livelock: *"]
    result.stdout.fnmatch_lines_random(told)
    result.stdout.no_fnmatch_line("*turn 1 *agent*")


@pytest.mark.slow
def test_a_mistake_in_a_test_has_no_frame_of_the_harness(project):
    """An error in a test is shown at the line of the test, with the nearest name before the allowed names."""
    project.write("test_it.py", MISTAKES)

    result = project.run()

    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(
        [
            '*expct: unknown key "expct"; did you mean "expect"? allowed: *',
            "test_it.py:2: ScenarioErrors",
            "*has no event 'Stpo'; did you mean 'Stop'? known events: *",
            "test_it.py:5: UnknownName",
            '*unknown key "exitt"; did you mean "exit"? allowed: *',
            "test_it.py:8: ScenarioErrors",
            '*unknown key "stopp"; did you mean "stop"? allowed: *',
            "test_it.py:11: ScenarioErrors",
            "*HookNotRun: Stop: `./nope.sh` did not run (*; `.ruling` is what the host decided",
            "test_it.py:14: HookNotRun",
        ]
    )
    result.stdout.no_fnmatch_line("*fixtures.py:*")
    result.stdout.no_fnmatch_line("*response.py:*")


@pytest.mark.slow
def test_a_missing_hook_is_reported_with_where_it_was_looked_for(project):
    """The story of a hook that is not beside the test names the folder in which it was looked for first."""
    project.write(
        "checks/test_it.py", "def test_it(hook_loop):\n    assert hook_loop(Stop='./x.sh').passed\n"
    )

    result = project.run("checks")

    said = " ".join(str(result.stdout).split())
    assert f"note: files that a hook's command names are looked up in {project.path / 'checks'}, then" in said


def test_a_scenario_has_a_marker_with_its_host(project):
    """The option -m selects scenarios among tests, and scenarios by their host."""
    project.scenario("polite")
    project.write("test_it.py", "def test_it():\n    pass\n")
    project.write("pytest.ini", "[pytest]\nhook_scenarios = true\naddopts = --strict-markers\n")

    all_of_them = project.run("--collect-only", "-q", "-m", "hook_scenario")
    codex = project.run(
        "--collect-only", "-q", "--hook-host=all", "-m", "hook_scenario(host='codex@0.169.0')"
    )

    assert [line for line in all_of_them.outlines if "::" in line] == [
        "scenarios/polite.scenario.yaml::polite[claude-code]"
    ]
    assert [line for line in codex.outlines if "::" in line] == [
        "scenarios/polite.scenario.yaml::polite[codex@0.169.0]"
    ]


@pytest.mark.slow
def test_the_page_has_as_many_simulations_as_the_table(project):
    """With -x neither the table nor the page has simulations of items that did not run."""
    body = "echo 'run never' >&2; exit 2"
    project.scenario("stubborn", body=body)

    result = project.run("--hook-scenarios", "--hook-host=all", "-x", "--hook-report=page.html")

    result.stdout.fnmatch_lines(["1 simulation: 1 failed", "hook harness: a page of 1 simulation is in *"])
