"""Claims about ``hookharness check --stress`` and ``pytest --hook-stress``, as processes of their own."""

import json
import os
import subprocess
import sys

import pexpect
import pytest

SETTINGS = ".claude/settings.json"
COMMAND = '"$CLAUDE_PROJECT_DIR"/hooks/guard.sh'
CLOSED = "standard input that is closed"
# It allows everything that it cannot read.
OPEN = "#!/bin/sh\nif grep -q 'rm -rf'; then echo 'by name' >&2; exit 2; fi\nexit 0\n"
QUIET = "#!/bin/sh\ncat >/dev/null\nexit 0\n"


@pytest.fixture
def guarded(project):
    """A project whose settings name one guard of tool calls."""

    def make(hook=OPEN):
        entry = {"hooks": [{"type": "command", "command": COMMAND}]}
        project.write(SETTINGS, json.dumps({"hooks": {"PreToolUse": [entry]}}))
        project.write("hooks/guard.sh", hook, 0o755)
        return project.path

    return make


@pytest.fixture
def stress(project):
    """Run the command on the settings of the project."""

    def run(*arguments, target=SETTINGS):
        command = [
            sys.executable,
            "-m",
            "pytest_hookharness",
            "check",
            "--stress",
            "--yes",
            target,
            *arguments,
        ]
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=project.path, check=False
        )

    return run


@pytest.mark.nightly
def test_a_guard_that_fails_open_is_a_row_with_evidence(guarded, stress):
    """A guard that allows what it cannot read is fail-open, with evidence and a command."""
    guarded()

    result = stress("--only", CLOSED)

    row, evidence, again = result.stdout.partition(f"{CLOSED} ")[2].splitlines()[:3]
    assert (result.returncode, row.strip()) == (1, "fail-open")
    assert "refuses (exit 2); then does not refuse" in evidence
    assert again.strip() == f"replay: hookharness check --stress {SETTINGS} --yes --only '{CLOSED}' --seed 0"
    assert "1 mutation: 1 fail-open" in result.stdout
    assert "HH201 FAILS-OPEN" in result.stdout


@pytest.mark.nightly
def test_a_seed_gives_a_plan(guarded, stress):
    """The same seed gives the same plan, another seed another order, and no mutation is played."""
    guarded()
    first, second, other = (stress("--plan", "--seed", seed) for seed in ("3", "3", "4"))

    assert first.stdout == second.stdout
    assert other.stdout != first.stdout
    assert sorted(line[6:] for line in other.stdout.splitlines() if line[:4].strip().isdigit()) == sorted(
        line[6:] for line in first.stdout.splitlines() if line[:4].strip().isdigit()
    )
    assert (first.returncode, "open" in first.stdout) == (0, False)


@pytest.mark.nightly
def test_no_deviation_has_the_exit_status_0(guarded, stress):
    """If no mutation makes a difference the exit status is 0."""
    guarded()

    result = stress("--only", "a space in the path")

    assert result.returncode == 0, result.stdout
    assert "1 mutation: 1 as usual" in result.stdout


@pytest.mark.nightly
def test_a_guard_that_refuses_nothing_makes_the_result_unknown(guarded, stress):
    """A hook that refuses no call may be broken, so the result is unknown."""
    guarded(QUIET)

    result = stress("--only", "a space in the path")

    assert (result.returncode, "name a shell command" in result.stdout) == (2, True)


@pytest.mark.nightly
def test_a_used_up_budget_makes_the_result_unknown(guarded, stress):
    """If the budget ends before the session does, that is said, and the exit status is 2."""
    guarded()

    result = stress("--only", "a quote in the path", "--budget", "1ms")

    assert (result.returncode, "the time budget ended" in result.stderr) == (2, True), result.stderr


@pytest.mark.nightly
def test_a_file_that_no_host_reads(project, stress):
    """A file that no host reads is an error in one line that says what to do."""
    project.write("hooks.json", "{}")

    result = stress(target="hooks.json")

    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert "name the host that is meant with --host" in result.stderr


@pytest.mark.nightly
def test_an_interrupt_prints_what_was_found(guarded):
    """Ctrl-C ends everything and prints the table of what was tried."""
    folder = guarded()
    command = ["-m", "pytest_hookharness", "check", "--stress", "--yes", SETTINGS]
    child = pexpect.spawn(
        sys.executable, command, cwd=folder, env={**os.environ, "CI": "", "TERM": "xterm"}, timeout=60
    )
    child.expect(r"mutations: \d+ of \d+")
    child.sendintr()
    child.expect("interrupted: this was seen until then")
    child.expect("there was no time left")
    child.expect(r"\d+ mutations: ")
    child.expect(pexpect.EOF)
    child.close()

    assert child.exitstatus == 2


@pytest.mark.nightly
def test_pytest_puts_stress_on_scenarios(project):
    """A scenario that passes fails under stress, and the table is in its report."""
    text = (
        f"name: guard\nfiles: {{hook.sh: {json.dumps(OPEN)}}}\nhooks: {{PreToolUse: ./hook.sh}}\n"
        "hook_timeout: 500ms\nagent: [{prompt: Go.}, {run: rm -rf build, expect: deny}, {stop: Done.}]\n"
    )
    project.scenario("guard", text=text)

    project.run("--hook-scenarios").assert_outcomes(passed=1)
    stressed = project.run("--hook-scenarios", "--hook-stress")

    stressed.assert_outcomes(failed=1)
    stressed.stdout.fnmatch_lines(
        [f"{CLOSED}*open*", "*hookharness check --stress 'scenarios/guard.scenario.yaml*"]
    )
