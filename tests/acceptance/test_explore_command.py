"""Claims about ``hookharness check --explore``, as a process of its own."""

import json
import subprocess
import sys
from concurrent.futures import Executor
from functools import partialmethod

import pytest

from pytest_hookharness.frontends.cli import main
from pytest_hookharness.frontends.harness import Harness

SETTINGS = ".claude/settings.json"
LOCKS = "#!/bin/sh\n[ -e .lock ] || exit 0\necho 'It is locked: run ./open.' >&2; exit 2\n"
COUNTS = "#!/bin/sh\necho call >>log\n"


@pytest.fixture
def explore(project):
    """Run the command in a project whose settings name one hook."""

    def run(event, hook, *arguments, target=SETTINGS):
        entry = {"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/hooks/hook.sh'}]}
        project.write(SETTINGS, json.dumps({"hooks": {event: [entry]}}))
        project.write("hooks/hook.sh", hook, 0o755)
        command = [
            sys.executable,
            "-m",
            "pytest_hookharness",
            "check",
            "--explore",
            "--yes",
            target,
            *arguments,
        ]
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=project.path, check=False
        )

    return run


@pytest.mark.nightly
def test_a_lock_out_is_printed_with_the_effect_of_each_move(explore, project):
    """The path into it, the answer to each move and the replay command are printed, with status 1."""
    # A folder cannot be removed as a file.
    result = explore("Stop", LOCKS, "--agent-may-run", "mkdir -p .lock")

    assert result.returncode == 1, result.stdout + result.stderr
    first, *lines = result.stdout.splitlines()[1:]
    assert first.startswith("lockout: after turn 1 none of the ")
    assert any(line.split() == ["turn", "1", "agent", "runs", '"mkdir', "-p", '.lock"'] for line in lines)
    assert any('stops: "Done."' in line and '-> block "It is locked: run ./open."' in line for line in lines)
    again = f"hookharness check --explore {SETTINGS} --yes --agent-may-run 'mkdir -p .lock' --seed 0"
    assert lines[-2].strip() == f"replay: {again}"
    assert lines[-1].startswith("a lock-out: ")


@pytest.mark.nightly
def test_an_existing_remedy_is_found(explore, project):
    """A program that the refusal names, and that opens the lock, frees all states, with status 0."""
    project.write("open", "#!/bin/sh\nrm -f .lock\n", 0o755)

    result = explore("Stop", LOCKS, "--agent-may-run", "touch .lock")

    assert result.returncode == 0, result.stdout + result.stderr
    assert "from every state some of these moves lead to a stop that the hooks allow" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("no lock-out: ")


NEEDS_A_FILE = """
name: needs-a-file
hooks:
  Stop: "[ -e ok ] || { echo Not yet. >&2; exit 2; }"
agent:
  - prompt: Please do the work.
explore: {moves: [{run: touch ok}]}
expect: {verdict: %s}
"""


@pytest.mark.nightly
@pytest.mark.parametrize(("expected", "status"), [("terminated", 1), ("livelock", 0)])
def test_an_agent_that_never_stops_is_a_problem_although_another_could(explore, project, expected, status):
    """A loop of the scenario's own agent gives status 1, unless it is expected, although a move ends it."""
    project.write("needs-a-file.scenario.yaml", NEEDS_A_FILE % expected)
    result = explore("Stop", "", target="needs-a-file.scenario.yaml::needs-a-file[claude-code]")

    assert result.returncode == status, result.stdout + result.stderr
    assert "\nno lock-out: " in result.stdout
    own = "For the agent of the scenario the result is livelock: fix that first"
    assert (own in result.stdout) == (status == 1)


@pytest.mark.nightly
def test_untried_moves_make_the_result_unknown(explore):
    """A hook that counts always has one more state: status 2, with the number of untried moves."""
    result = explore("PreToolUse", COUNTS, "--states", "3")

    assert result.returncode == 2, result.stdout + result.stderr
    assert "  unknown: " in result.stdout
    assert "leads to one state more than may be tried (allow more with --states" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("inconclusive: some results are unknown")


class Interrupted(Executor):
    """An executor at which Ctrl-C is pressed."""

    def submit(self, *_, **__):
        """Give up."""
        raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupt_makes_the_result_unknown(project, monkeypatch, capsys):
    """Ctrl-C ends the exploration, and the result is unknown: status 2."""
    project.write(
        SETTINGS, json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}})
    )
    monkeypatch.chdir(project.path)
    monkeypatch.setattr(Harness, "simulate", partialmethod(Harness.simulate, executor=Interrupted()))

    assert main.main(["check", "--explore", "--yes", SETTINGS]) == 2
    said = capsys.readouterr().out
    assert "interrupted: this was seen until then" in said
    assert "undecided: no lock-out was found, but in the " in said
    assert said.splitlines()[-1] == "inconclusive: it was interrupted"


@pytest.mark.nightly
def test_a_missing_file_is_an_error_in_a_line(explore):
    """A target that does not exist is an error in one line, with status 2."""
    result = explore("Stop", LOCKS, target="missing.json")

    assert result.returncode == 2
    assert "missing.json: there is no such file or folder" in result.stderr
    assert "Traceback" not in result.stderr
