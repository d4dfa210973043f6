"""Sessions that end are begun at other times too, where the source of their hooks decides by the clock."""

import re
import time
from dataclasses import replace

import pytest

from pytest_hookharness.judging.verdict.assumptions import ASSUMED_CLOCK, UNOBSERVED
from pytest_hookharness.judging.verdict.conclusion import judge_paces
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Step, Trace
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated, Undecided
from pytest_hookharness.simulation import other_times
from pytest_hookharness.simulation.probing.time_shift import UnevenPlays, compare_starts

REFUSE = "echo 'not now' >&2; exit 2"
RULE = Rule("Exit code 2 refuses.", Basis.DOCUMENTED, "a page")
# It allows the stop in this hour and the next, which are known when the test begins.
SHELL = "#!/bin/sh\ncase $(date +%H) in THIS|NEXT) exit 0;; esac\n" + REFUSE
PYTHON = """#!/usr/bin/env python3
import sys, time
if time.strftime("%H") in ("THIS", "NEXT"):
    sys.exit(0)
print("not now", file=sys.stderr)
sys.exit(2)
"""
FAR = f"[ $(date +%Y) -lt 2200 ] && exit 0; {REFUSE}"


def of_this_hour(source):
    now = time.time()
    this, following = (time.strftime("%H", time.gmtime(moment)) for moment in (now, now + 3600))
    return source.replace("THIS", this).replace("NEXT", following)


@pytest.mark.nightly
@pytest.mark.parametrize("source", [SHELL, PYTHON], ids=["sh", "python"])
def test_the_hour_of_the_day_is_found_to_decide(play, source):
    """A hook that allows the stop in this hour only gets CLOCK, with a time of refusal."""
    outcome = play(files={"hook": of_this_hour(source)}, hooks={"Stop": "./hook"})

    assert isinstance(outcome.verdict, Terminated)
    (finding,) = outcome.findings
    assert finding.name == "CLOCK"
    assert "Begun at once, the Stop hooks do not refuse in turn 1; begun" in finding.text
    assert finding.text.endswith(" later, they refuse.")


@pytest.mark.nightly
def test_a_far_date_is_assumed_not_to_decide(play):
    """A hook that allows the stop at all times that are played is said to compare the clock, and where."""
    outcome = play(hooks={"Stop": FAR})

    assert isinstance(outcome.verdict, Terminated)
    assert not outcome.findings
    (assumed,) = (one for one in outcome.assumptions if one.startswith(ASSUMED_CLOCK))
    assert "-lt 2200" in assumed
    assert "begun at 8 other times up to" in assumed
    assert UNOBSERVED not in outcome.assumptions


@pytest.mark.parametrize("hook", ["date >>log", 'echo "$(date +%s) stop" >>log', "sleep 0; true"])
def test_a_logger_is_not_said_to_compare_the_clock(play, hook):
    """A hook that only writes the time down gets no such assumption, and keeps the general one."""
    outcome = play(hooks={"Stop": hook})

    assert not any(one.startswith(ASSUMED_CLOCK) for one in outcome.assumptions)
    assert UNOBSERVED in outcome.assumptions


def decided(*, refused):
    """Return the outcome of one turn whose stop was refused or allowed."""
    event = HookEvent(event="Stop", decision=Decision(event="Stop", refused=refused, rule=RULE))
    steps = (Step(number=1, turn=1, exchange=event),)
    return Outcome(
        scenario=Scenario(name="x"), host="h@1", trace=Trace(steps=steps), verdict=Terminated(turn=1)
    )


def test_a_difference_that_does_not_recur_is_flaky():
    """A session that goes differently when it is begun at the same time once more may depend on chance."""
    later = [True, True, True, True, False]

    def begin(seconds):
        return decided(refused=later.pop(0) if seconds else False)

    finding = compare_starts(decided(refused=False), begin, (60.0,))

    assert finding is not None
    assert finding.name == "FLAKY"
    assert finding.text == "Played again, begun 1 min later, its hooks decided differently than before."


def test_plays_that_differ_at_a_pace_show_no_chance():
    """At a declared pace hooks see how long a play takes, so plays of the same time may end differently."""
    now, later = decided(refused=False), [True, True, True, True, False]
    paced = replace(now, scenario=replace(now.scenario, pace=2.0))

    with pytest.raises(UnevenPlays, match="in turn 1, and another allows the stop"):
        compare_starts(paced, lambda seconds: decided(refused=later.pop(0)) if seconds else now, (60.0,))


@pytest.mark.slow
def test_a_difference_that_cannot_be_played_again_is_told(play, monkeypatch):
    """If time ends after a session that began later differed, the report does not say that none did."""
    played = []

    def once(self, scenario, settings, later=0.0):
        if played:
            raise other_times._Inconclusive
        played.append(later)
        return original(self, scenario, settings, later)

    original = other_times.OtherTimes._play
    monkeypatch.setattr(other_times.OtherTimes, "_play", once)
    outcome = play(hooks={"Stop": f"[ $(date +%s) -lt {int(time.time()) + 3600} ] && exit 0; {REFUSE}"})

    (assumed,) = (one for one in outcome.assumptions if one.startswith(ASSUMED_CLOCK))
    assert "later, they decided differently; no time was left to see whether they do so again" in assumed
    assert "decided the same" not in assumed


def test_under_a_clock_that_decides_it_is_not_assumed_that_none_does():
    """Where other times gave another end, the clock is left out of what is assumed not to decide."""
    outcome = Outcome(
        scenario=Scenario(name="x"),
        host="h@1",
        trace=Trace(),
        verdict=Livelock(stem=1, period=1),
        assumptions=(UNOBSERVED,),
    )
    finding = compare_starts(decided(refused=False), lambda later: decided(refused=bool(later)), (60.0,))
    assert finding is not None
    assert finding.name == "CLOCK"

    (assumed,) = judge_paces(outcome, finding, tried=False).assumptions

    assert "chance" in assumed
    assert "clock" not in assumed


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("date", ["20990301", "2099-03-01"])
def test_a_date_in_the_source_is_played(play, date):
    """A hook that refuses until a date that its source names is found to allow the stop then."""
    compact = 'now=$(date +%Y-%m-%d); [ "$(echo $now | tr -d -)" -ge "$(echo DATE | tr -d -)" ]'
    outcome = play(hooks={"Stop": f"{compact.replace('DATE', date)} && exit 0; {REFUSE}"}, cap="none")

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop after" in outcome.verdict.why
    assert not any("clock" in one for one in outcome.assumptions if one.startswith("Decisions"))


@pytest.mark.slow
def test_a_guard_at_a_pace_is_not_blamed_for_the_shims(play):
    """A bash hook that compares no time keeps its evidence in a scenario with a pace."""
    hook = "#!/bin/bash\n[ -f REVIEW.md ] || { echo 'write REVIEW.md' >&2; exit 2; }\n"
    outcome = play(files={"guard": hook}, hooks={"Stop": "./guard"}, pace="2s")

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "closed"


@pytest.mark.nightly
@pytest.mark.slow
def test_time_at_a_pace_is_seen_by_every_program(play):
    """Experiments at a pace move a clock that no shim reaches, and find the turn that it leads to."""
    hook = (
        "#!/bin/bash\n[ -f .t ] || echo $EPOCHSECONDS >.t\n"
        "[ $((EPOCHSECONDS - $(cat .t))) -gt 900 ] && exit 0\necho 'not yet' >&2\nexit 2\n"
    )
    outcome = play(files={"hook": hook}, hooks={"Stop": "./hook"}, pace="2s")

    assert isinstance(outcome.verdict, Capped)
    assert re.search(r"more such turns \(1[345][.\d]* min\), in turn \d+", outcome.verdict.without.why)


@pytest.mark.nightly
def test_a_count_behind_a_mask_is_not_told_as_a_time(play):
    """Where as many turns at once lead to the stop too, the report names turns and no time."""
    hook = (
        '#!/bin/bash\nmkdir -p state\necho >"state/$(date +%s)-$(ls state | wc -l)"\n'
        "[ $(ls state | wc -l) -gt 12 ] && exit 0\necho 'not yet' >&2\nexit 2\n"
    )
    outcome = play(files={"hook": hook}, hooks={"Stop": "./hook"}, mask=["workspace/state"])

    assert isinstance(outcome.verdict, Capped)
    assert "in turn 13" in outcome.verdict.without.why
    assert "days" not in outcome.verdict.without.why


@pytest.mark.slow
def test_a_source_that_was_shown_no_time_compares_none(play):
    """A script whose words only look like a clock gets no sentence on the time if no program asked for it."""
    outcome = play(
        files={
            "times": "5",
            "hook": 'times=$(cat times); eval "$(cat hooks.env 2>/dev/null)"; [ $times = 5 ]\n',
        },
        hooks={"Stop": "sh ./hook"},
    )

    assert isinstance(outcome.verdict, Terminated)
    assert not any(one.startswith(ASSUMED_CLOCK) for one in outcome.assumptions)


@pytest.mark.nightly
def test_starts_that_the_time_did_not_suffice_for_are_not_counted(play):
    """The report on a slow session counts only the starts that were played."""
    outcome = play(hooks={"Stop": f"sleep 1.3; {FAR}"})

    (assumed,) = (one for one in outcome.assumptions if one.startswith(ASSUMED_CLOCK))
    # How many there are depends on the machine; all eight take longer than twice the session.
    assert re.search(r"begun at [1-7] other times? up to|Other times were not played", assumed)


@pytest.mark.nightly
def test_a_guard_by_the_hour_gets_advice_for_guards(play):
    """Where calls are refused at other hours, the finding and its advice are about calls and no stop."""
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard"}]}
    outcome = play(
        files={"guard": of_this_hour(SHELL)},
        hooks={"PreToolUse": [guard]},
        agent=[{"prompt": "Go."}, {"run": "true"}, {"stop": "Done."}],
    )

    (finding,) = (one for one in outcome.findings if one.name == "CLOCK")
    assert "the PreToolUse hooks do not refuse in turn 1" in finding.text
    assert "at every hour" in finding.advice


@pytest.mark.nightly
def test_a_limit_of_an_hour_is_not_left_to_parts_of_a_second(play):
    """A hook that allows the stop after more than an hour does so in each play of a slow agent."""
    source = (
        "#!/bin/sh\nnow=$(date +%s)\n[ $((now - $(cat at 2>/dev/null || echo $now))) -gt 3600 ] && exit 0\n"
        f"echo $now > at; echo x >> n; [ $(wc -l < n) -gt 3 ] && exit 0; {REFUSE}\n"
    )
    outcome = play(files={"hook": source}, hooks={"Stop": "./hook"})

    (text,) = (finding.text for finding in outcome.findings if finding.name == "CLOCK")
    assert text.endswith("it allows the stop in turn 2.")
    assert not any(finding.name == "FLAKY" for finding in outcome.findings)
