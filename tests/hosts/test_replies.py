"""How the host reads one hook run, and the faults that it cannot use."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.processes import (
    Cut,
    Exited,
    NotStarted,
    Output,
    ProcessResult,
    Signaled,
    TimedOut,
)
from pytest_hookharness.model.protocol import Basis, Hook, Ruling

BLOCK = json.dumps({"decision": "block", "reason": "no"})


def special(event, **fields):
    """Return an answer for one event alone, as text."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


@pytest.fixture
def read(profile, ended):
    """The function that reads a hook that ended by itself."""

    def read_one(event, code=0, stdout="", stderr="", **hook):
        given = Hook(event=event, command="./hook", **hook)
        return hosts.read_reply(profile, given, event, ended(code, stdout, stderr))

    return read_one


@pytest.mark.parametrize(
    "event, code, stdout, stderr, fault",
    [
        ("Stop", 1, "", "No.", 'crashed: exit code 1 is not a refusal on claude-code (2 is): "No."'),
        ("Stop", 1, "Go on.", "", 'crashed: exit code 1 is not a refusal on claude-code (2 is): "Go on."'),
        (
            "Stop",
            1,
            "",
            "Traceback (most recent call last):\n  x.py\nKeyError: 1",
            'crashed: exit code 1: "KeyError: 1"',
        ),
        ("Stop", 1, "", "", "crashed: exit code 1: nothing on standard error"),
        ("Stop", 127, "", "sh: x: not found", "not-run: exit code 127"),
        ("Stop", 126, "", "", "not-run: exit code 126"),
        ("Stop", 0, f"starting\n{BLOCK}", "", "mangled: the answer does not begin"),
        ("Stop", 0, f"{BLOCK}\ndone", "", "mangled: the output begins like JSON"),
        ("Stop", 0, json.dumps(BLOCK), "", "mangled: the answer is inside a JSON string"),
        ("Stop", 0, f"[{BLOCK}]", "", "mangled: the answer is inside a JSON array"),
        ("Stop", 0, "", BLOCK, "mangled: the answer is on standard error"),
        ("Stop", 0, '{"decision": "deny"}', "", "ignored: 'decision' is 'deny'"),
        ("Stop", 0, '{"reason": 7}', "", "ignored: 'reason' is 7"),
        ("Stop", 0, '{"continue": NaN}', "", "mangled: "),
        (
            "PreToolUse",
            0,
            '{"suppressOutput": true, "additionalContext": "x"}',
            "",
            "ignored: the host does not read additionalContext at the top; it reads hookSpecificOutput.",
        ),
        ("Stop", 0, '{"foo": 1}', "", "ignored: the host knows none of the keys foo"),
        (
            *("UserPromptSubmit", 0, '{"additionalContext": "A map."}', ""),
            "ignored: the host knows none of the keys additionalContext; it reads hookSpecificOutput.",
        ),
        ("Stop", 0, special("PreToolUse", permissionDecision="deny"), "", "ignored: 'hookEventName'"),
        ("Stop", 0, '{"hookSpecificOutput": {}}', "", "ignored: 'hookSpecificOutput' has no"),
        ("Stop", 0, special("Stop", permissionDecision="deny"), "", "ignored: 'permissionDecision' has no"),
        ("SessionStart", 2, "", "no", "ignored: a refusal has no effect"),
        ("SessionStart", 0, BLOCK, "", "ignored: a refusal has no effect"),
        ("PreCompact", 0, special("PreCompact", additionalContext="x"), "", "ignored: 'additionalContext'"),
        ("Stop", 0, special("Stop", updatedInput={}), "", "ignored: 'updatedInput'"),
        (
            "PreToolUse",
            0,
            special("PreToolUse", permissionDecision="no"),
            "",
            "ignored: 'permissionDecision'",
        ),
    ],
)
def test_unused_answers_are_a_fault(read, event, code, stdout, stderr, fault):
    """A reply that the host does not use is reported as a fault and refuses nothing."""
    reply = read(event, code, stdout, stderr)

    assert reply.ruling is Ruling.NONE
    assert reply.fault is not None
    assert reply.fault.startswith(fault)


@pytest.mark.parametrize(
    "event, code, stdout",
    [
        ("Stop", 0, ""),
        ("Stop", 0, "all is well"),
        ("Stop", 0, "{}"),
        ("Stop", 0, "[1, 2]"),
        ("Stop", 0, "null"),
        ("Stop", 0, "see {this}"),
        ("Stop", 0, BLOCK),
        ("Stop", 1, BLOCK),
        ("Stop", 2, ""),
        ("SessionStart", 0, "read the rules"),
    ],
)
def test_used_answers_are_no_fault(read, event, code, stdout):
    """A hook that was understood, or printed nothing, has no fault."""
    assert read(event, code, stdout).fault is None


@pytest.mark.parametrize(
    "ending, fault",
    [
        (
            TimedOut(1.0, by=Cut.LIMIT),
            "timed-out: it was cut after 1 s although it had already answered",
        ),
        (Signaled(9), "crashed: signal 9"),
        (NotStarted("no such file"), "not-run: no such file"),
    ],
)
@pytest.mark.parametrize("on_failure, ruling", [("allow", Ruling.NONE), ("block", Ruling.DENY)])
def test_a_hook_that_did_not_end_well(profile, ending, fault, on_failure, ruling):
    """A cut, killed or missing hook is ignored, unless its settings say that a failure blocks."""
    hook = Hook(event="Stop", command="./hook", on_failure=on_failure)
    run = ProcessResult(ending=ending, stdout=Output(BLOCK.encode(), len(BLOCK)))

    reply = hosts.read_reply(profile, hook, "Stop", run)

    assert reply.fault == fault or reply.fault.startswith(fault)
    assert reply.ruling is ruling


@pytest.mark.parametrize(
    "code, stdout, ruling",
    [(1, "", Ruling.DENY), (127, "", Ruling.DENY), (0, '{"decision": ', Ruling.NONE), (0, "", Ruling.NONE)],
)
def test_failure_that_blocks(read, code, stdout, ruling):
    """With onFailure block, exit codes 1 and 127 refuse, and an answer that cannot be parsed does not."""
    assert read("PreToolUse", code, stdout, on_failure="block").ruling is ruling


def test_long_texts_are_cut(read):
    """A text for the model beyond the limit is cut; one at the limit stays whole, and so does any reason."""
    long, whole = read("SessionStart", 0, "x" * 10_001), read("SessionStart", 0, "x" * 10_000)
    reason = read("Stop", 0, json.dumps({"decision": "block", "reason": "x" * 300_000}))

    assert (long.context.count("x"), long.fault) == (
        2_000,
        "too-long: of 10001 characters, 2000 reach the model",
    )
    assert (len(whole.context), whole.fault) == (10_000, None)
    assert (len(reason.reason), reason.fault) == (300_000, None)


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_a_limit_of_texts_has_a_source(profile):
    """A profile gives a source for its limit of texts, and has no such rule without a limit."""
    assert ("text limit" in profile.replies.rules) is (profile.replies.text_limit is not None)


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_the_output_limit_has_a_source(profile):
    """A profile says how much output of a hook is read, and gives a source for it."""
    rule = profile.process.rules["output"]

    assert ("all output" in rule.text) is (profile.process.output_limit is None)
    assert rule.basis is not Basis.ASSUMED or profile.process.output_limit is None


def test_codex_cuts_texts_by_bytes_and_spares_refused_calls():
    """Codex passes on both ends of a long reason for a stop, and the whole reason for a refused call."""
    codex, run = (
        hosts.find("codex"),
        ProcessResult(ending=Exited(2), stderr=Output(b"x" * 9_999 + "\u00e4\u00e4".encode(), 0)),
    )
    answers = {
        event: hosts.read_reply(codex, Hook(event=event, command="x"), event, run)
        for event in ("Stop", "PreToolUse")
    }

    head, kept = answers["Stop"].reason.split("\n", 1)
    assert head == "Warning: truncated output (original token count: 2501)"
    assert kept == f"{'x' * 5_000}\n...\n{'x' * 4_996}\u00e4\u00e4"
    assert answers["Stop"].fault == "too-long: of 10003 bytes, 10000 reach the model"
    assert (len(answers["PreToolUse"].reason), answers["PreToolUse"].fault) == (10_001, None)


@pytest.mark.parametrize("kilobytes", [60, 70, 200, 900])
def test_qwen_reads_a_mebibyte_of_each_stream(kilobytes):
    """Output below a mebibyte is read whole, and the launch keeps no more than that."""
    qwen, text = hosts.find("qwen-code"), json.dumps({"decision": "block", "reason": "x" * kilobytes * 1000})
    run = ProcessResult(ending=Exited(0), stdout=Output(text.encode(), len(text)))
    reply = hosts.read_reply(qwen, Hook(event="Stop", command="x"), "Stop", run)

    assert (len(reply.reason), reply.fault) == (kilobytes * 1000, None)
    assert qwen.process.output_limit == 1 << 20


def test_output_that_was_cut_is_a_fault(profile, ended):
    """Output of which only a part was kept is a fault with any reply."""
    run = ProcessResult(ending=ended().ending, stdout=Output(b'{"decision": "bl', 90_000))
    reply = hosts.read_reply(profile, Hook(event="Stop", command="x"), "Stop", run)

    assert reply.fault == "too-long: the harness keeps 16 of the 90000 bytes that were printed"


IN_BACKGROUND = json.dumps({"async": True, "asyncTimeout": 5000})


@pytest.mark.parametrize(
    ("code", "printed", "said", "options", "refuses"),
    [
        (2, "", "no", {"async": True}, True),
        (0, BLOCK, "", {"async": True}, True),
        (0, "done", "", {"async": True}, False),
        (1, "", "no", {"async": True}, False),
        (2, "", "no", {"async": True, "asyncRewake": True}, False),
        (0, IN_BACKGROUND, "", {}, False),
        (0, f"{IN_BACKGROUND}\nworking\n{BLOCK}\n", "", {}, False),
        (0, json.dumps({"async": True}, indent=2), "", {}, False),
        (2, IN_BACKGROUND, "no", {}, True),
    ],
)
def test_a_hook_in_the_background_decides_nothing(read, code, printed, said, options, refuses):
    """A hook that is configured as async, or first answers so, gives no ruling; that it refuses is told."""
    reply = read("Stop", code, printed, said, options=options)
    assert (reply.ruling, reply.rule.basis) == (Ruling.NONE, Basis.ASSUMED)
    told = "ignored: it refuses in the background, and its host does not wait for it"
    assert reply.fault == (told if refuses else None)


@pytest.mark.parametrize("stdout", ['{"async": false}', f'{BLOCK}\n{{"async": true}}'])
def test_only_the_first_answer_sends_a_hook_to_the_background(read, stdout):
    """An answer with async false, or with async after another answer, leaves the hook in the foreground."""
    assert read("Stop", 2, stdout, "no").ruling is Ruling.DENY


@pytest.mark.parametrize(
    "event, code, stdout, stderr",
    [
        ("Stop", 2, "", ""),
        ("Stop", 2, "no", " \n"),
        ("Stop", 2, "{}", ""),
        ("Stop", 0, '{"decision": "block"}', ""),
        ("Stop", 0, '{"decision": "block", "reason": ""}', "shown to nobody"),
        ("Stop", 0, '{"decision": "block", "reason": " "}', ""),
        ("PostToolUse", 2, "", ""),
        ("PreToolUse", 0, special("PreToolUse", permissionDecision="deny"), ""),
        ("PermissionRequest", 0, special("PermissionRequest", decision={"behavior": "deny"}), ""),
    ],
)
def test_a_refusal_without_words_is_silent(read, event, code, stdout, stderr):
    """A refusal without a reason of the hook is marked as silent, although the host adds its own words."""
    reply = read(event, code, stdout, stderr)

    assert (reply.ruling, reply.silent) == (Ruling.DENY, True)


@pytest.mark.parametrize(
    "event, code, stdout, stderr",
    [
        ("Stop", 0, "", ""),
        ("Stop", 2, "", "no"),
        ("Stop", 2, BLOCK, ""),
        ("Stop", 0, BLOCK, ""),
        ("SessionStart", 2, "", ""),
        ("PreToolUse", 0, special("PreToolUse", permissionDecision="allow"), ""),
        ("PreToolUse", 0, special("PreToolUse", permissionDecision="deny", additionalContext="why"), ""),
        (
            "PermissionRequest",
            0,
            special("PermissionRequest", decision={"behavior": "deny", "message": "no"}),
            "",
        ),
    ],
)
def test_what_is_no_refusal_or_has_words_is_not_silent(read, event, code, stdout, stderr):
    """A refusal with words of the hook is not silent, and neither is a reply that refuses nothing."""
    assert not read(event, code, stdout, stderr).silent


@pytest.mark.parametrize("ok, ruling", [(True, Ruling.NONE), (False, Ruling.DENY)])
def test_the_answer_of_a_prompt_handler(profile, ok, ruling):
    """A handler that is not a command refuses by ok: false."""
    hook = Hook(event="Stop", type="prompt", options={"prompt": "Done?"})

    reply = hosts.read_reply(profile, hook, "Stop", {"ok": ok, "reason": "not done"})

    assert (reply.ruling, reply.reason) == (ruling, "not done" if not ok else "")


@pytest.mark.parametrize(
    ("event", "kind", "keys", "halt"),
    [
        ("PostToolUse", "prompt", {}, "no"),
        ("PreToolUse", "prompt", {}, "no"),
        ("PostToolUse", "prompt", {"continueOnBlock": True}, None),
        ("PostToolUse", "prompt", {"continueOnBlock": False}, "no"),
        ("PostToolUse", "agent", {}, None),
        ("Stop", "prompt", {}, None),
    ],
)
def test_the_refusal_of_a_prompt_handler_ends_the_turn(event, kind, keys, halt):
    """On Claude Code it does, except at a stop, unless the entry has `continueOnBlock`."""
    hook = Hook(event=event, type=kind, options={"prompt": "Fine?", **keys})

    reply = hosts.read_reply(hosts.find("claude-code"), hook, event, {"ok": False, "reason": "no"})

    assert (reply.ruling, reply.halt) == (Ruling.DENY, halt)


@pytest.mark.parametrize(
    "rulings, winner",
    [
        (("allow", "ask"), Ruling.ASK),
        (("ask", "defer"), Ruling.DEFER),
        (("defer", "deny"), Ruling.DENY),
        (("allow", None), Ruling.ALLOW),
    ],
)
def test_precedence(profile, read, rulings, winner):
    """Deny has precedence over defer, defer over ask, and ask over allow, in either order."""
    replies = [
        read("PreToolUse", 0, special("PreToolUse", permissionDecision=word) if word else "")
        for word in rulings
    ]
    for given in (replies, replies[::-1]):
        assert hosts.aggregate(profile, "PreToolUse", given).ruling is winner


def test_the_input_of_the_hook_that_ended_last_is_taken(profile, read):
    """If several hooks replace the input, the host uses the replacement of the hook that ended last."""
    replies = [
        read("PreToolUse", 0, special("PreToolUse", updatedInput={"command": word})) for word in ("a", "b")
    ]

    decision = hosts.aggregate(profile, "PreToolUse", replies, (1, 0), target="Bash")

    assert decision.updated_input == {"command": "a"}


def test_texts_for_the_user_stay_with_the_user(profile, read):
    """A system message, the reason of an allow and the reason of a refused prompt do not reach the agent."""
    said = [
        ("Stop", '{"systemMessage": "hello"}'),
        ("UserPromptSubmit", BLOCK),
        ("PreToolUse", special("PreToolUse", permissionDecision="allow", permissionDecisionReason="fine")),
    ]
    for event, stdout in said:
        decision = hosts.aggregate(profile, event, [read(event, 0, stdout)], target="Bash")

        assert decision.to_agent == ()
        assert len(decision.to_user) == 1


def test_every_reply_names_its_rule(profile, read):
    """Every reply and decision names the rule of the host that was applied, and its source."""
    for code in (0, 1, 2, 126):
        reply = read("Stop", code)
        decision = hosts.aggregate(profile, "Stop", [reply])

        assert reply.rule.source
        assert decision.rule == reply.rule


@pytest.mark.parametrize(
    ("host", "event", "stdout", "hook", "unmeant"),
    [
        ("antigravity", "PreToolUse", "{}", {}, True),
        ("antigravity", "PreToolUse", '{"decision": "deny"}', {}, False),
        ("antigravity", "Stop", "{}", {}, False),
        ("claude-code", "PreToolUse", "{}", {}, False),
        ("cursor", "preToolUse", "note", {"on_failure": "block"}, True),
        ("cursor", "preToolUse", "note", {}, False),
        ("goose", "PreToolUse", "{}", {"on_failure": "block"}, True),
    ],
)
def test_refusals_that_were_not_meant(ended, host, event, stdout, hook, unmeant):
    """A refusal that the host assumes although the hook did not state one is marked."""
    given = Hook(event=event, command="./hook", **hook)
    reply = hosts.read_reply(hosts.find(host), given, event, ended(0, stdout, ""))

    assert reply.unmeant is unmeant
    assert not unmeant or reply.ruling is Ruling.DENY


ALLOW = special("PreToolUse", permissionDecision="allow", permissionDecisionReason="well")


@pytest.mark.parametrize(
    ("host", "event", "stdout", "place"),
    [
        ("claude-code", "PreToolUse", ALLOW, "reason of an allow"),
        ("qwen-code", "PreToolUse", ALLOW, "reason of an allow"),
        ("gemini-cli", "BeforeTool", '{"decision": "allow", "reason": "well"}', "reason of an allow"),
        ("gemini-cli", "BeforeAgent", "well", "output on a prompt"),
        ("openhands", "UserPromptSubmit", "well", "output on a prompt"),
        ("claude-code", "UserPromptSubmit", "well", None),
        ("claude-code", "PreToolUse", "well", None),
        # The effect of such a reason there is unknown.
        ("openhands", "PreToolUse", '{"decision": "allow", "reason": "well"}', None),
        ("claude-code", "PreToolUse", special("PreToolUse", permissionDecision="allow"), None),
    ],
)
def test_words_that_the_model_never_sees(ended, host, event, stdout, place):
    """Words that a host is known to keep from the model are reported with the rule that keeps them."""
    reply = hosts.read_reply(
        hosts.find(host), Hook(event=event, command="./hook"), event, ended(0, stdout, "")
    )

    assert (reply.unheard.place if reply.unheard else None) == place
    assert reply.unheard is None or reply.unheard.text == "well"
