"""Hosts that end a run by limits of their own, with real hooks in real processes."""

from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated
from pytest_hookharness.reports.terminal import story

REFUSE = "echo fix >&2; exit 2"
FINISH = {"tool": {"name": "finish", "input": {"message": "Done."}}}


def test_a_proof_looks_past_the_limits_of_the_host(play):
    """A proved loop on a host that ends every long run names the limit that would end it, and when."""
    outcome = play(host="openhands", hooks={"Stop": REFUSE}, agent=[{"prompt": "Fix it."}])

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.cap is None
    assert any("500" in text for text in outcome.verdict.assumptions)
    assert [limit.turn for limit in outcome.verdict.limits] == [500]
    report = story.story(outcome)
    assert "openhands@1.58 would end the run in turn 500" in report
    assert "limit:   turn 500: the host allows an agent 500 moves in a turn" in report


def test_a_run_that_ends_at_the_limit(play):
    """A run that reaches the limit of moves is capped by that limit, with the host's own message."""
    agent = [{"prompt": "Fix it."}, *[{"run": "true"}] * 9]
    options = {"max_iteration_per_run": 3, "stuck_detection": False}

    outcome = play(
        host="openhands@pr3183", hooks={"Stop": REFUSE}, agent=agent, options=options, until="guard"
    )

    assert isinstance(outcome.verdict, Capped)
    assert (outcome.verdict.turn, outcome.verdict.status) == (3, "error")
    assert "3 moves" in outcome.verdict.cap.why


def test_an_agent_that_stops_by_a_call(play):
    """A session that ends with a call of the finishing tool has terminated like one that ends with a text."""
    once = "[ -e said ] && exit 0; touch said; echo fix >&2; exit 2"

    outcome = play(host="openhands", hooks={"Stop": once}, agent=[{"prompt": "Fix it."}, FINISH, FINISH])

    assert outcome.verdict == Terminated(turn=2)
    assert outcome.blocks("Stop") == 1


def test_an_option_that_does_nothing(play):
    """An option that the host accepts and ignores is a finding, and one with an effect is not."""
    given = {"hooks": {"Stop": "true"}, "agent": [{"prompt": "Fix it."}]}
    options = {"max_consecutive_stop_denials": 2}

    found = [
        [finding.name for finding in play(host=host, options=options, **given).findings]
        for host in ("openhands@1.58", "openhands@pr3183")
    ]

    assert found == [["OPTION-IGNORED"], []]


def test_a_warning_of_the_host_is_no_contradiction(play):
    """A host that warns an agent of a repetition, and then ends its turn, makes no hook seem flaky."""
    outcome = play(
        host="gemini-cli",
        hooks={"AfterAgent": "grep -q '\"stop_hook_active\":true' && exit 0; echo fix >&2; exit 2"},
        agent=[{"prompt": "Fix it."}, {"stop": "Done."}],
        then="repeating",
    )

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.status == "loop detected"
    assert not outcome.findings
