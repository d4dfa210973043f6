"""Claims about scripts that are played on one testbed, with real hooks."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.reproduce.loop_plays import open_resumed_plays
from pytest_hookharness.campaigns.reproduce.reproduction import replayed_refusals
from pytest_hookharness.campaigns.reproduce.reproduction_run import describe_others
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand, Script, Stop
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Settings

BREAKS = RunCommand(command="touch broken")
OTHERS = tuple(RunCommand(command=f"echo {number} >> notes.txt") for number in range(4))
WHOLE = Scenario(
    name="n",
    hooks={"Stop": [{"hooks": [{"type": "command", "command": "test ! -e broken || exit 2"}]}]},
    script=Script(acts=(FIRST_PROMPT, *OTHERS[:2], BREAKS, *OTHERS[2:], Stop())),
)


def with_acts(*acts):
    return replace(WHOLE, script=Script(acts=(FIRST_PROMPT, *acts)))


@pytest.fixture
def plays():
    def seen(trace, _folders):
        return bool(replayed_refusals(trace))

    with (
        Harness(Settings()) as harness,
        open_resumed_plays(
            WHOLE, harness.settings, harness.resources, seen=seen, endless=True, remaining=lambda: 30.0
        ) as plays,
    ):
        yield plays


@pytest.mark.slow
def test_what_cannot_show_the_loop_is_ruled_out(plays):
    """A script without the move that breaks something is ruled out, with or without the files it left."""
    assert not plays.rules_out(WHOLE)
    assert plays.rules_out(with_acts(*OTHERS, Stop()))
    assert not plays.rules_out(with_acts(BREAKS, Stop()))
    assert plays.rules_out(with_acts(Stop()))


@pytest.mark.slow
def test_a_loop_that_the_agent_ends_is_ruled_out(plays):
    """A script that repairs what it broke ends by itself, so it shows no loop."""
    assert plays.rules_out(with_acts(BREAKS, Stop(), RunCommand(command="rm broken"), Stop()))


@pytest.mark.slow
def test_nothing_follows_about_another_scenario(plays):
    """A scenario with other files is not ruled out, because it would be another testbed."""
    assert not plays.rules_out(replace(with_acts(Stop()), files={"a": ""}))


def test_a_testbed_that_cannot_be_opened():
    """Without time to open a testbed there is nothing to resume, and no error."""
    with (
        Harness(Settings(wall=0.0)) as harness,
        open_resumed_plays(
            WHOLE,
            harness.settings,
            harness.resources,
            seen=lambda *_: True,
            endless=True,
            remaining=lambda: 0.0,
        ) as plays,
    ):
        assert plays is None


def test_hooks_of_other_loops_that_stay_are_told(tmp_path):
    """Hooks of other loops that ran in the scenario of a loop all the same are reported as such."""
    (command,) = (hook["command"] for hook in WHOLE.hooks["Stop"][0]["hooks"])
    with Harness(Settings(base=tmp_path)) as harness:
        outcome = harness.simulate(with_acts(Stop()))

    gone, still = describe_others(frozenset({"./gone.sh", command}), outcome)
    assert gone == "in the scenarios of this loop, hooks of other loops: `./gone.sh`"
    assert still.startswith(f"not `{command}`, hooks of other loops whose settings cannot be changed")
    assert [*describe_others(frozenset(), outcome)] == []
