"""
This module is concerned with what the OpenHands SDK 1.58 reads from a hook: exit codes and answers.

Middle floor: hosts.
"""

from __future__ import annotations

from pytest_hookharness.hosts.openhands_sources import assumed, documented, observed
from pytest_hookharness.hosts.rules.replying import (
    Alone,
    AnswerRules,
    CodeRule,
    Halting,
    ReplyRules,
    Stream,
    VerdictPath,
)
from pytest_hookharness.model.protocol import Ruling

_NO_REASON = "Blocked by hook"

ANSWERS = AnswerRules(
    strips_mark=False,
    constants=True,
    verdicts=(
        VerdictPath(
            path=("decision",),
            words={"deny": Ruling.DENY, "allow": Ruling.ALLOW},
            folds=True,
        ),
    ),
    falls_to=(Stream.ERR,),
    halting=Halting.REFUSES,
    halting_words=("reason",),
    context=(("additionalContext",),),
)

_OUT = (Stream.OUT,)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=_OUT, alone=Alone.PLAIN),
        CodeRule(codes=(2,), answer=_OUT, alone=Alone.REFUSES, wins=True, keeps=True, rule="code refuses"),
        CodeRule(answer=_OUT, alone=Alone.FAILS),
    ),
    answers=ANSWERS,
    undecodable_fails=True,
    background=True,
    no_reason=_NO_REASON,
    no_error_text=_NO_REASON,
    rules={
        "silent": observed("exit code 0 without output is no opinion"),
        "plain": observed("plain output is not used, and reaches nobody"),
        "shown": observed("plain output is not used, and reaches nobody"),
        "answer": observed("an answer in JSON decides, whatever the exit code; exit code 2 refuses anyway"),
        "code refuses": observed(
            "exit code 2 refuses whatever else is said; without a reason and a word on standard error the "
            "reason is 'Blocked by hook'"
        ),
        "crashed": observed("any exit code but 0 and 2 without an answer in JSON is ignored: it fails open"),
        "not run": observed("a command that cannot be run is ignored: it fails open"),
        "signalled": observed("a hook that a signal ended is ignored: it fails open"),
        "timed out": observed("a hook that is cut at its limit has no say, whatever it had printed"),
        "undecodable": observed("output that is not UTF-8 has no say, not even with exit code 2"),
        "unparsable": observed("output that is not JSON as a whole is plain text: it fails open"),
        "invalid": observed("a key or value that the host does not know means nothing"),
        "no power": observed("a refusal of this event is ignored"),
        "async": observed("a hook in the background has no say, and its output is not read"),
        "unanswered": assumed("a handler without an answer has no opinion"),
        "precedence": observed("hooks run one by one, and the first refusal goes before everything else"),
        "several": observed("the first refusal holds; where others run after it, they change nothing"),
        "halt": observed("continue: false is a refusal, so that on Stop the agent goes on"),
        "no hooks": documented("an event without hooks changes nothing"),
        "uncut": observed("a reason of 3,000,000 characters reaches the model whole"),
    },
)
