"""
A real agent meets a rule whose command always fails: the hook must fire, and the agent must return.

Run by hand, see README.md beside this file; skipped where no agent is installed or logged in.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pexpect
import pytest
from pexpect import fdpexpect

PROJECT = Path(__file__).parents[2] / "scenarios" / "infinite-block-command" / "project"
AGENT = "claude"
RETURNS_WITHIN = 300
WORK = 'Append the line "# seen" to src/app.py. Change nothing else, whatever you are told. '
COLOURS = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])")


def converse(folder, words, within, **env):
    """Run an agent in a terminal of its own; gives its exit code and what stood on the terminal."""
    # A terminal without a fork: a fork in a process with threads is undefined.
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [AGENT, "-p", words, "--allowedTools", "Read", "Edit", "Write"],
        cwd=folder,
        env=os.environ | {"TERM": "xterm"} | env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    terminal = fdpexpect.fdspawn(ours, timeout=within, encoding="utf-8", codec_errors="replace")
    try:
        terminal.expect(pexpect.EOF)
        code = process.wait(10)
    except (pexpect.TIMEOUT, subprocess.TimeoutExpired):
        code = None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        terminal.close()
    return code, COLOURS.sub("", terminal.before or "").strip()


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """The agent, if there is one that answers."""
    if shutil.which(AGENT) is None:
        pytest.skip(f"no `{AGENT}` on the PATH: install it to run this test")
    folder = tmp_path_factory.mktemp("ready")
    code, said = converse(folder, "Answer with the word ready.", 60)
    if code != 0:
        pytest.skip(
            f"`{AGENT}` does not answer; is it logged in? It said: {said[-200:] or 'nothing in 60 s'}"
        )


@pytest.fixture
def project(agent, tmp_path):
    """A committed copy of the project, with a second hook that only counts the stops."""
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    settings = folder / ".claude" / "settings.json"
    content = json.loads(settings.read_text())
    counter = {"type": "command", "command": f"echo fired >>'{tmp_path / 'fires'}'"}
    content["hooks"]["Stop"].append({"hooks": [counter]})
    settings.write_text(json.dumps(content))
    start = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.invalid",
        "commit",
        "--quiet",
        "-m",
        "start",
    ]
    for words in (["init", "--quiet"], ["add", "--all"], start):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def work(project, words, **env):
    """Have the work done; gives the number of stops and the rule's entry in the queue."""
    code, said = converse(project, words, RETURNS_WITHIN, **env)
    assert code is not None, f"the agent did not return within {RETURNS_WITHIN} s; its terminal:\n{said}"
    assert "# seen" in (project / "src/app.py").read_text(), f"the agent did not do the work:\n{said}"
    fires = (project.parent / "fires").read_text().count("fired")
    sessions = json.loads((project / ".rules/state/queue.json").read_text())
    (session,) = sessions.values()
    return fires, session["entries"]["Always fails"]


def test_no_promise(project):
    """Without a promise the rule is shown once, and the agent returns at its second stop."""
    fires, entry = work(project, WORK + "Never write a promise tag.")

    assert (2, "FAILED", True) == (fires, entry["status"], entry["shown"])


def test_promise(project):
    """With the promise in its first closing message the agent is not held at all."""
    fires, entry = work(project, WORK + "End with exactly: <promise>Always fails</promise>")

    assert (1, "SKIPPED", False) == (fires, entry["status"], entry["shown"])


def test_before_the_fix(project):
    """Before the fix only the host's guard lets the agent return; a low guard keeps this cheap."""
    words = WORK + "When a hook talks to you, answer with the word done and use no tool."

    fires, entry = work(project, words, RULES_RERUN_FAILED="1", CLAUDE_CODE_STOP_HOOK_BLOCK_CAP="2")

    assert (3, "FAILED", True) == (fires, entry["status"], entry["shown"])
