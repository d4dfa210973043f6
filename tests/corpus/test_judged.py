"""
Verdicts on hooks whose truth is known: those of the corpus, and generated ones.

A hook of the corpus is never changed because of what is found here; its label is made by driving it.
"""

from dataclasses import replace

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.verdicts import Livelock, Terminated, Undecided
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .drive import HOOKS
from .grammar import generate
from .test_corpus import KNOWN, script_of

# Enough to reach every end in the corpus; and what is enough to show that a farther end is no livelock.
MANY, FEW = 600, 60
# These need no more than a second, and show one mechanism each.
QUICK = (
    "always_refuses.sh",
    "countdown_of_fifty.sh",
    "fresh_uuid_each_time.sh",
    "logs_every_stop.sh",
    "moves_its_own_limit.sh",
    "starts_over_at_four.sh",
    "two_counters_in_a_race.sh",
    "wraps_at_five.sh",
)
# Runs show less of these than their label says, or more.
OPEN = {
    "commits_at_each_stop.sh": "what git keeps of a commit follows by no rule that is seen",
}
# These depend on the time between two turns; their labels were made without pauses.
PACED = {"cooldown_begins_anew.sh": "1s"}


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    """One harness for all hooks."""
    chosen = Settings(base=tmp_path_factory.mktemp("judged"), wall=300.0)
    with Harness(chosen) as made:
        yield made


def judged(harness, command, *, agent="idle", reach=(), **keys):
    """The outcome of a Stop hook that no guard ends."""
    made = scenario_from(
        {
            "name": "judged",
            "hooks": {"Stop": command},
            "env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"},
            **keys,
        }
    )
    return harness.simulate(replace(made, script=script_from([], then=agent), reach=tuple(reach)))


def agrees(harness, name, turns):
    """Whether the verdict on a hook of the corpus is its label, as far as some turns can show it."""
    script_of(name)
    label = KNOWN[name]
    keys = {"turns": turns, "pace": PACED.get(name, 0)}
    outcome = judged(harness, str(HOOKS / name), agent=label["agent"], reach=[str(HOOKS)], **keys)
    if label["ends_after"] is None:
        assert isinstance(outcome.verdict, Undecided if name in OPEN else Livelock), outcome.verdict
        return
    if label["ends_after"] >= turns:
        assert isinstance(outcome.verdict, Undecided), outcome.verdict
        return
    assert isinstance(outcome.verdict, Terminated), outcome.verdict
    if not label["moved_by"]:
        assert outcome.blocks("Stop") == label["ends_after"]


def needs_many_turns(name):
    """Whether it takes long to see all of a hook, because its end is far away or no verdict is reached."""
    label = KNOWN[name]
    far = label["ends_after"] is not None and label["ends_after"] >= FEW
    return name in OPEN or (far and not label["moved_by"])


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICK)
def test_some_hooks_are_judged_as_they_are(harness, name):
    """A hook of the corpus that ends is driven to its end, and one that never does is a livelock."""
    agrees(harness, name, FEW)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly) for name in sorted(KNOWN.keys() - set(QUICK))],
)
def test_every_hook_is_judged_as_it_is(harness, name):
    """Every hook of the corpus is judged by its proved label, and one with a far end is left undecided."""
    agrees(harness, name, FEW if needs_many_turns(name) else MANY)


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(filter(needs_many_turns, KNOWN)))
def test_far_ends_are_reached(harness, name):
    """With turns enough a hook of the corpus is driven to its end, however far that is."""
    agrees(harness, name, MANY)


def never_false(harness, seed, turns):
    """Whether nothing false is said of a generated hook within some turns."""
    made = generate(seed)
    name = "hook.py" if "python" in made.script.splitlines()[0] else "hook.sh"
    outcome = judged(harness, f"./{name}", files={name: made.script}, turns=turns)
    message = f"{made.mechanism}: {outcome.verdict}\n{made.script}"
    if isinstance(outcome.verdict, Livelock):
        assert made.ends_after is None, message
    if isinstance(outcome.verdict, Terminated):
        assert outcome.blocks("Stop") == made.ends_after, message


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(12))
def test_nothing_false_is_said_of_some_generated_hooks(harness, seed):
    """A generated hook that ends is no livelock, and one that terminates does so when it must."""
    never_false(harness, seed, FEW)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(500))
def test_nothing_false_is_ever_said_of_generated_hooks(harness, seed):
    """None of five hundred generated hooks gets a verdict that contradicts its mechanism."""
    never_false(harness, seed, MANY)
