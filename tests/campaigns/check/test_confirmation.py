"""Claims about the second session that confirms an endless loop, where our own time ends first."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.confirmation import Confirmation
from pytest_hookharness.campaigns.check.grouping import group
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.model.verdicts import Undecided


@pytest.fixture
def confirm(plugin, harness):
    """The confirmation of an endless loop, whose second session our own time cuts."""

    def make(*reasons):
        session = replace(plan_each_event(hook_set := plugin("exit 2")), active="started")
        outcome = play_session(session, harness.settings, harness.resources)
        assert outcome.verdict_name == "livelock"
        seen = group(hook_set, [PlayedSession(session, outcome)], mark="mark")
        (evidence,) = (one for one in seen if one.symptom.kind == "livelock")
        played = replace(outcome, verdict=Undecided(why="", reasons=frozenset(reasons), turn=2))
        return Confirmation(hook_set, lambda: 9.0, lambda *_: played, evidence).run(None)[1]

    return make


@pytest.mark.slow
def test_a_loop_that_went_on_until_our_time_ended(confirm):
    """A proved loop stays a problem if its second session is cut by our time while all stops are refused."""
    assert confirm("time") is not None


@pytest.mark.slow
def test_a_second_session_without_a_loop(confirm):
    """A loop is not confirmed by a second session that was not cut and shows none."""
    assert confirm() is None
