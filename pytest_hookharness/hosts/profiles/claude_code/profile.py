"""
Claude Code 2.1.329 as a profile.

Facts marked observed were measured by running the host headless.
"""

from __future__ import annotations

from pytest_hookharness.hosts.profiles import command_line
from pytest_hookharness.hosts.profiles.claude_code import tools
from pytest_hookharness.hosts.profiles.claude_code import tools as tasks
from pytest_hookharness.hosts.profiles.claude_code.events import EVENTS
from pytest_hookharness.hosts.profiles.claude_code.fields import ANSWERS, CHOSEN, REFERENCE
from pytest_hookharness.hosts.rules.profile import (
    CapRules,
    CommandRules,
    ConfigRules,
    MatcherRules,
    ProcessRules,
    Profile,
    ReplyRules,
    ToolRules,
    TranscriptRules,
    TurnRules,
    Wording,
    WorktreeRules,
)
from pytest_hookharness.hosts.rules.replies import CodeMeaning, CodeRule, Stream, TextLimit
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, HandlerKeys, Switch
from pytest_hookharness.hosts.rules.tools import IdRules
from pytest_hookharness.hosts.rules.turns import Resets
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio
from pytest_hookharness.model.protocol import Basis, Rule

MEASURED = "Claude Code 2.1.329, headless, measured"


def _observed(text: str) -> Rule:
    return Rule(text, Basis.OBSERVED, MEASURED)


def _documented(text: str) -> Rule:
    return Rule(text, Basis.DOCUMENTED, REFERENCE)


def _assumed(text: str) -> Rule:
    return Rule(text, Basis.ASSUMED, CHOSEN)


MATCHERS = MatcherRules(
    plain=r"[\w\- ,|]*",
    separators=r"[|,]",
    trims_names=True,
    condition="if",
    rule=_observed(
        "a matcher made of names, spaces, commas and bars is a list of exact names; any other is an "
        "unanchored regular expression, which matches nothing if it is malformed"
    ),
)

CONFIG = ConfigRules(
    paths=(
        "home/.claude/settings.json",
        "workspace/.claude/settings.json",
        "workspace/.claude/settings.local.json",
    ),
    plugin_path="hooks/hooks.json",
    types={"command": "command", "prompt": "prompt", "agent": "prompt", "http": "url", "mcp_tool": "tool"},
    parse=parse_json,
    form=GROUPS,
    keys=HandlerKeys(args="args", on_failure={"onFailure": "block"}),
    flaws={Flaw.UNKNOWN_EVENT: Effect.DROPS},
    default_effect=Effect.VOIDS,
    switches=(Switch(("disableAllHooks",), off=True),),
    identity=("type", "command", "args", "plugin", "prompt", "url", "server", "tool", "shell", "if"),
    allowed=("permissions", "allow"),
    env=("env",),
    plugin_root="CLAUDE_PLUGIN_ROOT",
    instructions=("CLAUDE.md",),
    rules={
        "malformed": _observed("one malformed entry turns off every hook of its file, without a word"),
        "unreadable": _assumed("a settings file that is not JSON is not used at all"),
        "unknown event": _observed("an unknown event name is skipped, the rest of the file is used"),
        "merge": _documented("the hooks of all settings files add up"),
        "disabled": _documented("disableAllHooks turns off all hooks; the nearest settings file decides"),
        "duplicates": _observed(
            "the same command runs once for an event, in however many groups and with whatever timeout; "
            "copies of a plugin are counted apart"
        ),
        "condition": _documented("a hook with 'if' on an event without a tool never runs"),
        "unpassable": _assumed(
            "a command or variable that no process can be given (NUL, half a surrogate pair) is left out; "
            "the rest of its file is used"
        ),
        "unreachable": _assumed("hooks of events that are never come to change nothing for the others"),
        "reload": _documented("settings files are read again when they change"),
        "reload time": _assumed("changed settings hold from the next event on"),
        "misplaced": _assumed("event names beside the key 'hooks' mean nothing in a settings file"),
    },
)

_OUT = (Stream.OUT,)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=_OUT, meaning=CodeMeaning.PLAIN),
        CodeRule(
            codes=(2,), answer=_OUT, meaning=CodeMeaning.REFUSES, overrides_answer=True, rule="code refuses"
        ),
        CodeRule(answer=_OUT, meaning=CodeMeaning.FAILS),
    ),
    answers=ANSWERS,
    background=True,
    announced=True,
    code_reason="[{command}]: {words}",
    no_reason="Blocked by hook",
    no_error_text="No stderr output",
    text_limit=TextLimit(most=10_000),
    rules={
        "text limit": _documented("a reason, a context or plain output is cut at 10,000 characters"),
        "silent": _observed("exit code 0 without output is no opinion"),
        "plain": _observed("output that does not begin with a brace is plain text"),
        "shown": _observed("plain output of this event goes to the model"),
        "answer": _observed("an answer in JSON decides, whatever the exit code, unless that is 2"),
        "code refuses": _observed("exit code 2 refuses, also without a word on standard error"),
        "crashed": _observed("any exit code but 0 and 2 without an answer in JSON is ignored: it fails open"),
        "not run": _observed("a command that cannot be run is ignored: it fails open"),
        "signalled": _observed("a hook that a signal ended is ignored: it fails open"),
        "timed out": _observed("a hook that is cut at its limit has no say, whatever it had printed"),
        "failure blocks": _observed("with onFailure block, exit code 1, a time-out and 127 refuse"),
        "unparsable": _observed("output that begins with a brace and is not JSON is an error: it fails open"),
        "invalid": _observed("an answer with a value that the host does not know is ignored as a whole"),
        "no power": _observed("a refusal of this event is ignored"),
        "ignored": _documented("this event ignores that key, and everything else decides"),
        "folder": _documented("the last line of output that is not empty is the folder of the worktree"),
        "no folder": _documented("a hook that fails, or names no folder, fails the making of the worktree"),
        "async": _assumed(
            "a hook in the background has no say, and the session goes the same way if it is waited for, "
            "as is done here, although the host goes on without it"
        ),
        "unanswered": _assumed("a handler without an answer has no opinion"),
        "precedence": _documented("deny goes before defer, defer before ask, ask before allow"),
        "halt": _observed("continue: false ends the turn and goes before every other decision"),
        "last finished": _observed("of several refusals of a call the model is told the one that ended last"),
        "several": _observed("all refusals of a stop are told, in the order in which the hooks ended"),
        "ask": _observed("without a person to ask, ask refuses the call; the model is told the bare reason"),
        "defer": _observed("defer ends the turn and the call is not made"),
        "continuation": _observed("additionalContext on Stop makes the agent go on, like a refusal"),
        "cut": _documented("texts are cut at 10,000 characters"),
        "allow reason": _observed("the reason of an allow does not reach the model"),
        "no hooks": _documented("an event without hooks changes nothing"),
    },
)

WORDING = Wording(
    label="{event}:{target}",
    refusal="{label} hook error: {reason}",
    feedback="{event} hook feedback:\n{reason}",
    blocked=(
        '<system-reminder>\n{label} hook blocking error from command: "{command}": {reason}\n'
        "</system-reminder>"
    ),
    context="<system-reminder>\n{label} hook additional context: {text}\n</system-reminder>",
    denied="Permission to use {tool} was denied.",
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/sh", "-c"),
    stdio=Stdio.SOCKET,
    newline=True,
    own_session=True,
    pipe_wait=0.5,
    kill=KillPolicy(signals=(15, 9), scope=KillScope.TREE, grace=0.5),
    substituted=(("CLAUDE_", "_DIR"), ("CLAUDE_", "_ROOT"), ("CLAUDE_", "_DATA")),
    env={
        "AI_AGENT": "claude-code",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-cli",
        "CLAUDE_CODE_SESSION_ID": "{session}",
        "CLAUDE_PROJECT_DIR": "{workspace}",
        "NoDefaultCurrentDirectoryInExePath": "1",
        "PWD": "{cwd}",
    },
    env_file=("CLAUDE_ENV_FILE", "{home}/.claude/session-env/{session}/{event}-hook-{index}.sh"),
    plugin_env={"CLAUDE_PLUGIN_DATA": "{home}/.claude/plugins/data/{plugin}"},
    shared_limit="CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS",
    rules={
        "shell": _observed("hooks run by /bin/sh -c; with args the command is started without a shell"),
        "stdio": _observed("standard input, output and error are unix sockets"),
        "session": _observed("the shell of a hook leads a session of its own"),
        "kill": _observed("SIGTERM to the whole tree, SIGKILL half a second later"),
        "pipe wait": _observed("output held open by a child is waited for half a second, and is kept"),
        "output": _assumed("what a hook prints is read whole, however long it is"),
        "parallel": _observed("all hooks of an event start at once"),
        "env": _assumed("the values of AI_AGENT, CLAUDE_CODE_ENTRYPOINT and CLAUDE_PLUGIN_DATA"),
        "env file": _documented(
            "what hooks of the session and of CwdChanged export in CLAUDE_ENV_FILE is set in later Bash calls"
        ),
        "env file order": _assumed(
            "the files for variables are read in the order of their events, and of the hooks in each; "
            "others in their folder are not read"
        ),
        "shared": _documented(
            "timeouts in settings files raise SessionEnd's budget, those of plugins do not"
        ),
    },
)

CAP = CapRules(
    cap=8,
    variable="CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    resets=Resets.CALLS_DONE,
    rules={
        "cap": _observed("8 refusals of a stop in a row are honoured, the next one is overridden"),
        "cap across refused calls": _assumed(
            "8 refusals of a stop in a row are honoured, the next one is overridden, also if calls that "
            "hooks refused lie between them: only a call that is carried out begins the count again"
        ),
        "counted": _documented("the cap counts refusals of Stop and SubagentStop and of no other event"),
        "off": _observed("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP at 0 or below switches the cap off"),
        "reset": _observed("a call that is carried out begins the count again, so the cap is never reached"),
    },
)

TOOLS = ToolRules(
    subagent="Agent",
    launch=tools.launch,
    gated=("Bash", "Write", "Edit"),
    edits=("Write", "Edit"),
    paths=("file_path",),
    ids=IdRules(call="toolu_01{digest}", agent="a{digest}", message="msg_01{prompt}{position:06d}"),
    call=tools.call,
    operation=tools.operation,
    result=tools.result,
    given=tools.given,
    launched=tools.launched,
    tasks=tasks.plan,
    keeps_folder=True,
    reset_notice="Shell cwd was reset to {folder}",
    stale_notice=(
        "File has been modified since read, either by the user or by a linter. Read it again before "
        "attempting to write it."
    ),
    rules={
        "recorded": _observed("the results of Bash, Write, a failed Read and Agent have this form"),
        "assumed": _assumed("the results of Edit, Read and an overwriting Write have this form"),
        "permission": _assumed(
            "PermissionRequest fires for a call that settings do not allow, if a hook asks for it; "
            "a call is allowed if no hook denies it"
        ),
        "subagent": _assumed("a subagent is launched, works, and stops before its caller goes on"),
        "stale": _assumed(
            "Edit and Write are refused for a file that is not as the agent last read or wrote it; one that "
            "it never saw in the session can be edited, although the host asks for a read before"
        ),
        "tasks": _assumed(
            "inputs and results of TaskCreate, TaskUpdate, TaskList and TaskGet; the list outlives a resume"
        ),
        "folder": _observed("a Bash call that ends in another folder changes the session's current folder"),
        "folder kept": _assumed(
            "so does one that fails, and one that is cut does not; outside of the project folder and the "
            "worktree the shell is put back to where the session was begun, and so it is by a resume; a "
            "current folder that was deleted is replaced by the project folder"
        ),
    },
)

TURNS = TurnRules(unasked_modes=("bypassPermissions", "dontAsk"), edits_mode="acceptEdits")

COMMANDS = CommandRules(
    folders={
        "workspace/.claude/commands": "projectSettings",
        "home/.claude/commands": "userSettings",
    },
    suffix=".md",
    kind="slash_command",
    arguments="$ARGUMENTS",
    appended="ARGUMENTS: {arguments}",
    rules={
        "places": _documented("commands are files in .claude/commands of the project and of the person"),
        "expansion": _assumed(
            "commands are read once, at the start, from files that lie directly in these folders; the "
            "project's go before the person's; the model sees their text without front matter, with all "
            "arguments at every $ARGUMENTS, or behind the text; a name that is no command is plain text"
        ),
    },
)

WORKTREES = WorktreeRules(
    folder=".claude/worktrees/{name}",
    branch="worktree-{name}",
    command="git worktree add --quiet -b {branch} {folder} >&2",
    rules={
        "made": _assumed(
            "without a hook the worktree is made by git in .claude/worktrees, on a branch worktree-NAME"
        ),
        "entered": _assumed("a session whose worktree cannot be entered is over before it starts"),
    },
)

TRANSCRIPT = TranscriptRules(
    path="{home}/.claude/projects/{slug}/{session}.jsonl",
    subagent_path="{home}/.claude/projects/{slug}/{session}/subagents/agent-{agent}.jsonl",
    rule=_assumed("the form of the transcript's lines; its path is observed"),
)

CLAUDE_CODE = Profile(
    name="claude-code",
    version="2.1.329",
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
    calling=command_line.CLAUDE,
    model="claude-sonnet-4-5",
    commands=COMMANDS,
    worktrees=WORKTREES,
)

PROFILES: tuple[Profile, ...] = (CLAUDE_CODE,)
