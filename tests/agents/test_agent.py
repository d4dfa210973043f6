"""The scripted agent as a value."""

import dataclasses
import itertools
import pickle
import random
from pathlib import Path

import pytest

from pytest_hookharness.agents import BEHAVIOURS, Playback, UnknownBehaviour, start
from pytest_hookharness.agents.behaviours import errors_at
from pytest_hookharness.model.moves import (
    Behaviour,
    Edit,
    Message,
    Observation,
    Prompt,
    Reaction,
    RunCommand,
    Script,
    Stop,
)
from pytest_hookharness.model.scenario import Origin, Scenario

REFUSED = Observation((Message("feedback", "tests fail", "Stop"),))
NOTHING = Observation()


def play(agent, *observations):
    acts = []
    for observation in observations:
        act, agent = agent.act(observation)
        acts.append(act)
    return acts, agent


def test_script_order():
    """The acts of a script come in the written order, and then the behaviour follows."""
    agent = start(Script(acts=(Prompt(text="go"), RunCommand(command="ls"), Stop(text="one"))))

    acts, _ = play(agent, NOTHING, NOTHING, NOTHING, REFUSED)

    assert [Prompt(text="go"), RunCommand(command="ls"), Stop(text="one"), Stop(text="Done.")] == acts


def test_what_is_heard():
    """Only a behaviour that reads texts hears them; a reaction hears whether it is meant."""
    later = Observation((Message("feedback", "tests fail in 3 s", "Stop"),))
    deaf = start(Script(then=Behaviour(name="idle")))
    reading = start(Script(then=Behaviour(name="quoting")))
    reacting = start(Script(reactions=(Reaction(event="Stop", reason="3 s", moves=(Stop(),)),)))

    assert deaf.heard(REFUSED) == deaf.heard(later) != deaf.heard(NOTHING)
    assert reading.heard(REFUSED) != reading.heard(later)
    assert reacting.heard(REFUSED) != reacting.heard(later)


def test_a_behaviour_of_the_same_name_hears_everything():
    """A behaviour of a plugin may read texts, whatever it is called."""
    agent = start(Script(then=Behaviour(name="idle")), {**BEHAVIOURS, "idle": BEHAVIOURS["quoting"]})

    assert agent.heard(REFUSED) == tuple(map(repr, REFUSED.messages))


def test_prompt_is_added():
    """A script that does not start with a prompt gets one."""
    act, _ = start(Script(acts=(Stop(),))).act(NOTHING)

    assert isinstance(act, Prompt)


def test_same_value_same_act():
    """An agent can be restored: the same value always makes the same move."""
    _, agent = play(start(Script(then=Behaviour(name="editing"))), NOTHING, NOTHING, REFUSED, REFUSED)

    assert agent.act(REFUSED) == agent.act(REFUSED)


def test_moves_are_skipped_after_the_end_of_a_turn():
    """Moves that were written for a refusal that did not happen are skipped up to the next event."""
    agent = start(Script(acts=(Prompt(text="a"), Stop(), Stop(), Prompt(text="b"))))
    _, agent = play(agent, NOTHING, NOTHING)

    act, agent = agent.act(NOTHING, turn_over=True)

    assert Prompt(text="b") == act
    assert agent.act(NOTHING, turn_over=True)[0] is None


def test_idle_position_recurs():
    """An idle agent that gets the same refusal has the same position as before."""
    _, second = play(start(Script()), NOTHING, NOTHING, REFUSED, REFUSED)
    _, third = play(second, REFUSED)

    assert second.position == third.position
    assert "" == third.position.opaque


def test_editing_position_never_recurs():
    """An agent that counts its files never has the same position twice."""
    agent = start(Script(then=Behaviour(name="editing")))
    places = set()
    for _ in range(20):
        _, agent = agent.act(REFUSED)
        places.add(agent.position.text)

    assert 20 == len(places)


def test_loop_iterators_are_part_of_the_position():
    """The hidden iterator of a for loop is part of the position."""

    def twice_then_once(seen):
        while True:
            for text in ["a", "a", "b"]:
                yield Stop(text=text)

    agent = start(Script(then=Behaviour(name="t")), {"t": twice_then_once})
    _, agent = play(agent, NOTHING, *[REFUSED] * 7)
    places = []
    for _ in range(6):
        places.append(agent.position.text)
        _, agent = agent.act(REFUSED)

    assert 3 == len(set(places))
    assert places[:3] == places[3:]


def test_iterators_that_cannot_be_inspected_are_opaque():
    """An iterator whose contents cannot be read makes the position opaque."""

    def cycling(seen):
        for text in itertools.cycle(["a", "b"]):
            yield Stop(text=text)

    _, agent = play(start(Script(then=Behaviour(name="c")), {"c": cycling}), NOTHING, NOTHING)

    assert "itertools.cycle" in agent.position.opaque


def test_values_that_cannot_be_compared_are_opaque():
    """A behaviour that keeps a random generator makes the position opaque."""

    def dicing(seen, dice=None):
        dice = random.Random(0)  # noqa: S311
        while True:
            yield Stop(text=str(dice.random()))

    _, agent = play(start(Script(then=Behaviour(name="dicing")), {"dicing": dicing}), NOTHING, NOTHING)

    assert "'dicing' remembers a Random in 'dice'" in agent.position.opaque


def test_inner_generators_are_compared():
    """A behaviour that delegates to another with yield from is compared through it."""

    def outer(seen):
        yield from BEHAVIOURS["oscillating"](seen)

    agent = start(Script(then=Behaviour(name="outer")), {"outer": outer})
    _, agent = play(agent, *[NOTHING] * 6)
    first = agent.position
    _, agent = play(agent, *[NOTHING] * 4)

    assert first == agent.position
    assert first != play(agent, NOTHING)[1].position


def test_reaction():
    """A reaction replaces the next move when its event and its text occurred."""
    heal = Reaction(
        event="Stop", reason="tests? fail", moves=(RunCommand(command="make"), Stop(text="healed")), times=1
    )
    agent = start(Script(reactions=(heal,)))

    acts, _ = play(agent, NOTHING, NOTHING, REFUSED, NOTHING, REFUSED)

    assert [RunCommand(command="make"), Stop(text="healed"), Stop(text="Done.")] == acts[2:]


def test_unknown_behaviour_names_the_nearest():
    """An unknown behaviour is an error that names the nearest one."""
    with pytest.raises(UnknownBehaviour, match="did you mean 'idle'"):
        start(Script(then=Behaviour(name="idel")))


def test_unknown_option_names_the_known_ones():
    """An unknown option of a behaviour is an error that names the nearest one, and lists the known ones."""
    with pytest.raises(UnknownBehaviour, match="no option 'txt'; did you mean 'text'"):
        start(Script(then=Behaviour(name="idle", options={"txt": "x"})))


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_every_behaviour_stops(name):
    """Every behaviour tries to stop within five moves."""
    options = {"tag": "x"} if name == "promising" else {}
    agent = start(Script(then=Behaviour(name=name, options=options)))

    acts, _ = play(agent, *[NOTHING] * 6)

    assert any(isinstance(act, Stop) for act in acts)


def test_editing_never_repeats_a_file():
    """The editing agent writes a new file in every round."""
    acts, _ = play(start(Script(then=Behaviour(name="editing"))), *[NOTHING] * 9)

    files = [act.file for act in acts if isinstance(act, Edit)]
    assert len(files) == len(set(files)) == 4


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_an_agent_that_goes_on_is_the_one_that_is_replayed(name):
    """An agent that resumes its behaviour moves and stands as one that replays all that it saw."""
    options = {"tag": "done"} if name == "promising" else {}
    script = Script(then=Behaviour(name=name, options=options))
    messages = [Observation((Message("feedback", f"failed {n % 3}", "Stop"),)) for n in range(8)]
    agents = [start(script)]
    for seen in [NOTHING, *messages]:
        act, after = agents[-1].act(seen)
        fresh = dataclasses.replace(agents[-1], playback=Playback())
        assert (act, after) == fresh.act(seen)
        assert after.position == dataclasses.replace(after, playback=Playback()).position
        agents.append(after)

    # Out of order: the kept generator has seen too much, or something else.
    for agent in reversed(agents):
        assert agent.position == dataclasses.replace(agent, playback=Playback()).position
    assert pickle.loads(pickle.dumps(agents[-1])) == agents[-1]  # noqa: S301 - written here


def test_an_error_names_the_place_of_the_script():
    """An error about a behaviour begins with the line of the agent in the scenario file."""
    origin = Origin(file=Path("a.scenario.yaml"), marks={"agent": (7, 3)})
    scenario = Scenario(name="a", script=Script(then=Behaviour(name="idel")), origin=origin)
    with pytest.raises(UnknownBehaviour, match=r"^a\.scenario\.yaml:7 agent: unknown"), errors_at(scenario):
        start(scenario.script)
