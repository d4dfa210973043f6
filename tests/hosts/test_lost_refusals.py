"""Answers without an effect: each is a fault of the reply, because the hook meant to decide something."""

from __future__ import annotations

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.protocol import Hook, Ruling

LONG = "9" * 5000
DEEP = "[" * 2000 + "]" * 2000


@pytest.fixture
def read(ended):
    """Return what a host reads of one hook run."""

    def reply(answer="", *, host="claude-code", role=hosts.Role.STOP, code=0, stderr="", kind="command"):
        profile = hosts.find(host)
        event = profile.by_role(role).name
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return hosts.read_reply(
            profile, Hook(event=event, command="x", type=kind), event, ended(code, text, stderr)
        )

    return reply


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize(
    "answer",
    [
        {"result": "block", "reason": "no"},
        {"result": "block"},
        {"systemMessage": "no", "verdict": "DENY"},
        {"continue": True, "allow": False},
        {"continue": True, "blocked": True},
        {"reason": "no new file"},
        {"hookSpecificOutput": {"hookEventName": "Stop", "decission": "block"}},
        {"reason": "no", "policy": {"rules": {"status": "rejected"}}},
        {"ok": False, "reason": "no"},
    ],
    ids=json.dumps,
)
def test_a_refusal_that_no_host_reads(read, answer, code):
    """A refusal in a key that the host does not know is a fault; known keys beside it hide nothing."""
    reply = read(answer, code=code)

    assert reply.ruling is Ruling.NONE
    assert (reply.fault or "").startswith("ignored")


@pytest.mark.parametrize(
    "answer",
    [
        {"continue": True},
        {"continue": True, "status": "ok"},
        {"systemMessage": "3 files checked", "count": 3},
        {"decision": "approve", "result": "fine"},
        {"decision": "block", "reason": "no", "result": "block"},
        {"continue": False, "stopReason": "the budget is used"},
        {},
    ],
    ids=json.dumps,
)
def test_an_answer_that_loses_nothing(read, answer):
    """An answer with an effect, or one that allows, may have keys that the host does not know."""
    assert read(answer).fault is None


@pytest.mark.parametrize("role", [hosts.Role.STOP, hosts.Role.AFTER_TOOL])
def test_a_refusal_beside_the_end_of_the_session(read, role):
    """A refusal that should make the agent continue is never honoured beside `continue: false`."""
    reply = read({"continue": False, "decision": "block", "reason": "run /compact"}, role=role)

    assert "the refusal beside it has no effect" in (reply.fault or "")


def test_a_refused_call_at_the_end_of_the_session(read):
    """A refused call is not made, also if the session ends at once."""
    deny = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}
    answer = {"continue": False, "hookSpecificOutput": deny}

    assert read(answer, role=hosts.Role.BEFORE_TOOL).fault is None


@pytest.mark.parametrize(
    "stderr",
    [
        "BLOCKED: rm -rf is not allowed",
        "Refusing to run rm -rf",
        "rm -rf is not permitted in this project",
        "guard.sh: line 3: jq: command not found",
        "Traceback (most recent call last):\n  File ...\nKeyError: 'tool_input'",
        "error: cannot read the policy",
        "cat: policy.txt: No such file or directory",
        "grep: unrecognized option '--no-verify|--force'\nUsage: grep [OPTION]... PATTERNS [FILE]...",
        "sed: invalid option -- 'z'",
    ],
)
@pytest.mark.parametrize("answer", ["", {}, {"continue": True}], ids=str)
def test_an_error_beside_a_neutral_answer(read, stderr, answer):
    """A hook that could refuse, says that something failed or is blocked, and exits with 0 has no effect."""
    reply = read(answer, role=hosts.Role.BEFORE_TOOL, stderr=stderr)

    assert (reply.fault or "").startswith("ignored: exit code 0 allows")


@pytest.mark.parametrize("output", ["BLOCKED: rm", "⛔ Denied: rm -rf", "rm is forbidden here"])
def test_a_refusal_on_standard_output(read, output):
    """A hook that says on standard output that it refuses, where no host reads that, has no effect."""
    assert output in (read(output, role=hosts.Role.BEFORE_TOOL).fault or "")


@pytest.mark.parametrize("stderr", ["checked 3 files, 0 errors", "no error", "ran in 3 ms"])
def test_a_note_beside_a_neutral_answer(read, stderr):
    """Standard error of a hook that says nothing of a failure is no fault."""
    assert read(role=hosts.Role.BEFORE_TOOL, stderr=stderr).fault is None


def test_an_error_that_the_limiter_passes_on(read):
    """A stop that the limiter of Stop hooks allows on purpose has no fault, whatever its command says."""
    told = "hookharness-limit: the stop is allowed although ./lint.sh refuses it (refused 3 times in a row)."

    assert read(role=hosts.Role.STOP, stderr=f"eslint: not found\n{told}\n").fault is None


def test_an_error_beside_a_decision(read):
    """A hook that decided has an effect, whatever it writes on standard error."""
    assert read({"decision": "block", "reason": "no"}, stderr="error: 3 tests failed").fault is None


@pytest.mark.parametrize("value", [LONG, DEEP, f'"{LONG}"', '{"a":' * 2000 + "1" + "}" * 2000])
@pytest.mark.parametrize("host", ["claude-code", "gemini-cli", "qwen-code"])
def test_a_refusal_beside_a_large_value(read, host, value):
    """Hosts in JavaScript read a refusal beside a number of 5,000 digits or 2,000 levels of nesting."""
    reply = read(f'{{"decision": "block", "reason": "no", "data": {value}}}', host=host)

    assert (reply.ruling, reply.reason, reply.fault) == (Ruling.DENY, reply.reason, None)


@pytest.mark.parametrize(
    ("value", "read_by_host"), [(LONG, False), (DEEP, False), ("[" * 126 + "]" * 126, True)]
)
def test_what_a_host_in_rust_refuses(read, value, read_by_host):
    """A host in Rust refuses numbers out of range and 128 levels, and reads 127."""
    reply = read(f'{{"decision": "block", "reason": "no", "data": {value}}}', host="goose")

    assert (reply.ruling is Ruling.DENY) is read_by_host


@pytest.mark.parametrize("value", ["[" * 200 + "}" + "]" * 199, "[" * 200 + "1 1" + "]" * 200, "[" * 200])
def test_deep_text_that_is_no_json(read, value):
    """What is too deep to matter must still be JSON."""
    reply = read(f'{{"decision": "block", "reason": "no", "data": {value}}}')

    assert reply.ruling is not Ruling.DENY


NODE = """node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'lint'
Require stack:
- /w/guard.js
"""
TRACEBACK = "Traceback (most recent call last):\n  File ...\nKeyError: 'tool_input'\n"


@pytest.mark.parametrize(
    ("stderr", "shown"),
    [
        (NODE, "Error: Cannot find module 'lint'"),
        (TRACEBACK, "KeyError: 'tool_input'"),
        ("\nno\nmore\n", "no"),
        ("", "nothing on standard error"),
        ("=====\nLoop: round 2\n=====", "Loop: round 2"),
        ("=====", "====="),
    ],
)
def test_the_line_that_says_most(read, stderr, shown):
    """Of a failure the line is shown that says what failed, and not where an interpreter noticed it."""
    assert shown in (read(code=1, stderr=stderr).fault or "")
