"""What hooks did, read from the transcripts of each host; the records are cut to the keys that are read."""

import json

import pytest

from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves
from pytest_hookharness.campaigns.reproduce.session_files import read_session
from pytest_hookharness.hosts.transcripts.transcript_formats import read_transcript
from pytest_hookharness.judging.detectors.refusal_rows import detect_all
from pytest_hookharness.model.actions import Action, ActionResult, Break, HookRefusal
from pytest_hookharness.scenario_files.json_records import UnreadableRecords

WHY = "lint: fix a.py"


def read(records):
    return read_transcript((f"line {number}", record) for number, record in enumerate(records, 1))


def loops(records):
    return [(loop.title, loop.count, loop.text) for loop in detect_all(read(records).items)]


def say(text, **more):
    message = {"id": text, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    return {"type": "assistant", "message": message, **more}


def claude_stop(number, errors=(f"[./stop.sh]: {WHY}\n",)):
    summary = {"type": "system", "subtype": "stop_hook_summary", "hookInfos": [{"command": "./stop.sh"}]}
    fed_back = {"content": f"Stop hook feedback:\n[./stop.sh]: {WHY}\n"}
    feedback = [{"type": "user", "isMeta": True, "message": fed_back}] if errors else []
    return [say(f"Done {number}."), *feedback, {**summary, "hookErrors": [*errors]}]


def claude_call(number, text="no", message="", **result):
    use = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": "make"}}
    answer = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text, "is_error": True}
    return [
        {"type": "assistant", "message": {"id": message or f"m{number}", "content": [use]}},
        {"type": "user", "message": {"content": [answer]}, **result},
    ]


def test_the_hook_of_a_reason_that_does_not_name_it():
    """Of several Stop hooks, the one whose reason has no command is named by the record before it."""
    blocked = {"hookEvent": "Stop", "blockingError": {"blockingError": WHY, "command": "./b.sh"}}
    both = [{"command": "./a.sh"}, {"command": "./b.sh"}]
    records = [
        say("Done."),
        {"type": "attachment", "attachment": {"type": "hook_blocking_error", **blocked}},
        {"type": "system", "subtype": "stop_hook_summary", "hookInfos": both, "hookErrors": [WHY]},
    ]
    assert read(records).items[-1].refusals == (HookRefusal(event="Stop", hook="./b.sh", reason=WHY),)


def test_a_shortened_conversation_ends_no_loop():
    """Refusals before and after a compaction are one row; its summary is no prompt, and it is played too."""
    summary = {"type": "user", "isCompactSummary": True, "message": {"content": "This session goes on."}}
    shortened = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "manual"}}
    records = [*claude_stop(1), *claude_stop(2), shortened, summary, *claude_stop(3)]
    assert [loop[:2] for loop in loops(records)] == [("refusals of Stop", 3)]
    moves = RecordedMoves(read(records))
    moves.read()
    assert [type(act).__name__ for act in moves.acts] == ["Prompt", "Stop", "Stop", "Compact", "Stop"]
    codex = [{"type": "session_meta", "payload": {}}, {"type": "compacted", "payload": {"message": ""}}]
    assert [item.why for item in read(codex).items] == ["compacted"]


def test_an_interruption_is_no_prompt():
    """What Claude Code writes when a person interrupts it is no prompt of that person."""
    text = "[Request interrupted by user for tool use]"
    records = [say("Hm."), {"type": "user", "message": {"content": [{"type": "text", "text": text}]}}]
    assert [item.why for item in read(records).items] == ["stop", "interrupted"]


def codex(kind, **payload):
    return {"type": kind, "payload": payload}


def codex_done(**item):
    return codex("event_msg", type="item_completed", item=item)


def codex_stop(number):
    fragment = {"text": WHY, "hookRunId": "stop:0:/p/.codex/hooks.json"}
    prompt = f'<hook_prompt hook_run_id="{fragment["hookRunId"]}">{WHY}</hook_prompt>'
    return [
        codex_done(type="AgentMessage", content=[{"type": "Text", "text": f"Done {number}."}]),
        codex("response_item", type="message", role="user", content=[{"text": prompt}]),
        codex_done(type="HookPrompt", fragments=[fragment]),
    ]


def codex_call(number, output, *, runs=False, name="exec_command"):
    call = f"c{number}"
    ran = [codex_done(type="CommandExecution", id=call, status="completed", exit_code=0)] if runs else []
    return [
        codex("response_item", type="function_call", name=name, arguments='{"cmd": "make"}', call_id=call),
        *ran,
        codex("response_item", type="function_call_output", call_id=call, output=output),
    ]


def openhands_stop(number):
    words = {"content": [{"type": "text", "text": f"Done {number}."}]}
    ran = {"hook_event_type": "Stop", "hook_command": "./stop.sh", "blocked": True, "stderr": f"{WHY}\n"}
    told = {"content": [{"type": "text", "text": f"[Stop hook feedback] {WHY}"}]}
    return [
        {"kind": "MessageEvent", "source": "agent", "llm_message": words},
        {"kind": "HookExecutionEvent", "source": "hook", **ran},
        {"kind": "MessageEvent", "source": "environment", "llm_message": told},
    ]


def openhands_call(number):
    ran = {"hook_event_type": "PreToolUse", "hook_command": "./guard.sh", "blocked": True, "stderr": "no\n"}
    call = {
        "id": f"e{number}",
        "tool_name": "think",
        "tool_call_id": f"c{number}",
        "action": {"thought": "x"},
    }
    return [
        # The hook's event is written before the call that it is about.
        {"kind": "HookExecutionEvent", "source": "hook", "action_id": f"e{number}", **ran},
        {"kind": "ActionEvent", "source": "agent", **call},
        {"kind": "UserRejectObservation", "source": "environment", "tool_call_id": f"c{number}"},
    ]


def gemini(*texts):
    head = {"sessionId": "s", "projectHash": "p", "startTime": "t"}
    kinds = ("user", "gemini")
    return [
        head,
        *(
            {"id": str(number), "type": kinds[number % 2], "content": text}
            for number, text in enumerate(texts)
        ),
    ]


def qwen(kind, *parts, **more):
    return {"type": kind, "message": {"parts": [*parts]}, **more}


META = codex("session_meta", cwd="/p", cli_version="0.169.0", git={"commit_hash": "a" * 40})
DENIED = {"permissionDecision": {"decision": "reject", "source": "hook", "reasonCode": "hook:PreToolUse"}}
BLOCKED = "Command blocked by PreToolUse hook: no rm. Command: make"


def after_call(number):
    error = {"blockingError": f"[./post.sh]: {WHY}\n", "command": "./post.sh"}
    attached = {"type": "hook_blocking_error", "hookEvent": "PostToolUse", "toolUseID": f"c{number}"}
    return {"type": "attachment", "attachment": {**attached, "blockingError": error}}


@pytest.mark.parametrize(
    ("records", "found"),
    [
        (
            [one for number in range(3) for one in claude_stop(number)],
            ("refusals of Stop", 3, f'Stop refused 3 times in a row by ./stop.sh: "{WHY}"'),
        ),
        (
            [
                one
                for number in range(3)
                for one in claude_call(number, "PreToolUse:Bash hook error: [./guard.sh]: no\n", **DENIED)
            ],
            ("refusals of PreToolUse", 3, 'PreToolUse refused 3 times in a row by ./guard.sh: "no"'),
        ),
        (
            [one for number in range(3) for one in (*claude_call(number), after_call(number))],
            ("refusals of PostToolUse", 3, f'PostToolUse refused 3 times in a row by ./post.sh: "{WHY}"'),
        ),
        (
            [META, *(one for number in range(3) for one in codex_stop(number))],
            (
                "refusals of Stop",
                3,
                f'Stop refused 3 times in a row by hook 1 of Stop in /p/.codex/hooks.json: "{WHY}"',
            ),
        ),
        (
            [META, *(one for number in range(3) for one in codex_call(number, BLOCKED))],
            ("refusals of PreToolUse", 3, 'PreToolUse refused 3 times in a row: "no rm"'),
        ),
        (
            [META, *(one for number in range(3) for one in codex_call(number, WHY, runs=True))],
            ("refusals of PostToolUse", 3, f'PostToolUse refused 3 times in a row: "{WHY}"'),
        ),
        (
            [one for number in range(3) for one in openhands_stop(number)],
            ("refusals of Stop", 3, f'Stop refused 3 times in a row by ./stop.sh: "{WHY}"'),
        ),
        (
            [one for number in range(3) for one in openhands_call(number)],
            ("refusals of PreToolUse", 3, 'PreToolUse refused 3 times in a row by ./guard.sh: "no"'),
        ),
    ],
    ids=[
        "claude-stop",
        "claude-before-calls",
        "claude-after-calls",
        "codex-stop",
        "codex-before-calls",
        "codex-after-calls",
        "openhands-stop",
        "openhands-before-calls",
    ],
)
def test_refusals_are_named(records, found):
    """Refusals in a row are one loop, with event, hook, number and reason as the transcript has them."""
    assert loops(records) == [found]


def test_gemini_feedback_is_told_with_its_doubt():
    """A text that follows three stops of Gemini CLI is reported, with the doubt that a person wrote it."""
    ((title, count, text),) = loops(gemini("Go.", *["Done.", WHY] * 3, "Done."))

    assert (title, count) == ("refusals of AfterAgent", 3)
    assert "a person may have written it" in text
    assert loops(gemini("Go.", *["Done.", WHY] * 2, "Done.")) == []


def test_qwen_is_read_as_qwen():
    """A turn of Qwen Code that goes on three times without a prompt is reported; a notice is a prompt."""
    prompt, done = qwen("user", {"text": "Go."}), qwen("assistant", {"text": "Done."})
    notice = qwen("user", {"text": "A task ended."}, provenance="system")

    assert read([prompt, done]).form == "qwen-code"
    assert [title for title, _, _ in loops([prompt, *[done] * 4])] == ["refusals of Stop"]
    assert loops([prompt, *[done, notice] * 4]) == []


def test_an_allowed_stop_ends_the_row():
    """Stops that no hook refused, and prompts, end a row; three refusals in all are then no loop."""
    assert loops([*claude_stop(1), *claude_stop(2), *claude_stop(3, errors=()), *claude_stop(4)]) == []
    person = {"type": "user", "message": {"content": "Go on."}}
    assert loops([*claude_stop(1), *claude_stop(2), person, *claude_stop(3)]) == []


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("unsupported call: nope", ActionResult.FAILED),
        ("apply_patch verification failed: Failed to find expected lines", ActionResult.FAILED),
        (BLOCKED, ActionResult.REFUSED),
        ("Process exited with code 0\nOutput:\nyes", ActionResult.DONE),
    ],
)
def test_refused_and_failed_calls_of_codex(output, outcome):
    """Calls that Codex refused, or could not carry out, are no calls that were done."""
    (action,) = read([META, *codex_call(1, output)]).items
    assert action.outcome is outcome


@pytest.mark.parametrize("output", ["aborted by user after 3.1s", "a warning\nwhat it printed\n"])
def test_outputs_of_codex_that_no_hook_replaced(output):
    """An output that contains what the command printed, or that the host wrote itself, is no refusal."""
    ran = codex_done(type="CommandExecution", id="c1", exit_code=0, aggregated_output="what it printed\n")
    call, answer = codex_call(1, output)
    (action,) = read([META, call, ran, answer]).items
    assert action.refusals == ()


def test_invalid_calls_of_openhands_keep_their_arguments():
    """The arguments of a call without an action stand in the text of the call."""
    written = {"id": "c", "name": "think", "arguments": '{"nope": 1}'}
    record = {"kind": "ActionEvent", "source": "agent", "tool_name": "think", "tool_call_id": "c"}
    (action,) = read([{**record, "tool_call": written}]).items
    assert action.arguments == {"nope": 1}


def test_finish_is_a_stop():
    """A call of `finish` is a stop, and no call."""
    act = {"kind": "FinishAction", "message": "All done."}
    record = {
        "kind": "ActionEvent",
        "source": "agent",
        "tool_name": "finish",
        "tool_call_id": "c",
        "action": act,
    }
    assert [(item.why, item.text) for item in read([record]).items] == [("stop", "All done.")]


def test_calls_of_one_message_are_made_at_once():
    """Equal calls of one message are one action; in three messages they are a loop."""
    at_once = [line for number in range(3) for line in claude_call(number, message="m")]
    assert loops(at_once) == []
    assert [title for title, _, _ in loops([line for n in range(3) for line in claude_call(n)])] == [
        "repetition"
    ]


def test_facts_about_the_session():
    """Folder, version and commit of the session are read."""
    stream = read([META])
    assert (stream.cwd, stream.version, stream.commit) == ("/p", "0.169.0", "a" * 40)


def test_refusals_and_words_stay_with_their_moves():
    """Prompts and stops keep their text, and a stop its refusals, whatever the order of the records."""
    prompt = {"type": "user", "message": {"content": "Go."}}
    first, stop = read([prompt, *claude_stop(1)]).items

    assert (first.why, first.text) == ("prompt", "Go.")
    assert (stop.text, stop.refusals) == (
        "Done 1.",
        (HookRefusal(event="Stop", hook="./stop.sh", reason=WHY),),
    )


def test_files_of_subagents_are_followed(tmp_path):
    """A loop in a subagent's own file is found from the session's file, and names the subagent."""
    main, below = tmp_path / "s.jsonl", tmp_path / "s" / "subagents" / "agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    main.write_text(json.dumps(say("Done.")))
    calls = [{**line, "agentId": "a1"} for number in range(3) for line in claude_call(number)]
    below.write_text("\n".join(map(json.dumps, calls)))
    session = read_session(main)
    (loop,) = detect_all(session.stream.items)

    assert session.subagents == 1
    assert (loop.agent, loop.first) == ("a1", "agent-a1.jsonl line 1")


def test_a_file_of_which_nothing_is_understood(tmp_path):
    """A transcript with messages, but no understood move, is unreadable and not without loops."""
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps({"type": "assistant", "message": {"content": [{"type": "new_kind"}]}}))

    with pytest.raises(UnreadableRecords, match="1 messages, but no call"):
        read_session(file)


def test_words_of_codex_before_a_call_are_no_stop():
    """Words of the agent are a stop only if the turn ends after them."""
    words = codex_done(type="AgentMessage", content=[{"type": "Text", "text": "Looking."}])
    over = codex("event_msg", type="task_complete")
    items = read([META, words, *codex_call(1, "yes"), words, over]).items

    assert [item.say if isinstance(item, Action) else item.text for item in items] == ["Looking.", "Looking."]
    assert [type(item) for item in items] == [Action, Break]


def test_subagents_of_codex(tmp_path):
    """A subagent of Codex has a rollout beside that of its session, which names it; others are not read."""

    def write(name, *records, **meta):
        file = tmp_path / f"rollout-{name}.jsonl"
        lines = [codex("session_meta", **meta), *records]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return file

    stops = [line for number in range(3) for line in codex_stop(number)]
    main = write("main", codex_done(type="UserMessage", content=[{"text": "Go."}]), *codex_stop(0), id="m")
    below = write("below", *stops, id="b", parent_thread_id="m")
    write("other", *stops, id="o", parent_thread_id="n")
    (tmp_path / "rollout-empty.jsonl").touch()

    files = read_session(main)
    assert files.subagents == 1
    assert [item.agent for item in files.stream.items] == ["", "", "b", "b", "b"]
    assert {item.agent for item in read_session(below).stream.items} == {"b"}
