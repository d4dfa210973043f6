"""
The profile of Cursor in August 2026, from its documents.

Its source is closed, and it was not measured.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles.cursor.events import (
    ANSWERS,
    DOCS,
    EVENTS,
    FAILURE,
    NO_DECISION,
    TOOLS,
    own_values,
)
from pytest_hookharness.hosts.rules.profile import ProcessRules, Profile
from pytest_hookharness.hosts.rules.replies import CodeMeaning, CodeRule, ReplyRules, Stream
from pytest_hookharness.hosts.rules.settings import ConfigRules, HandlerKeys, Import, MatcherRules, Syntax
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptRules
from pytest_hookharness.hosts.rules.turns import CapRules, FlagUse, Role, TurnRules
from pytest_hookharness.hosts.settings.formats import FLAT, GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope
from pytest_hookharness.model.protocol import Basis, Rule

MATCHERS = MatcherRules(
    syntax=Syntax.JAVASCRIPT,
    rule=DOCS.documented(
        "a matcher is a regular expression for the tool, the kind of subagent or the text of a command; "
        "it is assumed that it need not match the whole, and that it matches nothing if it is malformed"
    ),
)

# Claude Code's events by their names here; two others are documented as not supported.
_CLAUDE_EVENTS = {
    "SessionStart": "sessionStart",
    "SessionEnd": "sessionEnd",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure",
    "SubagentStart": "subagentStart",
    "SubagentStop": "subagentStop",
    "Stop": "stop",
    "PreCompact": "preCompact",
}

CONFIG = ConfigRules(
    paths=("home/.cursor/hooks.json", "workspace/.cursor/hooks.json"),
    parse=parse_json,
    form=FLAT,
    keys=HandlerKeys(on_failure={"failClosed": True}),
    types={"command": "command", "prompt": "prompt"},
    untyped="command",
    plugin_path="hooks/hooks.json",
    plugin_manifest=".cursor-plugin/plugin.json",
    plugin_replaces=True,
    plugin_root="CURSOR_PLUGIN_ROOT",
    imports=(
        Import(
            paths=(
                "home/.claude/settings.json",
                "workspace/.claude/settings.json",
                "workspace/.claude/settings.local.json",
            ),
            form=GROUPS,
            events=_CLAUDE_EVENTS,
            options={"loop_limit": None},
        ),
    ),
    rules=DOCS.settings(
        {
            "merge": DOCS.documented("the hooks of all files run"),
            "conflict": DOCS.assumed("if two files contradict each other, the strongest ruling wins"),
            "imports": DOCS.documented(
                "settings of Claude Code are read if this is switched on; loop_limit is null for their hooks"
            ),
            "imports on": DOCS.assumed("this is assumed to be switched on"),
            "imported answers": DOCS.documented("hooks in these files may answer in either form"),
            "imported input": DOCS.assumed("they get the keys of Cursor's events, not those of Claude Code"),
            "imported stops": DOCS.assumed(
                "so their decision block, and their exit code 2, make the agent continue, although "
                "those of Cursor's own hooks do not"
            ),
            "trust": DOCS.assumed("the workspace is assumed to be trusted"),
            "plugins": DOCS.documented(
                "a folder with .cursor-plugin/plugin.json is a plugin, whose manifest may name another file "
                "than hooks/hooks.json"
            ),
        }
    ),
)

REPLIES = ReplyRules(
    codes=(
        NO_DECISION,
        CodeRule(codes=(2,), meaning=CodeMeaning.REFUSES, overrides_answer=True, rule="code refuses"),
        FAILURE,
    ),
    answers=ANSWERS,
    no_reason="Denied by a hook",
    no_error_text="Denied by a hook",
    rules=DOCS.replies(
        {
            "answer": DOCS.documented(
                "permission decides, with agent_message for the agent; on stops, followup_message does"
            ),
            "asked": DOCS.assumed(
                "permission ask has no effect, according to several reports; the documents do not say so"
            ),
            "code refuses": DOCS.documented("exit code 2 refuses"),
            "code means nothing": DOCS.documented("exit code 2 does not make the agent continue"),
            "imported code": DOCS.assumed(
                "exit code 2 of a hook in settings of Claude Code makes the agent continue"
            ),
            "crashed": DOCS.documented("any other exit code fails open, or closed with failClosed"),
            "not run": DOCS.documented(
                "a command that cannot be started fails open, or closed with failClosed"
            ),
            "timed out": DOCS.documented(
                "a hook that reaches its timeout fails open, or closed with failClosed"
            ),
            "no decision": DOCS.documented("output that is not JSON fails open, or closed with failClosed"),
            "failure blocks": DOCS.documented("with failClosed a failure refuses"),
            "stops": DOCS.assumed(
                "a failure of a stop hook never makes the agent continue, even with failClosed"
            ),
        }
    ),
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    own_session=True,
    kill=KillPolicy(scope=KillScope.GROUP),
    env={
        "CURSOR_PROJECT_DIR": "{workspace}",
        "CURSOR_VERSION": "2026-08",
        "CLAUDE_PROJECT_DIR": "{workspace}",
    },
    plugin_start=True,
    rules=DOCS.process(
        {
            "shell": DOCS.assumed("hooks run with /bin/bash -c, as a third party observed on macOS"),
            "limit": DOCS.assumed("a hook without a timeout gets 60 seconds; no default is documented"),
            "order": DOCS.assumed("all hooks of an event start at once; the order is not documented"),
            "folder": DOCS.assumed("hooks start in the project; the user's own start in ~/.cursor"),
            "plugin folder": DOCS.assumed(
                "those of a plugin start in its folder, as plugins that Cursor publishes need it, and get "
                "CURSOR_PLUGIN_ROOT"
            ),
            "env": DOCS.documented("hooks get CURSOR_PROJECT_DIR, CURSOR_VERSION and CLAUDE_PROJECT_DIR"),
            "env left out": DOCS.assumed("CURSOR_USER_EMAIL, CURSOR_TRANSCRIPT_PATH and CURSOR_CODE_REMOTE"),
        }
    ),
)

CAP = CapRules(
    cap=5,
    below_one=1,
    per_hook="loop_limit",
    flag=FlagUse.NEVER,
    rules={
        "cap": DOCS.documented(
            "followup_message is followed loop_limit times: 5 by default, without a limit for null"
        ),
        "counted": DOCS.assumed("only followup_message is counted, and no call resets the count"),
        "several hooks": DOCS.assumed("if several hooks refuse, the largest loop_limit applies"),
        "flag": DOCS.documented("the input of hooks has loop_count and no flag"),
    },
)

TURNS = TurnRules(
    refusal_prompts=True,
    rules={
        "continuation": Rule(
            "beforeSubmitPrompt occurs with the text of each followup_message",
            Basis.ASSUMED,
            "reports of users, 2026; the documents do not say so",
        ),
    },
)

CURSOR = Profile(
    name="cursor",
    version="2026-08",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    process=PROCESS,
    cap=CAP,
    turns=TURNS,
    tools=replace(
        TOOLS.rules(
            DOCS.assumed(
                "the keys of inputs except the command's, the name StrReplace, and the forms of results"
            ),
            subagent="Task",
        ),
        deletes="Delete",
    ),
    transcript=TranscriptRules(
        path="{home}/.cursor/projects/{slug}/agent-transcripts/{session}.jsonl",
        rule=DOCS.assumed("the path and the lines of the transcript"),
    ),
    own_values=own_values,
)

_IMPORTED_CODES = (
    CodeRule(
        codes=(0,),
        answer=(Stream.OUT,),
        reason_streams=(),
        meaning=CodeMeaning.REFUSES,
        rule="silence refuses",
    ),
    *REPLIES.codes[1:],
)

# Users reported this and the documents deny it, so the fact is marked as assumed.
CURSOR_REPORTED = replace(
    CURSOR,
    version="2026-08-reported",
    events={
        name: replace(event, foreign_codes=_IMPORTED_CODES) if event.role is Role.BEFORE_TOOL else event
        for name, event in EVENTS.items()
    },
    replies=replace(
        REPLIES,
        rules={
            **REPLIES.rules,
            "silence refuses": Rule(
                "before a tool, exit code 0 of a hook in Claude Code's settings refuses if the hook "
                "prints no JSON",
                Basis.ASSUMED,
                "reports of users of three collections of hooks, 2026; the documents say otherwise",
            ),
        },
    ),
)

PROFILES: tuple[Profile, ...] = (CURSOR, CURSOR_REPORTED)
