"""Claims about the commands that print facts of hosts, and about trying a hook under each host."""

import re
import subprocess
import sys

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.frontends.cli import main


@pytest.fixture
def hookharness(tmp_path):
    """Run the shell command in an empty folder."""

    def run(*arguments):
        command = [sys.executable, "-m", "pytest_hookharness", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tmp_path, check=False
        )

    return run


@pytest.mark.parametrize("command", sorted(main._COMMANDS))
def test_the_help_of_a_command_says_what_it_does(command, capsys, monkeypatch):
    """Each command has a sentence above its arguments, and no option is followed by its own name."""
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main.main([command, "--help"])

    said = capsys.readouterr().out
    about = re.search(r"\n\n(\S.*?)\n\n(?:positional arguments|options):", said, re.DOTALL)
    doubled = [
        option
        for option, value in re.findall(r"--([a-z-]+) ([A-Z_]+)", said)
        if value == option.upper().replace("-", "_") and option not in ("host", "time")
    ]
    assert about is not None
    assert about[1].endswith((".", "Stop", "livelock"))
    assert doubled == []


@pytest.mark.slow
def test_hosts_are_listed(hookharness):
    """Every host is listed with its version."""
    result = hookharness("hosts")

    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(hosts.known())]] == [
        profile.id for profile in hosts.known()
    ]


@pytest.mark.slow
def test_an_event_is_explained(hookharness):
    """The meanings of exit codes at an event are printed with sources; an unknown host is an error."""
    ran, wrong = hookharness("explain", "cursor", "stop"), hookharness("explain", "cursr")

    assert ran.returncode == 0
    assert '{"followup_message": "TEXT"}' in ran.stdout
    assert "REFUSES: the agent continues" in ran.stdout
    assert "[documented: Cursor hooks documentation, 2026-08]" in ran.stdout
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'cursor'" in wrong.stderr


def test_a_misspelt_command_has_its_nearest_name(hookharness):
    """The nearest command comes before the list of all."""
    wrong = hookharness("chek")

    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "there is no command 'chek'; did you mean 'check'? known commands: run, try, " in wrong.stderr


@pytest.mark.slow
def test_findings_are_explained(hookharness):
    """Findings and verdicts are explained by code or name; for an unknown one the nearest is named."""
    ran = hookharness("findings", "hh001", "HELD-OPEN", "livelock")
    wrong = hookharness("findings", "HELD")

    assert ran.returncode == 0
    assert [line for line in ran.stdout.splitlines() if line.startswith("HH")] == [
        "HH001 HUNG-HOOK",
        "HH002 HELD-OPEN",
    ]
    assert "\nlivelock\n  what: The hooks refuse the stop forever" in ran.stdout
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "'HELD' is neither code nor name; did you mean 'HELD-OPEN'?" in wrong.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    "host, event, verdict",
    [
        ("cursor", "stop", "terminated"),
        ("copilot-cli", "agentStop", "terminated"),
        ("antigravity", "Stop", "terminated"),
        ("kimi", "Stop", "capped"),
        ("goose", "Stop", "livelock"),
        ("droid", "Stop", "livelock"),
    ],
)
def test_a_hook_is_tried_under_every_host(hookharness, host, event, verdict):
    """A real hook that refuses every stop by exit code is played under hosts of all forms."""
    result = hookharness("try", event, "echo fix >&2; exit 2", "--host", host, "--timeout", "5")

    assert result.stdout.splitlines()[1].startswith(f"{verdict}:"), result.stdout + result.stderr
