"""How a hook is started: command line, environment, limits."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.processes import KillScope, Stdio
from pytest_hookharness.model.protocol import Basis, Hook


@pytest.fixture
def launch(profile):
    """The function that launches a hook of an event."""

    def launch_one(hook, env=None, *, base=None, **more):
        facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp", seed=1, env=env)
        payload = hosts.payload_for(profile, hook.event, facts)
        return hosts.launch(profile, hook, payload, facts, base or {"PATH": "/bin"}, 10.0, **more)

    return launch_one


def test_a_command_line_is_given_to_the_shell(launch):
    """A command runs by the shell in the project, with sockets, and is killed with its process tree."""
    given = launch(Hook(event="Stop", command="./x a"))

    assert given.argv == ("/bin/sh", "-c", "./x a")
    assert (given.cwd, given.stdio, given.own_session) == ("/project", Stdio.SOCKET, True)
    assert (given.kill.signals, given.kill.scope, given.pipe_wait) == ((15, 9), KillScope.TREE, 0.5)
    assert given.hook_timeout == 10.0


@pytest.mark.parametrize("command", ["${CLAUDE_PLUGIN_ROOT}/x.sh", "echo '${CLAUDE_PLUGIN_ROOT}'"])
def test_claude_fills_the_folder_of_a_plugin_in_where_there_is_no_shell(launch, command):
    """The shell puts a plugin's folder in the place of its variable; without a shell the host does."""
    hook = Hook(event="Stop", command=command, plugin="/p", env={"CLAUDE_PLUGIN_ROOT": "/p"})
    filled = command.replace("${CLAUDE_PLUGIN_ROOT}", "/p")

    assert launch(hook).argv == ("/bin/sh", "-c", command)
    assert launch(hook).env["CLAUDE_PLUGIN_ROOT"] == "/p"
    assert launch(replace(hook, args=(command, command))).argv == (filled, filled)
    assert launch(Hook(event="Stop", command=command)).argv == ("/bin/sh", "-c", command)


@pytest.mark.parametrize("command", ["${PLUGIN_ROOT}/x.sh", "echo '${PLUGIN_ROOT}'"])
def test_the_folder_of_a_plugin_stands_in_its_commands(command):
    """Most hosts put a plugin's folder in the place of its variable, also where no shell would."""
    profile = hosts.find("goose")
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp/x")
    hook = Hook(event="Stop", command=command, plugin="/p", env={"PLUGIN_ROOT": "/p"})

    launched = hosts.launch(profile, hook, {}, facts, {}, 10.0)

    assert launched.argv[-1] == command.replace("${PLUGIN_ROOT}", "/p")


@pytest.mark.parametrize(
    ("written", "start"),
    [
        ("tools", "/project/tools"),
        ("./a/..", "/project"),
        ("/abs", "/abs"),
        (None, "/work"),
        ("${root}", "/work"),
    ],
)
def test_a_hook_that_starts_in_a_folder_of_its_own(written, start):
    """The key cwd of an entry of Copilot is the folder in which it starts, wherever the agent works."""
    profile = hosts.find("copilot-cli")
    entry = {"type": "command", "bash": "./x.sh"} | ({"cwd": written} if written else {})
    settings = json.dumps({"version": 1, "hooks": {"agentStop": [entry]}})
    (hook,) = hosts.configure(profile, {"workspace/.github/hooks/a.json": settings}).hooks
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp")

    assert hosts.launch(profile, hook, {"cwd": "/work"}, facts, {}, 10.0).cwd == start


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_another_process_group_is_said_to_be_one(profile):
    """A profile says that a hook leads a process group here exactly where its host does not give it one."""
    rules = profile.process.rules

    assert ("group" in rules) is not profile.process.own_session
    assert "group" not in rules or rules["group"].basis is Basis.ASSUMED


@pytest.mark.parametrize(
    "shell, argv",
    [
        ("/bin/bash", ("/bin/bash", "-lc")),
        ("/usr/bin/zsh", ("/usr/bin/zsh", "-lc")),
        ("/bin/sh", ("/bin/bash", "-c")),
        ("", ("/bin/bash", "-c")),
    ],
)
def test_a_login_shell(shell, argv):
    """Codex uses the user's own bash or zsh as a login shell, and otherwise a plain shell."""
    codex, hook = hosts.find("codex"), Hook(event="Stop", command="./x")
    facts = hosts.facts(codex, workspace="/project", home="/home/dev", tmp="/tmp")
    payload = hosts.payload_for(codex, "Stop", facts)

    assert hosts.launch(codex, hook, payload, facts, {"SHELL": shell}, 10.0).argv == (*argv, "./x")


def test_input_is_compact_json_and_a_newline(launch):
    """Standard input is one line of compact JSON."""
    data = launch(Hook(event="Stop", command="x")).stdin.data

    assert data.endswith(b"}\n")
    assert data.count(b"\n") == 1
    assert b'", "' not in data
    assert json.loads(data)["hook_event_name"] == "Stop"


def test_arguments_go_without_a_shell(launch):
    """With args the command is started without a shell, and variables of folders are filled in."""
    given = launch(Hook(event="Stop", args=("${CLAUDE_PROJECT_DIR}/x", "a b", "${CLAUDE_PROJECT_DIR}")))

    assert given.argv == ("/project/x", "a b", "/project")


def test_variables_of_the_host(launch):
    """The host adds its variables to the given environment, and none that names a process."""
    env = launch(Hook(event="Stop", command="x", env={"OWN": "1"})).env

    assert env["PATH"] == "/bin"
    assert (env["CLAUDE_PROJECT_DIR"], env["CLAUDECODE"], env["OWN"]) == ("/project", "1", "1")
    assert env["CLAUDE_CODE_SESSION_ID"] == env["CLAUDE_CODE_SESSION_ID"].lower()
    assert not {"CLAUDE_PID", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_ENV_FILE"} & set(env)


def test_a_hook_starts_in_the_current_folder(profile):
    """A hook starts in the folder that its input names, and gets the project folder as a variable."""
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp", seed=1)
    payload = hosts.payload_for(profile, "Stop", facts, {"cwd": "/project/sub"})

    given = hosts.launch(profile, Hook(event="Stop", command="x"), payload, facts, {}, 10.0)

    assert (given.cwd, given.env["PWD"], given.env["CLAUDE_PROJECT_DIR"]) == (
        "/project/sub",
        "/project/sub",
        "/project",
    )


def test_recorded_variables_are_given(launch, recorded):
    """Each recorded event gets all recorded variables, except those that name a process or a server."""
    left_out = {
        "CLAUDE_PID",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    }
    for one in recorded:
        env = launch(Hook(event=one["event"], command="x")).env

        assert set(one["env_names"]) - left_out <= set(env), one["event"]
        assert ("CLAUDE_ENV_FILE" in env) == ("CLAUDE_ENV_FILE" in one["env"])


def test_the_file_for_later_variables(launch):
    """A hook of SessionStart gets its own file in the session's folder."""
    env = launch(Hook(event="SessionStart", command="x"), index=2).env
    session = env["CLAUDE_CODE_SESSION_ID"]

    assert env["CLAUDE_ENV_FILE"] == f"/home/dev/.claude/session-env/{session}/sessionstart-hook-2.sh"


def test_files_with_variables_are_read_in_the_order_of_their_hooks(profile, launch):
    """Every file that a hook was given is read later, Setup's before SessionStart's, and no other file is."""
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp", seed=1)
    folder = hosts.env_folder(profile, facts)
    given = [
        launch(Hook(event=event, command="x"), index=index).env["CLAUDE_ENV_FILE"]
        for event, index in [("Setup", 0), ("SessionStart", 0), ("SessionStart", 2), ("SessionStart", 10)]
    ]
    names = [name.rpartition("/")[2] for name in given]

    found = hosts.env_files(profile, facts, [*sorted(names), "notes.sh", "stop-hook-0.sh", "setup-hook-x.sh"])

    assert list(found) == given
    assert {name.rpartition("/")[0] for name in given} == {folder}


def test_a_host_may_have_no_file_for_variables(profile):
    """A host without files for variables has no folder for them, and reads none."""
    bare = replace(profile, process=replace(profile.process, env_file=("", "")))
    facts = hosts.facts(bare, workspace="/project", home="/home/dev", tmp="/tmp")

    assert hosts.env_folder(bare, facts) == ""
    assert hosts.env_files(bare, facts, ["", "setup-hook-0.sh"]) == ()


def test_a_plugin_has_a_folder_for_its_data(launch):
    """Only the hooks of a plugin get a folder for data."""
    plugin = launch(Hook(event="Stop", command="x", plugin="/plugins/p")).env

    assert plugin["CLAUDE_PLUGIN_DATA"] == "/home/dev/.claude/plugins/data/p-inline"
    assert "CLAUDE_PLUGIN_DATA" not in launch(Hook(event="Stop", command="x")).env


@pytest.mark.parametrize(
    "event, limit",
    [("Stop", 600.0), ("PreToolUse", 600.0), ("UserPromptSubmit", 30.0), ("SessionEnd", 1.5)],
)
def test_default_limits(launch, event, limit):
    """Each event has its own default limit, and a hook's own limit has precedence."""
    assert launch(Hook(event=event, command="x")).limit == limit
    assert launch(Hook(event=event, command="x", timeout=5.0)).limit == 5.0


def test_the_budget_at_the_end_of_a_session(launch):
    """One hook's limit raises the budget of all hooks, up to a minute, and a plugin's limit does not."""
    hook = Hook(event="SessionEnd", command="x")
    slow, plugin = replace(hook, timeout=5.0), replace(hook, timeout=9.0, plugin="/p")

    assert launch(hook, hooks_of_event=(hook, slow, plugin)).limit == 5.0
    assert launch(hook, hooks_of_event=(hook, replace(slow, timeout=90.0))).limit == 60.0
    assert launch(plugin, hooks_of_event=(hook, plugin)).limit == 1.5
    assert launch(hook, {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "2500"}).limit == 2.5
