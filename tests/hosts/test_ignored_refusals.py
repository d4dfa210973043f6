"""Refusals that a host ignores: each is reported, because the hook means to refuse."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Prompt, Stop
from pytest_hookharness.model.protocol import Hook, Ruling

BLOCK = {"decision": "block", "reason": "no"}
DENY = {"decision": "deny", "reason": "no"}
NESTED = {"hookSpecificOutput": {"hookEventName": "BeforeTool", "permissionDecision": "deny"}}
SILENT = "exit code 2 without a word"
BESIDE = "exit code 2 has no effect beside an answer"


def read(ended, host, role, code=0, answer=None, text="", stderr=""):
    """What a host reads on its event for a role."""
    profile = hosts.find(host)
    event = profile.by_role(role).name
    out = text + (json.dumps(answer) if answer is not None else "")
    return hosts.read_reply(profile, Hook(event=event, command="x"), event, ended(code, out, stderr))


@pytest.mark.parametrize(
    "host, code, answer, text, stderr, fault",
    [
        ("openhands", 0, BLOCK, "", "", 'decision: "block" is not a refusal'),
        ("openhands", 0, NESTED, "", "", "knows none of the keys hookSpecificOutput"),
        ("openhands", 0, NESTED, "starting\n", "", "the answer does not begin the output"),
        ("gemini-cli", 0, NESTED, "", "", 'hookSpecificOutput.permissionDecision: "deny" is not a refusal'),
        ("gemini-cli", 2, {}, "", "no", BESIDE),
        ("gemini-cli", 2, {"decision": "allow"}, "", "no", BESIDE),
        ("gemini-cli", 2, None, "", "", SILENT),
        ("codex", 2, None, "", "", SILENT),
        ("qwen-code", 2, None, "", "", SILENT),
        ("goose", 0, DENY, "", "", 'decision: "deny" is not a refusal'),
        ("kimi", 0, BLOCK, "starting\n", "", "the answer does not begin the output"),
        ("cursor", 0, BLOCK, "", "", "knows none of the keys decision"),
        ("cursor", 0, {"continue": False}, "", "", "knows none of the keys continue"),
    ],
)
def test_an_ignored_refusal(ended, host, code, answer, text, stderr, fault):
    """A refusal in a form that the host does not know has no effect, and the reply has a note about it."""
    reply = read(ended, host, hosts.Role.BEFORE_TOOL, code, answer, text, stderr)

    assert reply.ruling in (Ruling.NONE, Ruling.ALLOW)
    assert fault in (reply.fault or "")


@pytest.mark.parametrize(
    "host, code, answer, stderr",
    [
        ("claude-code", 0, BLOCK, ""),
        ("openhands", 0, DENY, ""),
        ("openhands", 0, {"continue": False, "stopReason": "no"}, ""),
        ("gemini-cli", 2, DENY, ""),
        ("codex", 2, {}, "no"),
        ("droid", 0, {"continue": False}, ""),
        ("openhands", 0, {"decision": "allow"}, ""),
        ("gemini-cli", 0, {"decision": "allow", "reason": "fine"}, ""),
        # An answer that only allows changes nothing if the host ignores it: the call is allowed anyway.
        ("cursor", 0, {"decision": "allow"}, ""),
        ("claude-code", 0, {"permission": "allow"}, ""),
    ],
)
def test_a_refusal_that_is_read(ended, host, code, answer, stderr):
    """A refusal that the host understands has no such note."""
    assert read(ended, host, hosts.Role.BEFORE_TOOL, code, answer, stderr=stderr).fault is None


def test_a_refusal_that_its_own_context_cancels(play):
    """OpenHands sends a refused prompt whose reply has a text for the model, by the rule of that event."""
    profile = hosts.find("openhands")
    answer = {**DENY, "additionalContext": "see the rules"}
    played = play(
        {"UserPromptSubmit": "x"}, [Prompt(text="go"), Stop(text="done")], lambda *_: answer, profile=profile
    )

    (decision,) = played.decisions
    assert not decision.refused
    assert decision.rule == profile.events["UserPromptSubmit"].rule


def test_an_answer_that_asks_for_nothing(ended):
    """An answer that only lets the host go on needs no key that the host knows."""
    assert read(ended, "cursor", hosts.Role.AFTER_TOOL, answer={"continue": True}).fault is None
