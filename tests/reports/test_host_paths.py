"""The result of each turn of a run, for the comparison of hosts."""

import json

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.terminal.host_matrix import path_of

READING = Rule("the word deny refuses", Basis.OBSERVED, "a host")
EVENT = Rule("a hint undoes a refusal", Basis.OBSERVED, "a host")


def hooked(fault=None, *, ruling=Ruling.NONE, refused=False, flag=None):
    """Return the event of one hook in turn 1."""
    payload = {} if flag is None else {"stop_hook_active": flag}
    reply = Reply(fault=fault, ruling=ruling, rule=READING)
    hook_run = HookRun(hook=Hook(event="Stop", command="./x"), payload=payload, run=None, reply=reply)
    decided = Ruling.DENY if refused else Ruling.NONE
    return HookEvent(
        event="Stop",
        hook_runs=(hook_run,),
        decision=Decision(event="Stop", ruling=decided, refused=refused, rule=EVENT),
    )


def result_of(*asked):
    """Return the path entry of a turn with these hook events."""
    steps = tuple(Step(number=number, turn=1, exchange=one) for number, one in enumerate(asked))
    trace = Trace(steps=steps)
    turns = path_of(Outcome(scenario=Scenario(name="x"), host="a", trace=trace, verdict=Terminated(turn=1)))
    assert json.loads(json.dumps(turns)) == turns
    return turns[0]


def test_a_note_has_the_rule_by_which_the_reply_was_read():
    """A note of what the host could not use has the rule by which it was read."""
    turn = result_of(hooked("ignored: block is no refusal"), hooked())

    assert (turn["result"], turn["note"], turn["fact"]) == (
        "allowed",
        "ignored: block is no refusal",
        READING.text,
    )


def test_an_undone_refusal_is_noted():
    """A refusal that another reply undid is noted, with the rule of its event."""
    turn = result_of(hooked(ruling=Ruling.DENY), hooked())

    assert (turn["result"], turn["note"], turn["fact"]) == ("allowed", "a refusal was overruled", EVENT.text)


def test_a_refusal_counts_before_a_note():
    """A refusal comes before everything that the host could not use in that turn."""
    turn = result_of(hooked("crashed: exit code 1"), hooked(ruling=Ruling.DENY, refused=True))

    assert (turn["result"], turn["note"]) == ("refused", "")


def test_the_flag_of_earlier_refusals():
    """A turn has the flag as it was in the payload; it is empty if there was none."""
    assert [result_of(hooked(flag=flag))["flag"] for flag in (True, False, None)] == ["true", "false", ""]
