"""The configuration that the host reads from its settings, and the problems of flawed settings."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.settings import Effect

USER, PROJECT = "home/.claude/settings.json", "workspace/.claude/settings.json"
LOCAL = "workspace/.claude/settings.local.json"


def settings(command, event="Stop", **more):
    """Return the text of a settings file with one hook."""
    return json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}, **more})


def commands(configuration):
    """Return the commands of all hooks, in order."""
    return [hook.command for hook in configuration.hooks]


def test_all_levels_add_up(profile):
    """Hooks of the user, the project and the local file all run, in this order."""
    files = {LOCAL: settings("c"), PROJECT: settings("b"), USER: settings("a")}

    configuration = hosts.configure(profile, files)

    assert commands(configuration) == ["a", "b", "c"]
    assert [hook.source for hook in configuration.hooks] == [
        "~/.claude/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ]


def test_the_same_handler_in_two_files_runs_once(profile):
    """A handler in two settings files is selected once, and a plugin's copy of it once more."""
    configuration = hosts.configure(
        profile,
        {USER: settings("./x"), PROJECT: settings("./x")},
        plugin_files={"hooks/hooks.json": settings("./x")},
        plugin_root="/plugins/p",
    )

    chosen = hosts.select(profile, configuration.hooks, "Stop", "")
    assert [hook.source for hook in chosen] == ["~/.claude/settings.json", "plugin/hooks/hooks.json"]


@pytest.mark.parametrize(
    "files, left",
    [
        ({USER: settings("a", disableAllHooks=True), PROJECT: settings("b")}, []),
        (
            {USER: settings("a", disableAllHooks=True), LOCAL: settings("b", disableAllHooks=False)},
            ["a", "b"],
        ),
    ],
)
def test_hooks_can_be_switched_off(profile, files, left):
    """The switch disableAllHooks turns off the hooks of all files, and the nearest file with it decides."""
    configuration = hosts.configure(profile, files)

    assert commands(configuration) == left
    assert [problem.kind for problem in configuration.problems] == ([] if left else ["disabled"])


@pytest.mark.parametrize(
    "inline",
    [
        {"Stop": "./x"},
        {"Stop": ["./x"]},
        {"Stop": {"command": "./x"}},
        {"Stop": [{"command": "./x"}]},
        {"Stop": [{"hooks": [{"type": "command", "command": "./x"}]}]},
        {"hooks": {"Stop": "./x"}},
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./x"}]}]}},
    ],
)
def test_short_forms(profile, inline):
    """Every short form in a scenario means the same as the host's own format."""
    configuration = hosts.configure(profile, {}, inline=inline)

    assert configuration.problems == ()
    (hook,) = configuration.hooks
    assert (hook.event, hook.command, hook.type, hook.source) == ("Stop", "./x", "command", "inline")


def test_short_form_with_options(profile):
    """A short form keeps its matcher, its timeout and all other keys."""
    inline = {"PreToolUse": {"command": "x", "matcher": "Bash", "timeout": 5, "onFailure": "block", "foo": 1}}

    (hook,) = hosts.configure(profile, {}, inline=inline).hooks

    assert (hook.matcher, hook.timeout, hook.on_failure, hook.options) == ("Bash", 5.0, "block", {"foo": 1})


def test_other_handlers_are_kept(profile):
    """Handlers that are not commands keep their type and their own keys."""
    (hook,) = hosts.configure(profile, {}, inline={"Stop": {"type": "prompt", "prompt": "Done?"}}).hooks

    assert (hook.type, hook.command, hook.options) == ("prompt", "", {"prompt": "Done?"})


def test_one_bad_handler_turns_off_its_file_only(profile):
    """A malformed handler turns off all hooks of its file alone, and the problem names its place."""
    bad = json.dumps(
        {
            "hooks": {
                "Stop": [{"hooks": [{"type": "command", "command": "a"}]}],
                "PreToolUse": [{"hooks": [{"type": "command", "command": "b", "timeout": "5"}]}],
            }
        }
    )

    configuration = hosts.configure(profile, {USER: settings("good"), PROJECT: bad})

    assert commands(configuration) == ["good"]
    (problem,) = configuration.problems
    assert (problem.kind, problem.source) == ("malformed", ".claude/settings.json")
    assert problem.path == "hooks.PreToolUse[0].hooks[0].timeout"
    assert "'5'" in problem.text


def test_a_host_may_keep_the_rest(profile):
    """A host whose rule is to drop only the bad handler keeps all other handlers."""
    kind = replace(profile, config=replace(profile.config, default_effect=Effect.DROPS))
    inline = {"Stop": ["./x", {"type": "shell", "command": "./y"}]}

    assert commands(hosts.configure(kind, {}, inline=inline)) == ["./x"]
    assert commands(hosts.configure(profile, {}, inline=inline)) == []


@pytest.mark.parametrize(
    "text, kind",
    [
        ("{", "unreadable"),
        ("[]", "unreadable"),
        ('{"hooks": []}', "malformed"),
        ('{"hooks": {"Stop": {}}}', "malformed"),
        ('{"hooks": {"Stop": [1]}}', "malformed"),
        ('{"hooks": {"Stop": [{"hooks": [1]}]}}', "malformed"),
        ('{"hooks": {"Stop": [{"matcher": 1, "hooks": []}]}}', "malformed"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}', "malformed"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "args": "y"}]}]}}', "malformed"),
        ('{"hooks": {"Stopp": []}}', "unknown-event"),
        ('{"Stop": []}', "misplaced"),
    ],
)
def test_problems(profile, text, kind):
    """Each flaw of a settings file is one problem of its kind, and no hook runs."""
    configuration = hosts.configure(profile, {PROJECT: text})

    assert [problem.kind for problem in configuration.problems] == [kind]
    assert configuration.hooks == ()


@pytest.mark.parametrize(
    "text, message",
    [
        ('{"hooks": []}', "hooks is a list; expected an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is an object; expected a list"),
        (
            '{"hooks": {"Stop": [{"command": "x"}]}}',
            "hooks.Stop[0] has no key 'hooks'; expected the handler in a list below that key",
        ),
        (
            '{"hooks": {"Stop": [{"hooks": [{"type": "shell"}]}]}}',
            "hooks.Stop[0].hooks[0] has the type 'shell'; expected one of command, ",
        ),
        (
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": 1}]}]}}',
            "hooks.Stop[0].hooks[0] has 1 as 'command'; expected a string",
        ),
        (
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "args": ["a", 1]}]}]}}',
            "hooks.Stop[0].hooks[0].args contains 1; expected a list of strings",
        ),
        (
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}]}}',
            "hooks.Stop[0].hooks[0].timeout is 0; expected a number of seconds above 0",
        ),
    ],
)
def test_a_message_about_settings(profile, text, message):
    """The message of a problem says where it is, what was found, what was expected and what the host does."""
    (problem,) = hosts.configure(profile, {PROJECT: text}).problems

    assert problem.text.startswith(f".claude/settings.json: {message}")
    assert problem.text.endswith("; the host runs no hook of this file")


@pytest.mark.parametrize("event, near", [("stop", "Stop"), ("PreTooluse", "PreToolUse")])
def test_an_unknown_event_names_the_nearest(profile, event, near):
    """The problem of an unknown event names the nearest known event."""
    (problem,) = hosts.configure(profile, {}, inline={event: "./x"}).problems

    assert f"did you mean {near!r}" in problem.text


@pytest.mark.parametrize(
    ("host", "file", "kinds"),
    [
        ("copilot-cli", "workspace/.github/hooks/guard.json", ["misplaced"]),
        ("codex", "workspace/.codex/hooks.json", ["misplaced"]),
        ("claude-code", PROJECT, []),
    ],
)
def test_a_file_of_hooks_without_hooks(host, file, kinds):
    """A file that is for hooks alone, and has no key for them, is a problem; other settings need no hooks."""
    text = json.dumps({"name": "guard", "events": ["PreToolUse"], "bash": "./guard.sh"})
    found = hosts.configure(hosts.find(host), {file: text})
    assert [problem.kind for problem in found.problems] == kinds
    for other in ("{}", '{"type": "module"}', '{"version": 1}', '{"disableAllHooks": true}'):
        assert not hosts.configure(hosts.find(host), {file: other}).problems


def test_unreachable_hooks_are_reported(profile):
    """Hooks of an event that no session reaches are kept, and one problem for each event gives the reason."""
    inline = {"Stop": "./x", "Notification": ["./a", "./b"], "TeammateIdle": [], "ConfigChange": "./c"}

    configuration = hosts.configure(profile, {}, inline=inline)

    assert commands(configuration) == ["./x", "./a", "./b", "./c"]
    assert [(problem.kind, problem.path) for problem in configuration.problems] == [
        ("unreachable-event", "hooks.Notification"),
        ("unreachable-event", "hooks.ConfigChange"),
    ]
    for problem in configuration.problems:
        assert profile.events[problem.path.partition(".")[2]].unreachable in problem.text


def test_hooks_that_are_off_are_not_unreachable(profile):
    """In a file that is off as a whole, only the reason for that is a problem."""
    inline = {"Notification": "./x", "Stop": [{"hooks": [{"type": "shell"}]}]}

    assert [problem.kind for problem in hosts.configure(profile, {}, inline=inline).problems] == ["malformed"]


@pytest.mark.parametrize(
    ("program", "args", "command"),
    [
        ("bash", [".claude/hooks/stop.sh"], "bash .claude/hooks/stop.sh"),
        ("bash", [".claude/hooks/push.sh", "a b"], "bash .claude/hooks/push.sh 'a b'"),
        ("${CLAUDE_PLUGIN_ROOT}/x", ["$HOME", ""], "\"${CLAUDE_PLUGIN_ROOT}/x\" '$HOME' ''"),
    ],
)
def test_a_program_with_arguments_has_a_command_line(profile, program, args, command):
    """Hooks that start one program with other arguments have different command lines."""
    handler = {"type": "command", "command": program, "args": args}

    (hook,) = hosts.configure(profile, {}, inline={"Stop": [{"hooks": [handler]}]}).hooks

    assert (hook.command, hook.words) == (command, (program, *args))


@pytest.mark.parametrize("bad", ["\\u0000", "\\ud800", "\\udc80"])
@pytest.mark.parametrize(
    "handler, key",
    [
        ('"command": "echo BAD"', "command"),
        ('"command": "echo", "args": ["a", "BAD"]', "args"),
    ],
)
def test_an_unpassable_command_is_left_out(profile, bad, handler, key):
    """A handler with NUL or half a surrogate pair is a problem, and the rest of its file is used."""
    good = '{"type": "command", "command": "echo \\ud83d\\ude00"}'
    text = f'{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", {handler}}}, {good}]}}]}}}}'

    configuration = hosts.configure(profile, {PROJECT: text.replace("BAD", bad)})

    assert commands(configuration) == ["echo \U0001f600"]
    (problem,) = configuration.problems
    assert (problem.kind, problem.path) == ("malformed", f"hooks.Stop[0].hooks[0].{key}")
    assert "left out" in problem.text
    assert problem.text.isprintable()


def test_a_handler_with_two_flaws_turns_off_its_file(profile):
    """A malformed handler turns off its file even if it also contains NUL."""
    text = settings("good").replace('"command": "good"', '"command": "x\\u0000", "timeout": -1')

    (problem,) = hosts.configure(profile, {PROJECT: text}).problems

    assert problem.path.endswith(".timeout")
    assert "the host runs no hook of this file" in problem.text


def test_an_unpassable_variable_is_left_out(profile):
    """A variable with NUL or half a surrogate pair is a problem, and all other variables are set."""
    text = '{"env": {"A": "x\\u0000", "\\ud800": "1", "B": "2"}}'

    configuration = hosts.configure(profile, {PROJECT: text})

    assert configuration.env == {"B": "2"}
    assert [problem.kind for problem in configuration.problems] == ["malformed", "malformed"]
    assert all(problem.text.isprintable() for problem in configuration.problems)


def test_settings_without_hooks_are_no_problem(profile):
    """Settings without hooks are no problem, and their permissions and variables are used."""
    text = json.dumps({"permissions": {"allow": ["Bash"]}, "env": {"A": 1}})

    configuration = hosts.configure(profile, {PROJECT: text})

    assert (configuration.hooks, configuration.problems) == ((), ())
    assert (configuration.allowed, configuration.env) == (("Bash",), {"A": "1"})


def test_a_plugin_knows_its_folder(profile):
    """A plugin's hooks get its folder as a variable, and are the same wherever the plugin lies."""
    configuration = hosts.configure(
        profile,
        {},
        plugin_files={"hooks/hooks.json": settings("${CLAUDE_PLUGIN_ROOT}/x.sh")},
        plugin_root="/plugins/p",
    )

    (hook,) = configuration.hooks
    assert hook.command == "${CLAUDE_PLUGIN_ROOT}/x.sh"
    assert (hook.plugin, hook.env) == ("/plugins/p", {"CLAUDE_PLUGIN_ROOT": "/plugins/p"})


@pytest.mark.parametrize(
    "event, condition, tool, hook_runs",
    [
        ("PreToolUse", "Bash(git *)", {"command": "git push"}, True),
        ("PreToolUse", "Bash(git:*)", {"command": "git push"}, True),
        ("PreToolUse", "Bash(git *)", {"command": "ls"}, False),
        ("PreToolUse", "Bash", {"command": "ls"}, True),
        ("PreToolUse", "Edit", {"command": "ls"}, False),
        ("PreToolUse", "((", {"command": "ls"}, True),
        ("Stop", "Bash", None, False),
        ("PreToolUse", "Bash(git *)", {"command": "FOO=bar git push"}, True),
        ("PreToolUse", "Bash(git *)", {"command": "npm test && git push"}, True),
        ("PreToolUse", "Bash(git *)", {"command": "npm test\ngit push"}, True),
        ("PreToolUse", "Bash(git *)", {"command": "git"}, True),
        ("PreToolUse", "Bash(git *)", {"command": "echo 'x && git push'"}, False),
        ("PreToolUse", "Bash(rm *)", {"command": "echo $(rm -rf /)"}, True),
        ("PreToolUse", "Bash(rm *)", {"command": "echo `rm -rf /`"}, True),
        ("PreToolUse", "Bash(rm *)", {"command": "echo $(date)"}, False),
        ("PreToolUse", "Bash(cat *)", {"command": "echo before $(date) after"}, False),
        ("PreToolUse", "Bash(git *)", {"command": "$TOOL git push"}, True),
        ("PreToolUse", "Bash(git push *)", {"command": "echo $(date)"}, True),
        ("PreToolUse", "Bash(git push *)", {"command": "git pull"}, False),
        ("PreToolUse", "Bash(git *)", {"command": "echo 'it"}, True),
        ("PreToolUse", "Bash(git *)|Bash(rm *)", {"command": "git push"}, False),
        ("PreToolUse", "Bash(git *), Bash(rm *)", {"command": "git push"}, False),
        ("PreToolUse", "Bash, Edit", {"command": "git push"}, False),
    ],
)
def test_conditions(profile, event, condition, tool, hook_runs):
    """A hook with a condition runs on the calls that it covers, and never on an event without a tool."""
    hooks = hosts.configure(profile, {}, inline={event: {"command": "x", "if": condition}}).hooks

    assert bool(hosts.select(profile, hooks, event, "Bash", tool_input=tool)) is hook_runs


@pytest.mark.parametrize(
    "condition, tool, path, hook_runs",
    [
        ("Edit(*.ts)", "Edit", "/project/src/a.ts", True),
        ("Edit(*.ts)", "Write", "/project/a.ts", True),
        ("Write(*.ts)", "Edit", "/project/a.ts", False),
        ("Edit(*.ts)", "Edit", "/project/a.py", False),
        ("Edit(src/**)", "Edit", "/project/src/a/b.py", True),
        ("Edit(src/**)", "Edit", "/project/lib/src/b.py", False),
        ("Edit(**/src/**)", "Edit", "/project/lib/src/b.py", True),
        ("Edit(/src/*)", "Edit", "/project/src/b.py", True),
        ("Edit(//etc/**)", "Edit", "/etc/hosts", True),
        ("Edit(src/*)", "Edit", "/elsewhere/src/b.py", False),
        ("Edit", "NotebookEdit", "/project/a.ipynb", True),
        ("Read(.env*)", "Read", "/project/.env.local", True),
        ("Edit(~/x)", "Edit", "/project/x", True),
    ],
)
def test_conditions_about_paths(profile, condition, tool, path, hook_runs):
    """A path in a condition is one as Git ignores them, from the project's folder on."""
    hooks = hosts.configure(profile, {}, inline={"PreToolUse": {"command": "x", "if": condition}}).hooks
    given = {"notebook_path" if tool == "NotebookEdit" else "file_path": path}
    found = hosts.select(profile, hooks, "PreToolUse", tool, tool_input=given, folder="/project")
    assert bool(found) is hook_runs
