"""Single rules of hosts, each on a profile that differs from a known one only in this rule."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.replies import (
    CodeMeaning,
    CodeRule,
    EmptyAnswer,
    Halting,
    Merging,
    Precedence,
    ReasonChoice,
    Stream,
    VerdictPath,
)
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, LimitRules, MatcherRules
from pytest_hookharness.hosts.rules.turns import (
    AskEffect,
    AtCap,
    FlagUse,
    OptionRule,
    Resets,
    StepRules,
    StuckRules,
)
from pytest_hookharness.model.moves import Prompt, RunCommand, Stop, Subagent, ToolCall, ToolResult, Tools
from pytest_hookharness.model.processes import Cut, Exited, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Field, Hook, Rule, Ruling
from pytest_hookharness.model.trace import REFUSED_STOPS

KNOWN = Rule("made for a test", Basis.ASSUMED, "this test")
BLOCK = {"decision": "block", "reason": "not yet"}
ASK = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}
GO, DONE = Prompt(text="go"), Stop(text="done")


def change(profile, part, **values):
    """The profile with other values in one of its parts."""
    return replace(profile, **{part: replace(getattr(profile, part), **values)})


def of_event(profile, name, **values):
    """The profile with other values for one event."""
    rule = replace(profile.events[name], **values)
    return replace(profile, events={**profile.events, name: rule})


def always(answer):
    """The same answer for every hook."""
    return lambda *_: answer


def said(ended, answer, code=0):
    """A process that prints an answer."""
    return ended(code, json.dumps(answer))


def knowing(profile, *names):
    """The profile with facts about replies that only other hosts have."""
    rules = {**profile.replies.rules, **dict.fromkeys(names, KNOWN)}
    return change(profile, "replies", rules=rules)


@pytest.mark.parametrize(
    "rules, matcher, fits",
    [
        ({}, " run_shell ", False),
        ({"trims": True}, " run_shell ", True),
        ({}, "shell", True),
        ({"anchored": True}, "shell", False),
        ({"anchored": True}, "run.*", True),
        ({"plain": r"\w*", "separators": ""}, "run", False),
        ({"plain": r"\w*", "separators": "", "lists_only": False}, "run", True),
        ({"plain": ".*", "trims_names": True, "lists_only": False}, "run_shell | x", True),
        ({"plain": r"\w*", "aliases": {"run_shell": ("Bash",)}}, "Bash", True),
        ({"wrapper": "/"}, "/^run/", True),
        ({"literal_if_malformed": True}, "(", False),
        ({"everything": (".*",)}, "", True),
    ],
)
def test_matchers(profile, rules, matcher, fits):
    """A matcher is trimmed, split, unwrapped, anchored and compared with aliases as the rules say."""
    kind = replace(profile, matchers=MatcherRules(rule=KNOWN, **rules))
    hook = Hook(event="PreToolUse", command="x", matcher=matcher)

    assert bool(hosts.select(kind, (hook,), "PreToolUse", "run_shell")) is fits


def test_a_matcher_on_an_event_without_a_target(profile):
    """A hook with a matcher runs on an event without a target, or never, as the rule says."""
    hook = Hook(event="Stop", command="x", matcher="Bash")
    strict = change(profile, "matchers", untargeted=False)

    assert hosts.select(profile, (hook,), "Stop", "") == (hook,)
    assert hosts.select(strict, (hook,), "Stop", "") == ()


def test_a_target_that_is_compared_as_literal_text(profile):
    """A matcher of an exact event is neither a list nor a regular expression."""
    exact = of_event(profile, "SessionStart", exact=True)
    hooks = tuple(
        Hook(event="SessionStart", command=word, matcher=word) for word in ("startup", "start|startup")
    )

    assert hosts.select(exact, hooks, "SessionStart", "startup") == hooks[:1]
    assert hosts.select(profile, hooks, "SessionStart", "startup") == hooks


@pytest.mark.parametrize(
    "limits, written, seconds",
    [
        (LimitRules(), 5, 5.0),
        (LimitRules(unit=0.001), 30, 0.03),
        (LimitRules(milliseconds_from=1000), 999, 999.0),
        (LimitRules(milliseconds_from=1000), 1000, 1.0),
        (LimitRules(least=1.0), 0, 1.0),
        (LimitRules(unit=0.001), "30", 0.03),
    ],
)
def test_timeouts(profile, limits, written, seconds):
    """A timeout is a number in the host's unit, and an odd one may be accepted."""
    kind = change(profile, "config", limits=limits, default_effect=Effect.TAKES)
    handler = {"type": "command", "command": "x", "timeout": written}

    (hook,) = hosts.configure(kind, {}, inline={"Stop": handler}).hooks

    assert hook.timeout == pytest.approx(seconds)


@pytest.mark.parametrize(
    "effect, left, refused",
    [
        (Effect.VOIDS, [], False),
        (Effect.DROPS, ["good"], False),
        (Effect.DEFAULTS, ["bad", "good"], False),
        (Effect.FAILS, [], True),
    ],
)
def test_what_a_flaw_does(profile, effect, left, refused):
    """A flaw turns off its file, drops its entry, is replaced by the default timeout or fails the session."""
    kind = change(profile, "config", flaws={Flaw.LIMIT_TEXT: effect})
    handlers = [{"type": "command", "command": "bad", "timeout": "x"}, {"type": "command", "command": "good"}]

    configuration = hosts.configure(kind, {}, inline={"hooks": {"Stop": [{"hooks": handlers}]}})

    assert [hook.command for hook in configuration.hooks] == left
    assert bool(configuration.refused) is refused
    assert configuration.problems


def test_a_session_with_refused_settings_does_not_start(play, profile):
    """Settings that fail a session end it before any event."""
    rules = {**profile.config.rules, "refused": KNOWN}
    kind = change(profile, "config", flaws={Flaw.UNKNOWN_EVENT: Effect.FAILS}, rules=rules)

    played = play({"hooks": {"PreToolUze": [], "Stop": []}}, [GO, DONE], always(None), profile=kind)

    assert [ending.how for ending in played.endings] == ["halted"]
    assert "PreToolUze" in played.endings[0].why


def test_a_single_item_counts_as_a_list(profile):
    """On some hosts a single item counts as a list of one."""
    kind = change(profile, "config", flaws={Flaw.NOT_LIST: Effect.TAKES})
    text = json.dumps({"hooks": {"Stop": {"hooks": [{"type": "command", "command": "x"}]}}})

    assert [hook.command for hook in hosts.configure(kind, {"f": text}).hooks] == ["x"]
    assert hosts.configure(profile, {"f": text}).hooks == ()


@pytest.mark.parametrize(
    "alone, words, ruling",
    [
        (CodeMeaning.REFUSES, "", Ruling.DENY),
        (CodeMeaning.REFUSES_IF_WORDS, "", Ruling.NONE),
        (CodeMeaning.REFUSES_IF_WORDS, "no", Ruling.DENY),
        (CodeMeaning.FAILS, "no", Ruling.NONE),
        (CodeMeaning.NOTHING, "no", Ruling.NONE),
    ],
)
def test_exit_codes(profile, ended, alone, words, ruling):
    """An exit code means what the table says, for a host or for one event alone."""
    kind = of_event(knowing(profile, "wordless"), "Stop", codes=(CodeRule(meaning=alone),))
    hook = Hook(event="Stop", command="x")

    reply = hosts.read_reply(kind, hook, "Stop", ended(3, stderr=words))

    assert reply.ruling is ruling
    assert hosts.read_reply(profile, hook, "Stop", ended(3, stderr=words)).ruling is Ruling.NONE


def test_answers_on_standard_error(profile, ended):
    """An answer is read from the streams in the table, and standard output wins if it is not blank."""
    codes = (CodeRule(answer=(Stream.OUT, Stream.ERR)),)
    kind = of_event(profile, "Stop", codes=codes)
    hook, answer = Hook(event="Stop", command="x"), json.dumps(BLOCK)

    assert hosts.read_reply(kind, hook, "Stop", ended(0, "", answer)).ruling is Ruling.DENY
    assert hosts.read_reply(kind, hook, "Stop", ended(0, "log", answer)).ruling is Ruling.NONE
    assert hosts.read_reply(profile, hook, "Stop", ended(0, "", answer)).ruling is Ruling.NONE


@pytest.mark.parametrize(
    "answers, stdout, ruling",
    [
        ({}, '{"permission": "DENY"}', Ruling.DENY),
        ({}, '\ufeff{"permission": "deny"}', Ruling.DENY),
        ({"strips_mark": False}, '\ufeff{"permission": "deny"}', Ruling.NONE),
        ({}, '"{\\"permission\\": \\"deny\\"}"', Ruling.NONE),
        ({"nested_json": True}, '"{\\"permission\\": \\"deny\\"}"', Ruling.DENY),
        ({}, '{"permission": "deny", "a": NaN}', Ruling.NONE),
        ({"accepts_nan": True}, '{"permission": "deny", "a": NaN}', Ruling.DENY),
        ({"empty": EmptyAnswer.REFUSES}, "{}", Ruling.DENY),
        ({"ignores_non_objects": True, "empty": EmptyAnswer.REFUSES}, "42", Ruling.DENY),
        ({"halting": Halting.REFUSES}, '{"continue": false}', Ruling.DENY),
    ],
)
def test_answers(profile, ended, answers, stdout, ruling):
    """Answers are found and read by the host's key paths, values and form of JSON."""
    verdict = VerdictPath(path=("permission",), rulings={"deny": Ruling.DENY}, ignores_case=True)
    rules = replace(profile.replies.answers, starts="", check=None, verdicts=(verdict,), **answers)
    kind = change(knowing(profile, "empty", "halt"), "replies", answers=rules)
    kind = change(kind, "replies", rules={**profile.replies.rules, "empty": KNOWN})

    assert hosts.read_reply(kind, Hook(event="Stop", command="x"), "Stop", ended(0, stdout)).ruling is ruling


@pytest.mark.parametrize(
    "merging, rulings, refused",
    [
        (Merging(), (BLOCK, {"decision": "approve"}), True),
        (Merging(precedence=Precedence.LAST_SAID), (BLOCK, {"decision": "approve"}), False),
        (Merging(precedence=Precedence.LAST_SAID), (BLOCK, {}), True),
    ],
)
def test_which_ruling_wins(play, profile, merging, rulings, refused):
    """The strongest ruling wins, or the last one, as the rule says."""
    kind = of_event(profile, "Stop", merging=merging)

    played = play({"Stop": ["./a", "./b"]}, [GO, DONE], lambda _, i: rulings[i], profile=kind, most=6)

    assert played.decisions[0].refused is refused


@pytest.mark.parametrize(
    "words, expected",
    [
        (ReasonChoice.EACH, ["a", "b"]),
        (ReasonChoice.FIRST, ["a"]),
        (ReasonChoice.LAST, ["b"]),
        (ReasonChoice.JOINED, ["a\nb"]),
    ],
)
def test_which_reasons_the_agent_gets(play, profile, words, expected):
    """If there are several reasons, the agent gets each, one, or all in one text."""
    kind = of_event(profile, "Stop", merging=Merging(reasons=words))
    kind = change(kind, "wording", feedback="{reason}", blocked="")
    answers = [{"decision": "block", "reason": reason} for reason in "ab"]

    played = play({"Stop": ["./a", "./b"]}, [GO, DONE], lambda _, i: answers[i], profile=kind, most=6)

    assert list(played.decisions[0].to_agent) == expected


def test_hooks_that_run_one_by_one(play, profile):
    """Hooks run one after the other, and where the rule says so none runs after the first refusal."""
    kind = change(profile, "process", one_by_one=True)
    first = of_event(kind, "Stop", merging=Merging(precedence=Precedence.FIRST_REFUSAL))
    answers = {"./a": None, "./b": BLOCK, "./c": None}

    def play_as(host):
        played = play(
            {"Stop": list(answers)},
            [GO, DONE],
            lambda asked, i: answers[asked.hooks[i].command],
            profile=host,
            most=9,
        )
        return [hook.command for request in played.asked("Stop") for hook in request.hooks], played

    assert play_as(first)[0] == ["./a", "./b"]
    commands, played = play_as(kind)
    assert commands == ["./a", "./b", "./c"]
    assert played.decisions[0].refused


def test_one_sequential_group_is_enough(play, profile):
    """If one group is sequential, all hooks of the event run one after the other."""
    kind = change(profile, "config", sequential="sequential")
    handler = {"type": "command", "command": "x"}
    groups = [{"sequential": True, "hooks": [handler]}, {"hooks": [{**handler, "command": "y"}]}]

    played = play({"hooks": {"Stop": groups}}, [GO, DONE], always(None), profile=kind)

    assert [len(request.hooks) for request in played.asked("Stop")] == [1, 1]


@pytest.mark.parametrize(
    "cap, asked, how",
    [
        ({"cap": 3}, 4, "capped"),
        ({"cap": 3, "overrides_at_cap": True}, 3, "capped"),
        ({"cap": 0, "below_one": 2}, 3, "capped"),
        ({"cap": 99, "most": 2}, 3, "capped"),
        ({"cap": 1, "at_cap": AtCap.ASKS_NO_MORE}, 1, "capped"),
        ({"cap": 2, "at_cap": AtCap.ERRS, "status": "error"}, 3, "capped"),
    ],
)
def test_caps(play, profile, cap, asked, how):
    """The host overrides the refusal at the cap or the one after it, and a cap is kept within its bounds."""
    kind = change(profile, "cap", **cap)

    played = play({"Stop": "./x"}, [GO, *[DONE] * 9], always(BLOCK), profile=kind)

    assert len(played.asked("Stop")) == asked
    assert (played.endings[0].how, played.endings[0].status) == (how, cap.get("status", ""))


def test_a_cap_by_option(play, profile):
    """An option of the host sets the cap."""
    kind = change(profile, "cap", option="denials", overrides_at_cap=True)
    kind = replace(kind, options={"denials": OptionRule(default=5, rule=KNOWN)})
    acts = [GO, *[DONE] * 9]

    assert len(play({"Stop": "./x"}, acts, always(BLOCK), profile=kind).asked("Stop")) == 5
    few = play({"Stop": "./x"}, acts, always(BLOCK), profile=kind, options={"denials": 2})
    assert len(few.asked("Stop")) == 2


def test_a_cap_of_a_hook(play, profile):
    """A handler has a cap of its own, or none."""
    kind = change(profile, "cap", cap=3, per_hook="loop_limit")
    acts = [GO, *[DONE] * 6]

    for limit, asked in ((1, 2), (None, 6)):
        settings = {"Stop": {"command": "./x", "loop_limit": limit}}
        assert len(play(settings, acts, always(BLOCK), profile=kind).asked("Stop")) == asked


@pytest.mark.parametrize(
    "resets, asked", [(Resets.NOTHING, 2), (Resets.CALLS_DONE, 4), (Resets.CALLS_TRIED, 4)]
)
def test_what_resets_the_count(play, profile, resets, asked):
    """A call between refusals resets the count, or does not, as the rule says."""
    kind = change(profile, "cap", cap=1, resets=resets)
    acts = [GO, *[RunCommand(command="true"), DONE] * 4]

    assert len(play({"Stop": "./x"}, acts, always(BLOCK), profile=kind).asked("Stop")) == asked


@pytest.mark.parametrize(
    "use, flags",
    [
        (FlagUse.STAYS, [False, True, True]),
        (FlagUse.RESET_BY_CALLS, [False, True, False]),
        (FlagUse.ALWAYS, [True, True, True]),
        (FlagUse.NEVER, [False, False, False]),
    ],
)
def test_the_flag(play, profile, use, flags):
    """The flag of a stop is set when the rule says so."""
    kind = change(profile, "cap", flag=use)

    acts = [GO, DONE, DONE, RunCommand(command="true"), DONE]

    assert play({"Stop": "./x"}, acts, always(BLOCK), profile=kind).flags() == flags


@pytest.mark.parametrize(
    "given, flags",
    [
        ((False,), [False, False, False, False]),
        ((True,), [True, True, True, True]),
        ((False, True, False), [False, True, False, False]),
    ],
)
def test_a_flag_of_the_scenario(play, given, flags):
    """The flags that a scenario gives are used in turn instead of the host's."""
    acts = [GO, DONE, DONE, DONE, DONE]

    assert play({"Stop": "./x"}, acts, always(BLOCK), flags=given).flags() == flags


def test_the_position_in_the_flags_is_part_of_the_state(play):
    """Two stops at different positions of the scenario's flags leave different states."""
    seen = play({"Stop": "./x"}, [GO, DONE, DONE, DONE], always(BLOCK), flags=(False, True)).sessions
    places = [session.visible["position in flags"] for session in seen]

    assert {0, 1} == set(places)


def test_a_limit_of_moves(play, profile):
    """A run ends at its last move, and if that is a stop, no stop hooks run."""
    kind = replace(profile, steps=StepRules(most=3, option="moves", status="finished", rule=KNOWN))
    kind = replace(kind, options={"moves": OptionRule(default=3, rule=KNOWN)})

    played = play({"Stop": "./x"}, [GO, *[DONE] * 9], always(BLOCK), profile=kind)
    calls = play({"Stop": "./x"}, [GO, *[RunCommand(command="true")] * 9], always(BLOCK), profile=kind)

    assert len(played.asked("Stop")) == 2
    assert (played.endings[0].how, played.endings[0].status) == ("capped", "finished")
    assert len(calls.performed) == 3
    assert len(play({}, [GO, *[DONE] * 9], always(None), profile=kind, options={"moves": 1}).asked()) == 0


def test_the_detection_of_repetitions(play, profile):
    """A host that detects repetitions of its agent ends the run, unless the detection is turned off."""

    def look(recent):
        return "the same call four times" if len(recent) == 4 and len(set(recent)) == 1 else ""

    kind = replace(profile, stuck=StuckRules(detect=look, remembered=4, option="watch", rule=KNOWN))
    kind = replace(kind, options={"watch": OptionRule(default=True, rule=KNOWN)})
    acts = [GO, *[RunCommand(command="true")] * 6, DONE]

    assert len(play({}, acts, always(None), profile=kind).performed) == 4
    assert len(play({}, acts, always(None), profile=kind, options={"watch": False}).performed) == 6


def test_a_refused_prompt_that_goes_to_the_stop(play, profile):
    """A refused prompt leads to the stop, and a refusal of the stop sends the prompt."""
    kind = change(profile, "turns", refused_prompt_stops=True)
    hooks = {"UserPromptSubmit": "./p", "Stop": "./s"}
    refusals = iter([BLOCK, BLOCK, None])

    sent = play(hooks, [GO, DONE], lambda *_: next(refusals), profile=kind)
    kept = play(
        hooks, [GO, DONE], lambda asked, _: BLOCK if asked.event == "UserPromptSubmit" else None, profile=kind
    )

    assert "go" in sent.seen()
    assert kept.seen() == []
    assert kept.endings[0].how == "halted"


def test_a_refused_prompt_stays_in_the_conversation(play, profile):
    """On such a host the next accepted prompt is sent together with the refused one."""
    kind = change(profile, "turns", refused_prompt_stops=True)
    refusals = iter([BLOCK, None])

    played = play(
        {"UserPromptSubmit": "./p"}, [GO, Prompt(text="again"), DONE], lambda *_: next(refusals), profile=kind
    )

    assert played.seen()[:2] == ["go", "again"]


def test_prompt_hooks_without_a_prompt(play, profile):
    """Prompt hooks run for the reason of a refused stop and after calls, where the host does so."""
    kind = change(profile, "turns", refusal_prompts=True, asks_after_calls=True)
    refusals = iter([BLOCK, None])

    def answer(asked, _):
        return next(refusals) if asked.event == "Stop" else None

    played = play(
        {"UserPromptSubmit": "./p", "Stop": "./s"},
        [GO, RunCommand(command="true"), DONE, DONE],
        answer,
        profile=kind,
    )

    assert [asked.payload["prompt"] for asked in played.asked("UserPromptSubmit")] == ["go", "", "not yet"]


def test_hooks_for_all_calls_run_first(play, profile):
    """A host can run the hooks for all calls of a move first, and those for all results last."""
    calls = tuple(ToolCall(name="Bash", input={"command": word}) for word in "ab")
    settings = {"PreToolUse": "./x", "PostToolUse": "./x"}

    events, apart = (
        play(settings, [GO, Tools(calls=calls), DONE], always(None), profile=kind).events
        for kind in (change(profile, "turns", together=together) for together in (True, False))
    )

    assert events == ["PreToolUse", "PreToolUse", "PostToolUse", "PostToolUse"]
    assert apart == ["PreToolUse", "PostToolUse"] * 2


def test_a_tool_that_stops(play, profile):
    """A call of a finishing tool is a stop after it is made, and after a refusal the agent continues."""
    kind = change(profile, "turns", finishing={"finish": "message"})
    kind = change(
        kind, "tools", internal=lambda made: ToolResult(text="ok") if made.name == "finish" else None
    )
    finish = Tools(calls=(ToolCall(name="finish", input={"message": "bye"}),))
    refusals = iter([BLOCK, None])

    played = play({"Stop": "./s"}, [GO, finish, finish], lambda *_: next(refusals), profile=kind)

    assert [asked.payload["last_assistant_message"] for asked in played.asked("Stop")] == ["bye", "bye"]
    assert [ending.how for ending in played.endings][:1] == ["stopped"]


@pytest.mark.parametrize(
    "asking, how, made", [(AskEffect.CALL_MADE, "stopped", 1), (AskEffect.WAITS, "waiting", 0)]
)
def test_what_ask_does(play, profile, asking, how, made):
    """A call with the ruling ask is made, or the host waits forever, as the rule says."""
    kind = change(profile, "turns", ask_effect=asking)

    played = play({"PreToolUse": "./x"}, [GO, RunCommand(command="true"), DONE], always(ASK), profile=kind)

    assert played.endings[0].how == how
    assert len([call for call in played.performed if not call.refused]) == made


def test_a_turn_that_ends_at_once(play, profile):
    """If a hook halts the turn, the call is not made, where the host ends the turn at once."""
    answers = replace(profile.replies.answers, halting=Halting.AT_ONCE)
    kind = change(profile, "replies", answers=answers)

    played = play(
        {"PreToolUse": "./x"}, [GO, RunCommand(command="true")], always({"continue": False}), profile=kind
    )

    assert [call.refused for call in played.performed] == [True]
    assert played.endings[0].how == "halted"


def test_a_session_that_starts_with_its_first_prompt(play, profile):
    """Session start occurs with the first prompt, and without a prompt there is no session end either."""
    kind = change(profile, "turns", starts_with_prompt=True)
    settings = {"SessionStart": "./x", "SessionEnd": "./x", "UserPromptSubmit": "./x"}

    assert play(settings, [], always(None), profile=kind).events == []
    begun = ["SessionStart", "UserPromptSubmit", "SessionEnd"]
    assert play(settings, [GO, DONE], always(None), profile=kind).events == begun


def test_several_events_for_one_role(play, profile):
    """Events with one role occur in order, except those for other tools, and one refusal is enough."""
    first = profile.events["PreToolUse"]
    more = {
        name: replace(first, fields=replace(first.fields, event=name), tools=tools)
        for name, tools in (("beforeShell", ("Bash",)), ("beforeRead", ("Read",)))
    }
    kind = replace(profile, events={**profile.events, **more})
    settings = {"PreToolUse": "./x", "beforeShell": "./x", "beforeRead": "./x"}

    acts = [GO, RunCommand(command="true"), DONE]

    assert play(settings, acts, always(None), profile=kind).events == ["PreToolUse", "beforeShell"]
    assert play(settings, acts, always(BLOCK), profile=kind).events == ["PreToolUse"]


def test_events_around_each_response(play, profile):
    """Events occur before each request and after each response of the model, where the host has them."""
    around = {}
    for name, role in (("BeforeModel", hosts.Role.BEFORE_MODEL), ("AfterModel", hosts.Role.AFTER_MODEL)):
        rule = profile.events["SessionEnd"]
        words = (Field(name="spoken"), Field(name="messages", kind="list"))
        around[name] = replace(
            rule, fields=replace(rule.fields, event=name, fields=words), role=role, target=""
        )
    turns = {"before_request": (hosts.Role.BEFORE_MODEL,), "after_request": (hosts.Role.AFTER_MODEL,)}
    kind = change(replace(profile, events={**profile.events, **around}), "turns", **turns)
    settings = dict.fromkeys(("BeforeModel", "AfterModel", "PreToolUse", "Stop"), "./x")

    played = play(settings, [GO, RunCommand(command="true"), DONE], always(None), profile=kind)

    model = ["BeforeModel", "AfterModel"]
    assert played.events == [*model, "PreToolUse", *model, "Stop"]
    assert played.asked("AfterModel")[1].payload["spoken"] == "done"


def test_input_that_is_merged(play, profile):
    """Changed input is merged into the input of the call, and the agent reads so where the host does that."""
    answers = replace(profile.replies.answers, input_merges=True)
    kind = change(change(profile, "replies", answers=answers), "wording", modified="\n[changed: {changed}]")
    own = {"hookEventName": "PreToolUse", "updatedInput": {"command": "false"}}

    played = play(
        {"PreToolUse": "./x"},
        [GO, RunCommand(command="true"), DONE],
        always({"hookSpecificOutput": own}),
        profile=kind,
    )

    assert played.performed[0].call.input == {"command": "false", "description": "Runs a command"}
    assert played.seen()[-1].endswith("[changed: command]")


def test_a_reason_that_replaces_a_result(play, profile):
    """After a tool the reason of a refusal replaces the result."""
    kind = of_event(profile, "PostToolUse", power=hosts.Power.REPLACES)

    played = play({"PostToolUse": "./x"}, [GO, RunCommand(command="true"), DONE], always(BLOCK), profile=kind)

    assert played.seen()[-1] == "not yet"


def test_the_prompt_of_a_subagent(play):
    """Prompt hooks run for the prompt of a subagent, where the host does so."""
    settings = {"UserPromptSubmit": "./x", "SubagentStart": "./x"}

    played = play(settings, [GO, Subagent(prompt="look"), DONE], always(None), profile=hosts.find("codex"))

    assert played.events == ["UserPromptSubmit", "SubagentStart", "UserPromptSubmit"]
    assert played.asked("UserPromptSubmit")[1].payload["prompt"] == "look"


def test_fields_of_standard_input(play, profile):
    """A key has a fixed value, null, or the value of another key, and a host can have values of its own."""
    fields = replace(
        profile.events["Stop"].fields,
        fields=(
            Field(name="metadata", kind="object", fixed=({"reason": "agent_finished"},)),
            Field(name="tool_name", null=True),
            Field(name="loop_count", kind="count", source="stops_refused"),
            Field(name="shout"),
        ),
    )
    kind = of_event(profile, "Stop", fields=fields)
    kind = replace(kind, own_values=lambda words: {"shout": str(words.get("submitted_prompt", "")).upper()})

    played = play({"Stop": "./x"}, [GO, DONE, DONE], always(BLOCK), profile=kind, most=9)

    first, second = (asked.payload for asked in played.asked("Stop")[:2])
    assert first == {
        "metadata": {"reason": "agent_finished"},
        "tool_name": None,
        "loop_count": 0,
        "shout": "GO",
    }
    assert second["loop_count"] == 1
    assert REFUSED_STOPS in played.sessions[-1].visible
    assert list(hosts.payload_for(kind, "Stop", played.sessions[0].facts)) == list(first)


def test_a_result_that_was_lost(profile):
    """The report of a hook whose output stayed open until the timeout says that the hook had ended."""
    run = ProcessResult(ending=TimedOut(1.0, by=Cut.LIMIT, ended=Exited(2)))

    reply = hosts.read_reply(profile, Hook(event="Stop", command="x"), "Stop", run)

    assert reply.ruling is Ruling.NONE
    assert "its output stayed open" in (reply.fault or "")
