"""Claims about ``pytest --hook-live``: what it skips and refuses, and a session on each installed program."""

import json
import os
import shutil
from pathlib import Path

import pytest

from pytest_hookharness import hosts

SCENARIO = """\
name: polite
host: {host}
hooks: {{Stop: "grep -q finished notes.txt || {{ echo finish it >&2; exit 2; }}"}}
files: {{notes.txt: "begun"}}
agent: [{{prompt: Go.}}, {{stop: Done.}}]
when: [{{event: Stop, reason: finish, do: [{{run: echo finished > notes.txt}}]}}]
"""


@pytest.fixture
def run_live(project, monkeypatch):
    """Compare a scenario for a host, with the option and a folder of programs; returns the result."""

    def run(option, host="codex", folder=None):
        monkeypatch.delenv("HOOKHARNESS_LIVE", raising=False)
        if folder is not None:
            monkeypatch.setenv("HOOKHARNESS_LIVE", str(folder))
        project.write("scenarios/polite.scenario.yaml", SCENARIO.format(host=host))
        return project.run("-rs", f"--hook-live={option}")

    return run


@pytest.mark.slow
def test_without_a_folder_of_programs(run_live):
    """Without a program the item is skipped, with the command that installs the version of the profile."""
    result = run_live("codex")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        ["*hook_live_path*npm install --prefix *codex@0.169.0 @openai/codex@0.169.0*"]
    )


@pytest.mark.slow
def test_a_program_that_pip_installs(run_live):
    """Without OpenHands the command makes an environment for it with the version of the profile."""
    result = run_live("openhands", host="openhands")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*python3.13 -m venv */openhands@1.58 && */bin/pip install openhands-sdk==1.58.0*",
        ]
    )


@pytest.mark.slow
def test_a_host_that_is_not_named(run_live):
    """Scenarios of other hosts are skipped with the option that would play them."""
    result = run_live("codex", host="claude-code")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*--hook-live does not name claude-code; --hook-host *"])


def test_an_unknown_program(run_live):
    """A host whose program is not known is a usage error that names the known ones."""
    result = run_live("cursor")

    result.stderr.fnmatch_lines(
        ["ERROR: --hook-live: no program of 'cursor' is known; expected claude-code, codex*"]
    )


def install_fake(folder, version, text=""):
    """Lay a program out as npm does it with Codex."""
    place = folder / "codex@0.169.0/node_modules/@openai"
    binary = place / "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
    binary.parent.mkdir(parents=True)
    binary.write_text(text)
    binary.chmod(0o755)
    (place / "codex").mkdir()
    (place / "codex/package.json").write_text(json.dumps({"version": version}))


@pytest.mark.slow
def test_another_version(run_live, tmp_path):
    """A program of another version than its profile's is not compared, for npm may install an older one."""
    install_fake(tmp_path, "0.99.0")
    result = run_live("codex", folder=tmp_path)

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*has the version 0.99.0, not 0.169.0; run: npm install *"])


# Asks its model for a message, but cannot resume a session.
CANNOT_RESUME = """\
#!/usr/bin/env python3
import sys, urllib.request
if "resume" in sys.argv:
    sys.exit("no rollout found")
asked = b'{"input": [{"type": "message", "role": "user", "content": "Go."}], "tools": [{}]}'
urllib.request.urlopen("http://127.0.0.1:18080/v1/responses", asked).read()
"""


@pytest.mark.slow
def test_a_program_that_fails_when_it_is_resumed(project, monkeypatch, tmp_path):
    """A program whose second process fails at once is an error with its last words, not a difference."""
    install_fake(tmp_path, "0.169.0", CANNOT_RESUME)
    monkeypatch.setenv("HOOKHARNESS_LIVE", str(tmp_path))
    acts = "[{prompt: Go.}, {stop: Done.}, {resume: true}, {prompt: Go on.}, {stop: Done.}]"
    again = f"name: again\nhost: codex\nhooks: {{Stop: 'true'}}\nagent: {acts}"
    project.write("scenarios/again.scenario.yaml", again)
    result = project.run("--hook-live=codex")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*codex ran no hook and asked its model nothing*; it said: no rollout*"])


def installed(host):
    """The folder of real programs, if the program of a host is in it."""
    folder = os.environ.get("HOOKHARNESS_LIVE", "")
    if not folder or not Path(folder, hosts.find(host).id).is_dir():
        pytest.skip(f"HOOKHARNESS_LIVE names no folder with {hosts.find(host).id}; nox -s live installs it")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("host", ["claude-code", "codex", "qwen-code", "openhands"])
def test_the_real_program(run_live, host):
    """A session on the installed program is the simulated one, with the agent's reaction to the hook."""
    result = run_live(host, host=host, folder=installed(host))

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"{host}@* and program *: turns 1/1, hook runs 2/2, *, files 1/1, end 1/1"])


@pytest.mark.nightly
@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_scenarios_on_the_real_program(project, monkeypatch, host):
    """No scenario of tests/live differs from the real program in anything that is not listed."""
    monkeypatch.setenv("HOOKHARNESS_LIVE", installed(host))
    shutil.copytree(Path(__file__).parents[1] / "live/scenarios", project.path / "scenarios")
    outcomes = project.run(f"--hook-live={host}", "--hook-budget=120").parseoutcomes()

    assert outcomes["passed"] >= 20
    assert not {"failed", "errors"} & {*outcomes}
