"""What the cap of a host does and what the hooks would do without it: two things, and both are reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_hookharness.judging.verdict.conclusion import judge_without_cap
from pytest_hookharness.model.probes import ProbeReport, Threshold
from pytest_hookharness.model.verdicts import Capped, Livelock, Undecided
from pytest_hookharness.reports.terminal.advice import advice
from pytest_hookharness.reports.terminal.verdict_text import first_line

COUNT = (
    "n=$(($(cat .n 2>/dev/null || echo 0)+1)); echo $n > .n; [ $n -gt {0} ] && exit 0; echo more >&2; exit 2"
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("limit", "why"),
    [
        (20, "allow the stop in turn 21 (played on)"),
        (200, "would allow the stop at 200 in workspace/.n, in turn 201"),
    ],
)
def test_a_threshold_behind_the_cap(play, limit, why):
    """The same hook is capped wherever its own threshold lies, and both are in the first line."""
    outcome = play(
        hooks={"Stop": COUNT.format(limit)},
        turns=40,
        expect={"verdict": "capped", "guard": {"overrides": 9}, "without_cap": "terminated"},
    )

    assert isinstance(outcome.verdict, Capped)
    assert not outcome.violations
    line = first_line(outcome)
    assert "overrode the 9th refusal in a row, in turn 9" in line
    assert f"without the cap, the hooks {why}" in line
    # More turns alone show nothing on this host.
    assert ("`turns: 211` and `cap: none`" in advice(outcome)) is (limit == 200)
    assert ("turns:" in advice(outcome)) is (limit == 200)


def test_a_livelock_behind_a_cap(play):
    """A livelock on a host with a cap names the cap, and an expectation can name either."""
    outcome = play(
        hooks={"Stop": "echo more >&2; exit 2"},
        expect={"verdict": "livelock", "guard": {"overrides": 9}, "without_cap": "livelock"},
    )

    assert isinstance(outcome.verdict, Livelock)
    assert not outcome.violations
    assert first_line(outcome).endswith(
        "; only the cap of claude-code@2.1.329 ends it, at the 9th refusal in a row"
    )


@pytest.mark.slow
def test_a_value_at_which_no_stop_is_allowed_is_no_way_to_see_one(play):
    """The advice to play until a count stops growing does not promise that the stop is then allowed."""
    count = "n=$(cat .n 2>/dev/null || echo 0); [ $n -ge 45 ] && exit 0; [ $n -lt 30 ] && n=$((n + 1))"
    outcome = play(
        host="gemini-cli", hooks={"AfterAgent": f"{count}; echo $n > .n; echo more >&2; exit 2"}, turns=12
    )

    assert isinstance(outcome.verdict, Undecided)
    assert "To see what happens then, give the run" in advice(outcome)
    assert "allowed" not in advice(outcome)


@pytest.mark.nightly
@pytest.mark.parametrize("calls", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_cap_that_calls_reset_acts_on_no_run_with_calls(play, calls):
    """Where no state came again, the cap is named only if no call was made since the last refusal but one."""
    count = "git -c user.name=x -c user.email=x@y commit --allow-empty -qm y; git rev-parse HEAD > .git/seen"
    outcome = play(
        hooks={"Stop": f"cat .git/seen; {count}; echo more >&2; exit 2"},
        git=True,
        turns=8,
        agent=[{"prompt": "go"}],
        then={"obedient": {"run": "true"}} if calls else "idle",
        expect={"verdict": "undecided"},
    )

    assert isinstance(outcome.verdict, Undecided)
    assert ("would override" in first_line(outcome)) is not calls


def test_a_livelock_of_a_run_until_the_cap(play):
    """A run that is played until the cap still says that the hooks never allow the stop, and why."""
    outcome = play(
        hooks={"Stop": "echo more >&2; exit 2"},
        until="guard",
        expect={"verdict": "capped", "without_cap": "livelock"},
    )

    assert not outcome.violations
    assert "closed evidence" in outcome.verdict.without.why
    assert "without the cap, the hooks never allow the stop (the same every turn" in first_line(outcome)


@pytest.mark.nightly
def test_what_hooks_do_without_the_cap_is_not_always_known(play):
    """Chance that hooks read leaves open what they would do without the cap; that is said, not guessed."""
    outcome = play(
        hooks={"Stop": "cat noise 2>/dev/null | wc -c; head -c 9 /dev/urandom > noise; exit 2"},
        turns=12,
        expect={"verdict": "capped", "without_cap": "livelock", "findings": ["SILENT-REFUSAL"]},
    )

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.without.name == "undecided"
    assert [item.path for item in outcome.violations] == ["expect.without_cap"]


@pytest.mark.parametrize(
    ("hook", "name", "why"),
    [
        ("echo more >&2; exit 2", "livelock", "never allow the stop (played again; closed evidence)"),
        (COUNT.format(6), "terminated", "the hooks allow the stop in turn 7 (played again)"),
    ],
)
def test_a_cap_too_small_to_tell(play, hook, name, why):
    """Where the cap acts before anything can be concluded, the scenario is played once more without it."""
    outcome = play(hooks={"Stop": hook}, cap=2, expect={"verdict": "capped", "without_cap": name})

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.turn == 3
    assert why in outcome.verdict.without.why
    assert not outcome.violations


@pytest.mark.parametrize(
    ("allows", "why"), [(True, "but did at 12:00 (an experiment)"), (False, "never allow the stop")]
)
def test_a_time_that_an_experiment_found_before_the_cap(play, allows, why):
    """Hooks that allowed the stop at another time are not said to never allow it."""
    alone = play(hooks={"Stop": "echo more >&2; exit 2"}, cap="none")
    capped = play(hooks={"Stop": "echo more >&2; exit 2"}, cap=2, until="guard")
    found = Threshold(at="12:00", what="the stop is allowed", seconds=3600.0, allows_stop=allows)
    tried = replace(capped, probe_reports=(ProbeReport(turn=2, period=1, threshold=found),))

    assert why in judge_without_cap(tried, alone).verdict.without.why


@pytest.mark.slow
def test_turns_before_the_cap(play):
    """A run whose turns end before the cap is undecided, and advice knows of the cap."""
    outcome = play(hooks={"Stop": COUNT.format(50)}, turns=5)

    assert isinstance(outcome.verdict, Undecided)
    said = advice(outcome)
    assert "`turns: 61` and `cap: none`" in said
    assert "the cap of claude-code@2.1.329 overrides the 9th refusal before" in said


@pytest.mark.nightly
def test_a_threshold_before_the_cap(play):
    """A threshold that lies before the cap is reached with real turns, and advised with turns alone."""
    assert play(hooks={"Stop": COUNT.format(7)}).terminated

    outcome = play(hooks={"Stop": COUNT.format(7)}, turns=5)
    assert "cap: none" not in advice(outcome)


@pytest.mark.nightly
def test_no_cap_shows_the_threshold(play):
    """What is said of the hooks without the cap is what they do if the scenario takes the cap away."""
    outcome = play(hooks={"Stop": COUNT.format(20)}, cap="none")

    assert outcome.terminated
    assert outcome.iterations == 21
