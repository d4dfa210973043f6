"""The manual tests find what they are for; a fake agent shows it in place of the real ones."""

import fnmatch
import importlib.util
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.scenario_files import scenario_from, script_from

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "manual_tests" / "test_infinite_block_command"
FAKE_AGENT = Path(__file__).with_name("fake_agent.py")
# By this number conftest.py recognises a process that a test of this run left behind.
STAY = f"86399.{os.getpid()}"


def load(name):
    """A module of the manual test, which no test can import by its name."""
    spec = importlib.util.spec_from_file_location(f"infinite_block_command_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


AGENTS = load("agents").AGENTS
converse = load("terminal").converse


@pytest.fixture
def talk(tmp_path):
    """Run a line of shell in a terminal of its own."""

    def run(line, *, within=20, asks=None, **env):
        words = ["sh", "-c", line]
        return converse(words, tmp_path, within=within, env={**os.environ, **env}, asks=asks or {})

    return run


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.program)
def test_the_table_agrees_with_the_profiles(agent, tmp_path):
    """Each agent reads its hooks where its profile says, on an event that it has, and gets the words."""
    profile = hosts.find(agent.host)
    argv = agent.command_line("the words", tmp_path)

    assert any(fnmatch.fnmatch(f"workspace/{agent.settings}", path) for path in profile.config.paths)
    assert hosts.find_event(profile, agent.event).fields.event == agent.event
    keys = {field.name for field in hosts.find_event(profile, agent.event).fields.fields}
    assert agent.tells_message == ("last_assistant_message" in keys)
    assert argv[0] == agent.program
    assert "the words" in argv
    assert "{" not in "".join(argv).replace('{"', "").replace("{trust", "")


def test_a_program_that_returns(talk):
    """A program that returns is reported with its exit code and its output, without codes of the terminal."""
    done = talk("test -t 0 && test -t 1 && printf '\\033[31mred\\033[0m\\n'; exit 3")

    assert (done.code, done.said) == (3, "red")


@pytest.mark.slow
def test_a_program_that_stays_is_ended(talk):
    """A program that does not return in time is ended with its process group, and its output is reported."""
    done = talk(f"sleep {STAY} & echo begun; wait", within=0.5)

    assert (done.code, done.said) == (None, "begun")


@pytest.mark.slow
def test_a_child_that_holds_the_terminal_does_not_hold_the_test(talk):
    """A program that returns is not waited for because of a child that it leaves on its terminal."""
    done = talk(f"sleep {STAY} & echo done", within=60)

    assert (done.code, done.said) == (0, "done")


@pytest.mark.slow
def test_a_program_without_a_terminal_is_waited_for(talk):
    """A program that closes its terminal and works on has not returned yet."""
    assert talk("exec >&- 2>&- <&-; sleep 0.3; exit 4").code == 4


def test_a_question_is_answered(talk):
    """A question on the terminal gets its answer, once each time it is asked."""
    asks = {"sure[?]": "yes\r"}

    assert "got yes" in talk("for n in 1 2; do printf 'sure? '; read x; echo got $x; done", asks=asks).said


def test_no_secret_is_shown(talk):
    """Keys of the environment, and what looks like a key, are not shown."""
    said = talk("echo $TOY_API_KEY sk-0123456789abcdefghij", TOY_API_KEY="the-value-of-it").said

    assert said == "<TOY_API_KEY> <secret>"


@pytest.mark.nightly
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.program)
def test_the_simulation_has_two_hook_runs(hook_loop, agent):
    """Under each agent's profile the settings of the manual test give two hook runs and a stop."""
    command = 'CLAUDE_PROJECT_DIR="$PWD" python3 -B .claude/hooks/rules'
    made = scenario_from(
        {
            "name": "manual",
            "host": agent.host,
            "git": True,
            "hooks": agent.settings,
            "files": {".claude/settings.json": "{}", agent.settings: agent.settings_for(command)},
        }
    )
    acts = [{"prompt": "Go."}, {"edit": {"file": "src/app.py", "text": "# seen\n"}}]
    project = ROOT / "scenarios" / "infinite-block-command" / "project"

    outcome = hook_loop(replace(made, project=project, script=script_from(acts, then="idle")))

    assert isinstance(outcome.verdict, Terminated)
    assert (outcome.hook_runs(agent.event), outcome.blocks(agent.event)) == (2, 1)


@pytest.fixture
def played(pytester, tmp_path, monkeypatch):
    """Run the manual tests with the fake agent in place of the named programs."""

    def run(how, *programs, only="", **env):
        for program in programs:
            shutil.copy(FAKE_AGENT, tmp_path / program)
            (tmp_path / program).chmod(0o755)
        # Tests must not start a real agent.
        path = [str(tmp_path), str(Path(sys.executable).parent), "/usr/bin", "/bin"]
        for name, value in {"PATH": os.pathsep.join(path), "FAKE_AGENT": how, "STAY": STAY, **env}.items():
            monkeypatch.setenv(name, value)
        plain = ("-p", "no:faker", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", "-rs")
        return pytester.runpytest_subprocess(*plain, "-k", only, f"--rootdir={ROOT}", str(FOLDER))

    return run


@pytest.mark.nightly
def test_agents_that_behave_pass(played):
    """All tests pass with agents that run their hook and return, and skips say what is not available."""
    result = played("behaves", *(agent.program for agent in AGENTS), FAKE_AGENT_ASKS="1")

    result.assert_outcomes(passed=6 + 3 + 1, skipped=3 + 5)
    result.stdout.fnmatch_lines(["SKIPPED*nothing would let `codex` return*"])


@pytest.mark.nightly
def test_an_agent_that_stays_fails(played):
    """An agent that never returns fails the test, and its terminal is shown."""
    result = played("stays", "claude", only="test_no_promise", AGENT_RETURNS_WITHIN="3")

    result.assert_outcomes(failed=1, skipped=5, deselected=12)
    result.stdout.fnmatch_lines(["*did not return within 3 s; its terminal:", "*the hook says:*"])


@pytest.mark.slow
def test_a_hook_that_never_runs_fails(played):
    """An agent that returns without running its hook fails the test."""
    result = played("deaf", "claude", only="test_no_promise")

    result.assert_outcomes(failed=1, skipped=5, deselected=12)
    result.stdout.fnmatch_lines(["*the agent returned, but its hook never fired*"])


@pytest.mark.slow
def test_an_agent_that_cannot_work_is_skipped(played):
    """An agent that is not logged in, or not installed, is skipped with a reason that shows no key."""
    result = played("mute", "claude", TOY_API_KEY="the-value-of-it")

    result.assert_outcomes(skipped=18)
    result.stdout.fnmatch_lines(
        ["SKIPPED*`claude` does not answer*not logged in, <TOY_API_KEY> was refused*"]
    )
    result.stdout.fnmatch_lines(["SKIPPED*no `codex` on the PATH*"])
