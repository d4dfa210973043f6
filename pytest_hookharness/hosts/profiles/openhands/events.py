"""
The events of the OpenHands SDK 1.58, and how it reads exit codes and answers.

Every event has the same keys; those without a value are null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources
from pytest_hookharness.hosts.rules import replies
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import EventFields, Field, Json, Ruling

_RECORDED = "OpenHands SDK 1.58.0, recorded standard input"
OLDER = "OpenHands SDK 1.12.0, measured"
BRANCH = "OpenHands software-agent-sdk, pull request 3183, measured"
_FACTS = FactSources(
    documents="source code of the OpenHands SDK, 1.43.1 to 1.58.2",
    measurement="OpenHands SDK 1.58.0, measured",
    choice="not recorded; chosen for the simulation",
)
observed, documented, assumed = _FACTS.observed, _FACTS.documented, _FACTS.assumed

_NO_REASON = "Blocked by hook"

ANSWERS = replies.AnswerRules(
    parser=replies.JsonParser.PYTHON,
    strips_mark=False,
    accepts_nan=True,
    verdicts=(
        replies.VerdictPath(
            path=("decision",),
            rulings={"deny": Ruling.DENY, "allow": Ruling.ALLOW},
            ignores_case=True,
        ),
    ),
    fallback_streams=(replies.Stream.ERR,),
    halting=replies.Halting.REFUSES,
    halting_reason=("reason",),
    context=(("additionalContext",),),
)

_OUT = (replies.Stream.OUT,)

REPLIES = replies.ReplyRules(
    codes=(
        replies.CodeRule(codes=(0,), answer=_OUT, meaning=replies.CodeMeaning.PLAIN),
        replies.CodeRule(
            codes=(2,),
            answer=_OUT,
            meaning=replies.CodeMeaning.REFUSES,
            overrides_answer=True,
            keeps_reason=True,
            rule="code refuses",
        ),
        replies.CodeRule(answer=_OUT, meaning=replies.CodeMeaning.FAILS),
    ),
    answers=ANSWERS,
    undecodable_fails=True,
    background=True,
    no_reason=_NO_REASON,
    no_error_text=_NO_REASON,
    rules={
        "silent": observed("exit code 0 without output has no effect"),
        "plain": observed("plain output is not used and reaches nobody"),
        "shown": observed("plain output is not used and reaches nobody"),
        "answer": observed("a JSON answer decides, whatever the exit code, but exit code 2 always refuses"),
        "code refuses": observed(
            "exit code 2 refuses whatever the answer says; without a reason and without text on "
            "standard error the reason is 'Blocked by hook'"
        ),
        "crashed": observed("any exit code except 0 and 2 without a JSON answer is ignored: it fails open"),
        "not run": observed("a command that cannot be started is ignored: it fails open"),
        "signalled": observed("a hook that was ended by a signal is ignored: it fails open"),
        "timed out": observed(
            "a hook that reaches its timeout is ignored, whatever it printed: it fails open"
        ),
        "undecodable": observed("output that is not UTF-8 has no effect, even with exit code 2"),
        "unparsable": observed("output that is not JSON as a whole is plain text: it fails open"),
        "invalid": observed("a key or value that the host does not know has no effect"),
        "no power": observed("a refusal of this event is ignored"),
        "async": observed("the output of a hook in the background is not read and has no effect"),
        "unanswered": assumed("a handler without an answer has no effect"),
        "precedence": observed(
            "hooks run one after the other, and the first refusal wins over everything else"
        ),
        "several": observed("the first refusal counts; hooks that run after it change nothing"),
        "halt": observed("continue: false is a refusal, so on Stop the agent continues"),
        "no hooks": documented("an event without hooks has no effect"),
        "uncut": observed("a reason of 3,000,000 characters reaches the model whole"),
    },
)

_TOOLS = ("terminal", "file_editor", "think", "finish")
_TOOL = Field(name="tool_name", kind="tool", choices=_TOOLS)
_INPUT = Field(name="tool_input", kind="input")
_RESPONSE = Field(name="tool_response", kind="response")
_MESSAGE = Field(name="message", source="prompt")


_OWN = ("tool_name", "tool_input", "tool_response", "message")


def _fields(event: str, own: tuple[Field, ...], metadata: Mapping[str, Json]) -> EventFields:
    given = {name: Field(name=name, kind="nothing", fixed=(None,)) for name in _OWN}
    given |= {field.name: field for field in own}
    return EventFields(
        event=event,
        fields=(
            Field(name="event_type", kind="event", source="hook_event_name"),
            *given.values(),
            Field(name="session_id", kind="uuid"),
            Field(name="working_dir", kind="folder", source="cwd"),
            Field(name="metadata", kind="object", fixed=(dict(metadata),)),
        ),
        rule=observed(f"{event} hooks get all eight keys, in this order", _RECORDED),
    )


def _event(
    event: str,
    *own: Field,
    fact: str,
    metadata: Mapping[str, Json] | None = None,
    **options: Unpack[EventOptions],
) -> EventRule:
    return EventRule(fields=_fields(event, own, metadata or {}), rule=observed(fact), **options)


_LISTED = (
    _event(
        "SessionStart",
        fact=(
            "SessionStart occurs with the first message and cannot be refused; additionalContext is "
            "added before the message"
        ),
        role=Role.SESSION_START,
        context=True,
    ),
    _event(
        "UserPromptSubmit",
        _MESSAGE,
        fact=(
            "a refused prompt is not sent, and the run goes to its stop; a refusal together with "
            "additionalContext has no effect, and the prompt is sent"
        ),
        role=Role.PROMPT,
        power=Power.REFUSES,
        merging=replies.Merging(
            precedence=replies.Precedence.FIRST_REFUSAL,
            reasons=replies.ReasonChoice.FIRST,
            context_cancels_refusal=True,
        ),
        context=True,
    ),
    _event(
        "PreToolUse",
        _TOOL,
        _INPUT,
        fact="a refusal on PreToolUse prevents the call; additionalContext has no effect there",
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        merging=replies.Merging(
            precedence=replies.Precedence.FIRST_REFUSAL, reasons=replies.ReasonChoice.FIRST
        ),
        target="tool_name",
    ),
    _event(
        "PostToolUse",
        _TOOL,
        _INPUT,
        _RESPONSE,
        fact="PostToolUse cannot be refused, and the output of its hooks does not reach the model",
        role=Role.AFTER_TOOL,
        target="tool_name",
    ),
    _event(
        "Stop",
        fact=(
            "a refusal on Stop makes the agent continue; additionalContext of any hook so far replaces "
            "the reason, and alone it has no effect"
        ),
        role=Role.STOP,
        power=Power.REFUSES,
        merging=replies.Merging(
            precedence=replies.Precedence.FIRST_REFUSAL,
            reasons=replies.ReasonChoice.FIRST,
            context_replaces_reason=True,
        ),
        context=True,
        metadata={"reason": "agent_finished"},
    ),
    _event(
        "SessionEnd",
        fact="SessionEnd cannot be refused; without a message it does not occur",
        role=Role.SESSION_END,
    ),
)

EVENTS: Mapping[str, EventRule] = {event.name: event for event in _LISTED}
