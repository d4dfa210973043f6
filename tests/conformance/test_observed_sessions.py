"""Sessions of the real hosts that the simulation once played differently, named by what the host does."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import (
    Edit,
    Performance,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.regex import SlowPattern

from ..hosts.conftest import ended, play

GO = Prompt(text="go")
BLOCK = {"decision": "block", "reason": "not yet"}
END = {"continue": False, "stopReason": "X"}
STOPPING = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./x"}]}]}})


def answering(**answers):
    """Return a function that answers for the hooks of some events, and gives no answer for the others."""
    return lambda request, _: answers.get(request.event)


def shell_calls(profile, *commands):
    """Return one message of the model with several calls of the shell."""
    calls = [profile.tools.call(RunCommand(command=command), "/project") for command in commands]
    return Tools(calls=tuple(calls))


def fires(profile, event, matcher, target):
    """Return whether a hook with a matcher runs on an event."""
    hooks = hosts.configure(profile, {}, inline={event: {"matcher": matcher, "command": "x"}}).hooks
    return bool(hosts.select(profile, hooks, event, target))


def explained(host, event, case):
    """Return what an explanation says about one end of a hook."""
    (meanings,) = hosts.explain(hosts.find(host), event)
    return next(meaning for meaning in meanings.meanings if meaning.case == case)


def test_claude_counts_refusals_of_a_stop_anew_after_a_refused_call():
    """Of 14 stops with refused calls between and 9 in a row, all refused, only the last is overridden."""
    acts = [GO, *[Stop(), RunCommand(command="true")] * 14, *[Stop()] * 12]

    played = play({"PreToolUse": "./a", "Stop": "./b"}, acts, answering(PreToolUse=BLOCK, Stop=BLOCK))

    stops = [decision for decision in played.decisions if decision.event == "Stop"]
    assert [decision.overridden for decision in stops] == [False] * 22 + [True]
    assert len(played.observations) == 37


def test_codex_ends_before_the_prompt_if_a_hook_of_its_start_says_so():
    """After continue: false on SessionStart, no prompt hook runs, no move is made and SessionEnd occurs."""
    settings = dict.fromkeys(("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"), "./x")

    played = play(settings, [GO, Stop()], answering(SessionStart=END), profile=hosts.find("codex"))

    assert played.events == ["SessionStart", "SessionEnd"]
    assert played.observations == []
    assert [ending.how for ending in played.endings] == ["halted"]
    assert explained("codex", "SessionStart", "continue false").action == "the session ends"


@pytest.mark.parametrize("host", ["codex", "qwen-code"])
def test_a_stop_reason_after_a_call_replaces_its_result(host):
    """After continue: false on PostToolUse, the model gets the reason as the result, and the turn goes on."""
    profile = hosts.find(host)
    acts = [GO, shell_calls(profile, "true"), Stop()]

    played = play({"PostToolUse": "./x", "Stop": "./y"}, acts, answering(PostToolUse=END), profile=profile)

    assert [message.text for message in played.observations[1]] == ["X"]
    assert played.asked("Stop")
    explanation = explained(host, "PostToolUse", "continue false")
    assert explanation.action == "the agent gets the text instead of the result"
    assert explanation.rule.text.startswith("continue: false on PostToolUse ends nothing")


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "SubagentStart", "CwdChanged"])
def test_an_end_that_no_turn_can_take_is_explained_as_nothing(event):
    """Where nothing runs that continue: false could end, the explanation says that the host continues."""
    assert explained("claude-code", event, "continue false").action == "the host continues"


ROLES = (
    hosts.Role.SESSION_START,
    hosts.Role.PROMPT,
    hosts.Role.BEFORE_TOOL,
    hosts.Role.AFTER_TOOL,
    hosts.Role.STOP,
)
HALTED = [
    (host, event.name)
    for host in ("claude-code", "codex", "gemini-cli", "qwen-code")
    for role in ROLES
    for event in hosts.find(host).for_role(role)
]


@pytest.mark.parametrize("host, event", HALTED)
def test_a_session_ends_where_the_explanation_says_so(host, event):
    """The simulation ends a turn after continue: false exactly where the explanation says that it ends."""
    profile = hosts.find(host)
    acts = [GO, shell_calls(profile, "true"), Stop(), *[Stop()] * 20]
    action = explained(host, event, "continue false").action

    played = play({event: "./x"}, acts, answering(**{event: END}), profile=profile)

    ends = action.startswith(("the turn ends", "the session ends", "the prompt does not reach"))
    assert (played.endings[0].how == "halted") is ends, action


@pytest.mark.parametrize("host, runs", [("claude-code", ["GOOD"]), ("codex", [])])
def test_claude_leaves_out_an_entry_without_a_command_and_codex_the_whole_file(host, runs):
    """An entry of the type command without a command costs itself on Claude, and the file on Codex."""
    good = {"hooks": [{"type": "command", "command": "GOOD"}]}
    groups = {"Stop": [{"hooks": [{"type": "command"}]}], "PreToolUse": [good]}
    profile = hosts.find(host)

    configuration = hosts.configure(profile, {profile.config.paths[0]: json.dumps({"hooks": groups})})

    assert [hook.command for hook in configuration.hooks] == runs
    assert len(configuration.problems) == 1


@pytest.mark.parametrize(
    "host, event, matcher, target, runs",
    [
        ("claude-code", "PreToolUse", "(?i)BASH", "Bash", False),
        ("gemini-cli", "BeforeTool", "(?i)RUN", "run_shell_command", False),
        ("qwen-code", "PreToolUse", "(?i)RUN", "run_shell_command", False),
        ("codex", "PreToolUse", "(?i)BASH", "Bash", True),
        ("claude-code", "PreToolUse", "^(?!Bash).*$", "Write", True),
        ("codex", "PreToolUse", "^(?!Bash).*$", "apply_patch", False),
        ("codex", "PreToolUse", r"(?<name>B)ash\z", "Bash", True),
        ("codex", "PreToolUse", r"(B)\1ash|Bash.?", "Bash", False),
        ("codex", "PreToolUse", r"[(?=]|\(?=|Bash.", "Bash1", True),
        ("claude-code", "PreToolUse", r"(?<first>B)ash", "Bash", True),
        ("claude-code", "PreToolUse", r"^[^]+sh$", "Bash", True),
    ],
)
def test_a_matcher_is_an_expression_in_the_hosts_own_language(host, event, matcher, target, runs):
    """What a host's own kind of regular expressions does not know matches nothing there."""
    assert fires(hosts.find(host), event, matcher, target) is runs


@pytest.mark.slow
def test_a_matcher_that_takes_for_ever_is_a_fault_of_the_scenario():
    """A matcher that could be tried in too many ways is cut, also on a host in JavaScript."""
    with pytest.raises(SlowPattern, match="takes too long"):
        fires(hosts.find("claude-code"), "PreToolUse", "(a|aa)+$", "a" * 500 + "b")


@pytest.mark.parametrize("matcher", ["run_shell_command|", "|run_shell_command"])
def test_qwen_drops_the_empty_name_of_a_list(matcher):
    """A list with an empty name fits its other names and no other tool."""
    profile = hosts.find("qwen-code")

    assert fires(profile, "PreToolUse", matcher, "run_shell_command")
    assert not fires(profile, "PreToolUse", matcher, "write_file")


def test_qwen_takes_a_command_with_an_exit_code_for_a_failed_call():
    """A shell command that ends with 3 leads to PostToolUseFailure, and to status error in the batch."""
    profile = hosts.find("qwen-code")
    settings = dict.fromkeys(("PostToolUse", "PostToolUseFailure", "PostToolBatch"), "./x")

    played = play(
        settings,
        [GO, shell_calls(profile, "exit 3"), Stop()],
        lambda *_: None,
        profile=profile,
        perform=lambda _: Performance(exit=3, stderr="broken\n"),
    )

    assert played.events == ["PostToolUseFailure", "PostToolBatch"]
    failure, batch = (request.payload for request in played.asked())
    assert failure["error"].splitlines()[2:5] == ["Output: broken", "Error: (none)", "Exit Code: 3"]
    assert batch["tool_calls"][0]["status"] == "error"


@pytest.mark.parametrize(
    "host, before, after",
    [("codex", "PreToolUse", "PostToolUse"), ("gemini-cli", "BeforeTool", "AfterTool")],
)
def test_all_hooks_before_the_calls_of_a_message_run_first(host, before, after):
    """Of two calls in one message, both are asked about before the first one is made."""
    profile = hosts.find(host)

    played = play(
        {before: "./a", after: "./b"},
        [GO, shell_calls(profile, "one", "two"), Stop()],
        lambda *_: ended(),
        profile=profile,
    )

    assert played.events == [before, before, after, after]
    last = played.decisions[-1]
    assert any("one after the other" in rule.text for rule in last.rests_on)


@pytest.mark.parametrize("denied", [False, True])
def test_qwen_ends_the_turn_at_the_fifth_equal_call(denied):
    """Of the same call without end, four are made or refused, and the turn ends at the fifth request."""
    profile = hosts.find("qwen-code")
    acts = [GO, *[shell_calls(profile, "cat missing.txt")] * 9]
    answers = answering(PreToolUse=BLOCK if denied else None)

    played = play({"PreToolUse": "./x", "Stop": "./y"}, acts, answers, profile=profile)

    assert len(played.observations) == 5
    assert len(played.performed) == len(played.asked("PreToolUse")) == 4
    assert not played.asked("Stop")
    assert played.endings[0].how == "capped"
    assert played.endings[0].status == "loop detected"


def test_qwen_counts_equal_calls_anew_after_a_stop():
    """The same call between refused stops ends nothing before the cap does."""
    profile = hosts.find("qwen-code")
    acts = [GO, *[shell_calls(profile, "true"), Stop()] * 9]

    played = play({"Stop": "./y"}, acts, answering(Stop=BLOCK), profile=profile)

    assert len(played.asked("Stop")) == 8
    assert played.endings[0].status == ""


def test_another_call_between_equal_ones_is_no_repetition():
    """Four equal calls, another one and four equal calls again end no turn on Qwen."""
    profile = hosts.find("qwen-code")
    same, other = ToolCall(name="think", input={"n": 1}), ToolCall(name="think", input={"n": 2})
    acts = [GO, *(Tools(calls=(call,)) for call in (*[same] * 4, other, *[same] * 4)), Stop()]

    played = play({}, acts, lambda *_: None, profile=profile)

    assert len(played.performed) == 9


LOOK = Subagent(prompt="look", texts=("First.", "Second.", "Third."))
AROUND = dict.fromkeys(("UserPromptSubmit", "SubagentStop", "Stop"), "./x")


def test_claude_goes_on_while_a_subagent_works():
    """A stop of the agent comes before that of its subagent, whose end is a prompt with a turn of its own."""
    refusals = iter([BLOCK, BLOCK, None])

    def answer(request, _):
        return next(refusals) if request.event == "SubagentStop" else None

    played = play(AROUND, [GO, LOOK, Stop(text="Started."), Stop(text="Done.")], answer)

    prompts = ["UserPromptSubmit", "Stop", *["SubagentStop"] * 3, "UserPromptSubmit", "Stop"]
    assert played.events == prompts
    (first, last), (_, notice) = (
        [request.payload for request in played.asked(event)] for event in ("Stop", "UserPromptSubmit")
    )
    assert [task["status"] for task in first["background_tasks"]] == ["running"]
    assert last["background_tasks"] == []
    assert notice["prompt"].startswith("<task-notification>")
    assert "<result>Third.</result>" in notice["prompt"]
    assert played.observations[1][0].text.startswith("Async agent launched successfully.")
    assert played.observations[2][0].text == notice["prompt"]
    assert [ending.how for ending in played.endings] == ["stopped", "stopped"]
    assert any("may end sooner or later" in rule.text for rule in played.decisions[1].rests_on)


def test_claude_tells_a_running_turn_of_the_end_of_a_subagent():
    """If the agent's stop is refused, it reads of the end of its subagent without another prompt."""
    stops = iter([BLOCK, None])

    def answer(request, _):
        return next(stops) if request.event == "Stop" else None

    played = play(AROUND, [GO, LOOK, LOOK, Stop(), Stop()], answer)

    assert played.events == ["UserPromptSubmit", "Stop", "SubagentStop", "SubagentStop", "Stop"]
    notices = [message for message in played.observations[3] if "<task-notification>" in message.text]
    assert [message.kind for message in notices] == ["context", "context"]
    assert len({message.text for message in notices}) == 2


def test_each_subagent_of_claude_ends_with_a_turn_of_its_own():
    """Of two subagents that work while their agent stops, each leads to one more turn."""
    played = play(AROUND, [GO, LOOK, LOOK, *[Stop()] * 3], lambda *_: None)

    around = ["UserPromptSubmit", "Stop", "SubagentStop"]
    assert played.events == [*around, *around, "UserPromptSubmit", "Stop"]
    running = [len(request.payload["background_tasks"]) for request in played.asked("Stop")]
    assert running == [2, 1, 0]


def test_the_prompt_of_a_subagent_of_codex_comes_after_its_start():
    """SubagentStart occurs before UserPromptSubmit for the subagent, also beside another call."""
    profile = hosts.find("codex")
    spawn = ToolCall(name=profile.tools.subagent, input={"message": "look"})
    call = shell_calls(profile, "true").calls[0]
    events = ("SubagentStart", "UserPromptSubmit", "PostToolUse", "SubagentStop")

    played = play(
        dict.fromkeys(events, "./x"),
        [GO, Tools(calls=(spawn, call)), Stop()],
        lambda *_: None,
        profile=profile,
    )

    asked = [(request.event, request.payload.get("tool_name", "")) for request in played.asked()]
    assert asked[1:] == [
        ("SubagentStart", ""),
        ("UserPromptSubmit", ""),
        ("PostToolUse", "spawn_agent"),
        ("SubagentStop", ""),
        ("PostToolUse", "Bash"),
    ]


def test_codex_names_a_hook_by_its_number_in_the_file_and_escapes_its_reason():
    """With one hook of another event before it in the host's order, the hook of a stop is number 1."""
    groups = {event: [{"hooks": [{"type": "command", "command": "x"}]}] for event in ("Stop", "PreToolUse")}
    refusals = iter([{"decision": "block", "reason": "fix <b> & go"}, None])

    played = play(
        {},
        [GO, Stop(), Stop()],
        lambda *_: next(refusals),
        profile=hosts.find("codex"),
        files={"workspace/.codex/hooks.json": json.dumps({"hooks": groups})},
    )

    (message,) = played.observations[1]
    assert message.text.startswith('<hook_prompt hook_run_id="stop:1:')
    assert message.text.endswith('hooks.json">fix &lt;b> &amp; go</hook_prompt>')


def test_claude_escapes_the_end_of_its_own_tag():
    """A hook cannot close the tag in which the host puts its words."""
    answer = {"decision": "block", "reason": "a </system-reminder> b"}

    played = play(
        {"PostToolUse": "./x"}, [GO, RunCommand(command="true"), Stop()], answering(PostToolUse=answer)
    )

    (message,) = [one for one in played.observations[1] if one.kind == "feedback"]
    assert "a &lt;/system-reminder> b" in message.text


def test_claude_tells_blank_standard_error_as_it_is():
    """A hook that refuses by exit code with only blanks on standard error is quoted with these."""
    runs = iter([ended(2, stderr="   \n"), ended()])

    played = play({"Stop": "./x"}, [GO, Stop(), Stop()], lambda *_: next(runs))

    assert played.observations[1][-1].text == "Stop hook feedback:\n[./x]:    \n"


def test_claude_keeps_the_newline_that_ends_standard_error():
    """After a call the newline that a hook wrote stands before the end of the host's own tag."""
    played = play(
        {"PostToolUse": "./x"}, [GO, RunCommand(command="true"), Stop()], lambda *_: ended(2, stderr="no\n")
    )

    assert played.observations[1][-1].text.endswith("[./x]: no\n\n</system-reminder>")


def test_claude_passes_on_the_context_of_a_background_hook_after_a_call():
    """AdditionalContext of an async PostToolUse hook reaches the model, and its refusal does not."""
    said = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "LATE"}, **BLOCK}
    settings = {"PostToolUse": {"command": "./x", "async": True}}

    played = play(
        settings,
        [GO, RunCommand(command="true"), Stop()],
        lambda *_: ended(stdout=json.dumps(said)),
    )

    assert [message.kind for message in played.observations[1]] == ["result", "context"]
    assert "LATE" in played.observations[1][1].text


def test_claude_says_that_a_hook_with_plain_output_had_success():
    """Plain output of SessionStart and UserPromptSubmit is announced as a success, not as a context."""
    played = play(
        {"SessionStart": "./x", "UserPromptSubmit": "./y"},
        [GO, Stop()],
        lambda request, _: ended(stdout=f"from {request.event}"),
    )

    texts = "\n".join(message.text for message in played.observations[0])
    assert "SessionStart:startup hook success: from SessionStart" in texts
    assert "UserPromptSubmit hook success: from UserPromptSubmit" in texts


def test_gemini_gives_the_model_the_bare_reason_in_place_of_a_result():
    """After a refusal on AfterTool, the result is the reason alone."""
    profile = hosts.find("gemini-cli")

    played = play(
        {"AfterTool": "./x"},
        [GO, shell_calls(profile, "true"), Stop()],
        answering(AfterTool=BLOCK),
        profile=profile,
    )

    assert [message.text for message in played.observations[1]] == ["not yet"]


def test_claude_lists_refused_calls_after_all_calls():
    """PostToolBatch has the call that a hook refused, with the refusal as its response."""
    settings = {"PreToolUse": {"matcher": "Bash", "command": "./x"}, "PostToolBatch": "./y"}
    calls = (
        ToolCall(name="Bash", input={"command": "true"}),
        ToolCall(name="Read", input={"file_path": "/project/a"}),
    )

    played = play(
        settings,
        [GO, Tools(calls=calls), Stop()],
        answering(PreToolUse=BLOCK),
        perform=lambda _: Performance(content="hello\n"),
    )

    (asked,) = played.asked("PostToolBatch")
    assert [(call["tool_name"], call["tool_response"]) for call in asked.payload["tool_calls"]] == [
        ("Bash", "PreToolUse:Bash hook error: not yet"),
        ("Read", "1\thello\n2\t"),
    ]


def test_claude_joins_the_streams_of_a_command():
    """Hooks after a command get its standard error within its standard output."""
    played = play(
        {"PostToolUse": "./x"},
        [GO, RunCommand(command="true"), Stop()],
        lambda *_: None,
        perform=lambda _: Performance(exit=0, stdout="out\n", stderr="err\n"),
    )

    response = played.asked("PostToolUse")[0].payload["tool_response"]
    assert (response["stdout"], response["stderr"]) == ("out\nerr", "")


def test_claude_counts_the_line_after_the_last_newline():
    """A file of one line with a newline has two lines for hooks."""
    played = play(
        {"PostToolUse": "./x"},
        [GO, Read(file="a"), Stop()],
        lambda *_: None,
        perform=lambda _: Performance(content="hello\n"),
    )

    assert played.asked("PostToolUse")[0].payload["tool_response"]["file"]["numLines"] == 2


def test_claude_tells_a_resumed_session_about_its_cache():
    """SessionStart has four more keys on a resume, and only then."""
    played = play({"SessionStart": "./x"}, [GO, Stop(), Resume(), GO, Stop()], lambda *_: None)

    first, second = (set(request.payload) for request in played.asked("SessionStart"))
    assert second - first - {"prompt_id"} == {
        "context_tokens",
        "estimated_cache_write_usd",
        "prompt_cache_likely_expired",
        "seconds_since_last_response",
    }


@pytest.mark.parametrize(
    "command, asked",
    [("touch new.txt", 0), ("touch a && ./deploy", 1), ("touch $(id)", 1), ("make", 1)],
)
def test_claude_asks_for_no_permission_to_edit_where_edits_are_accepted(command, asked):
    """In the mode acceptEdits, edits and touch run without PermissionRequest, and hooks get that mode."""
    acts = [GO, Edit(file="a", text="b"), RunCommand(command=command), Stop()]
    settings = {"PermissionRequest": "./x", "Stop": "./y"}

    played = play(settings, acts, lambda *_: None, options={"permission_mode": "acceptEdits"})

    assert len(played.asked("PermissionRequest")) == asked
    assert played.asked("Stop")[0].payload["permission_mode"] == "acceptEdits"


@pytest.mark.parametrize(
    "host, name, value",
    [
        ("claude-code", "AI_AGENT", "claude-code_2-1-329_harness"),
        ("claude-code", "CLAUDE_CODE_SESSION_ATTENDED", "0"),
        ("claude-code", "COREPACK_ENABLE_AUTO_PIN", "0"),
        ("qwen-code", "QWEN_CODE_PROJECT_DIR", "/home/dev/.qwen/projects/-project"),
    ],
)
def test_hooks_get_the_observed_variables(host, name, value):
    """Variables that a host was seen to add have the seen values."""
    profile = hosts.find(host)
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp/x")
    payload = hosts.payload_for(profile, "Stop", facts)

    spec = hosts.launch(profile, Hook(event="Stop", command="x"), payload, facts, {}, 60.0)

    assert spec.env[name] == value


@pytest.mark.parametrize(
    "command, code, event",
    [
        ("grep -q a 'b|c'", 1, "PostToolUse"),
        ("ls; test a = b", 1, "PostToolUse"),
        ("test a = b || false", 1, "PostToolUseFailure"),
        ("grep -q a missing", 2, "PostToolUseFailure"),
        ("false", 1, "PostToolUseFailure"),
    ],
)
def test_claude_takes_exit_code_1_of_a_search_or_test_for_no_failure(command, code, event):
    """Exit code 1 of grep, test and the like at the end of a command is a result; any other is a failure."""
    settings = {"PostToolUse": "./x", "PostToolUseFailure": "./y"}

    acts = [GO, RunCommand(command=command), Stop()]

    played = play(settings, acts, lambda *_: None, perform=lambda _: Performance(exit=code))

    assert played.events == [event]


@pytest.mark.parametrize(
    "host, event, told",
    [
        (
            "claude-code",
            "PreToolUse",
            "<system-reminder>\nPreToolUse:Bash hook additional context: two\none\n</system-reminder>",
        ),
        ("gemini-cli", "AfterTool", "<hook_context>one\ntwo</hook_context>"),
    ],
)
def test_texts_of_several_hooks_of_one_call_are_joined(host, event, told):
    """The model gets the texts of all hooks of such an event as one."""
    profile, hook = hosts.find(host), Hook(event=event, command="x")
    own = {"hookEventName": event}
    replies = [
        hosts.read_reply(
            profile,
            hook,
            event,
            ended(stdout=json.dumps({"hookSpecificOutput": {**own, "additionalContext": text}})),
        )
        for text in ("one", "two")
    ]

    decision = hosts.aggregate(profile, event, tuple(replies), (1, 0), target="Bash")

    assert decision.to_agent == (told,)


@pytest.mark.parametrize("event", ["PermissionRequest", "PostToolUseFailure"])
def test_claude_ignores_an_end_that_hooks_of_some_events_ask_for(event):
    """Hooks of PermissionRequest and PostToolUseFailure cannot end the turn with continue: false."""
    assert explained("claude-code", event, "continue false").action == "the host continues"


@pytest.mark.parametrize(
    "event, shown", [("UserPromptSubmit", True), ("SessionStart", True), ("PreToolUse", False)]
)
def test_claude_shows_broken_json_where_it_shows_plain_output(event, shown):
    """Output that begins like an answer and is none reaches the model where plain output does."""
    told = "".join(explained("claude-code", event, "broken JSON").to_agent)

    assert ('hook success: {"decision": "block"' in told) == shown


def test_codex_separates_several_reasons_after_a_call_by_an_empty_line():
    """The model gets the reasons of two refusals of a result with an empty line between them."""
    profile = hosts.find("codex")
    hook = Hook(event="PostToolUse", command="x")
    replies = [
        hosts.read_reply(profile, hook, "PostToolUse", ended(2, stderr=text)) for text in ("one", "two")
    ]

    decision = hosts.aggregate(profile, "PostToolUse", tuple(replies), (0, 1), target="Bash")

    assert decision.updated_output == "one\n\ntwo"


def test_codex_cuts_a_long_reason_once():
    """Of a long reason of a refused stop the model gets one notice of what was cut."""
    profile = hosts.find("codex")
    long = json.dumps({"decision": "block", "reason": "x" * 60_000})

    reply = hosts.read_reply(profile, Hook(event="Stop", command="x"), "Stop", ended(stdout=long))

    assert reply.reason.count("truncated output") == 1


def test_claude_names_the_default_of_an_edit():
    """The input of Edit contains replace_all, although the model left it out."""
    played = play({"PreToolUse": "./x"}, [GO, Edit(file="a", text="b", old="c"), Stop()], lambda *_: None)

    assert played.asked("PreToolUse")[0].payload["tool_input"]["replace_all"] is False


@pytest.mark.parametrize(
    "options, sources",
    [
        ({}, ["~/.codex/hooks.json", ".codex/hooks.json"]),
        ({"trust_level": "trusted", "bypass_hook_trust": True}, ["~/.codex/hooks.json", ".codex/hooks.json"]),
        ({"trust_level": "untrusted"}, ["~/.codex/hooks.json"]),
        ({"bypass_hook_trust": False}, []),
    ],
)
def test_codex_runs_hooks_that_are_trusted(options, sources):
    """An untrusted project has no hooks, and hooks that nobody reviewed do not run; the settings say why."""
    files = {f"{place}/.codex/hooks.json": STOPPING for place in ("home", "workspace")}

    read = hosts.configure(hosts.find("codex"), files, options=options)

    assert [hook.source for hook in read.hooks] == sources
    assert [(one.kind, one.path) for one in read.problems] == [("disabled", "")] * (2 - len(sources))
    assert all(f"the option {name} is" in one.text for one in read.problems for name in options)


def test_claude_names_the_file_of_a_plugin_in_a_refusal():
    """The model sees the command of a hook that refuses with the folder of its plugin filled in."""
    profile = hosts.find("claude-code")
    hook = Hook(event="Stop", command="${CLAUDE_PLUGIN_ROOT}/x", plugin="/p")

    assert hosts.read_reply(profile, hook, "Stop", ended(2, stderr="no")).reason == "[/p/x]: no"


@pytest.mark.parametrize("manifest, name", [('{"name": "demo"}', "demo"), ("{}", "folder"), ("{", "folder")])
def test_claude_names_the_data_of_a_plugin_after_its_manifest(manifest, name):
    """The folder of a plugin's data has the name in its manifest; without one that of the plugin's folder."""
    profile = hosts.find("claude-code")
    files = {profile.config.plugin_manifest: manifest, "hooks/hooks.json": STOPPING}
    given = {"plugin_root": "/folder", "plugin_name": hosts.plugin_name(profile.config, files.get)}
    read = hosts.configure(profile, {}, plugin_files={"hooks/hooks.json": STOPPING}, **given)
    facts = hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp/x")

    launched = hosts.launch(profile, read.hooks[0], {}, facts, {}, 10.0)

    assert launched.env["CLAUDE_PLUGIN_DATA"] == f"/home/dev/.claude/plugins/data/{name}-inline"
