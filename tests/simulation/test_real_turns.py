"""Loops whose real turns are ended by time before the allowed number, with real hooks."""

import dataclasses
import re

import pytest

from pytest_hookharness.model.verdicts import Capped, Livelock, Undecided

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "sleep 0.1; echo run the tests >&2; exit 2"
# No experiment changes how long the machine runs, and it is never 7 s.
UPTIME = f'read up _ < /proc/uptime; [ "${{up%.*}}" = 7 ] && exit 0; {REFUSE}'
SATURATED = (
    "n=$(cat n 2>/dev/null || echo 0); [ $n -gt 6 ] && exit 0; [ $n = 6 ] || n=$((n+1)); echo $n > n; "
)
COUNT = "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; "


@pytest.fixture
def stop(harness, play):
    """Play a Stop hook with some seconds for everything."""

    def run(command, *, wall=6.0, env=OFF, **keys):
        whole = harness.settings
        harness.settings = dataclasses.replace(whole, wall=wall)
        try:
            return play(hooks={"Stop": command}, env=env, **keys)
        finally:
            harness.settings = whole

    return run


@pytest.mark.nightly
def test_time_ends_the_turns_of_a_hook_that_reads_what_no_experiment_changes(stop):
    """With less than the allowed turns such a loop is undecided, with a budget that would be enough."""
    outcome = stop(UPTIME)

    assert isinstance(outcome.verdict, Undecided)
    turns = f"time budget used up: a third of 6 s for {outcome.iterations} of 200 turns"
    assert outcome.verdict.why.startswith(f"{turns}; all turns may need ")
    assert "--hook-budget " in outcome.verdict.why
    assert outcome.verdict.why.endswith("no experiment changed /proc/uptime")


@pytest.mark.nightly
def test_the_allowed_turns_are_enough(stop):
    """Where all allowed turns were played, the loop is driven, whatever the hook reads."""
    outcome = stop(UPTIME, turns=5)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.matters) == ("driven", ("/proc/uptime",))


@pytest.mark.nightly
def test_turns_beyond_the_cap_that_time_ends(stop):
    """Where the host's cap comes first, it ends the loop, and what hooks do without it is left open."""
    outcome = stop(UPTIME, env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "4"})

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.without.name == "undecided"
    assert outcome.verdict.without.why.startswith("time budget used up: a third of 6 s for ")
    # A play without the cap, in the rest of the time, would show no more.
    assert outcome.wall < 5.0


@pytest.mark.nightly
@pytest.mark.parametrize("read", ["n=$(($$ % 99999)); [ $n = 1 ] && exit 0; ", COUNT, SATURATED])
def test_experiments_with_all_that_matters_are_enough(stop, read):
    """A slow hook that reads only what experiments change, or what differs in every run, is driven."""
    outcome = stop(f"{read}{REFUSE}".replace("0.1", "0.05"), wall=9.0)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.iterations < 200


@pytest.mark.nightly
@pytest.mark.slow
def test_what_hides_in_a_digest_is_not_ruled_out(stop):
    """A slow hook that ends by a later digest of its own is no livelock, for no experiment finds that one."""
    chain = "h=$(cat h 2>/dev/null || echo 0); h=$(echo $h | sha256sum | cut -c1-64); echo $h > h; "
    outcome = stop(f"{chain}case $h in 00000*) exit 0; esac; {REFUSE}".replace("0.1", "0.05"), wall=9.0)

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.verdict.why.startswith("time budget used up: a third of 9 s for ")
    assert "no experiment changed workspace/h" in outcome.verdict.why


@pytest.mark.nightly
def test_a_mask_is_the_claim_of_its_author(stop):
    """Where the author declares differences irrelevant, the evidence stays that claim."""
    outcome = stop(f"date +%N > log; {UPTIME}", mask=["workspace/log"])

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "masked"


@pytest.mark.slow
@pytest.mark.nightly
def test_turns_without_a_hook_run_make_no_budget_smaller(stop):
    """The time for all turns is estimated from those in which a hook ran, as later turns are like them."""
    agent = [{"run": "true"}] * 6 + [{"stop": "Done."}]
    outcome = stop("sleep 1; exit 2", wall=7.0, agent=agent)

    assert isinstance(outcome.verdict, Undecided)
    found = re.search(r"for (\d+) of 200 turns.* all turns may need (\d+)m", outcome.verdict.why)
    assert found is not None
    # Six of the turns were without a hook run.
    assert int(found[2]) * 60 >= 7 * 200 / max(1, int(found[1]) - 6)
