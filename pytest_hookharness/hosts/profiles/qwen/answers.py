"""The fields of Qwen Code 0.24.4's events, the form of its events' rules, and how it reads replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources
from pytest_hookharness.hosts.rules.profile import EventRule
from pytest_hookharness.hosts.rules.replies import (
    AnswerRules,
    CodeMeaning,
    CodeRule,
    Halting,
    Merging,
    Precedence,
    ReasonChoice,
    ReplyRules,
    Stream,
    VerdictPath,
)
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload, Ruling

_RECORDED = "Qwen Code 0.24.4, headless, recorded standard input"
FACTS = FactSources(
    documents="Qwen Code hooks reference and source, 2026-09",
    measurement="Qwen Code 0.24.4, headless, measured",
    choice="not recorded; chosen for the simulation",
    host="qwen-code",
)
observed, documented, assumed = FACTS.observed, FACTS.documented, FACTS.assumed

WORD = "word"
TOOLS = ("run_shell_command", "write_file", "edit", "read_file")
TOOL = Field(name="tool_name", kind="tool", choices=TOOLS)
INPUT = Field(name="tool_input", kind="input")
USE = (Field(name="tool_use_id", kind=WORD), Field(name="tool_call_id", kind=WORD))
DURATION = Field(name="duration_ms", kind="count")
AGENT_TYPE = Field(name="agent_type", kind=WORD, choices=("general-purpose",))
STOPPING = Field(name="stop_hook_active", kind="flag")
LAST = Field(name="last_assistant_message")
BACKGROUND = (
    Field(name="background_tasks", kind="list", source="own_tasks"),
    Field(name="crons", kind="list", source="session_crons"),
)
JOINED = Merging(reasons=ReasonChoice.SAID)
OF_CALLS = Merging(precedence=Precedence.OWN_FIELD, reasons=ReasonChoice.SAID, several="several of a call")

_SESSION = (
    Field(name="session_id", kind="uuid"),
    Field(name="transcript_path", kind="path"),
    Field(name="cwd", kind="folder"),
    Field(name="hook_event_name", kind="event"),
    Field(name="timestamp", kind=WORD),
    Field(name="permission_mode", kind=WORD, choices=("default", "plan", "auto_edit", "auto", "yolo")),
    Field(name="agent_id", kind=WORD, source="own_agent", optional=True),
    Field(name="prompt_id", kind=WORD, optional=True),
)


def event_rule(
    event: str,
    *extra: Field,
    fact: str,
    recorded: bool = True,
    measured: bool = False,
    chosen: str = "",
    **own: Unpack[EventOptions],
) -> EventRule:
    """Return an event: the keys that all events have, its own keys after them, and the facts about it."""
    text = f"{event} hooks get these keys, in this order"
    unordered = f"{FACTS.documents}; the order of the keys is assumed"
    recorded = recorded and "unreachable" not in own
    keys = observed(text, _RECORDED) if recorded else documented(text, unordered)
    options: EventOptions = {"merging": JOINED, **own}
    return EventRule(
        fields=EventFields(event=event, fields=(*_SESSION, *extra), rule=keys),
        rule=observed(fact) if measured else documented(fact),
        rests_on=(assumed(chosen),) if chosen else (),
        **options,
    )


def own_values(values: Payload) -> Mapping[str, Json]:
    """Return the input values that only this host has: names of calls and agents, batches, and notices."""
    own: dict[str, Json] = {"tool_call_id": _call_id(values.get("tool_use_id"))}
    if "agent_id" in values:
        own["own_agent"] = _agent_id(values)
    if values.get("prompt") == values.get("submitted_prompt"):
        own["typed"] = values.get("submitted_prompt", "")
    if "memory_type" in values:
        own["memory_type"] = _memory_type(str(values.get("file_path", "")))
    if "tool_name" in values or "tool_calls" in values:
        # Events about calls write the mode as the command line does.
        own["permission_mode"] = str(values.get("permission_mode", "")).replace("_", "-")
    own["own_tasks"] = [_task(values, task) for task in _objects(values.get("background_tasks"))]
    ends, responses = values.get("tool_calls_ended"), values.get("tool_responses")
    if isinstance(ends, list) and isinstance(responses, list):
        calls = zip(_objects(values.get("tool_calls")), ends, responses, strict=True)
        own["own_calls"] = [_batched(call, ended, response) for call, ended, response in calls]
    return own


def _memory_type(file: str) -> str:
    # The host's own file counts as one of an extension.
    own = file.endswith("/.qwen/output-language.md")
    return "extension" if own else "user" if "/.qwen/" in file else "project"


def _objects(value: Json) -> list[Payload]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _call_id(use_id: Json) -> str:
    return f"call_{str(use_id or '').rpartition('_')[2]}"


def _agent_id(values: Payload) -> str:
    return f"{values.get('agent_type', '')}-{values.get('agent_id', '')}"


def _task(values: Payload, task: Payload) -> Payload:
    return {
        "id": _agent_id(values),
        "status": task.get("status", ""),
        "agent_type": task.get("agent_type", ""),
        "started_at": values.get("timestamp", ""),
        "description": task.get("description", ""),
    }


def _batched(call: Payload, ended: Json, result: Json) -> Payload:
    name, call_id, text = call["tool_name"], _call_id(call["tool_use_id"]), str(call["tool_response"])
    status = "success" if ended == "success" else "error"
    said: Payload = {"output" if ended == "success" else "error": text}
    error: Payload = {"error": text, "error_type": _error_type(str(name), text, ended)}
    part: Payload = {"functionResponse": {"id": call_id, "name": name, "response": said}}
    return {
        "tool_name": name,
        "tool_input": call["tool_input"],
        "tool_use_id": call_id,
        "tool_call_id": call_id,
        "status": status,
        "tool_response": {
            "response_parts": [part],
            "result_display": result["returnDisplay"] if isinstance(result, Mapping) else text,
            **({} if ended == "success" else error),
            "execution_status": "not_started" if ended == "refused" else status,
            "content_length": len(text),
        },
    }


def _error_type(tool: str, text: str, ended: Json) -> str:
    if ended == "refused":
        return "execution_denied"
    return "file_not_found" if text.startswith("File not found: ") else _ERRORS.get(tool, "unknown")


_ERRORS = {"run_shell_command": "shell_execute_error"}
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
    nested_json=True,
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
            rulings={word: _WORDS[word] for word in ("allow", "deny", "ask")},
            roles=(Role.BEFORE_TOOL,),
        ),
        # Prompt handlers answer with `ok`; a command that prints it says nothing.
        VerdictPath(path=("ok",), rulings={False: Ruling.DENY}, command=False),
        VerdictPath(path=("decision",), rulings=_WORDS),
    ),
    grant=(_OWN, "decision"),
    halting=Halting.REFUSES,
    context=((_OWN, "additionalContext"),),
    person=(("systemMessage",),),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=_EITHER, meaning=CodeMeaning.PLAIN),
        CodeRule(codes=(2,), answer=(Stream.ERR,), meaning=CodeMeaning.REFUSES_IF_WORDS, rule="code refuses"),
        CodeRule(answer=_EITHER, meaning=CodeMeaning.FAILS),
    ),
    notices={
        CodeMeaning.PLAIN: "Hook executed successfully",
        CodeMeaning.FAILS: "Non-blocking error: {words}",
    },
    answers=ANSWERS,
    background=True,
    no_reason="No reason provided",
    rules={
        "silent": observed("exit code 0 without output has no effect"),
        "plain": observed("output that is not JSON is plain text"),
        "shown": observed("plain output of this event reaches the model"),
        "answer": observed(
            "a JSON answer decides, whatever the exit code; it is looked for on standard output, and on "
            "standard error if standard output is empty; with exit code 2 only on standard error"
        ),
        "code refuses": observed("exit code 2 refuses with the text on standard error"),
        "wordless": observed("exit code 2 without text on standard error is ignored: it fails open"),
        "crashed": observed("any exit code except 0 and 2 without a JSON answer is ignored: it fails open"),
        "not run": observed("a command that cannot be started is ignored: it fails open"),
        "signalled": observed("a hook that was ended by a signal is ignored: it fails open"),
        "timed out": observed(
            "a hook that reaches its timeout is ignored, whatever it printed: it fails open"
        ),
        "unparsable": observed("output that begins with a brace and is not JSON is an error: it fails open"),
        "invalid": documented("a value that the host does not know has no effect"),
        "no power": observed("a refusal of this event is ignored"),
        "async": assumed(
            "the output of a hook in the background has no effect; the host does not wait for it, and what "
            "it writes soon is there at the next turn"
        ),
        "unanswered": assumed("a handler without an answer has no effect"),
        "precedence": observed(
            "of several rulings on a call the last permissionDecision in the order of the settings wins, "
            "over exit code 2 and decision too, so an allow cancels refusals; on other events a refusal wins"
        ),
        "halt": observed("continue: false is a refusal, with stopReason as its reason"),
        "halt replaces": observed(
            "continue: false on PostToolUse ends nothing: the model gets stopReason instead of the result"
        ),
        "several": observed(
            "beside a refusal the model gets the reasons of all hooks, joined by newlines in the order of "
            "the settings, with a line for each that printed text or failed; a stopReason stands alone"
        ),
        "several of a call": observed(
            "of several refusals of a call the model gets the last permissionDecisionReason, and without one "
            "all reasons, joined by newlines"
        ),
        "ask": observed(
            "without a person to ask, ask refuses the call; the model gets the reason without additions"
        ),
        "allow reason": observed("the reason of an allow does not reach the model"),
        "no hooks": documented("an event without hooks has no effect"),
    },
)
