"""
The profile of Kimi Code 0.38.0, from its source code and documents.

It was not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources, PlainTools
from pytest_hookharness.hosts.rules import replies, settings
from pytest_hookharness.hosts.rules.profile import EventRule, Power, ProcessRules, Profile
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptRules
from pytest_hookharness.hosts.rules.turns import AtCap, CapRules, FlagUse, Role, TurnRules
from pytest_hookharness.hosts.settings.formats import TABLE, parse_toml
from pytest_hookharness.model.processes import KillPolicy, KillScope
from pytest_hookharness.model.protocol import Field, Ruling

DOCS = FactSources("Kimi Code 0.38.0, source code (first engine)")
_OWN = "hookSpecificOutput"
_COMMON = (
    Field(name="hook_event_name", kind="event"),
    Field(name="session_id", kind="uuid"),
    Field(name="cwd", kind="folder"),
)
_CALL = (
    Field(name="tool_name", kind="tool", choices=("Bash", "Write", "Edit", "Read")),
    Field(name="tool_input", kind="input"),
    Field(name="tool_call_id", kind="word", source="tool_use_id"),
)


def _event(
    name: str, *fields: Field, refuses: str = "", shown: bool = False, **own: Unpack[EventOptions]
) -> EventRule:
    fact = refuses or f"the host does not wait for {name} hooks; their output has no effect"
    options: EventOptions = {
        "power": Power.REFUSES if refuses else Power.NOTHING,
        "merging": replies.Merging(reasons=replies.ReasonChoice.FIRST),
        "plain": shown,
        "context": shown,
        "timeout": 30.0,
        "waits": bool(refuses),
        **own,
    }
    return EventRule(fields=DOCS.fields(name, *_COMMON, *fields), rule=DOCS.documented(fact), **options)


_ALL = (
    _event(
        "SessionStart",
        Field(name="source", kind="word", choices=("startup", "resume")),
        role=Role.SESSION_START,
        target="source",
    ),
    _event(
        "SessionEnd",
        Field(name="reason", kind="word", choices=("exit", "archive")),
        role=Role.SESSION_END,
        target="reason",
    ),
    _event(
        "UserPromptSubmit",
        Field(name="prompt"),
        role=Role.PROMPT,
        target="prompt",
        refuses="a refused prompt does not reach the model; matchers are compared with its text",
        shown=True,
    ),
    _event(
        "PreToolUse",
        *_CALL,
        role=Role.BEFORE_TOOL,
        target="tool_name",
        refuses="a refusal on PreToolUse prevents the call",
    ),
    _event(
        "PostToolUse",
        *_CALL,
        Field(name="tool_output", source="tool_text"),
        role=Role.AFTER_TOOL,
        target="tool_name",
    ),
    _event("PostToolUseFailure", *_CALL, Field(name="error"), role=Role.TOOL_FAILED, target="tool_name"),
    _event(
        "Stop",
        Field(name="stop_hook_active", kind="flag"),
        role=Role.STOP,
        refuses="a refusal on Stop makes the agent continue, once in a turn",
    ),
    _event(
        "SubagentStart",
        Field(name="agent_name", kind="word", source="agent_type"),
        role=Role.SUBAGENT_START,
        target="agent_type",
    ),
    _event(
        "SubagentStop",
        Field(name="agent_name", kind="word", source="agent_type"),
        role=Role.SUBAGENT_STOP,
        target="agent_type",
    ),
    _event(
        "PreCompact",
        Field(name="trigger", kind="word", choices=("manual", "auto")),
        role=Role.BEFORE_COMPACT,
        target="trigger",
    ),
    _event(
        "PostCompact",
        Field(name="trigger", kind="word", choices=("manual", "auto")),
        role=Role.AFTER_COMPACT,
        target="trigger",
    ),
    *(
        _event(name, unreachable="it does not occur in a headless session")
        for name in ("PermissionRequest", "PermissionResult", "Interrupt", "Notification")
    ),
    _event("StopFailure", unreachable="the scripted agent has no model server that could fail"),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}

MATCHERS = settings.MatcherRules(
    syntax=settings.Syntax.JAVASCRIPT,
    everything=("",),
    rule=DOCS.documented("a matcher is an unanchored regular expression, which matches nothing if malformed"),
)

CONFIG = settings.ConfigRules(
    paths=("home/.kimi-code/config.toml",),
    parse=parse_toml,
    form=TABLE,
    keys=settings.HandlerKeys(known=("event", "matcher", "command", "timeout")),
    untyped="command",
    default_effect=settings.Effect.FAILS,
    flaws={
        settings.Flaw.UNKNOWN_KEY: settings.Effect.FAILS,
        settings.Flaw.LIMIT_FRACTION: settings.Effect.FAILS,
    },
    identity=("command",),
    rules=DOCS.settings(
        {
            "malformed": DOCS.documented(
                "the host does not start with an unknown key or event, or an invalid timeout"
            ),
            "refused": DOCS.documented("if hooks are invalid, the configuration cannot be loaded"),
            "unknown event": DOCS.documented("the configuration cannot be loaded with an unknown event"),
            "limits": DOCS.assumed(
                "timeouts above 600 seconds are accepted here; the real host rejects them"
            ),
            "duplicates": DOCS.documented("the same command in the same folder runs once for an event"),
        }
    ),
)

REPLIES = replies.ReplyRules(
    codes=(
        replies.CodeRule(codes=(0,), answer=(replies.Stream.OUT,), meaning=replies.CodeMeaning.PLAIN),
        replies.CodeRule(
            codes=(2,), meaning=replies.CodeMeaning.REFUSES, overrides_answer=True, rule="code refuses"
        ),
        replies.CodeRule(meaning=replies.CodeMeaning.FAILS),
    ),
    signalled=replies.CodeMeaning.PLAIN,
    answers=replies.AnswerRules(
        verdicts=(
            replies.VerdictPath(
                path=(_OWN, "permissionDecision"),
                reason=(_OWN, "permissionDecisionReason"),
                rulings={"deny": Ruling.DENY},
            ),
        ),
        context=(("message",), (_OWN, "message")),
    ),
    no_reason="Blocked by {event} hook",
    no_error_text="Blocked by {event} hook",
    rules=DOCS.replies(
        {
            "answer": DOCS.documented(
                "with exit code 0, permissionDecision deny refuses, on Stop too; decision has no effect"
            ),
            "code refuses": DOCS.documented("exit code 2 refuses, even without text on standard error"),
            "crashed": DOCS.documented("any exit code except 0 and 2 is ignored, and its output is not read"),
            "not run": DOCS.documented("a command that cannot be started is ignored: it fails open"),
            "signalled": DOCS.documented("a hook that was ended by a signal counts as one with exit code 0"),
            "signal's answer": DOCS.assumed(
                "the answer of a hook that was ended by a signal is not read here"
            ),
            "timed out": DOCS.documented("a hook that reaches its timeout is ignored: it fails open"),
            "unparsable": DOCS.documented("output that is not JSON is plain text"),
            "shown": DOCS.documented("plain output of UserPromptSubmit is added to the context"),
            "several": DOCS.documented("the agent gets the first refusal, in the order of the settings"),
            "async": DOCS.documented(
                "the host does not wait for hooks of events that only observe; their output has no effect"
            ),
        }
    ),
)

PROCESS = ProcessRules(
    own_session=True,
    pipe_wait=None,
    kill=KillPolicy(signals=(15, 9), scope=KillScope.GROUP, grace=0.1),
    rules=DOCS.process(
        {
            "shell": DOCS.documented("hooks run with /bin/sh -c in a process group of their own"),
            "kill": DOCS.documented(
                "SIGTERM to the process group, SIGKILL 100 ms later; the host does not wait for it"
            ),
            "pipe wait": DOCS.documented("if a child keeps output open, the host waits until the timeout"),
            "order": DOCS.documented("all hooks of an event start at once"),
            "newline": DOCS.documented("no newline follows the JSON on standard input"),
            "stdio": DOCS.documented("standard input, output and error are pipes of Node.js"),
        }
    ),
)

CAP = CapRules(
    cap=1,
    below_one=1,
    at_cap=AtCap.ASKS_NO_MORE,
    flag=FlagUse.NEVER,
    rules={
        "cap": DOCS.documented(
            "Stop makes the agent continue once in a turn; after that its hooks do not run"
        ),
        "counted": DOCS.documented("only a refused Stop is counted"),
        "flag": DOCS.documented("stop_hook_active is false whenever Stop hooks run"),
    },
)

_TOOLS = PlainTools(run="Bash", write="Write", edit="Edit", read="Read", path="path")

KIMI = Profile(
    name="kimi",
    version="0.38.0",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=replies.Wording(context='<hook_result hook_event="UserPromptSubmit">\n{text}\n</hook_result>'),
    process=PROCESS,
    cap=CAP,
    turns=TurnRules(end_reason="exit"),
    tools=_TOOLS.rules(
        DOCS.assumed("the keys of the tools' inputs, except the command's, and the forms of their results"),
        subagent="Agent",
    ),
    transcript=TranscriptRules(
        rule=DOCS.documented("the input of hooks names no transcript; none is written here")
    ),
)

PROFILES: tuple[Profile, ...] = (KIMI,)
