"""The current folder of the agent's shell, with real shells and hooks."""

import pytest

from pytest_hookharness.model.trace import Performed

STOP = {"stop": "Done."}
FILES = {"sub/keep": "", "sub/deep/keep": ""}


def run(*commands):
    """Return the acts of an agent that runs some commands and stops."""
    return [*({"run": command} for command in commands), STOP]


def test_a_changed_folder_fires_its_event(play, inputs, pairs_with_recording):
    """A command that ends in another folder fires CwdChanged with the recorded input."""
    outcome = play(hooks={"CwdChanged": "true"}, files=FILES, agent=run("cd sub", "true"))

    (payload,) = inputs(outcome)
    ours, recorded = pairs_with_recording(payload)
    assert ours == recorded


def test_the_folder_stays_changed(play, inputs):
    """Later inputs, hooks and commands are in the new folder, and the project folder stays the same."""
    check = '[ "$PWD" = "$CLAUDE_PROJECT_DIR/sub/deep" ] && [ "$(pwd -P)" = "$PWD" ] || exit 2'
    agent = run("cd sub", "cd deep; pwd > here")

    outcome = play(hooks={"Stop": check, "PreToolUse": "true"}, files=FILES, agent=agent)

    folders = [payload["cwd"].partition("/workspace")[2] for payload in inputs(outcome)]
    assert folders == ["", "/sub", "/sub/deep"]
    assert outcome.terminated
    changed = [
        change.path for step in outcome.trace.steps for change in getattr(step.exchange, "changes", ())
    ]
    assert [path for path in changed if path.startswith("workspace")] == ["workspace/sub/deep/here"]


@pytest.mark.slow
def test_a_hook_with_a_relative_path_is_not_found(play):
    """A hook that is given as ./x is not found any more once the agent is in another folder."""
    files = {**FILES, "guard.sh": "#!/bin/sh\nexit 0\n"}

    there = play(hooks={"PreToolUse": "./guard.sh"}, files=files, agent=run("cd sub"))
    lost = play(hooks={"PostToolUse": "./guard.sh"}, files=files, agent=run("cd sub", "true"))

    assert there.hook_runs() == 1
    assert there.findings == ()
    assert [finding.name for finding in lost.findings] == ["NOT-RUN"]
    assert "./guard.sh does not exist in sub, where the agent is (it exists in the workspace)" in (
        lost.findings[0].text
    )


def test_a_hook_that_is_nowhere_has_no_other_place(play):
    """A script that is not in the workspace either is reported without the agent's folder."""
    outcome = play(hooks={"PostToolUse": "./nope.sh"}, files=FILES, agent=run("cd sub", "true"))

    assert outcome.findings[0].text.endswith("./nope.sh does not exist.")


@pytest.mark.parametrize("command", ["cd sub; exit 3", "set -e; cd sub; false", "trap 'exit 4' EXIT; cd sub"])
def test_a_command_that_fails_changes_the_folder_too(play, inputs, command):
    """The next command starts in the folder in which the last one ended, however it ended."""
    outcome = play(hooks={"CwdChanged": "true"}, files=FILES, agent=run(command))

    assert [payload["new_cwd"].rpartition("/")[2] for payload in inputs(outcome)] == ["sub"]


@pytest.mark.parametrize("command", ["(cd sub)", "cd sub; cd ..", "bash -c 'cd sub'", "cd /", "cd /tmp"])
def test_a_folder_that_does_not_change(play, inputs, command):
    """A shell that comes back, or that leaves the project, changes nothing."""
    outcome = play(hooks={"CwdChanged": "true", "Stop": "true"}, files=FILES, agent=run(command))

    (payload,) = inputs(outcome)
    assert payload["hook_event_name"] == "Stop"
    assert payload["cwd"].endswith("/workspace")


def test_a_shell_is_put_back(play, inputs):
    """A shell outside of the project goes back to where the session began, and the agent is informed."""
    outcome = play(hooks={"CwdChanged": "true"}, files=FILES, agent=run("cd sub", "cd /; echo there"))

    places = [
        (payload["old_cwd"].rpartition("/")[2], payload["new_cwd"].rpartition("/")[2])
        for payload in inputs(outcome)
    ]
    assert places == [("workspace", "sub"), ("sub", "workspace")]
    made = [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Performed)]
    assert made[1].result.text.startswith("there\nShell cwd was reset to /")


def test_a_folder_that_was_deleted(play):
    """Hooks and commands run in the project folder once the current one is deleted."""
    agent = run("cd sub", "rm -r ../sub", "pwd > here")

    outcome = play(hooks={"PostToolUse": "pwd >> there", "Stop": "test -e here"}, files=FILES, agent=agent)

    assert outcome.findings == ()
    assert outcome.hook_runs() == 4


def test_variables_of_a_folder(play):
    """Variables that a hook of CwdChanged exports are set in later commands."""
    hook = 'echo "export HERE=${PWD##*/}" > "$CLAUDE_ENV_FILE"'

    outcome = play(
        hooks={"CwdChanged": hook},
        files=FILES,
        agent=run("cd sub", "echo $HERE > here"),
        expect={"files": {"equal": {"sub/here": "sub\n"}}},
    )

    assert outcome.passed


@pytest.mark.nightly
def test_the_folder_is_part_of_the_state(play):
    """An agent that goes from folder to folder is in no loop, and one that stays is."""
    files = {"/".join("ddddddddd") + "/keep": ""}
    gate = 'case "$PWD" in */d/d/d/d/d) ;; *) exit 2;; esac'

    assert play(hooks={"Stop": gate}, files=files, then={"obedient": {"run": "cd ."}}).livelock
    assert play(hooks={"Stop": gate}, files=files, then={"obedient": {"run": "cd d"}}).terminated


def test_files_are_named_from_the_project(play):
    """An edit of the scenario names its file from the project folder, not from the shell's folder."""
    agent = [{"run": "cd sub"}, {"edit": {"file": "new", "text": "x"}}, STOP]

    outcome = play(hooks={"Stop": 'test -e "$CLAUDE_PROJECT_DIR/new"'}, files=FILES, agent=agent)

    assert outcome.terminated


def test_a_resume_begins_in_the_project_folder(play, inputs):
    """A resumed session starts in the folder where it was begun."""
    agent = [{"prompt": "a"}, {"run": "cd sub"}, STOP, {"resume": None}, {"prompt": "b"}, STOP]

    outcome = play(hooks={"Stop": "true"}, files=FILES, agent=agent)

    folders = [payload["cwd"].rpartition("/")[2] for payload in inputs(outcome)]
    assert folders == ["sub", "workspace"]


def test_the_path_of_the_workspace(play, inputs):
    """`{{workspace}}` is the absolute path of the session's folder; steps above it are resolved."""
    agent = [{"run": "cd sub && cat {{workspace}}/b/../keep > {{workspace}}/copy"}, STOP]
    outcome = play(
        hooks={"PreToolUse": "true"}, files={"top/keep": "x\n", "top/sub/a": ""}, agent=agent,
        world={"subfolder": "top"}, expect={"files": {"equal": {"top/copy": "x\n"}}},
    )  # fmt: skip

    (payload,) = inputs(outcome)
    assert payload["tool_input"]["command"] == f"cd sub && cat {payload['cwd']}/keep > {payload['cwd']}/copy"
    assert outcome.passed, outcome.violations
