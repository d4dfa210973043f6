"""The profile of Codex 0.169.0."""

from __future__ import annotations

from pytest_hookharness.hosts.profiles import command_line
from pytest_hookharness.hosts.profiles.codex import answers_and_tools as tools
from pytest_hookharness.hosts.profiles.codex import events
from pytest_hookharness.hosts.profiles.codex.answers_and_tools import ANSWERS
from pytest_hookharness.hosts.profiles.shared import give_plainly
from pytest_hookharness.hosts.rules import replies, settings
from pytest_hookharness.hosts.rules.profile import ProcessRules, Profile
from pytest_hookharness.hosts.rules.tools_and_transcript import ToolRules, TranscriptRules
from pytest_hookharness.hosts.rules.turns import CapRules, OptionRule, Role, TurnRules
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json, parse_toml
from pytest_hookharness.model.processes import KillPolicy, KillScope
from pytest_hookharness.model.protocol import Json

_observed, _documented, _assumed = events.FACTS.observed, events.FACTS.documented, events.FACTS.assumed


def parse(text: str) -> Json:
    """Return the values of a settings file: ``hooks.json`` or ``config.toml``."""
    return parse_json(text) if text.lstrip("\ufeff \t\r\n").startswith("{") else parse_toml(text)


MATCHERS = settings.MatcherRules(
    syntax=settings.Syntax.RUST,
    plain="[A-Za-z0-9_|]*",
    # Documented in the source: a matcher of either kind matches if it fits the name or one of the aliases.
    aliases={"apply_patch": ("Write", "Edit")},
    searches_aliases=True,
    rule=_observed(
        "a matcher of letters, digits, underscores and bars is a list of exact names; any other "
        "matcher, also one with white space, is an unanchored regular expression of the Rust crate regex, "
        "which has no look-around and no references, and matches nothing if it is malformed"
    ),
)

CONFIG = settings.ConfigRules(
    paths=(
        "home/.codex/hooks.json",
        "home/.codex/config.toml",
        "workspace/.codex/hooks.json",
        "workspace/.codex/config.toml",
    ),
    # Observed with 0.169.0 in a repository whose top is trusted; outside of a repository only its own folder
    # counts, and a folder that alone is trusted is read alone.
    reads_above=True,
    parse=parse,
    form=GROUPS,
    types={"command": "command", "prompt": "prompt", "agent": "prompt"},
    flaws={
        settings.Flaw.UNKNOWN_EVENT: settings.Effect.DROPS,
        settings.Flaw.FLAT: settings.Effect.DROPS,
        settings.Flaw.LIMIT_ZERO: settings.Effect.TAKES,
        settings.Flaw.LIMIT_FRACTION: settings.Effect.VOIDS,
    },
    default_effect=settings.Effect.VOIDS,
    limits=settings.LimitRules(least=1.0),
    switches=(settings.Switch(("features", "hooks"), off=False),),
    trust=(
        settings.TrustRule(
            option="bypass_hook_trust",
            value=False,
            rule=_observed("a hook that nobody has reviewed does not run; codex exec says nothing about it"),
        ),
        settings.TrustRule(
            option="trust_level",
            value="untrusted",
            project_only=True,
            rule=_observed("the hooks of a project that is not trusted do not run; those of the user do"),
        ),
    ),
    numbered=(
        *("PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionStart"),
        *("SessionEnd", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "Interrupt"),
    ),
    plugin_path="hooks/hooks.json",
    plugin_manifest=".codex-plugin/plugin.json",
    plugin_replaces=True,
    plugin_root="PLUGIN_ROOT",
    rules={
        "malformed": _observed(
            "one malformed entry turns off every hook of its file, with one warning; a handler outside "
            "of a group is only skipped"
        ),
        "unreadable": _assumed("a settings file that is neither JSON nor TOML is not used"),
        "unknown event": _observed("an unknown event name is skipped; the rest of the file is used"),
        "merge": _documented("the hooks of all files are added together"),
        "above": _documented(
            "the settings of a trusted project are read in each folder from the top of the repository to the "
            "one where the session starts"
        ),
        "numbered": _observed(
            "a refused stop names its hook by a number among all hooks of its file, in an order of events"
        ),
        "places of events": _assumed("PermissionRequest and compactions are numbered after PreToolUse"),
        "order": _assumed("the user's files come before the project's, hooks.json before config.toml"),
        "disabled": _documented("features.hooks = false in config.toml turns off all hooks"),
        "duplicates": _observed("a command that is configured several times runs several times"),
        "limit": _documented("a timeout below one second is raised to one second, so 0 is one second"),
        "fraction": _assumed("a timeout that is not a whole number is malformed, like a negative one"),
        "arguments": _observed("'args' is ignored: only the command runs"),
        "trust": _assumed(
            "hooks are trusted unless the options trust_level and bypass_hook_trust say otherwise; the real "
            "host skips other hooks, and the simulation does not know which were reviewed"
        ),
        "unpassable": _assumed(
            "a command that cannot be passed to a process (NUL, half a surrogate pair) is left out; the "
            "rest of its file is used"
        ),
        "unreachable": _assumed("hooks of events that do not occur have no effect on other hooks"),
        "plugins": _documented(
            "a plugin has its hooks in hooks/hooks.json, or where its manifest says; they get PLUGIN_ROOT, "
            "and CLAUDE_PLUGIN_ROOT, as some were written for Claude Code"
        ),
        "misplaced": _assumed("event names beside the key 'hooks' have no effect in a settings file"),
    },
)

REPLIES = replies.ReplyRules(
    codes=(
        replies.CodeRule(codes=(0,), answer=(replies.Stream.OUT,), meaning=replies.CodeMeaning.PLAIN),
        replies.CodeRule(codes=(2,), meaning=replies.CodeMeaning.REFUSES_IF_WORDS, rule="code refuses"),
        replies.CodeRule(meaning=replies.CodeMeaning.FAILS),
    ),
    answers=ANSWERS,
    text_limit=replies.TextLimit(
        most=10_000,
        in_bytes=True,
        both_ends=True,
        notice="Warning: truncated output (original token count: {tokens})\n{kept}",
        spared=(Role.BEFORE_TOOL, Role.PERMISSION),
    ),
    rules={
        "text limit": _observed(
            "of a text beyond 2,500 tokens of four bytes each the model gets both ends; of the reason of a "
            "refused call it gets up to 48,000 characters"
        ),
        "text kept": _assumed(
            "5,000 bytes are kept at each end of such a text; the reason of a refused call is not shortened"
        ),
        "silent": _observed("exit code 0 without output has no effect"),
        "plain": _observed("output that is not JSON is plain text, which has no effect on this event"),
        "plain fails": _documented("plain text on Stop and SubagentStop is an error: it fails open"),
        "shown": _observed("plain output of this event reaches the model"),
        "answer": _observed("a JSON answer decides, only with exit code 0"),
        "code refuses": _observed(
            "exit code 2 with text on standard error refuses, whatever the hook printed on standard output"
        ),
        "wordless": _observed("exit code 2 without text on standard error does not refuse: it fails open"),
        "crashed": _observed("any exit code except 0 and 2 is ignored, and so is all output: it fails open"),
        "not run": _observed("a command that cannot be started is ignored: it fails open"),
        "signalled": _observed("a hook that was ended by a signal is ignored: it fails open"),
        "timed out": _observed(
            "a hook that reaches its timeout is ignored, whatever it printed: it fails open"
        ),
        "unparsable": _observed("output that begins with a brace and is not JSON is an error: it fails open"),
        "invalid": _observed(
            "an answer with a key that the host does not know, or does not support on this event, is "
            "ignored completely"
        ),
        "no power": _observed("a refusal of this event is ignored"),
        "unanswered": _documented("handlers that are not commands are read and skipped"),
        "precedence": _observed("deny wins over allow, in any order"),
        "halt": _observed("continue: false ends the turn and wins over every other decision"),
        "halt replaces": _observed(
            "continue: false on PostToolUse ends nothing: the model gets stopReason instead of the result"
        ),
        "first refusal": _observed(
            "of several refusals of a call the model gets the first one, in the order of the settings"
        ),
        "several": _observed(
            "the model gets the reasons of all refusals of a stop, in the order of the settings"
        ),
        "unread": _documented(
            "a hook that ends before it has read all of its input has failed, even with exit code 2; "
            "the simulation uses its answer nevertheless"
        ),
        "allow reason": _observed("the reason of an allow does not reach the model"),
        "no hooks": _documented("an event without hooks has no effect"),
    },
)

WORDING = replies.Wording(
    refusal="Command blocked by PreToolUse hook: {reason}. Command: {subject}",
    feedback='<hook_prompt hook_run_id="stop:{index}:{source}">{reason}</hook_prompt>',
    between="\n\n",
    escapes={"&": "&amp;", "<": "&lt;"},
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    login_shells=("bash", "zsh"),
    own_session=True,
    pipe_wait=None,
    kill=KillPolicy(signals=(9,), scope=KillScope.GROUP, grace=0.5),
    plugin_env={"CLAUDE_PLUGIN_ROOT": "{plugin_folder}"},
    rules={
        "shell": _observed("hooks run with /bin/bash -c if SHELL is not set"),
        "login shell": _documented(
            "if SHELL names bash or zsh, hooks run with it as a login shell, so the output of a profile "
            "file comes before the hook's output"
        ),
        "other shell": _assumed("any other value of SHELL counts as not set"),
        "stdio": _observed("standard input, output and error are pipes"),
        "session": _observed("the shell of a hook leads a session of its own"),
        "kill": _observed("SIGKILL to the process group; a child in another session survives"),
        "pipe wait": _observed(
            "if a child keeps output open, the host waits until the timeout, and the output is then lost"
        ),
        "output": _assumed("all output of a hook is read, however long it is"),
        "parallel": _observed("all hooks of an event start at once"),
        "env": _observed("the host adds no variables; the real one puts folders of its own into PATH"),
    },
)

CAP = CapRules(
    rules={
        "no cap": _observed(
            "there is no cap: a stop was refused 1000 times in a row and a stop of a subagent 60 times, "
            "and every refusal was honoured"
        ),
    }
)

TURNS = TurnRules(
    subagent_prompts=True,
    together=True,
    unasked_modes=("bypassPermissions",),
    mode="bypassPermissions",
    rules={
        "subagent prompts": _observed("UserPromptSubmit occurs for a subagent's prompt, after SubagentStart"),
        "together": _observed("of several calls in one message all PreToolUse hooks run before any call"),
        "order of calls": _assumed(
            "the calls of one message are made one after the other, so PostToolUse hooks run in their "
            "order; on the real host they run in the order in which the calls end"
        ),
        "start": _assumed("SessionStart occurs at the beginning, before the first prompt"),
    },
)

TOOLS = ToolRules(
    subagent=tools.SPAWN,
    launch=tools.launch,
    launched=tools.launched,
    gated=(tools.SHELL, tools.PATCH),
    asks=events.asks,
    call=tools.call,
    operation=tools.operation,
    result=tools.result,
    seen_as=events.seen_as,
    given=give_plainly,
    rules={
        "recorded": _observed(
            "in the input of hooks, results of Bash, of spawn_agent and of a patch that adds a file "
            "have this form"
        ),
        "assumed": _assumed(
            "the agent reads files with the shell; the model gets the same command result as hooks do, "
            "and the exit code of a failed command; a patch adds one file or changes one passage of one "
            "file, and a passage within a line is written as if it were whole lines; the tool that "
            "waits for subagents returns what a scenario says"
        ),
        "permission": _observed(
            "a command asks for a permission if its call has sandbox_permissions: require_escalated, and the "
            "permission mode is default; no other command does, and no patch of a file in the workspace"
        ),
        "no decision": _assumed("a call is allowed if no hook denies it"),
        "subagent": _assumed(
            "a subagent is started, works, and stops before the agent that called it continues"
        ),
    },
)

_ROLLOUT = "{{home}}/.codex/sessions/{{year}}/{{month}}/{{day}}/rollout-{time}-{{{who}}}.jsonl"
_TIME = "{year}-{month}-{day}T{hour}-{minute}-{second}"

TRANSCRIPT = TranscriptRules(
    path=_ROLLOUT.format(time=_TIME, who="session"),
    subagent_path=_ROLLOUT.format(time=_TIME, who="agent"),
    put_message=events.put_message,
    rule=_assumed("the form of the transcript's lines is assumed; its path is observed"),
)

CODEX = Profile(
    name="codex",
    version="0.169.0",
    events=events.EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=WORDING,
    process=PROCESS,
    cap=CAP,
    turns=TURNS,
    tools=TOOLS,
    transcript=TRANSCRIPT,
    calling=command_line.CODEX,
    options={
        "permission_mode": OptionRule(
            default="bypassPermissions",
            choices=("bypassPermissions", "default"),
            rule=_observed(
                "codex exec has the mode bypassPermissions, whatever approval_policy and --sandbox say, and "
                "default with --approve-for-me"
            ),
        ),
        "trust_level": OptionRule(
            default="trusted",
            choices=("trusted", "untrusted"),
            rule=CONFIG.trust[1].rule,
        ),
        "bypass_hook_trust": OptionRule(default=True, rule=CONFIG.trust[0].rule),
    },
    model="gpt-5.5",
    own_values=events.own_values,
)

PROFILES: tuple[Profile, ...] = (CODEX,)
