"""The profiles of Qwen Code 0.24.4 and 0.15.10."""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles.qwen import tools
from pytest_hookharness.hosts.profiles.qwen.answers import REPLIES, assumed, documented, observed, own_values
from pytest_hookharness.hosts.profiles.qwen.events import EVENTS
from pytest_hookharness.hosts.rules import settings, turns
from pytest_hookharness.hosts.rules.profile import ProcessRules, Profile
from pytest_hookharness.hosts.rules.replies import Wording
from pytest_hookharness.hosts.rules.tools_and_transcript import (
    CommandRules,
    IdRules,
    ToolRules,
    TranscriptRules,
)
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio

_OLDER = "Qwen Code 0.15.10, headless, measured"

MATCHERS = settings.MatcherRules(
    syntax=settings.Syntax.JAVASCRIPT,
    everything=("", "*", ".*"),
    trims=True,
    plain=".*",
    trims_names=True,
    skips_empty_names=True,
    # A list in which no name matches is tried as a regular expression.
    lists_only=False,
    aliases={
        "run_shell_command": ("Bash", "Shell", "ShellTool"),
        "write_file": ("Write", "WriteFile", "WriteFileTool"),
        "edit": ("Edit", "EditTool"),
        "read_file": ("Read", "ReadFile", "ReadFileTool"),
    },
    rule=observed(
        "a matcher is trimmed; it matches by a name or alias of the tool, also in a list with bars, and "
        "otherwise as an unanchored regular expression of JavaScript, which matches nothing if it is "
        "malformed; a list with an empty name is compared by its other names only"
    ),
)

_LIMITS = (settings.Flaw.LIMIT_TEXT, settings.Flaw.LIMIT_NEGATIVE, settings.Flaw.LIMIT_ZERO)

CONFIG = settings.ConfigRules(
    paths=("home/.qwen/settings.json", "workspace/.qwen/settings.json"),
    types={"command": "command", "http": "url", "prompt": "prompt"},
    parse=parse_json,
    form=GROUPS,
    flaws=dict.fromkeys(_LIMITS, settings.Effect.DEFAULTS),
    limits=settings.LimitRules(milliseconds_from=1000),
    switches=(settings.Switch(("disableAllHooks",), off=True),),
    sequential="sequential",
    identity=("type", "command", "url", "prompt"),
    allowed=("permissions", "allow"),
    env=("env",),
    instructions=("QWEN.md", "AGENTS.md"),
    rules={
        "malformed": observed(
            "a malformed entry is left out without a message; the rest of the file is used"
        ),
        "unreadable": assumed("a settings file that is not JSON is not used"),
        "unknown event": observed("an unknown event name is skipped; the rest of the file is used"),
        "disabled": documented(
            "disableAllHooks turns off all hooks; the settings file with the highest precedence decides"
        ),
        "limits": documented("a timeout counts seconds, and milliseconds from 1000 on"),
        "duplicates": observed("the same command runs once for an event, whatever its timeout"),
        "unpassable": assumed(
            "a command or variable that cannot be passed to a process (NUL, half a surrogate pair) is "
            "left out; the rest of its file is used"
        ),
        "unreachable": assumed("hooks of events that do not occur have no effect on other hooks"),
        "trusted": assumed("the folder is trusted; extensions and the system's settings are not read"),
    },
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("bash", "-c"),
    stdio=Stdio.SOCKET,
    own_session=True,
    pipe_wait=None,
    kill=KillPolicy(signals=(15, 9), scope=KillScope.GROUP, grace=2.0, close_wait=1.0),
    output_limit=1 << 20,
    env={
        "GEMINI_PROJECT_DIR": "{workspace}",
        "CLAUDE_PROJECT_DIR": "{workspace}",
        "QWEN_PROJECT_DIR": "{workspace}",
        "QWEN_CODE_PROJECT_DIR": "{home}/.qwen/projects/{slug}",
        "QWEN_CODE_SESSION_ID": "{session}",
        "QWEN_CODE_MODEL": "{model}",
        "QWEN_CODE_NO_RELAUNCH": "true",
        "QWEN_CODE_MANAGED_NPM_ROOT": "{home}/.qwen/updates/npm",
        "QWEN_CODE_STARTUP_VERSION": "{version}",
        "QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE": '{{"dotEnv":[],"settingsEnv":[]}}',
        "QWEN_CODE_PROMPT_ID": "{prompt}",
        "QWEN_CODE_AGENT_ID": "{agent}",
    },
    keeps_empty=True,
    rules={
        "shell": observed("hooks run with bash -c"),
        "stdio": observed("standard input, output and error are Unix sockets"),
        "session": observed("a hook leads a session of its own"),
        "kill": observed(
            "SIGTERM to the process group, SIGKILL two seconds later; then the host waits one second "
            "for output that is still open"
        ),
        "pipe wait": observed(
            "if a child keeps output open, the host waits until the timeout, and then all of it is lost"
        ),
        "output": documented("the first 1,048,576 bytes of each stream are read; the rest is dropped"),
        "dying children": assumed(
            "the host continues as soon as the whole process group is gone; if a child died with its "
            "hook, the real host was observed to take up to 1.7 s longer, within its two seconds of "
            "grace"
        ),
        "parallel": observed("all hooks of an event start at once, unless a group is sequential"),
        "env": assumed(
            "the values of QWEN_CODE_MODEL and QWEN_CODE_NO_RELAUNCH; variables about the program's files, "
            "its process and the identity of its model are not set"
        ),
    },
)

CAP = turns.CapRules(
    cap=8,
    overrides_at_cap=True,
    below_one=8,
    most=100,
    variable="QWEN_CODE_STOP_HOOK_BLOCK_CAP",
    setting=("stopHookBlockingCap",),
    rules={
        "cap": observed(
            "the 8th refusal of a stop since the prompt is overridden, whatever happens between the refusals"
        ),
        "counted": documented("the cap counts refusals of Stop and SubagentStop, and of no other event"),
        "range": documented("a cap below 1 is 8, one above 100 is 100; the variable wins over the setting"),
    },
)

TOOLS = ToolRules(
    subagent=tools.AGENT,
    launch=tools.launch,
    stops_first=True,
    paths=("file_path",),
    ids=IdRules(
        call="toolu_{number:013d}_{digest:.9}",
        agent="call_{digest:.9}",
        prompt="{session}########{number}",
        skips_number=True,
    ),
    call=tools.PLAIN.call,
    operation=tools.PLAIN.operation,
    result=tools.result,
    given=tools.given,
    launched=tools.launched,
    rules={
        "recorded": observed(
            "results of run_shell_command, agent and a failed read_file have this form; a command with "
            "another exit code than 0 is a failed call"
        ),
        "assumed": assumed(
            "results of write_file, edit and read_file have this form; a command that was cancelled is not a "
            "failed call"
        ),
        "subagent": observed(
            "a subagent is started, works, and stops before the hooks after the call; its agent waits"
        ),
    },
)

# The host ends the turn when the model asks for the same call this many times in a row.
_SAME_CALLS = 5


def detect(recent: tuple[tuple[str, str], ...]) -> str:
    """Return why the newest moves are a repetition; empty if they are none."""
    newest = recent[-_SAME_CALLS:]
    same = len(newest) == _SAME_CALLS and len(set(newest)) == 1 and newest[0][0] == "call"
    return f"the model asked for the same call {_SAME_CALLS} times in a row" if same else ""


STUCK = turns.StuckRules(
    detect=detect,
    before_call=True,
    remembered=_SAME_CALLS,
    status="loop detected",
    rule=observed(
        "the turn ends when the model asks for the same call 5 times in a row, and the fifth is not made"
    ),
)

# What the model gets if the mode refuses a call: edits have one rule in common.
_REFUSED = {
    tool: f'Qwen Code requires permission to use "{tool}", but that permission was declined. '
    f'Matching deny rule: "{rule}".'
    for tool, rule in ((tools.SHELL, tools.SHELL), (tools.WRITE, tools.EDIT), (tools.EDIT, tools.EDIT))
}

TURNS = turns.TurnRules(
    refusal_prompts=True,
    expanded_prompt=True,
    pieces=True,
    own_instructions="{home}/.qwen/output-language.md",
    asks_after_calls=True,
    batches_refused=True,
    after_start=(turns.Role.NOTIFICATION,),
    refused_by_mode=(
        turns.ModeRefusal(modes=("default", "plan", "auto"), texts=_REFUSED),
        turns.ModeRefusal(modes=("auto_edit",), texts={tools.SHELL: _REFUSED[tools.SHELL]}),
    ),
    mode="yolo",
    rules={
        "modes": assumed(
            "what permissions.allow names is not refused by the approval mode; on the real host commands "
            "that change files are refused if edits are"
        ),
        "order of calls": assumed(
            "the calls of one message are made one after the other; on the real host those that change "
            "nothing are made at the same time, after the hooks before all of them"
        ),
        "after calls": observed("UserPromptSubmit occurs after every tool result, with an empty prompt"),
        "continuation": documented("UserPromptSubmit occurs with the reason of a refused stop"),
    },
)

COMMANDS = CommandRules(
    folders={"workspace/.qwen/commands": "project", "home/.qwen/commands": "user"},
    suffix=".md",
    arguments="{{args}}",
    appended="{arguments}",
    rules={
        "places": documented("commands are files in .qwen/commands of the project and of the user"),
        "expansion": assumed(
            "commands are read once, at the start, from files directly in these folders; the project's "
            "win over the user's; a name that is not a command is plain text"
        ),
    },
)

_CHATS = "{home}/.qwen/projects/{slug}/chats/{session}.jsonl"

TRANSCRIPT = TranscriptRules(
    path=_CHATS,
    subagent_path=_CHATS,
    rule=assumed("the form of the transcript's lines is assumed; its path is observed"),
)

QWEN_CODE = Profile(
    name="qwen-code",
    version="0.24.4",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=Wording(escapes={"<": "&lt;", ">": "&gt;"}, escapes_context=True),
    process=PROCESS,
    cap=CAP,
    turns=TURNS,
    stuck=STUCK,
    tools=TOOLS,
    transcript=TRANSCRIPT,
    commands=COMMANDS,
    options={
        "permission_mode": turns.OptionRule(
            default="yolo",
            choices=("default", "plan", "auto_edit", "auto", "yolo"),
            rule=observed(
                "--approval-mode sets the mode; without a person, default, plan and auto refuse commands "
                "and edits, and auto_edit commands, before any hook runs for the call"
            ),
        )
    },
    model="qwen3-coder-plus",
    own_values=own_values,
)

_OLDER_CAP = turns.CapRules(
    cap=100,
    overrides_at_cap=True,
    resets=turns.Resets.CALLS_DONE,
    flag=turns.FlagUse.ALWAYS,
    rules={
        "cap": observed("the 100th refusal of a stop in a row is overridden", _OLDER),
        "cap across refused calls": assumed(
            "the 100th refusal of a stop in a row is overridden, even if calls that hooks refused lie "
            "between them"
        ),
        "counted": assumed("the cap counts refusals of Stop and SubagentStop, and of no other event"),
        "reset": observed(
            "a call that is carried out resets the count: no cap was reached in 60 refusals", _OLDER
        ),
        "off": assumed("no setting of the cap is known"),
        "flag": observed("stop_hook_active is true from the first stop on", _OLDER),
    },
)

# Only its cap was measured separately; all other facts are those of the newer version.
QWEN_CODE_0_15_10 = replace(
    QWEN_CODE,
    version="0.15.10",
    cap=_OLDER_CAP,
    stuck=replace(STUCK, rule=assumed(f"as in {QWEN_CODE.version}, {STUCK.rule.text}")),
)

PROFILES: tuple[Profile, ...] = (QWEN_CODE, QWEN_CODE_0_15_10)
