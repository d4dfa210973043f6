"""
The profile of Goose in 2026, from its source code.

It was not measured. Goose has hooks only in plugins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources, PlainTools
from pytest_hookharness.hosts.rules import replies
from pytest_hookharness.hosts.rules.profile import EventRule, Power, ProcessRules, Profile
from pytest_hookharness.hosts.rules.settings import (
    ConfigRules,
    Effect,
    Flaw,
    HandlerKeys,
    MatcherRules,
    Syntax,
)
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptRules
from pytest_hookharness.hosts.rules.turns import CapRules, Role
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope
from pytest_hookharness.model.protocol import Field, Json, Payload, Ruling

DOCS = FactSources("Goose 2026, source code (crates/goose/src/hooks)")
_TOOLS = PlainTools(
    run="developer__shell",
    write="developer__write",
    edit="developer__edit",
    path="path",
    old="before",
    new="after",
)
_COMMON = (Field(name="event", kind="event", source="hook_event_name"), Field(name="session_id", kind="uuid"))
_FOLDER = Field(name="working_dir", kind="folder", source="cwd")


def _subject(source: str) -> Field:
    return Field(name="matcher_context", kind="tool" if source == "tool_name" else "text", source=source)


def _call(*own: Field, subject: str = "tool_name") -> tuple[Field, ...]:
    return (
        _subject(subject),
        Field(name="tool_call_id", kind="word", source="tool_use_id"),
        Field(name="tool_name", kind="tool", choices=(_TOOLS.run, _TOOLS.write, _TOOLS.edit)),
        Field(name="tool_input", kind="input"),
        *own,
        _FOLDER,
    )


def _event(name: str, *fields: Field, fact: str = "", **own: Unpack[EventOptions]) -> EventRule:
    options: EventOptions = {"timeout": 30.0, **own}
    if own.get("role") in (Role.BEFORE_TOOL, Role.STOP) and "tools" not in own:
        options["power"] = Power.REFUSES
        options["merging"] = replies.Merging(
            precedence=replies.Precedence.FIRST_REFUSAL, reasons=replies.ReasonChoice.FIRST
        )
    return EventRule(
        fields=DOCS.fields(name, *_COMMON, *fields),
        fails_closed=name == "PreToolUse",
        rule=DOCS.documented(fact or f"{name} hooks run, and their output has no effect"),
        **options,
    )


def _own_values(values: Payload) -> Mapping[str, Json]:
    given = values.get("tool_input")
    tool_input = given if isinstance(given, Mapping) else {}
    return {"file": tool_input.get(_TOOLS.path, ""), "command": tool_input.get(_TOOLS.command, "")}


_ALL = (
    _event("SessionStart", _FOLDER, role=Role.SESSION_START),
    _event("SessionEnd", _FOLDER, role=Role.SESSION_END),
    _event(
        "UserPromptSubmit",
        _subject("prompt"),
        Field(name="message", source="prompt"),
        _FOLDER,
        role=Role.PROMPT,
        target="prompt",
    ),
    _event(
        "PreToolUse",
        *_call(),
        fact="a refusal on PreToolUse prevents the call",
        role=Role.BEFORE_TOOL,
        target="tool_name",
    ),
    _event(
        "BeforeShellExecution",
        *_call(subject="command"),
        role=Role.BEFORE_TOOL,
        tools=(_TOOLS.run,),
        target="command",
    ),
    _event(
        "PostToolUse",
        *_call(Field(name="tool_output", kind="response", source="tool_response")),
        role=Role.AFTER_TOOL,
        target="tool_name",
    ),
    _event(
        "AfterShellExecution",
        *_call(Field(name="tool_output", kind="response", source="tool_response"), subject="command"),
        role=Role.AFTER_TOOL,
        tools=(_TOOLS.run,),
        target="command",
    ),
    _event(
        "AfterFileEdit",
        *_call(Field(name="tool_output", kind="response", source="tool_response"), subject="file"),
        role=Role.AFTER_TOOL,
        tools=(_TOOLS.write, _TOOLS.edit),
        target="file",
    ),
    _event(
        "PostToolUseFailure",
        *_call(Field(name="tool_output", source="error")),
        role=Role.TOOL_FAILED,
        target="tool_name",
    ),
    _event(
        "Stop",
        Field(name="last_assistant_message", optional=True),
        _FOLDER,
        fact="a refusal on Stop makes the agent continue",
        role=Role.STOP,
    ),
    _event(
        "PreToolUseResult",
        *_call(),
        unreachable="the simulation does not show a hook the decisions of other hooks",
    ),
    _event(
        "BeforeReadFile", *_call(subject="file"), unreachable="the simulated agent reads files by commands"
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}

MATCHERS = MatcherRules(
    syntax=Syntax.RUST,
    everything=("",),
    untargeted=False,
    rule=DOCS.documented(
        "a matcher is an unanchored regular expression; a malformed one, such as *, turns off its "
        "group, and one that is not empty matches no event without a target"
    ),
)

CONFIG = ConfigRules(
    paths=(),
    plugin_path="hooks/hooks.json",
    plugin_root="PLUGIN_ROOT",
    parse=parse_json,
    form=GROUPS,
    keys=HandlerKeys(on_failure={"on_failure": "block"}),
    untyped="command",
    flaws={
        Flaw.FLAT: Effect.DROPS,
        Flaw.BAD_TYPE: Effect.DROPS,
        Flaw.NO_COMMAND: Effect.DROPS,
        Flaw.UNKNOWN_EVENT: Effect.DROPS,
        Flaw.LIMIT_ZERO: Effect.TAKES,
        Flaw.LIMIT_FRACTION: Effect.VOIDS,
    },
    default_effect=Effect.VOIDS,
    rules=DOCS.settings(
        {
            "malformed": DOCS.documented(
                "a value of the wrong type turns off every hook of the file; other malformed entries "
                "are left out"
            ),
            "unreadable": DOCS.documented("a file that cannot be parsed is skipped with a warning"),
            "unknown event": DOCS.documented("an unknown event is skipped; the rest of the file is used"),
            "merge": DOCS.documented(
                "the hooks of all plugins are added together; two equal entries run twice"
            ),
            "places": DOCS.documented("hooks are in hooks/hooks.json of plugins, and nowhere else"),
        }
    ),
)

REPLIES = replies.ReplyRules(
    codes=(
        replies.CodeRule(
            codes=(2,), meaning=replies.CodeMeaning.REFUSES, overrides_answer=True, rule="code refuses"
        ),
        replies.CodeRule(
            codes=(0,),
            answer=(replies.Stream.OUT,),
            meaning=replies.CodeMeaning.FAILS,
            ignores_silence=True,
            rule="no decision",
        ),
        replies.CodeRule(answer=(replies.Stream.OUT,), meaning=replies.CodeMeaning.FAILS),
    ),
    answers=replies.AnswerRules(
        parser=replies.JsonParser.RUST,
        starts="{",
        strips_mark=False,
        verdicts=(
            replies.VerdictPath(path=("decision",), rulings={"block": Ruling.DENY, "allow": Ruling.ALLOW}),
        ),
        empty=replies.EmptyAnswer.FAILS,
    ),
    no_reason="denied by plugin hook",
    no_error_text="denied by plugin hook",
    rules=DOCS.replies(
        {
            "silent": DOCS.documented("exit code 0 without output allows"),
            "answer": DOCS.documented("decision block refuses with any exit code; decision deny is unknown"),
            "code refuses": DOCS.documented("exit code 2 refuses, even without text on standard error"),
            "crashed": DOCS.documented("any exit code except 0 and 2 without decision block is a failure"),
            "not run": DOCS.documented("a command that cannot be started is a failure"),
            "signalled": DOCS.documented("a hook that was ended by a signal has failed"),
            "timed out": DOCS.documented("a hook that reaches its timeout has failed"),
            "no decision": DOCS.documented(
                "with exit code 0, output that is not a decision is a failure, which allows the call"
            ),
            "empty": DOCS.documented("an object without a decision is a failure"),
            "other objects": DOCS.assumed(
                "with on_failure block, only the empty object counts as such a failure here"
            ),
            "failure blocks": DOCS.documented("with on_failure block a failure refuses, on PreToolUse only"),
            "precedence": DOCS.documented(
                "hooks run one after the other; after the first refusal no more run"
            ),
            "unread input": DOCS.documented(
                "a hook that ends before it got all of its input has failed unless it refuses"
            ),
            "unread input here": DOCS.assumed("unread input does not count as a failure here"),
        }
    ),
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("sh", "-c"),
    pipe_wait=None,
    kill=KillPolicy(signals=(9,), scope=KillScope.CHILD, grace=0.0),
    one_by_one=True,
    rules=DOCS.process(
        {
            "shell": DOCS.documented("hooks run with sh -c"),
            "stdio": DOCS.documented("standard input, output and error are pipes"),
            "newline": DOCS.documented("no newline follows the JSON on standard input"),
            "group": DOCS.assumed(
                "a hook leads a process group of its own here, so that `kill 0` in it spares the "
                "harness; on the real host it shares the process group of the host and all other hooks"
            ),
            "kill": DOCS.documented("SIGKILL to the shell only; its children survive"),
            "pipe wait": DOCS.documented("if a child keeps output open, the host waits until the timeout"),
            "order": DOCS.documented(
                "hooks run one after the other, in the order of the plugins and of each plugin's file"
            ),
            "env": DOCS.documented("hooks of plugins get PLUGIN_ROOT"),
        }
    ),
)

CAP = CapRules(rules={"no cap": DOCS.assumed("no cap on refusals of Stop was found; there may be one")})

GOOSE = Profile(
    name="goose",
    version="2026",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=replies.Wording(refusal="Tool call denied by policy hook: {reason}"),
    process=PROCESS,
    cap=CAP,
    tools=_TOOLS.rules(
        DOCS.assumed(
            "the keys of inputs and the forms of results; that the agent reads files with commands; and "
            "the text around a refusal, which names the plugin and tells the agent not to try again"
        )
    ),
    transcript=TranscriptRules(
        rule=DOCS.documented("the input of hooks names no transcript; none is written here")
    ),
    own_values=_own_values,
)

PROFILES: tuple[Profile, ...] = (GOOSE,)
