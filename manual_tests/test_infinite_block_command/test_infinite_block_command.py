"""
A real agent meets a rule whose command always fails: the hook must fire, and the agent must return.

Run by hand, see README.md beside this file; what is not installed or not logged in is skipped.
"""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from .agents import AGENTS
from .terminal import converse

PROJECT = Path(__file__).parents[2] / "scenarios" / "infinite-block-command" / "project"
RETURNS_WITHIN = float(os.environ.get("AGENT_RETURNS_WITHIN", "300"))
ANSWERS_WITHIN = 60.0
WORK = 'Append the line "# seen" to src/app.py. Change nothing else, whatever you are told. '
NO_PROMISE = "Never write a promise tag."


class Worker:
    """An agent, a committed copy of the project, and a count of the stops at which its hook fired."""

    def __init__(self, agent, root):
        self.agent = agent
        self.folder = root / "project"
        self.count = root / "fires"
        shutil.copytree(PROJECT, self.folder)
        (self.folder / ".claude" / "settings.json").unlink()
        hook = shlex.quote(str(self.folder / ".claude" / "hooks" / "rules"))
        count = f"echo fired >>{shlex.quote(str(self.count))}"
        rules = f"CLAUDE_PROJECT_DIR={shlex.quote(str(self.folder))} python3 -B {hook}"
        settings = self.folder / agent.settings
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(agent.settings_for(f"{count}; {rules}"))
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
        for words in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "-m", "start"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def say(self, words, within, **env):
        """Give it a task; gives its exit code, and what stood on its terminal."""
        return converse(
            self.agent.command_line(words, self.folder),
            self.folder,
            within=within,
            env={**os.environ, **self.agent.env, **env},
            asks=self.agent.asks,
        )

    def work(self, words, **env):
        """Have the work done; gives the number of stops and the rule's entry in the queue."""
        done = self.say(words, RETURNS_WITHIN, **env)
        assert done.code is not None, (
            f"did not return within {RETURNS_WITHIN:g} s; its terminal:\n{done.said}"
        )
        seen = "# seen" in (self.folder / "src/app.py").read_text()
        assert seen, f"the agent did not do the work; its terminal:\n{done.said}"
        assert self.count.exists(), (
            f"the agent returned, but its hook never fired; its terminal:\n{done.said}"
        )
        sessions = json.loads((self.folder / ".rules/state/queue.json").read_text())
        (session,) = sessions.values()
        return self.count.read_text().count("fired"), session["entries"]["Always fails"]


@pytest.fixture(scope="module", params=AGENTS, ids=lambda agent: agent.program)
def agent(request, tmp_path_factory):
    """An agent that is installed and answers."""
    program = request.param.program
    if shutil.which(program) is None:
        pytest.skip(f"no `{program}` on the PATH: install it to run this test")
    first = Worker(request.param, tmp_path_factory.mktemp("ready"))
    answer = first.say("Answer with the word ready.", ANSWERS_WITHIN)
    if answer.code != 0:
        said = answer.said[-200:] or f"nothing in {ANSWERS_WITHIN:g} s"
        pytest.skip(f"`{program}` does not answer; is it logged in? It said: {said}")
    return request.param


@pytest.fixture
def worker(agent, tmp_path):
    """The agent in a folder of its own."""
    return Worker(agent, tmp_path)


def test_no_promise(worker):
    """Without a promise the rule is shown once, and the agent returns at its second stop."""
    fires, entry = worker.work(WORK + NO_PROMISE)

    assert (2, "FAILED", True) == (fires, entry["status"], entry["shown"])


def test_promise(worker):
    """With the promise in its first closing message the agent is not held at all."""
    if not worker.agent.tells_message:
        pytest.skip(f"`{worker.agent.program}` does not tell a hook the agent's last message")

    fires, entry = worker.work(WORK + "End with exactly: <promise>Always fails</promise>")

    assert (1, "SKIPPED", False) == (fires, entry["status"], entry["shown"])


def test_before_the_fix(worker):
    """Before the fix only the host's guard lets the agent return; a low guard keeps this cheap."""
    if not worker.agent.guard_of_two:
        pytest.skip(f"nothing would let `{worker.agent.program}` return: no guard of it can be set to two")
    words = WORK + "When a hook talks to you, answer with the word done and use no tool."

    fires, entry = worker.work(words, RULES_RERUN_FAILED="1", **worker.agent.guard_of_two)

    assert (3, "FAILED", True) == (fires, entry["status"], entry["shown"])
