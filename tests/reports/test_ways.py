"""What each turn of a run came to, for the comparison of hosts."""

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
    """One asking of one hook in turn 1."""
    payload = {} if flag is None else {"stop_hook_active": flag}
    reply = Reply(fault=fault, ruling=ruling, rule=READING)
    fire = HookRun(hook=Hook(event="Stop", command="./x"), payload=payload, run=None, reply=reply)
    decided = Ruling.DENY if refused else Ruling.NONE
    return HookEvent(
        event="Stop",
        hook_runs=(fire,),
        decision=Decision(event="Stop", ruling=decided, refused=refused, rule=EVENT),
    )


def came(*asked):
    """What a turn with these askings came to."""
    steps = tuple(Step(number=number, turn=1, exchange=one) for number, one in enumerate(asked))
    trace = Trace(steps=steps)
    turns = path_of(Outcome(scenario=Scenario(name="x"), host="a", trace=trace, verdict=Terminated(turn=1)))
    assert json.loads(json.dumps(turns)) == turns
    return turns[0]


def test_a_turn_came_to_what_was_lost_in_it():
    """A note of what the host could not use comes with the rule by which it was read."""
    turn = came(hooked("ignored: block is no refusal"), hooked())

    assert (turn["came"], turn["noted"], turn["fact"]) == (
        "allowed",
        "ignored: block is no refusal",
        READING.text,
    )


def test_an_undone_refusal_is_noted():
    """A refusal that other words undid is noted, with the rule of its event."""
    turn = came(hooked(ruling=Ruling.DENY), hooked())

    assert (turn["came"], turn["noted"], turn["fact"]) == ("allowed", "a refusal was overruled", EVENT.text)


def test_what_held_the_agent_up_counts():
    """A refusal that held goes before everything that was lost in its turn."""
    turn = came(hooked("crashed: exit code 1"), hooked(ruling=Ruling.DENY, refused=True))

    assert (turn["came"], turn["noted"]) == ("refused", "")


def test_what_hooks_were_told_of_earlier_refusals():
    """The flag stands with the turn as it was told, and nothing if it was not."""
    assert [came(hooked(flag=flag))["flag"] for flag in (True, False, None)] == ["true", "false", ""]
