"""
GitHub's Copilot CLI 1.0.71, the last release without a guard, as a profile.

What its changelog has changed later is left out; all other facts are those of 1.0.78.

GitHub's Copilot CLI 1.0.78 as a profile, from its reference and changelog.

It was not measured.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles.copilot.events import DOCS, EVENTS, own_values
from pytest_hookharness.hosts.profiles.shared import PlainTools
from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.rules.profile import (
    CapRules,
    ConfigRules,
    MatcherRules,
    ProcessRules,
    Profile,
    ReplyRules,
    TranscriptRules,
    TurnRules,
    Wording,
)
from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeMeaning, CodeRule, Stream, VerdictPath
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, HandlerKeys, Switch
from pytest_hookharness.hosts.rules.turns import FlagUse, Role
from pytest_hookharness.hosts.settings.formats import MIXED, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio
from pytest_hookharness.model.protocol import Ruling

MATCHERS = MatcherRules(
    everything=("",),
    anchored=True,
    rule=DOCS.documented("a matcher is an expression for the whole name; a malformed one takes its hook out"),
)

CONFIG = ConfigRules(
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
    keys=HandlerKeys(timeout="timeoutSec", env="env", aliases={"command": "bash", "timeout": "timeoutSec"}),
    types={"command": "bash", "http": "url", "prompt": "prompt"},
    untyped="command",
    flaws={Flaw.NOT_LIST: Effect.VOIDS, Flaw.NOT_OBJECT: Effect.VOIDS},
    switches=(Switch(("disableAllHooks",), off=True),),
    plugin_path="hooks/hooks.json",
    plugin_root="COPILOT_PLUGIN_ROOT",
    rules=DOCS.settings(
        {
            "malformed": DOCS.documented("a malformed entry is left out; a wrong structure voids its file"),
            "strict": DOCS.assumed(
                "the same holds here in settings.json, where one such entry voids the host's file"
            ),
            "unreadable": DOCS.documented("a file that is not JSON is rejected, others load"),
            "merge": DOCS.documented("the hooks of all files add up, the person's before the project's"),
            "disabled": DOCS.documented("disableAllHooks in the project's settings turns off all hooks"),
            "disabled file": DOCS.assumed(
                "in a file below hooks it turns off all hooks here, though it is only to turn off its own"
            ),
            "launches": DOCS.assumed("the keys cwd and exec of an entry are not simulated"),
        }
    ),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=(Stream.OUT,), meaning=CodeMeaning.PLAIN),
        CodeRule(codes=(2,), meaning=CodeMeaning.IGNORED, rule="code warns"),
        CodeRule(meaning=CodeMeaning.FAILS),
    ),
    answers=AnswerRules(
        verdicts=(
            VerdictPath(
                path=("permissionDecision",),
                reason=("permissionDecisionReason",),
                rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY, "ask": Ruling.ASK},
                roles=(Role.BEFORE_TOOL,),
            ),
            VerdictPath(
                path=("decision",),
                rulings={"block": Ruling.DENY, "allow": Ruling.ALLOW},
                roles=(Role.STOP, Role.SUBAGENT_STOP),
            ),
        ),
        context=(("additionalContext",),),
        changed_input=(("modifiedArgs",), ("updatedInput",)),
        changed_output=(("modifiedResult", "textResultForLlm"),),
    ),
    no_reason="Denied by {event} hook",
    no_error_text="Denied by {event} hook (hook errored)",
    rules=DOCS.replies(
        {
            "silent": DOCS.documented("exit code 0 without output is the default behaviour"),
            "plain": DOCS.documented("output that is not one JSON text as a whole is no output"),
            "unparsable": DOCS.documented("output that is not one JSON text as a whole is no output"),
            "progress": DOCS.assumed("lines of progress before an answer are not taken out here"),
            "answer": DOCS.documented("permissionDecision decides before a tool, decision block at a stop"),
            "code refuses": DOCS.documented("exit code 2 refuses before a tool, whatever the answer says"),
            "error refuses": DOCS.documented(
                "before a tool any failure but a time-out refuses: it fails closed"
            ),
            "code warns": DOCS.documented("exit code 2 is a warning for the person and holds nothing up"),
            "code tells": DOCS.documented(
                "after a failed tool, output with exit code 2 is told to the agent"
            ),
            "wordless": DOCS.assumed("exit code 2 after a failed tool means nothing without output"),
            "crashed": DOCS.documented("other failures are logged, and the run goes on"),
            "not run": DOCS.documented("a command that cannot be run is logged, and the run goes on"),
            "timed out": DOCS.documented("a time-out lets everything go on, before a tool too"),
            "signalled": DOCS.assumed("a hook that a signal ended is ignored, before a tool too"),
            "ask": DOCS.documented("without a person to ask, ask refuses the call"),
            "precedence": DOCS.documented("any deny blocks the call"),
        }
    ),
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    stdio=Stdio.PIPE,
    own_session=True,
    kill=KillPolicy(scope=KillScope.GROUP),
    one_by_one=True,
    env={"COPILOT_CLI": "1"},
    rules=DOCS.process(
        {
            "order": DOCS.documented("hooks of an event run one by one, in order"),
            "rest": DOCS.assumed("a refusal does not keep the hooks after it from being run"),
            "env": DOCS.documented("hooks get COPILOT_CLI, those of plugins COPILOT_PLUGIN_ROOT"),
            "shell": DOCS.assumed("the key bash is run by bash -c"),
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
        "counted": DOCS.assumed("nothing but refusals of agentStop and subagentStop is counted"),
        "resets": DOCS.assumed("nothing but the next prompt begins the count again"),
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
    wording=Wording(),
    process=PROCESS,
    cap=CAP,
    turns=TurnRules(end_reason="complete"),
    tools=_TOOLS.rules(
        DOCS.assumed("names of tools are documented; keys of inputs and the form of texts are not"),
        subagent="task",
        gated=True,
    ),
    transcript=TranscriptRules(
        path="{home}/.copilot/session-state/{session}/events.jsonl",
        rule=DOCS.assumed("path and lines of the transcript"),
    ),
    own_values=own_values,
)


_FLAG = "stop_hook_active"
_SAME = DOCS.assumed("but for its stops 1.0.71 is taken to be as 1.0.78")


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
            "flag": DOCS.documented("before 1.0.72 hooks are told nothing of earlier refusals"),
        },
    ),
)

PROFILES: tuple[Profile, ...] = (COPILOT_CLI, COPILOT_CLI_1_0_71)
