"""What hooks do throughout a session."""

from dataclasses import replace

import pytest

from pytest_hookharness.judging.checkup.refused_work import SAME_WORK, find_blockades
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.checkup.written_paths import written_above_project
from pytest_hookharness.model.moves import Edit, Read, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Cap, Capped, Livelock, Terminated

RULE = Rule("a refusal", Basis.DOCUMENTED, "a page")
HOOK = Hook(event="PreToolUse", command="./guard.sh")
LOOK, EDIT, COMMAND = Read(file="a.txt"), Edit(file="a.txt", text="a"), RunCommand(command="true")


def outcome(*calls, verdict=None):
    """An outcome of moves, each with whether it was refused."""
    steps = []
    for turn, (move, refused) in enumerate(calls, 1):
        ruling = Ruling.DENY if refused else Ruling.NONE
        hook_run = HookRun(hook=HOOK, payload={}, reply=Reply(ruling=ruling, rule=RULE))
        decision = Decision(event="PreToolUse", ruling=ruling, refused=refused, rule=RULE)
        words = {"command": move.command} if isinstance(move, RunCommand) else {}
        done = Performed(call=ToolCall(name="Tool", input=words), result=ToolResult(text=""), refused=refused)
        exchanges = (
            Moved(move=move),
            HookEvent(event="PreToolUse", hook_runs=(hook_run,), decision=decision),
            done,
        )
        steps += [
            Step(number=len(steps) + place, turn=turn, exchange=one) for place, one in enumerate(exchanges)
        ]
    return Outcome(
        scenario=Scenario(name="check"),
        host="claude-code@1",
        trace=Trace(steps=tuple(steps)),
        verdict=verdict or Terminated(turn=len(calls)),
    )


def test_all_harmless_work_refused():
    """A guard hook that refuses each read, each edit and most commands is BLOCKS-EVERYTHING."""
    (found,) = find_blockades(outcome((COMMAND, True), (COMMAND, False), (LOOK, True), (EDIT, True)))
    assert (found.kind, found.hook) == ("BLOCKS-EVERYTHING", "./guard.sh")


@pytest.mark.parametrize(
    "calls",
    [
        [(COMMAND, True), (LOOK, False), (EDIT, True)],
        [(COMMAND, True), (LOOK, True), (EDIT, True), (EDIT, False)],
        [(COMMAND, False), (COMMAND, False), (COMMAND, True), (LOOK, True), (EDIT, True)],
        [(COMMAND, True), (COMMAND, True), (COMMAND, True)],
        [(LOOK, True), (EDIT, True)],
    ],
)
def test_guard_hooks_that_allow_some_work(calls):
    """A guard hook that allows reads, some edits or most commands, or that ran too rarely, is no finding."""
    assert [*find_blockades(outcome(*calls))] == []


def test_only_harmless_sessions_count():
    """In a session that asks for forbidden work, refusals are no symptom."""
    seen = outcome((COMMAND, True), (LOOK, True), (EDIT, True))
    assert find_symptoms(seen) == ()
    assert [one.kind for one in find_symptoms(seen, harmless=True)] == ["BLOCKS-EVERYTHING"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("private-tmp/base/item/calls.log", "calls.log"),
        ("private-tmp/calls.log", ""),
        ("private-tmp/cache/calls.log", ""),
        ("shm/base/item/calls.log", ""),
        ("workspace/calls.log", ""),
    ],
)
def test_files_above_the_project(path, name):
    """A file in a parent folder of the project is recognised, and one directly in /tmp is not."""
    hook_run = HookRun(hook=HOOK, payload={"cwd": "/tmp/base/item/workspace"}, reply=Reply(rule=RULE))
    hooked = HookEvent(
        event="PreToolUse", hook_runs=(hook_run,), decision=Decision(event="PreToolUse", rule=RULE)
    )
    assert written_above_project(path, hooked) == name


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "/tmp/hookharness-zqqfxh21/6/check/workspace/.venv/bin/pytest: not found",
            "workspace/.venv/bin/pytest",
        ),
        ("/tmp/another-folder/6/check/workspace/.venv/bin/pytest: not found", "/tmp/another-folder/6/check"),
    ],
)
def test_the_folder_of_the_session_in_a_reason(said, told):
    """The reason of a refused stop is shown without the folder of the session, before it is shortened."""
    reply = Reply(ruling=Ruling.DENY, reason=f"Tests fail: {said}", rule=RULE)
    hook_run = HookRun(hook=HOOK, payload={}, reply=reply)
    decision = Decision(event="Stop", ruling=Ruling.DENY, refused=True, rule=RULE)
    hooked = HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)
    seen = outcome((COMMAND, False), verdict=Livelock(stem=1, period=1))
    steps = (*seen.trace.steps, Step(number=9, turn=9, exchange=hooked))
    (symptom,) = find_symptoms(replace(seen, trace=replace(seen.trace, steps=steps)))
    assert f'"Tests fail: {told}' in symptom.text


def test_loops_of_the_agent_are_no_symptom():
    """A session that its host ended without overriding a refusal says nothing about the hooks."""
    guard = Cap(overrides=None, why="circles", rule=RULE)
    assert find_symptoms(outcome((COMMAND, False), verdict=Capped(turn=1, cap=guard))) == ()


@pytest.mark.parametrize(
    ("refusals", "number"),
    [
        ([False, False, True], 1),
        ([True, False, True], 0),
        ([False, True, True], 0),
        ([False, False, False], 0),
        ([True], 0),
    ],
)
def test_a_form_that_alone_is_refused(refusals, number):
    """A commit that is refused for the form of its message alone is found."""
    asked = [(RunCommand(command=text), refused) for text, refused in zip(SAME_WORK, refusals, strict=False)]
    found = [symptom.text for symptom in find_symptoms(outcome(*asked))]
    assert len(found) == number
    assert all("`git commit` is refused with its message in a here-document" in text for text in found)
