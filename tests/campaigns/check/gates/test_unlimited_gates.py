"""Claims about gates of stops whose scripts have no limit."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.causes import certain
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.gates.unlimited_gates import unlimited_gate
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario

SHELL = '#!/bin/bash\nif ! npm test >/dev/null 2>&1; then\n  echo "Tests fail." >&2\n  exit 2\nfi\nexit 0\n'
ANSWER = '#!/bin/sh\nif git status | grep -q x; then echo \'{"decision": "block", "reason": "x"}\'; fi\n'
PYTHON = 'import subprocess, sys\nif subprocess.run(["npm", "test"]).returncode:\n    sys.exit(2)\n'
LOOP = (
    "#!/bin/bash\nN=$(cat .n)\nMAX=$(cat .max)\nif [[ $MAX -gt 0 ]] && [[ $N -ge $MAX ]]; then exit 0; fi\n"
    'echo $((N + 1)) > .n\necho \'{"decision": "block", "reason": "Go on."}\'\n'
)
SCRIPT = (
    "if (state.maxRounds > 0 && state.round >= state.maxRounds) process.exit(0);\nsave(state.round + 1);\n"
    'console.log(JSON.stringify({decision: "block", reason: "Go on."}));\n'
)


def found(text, host="claude-code", event="Stop", **options):
    """What is found in the script of one hook."""
    hook = Hook(event=event, command="./x.sh", options=options)
    sources = (("x.sh", text),)
    hook_set = HookSet(host=host, root=Path("/p"), files=(), hooks=(hook,), sources=sources)
    return unlimited_gate(hook_set, hook)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (SHELL, ""),
        (ANSWER, ""),
        (PYTHON, ""),
        (LOOP, "MAX"),
        (LOOP.replace("]] && [[", "&&"), "MAX"),
        (SCRIPT, "maxRounds"),
    ],
)
def test_a_gate_without_a_limit(text, limit):
    """A gate that keeps nothing, and a loop whose limit 0 switches off, do not ask whether they refused."""
    assert found(text) == ("stop_hook_active", limit)
    assert found(f"{text}# stop_hook_active\n") == ("stop_hook_active", limit)


@pytest.mark.parametrize(
    "text",
    [
        SHELL.replace("if", 'ACTIVE=$(jq -r .stop_hook_active)\n[ "$ACTIVE" = true ] && exit 0\nif', 1),
        SHELL.replace("if", "[ -f .asked ] && exit 0\ntouch .asked\nif", 1),
        SHELL.replace("if", "echo x >> .asked\nif", 1),
        SHELL.replace("if", "source lib.sh\nif", 1),
        SHELL.replace("npm test", "python3 check.py"),
        SHELL.replace("npm test", 'grep -q done "$(jq -r .transcript_path)"'),
        SHELL.replace("exit 2", "exit 0"),
        SHELL.replace("if", '[ "$(date +%H)" -lt 18 ] && exit 0\nif', 1),
        PYTHON.replace("if", "seen = open('x', 'w')\nif", 1),
        PYTHON.replace('["npm", "test"]', '[sys.executable, "check.py"]'),
        "from .lib import asked\n" + PYTHON,
        LOOP.replace("$MAX -gt 0", "$MAX -gt 1"),
        LOOP.replace("$N -ge $MAX", "$N -ge 5"),
        LOOP.replace("if", "ATTEMPTS=3\nif", 1),
        LOOP.replace("MAX", "COUNT"),
    ],
)
def test_a_gate_that_may_know(text):
    """A gate that keeps something, may ask or count elsewhere, or has another limit, is left alone."""
    assert found(text) == ("", "")


@pytest.mark.parametrize(
    ("host", "event", "options", "key"),
    [
        ("codex", "Stop", {}, "stop_hook_active"),
        ("gemini-cli", "AfterAgent", {}, "stop_hook_active"),
        ("cursor", "stop", {}, ""),
        ("claude-code", "PreToolUse", {}, ""),
    ],
)
def test_the_key_of_the_host(host, event, options, key):
    """The key is that of the host, at stops alone."""
    assert found(SHELL, host, event, **options)[0] == key


def test_a_limit_of_the_entry():
    """Where the entry of the hook limits it, the script need not."""
    text = '#!/bin/sh\nnpm test || echo \'{"followup_message": "Mend it."}\'\n'
    assert found(text, "cursor", "stop")[0] == "loop_count"
    assert found(text, "cursor", "stop", loop_limit=None)[0] == "loop_count"
    assert not found(text, "cursor", "stop", loop_limit=3)[0]


@pytest.mark.parametrize(
    ("line", "told"), [("  --max-rounds 60\n", False), ("/loop --max-rounds 60\n", True)]
)
def test_a_command_that_gives_the_limit(tmp_path, line, told):
    """A loop that a command of the project starts with a limit is left alone; an example is no command."""
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "loop.md").write_text(line, "utf-8")
    hook = Hook(event="Stop", command="./x.sh")
    sources = (("x.sh", LOOP),)
    hook_set = HookSet(host="claude-code", root=tmp_path, files=(), hooks=(hook,), sources=sources)

    assert bool(unlimited_gate(hook_set, hook)[0]) is told


def test_a_session_shows_it_better(tmp_path):
    """The gate is worth knowing, and is not reported where a session shows how it refuses."""
    (tmp_path / "x.sh").write_text(SHELL, "utf-8")
    entry = {"type": "command", "command": 'bash "$CLAUDE_PROJECT_DIR"/x.sh'}
    (tmp_path / ".claude").mkdir()
    settings = json.dumps({"hooks": {"Stop": [{"hooks": [entry]}]}})
    (tmp_path / ".claude" / "settings.json").write_text(settings, "utf-8")
    (hook_set,) = find_hook_sets(tmp_path)
    static = check_statically(hook_set)
    (problem,) = certain(hook_set, static, (), ())
    scenario = Scenario(name="x", host="claude-code")
    shown = Problem(id="capped", symptom=replace(problem.symptom, kind="capped"), scenario=scenario)
    other = replace(shown, symptom=Symptom(kind="SLOW", hook=problem.symptom.hook, text="slow"))

    assert (problem.symptom.kind, problem.symptom.must_fix) == ("livelock", False)
    assert "neither reads `stop_hook_active` nor keeps a count" in problem.symptom.text
    assert not [*certain(hook_set, static, (), [shown])]
    assert len([*certain(hook_set, static, (), [other])]) == 1


REPEATED = {
    "limits": "if [[ $MAX -gt 0 ]] && ",
    "refusals": "exit 2\n",
    "programs": "npm test > /dev/null\n",
    "numbers": "max > 0 && ",
}


@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(lambda length: SHELL + part * (length // len(part)), found)
