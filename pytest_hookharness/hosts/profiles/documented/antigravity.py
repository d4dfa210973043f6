"""
The profile of Google's Antigravity CLI 1.1.18, from documents and from captures by other people.

It was not measured for this project.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources, PlainTools
from pytest_hookharness.hosts.rules.profile import EventRule, Power, ProcessRules, Profile
from pytest_hookharness.hosts.rules.replies import (
    AnswerRules,
    CodeMeaning,
    CodeRule,
    EmptyAnswer,
    ReplyRules,
    Stream,
    VerdictPath,
)
from pytest_hookharness.hosts.rules.settings import ConfigRules, MatcherRules
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptRules
from pytest_hookharness.hosts.rules.turns import CapRules, FlagUse, Role, TurnRules
from pytest_hookharness.hosts.settings.formats import NAMED, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope
from pytest_hookharness.model.protocol import Field, Json, Payload, Rule, Ruling

DOCS = FactSources("Antigravity CLI hooks documentation, 2026")
_CAPTURE = "a third party's capture of Antigravity CLI 1.1.18, 2026-08"


def _captured(text: str) -> Rule:
    return DOCS.documented(text, _CAPTURE)


_COMMON = (
    Field(name="conversationId", kind="uuid", source="session_id"),
    Field(name="workspacePaths", kind="list", source="workspaces"),
    Field(name="transcriptPath", kind="path", source="transcript_path"),
    Field(name="artifactDirectoryPath", kind="folder", source="artifacts"),
    Field(name="modelName", kind="word", source="model"),
)
_STEP = Field(name="stepIdx", kind="count", source="moves")
_TOOLS = PlainTools(
    run="run_command",
    write="write_to_file",
    edit="replace_file_content",
    read="view_file",
    command="CommandLine",
    path="TargetFile",
    text="CodeContent",
    old="TargetContent",
    new="ReplacementContent",
    read_path="AbsolutePath",
)
_INVOCATION = (
    Field(name="invocationNum", kind="count", source="moves"),
    Field(name="initialNumSteps", kind="count", source="moves"),
)
_CODES_BEFORE_TOOL = (
    CodeRule(codes=(0,), answer=(Stream.OUT,), meaning=CodeMeaning.PLAIN),
    CodeRule(meaning=CodeMeaning.REFUSES, rule="code refuses"),
)
_BEFORE_TOOL = AnswerRules(
    verdicts=(
        VerdictPath(
            path=("decision",),
            rulings={
                "allow": Ruling.ALLOW,
                "deny": Ruling.DENY,
                "ask": Ruling.ASK,
                "force_ask": Ruling.ASK,
                "deny_unless_prior_grant": Ruling.DENY,
            },
        ),
    ),
    changed_input=(("overwrite",),),
    # An allow must be explicit.
    empty=EmptyAnswer.REFUSES,
)
_STOP = AnswerRules(verdicts=(VerdictPath(path=("decision",), rulings={"continue": Ruling.DENY}),))


def _own_values(values: Payload) -> Mapping[str, Json]:
    folder = str(values.get("transcript_path", "")).rpartition("/")[0]
    return {
        "workspaces": [values.get("workspace")],
        "artifacts": folder,
        "call": {"name": values.get("tool_name"), "args": values.get("tool_input")},
    }


def _event(
    name: str, *fields: Field, rule: Rule, assumed: str = "", **own: Unpack[EventOptions]
) -> EventRule:
    options: EventOptions = {"timeout": 30.0, **own}
    rests_on = (DOCS.assumed(assumed),) if assumed else ()
    return EventRule(fields=DOCS.fields(name, *_COMMON, *fields), rule=rule, rests_on=rests_on, **options)


_ALL = (
    _event(
        "PreInvocation",
        *_INVOCATION,
        role=Role.BEFORE_MODEL,
        rule=DOCS.documented("PreInvocation occurs before each request to the model"),
        assumed="texts for the model from PreInvocation hooks are not simulated",
    ),
    _event(
        "PostInvocation",
        *_INVOCATION,
        role=Role.AFTER_MODEL,
        rule=DOCS.documented("PostInvocation occurs after each response of the model"),
        assumed=(
            "force_continue of PostInvocation, which the real host follows without a limit, is not simulated"
        ),
    ),
    _event(
        "PreToolUse",
        Field(name="toolCall", kind="object", source="call"),
        _STEP,
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        codes=_CODES_BEFORE_TOOL,
        answers=_BEFORE_TOOL,
        target="tool_name",
        rule=DOCS.documented("a refusal on PreToolUse prevents the call"),
    ),
    _event(
        "PostToolUse",
        Field(name="error", optional=True),
        _STEP,
        role=Role.AFTER_TOOL,
        target="tool_name",
        after_failures=False,
        rule=_captured("PostToolUse occurs after successful calls and blocks nothing"),
    ),
    _event(
        "Stop",
        Field(name="executionNum", kind="count", source="stops_refused"),
        Field(name="terminationReason", kind="word", fixed=("NO_TOOL_CALL",)),
        Field(name="error", fixed=("",)),
        Field(name="fullyIdle", kind="flag", fixed=(True,)),
        role=Role.STOP,
        power=Power.REFUSES,
        codes=(
            CodeRule(codes=(0,), answer=(Stream.OUT,), meaning=CodeMeaning.PLAIN),
            CodeRule(codes=(2,), meaning=CodeMeaning.IGNORED, rule="code means nothing"),
            CodeRule(meaning=CodeMeaning.FAILS),
        ),
        answers=_STOP,
        rule=DOCS.documented("decision continue on Stop makes the agent continue, with its reason"),
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}

MATCHERS = MatcherRules(
    rule=DOCS.assumed("a matcher is an unanchored regular expression, which matches nothing if malformed")
)

CONFIG = ConfigRules(
    paths=("home/.gemini/config/hooks.json", "workspace/.agents/hooks.json"),
    parse=parse_json,
    form=NAMED,
    untyped="command",
    rules=DOCS.settings(
        {
            "merge": DOCS.assumed(
                "the sets of hooks in all files are added together, even if two have the same name"
            ),
            "enabled": DOCS.documented("a set of hooks that is not enabled is left out"),
            "rejected": DOCS.assumed(
                "a newer version is reported to drop a whole file for one bad entry; here only the "
                "entry is dropped"
            ),
        }
    ),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=(Stream.OUT,), meaning=CodeMeaning.PLAIN),
        CodeRule(meaning=CodeMeaning.FAILS),
    ),
    rules=DOCS.replies(
        {
            "silent": DOCS.assumed(
                "a PreToolUse hook that prints nothing allows the call; reports contradict each other"
            ),
            "plain": DOCS.assumed(
                "a PreToolUse hook that prints no JSON allows the call too, although one report says that "
                "it refuses"
            ),
            "answer": DOCS.documented("decision decides: allow, deny or ask before a tool, continue on Stop"),
            "code refuses": _captured(
                "any exit code except 0 refuses a call, even beside an answer that allows it"
            ),
            "code means nothing": _captured("exit code 2 does not make the agent continue"),
            "empty": _captured("an empty object before a tool refuses the call"),
            "ask": DOCS.assumed("without a person to ask, ask and force_ask refuse the call"),
            "grants": DOCS.assumed("deny_unless_prior_grant refuses, because nothing was granted before"),
            "input": _captured("overwrite replaces the input of the call; permissionOverrides has no effect"),
        }
    ),
    no_reason="denied by a hook",
    no_error_text="denied by a hook",
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    own_session=True,
    kill=KillPolicy(scope=KillScope.GROUP),
    env={"ANTIGRAVITY_CONVERSATION_ID": "{session}"},
    rules=DOCS.process(
        {
            "env": _captured("hooks get ANTIGRAVITY_CONVERSATION_ID"),
            "folder": DOCS.assumed(
                "hooks start in the project; a capture shows ~/.gemini/config for the hooks of that folder"
            ),
        }
    ),
)

CAP = CapRules(
    cap=10,
    below_one=1,
    status="NO_TOOL_CALL",
    flag=FlagUse.NEVER,
    rules={
        "cap": _captured("10 continuations in a row are honoured; the next one is ignored"),
        "counted": _captured(
            "the cap counts continuations of Stop; continuations of PostInvocation have no cap"
        ),
        "resets": DOCS.assumed("only the next prompt resets the count"),
        "flag": DOCS.documented("the input of hooks has executionNum, which counts from 0, and no flag"),
    },
)

ANTIGRAVITY = Profile(
    name="antigravity",
    version="1.1.18",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    process=PROCESS,
    cap=CAP,
    turns=TurnRules(before_request=(Role.BEFORE_MODEL,), after_request=(Role.AFTER_MODEL,)),
    tools=_TOOLS.rules(
        DOCS.assumed(
            "names and keys of tools are those of the agent's tool list; results are plain text; "
            "stepIdx, invocationNum and initialNumSteps are the number of moves since the prompt"
        )
    ),
    transcript=TranscriptRules(
        path="{home}/.gemini/antigravity-cli/conversations/{session}/transcript.jsonl",
        rule=DOCS.assumed("the path and the lines of the transcript, and the folder for artifacts"),
    ),
    model="gemini-3-pro",
    own_values=_own_values,
)

PROFILES: tuple[Profile, ...] = (ANTIGRAVITY,)
