"""The profiles of the OpenHands SDK: releases 1.58 and 1.12, and the branch with a cap."""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.profiles.openhands import tools
from pytest_hookharness.hosts.profiles.openhands.events import (
    BRANCH,
    EVENTS,
    OLDER,
    REPLIES,
    assumed,
    documented,
    observed,
)
from pytest_hookharness.hosts.profiles.openhands.tools import find_repetition, find_repetition_of_texts
from pytest_hookharness.hosts.rules import turns
from pytest_hookharness.hosts.rules.profile import ProcessRules, Profile
from pytest_hookharness.hosts.rules.replies import Wording
from pytest_hookharness.hosts.rules.settings import ConfigRules, Effect, Flaw, MatcherRules
from pytest_hookharness.hosts.rules.tools_and_transcript import ToolRules, TranscriptRules
from pytest_hookharness.hosts.settings.formats import OPEN_GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope

MATCHERS = MatcherRules(
    plain=r"(?!/.+/\Z)[^|.*+?\[\]()^$\\]*",
    separators="",
    wrapper="/",
    anchored=True,
    literal_if_malformed=True,
    # Most other hosts ignore a matcher on an event without a tool.
    untargeted=False,
    rule=observed(
        "a matcher without a metacharacter is one exact name; any other matcher, and one between "
        "slashes, is a regular expression for the whole name; on an event without a tool a hook with a "
        "matcher never runs"
    ),
)

_SPELLINGS = {
    "pre_tool_use": "PreToolUse",
    "post_tool_use": "PostToolUse",
    "user_prompt_submit": "UserPromptSubmit",
    "session_start": "SessionStart",
    "session_end": "SessionEnd",
    "stop": "Stop",
}

CONFIG = ConfigRules(
    paths=("workspace/.openhands/hooks.json", "home/.openhands/hooks.json"),
    first_only=True,
    parse=parse_json,
    form=OPEN_GROUPS,
    types={"command": "command", "prompt": "prompt", "agent": "prompt"},
    untyped="command",
    events=_SPELLINGS,
    flaws={
        Flaw.UNKNOWN_EVENT: Effect.FAILS,
        Flaw.UNKNOWN_KEY: Effect.FAILS,
        Flaw.LIMIT_FRACTION: Effect.FAILS,
        Flaw.FLAT: Effect.DROPS,
    },
    default_effect=Effect.FAILS,
    known_keys=("hooks", *_SPELLINGS, *_SPELLINGS.values()),
    rules={
        "malformed": documented("hooks with a malformed structure, or an invalid timeout, do not load"),
        "unreadable": assumed("a file that is not JSON counts as missing"),
        "unknown event": observed("with an unknown event no hooks load, and the host does not start"),
        "refused": observed("hooks that do not load are an error before the conversation starts"),
        "first": documented(
            "only the project's file is read, or the user's if there is none; they are not added together"
        ),
        "loaded": assumed(
            "the program that starts the conversation loads these files and passes them on; the SDK "
            "itself reads neither"
        ),
        "flat": assumed("a handler in the place of a group is a group without hooks"),
        "unpassable": assumed(
            "a command that cannot be passed to a process (NUL, half a surrogate pair) is left out; the "
            "rest of its file is used"
        ),
        "unreachable": assumed("hooks of events that do not occur have no effect on other hooks"),
    },
)

WORDING = Wording(
    refusal="Action rejected: {reason}",
    feedback="[Stop hook feedback] {reason}",
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/sh", "-c"),
    pipe_wait=None,
    kill=KillPolicy(signals=(9,), scope=KillScope.CHILD),
    one_by_one=True,
    env={
        "AI_AGENT": "openhands",
        "OPENHANDS_PROJECT_DIR": "{workspace}",
        "OPENHANDS_SESSION_ID": "{session}",
        "OPENHANDS_EVENT_TYPE": "{event_name}",
        "OPENHANDS_TOOL_NAME": "{tool}",
    },
    kept_workspace=("AI_AGENT",),
    removed=("SESSION_API_KEY", "OH_SECRET_KEY", "OH_SESSION_API_KEYS_*"),
    rules={
        "shell": observed("hooks run with /bin/sh -c in the working folder"),
        "stdio": documented("standard input, output and error are pipes"),
        "session": observed("hooks share the process group and the session of the host"),
        "group": assumed(
            "a hook leads a process group of its own here, so that `kill 0` in it spares the harness; "
            "on the real host it shares the process group of the host and all other hooks"
        ),
        "kill": observed("at its timeout the shell gets SIGKILL; its children do not, and continue"),
        "pipe wait": observed(
            "if a child keeps output open, the host waits until the timeout; then the answer is lost"
        ),
        "output": observed(
            "all output of a hook is read; a reason of 3,000,000 characters reached the agent"
        ),
        "sequential": observed(
            "the hooks of an event run one after the other in the order of the file; on PreToolUse, "
            "UserPromptSubmit and Stop no hook runs after the first refusal"
        ),
        "env": observed(
            "hooks get the host's whole environment except its own secrets; other keys and tokens stay"
        ),
        "env unknown": assumed("four telemetry variables, which the real host removes too, are kept here"),
        "async": assumed(
            "what a hook in the background writes soon is there at the next turn; "
            "the host ends it when it closes"
        ),
    },
)

TOOLS = ToolRules(
    call=tools.call,
    operation=tools.operation,
    result=tools.result,
    given=tools.given,
    seen_as=tools.seen_as,
    internal=tools.internal,
    rules={
        "recorded": observed("inputs and results of terminal, file_editor, think and finish have this form"),
        "assumed": assumed(
            "the result of viewing an existing file, the texts of failures other than a missing file, "
            "and what the model reads about a command's end; creating over a file replaces it"
        ),
        "modes": assumed(
            "a file that file_editor wrote can be read by all; on the real host only by its owner"
        ),
        "places": assumed("the names of the user, the machine and the interpreter in a terminal's result"),
        "screen": assumed("the control codes that a real terminal adds to output are left out"),
        "unknown": observed(
            "on the real host hooks do not run for unknown tools or invalid input; here they do"
        ),
    },
)

TURNS = turns.TurnRules(
    starts_with_prompt=True,
    refused_prompt_stops=True,
    together=True,
    finishing={"finish": "message"},
    rules={
        "start": observed("SessionStart occurs with the first message"),
        "held": observed(
            "a refused prompt goes straight to Stop and stays in the conversation; a refusal of this "
            "Stop sends it"
        ),
        "together": observed("the hooks run for all calls of one message before the first call is made"),
        "fork": assumed(
            "a forked conversation has an identifier of its own, the same options, and a count of refusals "
            "that starts at 0"
        ),
        "finish": observed("a finish call is a tool call, with hooks before and after it, and then a stop"),
        "pause": assumed("pause() is not simulated"),
        "window": assumed(
            "of the newest 20 events, in which the host looks for repetitions, a call is two and a text "
            "is three"
        ),
    },
)

STEPS = turns.StepRules(
    most=500,
    option="max_iteration_per_run",
    status="error",
    stopped="finished",
    rule=observed(
        "a run ends after max_iteration_per_run moves (500 by default); if the last of them is a stop, "
        "no stop hooks run, and the run ends as finished, without an error"
    ),
)

STUCK = turns.StuckRules(
    detect=find_repetition,
    option="stuck_detection",
    rule=documented(
        "the same call with the same result 4 times, the same call with an error 3 times (both also "
        "observed), or two alternating calls 6 times end the run as stuck; texts and refused calls do "
        "not"
    ),
)

OPTIONS = {
    "max_iteration_per_run": turns.OptionRule(
        default=500, rule=observed("max_iteration_per_run limits the moves of a run")
    ),
    "stuck_detection": turns.OptionRule(
        default=True, rule=observed("stuck_detection=False turns the detection of repetitions off")
    ),
    "max_consecutive_stop_denials": turns.OptionRule(
        default=5,
        ignored="no release up to 1.58.2 has this cap; unknown keywords are accepted and dropped",
        rule=observed("max_consecutive_stop_denials is accepted and changes nothing"),
    ),
}

OPENHANDS = Profile(
    name="openhands",
    version="1.58",
    events=EVENTS,
    matchers=MATCHERS,
    config=CONFIG,
    replies=REPLIES,
    wording=WORDING,
    process=PROCESS,
    cap=turns.CapRules(
        flag=turns.FlagUse.NEVER,
        rules={
            "no cap": observed("refusals of a stop are not counted; only the limit on moves ends the run")
        },
    ),
    turns=TURNS,
    tools=TOOLS,
    transcript=TranscriptRules(rule=observed("the input of hooks names no transcript")),
    steps=STEPS,
    stuck=STUCK,
    options=OPTIONS,
)

# Its events and payloads were not recorded; they are assumed to be those of the newest release.
OPENHANDS_1_12 = replace(
    OPENHANDS,
    version="1.12",
    turns=replace(
        TURNS,
        rules={
            **TURNS.rules,
            "release": assumed(
                "everything except the ends of a run is assumed to be as in 1.58; this release was not "
                "recorded in full"
            ),
        },
    ),
    steps=replace(
        STEPS,
        stopped="error",
        rule=observed("a run ends with an error after max_iteration_per_run moves (500 by default)", OLDER),
    ),
    stuck=replace(
        STUCK,
        detect=find_repetition_of_texts,
        rule=observed(
            "three texts of the agent in a row end the run as stuck, even if each was refused as a "
            "stop; so do the repetitions that end later releases",
            OLDER,
        ),
    ),
)

OPENHANDS_PR3183 = replace(
    OPENHANDS,
    version="pr3183",
    cap=turns.CapRules(
        cap=5,
        overrides_at_cap=True,
        below_one=1,
        option="max_consecutive_stop_denials",
        resets=turns.Resets.CALLS_TRIED,
        at_cap=turns.AtCap.ERRS,
        message=(
            "StopHookLoopDetected: Stop hook denied {count} times without progress (limit {limit}). "
            "Last feedback: {reason}"
        ),
        status="error",
        flag=turns.FlagUse.NEVER,
        rules={
            "cap": observed(
                "the 5th refusal of a stop in a row, or the one that max_consecutive_stop_denials sets, "
                "ends the run with the error StopHookLoopDetected; with a value below 1 it is the first "
                "refusal",
                BRANCH,
            ),
            "counted": observed("the cap counts refusals of Stop, and of no other event", BRANCH),
            "reset": observed(
                "any tool call resets the count, finish too, so an agent that ends with a new text in a "
                "finish call never reaches the cap",
                BRANCH,
            ),
        },
    ),
    options={
        **OPTIONS,
        "max_consecutive_stop_denials": turns.OptionRule(
            default=5, rule=observed("max_consecutive_stop_denials sets the cap", BRANCH)
        ),
    },
)

PROFILES: tuple[Profile, ...] = (OPENHANDS, OPENHANDS_1_12, OPENHANDS_PR3183)
