"""How Claude Code 2.1.329 finds, matches and runs hooks."""

from __future__ import annotations

from pytest_hookharness.hosts.profiles.claude_code.fields import FACTS
from pytest_hookharness.hosts.rules import settings
from pytest_hookharness.hosts.rules.profile import ProcessRules
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio

_observed, _documented, _assumed = FACTS.observed, FACTS.documented, FACTS.assumed

MATCHERS = settings.MatcherRules(
    syntax=settings.Syntax.JAVASCRIPT,
    plain=r"[\w\- ,|]*",
    separators=r"[|,]",
    trims_names=True,
    condition="if",
    rule=_observed(
        "a matcher of names, spaces, commas and bars is a list of exact names; any other matcher is an "
        "unanchored regular expression of JavaScript, which matches nothing if it is malformed"
    ),
)

CONFIG = settings.ConfigRules(
    paths=(
        "home/.claude/settings.json",
        "workspace/.claude/settings.json",
        "workspace/.claude/settings.local.json",
    ),
    # Observed with 2.1.329 and 2.1.330, from a folder below the top of a repository: settings.json of the
    # top, and both files of the folders between, are not read.
    top_paths=("workspace/.claude/settings.local.json",),
    components=tuple(
        f"{place}/{kind}"
        for place in ("workspace/.claude", "home/.claude", "plugin")
        for kind in ("agents", "commands", "skills")
    ),
    plugin_path="hooks/hooks.json",
    plugin_manifest=".claude-plugin/plugin.json",
    types={"command": "command", "prompt": "prompt", "agent": "prompt", "http": "url", "mcp_tool": "tool"},
    parse=parse_json,
    form=GROUPS,
    keys=settings.HandlerKeys(args="args", on_failure={"onFailure": "block"}),
    flaws={
        settings.Flaw.UNKNOWN_EVENT: settings.Effect.DROPS,
        settings.Flaw.NO_COMMAND: settings.Effect.DROPS,
    },
    default_effect=settings.Effect.VOIDS,
    switches=(settings.Switch(("disableAllHooks",), off=True),),
    identity=("type", "command", "args", "plugin", "prompt", "url", "server", "tool", "shell", "if"),
    allowed=("permissions", "allow"),
    env=("env",),
    plugin_root="CLAUDE_PLUGIN_ROOT",
    instructions=("CLAUDE.md",),
    rules={
        "malformed": _observed(
            "one malformed entry turns off every hook of its file, without a message; an entry that only "
            "lacks its command turns off itself alone"
        ),
        "other types": _assumed("an entry of another type that lacks what it runs turns off itself alone"),
        "unreadable": _assumed("a settings file that is not JSON is not used"),
        "unknown event": _observed("an unknown event name is skipped; the rest of the file is used"),
        "merge": _documented("the hooks of all settings files are added together"),
        "disabled": _documented(
            "disableAllHooks turns off all hooks; the settings file with the highest precedence decides"
        ),
        "duplicates": _observed(
            "the same command runs once for an event, however many groups have it and whatever its "
            "timeout; copies in plugins count as different"
        ),
        "condition": _documented(
            "a hook with 'if' on an event without a tool never runs; 'if' holds exactly one permission rule, "
            "with which each simple command of a Bash call is compared"
        ),
        "unpassable": _assumed(
            "a command or variable that cannot be passed to a process (NUL, half a surrogate pair) is "
            "left out; the rest of its file is used"
        ),
        "components": _documented(
            "hooks in the front matter of a skill or subagent run while it is active; Stop of a subagent "
            "becomes SubagentStop"
        ),
        "unreachable": _assumed("hooks of events that do not occur have no effect on other hooks"),
        "reload": _documented("settings files are read again when they change"),
        "reload time": _assumed("changed settings apply from the next event on"),
        "misplaced": _assumed("event names beside the key 'hooks' have no effect in a settings file"),
    },
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
        "AI_AGENT": "claude-code_2-1-329_harness",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-cli",
        "CLAUDE_CODE_SESSION_ATTENDED": "0",
        "CLAUDE_CODE_SESSION_ID": "{session}",
        "CLAUDE_PROJECT_DIR": "{workspace}",
        "COREPACK_ENABLE_AUTO_PIN": "0",
        "NoDefaultCurrentDirectoryInExePath": "1",
        "PWD": "{cwd}",
    },
    env_file=("CLAUDE_ENV_FILE", "{home}/.claude/session-env/{session}/{event}-hook-{index}.sh"),
    plugin_env={"CLAUDE_PLUGIN_DATA": "{home}/.claude/plugins/data/{plugin}-inline"},
    shared_limit="CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS",
    rules={
        "shell": _observed("hooks run with /bin/sh -c; with args the command starts without a shell"),
        "stdio": _observed("standard input, output and error are Unix sockets"),
        "session": _observed("the shell of a hook leads a session of its own"),
        "kill": _observed("SIGTERM to the whole process tree, SIGKILL half a second later"),
        "pipe wait": _observed(
            "if a child keeps output open, the host waits half a second and keeps the output"
        ),
        "output": _assumed("all output of a hook is read, however long it is"),
        "parallel": _observed("all hooks of an event start at once"),
        "env": _assumed(
            "the value of CLAUDE_CODE_ENTRYPOINT; CLAUDE_CODE_CHILD_NOTES_DIR and variables that name a "
            "process, a socket or a token of the host are not set"
        ),
        "env file": _documented(
            "variables that session hooks and CwdChanged hooks export in CLAUDE_ENV_FILE are set in "
            "later Bash calls"
        ),
        "env file order": _assumed(
            "the files for variables are read in the order of their events and, for each event, of its "
            "hooks; other files in their folder are not read"
        ),
        "shared": _documented(
            "timeouts in settings files raise SessionEnd's time budget; timeouts of plugins do not"
        ),
    },
)
