"""Differences that last: hooks that refuse every call from then on, or inform only one session."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.stress.mutations.filesystem import StateFile
from pytest_hookharness.campaigns.stress.mutations.other_sessions import TwoAgents, TwoSessions
from pytest_hookharness.model.moves import RunCommand
from pytest_hookharness.model.processes import Exited, Output, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Moved, Step, Trace

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
EMPTIED = StateFile("state.json", "empty", 1)
TRACEBACK = b'Traceback (most recent call last):\n  File "x", line 1\nValueError: no JSON\n'
MARK = Change(path="workspace/.told", how="added")
LAID_DOWN = Change(path="home/.host", how="added")


def asked(refused=False, *, event="PreToolUse", target="Bash", to_agent=(), changes=()):
    ruling = Ruling.DENY if refused else Ruling.NONE
    hook = Hook(event=event, command="./guard.sh")
    run = ProcessResult(ending=Exited(2 if refused else 0))
    hook_run = HookRun(hook=hook, payload={}, run=run, reply=Reply(ruling=ruling, rule=RULE))
    decision = Decision(event=event, ruling=ruling, refused=refused, to_agent=to_agent, rule=RULE)
    return HookEvent(event=event, target=target, hook_runs=(hook_run,), decision=decision, changes=changes)


def calls(*refused):
    """A run of calls, each refused or not."""
    exchanges = [
        (turn, one)
        for turn, no in enumerate(refused, 1)
        for one in (Moved(move=RunCommand(command="true")), asked(no))
    ]
    return Trace(steps=tuple(Step(number=1, turn=turn, exchange=one) for turn, one in exchanges))


def begun(*hooked):
    """A run that has only begun."""
    return Trace(steps=tuple(Step(number=1, turn=0, exchange=one) for one in hooked))


def prompt(*to_agent, changes=(MARK,)):
    return asked(event="UserPromptSubmit", target="", to_agent=to_agent, changes=changes)


def test_every_call_refused_since_a_file_was_broken():
    """A hook that refuses every call since its file was emptied is FAILS-CLOSED."""
    found = EMPTIED.find_difference(calls(False, False, False, False), calls(False, True, True, True))
    assert (found.name, found.hook, found.turn) == ("FAILS-CLOSED", "./guard.sh", 1)


def ended(*codes):
    """A trace of calls in which the hook ends with these exit codes."""
    steps = []
    for turn, code in enumerate(codes, 1):
        hooked = asked()
        said = TRACEBACK if code else b""
        run = ProcessResult(ending=Exited(code), stderr=Output(said, len(said)))
        hooked = replace(hooked, hook_runs=(replace(hooked.hook_runs[0], run=run),))
        exchanges = Moved(move=RunCommand(command="true")), hooked
        steps += [Step(number=1, turn=turn, exchange=one) for one in exchanges]
    return Trace(steps=tuple(steps))


def test_every_run_that_fails_since_a_file_was_broken():
    """A hook that ended well, and fails at each run since its file was emptied, is CRASHED with its error."""
    found = EMPTIED.find_difference(ended(0, 0, 0), ended(0, 1, 1))
    assert (found.name, found.hook, found.turn) == ("CRASHED", "./guard.sh", 2)
    assert 'every later run fails (2 x exit 1: "ValueError: no JSON")' in found.text


@pytest.mark.parametrize(
    ("usual", "varied"), [((0, 0, 0), (0, 1, 0)), ((0, 1, 1), (0, 1, 1)), ((0, 0, 0), (0, 0, 0))]
)
def test_hooks_that_go_on(usual, varied):
    """A hook that recovers, that fails without the harm too, or that never fails, gives no finding."""
    assert EMPTIED.find_difference(ended(*usual), ended(*varied)) is None


@pytest.mark.parametrize(
    ("mutation", "usual", "varied"),
    [
        (EMPTIED, (False, False, False), (False, True, True)),
        (EMPTIED, (False, False, False, False), (False, True, True, False)),
        (EMPTIED, (False, False, False, True), (False, True, True, True)),
        (StateFile("state.json", "delete", 1), (False, False, False, False), (False, True, True, True)),
    ],
)
def test_refusals_that_may_be_meant(mutation, usual, varied):
    """A hook that asks for something again, or had refused before, or finds no file, is no FAILS-CLOSED."""
    assert mutation.find_difference(calls(*usual), calls(*varied)) is None


def test_one_session_is_informed_and_no_other():
    """A hook that does not inform a session because of another session's mark is WRONG-KEY."""
    found = TwoSessions().find_difference(begun(prompt("The rules.")), begun(prompt(changes=())))
    assert (found.name, found.hook) == ("WRONG-KEY", "./guard.sh")


@pytest.mark.parametrize(
    ("mutation", "usual", "varied"),
    [
        (TwoSessions(), prompt("The rules."), prompt("Other rules.")),
        (TwoSessions(), prompt(), prompt()),
        (TwoSessions(), prompt("I made .told for you."), prompt()),
        (
            TwoSessions(),
            prompt("Versions are kept.", changes=(Change(path=".version", how="added"),)),
            prompt(),
        ),
        (TwoSessions(), prompt("Done.", changes=(MARK, *[Change(path="tmp/a", how="added")] * 2)), prompt()),
        (TwoAgents(), prompt("The rules."), prompt()),
    ],
)
def test_words_about_what_was_done(mutation, usual, varied):
    """A session that gets other words, or a report of what was done, is not informed less."""
    assert mutation.find_difference(begun(usual), begun(varied)) is None


def test_the_folders_of_the_host_are_no_marks():
    """Files of the host in the home folder do not hide that a session was not informed."""
    usual = prompt("The rules.", changes=(MARK, *[LAID_DOWN] * 4))
    assert TwoSessions().find_difference(begun(usual), begun(prompt(changes=()))) is not None
