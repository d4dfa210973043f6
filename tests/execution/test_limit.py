"""Claims about the limiter of Stop hooks, copied into a project and run as hosts run it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_hookharness import Behaviour, Prompt, RunCommand, Scenario, Script, Stop, hosts, simulate
from pytest_hookharness.execution import hookharness_limit as limiter

CLAUDE = {"hook_event_name": "Stop", "transcript_path": "/t", "session_id": "one", "prompt_id": "first"}
NEVER = "cat >/dev/null\necho 'Run the tests first.' >&2\nexit 2"
# What the Stop hooks of these hosts answer to keep the agent going; on the others, exit code 2 does.
ANSWERS = {
    "cursor": {"followup_message": "Go on."},
    "copilot-cli": {"decision": "block", "reason": "Go on."},
    "antigravity": {"decision": "continue", "reason": "Go on."},
}


def write(folder, text):
    """Write the hook and the limiter into a project."""
    folder.mkdir(exist_ok=True)
    files = {"check.sh": f"#!/bin/sh\n{text}\n", "hookharness_limit.py": Path(limiter.__file__).read_text()}
    for name, content in files.items():
        # Without git a file is compared by its time, so the same text is not written again.
        if not (folder / name).exists() or (folder / name).read_text() != content:
            (folder / name).write_text(content)
    (folder / "check.sh").chmod(0o755)
    return folder


@pytest.fixture
def stop(tmp_path):
    """Run the limiter around a hook with some text, once."""
    project = tmp_path / "project"

    def run_once(text, *options, command=("./check.sh",), data=None, **payload):
        write(project, text)
        words = ["-S", "hookharness_limit.py", *options, *(["--", *command] if command else [])]
        return subprocess.run(
            [sys.executable, *words],
            input=json.dumps({**CLAUDE, **payload}).encode() if data is None else data,
            capture_output=True,
            env={"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]},
            cwd=project,
            check=False,
        )

    return run_once


def codes(runs):
    """The exit codes of some runs."""
    return [run.returncode for run in runs]


@pytest.mark.slow
def test_the_stop_is_allowed_after_some_refusals(stop):
    """The hook's refusals are passed on, the stop after them is allowed, and the user is told why."""
    runs = [stop(NEVER, "--after", "2") for _ in range(4)]
    assert codes(runs) == [2, 2, 0, 0]
    assert {(run.stdout, run.stderr) for run in runs[:2]} == {(b"", b"Run the tests first.\n")}
    told = json.loads(runs[2].stdout)["systemMessage"]
    assert "the stop is allowed although ./check.sh refuses it" in told
    assert told in runs[2].stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("sh", "-e", "./check.sh"), ("./check.sh", "lint.js", "--rules=a.py")])
def test_the_user_is_told_of_the_script(stop, command):
    """The message names the script of the hook, not the interpreter that runs it, or another file."""
    runs = [stop(NEVER, "--after", "1", command=command) for _ in range(2)]
    assert "although ./check.sh refuses it" in json.loads(runs[1].stdout)["systemMessage"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("before", "following"),
    [
        ({}, {"prompt_id": "second"}),
        ({"prompt_id": "", "stop_hook_active": True}, {"prompt_id": "", "stop_hook_active": False}),
        ({"prompt_id": "", "loop_count": 1}, {"prompt_id": "", "loop_count": 0}),
        ({}, {"session_id": "another"}),
        ({}, {"agent_id": "another"}),
    ],
)
def test_counting_starts_anew(stop, before, following):
    """Another prompt, session or agent has refusals of its own, by whatever the host says about it."""
    assert codes(stop(NEVER, "--after", "1", **payload) for payload in (before, following)) == [2, 2]


@pytest.mark.slow
def test_the_flag_of_gemini_says_nothing(stop):
    """Gemini CLI forgets the flag with each tool call, so it is no sign of a new prompt there."""
    payload = {"hook_event_name": "AfterAgent", "prompt_id": "", "stop_hook_active": False}
    assert codes(stop(NEVER, "--after", "1", **payload) for _ in range(2)) == [2, 0]


@pytest.mark.slow
def test_a_stop_that_the_hook_allows_ends_the_count(stop):
    """After the hook itself allowed a stop, it may refuse as often as before."""
    assert codes([stop(NEVER, "--after", "1"), stop("exit 0"), stop(NEVER, "--after", "1")]) == [2, 0, 2]


@pytest.mark.nightly
@pytest.mark.parametrize("git", [True, False])
def test_changes_in_the_project(stop, tmp_path, git):
    """What changes between refusals gives the hook more of them; what the hook writes itself does not."""
    writes = f"{NEVER.removesuffix('exit 2')}date >>log.txt; exit 2"
    stop("exit 0")
    if git:
        subprocess.run(["git", "init", "-q", tmp_path / "project"], check=True)
    first = stop(writes, "--after", "1")
    (tmp_path / "project" / "code.py").write_text("one")
    runs = [first, stop(writes, "--after", "1"), stop(writes, "--after", "1")]
    assert codes(runs) == [2, 2, 0]
    assert not [*(tmp_path / "project").rglob("*limit*.json")]


@pytest.mark.slow
@pytest.mark.parametrize("git", [True, False])
def test_counts_inside_the_project_are_no_change(stop, tmp_path, git):
    """The counts of the limiter are no change of a project that holds them, as a HOME in git does."""
    if git:
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert codes(stop(NEVER, "--after", "1", cwd=str(tmp_path)) for _ in range(3)) == [2, 0, 0]


@pytest.mark.slow
def test_an_agent_that_always_changes_something(stop, tmp_path):
    """Refusals are limited too where something changes before each of them."""
    found = []
    for number in range(4):
        found.append(stop(NEVER, "--after", "1", "--at-most", "3"))
        (tmp_path / "project" / f"{number}.txt").write_text("")
    assert codes(found) == [2, 2, 2, 0]
    assert b"refused 3 times since the prompt" in found[-1].stderr


@pytest.mark.slow
def test_a_tool_call_that_is_refused(stop):
    """A refusal of a tool call is passed on however often it is repeated."""
    assert codes(stop(NEVER, "--after", "1", tool_name="Bash") for _ in range(3)) == [2, 2, 2]


@pytest.mark.slow
def test_forgetting(stop):
    """`--forget` starts the counts of a session anew, for hosts that do not say when a prompt begins."""
    runs = [stop(NEVER, "--after", "1"), stop("", "--forget", command=()), stop(NEVER, "--after", "1")]
    assert codes(runs) == [2, 0, 2]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("cat", (0, json.dumps(CLAUDE).encode(), b"")),
        ("echo out; echo err >&2; exit 1", (1, b"out\n", b"err\n")),
        ("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2", (0, bytes(300_000), bytes(300_000))),
        ("exit 7", (7, b"", b"")),
        ("kill -TERM $$", (-signal.SIGTERM, b"", b"")),
        ("(sleep 60 >&2 2>&2 &) ; echo out", (0, b"out\n", b"")),
    ],
)
def test_what_is_passed_on(stop, text, ended):
    """Standard input, both streams, the exit code and the signal are those of the hook alone."""
    run = stop(text)
    assert (run.returncode, run.stdout, run.stderr) == ended


def test_a_large_payload_that_the_hook_does_not_read(stop):
    """A hook may end without reading a payload that is larger than a pipe."""
    run = stop("exit 0", last_assistant_message="x" * 1_000_000)
    assert (run.returncode, run.stderr) == (0, b"")


def test_a_host_that_does_not_close_standard_input(tmp_path):
    """The hook ends although the host keeps standard input open: the JSON object is all that is awaited."""
    project = write(tmp_path / "project", "read -r line; exit 2")
    with subprocess.Popen(
        [sys.executable, "hookharness_limit.py", "--", "./check.sh"],
        stdin=subprocess.PIPE,
        cwd=project,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(CLAUDE).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(60) == 2


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (["./missing.sh"], 127, b"No such file"),
        (["./hookharness_limit.py"], 126, b"Permission denied"),
    ],
)
def test_a_command_that_cannot_be_run(stop, command, code, says):
    """A hook that cannot be run has the exit code that a shell would give it."""
    run = stop("", command=command)
    assert (run.returncode, says in run.stderr) == (code, True)


def test_a_script_without_a_first_line(stop, tmp_path):
    """A script that names no interpreter is run by the shell, as hosts have it."""
    stop("exit 0")
    script = tmp_path / "project" / "plain.sh"
    script.write_text("echo out\n")
    script.chmod(0o755)
    assert stop("", command=["./plain.sh"]).stdout == b"out\n"


@pytest.mark.parametrize(
    "options", [["--after", "0"], ["--after", "x"], ["--after", "5", "--at-most", "2"], ["--x"]]
)
def test_wrong_options(stop, options):
    """Wrong options never refuse a stop: the exit code is 1, and the message names what is expected."""
    run = stop(NEVER, *options)
    assert run.returncode == 1
    assert b"hookharness-limit" in run.stderr


@pytest.mark.slow
def test_counts_that_cannot_be_kept(stop, tmp_path):
    """Where the counts cannot be written, the hook's answer is passed on, and standard error says why."""
    (tmp_path / "home").write_text("no folder")
    runs = [stop(NEVER, "--after", "1") for _ in range(2)]
    assert codes(runs) == [2, 2]
    assert b"refusals cannot be counted" in runs[0].stderr


@pytest.mark.nightly
@pytest.mark.parametrize("data", [b"", b"no json", b"[1]", b'{"session_id": 5}', b"[" * 100_000])
def test_payloads_that_are_none(stop, data):
    """Without a payload that can be read, counting is by project."""
    assert codes(stop(NEVER, "--after", "1", data=data) for _ in range(2)) == [2, 0]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        b"",
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in (b"{}", b'{"tree": 1}', b'{"tree": "", "refusals": "x", "unchanged": 0}')
        ),
    ],
)
def test_damaged_counts(stop, tmp_path, text):
    """Damaged counts are as none."""
    stop(NEVER, "--after", "1")
    (file,) = (tmp_path / "home").rglob("*.json")
    file.write_bytes(text)
    assert codes(stop(NEVER, "--after", "1") for _ in range(2)) == [2, 0]


def simulated(folder, host, then, *acts):
    """The outcome of a session with a hook that always refuses, within the limiter."""
    profile = hosts.find(host)
    answer = ANSWERS.get(profile.name)
    write(folder, NEVER if answer is None else f"cat >/dev/null\necho '{json.dumps(answer)}'")
    event = profile.by_role(hosts.Role.STOP)
    command = f"{sys.executable} hookharness_limit.py --after 3 --at-most 5 -- ./check.sh"
    hooks = {event.name: [command]}
    script = Script(acts=(Prompt(text="Begin."), *acts), then=Behaviour(name=then))
    options = {profile.stuck.option: False} if profile.stuck is not None and profile.stuck.option else {}
    return simulate(
        Scenario(
            name="limited", host=host, project=folder, hooks=hooks, script=script, turns=30, options=options
        )
    )


def refused(outcome):
    """Whether each stop was refused."""
    return [hooked.decision.refused for _, hooked in outcome.trace.hooked()]


@pytest.mark.nightly
def test_a_session_on_claude_code(tmp_path):
    """A hook that always refuses keeps the agent going three times, and three times after the next prompt."""
    outcome = simulated(tmp_path / "p", "claude-code", "idle", *[Stop()] * 4, Prompt(text="Again."))
    assert outcome.verdict_name == "terminated"
    assert refused(outcome) == [True, True, True, False] * 2


# Kimi and the oldest Gemini CLI override the second refusal themselves.
CAPPED = ("kimi@0.38.0", "gemini-cli@0.26.0")


@pytest.mark.nightly
@pytest.mark.parametrize("host", [profile.id for profile in hosts.known() if profile.id not in CAPPED])
def test_every_host_and_behaviour(tmp_path, host):
    """On every host, whatever the agent does, the session ends by the limiter's decision and not by a cap."""
    for then in ("idle", "obedient", "editing", "repeating", "oscillating", "quoting"):
        outcome = simulated(tmp_path / then, host, then, RunCommand(command="true"))
        if host.startswith("gemini-cli") and then == "repeating":
            # It ends a turn of equal calls itself.
            assert outcome.verdict_name == "capped"
            continue
        assert (then, outcome.verdict_name) == (then, "terminated")
        assert len([one for one in refused(outcome) if one]) == (
            5 if then in ("editing", "oscillating") else 3
        )
