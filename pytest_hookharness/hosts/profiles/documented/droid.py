"""
The profile of Factory's droid, from its documents of July 2026.

It was not measured; its documents follow those of an older Claude Code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources, PlainTools
from pytest_hookharness.hosts.rules import replies
from pytest_hookharness.hosts.rules.profile import EventRule, Power, ProcessRules, Profile
from pytest_hookharness.hosts.rules.settings import ConfigRules, Import, MatcherRules, Syntax
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptRules
from pytest_hookharness.hosts.rules.turns import CapRules, Role, TurnRules
from pytest_hookharness.hosts.settings.formats import GROUPS, OPEN_GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope
from pytest_hookharness.model.protocol import Field, Ruling

DOCS = FactSources("droid hooks reference, 2026-07-24")
_COMMON = (
    Field(name="session_id", kind="uuid"),
    Field(name="transcript_path", kind="path"),
    Field(name="cwd", kind="folder"),
    Field(
        name="permission_mode",
        kind="word",
        choices=("off", "spec", "auto-low", "auto-medium", "auto-high"),
    ),
    Field(name="hook_event_name", kind="event"),
)
_CALL = (
    Field(name="tool_name", kind="tool", choices=("Execute", "Create", "Edit", "Read")),
    Field(name="tool_input", kind="input"),
)
_STOP = Field(name="stop_hook_active", kind="flag")


def _event(name: str, *fields: Field, fact: str, **own: Unpack[EventOptions]) -> EventRule:
    return EventRule(fields=DOCS.fields(name, *_COMMON, *fields), rule=DOCS.documented(fact), **own)


_ALL = (
    _event(
        "SessionStart",
        Field(name="source", kind="word", choices=("startup", "resume", "clear", "compact")),
        fact="SessionStart cannot be refused; plain output and additionalContext reach the agent",
        role=Role.SESSION_START,
        target="source",
        plain=True,
        context=True,
    ),
    _event(
        "SessionEnd",
        Field(name="reason", kind="word", choices=("clear", "logout", "prompt_input_exit", "other")),
        fact="SessionEnd cannot be refused",
        role=Role.SESSION_END,
    ),
    _event(
        "UserPromptSubmit",
        Field(name="prompt"),
        fact="a refusal on UserPromptSubmit erases the prompt, and the user gets the reason",
        role=Role.PROMPT,
        power=Power.REFUSES,
        plain=True,
        context=True,
    ),
    _event(
        "PreToolUse",
        *_CALL,
        fact="a refusal on PreToolUse prevents the call, and the agent gets the reason",
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        target="tool_name",
    ),
    _event(
        "PostToolUse",
        *_CALL,
        Field(name="tool_response", kind="response"),
        fact="PostToolUse occurs after successful calls; on a refusal the agent gets the reason",
        role=Role.AFTER_TOOL,
        power=Power.INFORMS,
        target="tool_name",
        context=True,
        after_failures=False,
    ),
    _event(
        "Stop",
        _STOP,
        fact="a refusal on Stop makes the agent continue",
        role=Role.STOP,
        power=Power.REFUSES,
    ),
    _event(
        "SubagentStop",
        _STOP,
        fact="a refusal on SubagentStop makes the subagent continue",
        role=Role.SUBAGENT_STOP,
        power=Power.REFUSES,
    ),
    _event(
        "PreCompact",
        Field(name="trigger", kind="word", choices=("manual", "auto")),
        Field(name="custom_instructions", kind="nothing"),
        fact="PreCompact cannot be refused",
        role=Role.BEFORE_COMPACT,
        target="trigger",
    ),
    _event(
        "Notification",
        Field(name="message"),
        fact="Notification cannot be refused",
        unreachable="it does not occur in a headless session",
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}

_OWN = "hookSpecificOutput"

MATCHERS = MatcherRules(
    syntax=Syntax.JAVASCRIPT,
    plain=r"[\w-]*",
    separators="",
    rule=DOCS.documented("a simple word is compared for equality; anything else is a regular expression"),
)

CONFIG = ConfigRules(
    paths=("home/.factory/hooks.json", "workspace/.factory/hooks.json"),
    parse=parse_json,
    form=OPEN_GROUPS,
    plugin_path="hooks/hooks.json",
    plugin_manifest=".factory-plugin/plugin.json",
    plugin_root="DROID_PLUGIN_ROOT",
    identity=("command",),
    imports=(
        Import(
            paths=("home/.factory/settings.json", "workspace/.factory/settings.json"),
            form=GROUPS,
            events={name: name for name in EVENTS},
        ),
    ),
    rules=DOCS.settings(
        {
            "merge": DOCS.documented("hooks of the user, the project and plugins are added together"),
            "files": DOCS.assumed(
                "settings.json counts beside hooks.json; according to the documents only if there is no "
                "hooks.json, and a report about version 0.186.0 says that only hooks.json counts"
            ),
            "duplicates": DOCS.documented("identical commands run once"),
            "review": DOCS.assumed("changed hooks are assumed to be reviewed"),
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
    answers=replies.AnswerRules(
        starts="{",
        verdicts=(
            replies.VerdictPath(
                path=(_OWN, "permissionDecision"),
                reason=(_OWN, "permissionDecisionReason"),
                rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY, "ask": Ruling.ASK},
                roles=(Role.BEFORE_TOOL,),
            ),
            replies.VerdictPath(path=("decision",), rulings={"approve": Ruling.ALLOW, "block": Ruling.DENY}),
        ),
        halting=replies.Halting.AT_ONCE,
        context=((_OWN, "additionalContext"),),
        changed_input=((_OWN, "updatedInput"),),
        input_merges=True,
        person=(("systemMessage",),),
    ),
    no_reason="Blocked by hook",
    no_error_text="Blocked by hook",
    rules=DOCS.replies(
        {
            "answer": DOCS.documented("a JSON answer decides with exit code 0"),
            "code refuses": DOCS.documented("exit code 2 refuses; the agent gets standard error"),
            "crashed": DOCS.documented("any exit code except 0 and 2 is an error that blocks nothing"),
            "plain": DOCS.documented("plain output is only shown in the transcript"),
            "shown": DOCS.documented(
                "plain output of UserPromptSubmit and SessionStart is added to the context"
            ),
            "halt": DOCS.documented(
                "continue: false ends the turn after the hooks ran, and wins over every decision"
            ),
            "halted call": DOCS.assumed("the call before which a PreToolUse hook ends the turn is not made"),
            "ask": DOCS.assumed("without a person to ask, ask refuses the call"),
            "input": DOCS.documented("updatedInput has the fields of the input that change"),
            "code with answer": DOCS.assumed("an answer beside exit code 2 is not read"),
        }
    ),
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    own_session=True,
    kill=KillPolicy(scope=KillScope.GROUP),
    env={"FACTORY_PROJECT_DIR": "{workspace}"},
    rules=DOCS.process(
        {
            "order": DOCS.documented("all hooks of an event start at once"),
            "env": DOCS.documented(
                "hooks get FACTORY_PROJECT_DIR; hooks of plugins also get DROID_PLUGIN_ROOT"
            ),
        }
    ),
)

CAP = CapRules(rules={"no cap": DOCS.assumed("no cap on refusals is documented, only stop_hook_active")})

_TOOLS = PlainTools(run="Execute", write="Create", edit="Edit", read="Read", old="old_str", new="new_str")

DROID = Profile(
    name="droid",
    version="2026-07",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    process=PROCESS,
    cap=CAP,
    turns=TurnRules(mode="off", rules={"mode": DOCS.assumed("a session starts in the permission mode off")}),
    tools=_TOOLS.rules(
        DOCS.assumed(
            "names of tools are documented; the keys of their inputs and the forms of results are not"
        ),
        subagent="Task",
    ),
    transcript=TranscriptRules(
        path="{home}/.factory/projects/{slug}/{session}.jsonl",
        rule=DOCS.assumed(
            "the folder of the transcript is documented; the name of its file and its lines are not"
        ),
    ),
)

PROFILES: tuple[Profile, ...] = (DROID,)
