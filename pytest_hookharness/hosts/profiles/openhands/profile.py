"""
The OpenHands SDK as a profile: release 1.58, and the branch with a guard.

Facts marked observed were measured by running the SDK with a scripted model.
"""

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
from pytest_hookharness.hosts.profiles.openhands.tools import look, look_also_at_texts
from pytest_hookharness.hosts.rules.profile import (
    CapRules,
    ConfigRules,
    MatcherRules,
    OptionRule,
    ProcessRules,
    Profile,
    StepRules,
    StuckRules,
    ToolRules,
    TranscriptRules,
    TurnRules,
    Wording,
)
from pytest_hookharness.hosts.rules.settings import Effect, Flaw
from pytest_hookharness.hosts.rules.turns import AtCap, FlagUse, Resets
from pytest_hookharness.hosts.settings.formats import OPEN_GROUPS, parse_json
from pytest_hookharness.model.processes import KillPolicy, KillScope, Stdio

MATCHERS = MatcherRules(
    plain=r"(?!/.+/\Z)[^|.*+?\[\]()^$\\]*",
    separators="",
    wrapper="/",
    anchored=True,
    literal_if_malformed=True,
    untargeted=False,
    rule=observed(
        "a matcher without a metacharacter is one exact name; any other, and one between slashes, is a "
        "regular expression for the whole name; on an event without a tool a hook with a matcher never runs"
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
        "malformed": documented("hooks that are not of the right form, or have an odd limit, do not load"),
        "unreadable": assumed("a file that is not JSON is as good as none"),
        "unknown event": observed(
            "an unknown event keeps all hooks from loading, and the host from starting"
        ),
        "refused": observed("hooks that do not load are an error before the conversation begins"),
        "first": documented("the file of the project is read, or else the person's; they do not add up"),
        "loaded": assumed(
            "the program that starts the conversation loads these files and passes them on; by itself the "
            "SDK looks at none of them"
        ),
        "flat": assumed("a handler that stands where a group must is a group without hooks"),
        "unpassable": assumed(
            "a command that no process can be given (NUL, half a surrogate pair) is left out; the rest of "
            "its file is used"
        ),
        "unreachable": assumed("hooks of events that are never come to change nothing for the others"),
    },
)

WORDING = Wording(
    refusal="Action rejected: {reason}",
    feedback="[Stop hook feedback] {reason}",
)

PROCESS = ProcessRules(  # noqa: S604 - a value; nothing is started here
    shell=("/bin/sh", "-c"),
    stdio=Stdio.PIPE,
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
        "shell": observed("hooks run by /bin/sh -c in the working folder"),
        "stdio": documented("standard input, output and error are pipes"),
        "session": observed("hooks share the process group and the session of the host"),
        "group": assumed(
            "a hook leads a process group of its own here, so that `kill 0` in it spares the harness; that "
            "of the real host holds the host and all of its hooks"
        ),
        "kill": observed("the shell gets SIGKILL at its limit, and nothing under it does: that runs on"),
        "pipe wait": observed(
            "output held open by a child is waited for until the limit; then the answer is lost"
        ),
        "output": observed("what a hook prints is read whole; a reason of 3,000,000 characters was told so"),
        "sequential": observed(
            "the hooks of an event run one after the other in the order of the file; on PreToolUse, "
            "UserPromptSubmit and Stop the first refusal ends the list"
        ),
        "env": observed(
            "hooks get the host's whole environment without its own secrets; other keys and tokens stay"
        ),
        "env unknown": assumed("four variables of telemetry, which the host removes too, are left here"),
        "async": assumed("a hook in the background is waited for here; the host ends it when it closes"),
    },
)

TOOLS = ToolRules(
    paths=(),
    call=tools.call,
    operation=tools.operation,
    result=tools.result,
    given=tools.given,
    seen_as=tools.seen_as,
    internal=tools.internal,
    rules={
        "recorded": observed("inputs and results of terminal, file_editor, think and finish have this form"),
        "assumed": assumed(
            "the result of viewing a file that is there, the words of failures other than a missing file, "
            "and what the model reads of a command's end; creating over a file replaces it"
        ),
        "places": assumed("names of the person, the machine and the interpreter in a terminal's result"),
        "screen": assumed("the control codes that a real terminal puts around output are left out"),
        "unknown": observed("hooks are not asked about unknown tools or wrong input; here they are"),
    },
)

TURNS = TurnRules(
    starts_with_prompt=True,
    refused_prompt_stops=True,
    together=True,
    finishing={"finish": "message"},
    rules={
        "start": observed("the session starts for its hooks with the first message"),
        "held": observed(
            "a refused prompt goes straight to Stop and stays in the conversation; a refusal there sends it"
        ),
        "together": observed("all calls of one message are asked about before the first is made"),
        "fork": assumed("a forked conversation has a name of its own, its options, and no denials counted"),
        "finish": observed("a finish call is a tool call, with hooks before and after it, and then a stop"),
        "pause": assumed("pause() is not simulated"),
        "window": assumed(
            "of the newest 20 events, where the host looks for circles, a call is two and a text is three"
        ),
    },
)

STEPS = StepRules(
    most=500,
    option="max_iteration_per_run",
    status="error",
    stopped="finished",
    rule=observed(
        "a run ends after max_iteration_per_run moves, 500 if nothing else is said; a stop that is the last "
        "of them asks no hook, and such a run ends as finished, without an error"
    ),
)

STUCK = StuckRules(
    detect=look,
    option="stuck_detection",
    rule=documented(
        "the same call with the same result 4 times, the same call in error 3 times (both also seen), "
        "or two calls in turn 6 times end the run as stuck; texts do not, and neither do refused calls"
    ),
)

OPTIONS = {
    "max_iteration_per_run": OptionRule(
        default=500, rule=observed("max_iteration_per_run limits the moves of a run")
    ),
    "stuck_detection": OptionRule(
        default=True, rule=observed("stuck_detection=False switches the look for circles off")
    ),
    "max_consecutive_stop_denials": OptionRule(
        default=5,
        ignored="no release up to 1.58.2 has this guard; unknown keywords are taken and dropped",
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
    cap=CapRules(
        flag=FlagUse.NEVER,
        rules={"no cap": observed("nothing counts refusals of a stop; only the limit of moves ends the run")},
    ),
    turns=TURNS,
    tools=TOOLS,
    transcript=TranscriptRules(rule=observed("hooks are told of no transcript")),
    steps=STEPS,
    stuck=STUCK,
    options=OPTIONS,
)

# Its events and payloads were not recorded; they are taken to be those of the newest release.
OPENHANDS_1_12 = replace(
    OPENHANDS,
    version="1.12",
    turns=replace(
        TURNS,
        rules={
            **TURNS.rules,
            "release": assumed("all but its ends is as in 1.58; this release was not recorded in full"),
        },
    ),
    steps=replace(
        STEPS,
        stopped="error",
        rule=observed("a run ends as an error after max_iteration_per_run moves, 500 without", OLDER),
    ),
    stuck=replace(
        STUCK,
        detect=look_also_at_texts,
        rule=observed(
            "three texts of the agent in a row end the run as stuck, also if each was refused as a stop; "
            "so does what ends later releases",
            OLDER,
        ),
    ),
)

OPENHANDS_PR3183 = replace(
    OPENHANDS,
    version="pr3183",
    cap=CapRules(
        cap=5,
        overrides_at_cap=True,
        below_one=1,
        option="max_consecutive_stop_denials",
        resets=Resets.CALLS_TRIED,
        at_cap=AtCap.ERRS,
        message=(
            "StopHookLoopDetected: Stop hook denied {count} times without progress (limit {limit}). "
            "Last feedback: {reason}"
        ),
        status="error",
        flag=FlagUse.NEVER,
        rules={
            "cap": observed(
                "the 5th refusal of a stop in a row, or that of max_consecutive_stop_denials, ends the run "
                "with the error StopHookLoopDetected; below 1 it is the first",
                BRANCH,
            ),
            "counted": observed("the guard counts refusals of Stop and of no other event", BRANCH),
            "reset": observed(
                "any tool call begins the count again, finish too, so that an agent that ends with new words "
                "in a finish call never comes to the cap",
                BRANCH,
            ),
        },
    ),
    options={
        **OPTIONS,
        "max_consecutive_stop_denials": OptionRule(
            default=5, rule=observed("max_consecutive_stop_denials sets the cap of the guard", BRANCH)
        ),
    },
)

PROFILES: tuple[Profile, ...] = (OPENHANDS, OPENHANDS_1_12, OPENHANDS_PR3183)
