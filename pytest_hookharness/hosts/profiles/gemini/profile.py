"""
Releases of Gemini CLI whose stops were reported to go wrong, as profiles.

Only their stops are known apart; all other facts are taken from the measured release.

Gemini CLI 0.61.0 as a profile.

Facts marked observed were measured by running the host headless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_hookharness.hosts.profiles import command_line
from pytest_hookharness.hosts.profiles.gemini import tools
from pytest_hookharness.hosts.profiles.gemini.events import (
    CHOSEN,
    EVENTS,
    MEASURED,
    REFERENCE,
    own_values,
)
from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.rules.profile import (
    CapRules,
    ConfigRules,
    MatcherRules,
    ProcessRules,
    Profile,
    ReplyRules,
    ToolRules,
    TranscriptRules,
    TurnRules,
    Wording,
)
from pytest_hookharness.hosts.rules.replies import (
    AnswerRules,
    CodeMeaning,
    CodeRule,
    Halting,
    Stream,
    VerdictPath,
)
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, LimitRules, Switch
from pytest_hookharness.hosts.rules.tools import IdRules
from pytest_hookharness.hosts.rules.turns import AskEffect, AtCap, FlagUse, Role
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio
from pytest_hookharness.model.protocol import Basis, Rule, Ruling


def _observed(text: str) -> Rule:
    return Rule(text, Basis.OBSERVED, MEASURED)


def _documented(text: str) -> Rule:
    return Rule(text, Basis.DOCUMENTED, REFERENCE)


def _assumed(text: str) -> Rule:
    return Rule(text, Basis.ASSUMED, CHOSEN)


MATCHERS = MatcherRules(
    trims=True,
    literal_if_malformed=True,
    rule=_observed(
        "a matcher for tools is trimmed and is an unanchored regular expression, or is compared as it is "
        "written if it is malformed; that of SessionStart is compared letter by letter"
    ),
)

CONFIG = ConfigRules(
    paths=("home/.gemini/settings.json", "workspace/.gemini/settings.json"),
    parse=parse_json,
    form=GROUPS,
    flaws={
        Flaw.NOT_LIST: Effect.TAKES,
        Flaw.LIMIT_TEXT: Effect.TAKES,
        Flaw.LIMIT_NEGATIVE: Effect.TAKES,
        Flaw.LIMIT_ZERO: Effect.TAKES,
    },
    limits=LimitRules(unit=0.001),
    switches=(Switch(("hooksConfig", "enabled"), off=False),),
    sequential="sequential",
    identity=("name", "command"),
    plugin_path="hooks/hooks.json",
    plugin_root="extensionPath",
    instructions=("GEMINI.md",),
    rules={
        "malformed": _observed("a malformed entry is left out, with a warning; the rest of the file is used"),
        "unreadable": _assumed("a settings file that is not JSON is not used at all"),
        "unknown event": _observed("an unknown event name is skipped, the rest of the file is used"),
        "disabled": _documented("hooksConfig.enabled false turns off all hooks"),
        "limits": _observed(
            "a limit counts milliseconds, also if it is a text; zero and less end a hook as it begins"
        ),
        "duplicates": _documented("hooks with the same name and command run once for an event"),
        "unpassable": _assumed(
            "a command or variable that no process can be given (NUL, half a surrogate pair) is left out; "
            "the rest of its file is used"
        ),
        "unreachable": _assumed("hooks of events that are never come to change nothing for the others"),
        "trusted": _assumed(
            "the folder is trusted; the list hooksConfig.disabled and the settings of the system are not read"
        ),
    },
)

_EITHER = (Stream.OUT, Stream.ERR)

ANSWERS = AnswerRules(
    nested_json=True,
    ignores_non_objects=True,
    known=frozenset(
        {
            *("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"),
            "hookSpecificOutput",
        }
    ),
    verdicts=(
        VerdictPath(
            path=("decision",),
            rulings={
                "block": Ruling.DENY,
                "deny": Ruling.DENY,
                "allow": Ruling.ALLOW,
                "ask": Ruling.ASK,
            },
        ),
    ),
    halting=Halting.AT_ONCE,
    context=(("hookSpecificOutput", "additionalContext"),),
    changed_input=(("hookSpecificOutput", "tool_input"),),
    input_merges=True,
    person=(("systemMessage",),),
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=_EITHER, meaning=CodeMeaning.PLAIN),
        CodeRule(codes=(1,), answer=_EITHER, meaning=CodeMeaning.FAILS),
        CodeRule(
            answer=_EITHER, reason_streams=_EITHER, meaning=CodeMeaning.REFUSES_IF_WORDS, rule="code refuses"
        ),
    ),
    signalled=CodeMeaning.PLAIN,
    answers=ANSWERS,
    no_reason="No reason provided",
    rules={
        "silent": _observed("exit code 0 without output is no opinion"),
        "plain": _observed("output that is not JSON is text for the person"),
        "shown": _observed("plain output of no event goes to the model"),
        "answer": _observed(
            "an answer in JSON decides, whatever the exit code; it is sought on standard output, and on "
            "standard error if that is empty"
        ),
        "code refuses": _observed(
            "any exit code but 0 and 1 refuses if there are words to go with it, also that of a command that "
            "cannot be run"
        ),
        "wordless": _observed("exit code 2 without a word is ignored: it fails open"),
        "crashed": _observed("exit code 1 without an answer in JSON is ignored: it fails open"),
        "not run": _observed("a command that cannot be run refuses by its exit code, 126 or 127"),
        "signalled": _observed("a hook that a signal ended counts as one that ended with exit code 0"),
        "timed out": _observed("a hook that is cut at its limit has no say, whatever it had printed"),
        "unparsable": _observed("output that begins with a brace and is not JSON is text: it fails open"),
        "invalid": _documented("a value that the host does not know means nothing"),
        "no power": _observed("a refusal of this event is ignored"),
        "unanswered": _assumed("a handler without an answer has no opinion"),
        "precedence": _documented("deny goes before ask, ask before allow"),
        "halt": _observed("continue: false ends the turn at once; a call that it is about is not made"),
        "several": _observed(
            "the reasons of several refusals are joined by line ends, in their written order"
        ),
        "ask": _observed("without a person to ask, decision ask makes the host wait for ever"),
        "allow reason": _observed("the reason of an allow does not reach the model"),
        "no hooks": _documented("an event without hooks changes nothing"),
    },
)

WORDING = Wording(
    refusal="Tool execution blocked: {reason}",
    replaced="Tool result blocked: {reason}",
    context="<hook_context>{text}</hook_context>",
    modified="\n\n[System] Tool input parameters were modified by a hook before execution.",
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("bash", "-c"),
    stdio=Stdio.SOCKET,
    pipe_wait=None,
    kill=KillPolicy(signals=(15,), scope=KillScope.CHILD, close_wait=None),
    env={
        "GEMINI_PROJECT_DIR": "{workspace}",
        "GEMINI_CWD": "{cwd}",
        "GEMINI_SESSION_ID": "{session}",
        "GEMINI_PLANS_DIR": "{home}/.gemini/tmp/{project}/{session}/plans",
        "CLAUDE_PROJECT_DIR": "{workspace}",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    rules={
        "shell": _observed("hooks run by bash -c"),
        "stdio": _observed("standard input, output and error are unix sockets"),
        "session": _observed("a hook stays in the host's own process group"),
        "group": _assumed(
            "a hook leads a process group of its own here, so that `kill 0` in it spares the harness; that "
            "of the real host holds the host and all of its hooks"
        ),
        "kill": _observed(
            "SIGTERM to the hook alone, and no SIGKILL ever: the host waits until the hook has ended and its "
            "output is closed"
        ),
        "pipe wait": _observed(
            "output held open by a child is waited for until it is closed; past the limit all of it is lost"
        ),
        "output": _documented("what a hook prints is read whole, however long it is"),
        "parallel": _observed("all hooks of an event start at once, unless a group says sequential"),
        "env": _assumed("the value of GEMINI_CLI_NO_RELAUNCH; the others are observed"),
        "filled": _assumed(
            "$GEMINI_PROJECT_DIR and the like are left to the shell, where the real host puts in quoted paths"
        ),
    },
)

CAP = CapRules(
    flag=FlagUse.RESET_BY_CALLS,
    rules={
        "no cap": _observed(
            "there is no cap on refusals of a stop: 979 in a row were honoured, and the host's limit of 100 "
            "turns did not end them"
        ),
        "flag": _observed("a tool call makes stop_hook_active false again"),
    },
)

TOOLS = ToolRules(
    ids=IdRules(call="{digest}", message="msg_{prompt}{position:06d}"),
    call=tools.call,
    operation=tools.operation,
    result=tools.result,
    given=tools.given,
    rules={
        "recorded": _observed(
            "results of run_shell_command, of write_file for a new file and of a failed read_file have this "
            "form"
        ),
        "assumed": _assumed(
            "results of replace, read_file and an overwriting write_file have this form; a command that "
            "fails is no failed call"
        ),
        "subagent": _assumed("no subagent is started"),
    },
)

TURNS = TurnRules(
    refusal_prompts=True,
    before_request=(Role.BEFORE_COMPACT, Role.BEFORE_MODEL, Role.TOOL_CHOICE),
    after_request=(Role.AFTER_MODEL,),
    ask_effect=AskEffect.WAITS,
    mode="yolo",
    end_reason="exit",
    rules={
        "request": _observed(
            "PreCompress, BeforeModel and BeforeToolSelection come before every request, AfterModel after it"
        ),
        "continuation": _documented("BeforeAgent comes again with the reason of a refused stop"),
    },
)

TRANSCRIPT = TranscriptRules(
    path="{home}/.gemini/tmp/{project}/chats/session-{year}-{month}-{day}T{hour}-{minute}-{short}.jsonl",
    rule=_assumed("the form of the transcript's lines; its path is observed"),
)

GEMINI_CLI = Profile(
    name="gemini-cli",
    version="0.61.0",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=WORDING,
    process=PROCESS,
    cap=CAP,
    turns=TURNS,
    tools=TOOLS,
    transcript=TRANSCRIPT,
    calling=command_line.GEMINI,
    model="gemini-2.5-flash",
    own_values=own_values,
)


_REPORTS = "Gemini CLI, its makers' issue tracker, 2026"


def _reported(text: str) -> Rule:
    return Rule(text, Basis.DOCUMENTED, _REPORTS)


def _older(version: str, cap: CapRules) -> Profile:
    same = f"but for its stops {version} is taken to be as {GEMINI_CLI.version}"
    rest = Rule(same, Basis.ASSUMED, CHOSEN)
    return replace(GEMINI_CLI, version=version, cap=cap, events=_resting(GEMINI_CLI.events, rest))


def _resting(events: Mapping[str, EventRule], rest: Rule) -> Mapping[str, EventRule]:
    return {name: replace(event, rests_on=(*event.rests_on, rest)) for name, event in events.items()}


GEMINI_CLI_0_30_0 = _older(
    "0.30.0",
    replace(
        GEMINI_CLI.cap,
        flag=FlagUse.NEVER,
        rules={
            **GEMINI_CLI.cap.rules,
            "flag": _reported("stop_hook_active is false at every stop, also after a refusal"),
        },
    ),
)

GEMINI_CLI_0_26_0 = _older(
    "0.26.0",
    CapRules(
        cap=1,
        below_one=1,
        at_cap=AtCap.ASKS_NO_MORE,
        flag=FlagUse.NEVER,
        rules={
            "cap": _reported("AfterAgent is not asked again about the stop that follows a refusal"),
            "counted": Rule("nothing but a refused AfterAgent is counted", Basis.ASSUMED, CHOSEN),
        },
    ),
)

PROFILES: tuple[Profile, ...] = (GEMINI_CLI, GEMINI_CLI_0_30_0, GEMINI_CLI_0_26_0)
