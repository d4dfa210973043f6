"""The profile of Claude Code 2.1.329."""

from __future__ import annotations

from pytest_hookharness.hosts.profiles import command_line
from pytest_hookharness.hosts.profiles.claude_code import tools
from pytest_hookharness.hosts.profiles.claude_code.events import EVENTS
from pytest_hookharness.hosts.profiles.claude_code.fields import ANSWERS, FACTS, MODES
from pytest_hookharness.hosts.profiles.claude_code.hook_settings import CONFIG, MATCHERS, PROCESS
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.replies import (
    CodeMeaning,
    CodeRule,
    ReplyRules,
    Stream,
    TextLimit,
    Wording,
)
from pytest_hookharness.hosts.rules.tools_and_transcript import (
    CommandRules,
    IdRules,
    ToolRules,
    TranscriptRules,
    WorktreeRules,
)
from pytest_hookharness.hosts.rules.turns import CapRules, OptionRule, Resets, TurnRules

_observed, _documented, _assumed = FACTS.observed, FACTS.documented, FACTS.assumed

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
    shows_unparsable=True,
    background=True,
    announced=True,
    code_reason="[{command}]: {words}",
    no_reason="Blocked by hook",
    no_error_text="No stderr output",
    keeps_blanks=True,
    late_context=True,
    text_limit=TextLimit(
        most=10_000,
        kept=2_000,
        reasons=False,
        notice=(
            "<persisted-output>\nOutput too large ({kilobytes}KB). Full output saved to a file.\n\n"
            "Preview (first 2KB):\n{kept}\n...\n</persisted-output>"
        ),
    ),
    rules={
        "text limit": _observed(
            "of a context or plain output of more than 10,000 characters the model gets the first 2,000 and "
            "the name of a file with all of it; reasons of refusals are never cut"
        ),
        "silent": _observed("exit code 0 without output has no effect"),
        "plain": _observed("output that does not begin with a brace is plain text"),
        "shown": _observed("plain output of this event reaches the model"),
        "answer": _observed("a JSON answer decides, whatever the exit code, except with exit code 2"),
        "code refuses": _observed("exit code 2 refuses, even without text on standard error"),
        "crashed": _observed("any exit code except 0 and 2 without a JSON answer is ignored: it fails open"),
        "not run": _observed("a command that cannot be started is ignored: it fails open"),
        "signalled": _observed("a hook that was ended by a signal is ignored: it fails open"),
        "timed out": _observed(
            "a hook that reaches its timeout is ignored, whatever it printed: it fails open"
        ),
        "failure blocks": _observed("with onFailure block, exit code 1, a timeout and exit code 127 refuse"),
        "unparsable": _observed(
            "output that begins with a brace and is not JSON is an error: it fails open; on events on which "
            "plain output reaches the model, this does too"
        ),
        "invalid": _observed("an answer with a value that the host does not know is ignored completely"),
        "no power": _observed("a refusal of this event is ignored"),
        "ignored": _documented("this event ignores that key; the rest of the answer counts"),
        "folder": _documented("the last non-empty line of output is the folder of the worktree"),
        "no folder": _documented("if a hook fails, or names no folder, no worktree is created"),
        "async": _assumed(
            "the output of a hook in the background has no effect; the host does not wait for it, and what "
            "it writes soon is there at the next turn"
        ),
        "late context": _observed(
            "additionalContext of a hook in the background after a call reaches the model with its next "
            "request, if the hook has ended by then"
        ),
        "unanswered": _assumed("a handler without an answer has no effect"),
        "precedence": _documented("deny wins over defer, defer over ask, ask over allow"),
        "halt": _observed("continue: false ends the turn and wins over every other decision"),
        "prompt halt": _observed(
            "the refusal of a prompt handler (ok: false) ends the turn, except at a stop, unless its entry "
            "has continueOnBlock: true; on the entry of a command that key has no effect"
        ),
        "last finished": _observed(
            "of several refusals of a call the model gets the reason of the hook that ended last"
        ),
        "several": _observed(
            "the model gets the reasons of all refusals of a stop, in the order in which the hooks ended"
        ),
        "ask": _observed(
            "without a person to ask, ask refuses the call; the model gets the reason without additions"
        ),
        "defer": _observed("defer ends the turn and the call is not made"),
        "continuation": _observed("additionalContext on Stop makes the agent continue, like a refusal"),
        "allow reason": _observed("the reason of an allow does not reach the model"),
        "no hooks": _documented("an event without hooks has no effect"),
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
    shown="<system-reminder>\n{label} hook success: {text}\n</system-reminder>",
    escapes={"</system-reminder": "&lt;/system-reminder"},
)

CAP = CapRules(
    cap=8,
    variable="CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    resets=Resets.CALLS_TRIED,
    rules={
        "cap": _observed("8 refusals of a stop in a row are honoured; the next one is overridden"),
        "counted": _documented("the cap counts refusals of Stop and SubagentStop, and of no other event"),
        "off": _observed("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP at 0 or below turns the cap off"),
        "reset": _observed(
            "any call resets the count, also one that a hook refused, so the cap may never be reached"
        ),
    },
)

TOOLS = ToolRules(
    subagent="Agent",
    # Since 2.1.63 (reported: https://github.com/anthropics/claude-code/issues/29677).
    former={"Task": "Agent"},
    launch=tools.launch,
    gated=("Bash", "Write", "Edit"),
    edits=("Write", "Edit"),
    paths=("file_path",),
    ids=IdRules(call="toolu_01{digest}", agent="a{digest}", message="msg_01{prompt}{position:06d}"),
    call=tools.PLAIN.call,
    operation=tools.PLAIN.operation,
    result=tools.result,
    given=tools.given,
    seen_as=tools.seen_as,
    launched=tools.launched,
    started=tools.STARTED,
    notice=tools.NOTICE,
    tasks=tools.plan,
    keeps_folder=True,
    reset_notice="Shell cwd was reset to {folder}",
    stale_notice=(
        "File has been modified since read, either by the user or by a linter. Read it again before "
        "attempting to write it."
    ),
    rules={
        "recorded": _observed("the results of Bash, Write, a failed Read and Agent have this form"),
        "exit codes": _observed(
            "exit code 1 of grep, rg, find, diff, test and [ at the end of a command is no failure"
        ),
        "assumed": _assumed("the results of Edit, Read and an overwriting Write have this form"),
        "permission": _assumed(
            "PermissionRequest occurs for a call that the settings do not allow, if there is a hook for "
            "it; a call is allowed if no hook denies it, although the real host without a person refuses it "
            "unless a hook allows it"
        ),
        "subagent": _observed(
            "a subagent works in the background: a stop of its agent comes before its own, and its end is a "
            "prompt of its own if no turn runs by then"
        ),
        "end of a subagent": _assumed(
            "a subagent in the background ends right after the next stop of its agent; on the real host it "
            "may end sooner or later; while a turn runs, the agent reads of it with what it sees next"
        ),
        "stale": _assumed(
            "Edit and Write are refused for a file that changed since the agent last read or wrote it; "
            "a file that it never saw in the session can be edited, although the real host requires a "
            "read first"
        ),
        "tasks": _assumed(
            "inputs and results of TaskCreate, TaskUpdate, TaskList and TaskGet; a resumed session "
            "keeps the list"
        ),
        "folder": _observed("a Bash call that ends in another folder changes the session's current folder"),
        "folder kept": _assumed(
            "a failed call changes the folder too, a call that was killed at its timeout does not; if a "
            "command ends outside of the project folder and the worktree, the shell goes back to the "
            "folder in which the session started, and so it does on a resume; a deleted current folder "
            "is replaced by the project folder"
        ),
    },
)

TURNS = TurnRules(
    expands_accepted=True,
    together=True,
    batches_refused=True,
    unasked_modes=("bypassPermissions", "dontAsk"),
    edits_mode="acceptEdits",
    edit_commands=("mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"),
    rules={
        "together": _observed("of several calls in one message all PreToolUse hooks run before any call"),
        "edits": _observed("in the mode acceptEdits, Write and touch run without PermissionRequest"),
        "edit commands": _documented("so do other commands that only change files"),
    },
)

COMMANDS = CommandRules(
    folders={
        "workspace/.claude/commands": "projectSettings",
        "home/.claude/commands": "userSettings",
    },
    suffix=".md",
    arguments="$ARGUMENTS",
    appended="ARGUMENTS: {arguments}",
    rules={
        "places": _documented("commands are files in .claude/commands of the project and of the user"),
        "expansion": _assumed(
            "commands are read once, at the start, from files directly in these folders; the project's "
            "win over the user's; the model gets their text without front matter, with all arguments in "
            "place of every $ARGUMENTS, or after the text; a name that is not a command is plain text"
        ),
    },
)

WORKTREES = WorktreeRules(
    folder=".claude/worktrees/{name}",
    branch="worktree-{name}",
    command="git worktree add --quiet -b {branch} {folder} >&2",
    rules={
        "made": _assumed(
            "without a hook, git creates the worktree in .claude/worktrees, on a branch worktree-NAME"
        ),
        "entered": _assumed("if the worktree cannot be entered, the session ends before it starts"),
    },
)

TRANSCRIPT = TranscriptRules(
    path="{home}/.claude/projects/{slug}/{session}.jsonl",
    subagent_path="{home}/.claude/projects/{slug}/{session}/subagents/agent-{agent}.jsonl",
    rule=_assumed("the form of the transcript's lines is assumed; its path is observed"),
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
    options={
        "permission_mode": OptionRule(
            default="default",
            choices=MODES,
            rule=_observed("--permission-mode sets the mode that the input of a turn's hooks has"),
        )
    },
    commands=COMMANDS,
    worktrees=WORKTREES,
)

PROFILES: tuple[Profile, ...] = (CLAUDE_CODE,)
