"""
The profiles of GitHub's Copilot CLI: 1.0.78, and 1.0.71, the last release without a cap.

The facts are from its reference and changelog; they were not measured. 1.0.71 differs from 1.0.78 only in its
stops; other later changes in the changelog are not taken into account.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles.copilot.events import ANSWERS, DOCS, EVENTS, own_values
from pytest_hookharness.hosts.profiles.shared import PlainTools
from pytest_hookharness.hosts.rules import settings
from pytest_hookharness.hosts.rules.profile import EventRule, ProcessRules, Profile
from pytest_hookharness.hosts.rules.replies import (
    CodeMeaning,
    CodeRule,
    ReplyRules,
    Stream,
)
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptRules
from pytest_hookharness.hosts.rules.turns import CapRules, FlagUse, TurnRules
from pytest_hookharness.hosts.settings.formats import MIXED, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope

MATCHERS = settings.MatcherRules(
    syntax=settings.Syntax.JAVASCRIPT,
    everything=("",),
    anchored=True,
    rule=DOCS.documented(
        "a matcher is a regular expression for the whole name; a hook with a malformed one does not run"
    ),
)

CONFIG = settings.ConfigRules(
    paths=(
        "home/.copilot/hooks/*.json",
        "home/.copilot/settings.json",
        "workspace/.github/hooks/*.json",
        "workspace/.github/copilot/settings.json",
        "workspace/.github/copilot/settings.local.json",
        "workspace/.claude/settings.json",
        "workspace/.claude/settings.local.json",
    ),
    parse=parse_json,
    form=MIXED,
    keys=settings.HandlerKeys(
        timeout="timeoutSec",
        env="env",
        folder="cwd",
        aliases={"command": "bash", "timeout": "timeoutSec"},
    ),
    types={"command": "bash", "http": "url", "prompt": "prompt"},
    untyped="command",
    flaws={settings.Flaw.NOT_LIST: settings.Effect.VOIDS, settings.Flaw.NOT_OBJECT: settings.Effect.VOIDS},
    switches=(settings.Switch(("disableAllHooks",), off=True),),
    plugin_path="hooks/hooks.json",
    plugin_root="COPILOT_PLUGIN_ROOT",
    rules=DOCS.settings(
        {
            "malformed": DOCS.documented(
                "a malformed entry is left out; a wrong structure turns off every hook of its file"
            ),
            "strict": DOCS.assumed(
                "the same is assumed for settings.json, where one such entry turns off the real host's "
                "whole file"
            ),
            "unreadable": DOCS.documented("a file that is not JSON is rejected; others load"),
            "misplaced": DOCS.assumed("a file without the key 'hooks' has no hooks"),
            "merge": DOCS.documented(
                "the hooks of all files are added together, the user's before the project's"
            ),
            "disabled": DOCS.documented("disableAllHooks in the project's settings turns off all hooks"),
            "disabled file": DOCS.assumed(
                "in a file below hooks it turns off all hooks here, although it should turn off only "
                "the file's own"
            ),
            "folder": DOCS.documented(
                "cwd is the folder in which a hook starts, from the root of the repository or absolute"
            ),
            "launches": DOCS.assumed("the key exec of an entry is not simulated"),
        }
    ),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=(Stream.OUT,), meaning=CodeMeaning.PLAIN),
        CodeRule(codes=(2,), meaning=CodeMeaning.IGNORED, rule="code warns"),
        CodeRule(meaning=CodeMeaning.FAILS),
    ),
    answers=ANSWERS,
    no_reason="Denied by {event} hook",
    no_error_text="Denied by {event} hook (hook errored)",
    rules=DOCS.replies(
        {
            "silent": DOCS.documented("exit code 0 without output gives the default behaviour"),
            "plain": DOCS.documented("output that is not, as a whole, one JSON text counts as no output"),
            "unparsable": DOCS.documented(
                "output that is not, as a whole, one JSON text counts as no output"
            ),
            "progress": DOCS.assumed("lines of progress before an answer are not removed here"),
            "answer": DOCS.documented(
                "permissionDecision decides before a tool, and decision block at a stop"
            ),
            "code refuses": DOCS.documented("exit code 2 refuses before a tool, whatever the answer says"),
            "error refuses": DOCS.documented(
                "before a tool any failure except a timeout refuses: it fails closed"
            ),
            "code warns": DOCS.documented("exit code 2 is a warning for the user and blocks nothing"),
            "code informs": DOCS.documented("after a failed tool, output with exit code 2 reaches the agent"),
            "wordless": DOCS.assumed("exit code 2 after a failed tool has no effect without output"),
            "crashed": DOCS.documented("other failures are logged, and the run continues"),
            "not run": DOCS.documented("a command that cannot be started is logged, and the run continues"),
            "timed out": DOCS.documented(
                "after a timeout the host continues: it fails open, before a tool too"
            ),
            "signalled": DOCS.assumed("a hook that was ended by a signal is ignored, before a tool too"),
            "ask": DOCS.documented("without a person to ask, ask refuses the call"),
            "precedence": DOCS.documented("any deny blocks the call"),
        }
    ),
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    own_session=True,
    kill=KillPolicy(scope=KillScope.GROUP),
    one_by_one=True,
    env={"COPILOT_CLI": "1"},
    rules=DOCS.process(
        {
            "order": DOCS.documented("the hooks of an event run one after the other, in order"),
            "rest": DOCS.assumed("hooks after a refusal still run"),
            "env": DOCS.documented("hooks get COPILOT_CLI; hooks of plugins also get COPILOT_PLUGIN_ROOT"),
            "shell": DOCS.assumed("the command in the key bash runs with bash -c"),
        }
    ),
)

CAP = CapRules(
    cap=8,
    below_one=1,
    rules={
        "cap": DOCS.documented(
            "after 8 continuations in a row the host overrides the hook and ends the turn"
        ),
        "counted": DOCS.assumed("only refusals of agentStop and subagentStop are counted"),
        "resets": DOCS.assumed("only the next prompt resets the count"),
    },
)

_TOOLS = PlainTools(
    run="bash",
    write="create",
    edit="edit",
    read="view",
    path="path",
    text="file_text",
    old="old_str",
    new="new_str",
)

COPILOT_CLI = Profile(
    name="copilot-cli",
    version="1.0.78",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    process=PROCESS,
    cap=CAP,
    turns=TurnRules(end_reason="complete"),
    tools=_TOOLS.rules(
        DOCS.assumed(
            "names of tools are documented; the keys of their inputs and the form of results are not"
        ),
        subagent="task",
        gated=True,
    ),
    transcript=TranscriptRules(
        path="{home}/.copilot/session-state/{session}/events.jsonl",
        rule=DOCS.assumed("the path and the lines of the transcript"),
    ),
    own_values=own_values,
)

_FLAG = "stop_hook_active"
_SAME = DOCS.assumed("except for its stops, 1.0.71 is assumed to be like 1.0.78")


def _older(event: EventRule) -> EventRule:
    fields = tuple(field for field in event.fields.fields if field.name != _FLAG)
    return replace(event, fields=replace(event.fields, fields=fields), rests_on=(*event.rests_on, _SAME))


COPILOT_CLI_1_0_71 = replace(
    COPILOT_CLI,
    version="1.0.71",
    events={name: _older(event) for name, event in COPILOT_CLI.events.items()},
    cap=CapRules(
        flag=FlagUse.NEVER,
        rules={
            "no cap": DOCS.documented("before 1.0.72 nothing counts continuations"),
            "flag": DOCS.documented("before 1.0.72 the input of hooks says nothing about earlier refusals"),
        },
    ),
)

PROFILES: tuple[Profile, ...] = (COPILOT_CLI, COPILOT_CLI_1_0_71)
