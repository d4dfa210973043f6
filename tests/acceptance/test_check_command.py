"""Claims about ``hookharness check`` and ``pytest --hook-check``."""

import json
import os
import sys

import pexpect
import pytest

from pytest_hookharness.frontends.cli import main

SETTINGS = ".claude/settings.json"


@pytest.fixture
def checked(project, monkeypatch, tmp_path):
    """A project whose settings name one hook, with a cache of its own, as the current folder."""

    def make(event, text, matcher=None):
        entry = {"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/hooks/hook.sh'}]}
        entry |= {} if matcher is None else {"matcher": matcher}
        project.write(f"project/{SETTINGS}", json.dumps({"hooks": {event: [entry]}}))
        project.write("project/hooks/hook.sh", text, 0o755)
        monkeypatch.chdir(project.path / "project")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        return project.path / "project"

    return make


NEVER = "#!/bin/sh\necho 'Run the tests first.' >&2\nexit 2\n"


def test_nobody_to_ask(checked, capsys):
    """If no user can be asked and --yes is not given, no hook is run and the exit status is 2."""
    folder = checked("Stop", NEVER)
    assert main.main(["check"]) == 2
    output = capsys.readouterr()
    assert f"hookharness: {folder}: its hooks would be run here for the first time" in output.err
    assert "add --yes" in output.err
    assert "hooks/hook.sh" in output.err
    assert not output.out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["--stress", "--explore"])
def test_nobody_to_ask_before_a_campaign(checked, capsys, kind):
    """The same holds with --stress and --explore: no hook is run before the user agreed to it."""
    checked("Stop", NEVER)
    assert main.main(["check", kind]) == 2
    printed = capsys.readouterr()
    assert "add --yes" in printed.err
    assert "hooks/hook.sh" in printed.err
    assert not printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--states", "3"], "--states needs --explore"),
        (["--explore", "--refused", "rm x"], "--refused needs --stress"),
        (["--explore", "--only", "x"], "--only cannot be combined with --explore"),
        (["--stress", "--format", "json"], "--format cannot be combined with --stress or --explore"),
        (["--trace-dir", "x"], "--trace-dir needs --stress or --explore"),
        (["--stress", "--host", "codex", "a.scenario.yaml::a"], "--host cannot be combined with an item"),
        (["a.scenario.yaml::a"], "a.scenario.yaml::a is a scenario; add --stress or --explore"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_an_option_without_effect(capsys, words, message):
    """An option that this kind of check does not read is an error that says what it needs."""
    assert main.main(["check", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_campaign_for_each_host(project, checked, capsys):
    """With --stress each host of a project has a report, with a headline and a replay command of its own."""
    checked("PreToolUse", "#!/bin/sh\nexit 0\n")
    command = {"type": "command", "command": "hooks/hook.sh"}
    project.write(
        "project/.gemini/settings.json", json.dumps({"hooks": {"BeforeTool": [{"hooks": [command]}]}})
    )
    assert main.main(["check", "--stress", "--yes", "--plan", "--only", "a space in the path"]) == 0
    printed = capsys.readouterr().out
    assert [line.split(":")[0] for line in printed.splitlines() if ": stress of" in line] == [
        "claude-code",
        "gemini-cli",
    ]


def test_project_without_hooks(checked, capsys, tmp_path):
    """A folder without hooks is an error with the exit status 2."""
    assert main.main(["check", str(tmp_path), "--yes"]) == 2
    assert "no hooks of any host" in capsys.readouterr().err


def test_a_problem_that_cannot_be(checked, capsys):
    """A name that no problem of these hooks can have is an error at once, and nothing is run."""
    checked("Stop", NEVER)
    assert main.main(["check", "--yes", "--only", "zzz"]) == 2
    output = capsys.readouterr()
    assert "no problem of these hooks can be called 'zzz'" in output.err
    assert not output.out


@pytest.mark.nightly
@pytest.mark.parametrize("folder", ["/sys", "hooks/hook.sh"])
def test_folder_that_cannot_be_written(checked, capsys, folder):
    """A folder that cannot be written is an error before anything is played."""
    checked("Stop", NEVER)
    assert main.main(["check", "--yes", "--write-scenarios", folder]) == 2
    output = capsys.readouterr()
    assert f"{folder} cannot be " in output.err
    assert "name a folder that can be written" in output.err
    assert not output.out


@pytest.mark.nightly
def test_a_problem_of_one_host_is_looked_for(project, checked, capsys):
    """If one problem is looked for, the hooks of other hosts are not played after it was shown."""
    checked("Stop", NEVER)
    command = {"type": "command", "command": "hooks/hook.sh"}
    project.write(
        "project/.gemini/settings.json", json.dumps({"hooks": {"AfterAgent": [{"hooks": [command]}]}})
    )
    assert main.main(["check", "--yes", "--format", "json", "--only", "livelock-hook"]) == 1
    (checkup,) = json.loads(capsys.readouterr().out)["checkups"]
    assert checkup["host"] == "claude-code"


@pytest.mark.nightly
def test_problem_with_its_scenario_in_json(checked, capsys):
    """A problem is printed as JSON, with a scenario file that uses the project itself and fails."""
    folder = checked("Stop", NEVER)
    assert main.main(["check", "--yes", "--format", "json", "--write-scenarios", "."]) == 1
    (checkup,) = json.loads(capsys.readouterr().out)["checkups"]
    (problem,) = checkup["problems"]
    assert (problem["id"], problem["name"], problem["moves"]) == ("livelock-hook", "livelock", ["stops"])
    assert problem["scenario"] == "claude-code-livelock-hook.scenario.yaml"
    assert 'project: "."' in (folder / problem["scenario"]).read_text()
    assert problem["replay"].startswith("hookharness run 'claude-code-livelock-hook.scenario.yaml::")


@pytest.mark.nightly
def test_a_problem_with_a_scenario_and_a_fix(checked, capsys):
    """A problem has its scenario, its fix and the command that writes the fix, in one report."""
    checked("Stop", NEVER)
    words = ["check", "--yes", "--only", "livelock-hook", "--write-scenarios", "s", "--budget", "4m"]
    assert main.main(words) == 1
    output = capsys.readouterr().out
    assert "scenario  s/claude-code-livelock-hook.scenario.yaml" in output
    assert "write it  hookharness check . --yes --only livelock-hook --seed 0" in output


@pytest.mark.nightly
def test_a_well_behaved_hook(checked, capsys):
    """A hook that allows the stop has no problem, and the exit status is 0."""
    checked(
        "Stop",
        "#!/bin/sh\ngrep -q '\"stop_hook_active\": *false' || exit 0\necho 'Run `make`.' >&2; exit 2\n",
    )
    assert main.main(["check", "--yes"]) == 0
    assert capsys.readouterr().out.startswith("claude-code: no problem with 1 hook in ")


@pytest.fixture
def asked(checked):
    """The command in a terminal, after it has printed its question."""
    checked("Notification", "#!/bin/sh\nexit 0\n")
    command = ["-m", "pytest_hookharness", "check"]
    child = pexpect.spawn(sys.executable, command, timeout=60, env={**os.environ, "TERM": "dumb"})
    child.expect_exact("Run these commands in throw-away copies? [y/N] ")
    yield child
    child.close()


@pytest.mark.nightly
def test_a_person_who_does_not_agree(asked, tmp_path):
    """If the person says no, nothing is run or stored, and the exit status is 2."""
    asked.sendline("n")
    asked.expect_exact("you did not agree")
    asked.expect(pexpect.EOF)
    asked.close()
    assert asked.exitstatus == 2
    assert not (tmp_path / "cache").exists()


@pytest.mark.nightly
def test_a_person_who_agrees(asked, tmp_path):
    """If the person agrees, the hooks are run, and the agreement is stored as a digest."""
    asked.sendline("y")
    asked.expect_exact("no problem with 1 hook")
    asked.expect(pexpect.EOF)
    asked.close()
    assert asked.exitstatus == 0
    (note,) = (tmp_path / "cache" / "hookharness" / "consents").iterdir()
    assert len(note.name) == 64


@pytest.mark.nightly
def test_an_item_for_each_host(project, checked, monkeypatch):
    """`pytest --hook-check` adds an item for each host, which fails with the report of what is wrong."""
    checked("Stop", NEVER)
    monkeypatch.chdir(project.path)
    result = project.run("--hook-check=project")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["livelock Stop 1 (hook.sh): Stop is refused each time*", "FAILED *::check?claude-code?*"]
    )


@pytest.mark.nightly
def test_equal_problems_of_two_plugins(project, monkeypatch, tmp_path, capsys):
    """If two plugins have the same problem, each replay command names its own plugin."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    hook = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/missing.sh"}
    for name in ("first", "second"):
        project.write(f"all/{name}/.claude-plugin/plugin.json", json.dumps({"name": name}))
        project.write(f"all/{name}/hooks/hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    main.main(["check", str(project.path / "all"), "--yes", "--format", "json", "--budget", "5s"])
    reports = json.loads(capsys.readouterr().out)["checkups"]
    parts = [report["part"] for report in reports]
    replays = [[one["replay"] for one in report["problems"]] for report in reports]
    assert parts == ["first", "second"]
    assert all(f"/{part} " in each for part, found in zip(parts, replays, strict=True) for each in found)
    assert all(replays)
