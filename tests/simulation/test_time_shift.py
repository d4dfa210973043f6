"""Time that passes for the hooks only: waits, paces, and the verdicts on them."""

import re
import shutil
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.judging.verdict.assumptions import CLOCKS
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Moved, Step, Trace
from pytest_hookharness.model.verdicts import Finding, Livelock, Terminated, Undecided
from pytest_hookharness.reports.terminal.advice import advice
from pytest_hookharness.reports.terminal.story import first_line
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation import simulate, single_run
from pytest_hookharness.simulation.probing.time_shift import HUMAN, SLOW, compare, find_doubt
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo 'run the tests' >&2; exit 2"
ASKED = "date +%s >>asked; "


def times(outcome):
    """Return the times that hooks read, from the text that they wrote."""
    (said,) = [hook_run.run.stdout.text for _, hook_run in outcome.trace.hook_runs()][-1:]
    return [int(word) for word in said.split()]


def test_a_wait_is_seen_by_hooks_and_by_the_agents_shell(play):
    """After a wait hooks and the agent's commands read a later time."""
    outcome = play(
        hooks={"Stop": f"{ASKED}cat asked"},
        agent=[{"run": "date +%s >>asked"}, {"wait": "2h"}, {"run": "date +%s >>asked"}, {"stop": "Done."}],
    )

    first, second, third = times(outcome)
    assert second - first == pytest.approx(7200, abs=60)
    assert third - second == pytest.approx(0, abs=60)


def test_without_a_wait_hooks_read_the_machines_time(play):
    """The same session without the wait shows no such gap, and no assumption about clocks."""
    outcome = play(
        hooks={"Stop": f"{ASKED}cat asked"},
        agent=[{"run": "date +%s >>asked"}, {"run": "date +%s >>asked"}, {"stop": "Done."}],
    )

    first, *_, last = times(outcome)
    assert last - first == pytest.approx(0, abs=60)
    assert not any("clock" in note and "machine" in note for note in outcome.assumptions)


def test_the_hosts_own_times_move_along(play, inputs):
    """Times that the host writes into payloads are later by the waits and by the pace of each turn."""
    outcome = play(
        host="gemini-cli",
        hooks={"AfterAgent": [{"hooks": [{"type": "command", "command": "true"}]}]},
        agent=[
            {"stop": "a"},
            {"prompt": "on"},
            {"stop": "b"},
            {"wait": "1h"},
            {"prompt": "on"},
            {"stop": "c"},
        ],
        pace="10m",
    )

    first, *later = (
        datetime.fromisoformat(payload["timestamp"]) for payload in inputs(outcome, "AfterAgent")
    )
    assert [(moment - first).total_seconds() // 60 for moment in later] == [10, 80]


NOW = "now=$(date +%s)"
OF_PAYLOAD = 'then=$(date -d "$(jq -r .timestamp)" +%s)'
OF_TRANSCRIPT = 'then=$(date -d "$(head -1 "$(jq -r .transcript_path)" | jq -r .timestamp)" +%s)'


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("host", "event", "then"),
    [("gemini-cli", "AfterAgent", OF_PAYLOAD), ("claude-code", "Stop", OF_TRANSCRIPT)],
)
def test_the_hosts_own_times_are_those_of_the_hooks(play, host, event, then):
    """By the hook's clock, the timestamps of the event and of the session are less than 60 s old."""
    young = f"{then}; {NOW}; age=$((now - then)); [ $age -gt -60 ] && [ $age -lt 60 ]"
    command = f"{young} || exit 0; echo too young >&2; exit 2"
    hooks = {event: [{"hooks": [{"type": "command", "command": command}]}]}
    outcome = play(host=host, hooks=hooks, cap="none", turns=2)
    assert outcome.blocks(event) == len((1, 2))


@pytest.mark.nightly
def test_a_loop_that_ends_with_more_time_between_turns(play):
    """A loop of turns that follow at once is undecided, with CLOCK, if a slower session ends."""
    gate = "git log --since='25 minutes ago' --oneline | grep -q . || exit 0; echo wait for CI >&2; exit 2"
    agent = [{"prompt": "go"}, {"run": "git commit -q --allow-empty -m work"}, {"stop": "Done."}]
    outcome = play(hooks={"Stop": gate}, cap="none", git=True, agent=agent, turns=12)
    assert isinstance(outcome.verdict, Undecided)
    assert outcome.verdict.why.endswith("but a run at other times ended (see CLOCK)")
    assert [finding.name for finding in outcome.findings] == ["CLOCK"]


@pytest.mark.nightly
def test_a_paced_loop_is_driven_to_its_end(play):
    """A hook that allows the stop a minute after its first refusal ends a paced loop without changes."""
    first = '[ -f first ] || date +%s >first; [ "$(($(date +%s) - $(cat first)))" -lt 60 ] || exit 0; '

    outcome = play(hooks={"Stop": f"{first}{REFUSE}"}, env=OFF, pace="17s")

    assert isinstance(outcome.verdict, Terminated)
    assert outcome.blocks("Stop") == 4
    assert "Assumed by the scenario: 17 s pass between its turns." in outcome.assumptions


@pytest.mark.nightly
def test_an_end_by_time_beyond_the_turns_allowed_is_not_claimed(play):
    """If the time that would end it is beyond the turn limit, that time is reported and nothing else."""
    first = '[ -f first ] || date +%s >first; [ "$(($(date +%s) - $(cat first)))" -lt 900 ] || exit 0; '

    outcome = play(hooks={"Stop": f"{first}{REFUSE}"}, env=OFF, pace="7s", turns=20)

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop at" in outcome.verdict.why


PERL = "perl -e 'print time'"
OLD = f'[ -f first ] || {PERL} >first; [ "$(($({PERL}) - $(cat first)))" -lt 60 ] || exit 0; {REFUSE}'


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_every_program_sees_the_times_of_a_scenario(play):
    """A hook that asks for the time by a program without a test double sees the pace of the scenario."""
    outcome = play(hooks={"Stop": OLD}, env=OFF, pace="61s", turns=10)

    assert outcome.verdict == Terminated(turn=2)
    assert not set(CLOCKS) & set(outcome.assumptions)


@pytest.fixture
def play_untraced(tmp_path):
    """Simulate where a process could outlive its hook, so that none is traced."""
    with Harness(Settings(base=tmp_path, tier=Tier.GROUP)) as harness:

        def run(*, agent=(), **keys):
            scenario = scenario_from({"name": "test", **keys})
            return harness.simulate(replace(scenario, script=script_from(list(agent), then="idle")))

        yield run


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_a_clock_that_cannot_be_moved_leaves_the_verdict_open(play_untraced):
    """Where nothing is traced, a hook that reads a clock without a test double gets no verdict."""
    outcome = play_untraced(hooks={"Stop": OLD}, env=OFF, pace="61s", turns=10)

    assert isinstance(outcome.verdict, Undecided)
    assert "the clock could not be moved for all programs: a process may outlive" in outcome.verdict.why
    assert "Run it where the kernel lets processes be traced" in advice(outcome)


@pytest.mark.slow
def test_test_doubles_show_the_time_where_nothing_is_traced(play_untraced):
    """There the usual programs see the pace of the scenario all the same, and the outcome says how."""
    outcome = play_untraced(hooks={"Stop": OLD.replace(PERL, "date +%s")}, env=OFF, pace="61s", turns=10)

    assert outcome.verdict == Terminated(turn=2)
    assert set(CLOCKS) <= set(outcome.assumptions)


@pytest.mark.nightly
def test_a_new_file_has_the_time_that_the_hook_sees(play):
    """A hook that compares the clock with a file that it wrote just now finds it new."""
    old = 'touch new; [ "$(($(date +%s) - $(stat -c %Y new)))" -lt 60 ] && exit 0; ' + REFUSE

    outcome = play(hooks={"Stop": old}, env=OFF, agent=[{"run": "true"}, {"wait": "61s"}, {"stop": "Done."}])

    assert outcome.verdict == Terminated(turn=2)


@pytest.mark.slow
@pytest.mark.nightly
def test_experiments_take_no_time_at_a_pace(tmp_path):
    """Between two real turns no more time passes than the pace and a run, whatever was tried meanwhile."""
    hook = "date +%s >>asked; sleep 0.3; [ $(($(date +%s) - $(head -n 1 asked))) -lt 60 ] || exit 0; "
    made = scenario_from({"name": "test", "hooks": {"Stop": hook + REFUSE}, "env": OFF, "pace": "2s"})
    scenario = replace(made, script=script_from([], then="idle"))
    with Harness(Settings(base=tmp_path, wall=20.0, paces=False, keep=True, keep_passing=True)) as harness:
        outcome = harness.simulate(scenario)
    asked = Path(outcome.kept_workspace, "workspace", "asked").read_text(encoding="utf-8")

    assert isinstance(outcome.verdict, Terminated)
    assert sum(len(report.probes) for report in outcome.probe_reports) > 5
    assert max(later - before for before, later in pairwise(map(int, asked.split()))) < 5


@pytest.mark.slow
def test_two_runs_that_agree_leave_no_doubt(play):
    """Runs with the same decisions raise no doubt, and runs with different ones raise one."""
    refusing, letting = play(hooks={"Stop": REFUSE}, env=OFF), play(hooks={"Stop": "true"})

    assert find_doubt(refusing, refusing, "no trace") is None
    doubt = find_doubt(refusing, letting, "no trace")
    assert doubt.why.endswith(": no trace")
    assert doubt.reasons == {"clock"}
    line = first_line(replace(refusing, verdict=Undecided(turn=1, why=doubt.why), violations=()))
    assert "never allows the stop, and with" in line
    assert "allows the stop in turn 1:" in line


@pytest.mark.parametrize("keys", [{"pace": "1m"}, {"agent": [{"wait": "1m"}]}])
def test_background_processes_have_no_clock_that_can_be_moved(play, keys):
    """With background processes a wait is refused, because they read the machine's clock."""
    with pytest.raises(SimulationError, match="background processes"):
        play(processes={"job": {"run": "true"}}, **keys)


MARKER = """#!/bin/sh
[ "$(find .asked -mmin -5 2>/dev/null)" ] && exit 0
touch .asked
echo 'Read your changes once more.' >&2
exit 2
"""


@pytest.mark.nightly
def test_the_age_of_a_marker_is_found_to_decide(play):
    """A hook that decides by the age of an empty file is found to decide by the clock."""
    outcome = play(
        agent=[{"prompt": "go"}, {"stop": "Done."}], files={"hook.sh": MARKER}, hooks={"Stop": "./hook.sh"}
    )

    (finding,) = outcome.findings
    assert finding.name == "CLOCK"
    # The time that was played depends on how long the turns take here; the marker counts for 5 minutes.
    minutes = re.search(r"in turn 2; with ([\d.]+) min between them", finding.text)
    assert minutes is not None
    assert float(minutes[1]) >= 5


ONCE = f"read -r line; case $line in *'stop_hook_active\":false'*) {REFUSE};; esac"


@pytest.fixture
def runs(monkeypatch):
    """Return a list that gets each run of a scenario."""
    played = []
    run_once = single_run.run_once

    def listed(*args, **keys):
        played.append(run_once(*args, **keys))
        return played[-1]

    for module in (simulate, single_run):
        monkeypatch.setattr(module, "run_once", listed)
    return played


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hook", "number"),
    [
        (ONCE, 2),
        (f"date > /dev/null; {ONCE}", 3),
        (f"[ -f said ] || {{ touch said; {REFUSE}; }}", 2),
        (f"stat said > /dev/null 2>&1 || {{ touch said; {REFUSE}; }}", 3),
        (f"python3 -c \"open('log', 'a').write('x'); open('log').read()\"; {ONCE}", 2),
        (f"python3 -c \"import os; open('log', 'a').close(); os.stat('log')\"; {ONCE}", 3),
        (f"git init -q; git status > /dev/null; {ONCE}", 2),
        # Its source decides by the time, so sessions at eight other times follow.
        (f"git init -q; git log --since=1.hour > /dev/null 2>&1; {ONCE}", 11),
    ],
)
def test_a_second_pace_is_played_only_for_hooks_that_are_shown_a_time(play, runs, hook, number):
    """A run at a second pace follows only if a program may decide by the time that it was shown."""
    outcome = play(hooks={"Stop": hook})

    assert outcome.verdict == Terminated(turn=2)
    assert len(runs) == number


@pytest.mark.slow
def test_a_second_pace_is_played_where_the_host_tells_the_time(play, runs):
    """A host that writes the time into the input of hooks shows it to them."""
    play(host="gemini-cli", hooks={"AfterAgent": ONCE})

    assert len(runs) == 3


@pytest.mark.slow
def test_the_duration_of_an_outcome_is_that_of_all_runs(play, runs):
    """Slower runs, which are played for comparison, count as time of the scenario."""
    outcome = play(hooks={"Stop": ONCE})

    assert len(runs) == 2
    assert outcome.wall == pytest.approx(sum(run.used for run in runs))


def ended(turn: int, *, allowed: bool = True) -> Outcome:
    """Return the outcome of a session with a number of turns, whose stop was allowed in the last one."""
    steps = tuple(Step(number=n, turn=n, exchange=Moved(move=Stop())) for n in range(1, turn + 1))
    verdict = Terminated(turn=turn) if allowed else Livelock(stem=1, period=1)
    return Outcome(scenario=Scenario(name="x"), host="h@1", trace=Trace(steps=steps), verdict=verdict)


NEVER = ended(9, allowed=False)


def find_difference(again: Outcome, later: Outcome, further: Outcome = NEVER) -> Finding:
    """
    Return the finding on a run that allowed the stop in turn 2, where slow agents are never allowed it.

    Args:
        again: A second run whose turns follow at once.
        later: A second run of a slow agent.
        further: Each run of still slower agents.
    """
    runs = {0.0: [again], HUMAN: [NEVER, later]}

    def simulate(pace: float) -> Outcome:
        known = runs.get(pace)
        return known.pop(0) if known else further if pace > SLOW else NEVER

    finding = compare(ended(2), simulate)
    assert finding is not None
    return finding


@pytest.mark.parametrize(("later", "name"), [(NEVER, "CLOCK"), (ended(5), "FLAKY")])
def test_a_difference_is_the_clocks_only_if_slow_runs_can_be_repeated(later: Outcome, name: str) -> None:
    """A slow run that ends differently when it is repeated shows chance, and nothing about the clock."""
    assert find_difference(ended(2), later).name == name


@pytest.mark.parametrize(
    ("first", "second", "name"), [(116, 117, "CLOCK"), (116, 118, "FLAKY"), (2, 3, "FLAKY")]
)
def test_long_slow_runs_may_end_a_turn_apart(first: int, second: int, name: str) -> None:
    """Slow runs of many turns that end one turn apart are CLOCK, not FLAKY: real time may explain it."""
    runs = {0.0: [NEVER], HUMAN: [ended(first), ended(second)]}
    finding = compare(NEVER, lambda pace: runs[pace].pop(0) if runs.get(pace) else ended(first))
    assert finding is not None
    assert finding.name == name


@pytest.mark.parametrize(
    ("again", "further", "name"),
    [
        (ended(4), NEVER, "CLOCK"),
        (ended(4), ended(7), "FLAKY"),
        (ended(4), ended(2, allowed=False), "FLAKY"),
        (NEVER, NEVER, "FLAKY"),
    ],
)
def test_uneven_quick_runs_are_chance_unless_slow_agents_are_refused_far_longer(
    again: Outcome, further: Outcome, name: str
) -> None:
    """Quick runs that end differently show chance, unless slow ones are refused in far more turns."""
    assert find_difference(again, NEVER, further).name == name


@pytest.mark.parametrize(
    ("again", "further", "name"),
    [
        (ended(24), ended(5), "CLOCK"),
        (ended(6), ended(3), "CLOCK"),
        (ended(6), ended(5), "FLAKY"),
        (ended(3), ended(3), "FLAKY"),
    ],
)
def test_quick_runs_that_are_refused_longer_are_no_chance(
    again: Outcome, further: Outcome, name: str
) -> None:
    """Quick runs that end differently show no chance if slow ones end sooner, and all of them alike."""
    finding = compare(ended(20), lambda pace: (further if pace > SLOW else ended(3)) if pace else again)

    assert finding is not None
    assert finding.name == name


def test_a_clock_finding_names_each_end_of_uneven_quick_runs() -> None:
    """Where a second ended between the turns of one quick run only, both of their ends are reported."""
    text = find_difference(ended(4), NEVER).text

    assert "it allows the stop in turn 2 (another time it allows the stop in turn 4); with" in text


@pytest.mark.slow
@pytest.mark.nightly
def test_a_capped_session_is_compared_with_slow_ones_until_the_cap(play):
    """A state that repeats does not end a slow session that allows the stop after some hours."""
    first = '[ -f first ] || date +%s >first; [ "$(($(date +%s) - $(cat first)))" -lt 14400 ] || exit 0; '

    outcome = play(hooks={"Stop": f"{first}{REFUSE}"})

    (finding,) = (one for one in outcome.findings if one.name == "CLOCK")
    assert "it allows the stop in turn" in finding.text


@pytest.mark.nightly
def test_the_age_of_a_commit_is_found_to_decide(play):
    """A hook that looks for commits of the last minutes is compared with slow sessions."""
    outcome = play(
        git=True,
        agent=[{"run": "echo x > done; git add done; git commit -qm x"}],
        hooks={"Stop": f"[ -z \"$(git log --since='40 minutes ago' --format=%h)\" ] && exit 0; {REFUSE}"},
        env=OFF,
        turns=8,
    )

    (finding,) = (one for one in outcome.findings if one.name == "CLOCK")
    assert "it allows the stop in turn" in finding.text
