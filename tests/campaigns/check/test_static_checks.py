"""Claims about what check finds in settings and files before it runs anything."""

import json
import os

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.reads import script_calls
from pytest_hookharness.campaigns.check.static.hook_program import describe_other_readers
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.campaigns.check.untried_hooks import untried_hooks
from pytest_hookharness.frontends.checkup import UNKNOWN, status_of, unplayed
from pytest_hookharness.model.checkup import hook_name, hook_names
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.reports.terminal.check_report import render_check

SETTINGS = {
    "claude-code": ".claude/settings.json",
    "gemini-cli": ".gemini/settings.json",
    "plugin": "hooks/hooks.json",
}


def at(folder, path, text, mode=0o644):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    file.chmod(mode)


@pytest.fixture
def found(tmp_path):
    """The static result for some hooks of a host, each an event, a handler and a matcher."""

    def check(*hooks, place="claude-code"):
        events = {}
        for event, handler, *matcher in hooks:
            keys = {"command": handler} if isinstance(handler, str) else handler
            group = {"hooks": [{"type": "command", **keys}], **({"matcher": matcher[0]} if matcher else {})}
            events.setdefault(event, []).append(group)
        at(tmp_path, SETTINGS[place], json.dumps({"hooks": events}))
        (hook_set,) = find_hook_sets(tmp_path)
        return check_statically(hook_set)

    return check


def kinds(result):
    return [symptom.kind for symptom in result.symptoms]


def test_a_rule_that_raises(tmp_path, monkeypatch, found):
    """An error in one rule is reported, with what the other rules found, and the check does not pass."""

    def raising(_):
        raise TypeError("unhashable type")

    at(tmp_path, "x.sh", "#!/bin/sh\nexit 0\n", 0o755)
    monkeypatch.setattr(script_calls, "lost_statuses", raising)

    result = found(("Stop", "./x.sh"), ("Stopp", "true"))

    (error,) = result.errors
    assert "TypeError: unhashable type" in error
    assert kinds(result) == ["EVENT-UNKNOWN", "RELATIVE-PATH"]
    report = unplayed(find_hook_sets(tmp_path)[0])
    assert (report.failed, status_of([report])) == (True, UNKNOWN)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("#!/bin/sh\n", 0o755, None),
        ("echo no first line\n", 0o755, None),
        ("#!/bin/sh\n", 0o644, "is not executable"),
        ("#!/bin/sh\r\nexit 0\r\n", 0o755, "ends with CR"),
        (None, 0, "hooks/x.sh does not exist"),
    ],
)
@pytest.mark.parametrize(
    "command", ['"$CLAUDE_PROJECT_DIR/hooks/x.sh"', '"$CLAUDE_PROJECT_DIR"/hooks/x.sh -v 2>/dev/null']
)
def test_a_script_that_cannot_run(tmp_path, found, text, mode, said, command):
    """A script without its executable bit, with line ends of Windows, or that is missing does not run."""
    if text is not None:
        at(tmp_path, "hooks/x.sh", text, mode)
    result = found(("Stop", command))
    assert kinds(result) == ([] if said is None else ["NOT-RUN"])
    assert said is None or said in result.symptoms[0].text
    assert not result.stuck


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("#!/bin/sh\n", 0o755, ""),
        ("#!/bin/sh\n", 0o644, "the script is not executable"),
        ("#!/bin/sh\r\nexit 0\r\n", 0o755, "ends with CR"),
        ("#!/usr/bin/env no-such-program\n", 0o755, ""),
        (None, 0, ""),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/x.sh 2>/dev/null || true',
        '"$CLAUDE_PROJECT_DIR"/x.sh -v >> /tmp/log.txt 2>&1 &',
        '"$CLAUDE_PROJECT_DIR/x.sh" &>/dev/null || :',
        '"$CLAUDE_PROJECT_DIR/x.sh"; exit 0',
        'bash -c "$CLAUDE_PROJECT_DIR/x.sh 2>/dev/null || exit 0"',
        "/bin/sh -c '\"$CLAUDE_PROJECT_DIR\"/x.sh'",
    ],
)
def test_a_script_that_cannot_run_behind_what_hides_it(tmp_path, found, text, mode, said, command):
    """A command may hide how its script ends, and not that it never runs; a file may be missing."""
    if text is not None:
        at(tmp_path, "x.sh", text, mode)
    result = found(("Stop", command))
    told = [one.text for one in result.symptoms if one.kind == "NOT-RUN"]
    assert len(told) == bool(said)
    assert said in "".join(told)
    assert not result.stuck


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/x.sh || sh "$CLAUDE_PROJECT_DIR"/x.sh || true',
        '[ -x "$CLAUDE_PROJECT_DIR"/x.sh ] && "$CLAUDE_PROJECT_DIR"/x.sh || true',
        'chmod +x "$CLAUDE_PROJECT_DIR"/x.sh; "$CLAUDE_PROJECT_DIR"/x.sh; exit 0',
        'sh "$CLAUDE_PROJECT_DIR"/x.sh || true',
        "bash -c '. ./x.sh || true'",
    ],
)
def test_a_script_without_the_bit_that_is_started_in_another_way(tmp_path, found, command):
    """A script needs no executable bit where the command starts it otherwise, too, or tests for it."""
    at(tmp_path, "x.sh", "#!/bin/sh\n", 0o644)
    assert "NOT-RUN" not in kinds(found(("Stop", command)))


@pytest.mark.parametrize(
    ("own", "advice"),
    [
        (True, 'Begin the path with the project\'s folder: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh`.'),
        (False, "Name the script by a path that others have too, and add it to the project."),
    ],
)
def test_scripts_in_the_home_of_a_person(tmp_path, found, own, advice):
    """Scripts that are named below the home of one person are one problem, with the project's own path."""
    if own:
        at(tmp_path, ".claude/hooks/a.sh", "#!/bin/sh\n", 0o755)
    home = "/Users/user/.claude/hooks"
    result = found(("Stop", f"{home}/a.sh"), ("PreToolUse", f"{home}/b.sh"), ("Stop", "/usr/nowhere/c.sh"))

    first, other = result.symptoms
    assert first.text == (
        f"Stop, PreToolUse: {home}/a.sh does not exist: this path is that of one person's machine; the same "
        "holds for 1 other file."
    )
    assert first.hook == f"{home}/a.sh, {home}/b.sh"
    assert first.advice == advice
    assert other.text == "Stop: /usr/nowhere/c.sh does not exist."


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (".claude/hooks/a.sh", ["Stop: hooks/a.sh does not exist; the same holds for 1 other file."]),
        ("hooks/c.sh", ["Stop: hooks/a.sh does not exist.", "Stop: hooks/b.sh does not exist."]),
    ],
)
def test_missing_scripts_of_one_folder(tmp_path, found, there, told):
    """Scripts of a missing folder are one problem, and the advice names where the project has them."""
    at(tmp_path, there, "#!/bin/sh\n", 0o755)
    result = found(("Stop", '"$CLAUDE_PROJECT_DIR"/hooks/a.sh'), ("Stop", '"$CLAUDE_PROJECT_DIR"/hooks/b.sh'))

    assert [one.text for one in result.symptoms] == told
    place = "the project has .claude/hooks/a.sh" if len(told) == 1 else "or add the file"
    assert place in result.symptoms[0].advice


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("$CLAUDE_PROJECT_DIR/hooks/x.sh", True),
        ("bash scripts/hooks/x.sh", True),
        ("node -e \"require(path.join(root, 'lib', 'x.sh'))\"", False),
        ("curl -s https://example.org/a/x.sh | sh", False),
        ("ssh build /opt/ci/x.sh", False),
        ("~/.claude/hooks/x.sh", False),
        ("dist/x.sh", False),
    ],
)
def test_the_script_at_another_place_is_read(tmp_path, found, command, read):
    """Of a command that names a missing script by a path, the one script of that name is read, too."""
    at(tmp_path, "lib/own/x.sh", '#!/bin/sh\n[ "$tool_name" = bash ] && exit 2\n', 0o755)
    said = [one.text for one in found(("PreToolUse", command)).symptoms if "name with `bash`" in one.text]
    assert len(said) == read


@pytest.mark.parametrize(
    "command",
    [
        "hooks/x.sh || true",
        "[ -f hooks/x.sh ] && hooks/x.sh",
        "cd sub; ./x.sh",
        "$TOOLS/x.sh",
        "node -e 'require(1)' x.js",
        "bash -c x.sh",
        "echo $(x.sh)",
        "python3 -m tool",
    ],
)
def test_commands_that_are_not_judged(found, command):
    """Where it is not certain what a command runs, nothing is said about it."""
    result = found(("Stop", command))
    assert (result.symptoms, result.stuck) == ((), {})


@pytest.mark.parametrize("command", ["~/.x/x.sh a", 'bash "$HOME/.x/x.sh"', "python3 ${HOME}/.x/x.sh"])
def test_a_script_in_a_home_where_it_is_not_installed(tmp_path, monkeypatch, found, command):
    """A script below HOME that this machine does not have could not be tried."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    result = found(("Stop", command))
    assert (result.symptoms, result.stuck) == ((), {command: "~/.x/x.sh is not on this machine"})
    at(tmp_path, "home/.x/x.sh", "#!/bin/sh\n", 0o755)
    assert not found(("Stop", command)).stuck


def test_one_cause_of_several_hooks(tmp_path, found):
    """Scripts with the same defect are one cause, which names all of their hooks."""
    for name in ("a", "b"):
        at(tmp_path, f"{name}.sh", "#!/bin/sh\n")
    top = '"$CLAUDE_PROJECT_DIR"'
    result = found(("Stop", f"{top}/a.sh"), ("PreToolUse", f"{top}/b.sh"))
    (symptom,) = result.symptoms
    assert symptom.hook == f"{top}/a.sh, {top}/b.sh"
    assert symptom.text == "Stop, PreToolUse: the script is not executable."


def test_a_program_that_this_machine_lacks(tmp_path, found):
    """A program that is not on PATH is one line for all hooks that need it, and no defect of theirs."""
    at(tmp_path, "x.zz", "#!/usr/bin/env -S no-such-shell -e\n", 0o755)
    result = found(
        ("Stop", "no-such-runner run x.py"),
        ("PreToolUse", "no-such-runner y"),
        ("Stop", '"$CLAUDE_PROJECT_DIR"/x.zz'),
    )
    assert result.symptoms == ()
    (hook_set,) = find_hook_sets(tmp_path)
    of_runner, of_shell = untried_hooks(hook_set, result, ())
    assert of_runner == (
        "no-such-runner is not on PATH: 2 hooks could not be tried, Stop 1 (x.py), PreToolUse 1 "
        "(no-such-runner y)"
    )
    assert of_shell.endswith('1 hook could not be tried, Stop 2 ("$CLAUDE_PROJECT_DIR"/x.zz)')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("command -v no-such-tool &>/dev/null || exit 0\n", True),
        ("if ! command -v no-such-tool >/dev/null 2>&1; then\n  echo no >&2\n  exit 0\nfi\n", True),
        ("which no-such-tool >/dev/null || { echo no >&2; exit 2; }\n", False),
        ("use() {\n  command -v no-such-tool || exit 0\n}\n", False),
        ("if ! command -v no-such-tool; then\n  echo no\nfi\nexit 0\n", False),
        ("command -v sh || exit 0\n", False),
        ('. "$lib"\ncommand -v function_of_it >/dev/null || exit 0\n', False),
    ],
)
def test_a_hook_that_ends_without_a_program(tmp_path, found, text, said):
    """A hook that ends at once as this machine lacks a program could not be tried."""
    at(tmp_path, "hooks/x.sh", text)
    result = found(("Stop", 'sh "$CLAUDE_PROJECT_DIR/hooks/x.sh"'))
    (hook_set,) = find_hook_sets(tmp_path)
    expected = ["Stop 1 (x.sh) did nothing, as no-such-tool is not on PATH"] if said else []
    assert [*untried_hooks(hook_set, result, ())] == expected


def test_files_that_are_built_are_not_missed(found):
    """A file in a folder of build results is missing in this checkout, and not in the project."""
    result = found(("Stop", "node dist/hook.js"))
    assert (result.symptoms, len(result.stuck)) == ((), 1)


def test_a_path_of_a_plugin_that_is_relative(tmp_path, found):
    """A plugin's hooks start in the user's project, so a relative path leads to no file of the plugin."""
    at(tmp_path, "hooks/x.sh", "#!/bin/sh\n", 0o755)
    (symptom,) = found(("Stop", "./hooks/x.sh"), place="plugin").symptoms
    assert "in the user's project" in symptom.text
    assert '"${CLAUDE_PLUGIN_ROOT}"/hooks/x.sh' in symptom.advice
    assert not found(("Stop", '"${CLAUDE_PLUGIN_ROOT}"/hooks/x.sh'), place="plugin").symptoms


@pytest.mark.parametrize(
    ("command", "variable"),
    [
        ("sh $CLAUDE_PROJECT_DIR/x.sh; exit", "$CLAUDE_PROJECT_DIR"),
        ("env X=1 python3 ${CLAUDE_PROJECT_DIR}/x.py --now", "${CLAUDE_PROJECT_DIR}"),
        ("# it's here\n[ -f $CLAUDE_PROJECT_DIR/x ] && exit 2", "$CLAUDE_PROJECT_DIR"),
        ('echo "a" $CLAUDE_PROJECT_DIR', "$CLAUDE_PROJECT_DIR"),
        ("python3 $(git rev-parse --show-toplevel)/x.py", "$(git rev-parse --show-toplevel)"),
        ('notify-send "$(basename "$PWD")"; cd $PWD', None),
        ('top=$(git rev-parse --show-toplevel); cat "$(git rev-parse --show-toplevel)/x"', None),
        ('cat "$CLAUDE_PROJECT_DIR"/x.txt', None),
        ('cat "${CLAUDE_PROJECT_DIR}/x.txt" \\$CLAUDE_PROJECT_DIR', None),
        ('at=$CLAUDE_PROJECT_DIR/x; sh "$at" >> $CLAUDE_PROJECT_DIR/log', None),
        ("bash -c '[[ -f $CLAUDE_PROJECT_DIR/x ]]'", None),
        ("echo $CLAUDE_PROJECT_DIRECTORY $HOME", None),
        ('cat "$(dirname "$CLAUDE_PROJECT_DIR")/x.txt"', None),
        ('cat "$( (cd "$CLAUDE_PROJECT_DIR") || pwd)/x.txt" "it is (not) here"', None),
        ('cat "$(dirname $CLAUDE_PROJECT_DIR)/x.txt"', "$CLAUDE_PROJECT_DIR"),
    ],
)
def test_a_folder_that_is_not_quoted(found, command, variable):
    """What gives the project's folder, and is split at spaces by the shell, is named, and nothing else."""
    result = found(("Stop", command), ("PreToolUse", command))
    assert kinds(result) == ([] if variable is None else ["UNQUOTED-PATH"])
    assert variable is None or result.symptoms[0].text.startswith(
        f"Stop, PreToolUse: {variable} is not quoted"
    )


def test_a_host_that_quotes_paths_itself(found):
    """Where the host puts a quoted path for `$NAME`, only `${NAME}` is left to the shell."""
    assert not kinds(found(("AfterAgent", "cat $GEMINI_PROJECT_DIR/x.txt"), place="gemini-cli"))
    assert kinds(found(("AfterAgent", "cat ${GEMINI_PROJECT_DIR}/x.txt"), place="gemini-cli")) == [
        "UNQUOTED-PATH"
    ]


def test_a_script_that_only_the_projects_folder_leads_to(tmp_path, found):
    """A host that starts hooks in the agent's folder does not find a relative script after a `cd`."""
    at(tmp_path, "hooks/x.py", "")
    (symptom,) = found(("Stop", "python3 hooks/x.py"), ("PreToolUse", "python3 -I hooks/x.py")).symptoms
    assert (symptom.kind, symptom.hook) == ("RELATIVE-PATH", "python3 hooks/x.py")
    assert symptom.advice.endswith('folder, as in `"$CLAUDE_PROJECT_DIR"/hooks/x.py`.')


@pytest.mark.parametrize(("matcher", "kinds_"), [("startup", []), ("compact", ["RELATIVE-PATH"])])
def test_a_relative_script_before_any_work(tmp_path, found, matcher, kinds_):
    """A hook that runs only when a session starts finds a relative script."""
    at(tmp_path, "hooks/x.py", "")
    assert kinds(found(("SessionStart", "python3 hooks/x.py", matcher))) == kinds_


@pytest.mark.parametrize(
    ("value", "local", "number"),
    [
        ("1", None, 0),
        ("true", None, 0),
        (1, None, 0),
        ("0", None, 2),
        ("", None, 2),
        ("1", "0", 2),
        (None, "1", 0),
    ],
)
def test_an_agent_that_goes_back_to_the_project(tmp_path, value, local, number):
    """With the variable that takes the agent back after each command, no relative path is wrong."""
    at(tmp_path, "hooks/x.sh", "#!/bin/bash\necho 1 > .run/count\n")
    group = {"hooks": [{"type": "command", "command": "bash hooks/x.sh"}]}
    name = "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR"
    settings = {"env": {} if value is None else {name: value}, "hooks": {"Stop": [group]}}
    at(tmp_path, ".claude/settings.json", json.dumps(settings))
    if local is not None:
        at(tmp_path, ".claude/settings.local.json", json.dumps({"env": {name: local}}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert kinds(check_statically(hook_set)) == ["RELATIVE-PATH"] * number


def test_a_relative_script_that_is_not_executable(tmp_path, found):
    """A path that a `cd` makes wrong is reported beside what keeps the script from running at all."""
    at(tmp_path, "hooks/x.sh", "#!/bin/sh\n", 0o644)
    assert sorted(kinds(found(("Stop", "hooks/x.sh")))) == ["NOT-RUN", "RELATIVE-PATH"]


def test_a_relative_script_in_a_folder_that_stays(tmp_path, found):
    """On a host whose commands all start in the project's folder, a relative script is found."""
    at(tmp_path, "hooks/x.py", "")
    assert not kinds(found(("AfterAgent", "python3 hooks/x.py"), place="gemini-cli"))


@pytest.mark.parametrize(
    ("event", "matcher", "said"),
    [
        ("SessionStart", "startup|resume", None),
        ("SessionStart", "init", "did you mean the event Setup"),
        ("PreCompact", "always", "fits none of manual, auto"),
        ("PreToolUse", "bash", "`bash` must be `Bash`"),
        ("PreToolUse", "run_shell_command", "names tools of another host"),
        ("PreToolUse", "execute_command|write_to_file", "names tools of another agent"),
        ("PreToolUse", ".*search_files", None),
        ("PostToolUse", ".*(replace_file_content|write_to_file).*", "names tools of another agent"),
        ("PostToolUse", ".*(write_to_file|my_own_tool).*", None),
        ("PostToolUse", "write_to_file|Write", None),
        ("PostToolUse", "Stop", "names an event"),
        ("PreToolUse", "Bash|run_shell_command", None),
        ("PreToolUse", "mcp__db__drop", None),
        ("PreToolUse", "MyTool", None),
        ("PreToolUse", "Bash(git push:*)", "with names of tools"),
        ("PostToolUse", "Write(*.py)", "with names of tools"),
        ("PostToolUse", "Edit(src/**)|Write(src/**)", "with names of tools"),
        ("PostToolUse", "*.ts", "with names of tools"),
        ("PostToolUse", "*", None),
        ("PostToolUse", "**", None),
        ("PostToolUse", "mcp__db__(.*)", None),
        ("PostToolUse", "Edit|Write(.*)", None),
        ("PreToolUse", 'tool == "Bash" && tool_input.command matches "(rm|mv)"', "with names of tools"),
        ("PreToolUse", 'tool_input.file_path matches "\\.(ts|tsx)$"', "with names of tools"),
        ("PreToolUse", "(Edit|Write)", None),
        ("PreToolUse", "mcp__.*|Edit", None),
    ],
)
def test_matchers_that_fit_nothing(found, event, matcher, said):
    """A matcher that fits no value of its event is a defect; a name of a tool that nobody knows is none."""
    result = found((event, "true", matcher))
    assert kinds(result) == ([] if said is None else ["NEVER-FIRED"])
    assert said is None or said in result.symptoms[0].text


def test_hooks_with_one_matcher_that_fits_nothing_are_one_problem(found):
    """All hooks of such a matcher are named, and not only the last of them."""
    (symptom,) = found(
        ("PreToolUse", "./a.sh || true", "bash"), ("PreToolUse", "./b.sh || true", "bash")
    ).symptoms
    assert (symptom.hook, symptom.entries) == ("./a.sh || true, ./b.sh || true", (1, 2))


def test_front_matter_without_groups(tmp_path):
    """Entries of front matter without a list `hooks` are reported once, with the name of the file."""
    entries = "".join(f"    - matcher: {tool}\n      command: ./x.sh\n" for tool in ("Bash", "Edit"))
    text = f"---\nname: safe\nhooks:\n  PreToolUse:\n{entries}---\n"
    at(tmp_path, ".claude/skills/safe/SKILL.md", text)
    (hook_set,) = find_hook_sets(tmp_path)
    (symptom,) = check_statically(hook_set).symptoms
    assert symptom.text.startswith(
        ".claude/skills/safe/SKILL.md, hooks.PreToolUse[0], hooks.PreToolUse[1]: has no key 'hooks'"
    )
    assert not hook_set.hooks


def test_conditions_as_matchers_are_one_cause(found):
    """Conditions in the place of matchers are reported once with all their hooks, by what they fit."""
    either = 'tool == "Edit" || tool == "Write"'
    none = 'tool == "Edit" && tool_input.file_path matches "x"'
    result = found(
        ("PreToolUse", "true", either),
        ("PreToolUse", "echo", "Read"),
        ("PreToolUse", "echo", either),
        ("PostToolUse", "true", none),
        ("PostToolUse", "echo", none),
    )
    assert [(one.kind, one.entries) for one in result.symptoms] == [
        ("CONFIG-OFF", (1, 3)),
        ("NEVER-FIRED", (4, 5)),
    ]
    assert "it runs for every tool" in result.symptoms[0].text


def test_a_condition_about_tools_on_another_event(found):
    """A condition about tools is never met on an event that has none."""
    assert kinds(found(("Stop", {"command": "true", "if": "Bash(git *)"}))) == ["NEVER-FIRED"]
    assert not kinds(found(("PreToolUse", {"command": "true", "if": "Bash(git *)"})))


@pytest.mark.parametrize(
    ("place", "event", "timeout", "said"),
    [
        ("claude-code", "Stop", 600, None),
        ("claude-code", "Stop", 10000, "2.8 hours, as claude-code counts seconds; 10 may be meant"),
        ("claude-code", "Stop", 3000, "50 minutes, as claude-code counts seconds; 3 may be meant"),
        ("claude-code", "Stop", 3600, None),
        ("gemini-cli", "AfterAgent", 5000, None),
        ("gemini-cli", "AfterAgent", 30, "0.03 s, as gemini-cli counts milliseconds; 30000 may be meant"),
    ],
)
def test_timeouts_in_another_unit(found, place, event, timeout, said):
    """A timeout of hours, or of milliseconds, was probably meant in the other unit."""
    result = found((event, {"command": "true", "timeout": timeout}), place=place)
    assert kinds(result) == ([] if said is None else ["TIMEOUT-UNIT"])
    assert said is None or said in result.symptoms[0].text


def test_timeouts_of_one_file_are_one_cause(tmp_path, found):
    """All timeouts of a settings file in another unit are one problem, which names their hooks."""
    limits = {"a.sh": 15000, "b.sh": 5000, "c.sh": 15000, "d.sh": 60}
    (symptom,) = found(
        *(("Stop", {"command": f"echo {name}", "timeout": limit}) for name, limit in limits.items())
    ).symptoms
    (hook_set,) = find_hook_sets(tmp_path)
    assert symptom.text == (
        "Stop: their timeouts 15000 and 5000 mean 4.2 hours and 1.4 hours, as claude-code counts seconds; "
        "15 and 5 may be meant."
    )
    names = hook_names(hook_set.hooks, symptom.hook, symptom.entries)
    assert names == "Stop 1 (a.sh), Stop 2 (b.sh), Stop 3 (c.sh)"


@pytest.mark.nightly
def test_a_hook_that_its_wrong_timeout_ends_does_not_hang(tmp_path, found, harness):
    """Where a timeout in the wrong unit ends a run, that is the one problem, and it must be fixed."""
    found(("AfterAgent", {"command": "exec tail -f /dev/null", "timeout": 30}), place="gemini-cli")
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    (symptom,) = [problem.symptom for problem in report.problems]
    assert (symptom.kind, symptom.must_fix) == ("TIMEOUT-UNIT", True)
    assert symptom.effect == "gemini-cli ended 1 of 1 run before the hook was done."


def test_an_event_by_its_name_elsewhere(tmp_path):
    """An event that has another name on this host is a defect, and the right name comes first."""
    hooks = {"version": 1, "hooks": {"userPromptSubmit": [{"command": "true"}]}}
    at(tmp_path, ".cursor/hooks.json", json.dumps(hooks))
    (hook_set,) = find_hook_sets(tmp_path)
    (symptom,) = check_statically(hook_set).symptoms
    assert symptom.kind == "EVENT-UNKNOWN"
    assert "did you mean 'beforeSubmitPrompt'?" in symptom.text


@pytest.mark.parametrize(
    ("condition", "several"),
    [
        ("Write(src/**) Edit(src/**)", True),
        ("Bash(git *) || Bash(rm *)", True),
        ("Edit|Write", True),
        ("Bash(git commit *)", False),
        ("Bash(echo (a) b, c | d *)", False),
        ("mcp__memory__.*", False),
    ],
)
def test_a_condition_with_several_rules(found, condition, several):
    """A hook whose condition lists permission rules never runs, as the host takes exactly one."""
    result = found(("PreToolUse", {"command": "true", "if": condition}))
    assert [one.kind for one in result.symptoms] == ["NEVER-FIRED"] * several
    assert not several or "holds several permission rules" in result.symptoms[0].text


@pytest.mark.parametrize("events", [("pre", "after"), ("pre", "after", "on_error", "notification")])
def test_many_events_that_a_host_does_not_know(tmp_path, events):
    """Two unknown events are a problem each; more of them are one, with all names."""
    hooks = {event: [{"hooks": [{"type": "command", "command": "true"}]}] for event in events}
    at(tmp_path, ".claude/settings.json", json.dumps({"hooks": hooks}))
    (hook_set,) = find_hook_sets(tmp_path)
    texts = [one.text for one in check_statically(hook_set).symptoms if one.kind == "EVENT-UNKNOWN"]
    if len(events) == 2:
        assert texts[0].endswith("has no event 'pre' and ignores the hooks there.")
    assert len(texts) == (2 if len(events) == 2 else 1)
    assert len(events) == 2 or texts == [
        (
            ".claude/settings.json: claude-code has no events 'pre', 'after', 'on_error', 'notification', "
            "and ignores the hooks there; it has 'Notification' for 'notification'."
        )
    ]


@pytest.mark.nightly
def test_a_missing_program_that_stops_the_agent(tmp_path, found, harness):
    """If a host takes a hook that cannot run for a refusal, it is reported once, and others are tried."""
    never = "echo Again. >&2; exit 2"
    found(("BeforeModel", "no-such-runner"), ("AfterTool", "true"), ("AfterAgent", never), place="gemini-cli")
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources, "livelock").run()
    (text,) = report.untried
    assert text == (
        "no-such-runner is not on PATH: 1 hook could not be tried, BeforeModel 1 (no-such-runner); "
        "gemini-cli takes this for a refusal of BeforeModel; the model is never asked, so the agent can do "
        "nothing; the other hooks were tried without it"
    )
    assert {problem.symptom.hook for problem in report.problems} == {never}
    assert report.tried[0].endswith(": 2 of 3 hooks.")
    assert {"true", never} <= {*report.triggered}


@pytest.mark.nightly
def test_nothing_is_told_of_a_hook_whose_program_is_missing(tmp_path, found, harness):
    """Runs that never began are not counted as tried, nor taken for those of a guard that refuses nothing."""
    found(("PreToolUse", "no-such-runner"), ("PreToolUse", "true"))
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    told = [*report.tried, *report.open]
    assert report.untried == (
        "no-such-runner is not on PATH: 1 hook could not be tried, PreToolUse 1 (no-such-runner)",
    )
    assert any("1 of 2 hooks." in text for text in told)
    assert [text.partition(" (")[0] for text in told if text.startswith("PreToolUse")] == [
        "PreToolUse 2",
        "PreToolUse 2",
    ]


@pytest.mark.nightly
def test_a_missing_script_that_keeps_the_agent_from_working(tmp_path, found, harness):
    """A missing script that stops the agent is one problem with that effect, and the others are tried."""
    found(("BeforeModel", "./x.sh"), ("AfterTool", "echo text >log"), place="gemini-cli")
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources, "not-run").run()
    (problem,) = report.problems
    assert problem.symptom.effect.endswith("the model is never asked, so the agent can do nothing.")
    assert "echo text >log" in report.triggered


@pytest.mark.nightly
def test_a_hook_that_reads_beside_one_that_cannot(tmp_path, found, harness):
    """That a script opens its input by name is refuted for a hook that read it, and for no other one."""
    at(tmp_path, "a.sh", "#!/bin/sh\nC=$(cat /dev/stdin 2>/dev/null)\n")
    at(tmp_path, "b.sh", "#!/bin/sh\nC=$(cat /dev/stdin 2>/dev/null)\ncat >/dev/null\n")
    found(("PreToolUse", "sh a.sh"), ("PreToolUse", "sh b.sh"))
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources, "MISSING-INPUT").run()
    (problem,) = report.problems
    assert problem.symptom.hook == "sh a.sh"


def test_nothing_is_played_if_nothing_can_run(tmp_path, found, harness):
    """If no hook can run here, no session is played, and the exit status is "unknown"."""
    found(("Stop", "no-such-runner run x.py"))
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    assert (report.problems, report.tried, status_of([report])) == ((), (), UNKNOWN)
    text = render_check(report, lambda *_: "")
    assert text.startswith(
        "claude-code: 1 hook could not be tried\n\ncould not be tried:\n  - no-such-runner"
    )


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./gate.sh", "Stop 1 (gate.sh)"),
        ('node -e "const p=require(1)" node scripts/hooks/fact.js standard', "Stop 1 (fact.js)"),
        ('node "$ROOT"/run.cjs "$ROOT"/scripts/session.mjs', "Stop 1 (session.mjs)"),
        ("npx block-no-verify@1.1.2", "Stop 1 (npx block-no-verify@1.1.2)"),
    ],
)
def test_names_of_hooks(command, name):
    """A hook is named by its event, its position and its script."""
    assert hook_name([Hook(event="Stop", command=command)], command) == name


def test_names_of_several_hooks():
    """A command of several events has all of them in its name, and unknown commands stay as they are."""
    hooks = [
        Hook(event=event, command=command) for event, command in (("Stop", "a"), ("Stop", "b"), ("X", "a"))
    ]
    assert hook_names(hooks, "a, b") == "Stop 1, X 1 (a), Stop 2 (b)"
    assert hook_names(hooks, "c") == "c"


DASH = pytest.mark.skipif(
    os.path.realpath("/bin/sh").rpartition("/")[2] != "dash", reason="/bin/sh is no dash"
)


@DASH
def test_a_command_that_the_shell_cannot_read(tmp_path, found):
    """A command with a syntax error for the host's shell does not run, and is only read for this."""
    command = f'touch {tmp_path}/done; if [[ "$A" =~ \\.(js|ts)$ ]]; then exit 2; fi'
    (symptom,) = found(("Stop", command)).symptoms
    assert symptom.kind == "NOT-RUN"
    assert "Stop: dash, which is /bin/sh here, cannot read the command: " in symptom.text
    assert not (tmp_path / "done").exists()


@DASH
@pytest.mark.parametrize(
    ("command", "found_kinds"),
    [
        ('if [[ -n "$A" ]]; then exit 2; fi', ["STRICT-SHELL"]),
        ('[[ "$A" = 1 ]] && exit 2', ["STRICT-SHELL"]),
        ("bash -c '[[ -n $A ]] && exit 2'", []),
        ('echo " [[ " | grep x', []),
    ],
)
def test_conditions_that_only_bash_knows(found, command, found_kinds):
    """A condition in double brackets is an unknown command for dash, unless bash is started for it."""
    assert kinds(found(("Stop", command))) == found_kinds


def test_hosts_that_read_the_same_settings(tmp_path, found):
    """A host that reads the same file and lacks a variable of its commands is named, and no other host."""
    at(tmp_path, ".claude/settings.local.json", "{}")
    found(("Stop", 'sh "$CLAUDE_PROJECT_DIR"/x.sh'))
    (hook_set,) = find_hook_sets(tmp_path)
    (text,) = describe_other_readers(hook_set)
    assert text.startswith("copilot-cli reads .claude/settings.json too, and sets no $CLAUDE_PROJECT_DIR")
    found(("Stop", "sh x.sh"))
    (hook_set,) = find_hook_sets(tmp_path)
    assert not [*describe_other_readers(hook_set)]


def test_variables_that_no_host_sets(found):
    """A variable of old examples is named, unless the command has a default for it."""
    (symptom,) = found(("PostToolUse", 'npx prettier "$CLAUDE_TOOL_INPUT_FILE_PATH"')).symptoms
    assert symptom.kind == "MISSING-INPUT"
    assert "$CLAUDE_TOOL_INPUT_FILE_PATH is always empty, because claude-code does not set it" in symptom.text
    assert not kinds(found(("PostToolUse", 'echo "${CLAUDE_TOOL_NAME:-none}" "$CLAUDE_PROJECT_DIR"')))
    (symptom,) = found(("PostToolUse", 'log "${TOOL_NAME:-unknown}"')).symptoms
    assert symptom.text.startswith("PostToolUse: $TOOL_NAME is always empty")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("FILE=$(echo $STDIN_JSON | jq -r '.tool_input.file_path'); black \"$FILE\"", "$STDIN_JSON"),
        ("printf '%s' \"${INPUT}\" | jq -e '.tool_name'", "$INPUT"),
        ("INPUT=$(cat); echo \"$INPUT\" | jq -r '.tool_name'", ""),
        ("set INPUT (cat); echo \"$INPUT\" | jq -r '.tool_name'", ""),
        ("read -r INPUT; echo \"$INPUT\" | jq -r '.tool_name'", ""),
        (". ./lib.sh; echo \"$INPUT\" | jq -r '.tool_name'", ""),
        ("echo $RESULT | jq -r '.name'", ""),
    ],
)
def test_variables_that_hold_no_input(found, command, name):
    """A variable that is given to jq as the input of the hook, and that nothing sets, is MISSING-INPUT."""
    texts = [one.text for one in found(("PostToolUse", command)).symptoms if one.kind == "MISSING-INPUT"]
    assert [text.partition(" is always empty")[0] for text in texts] == [f"PostToolUse: {name}"] * bool(name)


@pytest.mark.parametrize(
    ("script", "text", "said"),
    [
        ("x.sh", "IN=$(cat)\nT=$(echo \"$IN\" | jq -r '.transcript // empty')\n", "`transcript_path`"),
        ("x.sh", "IN=$(cat || true)\nT=$(jq -r '.x,.transcript' <<<\"$IN\")\n", "`transcript_path`"),
        ("x.sh", "IN=$(cat)\nT=$(echo \"$IN\" | jq -r '.transcript // .transcript_path')\n", ""),
        (
            "x.sh",
            "IN=$(cat)\nT=$(jq -r '.transcript[-1].content // 0' <<<$IN)\n",
            "`transcript_path`",
        ),
        ("x.sh", "IN=$(cat)\nT=$(echo \"$IN\" | jq -r '.transcript[0] | length')\n", "`transcript_path`"),
        ("x.sh", "IN=$(cat)\nT=$(jq -r '.transcript' state.json)\n", ""),
        ("x.sh", "IN=$(cat)\nT=$(echo \"$IN\" | jq -r '.own')\n", ""),
        ("x.py", "data = json.load(sys.stdin)\npath = data.get('transcript')\n", "`transcript_path`"),
        ("x.py", "data = json.load(sys.stdin)\ndata.get('transcript') or data['transcript_path']\n", ""),
        ("x.py", "data = json.load(sys.stdin)\nsaid = data.get('tool_output')\n", "`tool_response`"),
        ("x.py", "data = json.load(sys.stdin)\ndata.get('tool_output', data['tool_response'])\n", ""),
        ("x.py", "data = json.load(open('x'))\npath = data.get('transcript')\n", ""),
        ("x.js", "read(stdin); const i = JSON.parse(raw);\nlet f = i.transcript;\n", "`transcript_path`"),
        ("x.js", "read(stdin); const i = JSON.parse(raw);\nlet f = i.toolInput;\n", "`tool_input`"),
        (
            "x.js",
            "read(stdin); i = JSON.parse(x);\ni.assistant_response;\n",
            "`last_assistant_message`",
        ),
        ("x.js", "read(stdin); const i = JSON.parse(raw);\nlet f = i.toolInput ?? i.tool_input;\n", ""),
        ("x.js", "read(stdin); const i = JSON.parse(raw);\nlet f = i.name || i.toString();\n", ""),
        ("x.js", "read(stdin); a = JSON.parse(raw);\nb = JSON.parse(file);\nlet f = a.transcript;\n", ""),
    ],
)
def test_a_key_that_no_host_sends(tmp_path, found, script, text, said):
    """A script that reads a key which no host sends, and never the one that is meant, is found."""
    uses = {"sh": 'echo "$T"', "py": "print(path, said)", "js": "use(f);"}[script[2:]]
    at(tmp_path, f"hooks/{script}", f"{text}{uses}\n")
    event = "PostToolUse" if "tool" in text else "Stop"
    result = found((event, f'sh "$CLAUDE_PROJECT_DIR/hooks/{script}"'))
    assert kinds(result) == (["MISSING-INPUT"] if said else [])
    assert not said or f"and claude-code sends {said}" in result.symptoms[0].text


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("x.sh", "IN=$(cat)\nT=$(echo \"$IN\" | jq -r '.transcript')\n"),
        ("x.py", "data = json.load(sys.stdin)\nsaid = data.get('transcript')\n"),
        (
            "x.py",
            "def f(transcript): g()\nd = json.load(sys.stdin)\ntranscript = d['transcript']\nf(transcript)\n",
        ),
    ],
)
def test_a_key_whose_value_is_not_used(tmp_path, found, script, text):
    """A wrong key whose value the script does not use is not reported."""
    at(tmp_path, f"hooks/{script}", text)
    assert not kinds(found(("Stop", f'sh "$CLAUDE_PROJECT_DIR/hooks/{script}"')))


@pytest.mark.parametrize(("call", "named"), [("", False), ("print(answered(data))\n", True)])
def test_a_key_in_a_function_that_is_not_called(tmp_path, found, call, named):
    """A wrong key that only an uncalled function reads is not reported."""
    text = "def answered(data):\n    if data:\n        return data.get('tool_output')\n\n"
    at(tmp_path, "hooks/x.py", f"{text}data = json.load(sys.stdin)\nprint(data['tool_name'])\n{call}")
    result = found(("PostToolUse", 'python3 "$CLAUDE_PROJECT_DIR/hooks/x.py"'))
    assert kinds(result) == (["MISSING-INPUT"] if named else [])


def test_a_script_with_many_empty_lines(tmp_path, found):
    """Empty lines are read once: no pattern begins anew in each of them."""
    at(tmp_path, "hooks/x.sh", "#!/bin/bash\nIN=$(cat)\n" + "\n" * 100_000)
    assert not kinds(found(("Stop", 'bash "$CLAUDE_PROJECT_DIR/hooks/x.sh"')))


def test_a_matcher_that_names_an_event(found):
    """A matcher of subagents that names an event fits none; other names may be those of subagents."""
    result = found(("SubagentStop", "true", "Stop"), ("SubagentStop", "true", "reviewer"))
    (symptom,) = result.symptoms
    assert (symptom.kind, symptom.hook) == ("NEVER-FIRED", "true")
    assert "is compared with `agent_type`" in symptom.text


@pytest.mark.parametrize(
    ("script", "text", "said"),
    [
        ("x.py", "if data['tool_name'] == 'bash':\n", "`bash`"),
        ("x.py", 'if data.get("tool_name", "") != "bash":\n', "`bash`"),
        ("x.py", "if tool_name not in ('write', 'edit'):\n", "`write`"),
        ("x.js", "if (input.tool_name === 'bash') {\n", "`bash`"),
        ("x.sh", '[ "$TOOL_NAME" = "bash" ] || exit 0\n', "`bash`"),
        ("x.sh", '[[ "$tool_name" == bash ]] || exit 0\n', "`bash`"),
        ("x.sh", "jq -e 'select(.tool_name == \"bash\")'\n", "`bash`"),
        ("x.sh", 'case "$tool_name" in\n  bash|shell) exit 2 ;;\nesac\n', "`bash`"),
        ("x.js", "if (['write', 'edit'].includes(input.tool_name)) {\n", "`write`"),
        ("x.js", "if ('bash' === input.tool_name) {\n", "`bash`"),
        ("x.py", "if data['tool_name'] == 'web-write':\n", ""),
        ("x.sh", 'case "$tool_name" in bash|Bash) exit 2;; esac\n', ""),
        ("x.sh", 'case "$tool_name" in Bash) case $2 in edit) ;; esac;; esac\n', ""),
        ("x.sh", 'declare -l tool_name\ncase "$tool_name" in bash) exit 2;; esac\n', ""),
        ("x.py", "if data['tool_name'] == 'Bash':\n", ""),
        ("x.py", "if tool_name in ('bash', 'Bash'):\n", ""),
        ("x.py", "if tool_name == 'bash' or tool_name == 'Bash':\n", ""),
        ("x.py", "if data['tool_name'].lower() == 'bash':\n", ""),
        ("x.py", "names = {'bash': 'Bash'}\nif tool_name == 'bash':\n", ""),
        ("x.py", "# tool_name == 'bash' is wrong\n", ""),
        ("x.py", "if tool_name == 'my_own_tool':\n", ""),
        ("x.py", "tool_name = 'bash'\n", ""),
        ("x.sh", 'tool_name="bash"\n', ""),
        ("x.sh", 'T=$(echo "$T" | tr A-Z a-z)\n[ "$tool_name" = bash ]\n', ""),
        ("x.sh", '[ "${tool_name:l}" = bash ]\n', ""),
        ("x.sh", 'T=$(awk \'{print tolower($0)}\' <<< "$T")\n[ "$tool_name" = bash ]\n', ""),
        ("x.sh", '#!/bin/sh\n. ./lib.sh\n[ "$tool_name" = bash ]\n', ""),
        ("x.py", "for rule in rules:\n    if rule['tool_name'] == 'bash':\n", ""),
        ("x.js", "for (const rule of rules) {\n  if (rule.tool_name === 'bash') {\n", ""),
        ("x.py", "from lib import tool_name\nif tool_name == 'bash':\n", ""),
    ],
)
def test_a_tool_name_in_the_wrong_case(tmp_path, found, script, text, said):
    """A script that only knows a tool by a name in the wrong case is found, and no other."""
    at(tmp_path, f"hooks/{script}", text)
    at(tmp_path, "hooks/lib.sh", "tool_name=$(jq -r '.tool_name | ascii_downcase')\n")
    at(tmp_path, "hooks/lib.py", "tool_name = json.load(sys.stdin)['tool_name'].lower()\n")
    result = found(("PreToolUse", f'sh "$CLAUDE_PROJECT_DIR/hooks/{script}"'))
    assert kinds(result) == (["INERT-GUARD"] if said else [])
    assert not said or f"name with {said}, but claude-code sends" in result.symptoms[0].text


@pytest.mark.parametrize(
    ("matcher", "text", "named"),
    [
        ("Bash|Task", "if tool_name == 'Task':\n", True),
        ("Agent", "if tool_name in ('Task', 'Bash'):\n", True),
        ("Task", "if tool_name in ('Task', 'Agent'):\n", False),
        ("Bash", "if tool_name == 'Task':\n", False),
        ("Task", "if tool_name == 'TaskCreate':\n", False),
        ("Task", "if tool_name == 'Task' or re.match(r'^Agent$', tool_name):\n", False),
    ],
)
def test_a_tool_by_a_former_name(tmp_path, found, matcher, text, named):
    """A script that compares with a name that only older versions send is reported, with the current name."""
    at(tmp_path, "hooks/x.py", text)
    result = found(("PreToolUse", 'python3 "$CLAUDE_PROJECT_DIR"/hooks/x.py', matcher))
    said = ["PreToolUse: the script compares the tool's name with `Task`, but claude-code sends `Agent`."]
    assert [one.text for one in result.symptoms if "compares" in one.text] == said * named


@pytest.mark.parametrize(
    ("place", "matcher", "said"),
    [
        ("claude-code", "bash", "has the wrong case: `bash` must be `Bash`"),
        ("claude-code", "^(edit|write)$", "`edit` must be `Edit`; `write` must be `Write`"),
        ("claude-code", "Wirte", "misspells a tool: `Wirte` must be `Write`"),
        ("claude-code", "Writ", "misspells a tool"),
        ("claude-code", "Bash|Wite", "the matcher `Bash|Wite` leaves out `Write`, which is written `Wite`"),
        ("gemini-cli", "read-file|write-file", "`read-file` must be `read_file`; `write-file` must be"),
        ("gemini-cli", "readFile", "misspells a tool: `readFile` must be `read_file`"),
        # These fit, are tools of another host beside a right name, or may be a tool of the person.
        ("gemini-cli", "read_fil", ""),
        ("gemini-cli", "read_files", ""),
        ("claude-code", "Bash|Writes|mcp__notes__write", ""),
        ("claude-code", "Edit|edit|Write|write_file", ""),
        ("claude-code", "Bash|create", ""),
        ("claude-code", "Edi", ""),
    ],
)
def test_a_matcher_with_a_tool_in_another_spelling(found, place, matcher, said):
    """A matcher that fits no call of a tool because of its spelling is named, with the tool's own name."""
    event = "BeforeTool" if place == "gemini-cli" else "PreToolUse"
    texts = [one.text for one in found((event, "true", matcher), place=place).symptoms]
    assert len(texts) == bool(said)
    assert said in "".join(texts)


def test_a_script_that_compares_with_a_tool_in_another_spelling(tmp_path, found):
    """A name with a hyphen for an underscore is found, and not where the script knows the right one."""
    gemini = "$GEMINI_PROJECT_DIR/hooks"
    at(tmp_path, "hooks/x.py", "if data['tool_name'] == 'write-file':\n")
    at(tmp_path, "hooks/y.sh", 'case "$tool_name" in write-file|write_file) exit 2;; esac\n')
    result = found(
        ("BeforeTool", f"python3 {gemini}/x.py"), ("BeforeTool", f"sh {gemini}/y.sh"), place="gemini-cli"
    )
    said = [(one.hook, one.text) for one in result.symptoms if "compares the tool" in one.text]
    text = (
        "BeforeTool: the script compares the tool's name with `write-file`, "
        "but gemini-cli sends `write_file`."
    )
    assert said == [(f"python3 {gemini}/x.py", text)]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("Bash", "write_file"), True),
        (("Bash", "write_file", "run_shell_command"), False),
        (("Bash",), False),
        (("write_file",), False),
    ],
)
def test_a_script_that_knows_the_shell_of_another_host(tmp_path, found, names, said):
    """A hook of Gemini CLI that knows the shell only by Claude Code's name sees no command."""
    arms = "\n".join(f"  {name}) exit 2;;" for name in names)
    at(tmp_path, "hooks/x.sh", f'#!/bin/sh\ncase "$tool_name" in\n{arms}\nesac\n')
    result = found(("BeforeTool", 'sh "$GEMINI_PROJECT_DIR/hooks/x.sh"'), place="gemini-cli")
    texts = [one.text for one in result.symptoms if "compares the tool" in one.text]
    assert len(texts) == said
    assert not said or texts[0].endswith("`Bash`, but gemini-cli sends `run_shell_command`.")


def test_a_tool_name_that_another_host_sends(tmp_path, found):
    """A name is right on the host that sends it, and events without a tool have none."""
    at(tmp_path, "hooks/x.py", "if data['tool_name'] == 'write_file':\n")
    assert not kinds(found(("BeforeTool", 'python3 "$GEMINI_PROJECT_DIR/hooks/x.py"'), place="gemini-cli"))
    (tmp_path / SETTINGS["gemini-cli"]).unlink()
    at(tmp_path, "hooks/y.py", "if data['tool_name'] == 'bash':\n")
    assert not kinds(found(("Stop", 'python3 "$CLAUDE_PROJECT_DIR/hooks/y.py"')))


def test_entries_with_one_command(tmp_path, found):
    """Of two entries with one command, only the one with the defect is named."""
    at(tmp_path, "x.sh", "#!/bin/sh\n", 0o755)
    command = '"$CLAUDE_PROJECT_DIR"/x.sh'
    late = {"command": command, "timeout": 10000}
    result = found(("PreToolUse", command, "bash"), ("PreToolUse", late, "Bash"))
    (hook_set,) = find_hook_sets(tmp_path)
    named = {
        symptom.kind: hook_names(hook_set.hooks, symptom.hook, symptom.entries) for symptom in result.symptoms
    }
    assert named == {"NEVER-FIRED": "PreToolUse 1 (x.sh)", "TIMEOUT-UNIT": "PreToolUse 2 (x.sh)"}


@pytest.mark.parametrize(
    ("event", "matcher", "found_kinds"),
    [
        ("UserPromptSubmit", "^go$", ["CONFIG-OFF"]),
        ("Stop", "anything", ["CONFIG-OFF"]),
        ("Stop", 'tool == "Bash"', ["CONFIG-OFF"]),
        ("UserPromptSubmit", "*", []),
        ("Stop", "", []),
        ("Stop", "Stop", []),
        ("Stop", "SubagentStop|Stop", []),
        ("Stop", ".+", []),
        ("UserPromptSubmit", "^.*$", []),
        ("Stop", "^(.*)$", []),
        ("Stop", "**", []),
        ("PreToolUse", "Bash", []),
        ("SubagentStop", "reviewer", []),
    ],
)
def test_matchers_that_the_host_ignores(found, event, matcher, found_kinds):
    """A matcher at an event that has nothing to compare is named, unless it fits everything anyway."""
    assert kinds(found((event, "true", matcher))) == found_kinds


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"background": True}, "`background`, so the host waits for the hook; it reads `async`"),
        ({"timeoutMs": 500}, "`timeoutMs`, so the default timeout holds"),
        ({"timeOut": 5}, "`timeOut`, so the default timeout holds"),
        ({"enabled": False}, "`enabled`, so the hook runs"),
        (
            {"filePatterns": ["*.py"]},
            "`filePatterns` beside `command`, so it limits nothing: the hooks run at",
        ),
        ({"if": "Bash(git *)"}, ""),
        ({"enabled": True, "background": False, "description": "x", "async": True}, ""),
    ],
)
def test_a_key_of_an_entry(tmp_path, entry, said):
    """A key with which an entry would run in another way, and which the host does not read, is named."""
    hook = {"type": "command", "command": "true", **entry}
    at(tmp_path, ".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook, hook]}]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    found = [one for one in check_statically(hook_set).symptoms if "does not read the key" in one.text]
    assert [one.entries for one in found] == [(1, 2)] * bool(said)
    assert said in "".join(one.text for one in found)


GROUP_KEYS = [
    (
        "PostToolUse",
        {"tools": ["Edit", "Write"]},
        "`tools` beside `hooks`, so it limits nothing: the hooks run ",
    ),
    ("PreToolUse", {"matcher": "Edit", "file_patterns": ["*.py"]}, "whenever the matcher `Edit` fits"),
    ("PostToolUse", {"matcher": "*", "if": "env.FROZEN == 'on'"}, "run for every call of every tool"),
    ("Stop", {"condition": {"branch": "main"}}, "the hooks run at each Stop"),
    ("PostToolUse", {"matcher": "Edit|Write", "tools": ["Edit", "Write"]}, ""),
    ("PostToolUse", {"description": "Edit", "id": "a", "enabled": True, "_matcher_note": "Edit only"}, ""),
    ("Stop", {"when": "At the end of each turn."}, ""),
    ("PreToolUse", {"matcher": "Edit", "_if": "only-on-main", "event": "pre-tool-use"}, ""),
    ("Stop", {"file": "./check.sh"}, ""),
    ("Stop", {"files": "**/*", "events": ["Stop"], "paths": []}, ""),
]


@pytest.mark.parametrize(("event", "group", "said"), GROUP_KEYS)
def test_a_key_of_a_group(tmp_path, event, group, said):
    """A key that looks as if it limited a group's hooks, and that the host does not read, is named."""
    hooks = [{"type": "command", "command": name} for name in ("true check.sh", "false check.sh")]
    settings = {"hooks": {event: [{**group, "hooks": hooks}]}}
    at(tmp_path, ".claude/settings.json", json.dumps(settings))
    (hook_set,) = find_hook_sets(tmp_path)
    found = [one for one in check_statically(hook_set).symptoms if "does not read the key" in one.text]
    assert [(one.kind, one.entries) for one in found] == [("CONFIG-OFF", (1, 2))] * bool(said)
    assert said in "".join(one.text for one in found)


def test_a_key_of_an_entry_without_a_group(tmp_path):
    """A host whose entries stand in no group may read such keys there."""
    entry = {"command": "true", "files": ["a.py"], "matcher": "Edit"}
    at(tmp_path, ".cursor/hooks.json", json.dumps({"version": 1, "hooks": {"stop": [entry]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert not [one for one in check_statically(hook_set).symptoms if "does not read" in one.text]


LONE = """#!/bin/bash
INPUT=$(cat)
jq -n '{decision: "block", hookSpecificOutput: {permissionDecision: "deny"}, reason: "No."}'
"""
LOOP = """#!/bin/bash
[[ -f .claude/loop ]] || exit 0
STATE=".claude/loop"
[[ ! -f "$STATE" ]] && exit 0
ITERATION=$((ITERATION + 1))
sed -i "s/^iteration: .*/iteration: $ITERATION/" "$STATE"
echo '{"decision": "block", "reason": "Go on."}'
"""


def test_each_guard_that_one_program_makes_is_named(tmp_path, found):
    """Guards with the same defect are one line with all their commands, each event with advice that helps."""
    for name in ("a", "b", "c"):
        at(tmp_path, f"{name}.sh", LONE)
    result = found(*((event, f"bash {name}.sh") for event in ("PreToolUse", "Stop") for name in "abc"))
    said = {one.text.partition(":")[0]: one for one in result.symptoms if one.kind == "UNGUARDED-TOOL"}
    assert {*said} == {"PreToolUse", "Stop"}
    assert {one.hook for one in said.values()} == {"bash a.sh, bash b.sh, bash c.sh"}
    assert "exit 2;" in said["PreToolUse"].advice
    # To refuse the stop would be an endless loop.
    assert "exit 1;" in said["Stop"].advice


def test_each_hook_of_a_loop_is_named(tmp_path, found):
    """Two scripts of loops with the same state file are one line with both commands."""
    for name in ("a", "b"):
        at(tmp_path, f"{name}.sh", LOOP)
    result = found(("Stop", "bash a.sh"), ("Stop", "bash b.sh"))
    assert [one.hook for one in result.symptoms if "knows no session" in one.text] == ["bash a.sh, bash b.sh"]


def test_several_files_in_the_current_folder(tmp_path, found):
    """The files that hooks look for where the agent is are one problem, which names them."""
    at(tmp_path, "a.sh", "#!/bin/sh\n[ -f package.json ] && npm test\n", 0o755)
    at(tmp_path, "b.sh", "#!/bin/sh\ndate >> .run/count\n", 0o755)
    result = found(
        *((event, f'"$CLAUDE_PROJECT_DIR"/{name}.sh') for event, name in (("Stop", "a"), ("Stop", "b")))
    )

    (symptom,) = (one for one in result.symptoms if one.kind == "RELATIVE-PATH")
    assert symptom.text == (
        "Stop: package.json and .run/count are looked up in the agent's current folder, so after a `cd` they "
        "are other files."
    )
