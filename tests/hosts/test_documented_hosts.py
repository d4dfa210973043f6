"""Hosts known from documents alone: how their profiles read answers and settings, and their caps."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Edit, Performance, Prompt, Read, RunCommand, Stop, Subagent
from pytest_hookharness.model.protocol import Basis, Hook, Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Step

GO, DONE = Prompt(text="go"), Stop(text="done")
STOPS = 130
DOCUMENTED = ("cursor", "copilot-cli", "antigravity", "kimi", "goose", "droid")

BLOCK = {"decision": "block", "reason": "not yet"}
DENY = {"decision": "deny", "reason": "not yet"}
ENDLESS = (STOPS, "idle")

# For each host: how its hooks refuse a stop, how often they are asked, and how the turn ends; then the same
# for a hook that ends with exit code 2 and text.
REFUSED = {
    "claude-code@2.1.329": (BLOCK, (9, "capped"), (9, "capped")),
    "codex@0.169.0": (BLOCK, ENDLESS, ENDLESS),
    "gemini-cli@0.61.0": (BLOCK, ENDLESS, ENDLESS),
    "gemini-cli@0.30.0": (BLOCK, ENDLESS, ENDLESS),
    "gemini-cli@0.26.0": (BLOCK, (1, "capped"), (1, "capped")),
    "qwen-code@0.24.4": (BLOCK, (8, "capped"), (8, "capped")),
    "qwen-code@0.15.10": (BLOCK, (100, "capped"), (100, "capped")),
    "openhands@1.58": (DENY, ENDLESS, ENDLESS),
    "openhands@1.12": (DENY, (3, "capped"), (3, "capped")),
    "openhands@pr3183": (DENY, (5, "capped"), (5, "capped")),
    "cursor@2026-08": ({"followup_message": "not yet"}, (6, "capped"), (1, "stopped")),
    "cursor@2026-08-reported": ({"followup_message": "not yet"}, (6, "capped"), (1, "stopped")),
    "copilot-cli@1.0.78": (BLOCK, (9, "capped"), (1, "stopped")),
    "copilot-cli@1.0.71": (BLOCK, ENDLESS, (1, "stopped")),
    "antigravity@1.1.18": ({"decision": "continue", "reason": "not yet"}, (11, "capped"), (1, "stopped")),
    "kimi@0.38.0": (
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "not yet"}},
        (1, "capped"),
        (1, "capped"),
    ),
    "goose@2026": (BLOCK, ENDLESS, ENDLESS),
    "droid@2026-07": (BLOCK, ENDLESS, ENDLESS),
}


def stop_event(profile):
    """The host's name of the stop event."""
    return profile.by_role(hosts.Role.STOP).name


@pytest.mark.nightly
@pytest.mark.parametrize("name", [profile.id for profile in hosts.known()])
@pytest.mark.parametrize("by_code", [False, True])
def test_a_stop_that_is_always_refused(play, ended, name, by_code):
    """Under each host a hook that always refuses runs as often, and ends, as the table says."""
    profile = hosts.find(name)
    answer, by_answer, by_exit = REFUSED[name]
    run = ended(2, stderr="not yet") if by_code else ended(0, json.dumps(answer))

    played = play({stop_event(profile): "./x"}, [GO, *[DONE] * STOPS], lambda *_: run, profile=profile)

    asked = len(played.asked(stop_event(profile)))
    assert (asked, played.endings[0].how) == (by_exit if by_code else by_answer)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_no_fact_is_observed(name):
    """A host that was not measured has no observed fact, and some facts that are only assumed."""
    profile = hosts.find(name)
    parts = (profile.config, profile.replies, profile.process, profile.cap, profile.tools)
    rules = [rule for part in parts for rule in part.rules.values()]
    rules += [event.rule for event in profile.events.values()]

    bases = {rule.basis for rule in rules}

    assert bases == {Basis.DOCUMENTED, Basis.ASSUMED}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_input_can_be_written(play, name):
    """A session with calls, a subagent and an end gives each event the keys of its profile."""
    profile = hosts.find(name)
    settings = {event: "true" for event, rule in profile.events.items() if not rule.unreachable}
    acts = [GO, RunCommand(command="true"), Edit(file="a", text="b"), Read(file="a")]
    acts += [Subagent()] if profile.tools.subagent else []

    played = play(settings, [*acts, DONE], lambda *_: None, profile=profile)

    assert set(played.events) <= set(settings)
    assert stop_event(profile) in played.events
    for request in played.asked():
        fields = profile.events[request.event].fields.fields
        needed = [field.name for field in fields if not field.optional]
        assert set(needed) <= set(request.payload) <= {field.name for field in fields}
        assert json.dumps(request.payload)


@pytest.mark.parametrize("name", DOCUMENTED)
@pytest.mark.parametrize(
    "move",
    [
        RunCommand(command="ls -l"),
        Edit(file="a b", text="x"),
        Edit(file="a", text="x", old="y"),
        Read(file="a b"),
    ],
)
def test_operations_and_calls(name, move):
    """Each operation becomes a call of the host's tool, and the call is read as the same operation."""
    tools = hosts.find(name).tools

    again = tools.operation(tools.call(move, "/project"), "/project")

    assert again == move or again == RunCommand(command="cat '/project/a b'")


@pytest.mark.parametrize("name", DOCUMENTED)
def test_results_of_calls(name):
    """The output of a command reaches the agent, and a failed command is a failure."""
    tools = hosts.find(name).tools
    made = tools.call(RunCommand(command="x"), "/project")

    good = tools.result(made, Performance(exit=0, stdout="out\n", stderr="err\n"), "/project")
    bad = tools.result(made, Performance(exit=3), "/project")

    assert (good.text, good.failed) == ("out\nerr", False)
    assert (bad.text, bad.failed) == ("exit code 3", True)


def read(ended, name, event, code=0, out="", err="", **hook):
    """The reply of a hook on an event, as the host reads it."""
    text = out if isinstance(out, str) else json.dumps(out)
    return hosts.read_reply(
        hosts.find(name), Hook(event=event, command="x", **hook), event, ended(code, text, err)
    )


NESTED = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}


@pytest.mark.parametrize(
    "name, event, code, out, ruling",
    [
        ("cursor", "preToolUse", 0, {"permission": "deny"}, Ruling.DENY),
        ("cursor", "preToolUse", 0, {"permission": "ask"}, Ruling.NONE),
        ("cursor", "preToolUse", 0, BLOCK, Ruling.NONE),
        ("cursor", "preToolUse", 2, "", Ruling.DENY),
        ("cursor", "preToolUse", 1, {"permission": "deny"}, Ruling.NONE),
        ("cursor", "beforeSubmitPrompt", 0, {"continue": False}, Ruling.DENY),
        ("cursor", "stop", 0, {"permission": "deny"}, Ruling.NONE),
        ("copilot-cli", "preToolUse", 0, {"permissionDecision": "deny"}, Ruling.DENY),
        ("copilot-cli", "preToolUse", 1, "", Ruling.DENY),
        ("copilot-cli", "preToolUse", 2, {"permissionDecision": "allow"}, Ruling.DENY),
        ("copilot-cli", "preToolUse", 0, NESTED, Ruling.NONE),
        ("copilot-cli", "PreToolUse", 0, NESTED, Ruling.DENY),
        ("copilot-cli", "PreToolUse", 0, {"permissionDecision": "deny"}, Ruling.DENY),
        ("copilot-cli", "postToolUse", 1, "", Ruling.NONE),
        ("copilot-cli", "permissionRequest", 0, {"behavior": "deny", "message": "no"}, Ruling.DENY),
        ("copilot-cli", "permissionRequest", 2, "", Ruling.DENY),
        ("copilot-cli", "Stop", 2, "", Ruling.NONE),
        ("antigravity", "PreToolUse", 0, {"decision": "force_ask"}, Ruling.ASK),
        ("antigravity", "PreToolUse", 1, {"decision": "allow"}, Ruling.DENY),
        ("antigravity", "PreToolUse", 0, {}, Ruling.DENY),
        ("antigravity", "PreToolUse", 0, "", Ruling.NONE),
        ("antigravity", "Stop", 0, BLOCK, Ruling.NONE),
        ("kimi", "PreToolUse", 0, NESTED, Ruling.DENY),
        ("kimi", "PreToolUse", 0, BLOCK, Ruling.NONE),
        ("kimi", "PreToolUse", 3, NESTED, Ruling.NONE),
        ("kimi", "PostToolUse", 2, "", Ruling.NONE),
        ("goose", "PreToolUse", 3, BLOCK, Ruling.DENY),
        ("goose", "PreToolUse", 0, DENY, Ruling.NONE),
        ("goose", "PreToolUse", 0, "a line of a log", Ruling.NONE),
        ("goose", "UserPromptSubmit", 2, "", Ruling.NONE),
        ("droid", "PreToolUse", 0, NESTED, Ruling.DENY),
        ("droid", "PreToolUse", 1, NESTED, Ruling.NONE),
        ("droid", "PreCompact", 2, "", Ruling.NONE),
    ],
)
def test_what_answers_mean(ended, name, event, code, out, ruling):
    """Each answer means what the documents say, and an answer in another host's form has no effect."""
    assert read(ended, name, event, code, out).ruling is ruling


@pytest.mark.parametrize(
    ("event", "answer", "silent"),
    [
        ("beforeReadFile", {"permission": "deny", "user_message": "secret"}, False),
        ("beforeReadFile", {"permission": "deny"}, True),
        ("preToolUse", {"permission": "deny", "user_message": "secret"}, True),
        ("preToolUse", {"permission": "deny", "agent_message": "secret"}, False),
    ],
)
def test_a_reason_for_the_user_alone(ended, event, answer, silent):
    """Where the only reason that Cursor reads is for the user, a refusal with it is not silent."""
    assert read(ended, "cursor", event, out=answer).silent is silent


@pytest.mark.parametrize(
    "name, event, code, out, refuses",
    [
        ("cursor", "preToolUse", 1, "", True),
        ("cursor", "preToolUse", 0, "no JSON", True),
        ("cursor", "preToolUse", 0, "", False),
        ("cursor", "stop", 1, "", False),
        ("goose", "PreToolUse", 1, "", True),
        ("goose", "PreToolUse", 0, "no JSON", True),
        ("goose", "PreToolUse", 0, {}, True),
        ("goose", "PreToolUse", 0, "", False),
        ("goose", "Stop", 1, "", False),
    ],
)
def test_failures_that_are_configured_to_block(ended, name, event, code, out, refuses):
    """If a handler asks for it, a failure refuses a call, also one by invalid output, but never a stop."""
    reply = read(ended, name, event, code, out, on_failure="block")

    assert (reply.ruling is Ruling.DENY) is refuses


@pytest.mark.parametrize(
    "name, event", [("cursor", "stop"), ("copilot-cli", "agentStop"), ("antigravity", "Stop")]
)
def test_exit_code_2_has_no_effect_on_some_stops(ended, name, event):
    """Where exit code 2 does not refuse a stop, the report says so."""
    reply = read(ended, name, event, 2, "", "no")

    assert "2" in (reply.fault or "")
    assert (reply.fault or "").startswith("ignored: ")


def test_default_reasons_can_name_the_event(ended):
    """A default reason can name the event."""
    assert read(ended, "kimi", "Stop", 2).reason == "Blocked by Stop hook"
    assert read(ended, "kimi", "PreToolUse", 0, NESTED).reason == "Blocked by PreToolUse hook"


def configure(name, path, text):
    """The configuration of a host with one settings file."""
    return hosts.configure(hosts.find(name), {path: text})


@pytest.mark.parametrize(
    "name, path, content",
    [
        ("cursor", "workspace/.cursor/hooks.json", {"version": 1, "hooks": {"stop": [{"command": "x"}]}}),
        (
            "copilot-cli",
            "workspace/.github/hooks/a.json",
            {"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "x"}]}},
        ),
        ("copilot-cli", "workspace/.github/hooks/a.json", {"hooks": {"agentStop": [{"command": "x"}]}}),
        (
            "copilot-cli",
            "workspace/.claude/settings.json",
            {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}},
        ),
        ("antigravity", "workspace/.agents/hooks.json", {"mine": {"Stop": [{"command": "x"}]}}),
        (
            "droid",
            "workspace/.factory/hooks.json",
            {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]},
        ),
    ],
)
def test_settings(name, path, content):
    """A hook is found in the host's own file and form, without a problem."""
    configuration = configure(name, path, json.dumps(content))

    assert [hook.command for hook in configuration.hooks] == ["x"]
    assert configuration.problems == ()


def test_settings_of_kimi():
    """A table of hooks is read, and a session with an unknown key in it does not start."""
    good = '[[hooks]]\nevent = "Stop"\ncommand = "x"\n'

    read_well = configure("kimi", "home/.kimi-code/config.toml", good)
    refused = configure("kimi", "home/.kimi-code/config.toml", good + 'type = "command"\n')

    assert [hook.command for hook in read_well.hooks] == ["x"]
    assert "'type'" in refused.refused
    assert refused.hooks == ()


def test_hooks_of_goose_are_in_plugins():
    """Goose reads the hooks of a plugin, and they get its folder."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "${PLUGIN_ROOT}/x"}]}]}})

    configuration = hosts.configure(
        hosts.find("goose"), {}, plugin_files={"hooks/hooks.json": text}, plugin_root="/p"
    )

    (hook,) = configuration.hooks
    assert (hook.command, hook.env["PLUGIN_ROOT"]) == ("${PLUGIN_ROOT}/x", "/p")


def test_variables_of_one_handler():
    """A handler's own variables are set for it and for no other handler."""
    handlers = [{"bash": "x", "env": {"A": "1"}}, {"bash": "y"}]

    configuration = configure(
        "copilot-cli", "workspace/.github/hooks/a.json", json.dumps({"hooks": {"agentStop": handlers}})
    )

    assert [hook.env for hook in configuration.hooks] == [{"A": "1"}, {}]


@pytest.mark.parametrize("limit, asked", [(1, 2), (None, STOPS)])
def test_loop_limits_of_cursor(play, ended, limit, asked):
    """A hook of Cursor has its own cap, or none."""
    run = ended(0, json.dumps({"followup_message": "go on"}))
    settings = {"stop": {"command": "./x", "loop_limit": limit}}

    played = play(settings, [GO, *[DONE] * STOPS], lambda *_: run, profile=hosts.find("cursor"))

    assert [request.payload["loop_count"] for request in played.asked("stop")] == list(range(asked))


@pytest.mark.parametrize(
    "limits, overrides",
    [([None], None), ([20], 21), ([20, 1], 21), ([2, "default"], 6), ([20, None], None), (["default"], 6)],
)
def test_the_loop_limit_that_is_told(play, ended, limits, overrides):
    """The reported cap of Cursor is the largest of the hooks that refuse; a hook without one has 5."""
    run = ended(0, json.dumps({"followup_message": "go on"}))
    handlers = [{"command": "./x"} | ({"loop_limit": n} if n != "default" else {}) for n in limits]
    played = play({"stop": handlers}, [GO, *[DONE] * STOPS], lambda *_: run, profile=hosts.find("cursor"))
    session, reply = played.sessions[-1], played.replies[0]
    hook_runs = tuple(HookRun(hook=hook, payload={}, reply=reply) for hook in session.configuration.hooks)
    refused = HookEvent(event="stop", hook_runs=hook_runs, decision=played.decisions[0])

    told = hosts.cap_for(session, [], [Step(number=1, turn=1, exchange=refused)])

    overridden = [one.overridden for one in played.decisions if one.event == "stop"]
    assert (told.overrides or STOPS + 1) == [*overridden, True].index(True) + 1
    assert told.overrides == overrides
    if overrides is None:
        assert told.why == "`loop_limit` of a hook that refuses is null"


def test_settings_of_claude_code_under_cursor():
    """Imported hooks have no cap, and events that Cursor does not know are left out."""
    handlers = [{"hooks": [{"type": "command", "command": "x"}]}]
    text = json.dumps({"hooks": {"Stop": handlers, "Notification": handlers}})

    (hook,) = configure("cursor", "workspace/.claude/settings.json", text).hooks

    assert (hook.event, hook.options["loop_limit"]) == ("stop", None)


@pytest.mark.parametrize("code, answer", [(0, BLOCK), (2, {})])
def test_a_stop_hook_of_claude_code_under_cursor(play, ended, code, answer):
    """A hook in Claude Code's settings refuses Cursor's stops in its own form, without a cap."""
    handlers = [{"hooks": [{"type": "command", "command": "x"}]}]
    files = {"workspace/.claude/settings.json": json.dumps({"hooks": {"Stop": handlers}})}
    run, acts = ended(code, json.dumps(answer), "no"), [GO, *[DONE] * STOPS]

    foreign = play(None, acts, lambda *_: run, profile=hosts.find("cursor"), files=files)
    own = play({"stop": "x"}, acts, lambda *_: run, profile=hosts.find("cursor"))

    assert len(foreign.asked("stop")) == STOPS
    assert len(own.asked("stop")) == 1


@pytest.mark.parametrize(
    "event, answer",
    [
        ("beforeSubmitPrompt", BLOCK),
        ("beforeSubmitPrompt", {"continue": False}),
        ("preToolUse", NESTED),
        ("preToolUse", {"permission": "deny"}),
        ("preToolUse", BLOCK),
    ],
)
def test_answers_of_claude_code_under_cursor(ended, event, answer):
    """A hook in Claude Code's settings may answer in its own form and in Cursor's."""
    assert read(ended, "cursor", event, 0, answer, foreign=True).ruling is Ruling.DENY


@pytest.mark.parametrize(
    "name, out, foreign, ruling",
    [
        ("cursor@2026-08-reported", "", True, Ruling.DENY),
        ("cursor@2026-08-reported", "all is well", True, Ruling.DENY),
        ("cursor@2026-08-reported", "{}", True, Ruling.NONE),
        ("cursor@2026-08-reported", "", False, Ruling.NONE),
        ("cursor", "", True, Ruling.NONE),
    ],
)
def test_a_silent_allow_under_cursor(ended, name, out, foreign, ruling):
    """As reported, an imported hook refuses a call unless it prints JSON, and as documented it does not."""
    profile = hosts.find(name)
    hook = Hook(event="preToolUse", command="x", foreign=foreign)

    assert hosts.read_reply(profile, hook, "preToolUse", ended(0, out)).ruling is ruling


def test_events_for_one_tool_follow_those_for_all(play, ended):
    """Cursor runs preToolUse hooks and then those for commands, whose matchers see the command."""
    cursor = hosts.find("cursor")
    settings = {
        "preToolUse": "./a",
        "beforeShellExecution": [{"command": "./b", "matcher": "curl"}, {"command": "./c", "matcher": "ls"}],
        "afterShellExecution": "./d",
        "postToolUse": "./e",
    }

    played = play(settings, [GO, RunCommand(command="ls -l"), DONE], lambda *_: ended(), profile=cursor)

    ran = [[hook.command for hook in request.hooks] for request in played.asked()]
    assert ran == [["./a"], ["./c"], ["./e"], ["./d"]]
    assert played.asked("beforeShellExecution")[0].payload["command"] == "ls -l"
    assert json.loads(played.asked("postToolUse")[0].payload["tool_output"]) == "visible"


def test_second_names_of_copilot(play):
    """Hooks under both names run, each with its own input, and the texts of both reach the agent."""
    copilot = hosts.find("copilot-cli")
    settings = {
        "userPromptSubmitted": "./a",
        "UserPromptSubmit": "./b",
        "preToolUse": {"bash": "./c", "matcher": "bash"},
        "PreToolUse": [{"bash": "./d", "matcher": "Bash"}, {"bash": "./e", "matcher": "Edit|Write"}],
        "postToolUse": "./f",
    }
    said = {
        "./a": {"additionalContext": "one"},
        "./b": {"additionalContext": "two"},
        "./f": {"modifiedResult": {"resultType": "success", "textResultForLlm": "three"}},
    }

    played = play(
        settings,
        [GO, RunCommand(command="ls"), DONE],
        lambda asked, index: said.get(asked.hooks[index].command),
        profile=copilot,
    )

    first, second = (played.asked(name)[0].payload for name in ("preToolUse", "PreToolUse"))
    assert (first["toolName"], second["tool_name"], len(played.asked("PreToolUse"))) == ("bash", "Bash", 1)
    assert second["hook_event_name"] == "PreToolUse"
    assert played.seen() == ["go", "one", "two", "three"]


@pytest.mark.parametrize(
    "event, matcher, target, hook_runs",
    [
        ("preToolUse", "*", "bash", False),
        ("PreToolUse", "*", "Bash", True),
        ("preToolUse", "ba", "bash", False),
        ("preToolUse", "ba.*", "bash", True),
        ("PreToolUse", "bash|Edit", "Bash", True),
        ("PreToolUse", "Task", "Agent", True),
        ("PreToolUse", "as", "Bash", False),
    ],
)
def test_matchers_of_copilot(event, matcher, target, hook_runs):
    """A matcher is read by the rules of the event name under which its hook is configured."""
    hook = Hook(event=event, command="x", matcher=matcher)

    assert bool(hosts.select(hosts.find("copilot-cli"), (hook,), event, target)) is hook_runs


def test_a_failed_call_of_copilot(play, ended):
    """After a failed call the agent gets the output of a hook with exit code 2."""
    played = play(
        {"postToolUseFailure": "./x"},
        [GO, RunCommand(command="false"), DONE],
        lambda *_: ended(2, "try true"),
        profile=hosts.find("copilot-cli"),
        perform=lambda _: Performance(exit=1),
    )

    assert played.seen()[-1] == "try true"


@pytest.mark.parametrize("name", ["antigravity", "droid"])
def test_hooks_for_successful_calls_only(play, name):
    """Hooks after a call do not run for a failed one, where the host runs them after success only."""

    def events(code):
        return play(
            {"PostToolUse": "./x"},
            [GO, RunCommand(command="x"), DONE],
            lambda *_: None,
            profile=hosts.find(name),
            perform=lambda _: Performance(exit=code),
        ).events

    assert events(0) == ["PostToolUse"]
    assert events(1) == []


def test_most_hooks_of_kimi_only_observe(ended):
    """Kimi waits for the hooks of three events, and the answers of all other hooks have no effect."""
    kimi = hosts.find("kimi")

    waited = {name for name, rule in kimi.events.items() if rule.waits}

    assert waited == {"PreToolUse", "UserPromptSubmit", "Stop"}
    assert read(ended, "kimi", "SessionStart", 2, "", "no").rule == kimi.replies.rules["async"]


def test_hooks_of_goose_run_one_by_one(play, ended):
    """After the first refusal of a call no more hooks run."""
    played = play(
        {"PreToolUse": ["./a", "./b", "./c"]},
        [GO, RunCommand(command="x"), DONE],
        lambda asked, _: ended(2) if asked.hooks[0].command == "./b" else ended(),
        profile=hosts.find("goose"),
    )

    assert [request.hooks[0].command for request in played.asked("PreToolUse")] == ["./a", "./b"]
    assert played.performed[0].refused


def test_subagents_count_their_own_stops(play, ended):
    """The input of a subagent's hooks counts the refusals of its own stops."""
    answers = iter([{"followup_message": "more"}] * 2)

    played = play(
        {"subagentStop": "./x"},
        [GO, Subagent(), DONE],
        lambda *_: ended(0, json.dumps(next(answers, {}))),
        profile=hosts.find("cursor"),
    )

    assert [request.payload["loop_count"] for request in played.asked("subagentStop")] == [0, 1, 2]


def test_silence_is_ignored_by_one_rule(ended):
    """Only one rule of a profile makes empty output mean nothing."""
    goose = hosts.find("goose")
    codes = tuple(replace(code, ignores_silence=False) for code in goose.replies.codes)
    other = replace(goose, replies=replace(goose.replies, codes=codes))
    hook = Hook(event="PreToolUse", command="x", on_failure="block")

    assert hosts.read_reply(goose, hook, "PreToolUse", ended()).ruling is Ruling.NONE
    assert hosts.read_reply(other, hook, "PreToolUse", ended()).ruling is Ruling.DENY


def test_copilot_sends_the_input_of_a_call_as_text(play, ended):
    """Under its own event names Copilot CLI sends the input of a call as a JSON text, else as an object."""
    profile = hosts.find("copilot-cli")
    acts = [GO, RunCommand(command="echo 'ä'"), DONE]
    names = {"preToolUse": "x", "PreToolUse": "y", "postToolUse": "x", "PostToolUse": "y"}
    asked = play(names, acts, lambda *_: ended(), profile=profile).asked()
    given = {one.event: one.payload.get("toolArgs", one.payload.get("tool_input")) for one in asked}

    text, plain = '{"command":"echo \'ä\'"}', {"command": "echo 'ä'"}
    assert given == {"preToolUse": text, "PreToolUse": plain, "postToolUse": text, "PostToolUse": plain}
