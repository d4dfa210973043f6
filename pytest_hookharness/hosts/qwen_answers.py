"""
This module is concerned with how Qwen Code 0.24.4 reads what a hook said.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.profile import ReplyRules
from pytest_hookharness.hosts.qwen_fields import assumed, documented, observed
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.rules.replying import (
    Alone,
    AnswerRules,
    CodeRule,
    Halting,
    Stream,
    VerdictPath,
)
from pytest_hookharness.model.protocol import Ruling

_EITHER = (Stream.OUT, Stream.ERR)
_OWN = "hookSpecificOutput"
_WORDS: Mapping[str | bool, Ruling] = {
    "block": Ruling.DENY,
    "deny": Ruling.DENY,
    "allow": Ruling.ALLOW,
    "approve": Ruling.ALLOW,
    "ask": Ruling.ASK,
}

ANSWERS = AnswerRules(
    twice=True,
    known=frozenset(
        {
            *("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", _OWN),
            *("ok", "additionalContext"),
        }
    ),
    verdicts=(
        VerdictPath(
            path=(_OWN, "permissionDecision"),
            reason=(_OWN, "permissionDecisionReason"),
            words={word: _WORDS[word] for word in ("allow", "deny", "ask")},
            roles=(Role.BEFORE_TOOL,),
        ),
        VerdictPath(path=("ok",), words={False: Ruling.DENY}, command=False),
        VerdictPath(path=("decision",), words=_WORDS),
    ),
    grant=(_OWN, "decision"),
    halting=Halting.REFUSES,
    context=((_OWN, "additionalContext"),),
    person=(("systemMessage",),),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=_EITHER, alone=Alone.PLAIN),
        CodeRule(codes=(2,), answer=(Stream.ERR,), alone=Alone.REFUSES_IF_WORDS, rule="code refuses"),
        CodeRule(answer=_EITHER, alone=Alone.FAILS),
    ),
    answers=ANSWERS,
    background=True,
    no_reason="No reason provided",
    rules={
        "silent": observed("exit code 0 without output is no opinion"),
        "plain": observed("output that is not JSON is plain text"),
        "shown": observed("plain output of this event goes to the model"),
        "answer": observed(
            "an answer in JSON decides, whatever the exit code; it is sought on standard output, and on "
            "standard error if that is empty; with exit code 2 on standard error alone"
        ),
        "code refuses": observed("exit code 2 refuses with the words on standard error"),
        "wordless": observed("exit code 2 without a word on standard error is ignored: it fails open"),
        "crashed": observed("any exit code but 0 and 2 without an answer in JSON is ignored: it fails open"),
        "not run": observed("a command that cannot be run is ignored: it fails open"),
        "signalled": observed("a hook that a signal ended is ignored: it fails open"),
        "timed out": observed("a hook that is cut at its limit has no say, whatever it had printed"),
        "unparsable": observed("output that begins with a brace and is not JSON is an error: it fails open"),
        "invalid": documented("a value that the host does not know means nothing"),
        "no power": observed("a refusal of this event is ignored"),
        "async": assumed(
            "a hook in the background has no say, and the session goes the same way if it is waited for, "
            "as is done here, although the host goes on without it"
        ),
        "unanswered": assumed("a handler without an answer has no opinion"),
        "precedence": observed(
            "of several rulings on a call the last one in the written order holds, so an allow undoes a "
            "refusal before it; elsewhere a refusal goes first"
        ),
        "halt": observed("continue: false is a refusal, with stopReason as its reason"),
        "several": observed(
            "the reasons of several refusals are joined by line ends, in their written order"
        ),
        "last said": observed(
            "of several refusals of a call the model is told the last one in written order"
        ),
        "ask": observed("without a person to ask, ask refuses the call; the model is told the bare reason"),
        "allow reason": observed("the reason of an allow does not reach the model"),
        "no hooks": documented("an event without hooks changes nothing"),
    },
)
