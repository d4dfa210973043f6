"""
Codex 0.169.0 as a profile.

Facts marked observed were measured by running the host headless.
"""

from __future__ import annotations

from pytest_hookharness.hosts.profiles import command_line
from pytest_hookharness.hosts.profiles.codex import tools
from pytest_hookharness.hosts.profiles.codex.answers import ANSWERS
from pytest_hookharness.hosts.profiles.codex.events import (
    CHOSEN,
    DESCRIBED,
    EVENTS,
    MEASURED,
    hold,
    own_values,
)
from pytest_hookharness.hosts.rules.profile import (
    CapRules,
    ConfigRules,
    MatcherRules,
    OptionRule,
    ProcessRules,
    Profile,
    ReplyRules,
    ToolRules,
    TranscriptRules,
    TurnRules,
    Wording,
)
from pytest_hookharness.hosts.rules.replies import CodeMeaning, CodeRule, Stream, TextLimit
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, LimitRules, Switch
from pytest_hookharness.hosts.rules.tools import IdRules
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.settings.formats import GROUPS, parse_json, parse_toml
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio
from pytest_hookharness.model.protocol import Basis, Json, Rule


def _observed(text: str) -> Rule:
    return Rule(text, Basis.OBSERVED, MEASURED)


def _documented(text: str) -> Rule:
    return Rule(text, Basis.DOCUMENTED, DESCRIBED)


def _assumed(text: str) -> Rule:
    return Rule(text, Basis.ASSUMED, CHOSEN)


def parse(text: str) -> Json:
    """
    The values of a settings file: ``hooks.json``, or ``config.toml``.
    """
    return parse_json(text) if text.lstrip("\ufeff \t\r\n").startswith("{") else parse_toml(text)


MATCHERS = MatcherRules(
    plain="[A-Za-z0-9_|]*",
    # Documented, in its source: a matcher of either kind chooses a hook if it fits the name or one of these.
    aliases={"apply_patch": ("Write", "Edit")},
    searches_aliases=True,
    rule=_observed(
        "a matcher made of letters, digits, underscores and bars is a list of exact names; any other, white "
        "space included, is an unanchored regular expression, which matches nothing if it is malformed"
    ),
)

CONFIG = ConfigRules(
    paths=(
        "home/.codex/hooks.json",
        "home/.codex/config.toml",
        "workspace/.codex/hooks.json",
        "workspace/.codex/config.toml",
    ),
    parse=parse,
    form=GROUPS,
    types={"command": "command", "prompt": "prompt", "agent": "prompt"},
    flaws={
        Flaw.UNKNOWN_EVENT: Effect.DROPS,
        Flaw.FLAT: Effect.DROPS,
        Flaw.LIMIT_ZERO: Effect.TAKES,
        Flaw.LIMIT_FRACTION: Effect.VOIDS,
    },
    default_effect=Effect.VOIDS,
    limits=LimitRules(least=1.0),
    switches=(Switch(("features", "hooks"), off=False),),
    rules={
        "malformed": _observed(
            "one malformed entry turns off every hook of its file, with one warning; a handler outside of a "
            "group is only skipped"
        ),
        "unreadable": _assumed("a settings file that is neither JSON nor TOML is not used at all"),
        "unknown event": _observed("an unknown event name is skipped, the rest of the file is used"),
        "merge": _documented("the hooks of all files add up"),
        "order": _assumed("the person's files come before the project's, hooks.json before config.toml"),
        "disabled": _documented("features.hooks = false in config.toml turns off all hooks"),
        "duplicates": _observed("a command that is configured several times runs as often"),
        "limit": _documented("a limit below a second is raised to one, so zero is a second"),
        "fraction": _assumed("a limit that is no whole number is as malformed as one below zero"),
        "arguments": _observed("'args' is ignored: the command alone is run"),
        "trust": _assumed(
            "all hooks are trusted; the host skips those that are not, without a word, and the simulation "
            "does not know which they are"
        ),
        "unpassable": _assumed(
            "a command that no process can be given (NUL, half a surrogate pair) is left out; the rest of "
            "its file is used"
        ),
        "unreachable": _assumed("hooks of events that are never come to change nothing for the others"),
        "misplaced": _assumed("event names beside the key 'hooks' mean nothing in a settings file"),
    },
)

REPLIES = ReplyRules(
    codes=(
        CodeRule(codes=(0,), answer=(Stream.OUT,), meaning=CodeMeaning.PLAIN),
        CodeRule(
            codes=(2,),
            reason_streams=(Stream.ERR,),
            meaning=CodeMeaning.REFUSES_IF_WORDS,
            rule="code refuses",
        ),
        CodeRule(meaning=CodeMeaning.FAILS),
    ),
    answers=ANSWERS,
    text_limit=TextLimit(most=10_000, in_bytes=True, spared=(Role.BEFORE_TOOL, Role.PERMISSION)),
    rules={
        "text limit": _documented(
            "of a text beyond 2,500 tokens of four bytes each the model gets both ends, and the name "
            "of a file that holds all of it; the reason of a refused call is told whole"
        ),
        "text kept": _assumed("10,000 bytes of its beginning stand for both ends of such a text"),
        "silent": _observed("exit code 0 without output is no opinion"),
        "plain": _observed("output that is no JSON is plain text, which means nothing on this event"),
        "plain fails": _documented("plain text on Stop and SubagentStop is an error: it fails open"),
        "shown": _observed("plain output of this event goes to the model"),
        "answer": _observed("an answer in JSON decides, with exit code 0 and no other"),
        "code refuses": _observed("exit code 2 with words on standard error refuses, whatever it printed"),
        "wordless": _observed("exit code 2 without a word on standard error does not refuse: it fails open"),
        "crashed": _observed("any exit code but 0 and 2 is ignored, with all that was said: it fails open"),
        "not run": _observed("a command that cannot be run is ignored: it fails open"),
        "signalled": _observed("a hook that a signal ended is ignored: it fails open"),
        "timed out": _observed("a hook that is cut at its limit has no say, whatever it had printed"),
        "unparsable": _observed("output that begins with a brace and is not JSON is an error: it fails open"),
        "invalid": _observed(
            "an answer with a key that the host does not know, or does not support on this event, is ignored "
            "as a whole"
        ),
        "no power": _observed("a refusal of this event is ignored"),
        "unanswered": _documented("handlers that are no commands are read and skipped"),
        "precedence": _observed("deny goes before allow, in whichever order they are said"),
        "halt": _observed("continue: false ends the turn and goes before every other decision"),
        "first refusal": _observed(
            "of several refusals of a call the model is told the first, as configured"
        ),
        "several": _observed("all refusals of a stop are told, in the order of configuration"),
        "unread": _documented(
            "a hook that ends before it has read all of its input has failed, even with exit code 2; the "
            "simulation reads its answer all the same"
        ),
        "allow reason": _observed("the reason of an allow does not reach the model"),
        "no hooks": _documented("an event without hooks changes nothing"),
    },
)

WORDING = Wording(
    refusal="Command blocked by PreToolUse hook: {reason}. Command: {subject}",
    feedback='<hook_prompt hook_run_id="stop:{index}:{source}">{reason}</hook_prompt>',
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/bash", "-c"),
    login_shells=("bash", "zsh"),
    stdio=Stdio.PIPE,
    own_session=True,
    pipe_wait=None,
    kill=KillPolicy(signals=(9,), scope=KillScope.GROUP, grace=0.5),
    rules={
        "shell": _observed("hooks run by /bin/bash -c where SHELL is not set"),
        "login shell": _documented(
            "where SHELL names bash or zsh they run by that as a login shell, so that what a profile prints "
            "comes before what a hook says"
        ),
        "other shell": _assumed("any other value of SHELL is as good as none"),
        "stdio": _observed("standard input, output and error are pipes"),
        "session": _observed("the shell of a hook leads a session of its own"),
        "kill": _observed("SIGKILL to the process group; a child in another session lives on"),
        "pipe wait": _observed("output held open by a child is waited for until the limit, and is lost then"),
        "output": _assumed("what a hook prints is read whole, however long it is"),
        "parallel": _observed("all hooks of an event start at once"),
        "env": _observed("the host adds no variables"),
    },
)

CAP = CapRules(
    rules={
        "no cap": _observed(
            "there is no cap: a stop was refused 1000 times in a row and that of a subagent 60 times, and "
            "each refusal held"
        ),
    }
)

TURNS = TurnRules(
    subagent_prompts=True,
    unasked_modes=("bypassPermissions",),
    mode="bypassPermissions",
    rules={
        "subagent prompts": _observed("UserPromptSubmit fires for a subagent's prompt, before SubagentStart"),
        "start": _assumed("SessionStart comes at the beginning, before there is a prompt"),
    },
)

TOOLS = ToolRules(
    subagent=tools.SPAWN,
    launch=tools.launch,
    launched=tools.launched,
    gated=(tools.SHELL, tools.PATCH),
    ids=IdRules(call="call_{turn}_{index}", agent="{uuid}"),
    call=tools.call,
    operation=tools.operation,
    result=tools.result,
    given=tools.given,
    rules={
        "recorded": _observed(
            "results of Bash and spawn_agent, and of a patch that adds a file, have this form for hooks"
        ),
        "assumed": _assumed(
            "files are read by the shell; of a command the model is told what hooks are, and the exit code "
            "if it fails; a patch adds one file or changes one passage of one, and a passage within a line "
            "is written as if it were whole lines; the tool that waits for subagents gives what a scenario "
            "says"
        ),
        "permission": _assumed("a call is allowed if no hook denies it"),
        "subagent": _assumed("a subagent is launched, works, and stops before its caller goes on"),
    },
)

_ROLLOUT = "{{home}}/.codex/sessions/{{year}}/{{month}}/{{day}}/rollout-{time}-{{{who}}}.jsonl"
_TIME = "{year}-{month}-{day}T{hour}-{minute}-{second}"

TRANSCRIPT = TranscriptRules(
    path=_ROLLOUT.format(time=_TIME, who="session"),
    subagent_path=_ROLLOUT.format(time=_TIME, who="agent"),
    put_message=hold,
    rule=_assumed("the form of the transcript's lines; its path is observed"),
)

CODEX = Profile(
    name="codex",
    version="0.169.0",
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
    calling=command_line.CODEX,
    options={
        "permission_mode": OptionRule(
            default="bypassPermissions",
            rule=_observed("hooks of a turn are told the permission mode; bypassing is what was measured"),
        )
    },
    model="gpt-5.5",
    own_values=own_values,
)

PROFILES: tuple[Profile, ...] = (CODEX,)
