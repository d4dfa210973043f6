"""Loops that a host's cap ends are played on without it before anything is claimed of their hooks."""

import pytest

from pytest_hookharness.model.verdicts import Capped, Livelock
from pytest_hookharness.reports.terminal.verdict_text import first_line

# No experiment finds the limit, for the time of a file is no content.
MOVES_A_TIME = (
    "at=$(stat -c %Y moved 2>/dev/null || echo 1000000000); touch -d @$((at + 60)) moved; "
    '[ $at -ge 1000001200 ] && exit 0; echo "not yet: $at" >&2; exit 2'
)
CAP = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "4"}


def reasons(outcome):
    """Return what the hooks said when they refused the stop."""
    return [hook_run.reply.reason for _, hook_run in outcome.trace.hook_runs() if hook_run.reply.reason]


@pytest.mark.slow
def test_the_hooks_own_end_beyond_the_cap_is_played(play):
    """A hook that would allow the stop after the host's cap is reported as such, and is no livelock."""
    outcome = play(hooks={"Stop": MOVES_A_TIME}, env=CAP)

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.without.name == "terminated"
    assert outcome.verdict.without.why == "the hooks allow the stop in turn 21 (played on)"


@pytest.mark.slow
def test_turns_beyond_the_cap_leave_nothing_behind(play):
    """The session goes on from where it was before the turns that were played beyond the cap."""
    outcome = play(hooks={"Stop": MOVES_A_TIME}, env=CAP)

    said = [int(reason.split()[-1]) for reason in reasons(outcome)]
    assert said == [1_000_000_000 + 60 * turn for turn in range(5)]


@pytest.mark.slow
def test_a_driven_livelock_names_the_turns_beyond_the_cap(play):
    """A loop that does not end by the allowed turns is a livelock, and they are counted in its evidence."""
    outcome = play(hooks={"Stop": MOVES_A_TIME}, env=CAP, turns=15)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert "no end in 15 turns" in first_line(outcome)


@pytest.mark.nightly
def test_without_a_cap_nothing_is_played_twice(play):
    """On a host that ends no loop, the allowed turns are real ones."""
    outcome = play(hooks={"Stop": MOVES_A_TIME}, env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}, turns=15)

    assert isinstance(outcome.verdict, Livelock)
    assert not any(report.uncapped for report in outcome.probe_reports)
