"""
Cursor in August 2026 as a profile, from its documents.

Its source is closed, and it was not measured.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles.cursor.events import ANSWERS, EVENTS, PAPERS, TOOLS, own_words
from pytest_hookharness.hosts.rules.profile import (
    CapRules,
    ConfigRules,
    MatcherRules,
    ProcessRules,
    Profile,
    ReplyRules,
    TranscriptRules,
    Wording,
)
from pytest_hookharness.hosts.rules.replies import Alone, CodeRule, Stream
from pytest_hookharness.hosts.rules.settings import HandlerKeys, Import
from pytest_hookharness.hosts.rules.turns import FlagUse, Role
from pytest_hookharness.hosts.settings.formats import FLAT, GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio
from pytest_hookharness.model.protocol import Basis, Rule

MATCHERS = MatcherRules(
    rule=PAPERS.says(
        "a matcher is a regular expression for the tool, the kind of subagent or the text of a command; "
        "that it need not match the whole, and matches nothing if it is malformed, is assumed"
    )
)

# Events of Claude Code by the names that they have here; two others are documented as not supported.
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
    rules=PAPERS.settings(
        {
            "merge": PAPERS.says("the hooks of all files run"),
            "conflict": PAPERS.open("where two files contradict each other the strongest ruling holds"),
            "imports": PAPERS.says(
                "settings of Claude Code are read if that is switched on; loop_limit is null for them"
            ),
            "imports on": PAPERS.open("that is taken as switched on"),
            "imported answers": PAPERS.says("hooks of these files may answer in either form"),
            "imported input": PAPERS.open("they get the keys of Cursor's events, not those of Claude Code"),
            "imported stops": PAPERS.open(
                "so their decision block, and exit code 2, makes the agent go on, though Cursor's own do not"
            ),
            "trust": PAPERS.open("the workspace is taken as trusted"),
        }
    ),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=(Stream.OUT,), alone=Alone.FAILS, spares_silent=True, rule="no decision"),
        CodeRule(codes=(2,), alone=Alone.REFUSES, wins=True, rule="code refuses"),
        CodeRule(alone=Alone.FAILS),
    ),
    answers=ANSWERS,
    no_reason="Denied by a hook",
    no_error_text="Denied by a hook",
    rules=PAPERS.replies(
        {
            "answer": PAPERS.says(
                "permission decides, with agent_message for the agent; followup_message on stops"
            ),
            "asked": PAPERS.open("permission ask does nothing, as several reports say; documents do not"),
            "code refuses": PAPERS.says("exit code 2 refuses"),
            "code means nothing": PAPERS.says("exit code 2 does not make the agent go on"),
            "imported code": PAPERS.open(
                "exit code 2 of a hook in settings of Claude Code makes the agent go on"
            ),
            "crashed": PAPERS.says("any other exit code fails open, or closed with failClosed"),
            "not run": PAPERS.says("a command that cannot be run fails open, or closed with failClosed"),
            "timed out": PAPERS.says("a hook that is cut fails open, or closed with failClosed"),
            "no decision": PAPERS.says("output that is not JSON fails open, or closed with failClosed"),
            "failure blocks": PAPERS.says("with failClosed a failure refuses"),
            "stops": PAPERS.open("a failure of a stop hook never makes the agent go on, with failClosed too"),
        }
    ),
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    stdio=Stdio.PIPE,
    own_session=True,
    kill=KillPolicy(scope=KillScope.GROUP),
    env={
        "CURSOR_PROJECT_DIR": "{workspace}",
        "CURSOR_VERSION": "2026-08",
        "CLAUDE_PROJECT_DIR": "{workspace}",
    },
    rules=PAPERS.process(
        {
            "shell": PAPERS.open("hooks run by /bin/bash -c, as a third party saw on macOS"),
            "limit": PAPERS.open(
                "a hook without a timeout is cut after 60 seconds; no default is documented"
            ),
            "order": PAPERS.open("all hooks of an event start at once; the order is not documented"),
            "folder": PAPERS.open("hooks start in the project; those of the person do so in ~/.cursor"),
            "env": PAPERS.says("hooks get CURSOR_PROJECT_DIR, CURSOR_VERSION and CLAUDE_PROJECT_DIR"),
            "env left out": PAPERS.open("CURSOR_USER_EMAIL, CURSOR_TRANSCRIPT_PATH and CURSOR_CODE_REMOTE"),
        }
    ),
)

GUARD = CapRules(
    cap=5,
    low=1,
    per_hook="loop_limit",
    flag=FlagUse.NEVER,
    rules={
        "cap": PAPERS.says("followup_message is followed loop_limit times, 5 by default, null for ever"),
        "counted": PAPERS.open("nothing but followup_message is counted, and no call begins the count again"),
        "several hooks": PAPERS.open("of several hooks that refuse, the largest loop_limit holds"),
        "flag": PAPERS.says("hooks are told loop_count and no flag"),
    },
)

CURSOR = Profile(
    name="cursor",
    version="2026-08",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=Wording(),
    process=PROCESS,
    cap=GUARD,
    tools=TOOLS.rules(
        PAPERS.open("keys of inputs but for the command, the name StrReplace, and forms of results"),
        subagent="Task",
    ),
    transcript=TranscriptRules(
        path="{home}/.cursor/projects/{slug}/agent-transcripts/{session}.jsonl",
        rule=PAPERS.open("path and lines of the transcript"),
    ),
    own_words=own_words,
)

_IMPORTED_GATES = (
    CodeRule(codes=(0,), answer=(Stream.OUT,), words=(), alone=Alone.REFUSES, rule="silence refuses"),
    *REPLIES.codes[1:],
)

# What users saw, which the documents deny: the rule is told as an assumption wherever it counts.
CURSOR_REPORTED = replace(
    CURSOR,
    version="2026-08-reported",
    events={
        name: replace(event, foreign_codes=_IMPORTED_GATES) if event.role is Role.BEFORE_TOOL else event
        for name, event in EVENTS.items()
    },
    replies=replace(
        REPLIES,
        rules={
            **REPLIES.rules,
            "silence refuses": Rule(
                "before a tool, exit code 0 of a hook of Claude Code's settings refuses if it prints no JSON",
                Basis.ASSUMED,
                "reports of users of three collections of hooks, 2026; the documents say otherwise",
            ),
        },
    ),
)

PROFILES: tuple[Profile, ...] = (CURSOR, CURSOR_REPORTED)
