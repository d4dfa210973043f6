"""What Gemini CLI and Qwen Code do where a battery of questions found the simulation otherwise."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import (
    Edit,
    Performance,
    Prompt,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.protocol import Hook, Ruling

from ..hosts.conftest import ended, play
from .test_observed_sessions import BLOCK, END, GO, answering, explained, shell_calls

GEMINI, QWEN = hosts.find("gemini-cli"), hosts.find("qwen-code")
OWN = "hookSpecificOutput"
ALLOW = {OWN: {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
FIRST, SECOND = ({"decision": "block", "reason": text} for text in ("first", "second"))


def merged(event, *runs):
    """Return the decision of Qwen Code on what several hooks printed or how they ended."""
    hook = Hook(event=event, command="x")
    ends = (run if not isinstance(run, dict) else ended(stdout=json.dumps(run)) for run in runs)
    replies = tuple(hosts.read_reply(QWEN, hook, event, end) for end in ends)
    return hosts.aggregate(QWEN, event, replies, target="run_shell_command")


def calls(*names):
    """Return a message of the model for each call of a tool that the harness does not know."""
    return [Tools(calls=(ToolCall(name="look", input={"at": name}),)) for name in names]


@pytest.mark.parametrize("row", ["a", "ab", "abcde"])
def test_gemini_warns_of_a_repeated_row_of_calls_and_ends_at_the_next_repetition(row):
    """The call that completes five equal rows is warned of, not made; the next one ends the turn."""
    acts = [GO, *calls(*row * 7)]

    played = play({"BeforeTool": "./x", "AfterAgent": "./y"}, acts, lambda *_: None, profile=GEMINI)

    made = 5 * len(row) - 1
    assert len(played.performed) == len(played.asked("BeforeTool")) == made
    (warning,) = played.observations[made + 1]
    assert warning.text.startswith("System: Potential loop detected. Details: Repeated tool call: look with ")
    assert f'arguments {{"at":"{row[-1]}"}}.' in warning.text
    assert len(played.observations) == made + 2
    assert played.endings[0].status == "loop detected"
    assert not played.asked("AfterAgent")


def test_gemini_makes_another_call_after_its_warning():
    """An agent that does something else after the warning goes on, and its stop runs hooks."""
    acts = [GO, *calls(*"aaaaab"), Stop()]

    played = play({"AfterAgent": "./y"}, acts, lambda *_: None, profile=GEMINI)

    assert len(played.performed) == 5
    assert len(played.asked("AfterAgent")) == 1
    assert played.endings[0].how == "stopped"


def test_gemini_counts_calls_across_refused_stops():
    """The same call between refused stops is a repetition too, so that such a loop ends."""
    acts = [GO, *[shell_calls(GEMINI, "true"), Stop()] * 9]

    played = play({"AfterAgent": "./y"}, acts, answering(AfterAgent=BLOCK), profile=GEMINI)

    assert len(played.performed) == 4
    assert played.endings[0].how == "capped"


def test_gemini_drops_a_context_beside_a_refused_result():
    """If one hook refuses a result and another adds a text, the model gets the reason alone."""
    hook = Hook(event="AfterTool", command="x")
    context = {OWN: {"hookEventName": "AfterTool", "additionalContext": "mind"}}
    replies = tuple(
        hosts.read_reply(GEMINI, hook, "AfterTool", ended(stdout=json.dumps(answer)))
        for answer in (BLOCK, context)
    )

    decision = hosts.aggregate(GEMINI, "AfterTool", replies, target="run_shell_command")

    assert (decision.updated_output, decision.to_agent) == ("not yet", ())


def test_gemini_gives_the_model_the_reasons_of_all_answers():
    """Beside a refusal, the reason of an answer that asks or allows reaches the model too."""
    hook = Hook(event="BeforeTool", command="x")
    ends = (ended(stdout=json.dumps({"decision": "ask", "reason": "first"})), ended(2, stderr="second"))
    replies = tuple(hosts.read_reply(GEMINI, hook, "BeforeTool", end) for end in ends)

    decision = hosts.aggregate(GEMINI, "BeforeTool", replies, target="run_shell_command")

    assert decision.to_agent == ("Tool execution blocked: first\nsecond",)


def test_gemini_asks_its_model_although_the_choice_of_tools_says_halt():
    """After continue: false on BeforeToolSelection, the model is asked and the turn goes on."""
    played = play(
        {"BeforeToolSelection": "./x", "AfterAgent": "./y"},
        [GO, Stop()],
        answering(BeforeToolSelection=END),
        profile=GEMINI,
    )

    assert len(played.observations) == len(played.asked("AfterAgent")) == 1
    assert explained("gemini-cli", "BeforeToolSelection", "continue false").action == "the host continues"


def test_gemini_trims_a_matcher_of_the_start():
    """A matcher with blanks around the source of a start fits it."""
    hook = Hook(event="SessionStart", command="x", matcher=" startup ")

    assert hosts.select(GEMINI, (hook,), "SessionStart", "startup")


@pytest.mark.parametrize("host", ["gemini-cli", "qwen-code"])
def test_a_replaced_passage_is_shown_as_current_and_proposed(host):
    """The patch in the result of a replaced passage names its versions otherwise than that of a new file."""
    profile = hosts.find(host)
    call = profile.tools.call(Edit(file="a", text="two", old="one"), "/project")

    made = profile.tools.result(call, Performance(original="one\n", content="two\n"), "/project")

    assert "--- a\tCurrent\n+++ a\tProposed\n" in made.response["returnDisplay"]["fileDiff"]


@pytest.mark.parametrize(
    "runs, ruling",
    [
        ((ended(2, stderr="no"), ALLOW), Ruling.ALLOW),
        ((ALLOW, ended(2, stderr="no")), Ruling.ALLOW),
        ((ALLOW, FIRST), Ruling.ALLOW),
        ((FIRST, {"decision": "approve"}), Ruling.DENY),
        ((ALLOW, END), Ruling.DENY),
    ],
)
def test_qwen_lets_an_allow_in_its_own_field_cancel_other_refusals(runs, ruling):
    """A permissionDecision wins over exit code 2 and decision in any order, but not over continue: false."""
    assert merged("PreToolUse", *runs).ruling is ruling


@pytest.mark.parametrize(
    "event, runs, reasons",
    [
        ("Stop", (FIRST, ended(2, stderr="second")), "first\nsecond"),
        ("Stop", (FIRST, ended(stdout="all is well")), "first\nHook executed successfully"),
        ("Stop", (ended(1, stderr="broken"), FIRST), "Non-blocking error: broken\nfirst"),
        ("Stop", (FIRST, ended()), "first"),
        ("Stop", (FIRST, {"continue": False, "stopReason": "second"}), "second"),
        ("Stop", ({"decision": "allow", "reason": "fine"}, SECOND), "fine\nsecond"),
        ("PreToolUse", (FIRST, SECOND), "first\nsecond"),
    ],
)
def test_qwen_gives_the_model_the_reasons_of_all_hooks(event, runs, reasons):
    """Beside a refusal, words of other hooks reach the model too; the reason of a halt stands alone."""
    assert merged(event, *runs).reasons == (reasons,)


def test_qwen_gives_the_model_the_reason_of_a_refused_batch_in_place_of_the_last_result():
    """After a refusal on PostToolBatch, the last result is the reason, and the turn goes on."""
    played = play(
        {"PostToolBatch": "./x", "Stop": "./y"},
        [GO, shell_calls(QWEN, "one", "two"), Stop()],
        answering(PostToolBatch=BLOCK),
        profile=QWEN,
    )

    assert [message.text for message in played.observations[1]][1:] == ["not yet"]
    assert played.asked("Stop")
    assert explained("qwen-code", "PostToolBatch", "decision block").action == (
        "the agent gets the text instead of the result"
    )


def test_qwen_shows_hooks_of_a_batch_what_a_command_printed():
    """The result_display of a command in PostToolBatch is what it printed, and no more."""
    played = play(
        {"PostToolBatch": "./x"},
        [GO, RunCommand(command="echo hi"), Stop()],
        lambda *_: None,
        profile=QWEN,
        perform=lambda _: Performance(exit=0, stdout="hi\n"),
    )

    (call,) = played.asked("PostToolBatch")[0].payload["tool_calls"]
    assert call["tool_response"]["result_display"] == "hi"


def test_qwen_shows_hooks_of_a_batch_refused_and_failed_calls():
    """PostToolBatch occurs after a refused call too; its error says what kind of failure it was."""
    played = play(
        {"PreToolUse": {"matcher": "write_file", "command": "./guard"}, "PostToolBatch": "./x"},
        [GO, Edit(file="a", text="b"), RunCommand(command="false"), Stop()],
        answering(PreToolUse=BLOCK),
        profile=QWEN,
        perform=lambda _: Performance(exit=1),
    )

    (refused,), (failed,) = (one.payload["tool_calls"] for one in played.asked("PostToolBatch"))
    ends = [(one["status"], one["tool_response"]["error_type"]) for one in (refused, failed)]
    assert ends == [("error", "execution_denied"), ("error", "shell_execute_error")]
    assert refused["tool_response"]["error"] == "not yet"
    assert refused["tool_response"]["execution_status"] == "not_started"


@pytest.mark.parametrize(
    "profile, mode, hooked, made",
    [
        (GEMINI, "default", [], []),
        (GEMINI, "auto_edit", ["write_file"], ["write_file"]),
        (GEMINI, "plan", ["write_file"], []),
        (GEMINI, "yolo", ["run_shell_command", "write_file"], ["run_shell_command", "write_file"]),
        (QWEN, "default", [], []),
        (QWEN, "plan", [], []),
        (QWEN, "auto", [], []),
        (QWEN, "auto_edit", ["write_file"], ["write_file"]),
        (QWEN, "yolo", ["run_shell_command", "write_file"], ["run_shell_command", "write_file"]),
    ],
)
def test_gemini_and_qwen_refuse_calls_by_their_approval_mode(profile, mode, hooked, made):
    """Without a person no call is made that needs an approval, and mostly no hook runs for it."""
    before, after = ("BeforeTool", "AfterTool") if profile is GEMINI else ("PreToolUse", "PostToolUse")
    acts = [GO, RunCommand(command="echo one"), Edit(file="a", text="b"), Stop()]
    played = play(
        {before: "./x", after: "./y"},
        acts,
        lambda *_: None,
        profile=profile,
        options={"permission_mode": mode},
    )

    assert [one.payload["tool_name"] for one in played.asked(before)] == hooked
    assert [one.payload["tool_name"] for one in played.asked(after)] == made
    assert [one.call.name for one in played.performed if not one.result.failed] == made
    assert not any(one.refused for one in played.performed)


def test_gemini_joins_what_several_hooks_add():
    """The texts that hooks add on one event reach the model in one element, in their order."""
    played = play(
        {"BeforeAgent": ["./x", "./y"]},
        [GO, Stop()],
        lambda _, place: {OWN: {"additionalContext": ("one", "two")[place]}},
        profile=GEMINI,
    )

    assert played.decisions[0].to_agent == ("<hook_context>one\ntwo</hook_context>",)


def test_gemini_replaces_the_whole_input_of_a_call():
    """Keys that a changed input does not have are not taken from the call of the model."""
    played = play(
        {"BeforeTool": "./x"},
        [GO, RunCommand(command="echo one"), Stop()],
        lambda *_: {OWN: {"tool_input": {"command": "echo two"}}},
        profile=GEMINI,
    )

    assert played.performed[0].call.input == {"command": "echo two"}


def test_qwen_makes_calls_that_its_settings_allow():
    """A command that permissions.allow names is not refused by the approval mode; its hooks run."""
    settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./x"}]}]}}
    played = play(
        {**settings, "permissions": {"allow": ["run_shell_command"]}},
        [GO, RunCommand(command="echo one"), Stop()],
        lambda *_: None,
        profile=QWEN,
        options={"permission_mode": "default"},
    )

    assert not played.performed[0].result.failed
    assert any("permissions.allow" in rule.text for rule in played.decisions[0].rests_on)


def test_qwen_writes_the_mode_of_calls_as_its_command_line_does():
    """Events about calls name the mode auto-edit, all other events auto_edit."""
    played = play(
        {"PreToolUse": "./x", "PostToolBatch": "./y", "Stop": "./z"},
        [GO, Edit(file="a", text="b"), Stop()],
        lambda *_: None,
        profile=QWEN,
        options={"permission_mode": "auto_edit"},
    )

    modes = [(one.event, one.payload["permission_mode"]) for one in played.asked()]
    assert modes == [("PreToolUse", "auto-edit"), ("PostToolBatch", "auto-edit"), ("Stop", "auto_edit")]


def test_qwen_gives_prompt_hooks_an_expanded_prompt():
    """UserPromptSubmit gets the text of a command with the words of expansion hooks, and what was typed."""
    command = hosts.read_commands(QWEN, {"workspace/.qwen/commands/work.md": "Work {{args}}.\n"})
    context = {OWN: {"hookEventName": "UserPromptExpansion", "additionalContext": "Carefully."}}

    played = play(
        {"UserPromptExpansion": "./x", "UserPromptSubmit": "./y"},
        [Prompt(text="/work hard"), Stop()],
        answering(UserPromptExpansion=context),
        profile=QWEN,
        commands=command,
    )

    (asked,) = played.asked("UserPromptSubmit")
    assert asked.payload["prompt"] == "Work hard.\n\nCarefully."
    assert asked.payload["submitted_prompt"] == "/work hard"
    assert [message.text for message in played.observations[0]] == ["Work hard.\n\nCarefully."]


def test_qwen_shows_a_text_before_and_after_it_is_complete():
    """MessageDisplay occurs twice for a text, also for one beside a call, with the same identifier."""
    acts = [GO, RunCommand(command="true", say="First."), Stop(text="Done.")]

    played = play({"MessageDisplay": "./x"}, acts, lambda *_: None, profile=QWEN)

    shown = [request.payload for request in played.asked()]
    assert [(one["displayed_text"], one["is_final"]) for one in shown] == [
        (text, final) for text in ("First.", "Done.") for final in (False, True)
    ]
    assert len({one["message_id"] for one in shown}) == 2


def test_qwen_loads_instructions_before_its_start():
    """InstructionsLoaded occurs for a file of the project and the host's own, as one of an extension."""
    played = play(
        {"InstructionsLoaded": "./x", "SessionStart": "./y"},
        [GO, Stop()],
        lambda *_: None,
        profile=QWEN,
        instructions=("/project/QWEN.md",),
    )

    assert played.events == ["InstructionsLoaded", "InstructionsLoaded", "SessionStart"]
    loaded = [request.payload for request in played.asked("InstructionsLoaded")]
    assert [(one["file_path"], one["memory_type"]) for one in loaded] == [
        ("/project/QWEN.md", "project"),
        ("/home/dev/.qwen/output-language.md", "extension"),
    ]


def test_qwen_shows_the_model_the_lines_around_a_replaced_passage():
    """The result of an edit has four lines before and after the change, with their numbers."""
    lines = [f"line {number}\n" for number in range(1, 13)]
    call = QWEN.tools.call(Edit(file="a", text="six\n", old=lines[5]), "/project")
    changed = "".join([*lines[:5], "six\n", *lines[6:]])

    made = QWEN.tools.result(call, Performance(original="".join(lines), content=changed), "/project")

    head = "The file: /project/a has been updated. Showing lines 2-10 of 13 from the edited file:\n\n---\n\n"
    assert made.text == head + "".join([*lines[1:5], "six\n", *lines[6:10]]).rstrip("\n")


def test_qwen_leaves_out_a_number_when_its_first_session_is_resumed():
    """The prompts of a session that is resumed twice are number 0, 2 and 3."""
    again = (Stop(), Resume(), GO)

    played = play({"Stop": "./x"}, [GO, *again, *again, Stop()], lambda *_: None, profile=QWEN)

    numbers = [str(request.payload["prompt_id"]).rpartition("#")[2] for request in played.asked("Stop")]
    assert numbers == ["0", "2", "3"]


@pytest.mark.parametrize(
    "number, written",
    [
        (5e-05, "0.00005"),
        (-1.25e-06, "-0.00000125"),
        (1e-07, "1e-7"),
        (2.0, "2"),
        (1e21, "1e+21"),
        (0.5, "0.5"),
    ],
)
def test_qwen_writes_numbers_as_javascript_does(number, written):
    """The input of hooks has small and whole numbers in the form of JavaScript; texts stay as they are."""
    text = hosts.encode(QWEN, {"a": number, "b": 'x "5e-05" 2.0'})

    assert text.decode() == f'{{"a":{written},"b":"x \\"5e-05\\" 2.0"}}'


def test_qwen_stops_a_subagent_before_the_hooks_after_its_call():
    """The agent waits for its subagent, and the hooks after the call get the text it said last."""
    looked = Subagent(prompt="Look.", texts=("Looked.", "Looked again."))
    refusals = iter([BLOCK])
    played = play(
        {"SubagentStart": "./a", "SubagentStop": "./b", "PostToolUse": "./c"},
        [GO, looked, Stop()],
        lambda request, _: next(refusals, None) if request.event == "SubagentStop" else None,
        profile=QWEN,
    )

    assert played.events == ["SubagentStart", "SubagentStop", "SubagentStop", "PostToolUse"]
    response = played.asked("PostToolUse")[0].payload["tool_response"]
    assert response["llmContent"] == [{"text": "Looked again."}]
    assert response["returnDisplay"]["result"] == "Looked again."
    assert [message.text for message in played.observations[1]] == ["Looked again."]


@pytest.mark.parametrize(
    "profile, start, stop", [(GEMINI, "BeforeAgent", "AfterAgent"), (QWEN, "UserPromptSubmit", "Stop")]
)
def test_gemini_and_qwen_escape_tags_in_texts_that_hooks_add(profile, start, stop):
    """The model gets such a text without tags of its own, and the reason of a refusal as it is."""
    tags = "</hook_context> & <b>"
    context = {OWN: {"hookEventName": start, "additionalContext": tags}}
    refusals = iter([{"decision": "block", "reason": tags}])
    played = play(
        {start: "./x", stop: "./y"},
        [GO, Stop(text="One."), Stop(text="Two.")],
        lambda asked, _: context if asked.event == start else next(refusals, None),
        profile=profile,
    )

    first, again = ("\n".join(message.text for message in seen) for seen in played.observations)
    assert "&lt;/hook_context&gt; & &lt;b&gt;" in first
    assert tags not in first
    assert tags in again


def test_gemini_says_that_it_ends_no_session_of_equal_texts():
    """From the second refused stop on, a decision rests on what the real host did with equal texts."""
    refusals = iter([BLOCK, BLOCK])
    acts = [GO, Stop(), Stop(), Stop()]
    played = play({"AfterAgent": "./x"}, acts, lambda *_: next(refusals, None), profile=GEMINI)

    rests = [any("always says the same" in rule.text for rule in one.rests_on) for one in played.decisions]
    assert rests == [False, True, True]


def test_qwen_tells_its_hooks_of_prompt_and_subagent_in_variables():
    """The variables are those of the input; without a prompt or a subagent they are empty."""
    facts = hosts.facts(QWEN, workspace="/project", home="/home/dev", tmp="/tmp/x")
    known = {"prompt_id": "1########0", "agent_id": "general-purpose-call_1"}
    for payload, values in ((known, list(known.values())), ({}, ["", ""])):
        env = hosts.launch(QWEN, Hook(event="SubagentStop", command="x"), payload, facts, {}, 10.0).env
        assert [env["QWEN_CODE_PROMPT_ID"], env["QWEN_CODE_AGENT_ID"]] == values
        assert env["QWEN_CODE_STARTUP_VERSION"] == "0.24.4"
