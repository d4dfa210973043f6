"""Claims about the loop guard as a process of its own, as a host starts it."""

import json
import os
import subprocess
import sys

import pytest

BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}}


@pytest.fixture
def run_guard(tmp_path):
    """Run the guard once, in a home and a project of its own."""
    project = tmp_path / "project"
    project.mkdir()
    env = {"HOME": str(tmp_path / "home"), "CLAUDE_PROJECT_DIR": str(project), "PATH": os.environ["PATH"]}

    def run_once(event, *options, text=None, **more):
        payload = {"session_id": "../../one", "hook_event_name": event, "cwd": str(project), **BASH, **more}
        return subprocess.run(
            [sys.executable, "-m", "pytest_hookharness.guard", *options],
            input=json.dumps(payload) + "\n" if text is None else text,
            capture_output=True,
            text=True,
            env=env,
            cwd=project,
            check=False,
        )

    return run_once


def said(run):
    """The text of a hook run for the agent; empty for none."""
    assert (run.returncode, run.stderr) == (0, "")
    return json.loads(run.stdout)["hookSpecificOutput"] if run.stdout else {}


@pytest.mark.nightly
def test_a_session_of_processes(run_guard, tmp_path):
    """Each process knows the calls before it, so the third equal call is denied and the fourth is allowed."""
    answers = []
    for _ in range(4):
        answers.append(said(run_guard("PreToolUse")))
        if not answers[-1]:
            assert said(run_guard("PostToolUse", tool_response={"stdout": "no rule", "stderr": ""})) == {}
    names = [path.name for path in (tmp_path / "home" / ".local/state/loop-guard").iterdir()]

    assert [answer.get("permissionDecision") for answer in answers] == [None, None, "deny", None]
    assert "make" in answers[2]["permissionDecisionReason"]
    assert len(names) == 1  # named by a digest, so that no session id leads out of the folder
    assert names[0].removesuffix(".json").isalnum()


@pytest.mark.slow
def test_a_prompt_is_a_break(run_guard):
    """After a prompt counting starts again, because a person asked for what follows."""
    for _ in range(2):
        said(run_guard("PostToolUse", tool_response="x"))

    assert said(run_guard("UserPromptSubmit", prompt="Again.")) == {}
    assert said(run_guard("PreToolUse")) == {}


@pytest.mark.slow
def test_a_failed_edit_is_warned_of(run_guard, tmp_path):
    """After a failed edit the agent reads what to do, and the file unless it is outside of the project."""
    (tmp_path / "project" / "a.py").write_text("line one\n")
    (tmp_path / "secret.py").write_text("secret\n")
    texts = []
    for name in ("a.py", "../secret.py"):
        given = {"tool_name": "Edit", "tool_input": {"file_path": name, "old_string": "x", "new_string": "y"}}
        texts.append(said(run_guard("PostToolUseFailure", error="not found", **given))["additionalContext"])

    assert "read a.py before the next try" in texts[0]
    assert "line one" in texts[0]
    assert "secret\n" not in texts[1]


@pytest.mark.parametrize(
    ("options", "text", "says"),
    [
        (
            ("--repetitions", "10", "--window", "5"),
            None,
            "repetitions: 10 can never be reached, because the window holds 5",
        ),
        (("--repetitions", "three"), None, "loop guard: these options are not understood"),
        (("--no-such", "3"), None, "loop guard: these options are not understood"),
        ((), "{broken\n", "this call was not checked"),
        ((), "[" * 100_000 + "\n", "this call was not checked"),
        ((), '{"hook_event_name": "PreCompact"}\n', "configure it only for PreToolUse"),
    ],
)
def test_trouble_is_said_and_refuses_nothing(run_guard, options, text, says):
    """An impossible limit and an invalid payload end with a message that no host takes for a refusal."""
    run = run_guard("PreToolUse", *options, text=text)

    assert (run.returncode, run.stdout) == (1, "")
    assert says in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.slow
def test_the_guard_goes_on_without_a_damaged_state(run_guard, tmp_path):
    """A damaged state is reported as lost, and the guard continues without it."""
    run_guard("PostToolUse", tool_response="x")
    (kept,) = (tmp_path / "home" / ".local/state/loop-guard").iterdir()
    kept.write_text('{"recent": 7}')

    run = run_guard("PreToolUse")

    assert (run.returncode, run.stdout) == (0, "")
    assert "the state of this session is lost" in run.stderr


def test_the_guard_imports_little():
    """The guard starts without pytest, YAML, and the rest of the harness."""
    code = "import sys, pytest_hookharness.guard; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name.split(".")[1] for name in run.stdout.split() if name.startswith("pytest_hookharness.")}

    assert ours == {"guard", "judging", "model"}
    assert not {"pytest", "yaml", "faker", "coverage", "argparse", "subprocess"} & set(run.stdout.split())


def test_the_guard_loads_only_what_it_needs():
    """The guard starts for each call of a tool, so it loads neither path objects nor traces."""
    code = "import sys, pytest_hookharness.guard; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    heavy = {"pathlib", "subprocess", "pytest_hookharness.model.trace", "pytest_hookharness.model.protocol"}
    assert heavy.isdisjoint(run.stdout.split())
