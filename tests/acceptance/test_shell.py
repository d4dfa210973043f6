"""Claims about the shell command, as a process of its own."""

import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pytest_hookharness

STUBBORN = "echo 'run never' >&2; exit 2"


@pytest.fixture
def hookharness(pytester):
    """Run the shell command in the folder of the test."""

    def run(*arguments):
        command = [sys.executable, "-m", "pytest_hookharness", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=pytester.path, check=False
        )

    return run


@pytest.mark.nightly
def test_run_plays_exactly_one_item(hookharness, project):
    """The command in a failure text can be run as it is, and prints the same story."""
    file = project.scenario("stubborn", body=STUBBORN)
    text = file.read_text() + 'variants: {other: {why: "not this one"}}\n'
    project.scenario("stubborn", text=text)
    failed = project.run("--hook-scenarios", "--hook-seed", "7", "-k", "not other")
    again = next(line for line in failed.outlines if "replay:" in line).partition("hookharness run ")[2]
    node, _, seed = again.partition("' --seed ")

    result = hookharness("run", node.strip("'"), "--seed", seed.strip())

    assert result.returncode == 1
    assert (
        "livelock: Stop is blocked forever by ./hook.sh (state repeats every turn after turn 1; "
        in result.stdout
    )
    assert result.stdout.count("replay:") == 1
    assert again.strip() in result.stdout


@pytest.mark.slow
def test_run_says_which_items_there_are(hookharness, project):
    """A node id that does not exist is an error that lists the items of the file."""
    project.scenario("polite")

    result = hookharness("run", "scenarios/polite.scenario.yaml::polit[claude-code]")

    assert result.returncode == 2
    assert "scenarios/polite.scenario.yaml::polite[claude-code]" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_run_of_a_file_that_is_not_there(hookharness):
    """A file that does not exist is an error in one line."""
    result = hookharness("run", "nowhere.scenario.yaml")

    assert result.returncode == 2
    assert "nowhere.scenario.yaml" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.nightly
def test_run_says_where_names_of_the_host_are_wrong(hookharness, project):
    """Names that the host does not have, and a missing program, are errors with the line of the file."""
    file = "scenarios/names.scenario.yaml"
    expect = "{blocks: {Stpo: 1}, decisions: {Stopp: [allow]}}"
    text = f"name: names\nhooks: {{Stop: ./x.sh}}\nagent: [{{stop: x}}]\nexpect: {expect}\n"
    project.scenario("names", text=text)
    said = hookharness("run", file).stderr
    assert f"{file}:4 expect.blocks.Stpo: claude-code@2.1.329 has no event 'Stpo'; did you mean" in said
    assert f"{file}:4 expect.decisions.Stopp: " in said

    project.scenario("names", text=text.partition("expect")[0])
    said = hookharness("run", file).stderr
    assert f"{file}:2 hooks: Stop: `./x.sh` cannot run" in said


@pytest.mark.nightly
def test_try_needs_no_file(hookharness):
    """One hook on the command line is enough to find that its loop never ends."""
    result = hookharness("try", "Stop", STUBBORN)

    assert result.returncode == 1
    assert "livelock: " in result.stdout
    assert "block" in result.stdout


@pytest.mark.nightly
def test_try_finds_local_scripts(hookharness, project):
    """A script named with ./ is taken from the current folder, though it runs in a workspace elsewhere."""
    project.write("my-hook.sh", "#!/bin/sh\npwd > where.txt\nexit 0\n", 0o755)

    result = hookharness("try", "Stop", "./my-hook.sh")

    assert result.returncode == 0
    assert "terminated: " in result.stdout
    assert not (project.path / "where.txt").exists()


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("repository", [True, False])
def test_try_makes_the_copy_of_a_repository_one(hookharness, tmp_path, repository):
    """The copy of a project is a repository if the project is one, as in a scenario file."""
    (tmp_path / "a.py").touch()
    if repository:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    command = "! git rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 2"
    result = hookharness("try", "Stop", command, "--project", str(tmp_path))
    assert ("livelock: " in result.stdout) is repository


def test_try_without_the_plugin_of_a_command(hookharness):
    """A command that names the folder of a plugin is told that there is none."""
    said = hookharness("try", "Stop", "${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh").stderr
    assert "note: CLAUDE_PLUGIN_ROOT is empty, because `try` plays without a plugin; " in said
    assert "note:" not in hookharness("try", "Stop", "exit 0").stderr


@pytest.mark.nightly
def test_try_prints_its_replay_command(hookharness):
    """The story of a try ends with the command that was given."""
    result = hookharness("try", "Stop", STUBBORN, "--seed", "3")

    again = shlex.join(["hookharness", "try", "Stop", STUBBORN, "--seed", "3"])
    assert f"replay: {again}" in result.stdout


@pytest.mark.nightly
def test_try_on_an_event_around_tools(hookharness):
    """A hook on a tool event is triggered by the agent's shell call and edit."""
    result = hookharness("try", "PreToolUse", "echo 'no writing' >&2; exit 2", "--matcher", "Write|Edit")

    assert result.returncode == 0
    blocks = [line for line in result.stdout.splitlines() if "PreToolUse" in line and "block" in line]
    assert len(blocks) == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("event", "command", "noted"),
    [("PreToolUse", "exit 0", True), ("PreToolUse", "exit 2", False), ("PostToolUse", "exit 0", False)],
)
def test_try_says_that_a_guard_refused_nothing(hookharness, event, command, noted):
    """A hook before calls that refused none is told to be tried by other means; one that refused is not."""
    said = hookharness("try", event, command).stderr
    assert ("note: the hook refused none of the calls of this session" in said) is noted


@pytest.mark.slow
def test_try_with_an_unknown_event(hookharness):
    """An event that the host does not know is refused before anything runs, with the nearest name."""
    result = hookharness("try", "Stopp", "true")

    assert result.returncode == 2
    assert "Stopp" in result.stderr
    assert "Stop" in result.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("then", "shown"),
    [
        ("promising,tag=DONE", 'stops: "Done. <promise>DONE</promise>"'),
        ("fixing,after=2,file=x.txt,text=So.", "edits x.txt"),
    ],
)
def test_the_options_of_a_behaviour_follow_its_name(hookharness, then, shown):
    """A behaviour gets its options on the command line, numbers as numbers."""
    result = hookharness("try", "Stop", "test -e x.txt || { echo later >&2; exit 2; }", "--then", then)

    assert shown in result.stdout
    assert f"--then {then}" in result.stdout


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("fixing,after=x", "--then after: 'x' is not a whole number of 0 or more"),
        ("promising,tag", "--then: 'tag' has no value; write promising,tag=VALUE"),
    ],
)
def test_an_option_of_a_behaviour_without_its_value_is_an_error(hookharness, then, said):
    """An option of a behaviour that cannot be read is an error in one line that says what to write."""
    result = hookharness("try", "Stop", "true", "--then", then)

    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.nightly
def test_a_session_that_ended_by_no_decision_says_so(hookharness):
    """The first line does not say that hooks let the agent stop if they could not be run."""
    result = hookharness("try", "Stop", "./missing.sh")

    assert result.returncode == 1
    first = result.stdout.splitlines()[1]
    assert first.startswith("hook not run: ./missing.sh did not decide: ")
    assert "(HH004 NOT-RUN); the session ended in turn" in first


def test_schema(hookharness):
    """The JSON Schema that is printed is the one that ships with the package."""
    shipped = Path(pytest_hookharness.__file__).with_name("scenario.schema.json")

    assert json.loads(hookharness("schema").stdout) == json.loads(shipped.read_text())


def test_version(hookharness):
    """The version is that of the package."""
    assert hookharness("--version").stdout.strip() == f"hookharness {pytest_hookharness.__version__}"


@pytest.mark.nightly
def test_a_cancelled_run_leaves_nothing(project, tmp_path, monkeypatch):
    """A shell command that is terminated, as CI does on cancellation, removes its folders."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_hookharness", "try", "Stop", "sleep 86399"],
        cwd=project.path,
        stdout=subprocess.DEVNULL,
    )
    end = time.monotonic() + 30
    while not list(tmp_path.glob("hookharness-*/try/workspace/work.txt")) and time.monotonic() < end:
        select.select([], [], [], 0.02)

    process.terminate()

    assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert list(tmp_path.glob("hookharness-*")) == []


@pytest.mark.nightly
@pytest.mark.parametrize("front_end", ["shell", "pytest"])
def test_interrupt(project, pytester, front_end):
    """After Ctrl-C the command prints what was seen until then, and leaves no process behind."""
    # In a covered folder, because elsewhere the agent's shell has a pipe of its own.
    ready = project.path / "scenarios" / "ready"
    ready.parent.mkdir()
    os.mkfifo(ready)
    reader = os.open(ready, os.O_RDONLY | os.O_NONBLOCK)
    project.scenario("slow", body="test -e once && exec sleep 86399; touch once; echo first >&2; exit 2")
    # The second hook run hangs; the agent's own shell call before it shows that the first has ended.
    text = (project.path / "scenarios/slow.scenario.yaml").read_text()
    text = text.replace("  - then: idle", f"  - stop: One.\n  - run: echo > {ready}\n  - then: idle")
    project.scenario("slow", text=f"world: {{cover: ['{ready.parent}']}}\n{text}")
    commands = {
        "shell": ["pytest_hookharness", "run", "scenarios/slow.scenario.yaml"],
        "pytest": ["pytest", "-p", "no:faker", "--hook-scenarios", f"--basetemp={project.path / 'base'}"],
    }
    process = subprocess.Popen(
        [sys.executable, "-m", *commands[front_end]],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert select.select([reader], [], [], 30)[0], "the agent never came so far"
    os.close(reader)

    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)

    assert process.returncode != 0
    assert b"undecided: interrupted" in output
    assert b"first" in output


def test_a_reader_that_has_seen_enough(project):
    """The command ends silently if its output is no longer read."""
    command = [sys.executable, "-m", "pytest_hookharness", "schema"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=project.path
    ) as process:
        process.stdout.close()
        said = process.stderr.read()

    assert (process.returncode, said) == (128 + signal.SIGPIPE, b"")


LONG = 'echo "in $PWD/app.py $HOME/x $(printf "word %.0s" $(seq 400)) MIDDLE $(seq -s " " 400)"'


def shown(result):
    return " ".join(str(result.stdout).partition("replay:")[0].split())


@pytest.mark.nightly
def test_the_deciding_words_are_shown(hookharness):
    """Paths of the run are short, the end of a long reason is shown, and all of it with `-v`."""
    command = f"{LONG} >&2; echo 'ruff: command not found' >&2; exit 2"

    brief, full = hookharness("try", "Stop", command), hookharness("try", "Stop", command, "-v")

    for told in (brief, full):
        assert '-> block "in workspace/app.py home/x word' in shown(told)
        assert 'ruff: command not found"' in shown(told)
    assert "MIDDLE 1 2 3" not in shown(brief)
    assert "word word MIDDLE 1 2 3" in shown(full)


@pytest.mark.nightly
def test_the_last_line_of_standard_error_is_shown(hookharness):
    """The last line of standard error is shown, also if the hook allows."""
    result = hookharness("try", "Stop", "echo one >&2; echo $PWD/x was checked >&2")

    assert "stderr: workspace/x was checked" in shown(result)


@pytest.mark.nightly
def test_pytest_shows_everything_with_v(project, pytester):
    """With `-v` pytest shows the whole reason of a refusal, for scenarios and for single events."""
    body = f"{LONG} >&2; exit 2"
    project.scenario("stubborn", body=body)
    pytester.makepyfile(f"def test_fire(hook_fire):\n    assert hook_fire('Stop', {body!r}).allowed\n")

    for selected in (["--hook-scenarios"], ["-k", "fire"]):
        brief, full = project.run(*selected), project.run(*selected, "-v")

        assert '"in workspace/app.py home/x word' in shown(brief)
        assert "word word MIDDLE 1 2 3" not in shown(brief)
        assert "word word MIDDLE 1 2 3" in shown(full)


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["true", "echo run never >&2; exit 2"])
def test_keep_keeps_every_workspace(hookharness, command):
    """With ``--keep`` the workspace is kept and named, whether the session passes or not."""
    result = hookharness("try", "Stop", command, "--keep")

    folder = next(line for line in result.stdout.splitlines() if line.startswith("  workspace: "))
    assert Path(folder.partition(": ")[2], "workspace").is_dir()
    shutil.rmtree(Path(folder.partition(": ")[2]).parent)


@pytest.mark.nightly
def test_try_prints_the_table_of_mutations(hookharness):
    """With ``--vary`` the result of each mutation is a row, and a replay command repeats one that differs."""
    hook = "grep -q Stop || { echo 'run what is needed' >&2; exit 2; }"

    result = hookharness("try", "Stop", hook, "--vary", "stdin", "--only", "standard input that is closed")

    rows = result.stdout.partition("\nmutation ")[2].splitlines()
    assert rows[1].startswith("standard input that is closed ")
    again = next(line for line in rows if "replay: " in line).partition("replay: ")[2]
    assert shlex.split(again)[1:5] == ["try", "Stop", hook, "--vary"]
    assert "--only 'standard input that is closed'" in again
    assert "1 mutation: 1 " in result.stdout


@pytest.mark.slow
def test_try_refuses_only_without_vary(hookharness):
    """``--only`` chooses among mutations, so it needs some."""
    result = hookharness("try", "Stop", "true", "--only", "stdin")

    assert result.returncode == 2
    assert "--only needs --vary" in result.stderr
