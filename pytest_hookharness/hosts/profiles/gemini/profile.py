"""
The profiles of Gemini CLI: 0.61.0, and two older releases whose stops were reported to behave differently.

Facts marked observed were measured by running 0.61.0 headless. Of the older releases only the stops are
known; all other facts are those of 0.61.0.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles import command_line
from pytest_hookharness.hosts.profiles.gemini import tools
from pytest_hookharness.hosts.profiles.gemini.events import EVENTS, FACTS, own_values
from pytest_hookharness.hosts.rules import replies, settings
from pytest_hookharness.hosts.rules.profile import ProcessRules, Profile
from pytest_hookharness.hosts.rules.tools_and_transcript import IdRules, ToolRules, TranscriptRules
from pytest_hookharness.hosts.rules.turns import AskEffect, AtCap, CapRules, FlagUse, Role, TurnRules
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio
from pytest_hookharness.model.protocol import Ruling

_observed, _documented, _assumed = FACTS.observed, FACTS.documented, FACTS.assumed

MATCHERS = settings.MatcherRules(
    syntax=settings.Syntax.JAVASCRIPT,
    trims=True,
    literal_if_malformed=True,
    rule=_observed(
        "a matcher for tools is trimmed and is an unanchored regular expression of JavaScript; a malformed "
        "one is compared as literal text; a matcher of SessionStart is trimmed and compared as literal text"
    ),
)

CONFIG = settings.ConfigRules(
    paths=("home/.gemini/settings.json", "workspace/.gemini/settings.json"),
    parse=parse_json,
    form=GROUPS,
    flaws={
        settings.Flaw.NOT_LIST: settings.Effect.TAKES,
        settings.Flaw.LIMIT_TEXT: settings.Effect.TAKES,
        settings.Flaw.LIMIT_NEGATIVE: settings.Effect.TAKES,
        settings.Flaw.LIMIT_ZERO: settings.Effect.TAKES,
    },
    limits=settings.LimitRules(unit=0.001),
    switches=(settings.Switch(("hooksConfig", "enabled"), off=False),),
    # Source of 0.61.0: a hook without a name is listed by its command.
    turned_off=("hooksConfig", "disabled"),
    sequential="sequential",
    identity=("name", "command"),
    plugin_path="hooks/hooks.json",
    plugin_manifest="gemini-extension.json",
    plugin_root="extensionPath",
    instructions=("GEMINI.md",),
    rules={
        "malformed": _observed("a malformed entry is left out, with a warning; the rest of the file is used"),
        "unreadable": _assumed("a settings file that is not JSON is not used"),
        "unknown event": _observed("an unknown event name is skipped; the rest of the file is used"),
        "disabled": _documented("hooksConfig.enabled false turns off all hooks"),
        "limits": _observed(
            "a timeout counts milliseconds, even if it is a string; 0 or less ends a hook at once"
        ),
        "duplicates": _documented("hooks with the same name and command run once for an event"),
        "unpassable": _assumed(
            "a command or variable that cannot be passed to a process (NUL, half a surrogate pair) is "
            "left out; the rest of its file is used"
        ),
        "unreachable": _assumed("hooks of events that do not occur have no effect on other hooks"),
        "trusted": _assumed(
            "the folder is trusted; the list hooksConfig.disabled and the system's settings are not read"
        ),
    },
)

_EITHER = (replies.Stream.OUT, replies.Stream.ERR)

ANSWERS = replies.AnswerRules(
    nested_json=True,
    ignores_non_objects=True,
    known=frozenset(
        {
            *("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"),
            "hookSpecificOutput",
        }
    ),
    verdicts=(
        replies.VerdictPath(
            path=("decision",),
            rulings={
                "block": Ruling.DENY,
                "deny": Ruling.DENY,
                "allow": Ruling.ALLOW,
                "ask": Ruling.ASK,
            },
        ),
    ),
    halting=replies.Halting.AT_ONCE,
    context=(("hookSpecificOutput", "additionalContext"),),
    changed_input=(("hookSpecificOutput", "tool_input"),),
    next_merges=True,
    person=(("systemMessage",),),
)

REPLIES = replies.ReplyRules(
    codes=(
        replies.CodeRule(codes=(0,), answer=_EITHER, meaning=replies.CodeMeaning.PLAIN),
        # Exit code 1 never refuses. Every code that no rule names, such as 2 or 127, refuses if there is
        # text.
        replies.CodeRule(codes=(1,), answer=_EITHER, meaning=replies.CodeMeaning.FAILS),
        replies.CodeRule(
            answer=_EITHER,
            reason_streams=_EITHER,
            meaning=replies.CodeMeaning.REFUSES_IF_WORDS,
            rule="code refuses",
        ),
    ),
    signalled=replies.CodeMeaning.PLAIN,
    answers=ANSWERS,
    no_reason="No reason provided",
    rules={
        "silent": _observed("exit code 0 without output has no effect"),
        "plain": _observed("output that is not JSON is text for the user"),
        "shown": _observed("plain output does not reach the model on any event"),
        "answer": _observed(
            "a JSON answer decides, whatever the exit code; it is looked for on standard output, and on "
            "standard error if standard output is empty"
        ),
        "code refuses": _observed(
            "any exit code except 0 and 1 refuses if there is text for the reason, also that of a "
            "command that cannot be started"
        ),
        "wordless": _observed("exit code 2 without text is ignored: it fails open"),
        "crashed": _observed("exit code 1 without a JSON answer is ignored: it fails open"),
        "not run": _observed("a command that cannot be started refuses by its exit code, 126 or 127"),
        "signalled": _observed("a hook that was ended by a signal counts as one with exit code 0"),
        "timed out": _observed(
            "a hook that reaches its timeout is ignored, whatever it printed: it fails open"
        ),
        "unparsable": _observed("output that begins with a brace and is not JSON is text: it fails open"),
        "invalid": _documented("a value that the host does not know has no effect"),
        "no power": _observed("a refusal of this event is ignored"),
        "unanswered": _assumed("a handler without an answer has no effect"),
        "precedence": _documented("deny wins over ask, ask over allow"),
        "ignored": _observed("continue has no effect on BeforeToolSelection"),
        "halt": _observed("continue: false ends the turn at once; the call in question is not made"),
        "several": _observed(
            "beside a refusal the model gets the reasons of all answers, also of those that do not refuse, "
            "joined by newlines in the order of the settings"
        ),
        "ask": _observed("without a person to ask, decision ask makes the host wait forever"),
        "allow reason": _observed("the reason of an allow does not reach the model"),
        "no hooks": _documented("an event without hooks has no effect"),
    },
)

WORDING = replies.Wording(
    refusal="Tool execution blocked: {reason}",
    context="<hook_context>{text}</hook_context>",
    escapes={"<": "&lt;", ">": "&gt;"},
    modified="\n\n[System] Tool input parameters were modified by a hook before execution.",
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("bash", "-c"),
    stdio=Stdio.SOCKET,
    pipe_wait=None,
    quotes_paths=True,
    # No SIGKILL follows, so a hook that ignores SIGTERM blocks the host forever.
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
        "shell": _observed("hooks run with bash -c"),
        "stdio": _observed("standard input, output and error are Unix sockets"),
        "session": _observed("a hook stays in the host's own process group"),
        "group": _assumed(
            "a hook leads a process group of its own here, so that `kill 0` in it spares the harness; "
            "on the real host it shares the process group of the host and all other hooks"
        ),
        "kill": _observed(
            "SIGTERM to the hook only, and never SIGKILL: the host waits until the hook has ended and "
            "its output is closed"
        ),
        "pipe wait": _observed(
            "if a child keeps output open, the host waits until it is closed; after the timeout all of "
            "it is lost"
        ),
        "output": _documented("all output of a hook is read, however long it is"),
        "parallel": _observed("all hooks of an event start at once, unless a group is sequential"),
        "env": _assumed("the value of GEMINI_CLI_NO_RELAUNCH is assumed; the others are observed"),
        "filled": _assumed(
            "$GEMINI_PROJECT_DIR and similar variables are left to the shell; the real host inserts "
            "quoted paths"
        ),
    },
)

CAP = CapRules(
    flag=FlagUse.RESET_BY_CALLS,
    rules={
        "no cap": _observed(
            "there is no cap on refusals of a stop: 979 in a row were honoured, and the host's limit of "
            "100 turns did not end them"
        ),
        "flag": _observed("a tool call makes stop_hook_active false again"),
    },
)

TOOLS = ToolRules(
    ids=IdRules(call="{digest}"),
    call=tools.PLAIN.call,
    operation=tools.PLAIN.operation,
    result=tools.result,
    given=tools.given,
    rules={
        "recorded": _observed(
            "results of run_shell_command, of write_file for a new file and of a failed read_file have this "
            "form"
        ),
        "assumed": _assumed(
            "results of replace, read_file and an overwriting write_file have this form; a command that "
            "fails is not a failed call"
        ),
        "subagent": _assumed("no subagent is started"),
    },
)

TURNS = TurnRules(
    refusal_prompts=True,
    together=True,
    before_request=(Role.BEFORE_COMPACT, Role.BEFORE_MODEL, Role.TOOL_CHOICE),
    after_request=(Role.AFTER_MODEL,),
    ask_effect=AskEffect.WAITS,
    refused_by_mode=tools.REFUSED_BY_MODE,
    mode="yolo",
    end_reason="exit",
    rules={
        "request": _observed(
            "PreCompress, BeforeModel and BeforeToolSelection occur before every request, AfterModel after it"
        ),
        "together": _observed("of several calls in one message all BeforeTool hooks run before any call"),
        "order of calls": _assumed(
            "the calls of one message are made one after the other, so AfterTool hooks run in their order; "
            "on the real host they run in the order in which the calls end"
        ),
        "equal texts": _assumed(
            "an agent whose stops are refused goes on, even if it always says the same; on the real host one "
            "that said Done. 19 times was warned once, and after the next text nothing happened for 5 minutes"
        ),
        "modes": _assumed("settings and policies allow no call that the approval mode refuses"),
        "continuation": _documented("BeforeAgent occurs again with the reason of a refused stop"),
    },
)

TRANSCRIPT = TranscriptRules(
    path="{home}/.gemini/tmp/{project}/chats/session-{year}-{month}-{day}T{hour}-{minute}-{short}.jsonl",
    rule=_assumed("the form of the transcript's lines is assumed; its path is observed"),
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
    stuck=tools.STUCK,
    tools=TOOLS,
    transcript=TRANSCRIPT,
    calling=command_line.GEMINI,
    options=tools.OPTIONS,
    model="gemini-2.5-flash",
    own_values=own_values,
)

_REPORTS = "Gemini CLI, its makers' issue tracker, 2026"


def _older(version: str, cap: CapRules) -> Profile:
    rest = _assumed(f"except for its stops, {version} is assumed to be like {GEMINI_CLI.version}")
    events = {
        name: replace(event, rests_on=(*event.rests_on, rest)) for name, event in GEMINI_CLI.events.items()
    }
    return replace(GEMINI_CLI, version=version, cap=cap, events=events)


GEMINI_CLI_0_30_0 = _older(
    "0.30.0",
    replace(
        GEMINI_CLI.cap,
        flag=FlagUse.NEVER,
        rules={
            **GEMINI_CLI.cap.rules,
            "flag": _documented("stop_hook_active is false at every stop, even after a refusal", _REPORTS),
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
            "cap": _documented("AfterAgent does not occur for the stop that follows a refusal", _REPORTS),
            "counted": _assumed("only a refused AfterAgent is counted"),
        },
    ),
)

PROFILES: tuple[Profile, ...] = (GEMINI_CLI, GEMINI_CLI_0_30_0, GEMINI_CLI_0_26_0)
