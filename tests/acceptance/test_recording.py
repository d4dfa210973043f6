"""Claims about ``hookharness record`` and ``hookharness init``, with real processes."""

import fcntl
import json
import os
import pwd
import select
import shlex
import signal
import socket
import subprocess
import sys
import termios

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.frontends.cli import main
from pytest_hookharness.frontends.cli.guardian import RECORDER
from pytest_hookharness.frontends.cli.record import plan

RUN = shlex.join([sys.executable, "-P", str(RECORDER)])
VALUE = "not-to-be-shown-to-anybody"
PAYLOAD = {"hook_event_name": "Stop", "session_id": "s", "note": f"the token is {VALUE}"}


@pytest.mark.slow
def test_a_recorded_hook_runs_as_usual(recorded):
    """Recorded hooks answer as usual, and their payloads are stored without secrets."""
    process = recorded.begin()
    ran = recorded.run_hook(PAYLOAD, MY_API_TOKEN=VALUE)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=20)

    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "a b\n", "why\n")
    assert json.loads((recorded.path / "seen.json").read_text()) == PAYLOAD
    assert recorded.settings.read_text() == recorded.original
    assert "1 payload in" in printed
    (record,) = recorded.records()
    assert (record["event"], record["exit"]) == ("Stop", 2)
    assert record["payload"] == {**PAYLOAD, "note": "the token is [redacted: MY_API_TOKEN]"}


@pytest.mark.slow
def test_a_hook_that_a_signal_ends(tmp_path):
    """A recorded hook ends by the signal that ended it, also if its input is never closed."""
    process = subprocess.Popen(
        [*shlex.split(RUN), tmp_path / "kept", "/bin/sh", "-c", "kill -KILL $$"],
        stdin=subprocess.PIPE,
    )
    with process:
        code = process.wait(timeout=20)

    assert code == -signal.SIGKILL
    (record,) = [json.loads(file.read_text()) for file in (tmp_path / "kept").glob("*.json")]
    assert (record["exit"], record["payload"]) == (-9, "")


@pytest.mark.slow
def test_a_host_that_closes_the_input(tmp_path):
    """If the host closes the input, a recorded hook has an empty one, and the recorder prints no error."""
    ran = subprocess.run(
        ["/bin/sh", "-c", f"exec {RUN} {tmp_path / 'kept'} /bin/sh -c 'cat; exit 3' <&-"],
        capture_output=True,
        timeout=20,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"", b"")


@pytest.mark.slow
def test_a_recorded_hook_is_killed_with_its_recorder(tmp_path):
    """A host that kills the recorder kills the hook with it."""
    command = [*shlex.split(RUN), str(tmp_path / "kept"), "/bin/sh", "-c", "echo ready; exec sleep 60"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        # Its output ends only when the hook has ended.
        assert select.select([process.stdout], [], [], 20)[0]
        assert process.stdout.read() == b""


@pytest.mark.slow
def test_a_payload_is_stored_before_the_hook_answers(tmp_path):
    """A host that kills a recorded hook loses no payload: it is stored before the hook gets it."""
    waits = "read line; echo ready; exec sleep 60"
    command = [*shlex.split(RUN), str(tmp_path / "kept"), "/bin/sh", "-c", waits]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b'{"event_type": "PreToolUse"}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b"ready\n"
        process.kill()

    (record,) = [json.loads(file.read_text()) for file in (tmp_path / "kept").glob("*.json")]
    assert (record["event"], record["payload"], record["exit"]) == (
        "PreToolUse",
        {"event_type": "PreToolUse"},
        None,
    )


@pytest.mark.slow
def test_a_hook_that_kills_its_recorder_at_once(tmp_path):
    """A long payload is stored whole before the hook starts, so a hook that never reads it loses nothing."""
    payload = {"hook_event_name": "Stop", "note": "a" * 150_000}
    command = [*shlex.split(RUN), str(tmp_path / "kept"), "/bin/sh", "-c", "kill -KILL $PPID"]
    ran = subprocess.run(command, input=json.dumps(payload).encode(), timeout=20, check=False)

    assert ran.returncode == -signal.SIGKILL
    (record,) = [json.loads(file.read_text()) for file in (tmp_path / "kept").glob("*.json")]
    assert (record["payload"], record["exit"]) == (payload, None)


@pytest.mark.slow
def test_a_payload_that_is_written_in_two_parts(tmp_path):
    """A host that pauses within a payload loses nothing, since the hook starts when the payload is whole."""
    command = [*shlex.split(RUN), str(tmp_path / "kept"), "/bin/sh", "-c", "kill -KILL $PPID"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b'{"hook_event_name":')
        process.stdin.flush()
        while unread(process.stdin):
            os.sched_yield()
        # A pause on a busy machine is longer than the one that ends a payload.
        assert not select.select([process.stdout], [], [], 0.05)[0]
        process.stdin.write(b' "Stop"}')
        process.stdin.flush()
        process.wait(20)

    (record,) = [json.loads(file.read_text()) for file in (tmp_path / "kept").glob("*.json")]
    assert record["payload"] == {"hook_event_name": "Stop"}


def unread(pipe):
    """Return how many bytes of a pipe nobody has read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["socket", "pipe"])
def test_input_is_of_the_kind_that_the_host_gives(tmp_path, kind):
    """A recorded hook of a node program has a socket as its input, any other a pipe."""
    ours, theirs = socket.socketpair() if kind == "socket" else map(os.fdopen, os.pipe()[::-1], "wr")
    with ours, theirs:
        looks = f"cat; test -{'S' if kind == 'socket' else 'p'} /dev/stdin"
        command = [*shlex.split(RUN), str(tmp_path / "kept"), "/bin/sh", "-c", looks]
        process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE)
        os.write(ours.fileno(), b"{}")
        ours.close()
        said, _ = process.communicate(timeout=20)

    assert (process.returncode, said) == (0, b"{}")


@pytest.mark.slow
def test_a_recording_without_payloads_warns(recorded):
    """If no hook ran while hooks were recorded, the command says what to check."""
    status, printed = recorded.end(recorded.begin())
    assert status == 0
    assert "warning: no payload came" in printed


@pytest.mark.slow
def test_hooks_that_codex_would_switch_off_are_not_recorded(recorded, tmp_path, capsys):
    """Hooks of Codex are refused before anything is changed, or named beside others that are recorded."""
    hooks = recorded.path / ".codex" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text(recorded.original)
    process = recorded.begin()
    assert "hooks.json: Codex trusts a hook by a hash" in recorded.said
    assert hooks.read_text() == recorded.original
    recorded.end(process)

    assert main.main(["record", str(recorded.path), "--host", "codex", "-o", str(tmp_path / "kept")]) == 2
    assert "nothing was changed" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("given", [(), ("--host", "claude-code")])
def test_a_file_that_codex_reads_too(recorded, given, capsys, tmp_path):
    """A settings file that is also the one of Codex, by a link, is not changed."""
    (recorded.path / ".codex").mkdir()
    (recorded.path / ".codex" / "hooks.json").hardlink_to(recorded.settings)
    assert main.main(["record", str(recorded.path), *given, "-o", str(tmp_path / "kept")]) == 2
    assert "are one file, and Codex trusts a hook by a hash" in capsys.readouterr().err
    assert recorded.settings.read_text() == recorded.original


# Runs each hook as Codex does, and a command of its own.
AGENT = """\
import json, os, subprocess, sys
hooks = json.load(open(".codex/hooks.json"))["hooks"]
for event in hooks:
    command = hooks[event][0]["hooks"][0]["command"]
    payload = json.dumps({"hook_event_name": event}).encode()
    ran = subprocess.run(["/bin/bash", "-c", command], input=payload, capture_output=True)
    print(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
print(subprocess.run(["/bin/bash", "-c", "echo [$BASH_ENV] $MARK"], capture_output=True).stdout.decode())
sys.exit(3)
"""


@pytest.mark.nightly
@pytest.mark.skipif("bash" not in pwd.getpwuid(os.getuid()).pw_shell, reason="the login shell is not bash")
@pytest.mark.parametrize("own", ["", "export MARK=mine\n"])
def test_an_agent_that_is_started_to_be_recorded(recorded, monkeypatch, own):
    """Hooks that bash runs are recorded without a change of settings, and nothing else sees a difference."""
    bash_env = recorded.path / "own.env"
    bash_env.write_text(own)
    monkeypatch.setenv("BASH_ENV", str(bash_env) if own else "")
    hooks = recorded.path / ".codex" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text(recorded.original)
    changed = hooks.stat().st_ctime_ns
    command = [sys.executable, "-m", "pytest_hookharness", "record", str(recorded.path), "--host", "codex"]
    ran = subprocess.run(
        [*command, "--start", sys.executable, "-c", AGENT],
        cwd=recorded.path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 3, ran.stderr
    assert (f"[{bash_env}] mine" if own else "[]") in ran.stdout
    assert (hooks.read_text(), hooks.stat().st_ctime_ns) == (recorded.original, changed)
    records = [json.loads(file.read_text()) for file in (recorded.path / "hook-recordings").glob("*.json")]
    assert [(one["event"], one["exit"]) for one in records] == [("Stop", 2)]
    assert "2 a b\n why\n" in ran.stdout


def test_an_agent_whose_hooks_bash_does_not_run(recorded, capsys, tmp_path):
    """Where another shell runs the hooks, nothing is started, and the command says why."""
    words = [
        "record",
        str(recorded.path),
        "-o",
        str(tmp_path / "kept"),
        "--start",
        "touch",
        str(tmp_path / "ran"),
    ]
    assert main.main(words) == 2
    assert "nothing was started" in (said := capsys.readouterr().err)
    assert "runs these hooks with /bin/sh" in said
    assert not (tmp_path / "ran").exists()


def test_a_hook_that_is_turned_off_stays_off(tmp_path, monkeypatch):
    """Gemini CLI lists such hooks by their command, in either settings file; they keep that command."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    hooks = [{"hooks": [{"type": "command", "command": f"./{name}.sh"}]} for name in ("on", "off", "away")]
    for place, off, more in (("p", "./off.sh", {"hooks": {"AfterAgent": hooks}}), ("home", "./away.sh", {})):
        file = tmp_path / place / ".gemini" / "settings.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"hooksConfig": {"disabled": [off]}, **more}))
    (wrapped,) = plan(tmp_path / "p", "", tmp_path / "out")
    after = json.loads(wrapped.meanwhile)["hooks"]["AfterAgent"]
    on, *others = (group["hooks"][0]["command"] for group in after)
    assert (on != "./on.sh", others) == (True, ["./off.sh", "./away.sh"])


@pytest.mark.nightly
def test_first_scenarios_play(project):
    """The scenarios that init writes for a repository load, are played, and are never overwritten."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    project.write(
        ".claude/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    command = [sys.executable, "-m", "pytest_hookharness", "init"]

    first, second = (
        subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True)
        for _ in range(2)
    )

    assert (first.stdout.count("wrote "), second.stdout.count("kept ")) == (1, 1)
    assert "git: true" in (project.path / "scenarios" / "claude-code.scenario.yaml").read_text()
    project.run("--hook-scenarios").assert_outcomes(passed=4)


def test_first_scenarios_of_a_plugin_in_a_repository(project):
    """A plugin below the top of a repository gets a scenario beside its files, and no advice to call git."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    project.write("plugins/one/.claude-plugin/plugin.json", '{"name": "one"}')
    project.write(
        "plugins/one/hooks/hooks.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/stop.sh"}]}]}}',
    )
    project.write("plugins/one/stop.sh", "exit 0\n")

    assert main.main(["init", str(project.path / "plugins" / "one")]) == 0

    file = project.path / "plugins" / "one" / "claude-code-plugin.scenario.yaml"
    (scenario, *variants) = scenario_files.load(file)
    assert scenario.plugin == file.parent
    assert [variant.variant for variant in variants] == ["obedient", "editing", "repeating"]


OF_CHANGES = r"git diff --name-only | grep -q '\.py$' || exit 0; make -s test"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("check", "variants"),
    [("make -s test", ["failing-checks"]), (OF_CHANGES, ["failing-checks"]), ("test -f ok", [])],
    ids=["always", "after changes", "no check"],
)
def test_first_scenario_of_a_gate(project, check, variants):
    """A gate that starts a check gets a variant in which the check fails; only this one is a livelock."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    project.write("ok", "")
    project.write("app.py", "print(1)\n")
    command = f"{check} || {{ echo Repair it >&2; exit 2; }}"
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    project.write(".claude/settings.json", json.dumps(settings))
    project.write("Makefile", "test:\n\t@true\n")

    assert main.main(["init", str(project.path)]) == 0

    file = project.path / "scenarios" / "claude-code.scenario.yaml"
    names = [scenario.variant for scenario in scenario_files.load(file)]
    assert names == ["", "obedient", "editing", "repeating", *variants]
    result = project.run("--hook-scenarios")
    result.assert_outcomes(passed=4, failed=len(variants))
    assert ("livelock: Stop is blocked forever" in result.stdout.str()) == bool(variants)


@pytest.mark.nightly
def test_first_scenario_beside_a_hook_that_asks_a_model(project):
    """Hooks that are no commands get an empty answer, so that the scenario can be played."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    hooks = [{"type": "command", "command": "true"}, {"type": "prompt", "prompt": "May it stop?"}]
    project.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": hooks}]}}))

    assert main.main(["init", str(project.path)]) == 0
    project.run("--hook-scenarios").assert_outcomes(passed=4)


def test_first_scenarios_of_settings_that_cannot_be_read(project, capsys):
    """Settings that are no JSON are an error with line and column, and no scenario is written for them."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    project.write(".claude/settings.json", '{"hooks": {"Stop": [}}')

    assert main.main(["init", str(project.path)]) == 2

    assert (
        ".claude/settings.json: cannot be parsed (Expecting value: line 1 column" in capsys.readouterr().err
    )
    assert not (project.path / "scenarios").exists()


def test_first_scenarios_tell_what_is_wrong_with_settings(project, capsys):
    """A mistake beside valid hooks is named, and the scenario for the valid hooks is written."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    hook = '[{"hooks": [{"type": "command", "command": "true"}]}]'
    project.write(".claude/settings.json", f'{{"hooks": {{"Stop": {hook}, "Stopp": {hook}}}}}')

    assert main.main(["init", str(project.path)]) == 0

    said = capsys.readouterr()
    assert "did you mean 'Stop'?" in said.err
    assert "wrote " in said.out


@pytest.mark.nightly
def test_a_first_scenario_passes_with_the_reaction_that_it_shows(project):
    """The reaction in a comment, with a command that does what the hook asks for, ends the loop."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    hook = "test -e tested || { echo 'words of the refusal' >&2; exit 2; }"
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": hook}]}]}}
    project.write(".claude/settings.json", json.dumps(settings))
    assert main.main(["init", str(project.path)]) == 0
    file = project.path / "scenarios" / "claude-code.scenario.yaml"
    text = file.read_text()

    for old, new in (("# when:", "when:"), ("#   - {", "  - {"), ("make test", "touch tested")):
        text = text.replace(old, new)
    file.write_text(text)

    assert text.startswith("name: hooks-allow-stop\n")
    project.run("--hook-scenarios").assert_outcomes(passed=4)


@pytest.fixture
def ignoring(tmp_path):
    """A repository with hooks in a file of its own and in one that git ignores."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(".claude/settings.local.json\n")
    (tmp_path / ".claude").mkdir()
    for name in ("settings.json", "settings.local.json"):
        (tmp_path / ".claude" / name).write_text(
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
        )
    return tmp_path


def test_first_scenarios_leave_out_ignored_hooks(ignoring, capsys):
    """First scenarios leave out the hooks that git ignores, which copies lack, and the command says so."""
    assert main.main(["init", str(ignoring)]) == 0

    assert "left out: the hooks of .claude/settings.local.json" in capsys.readouterr().out
    text = (ignoring / "scenarios" / "claude-code.scenario.yaml").read_text()
    assert "The hooks of .claude/settings.json let an agent stop" in text


def test_no_scenarios_for_hooks_that_git_ignores(ignoring, capsys):
    """If git ignores all files with hooks, nothing is written."""
    (ignoring / ".claude" / "settings.json").unlink()

    assert main.main(["init", str(ignoring)]) == 2
    assert "git ignores .claude/settings.local.json, so no copy" in capsys.readouterr().err
    assert not (ignoring / "scenarios").exists()
