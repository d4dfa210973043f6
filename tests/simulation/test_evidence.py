"""What hooks read decides how good the proof of a loop is, with real hooks."""

import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.judging.verdict.assumptions import UNOBSERVED
from pytest_hookharness.model.probes import PerturbationKind
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated, Undecided
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo run the tests >&2; exit 2"
COUNT = "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; "
TRANSCRIPT = '$(sed -n \'s/.*"transcript_path": *"\\([^"]*\\)".*/\\1/p\')'


@pytest.fixture
def stop(play):
    """Play a Stop hook on a host without a cap."""

    def run(command, **keys):
        return play(hooks={"Stop": command}, env=OFF, **keys)

    return run


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        REFUSE,
        f"[ -f ok ] || {{ echo failed > result; cat result; {REFUSE}; }}",
        pytest.param(
            "python3 -c 'import sys; sys.stderr.write(\"no\"); sys.exit(2)'",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_hook_that_reads_nothing_that_changes(stop, command):
    """A loop whose state recurs and whose hook reads nothing else is closed, without any experiment."""
    outcome = stop(command)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.matters) == ("closed", ())
    assert outcome.iterations == 3
    assert outcome.probe_reports == ()
    assert UNOBSERVED not in outcome.assumptions


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("[ -f plan/done ] && exit 0; ", "plan/done"),
        ("[ -f a -o -f b ] && exit 0; ", "a or b"),
        ("[ -f a -o -f b -o -f c -o -f d ] && exit 0; ", ""),
        ("[ -f ../ok -o -f .git/ok ] && exit 0; ", ""),
        ("", ""),
    ],
)
def test_a_file_that_the_agent_does_not_make_is_assumed(stop, command, missing):
    """A loop of a hook that looks for a file which is not there assumes that the agent does not make it."""
    verdict = stop(f"{command}{REFUSE}").verdict

    assert isinstance(verdict, Livelock)
    said = [one for one in verdict.assumptions if one.startswith("The agent does not make")]
    assert said == ([f"The agent does not make {missing}, which the hooks look for."] if missing else [])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        f"echo block >> log; {REFUSE}",
        pytest.param(
            'python3 -c \'import sys; open("log", "a").write("x"); sys.stderr.write("no"); sys.exit(2)\'',
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_log_that_is_only_written(stop, command):
    """Of a hook that appends to a log and reads nothing that changes, the third run is the observed one."""
    outcome = stop(command)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.matters) == ("unread", ())
    assert outcome.iterations == 2
    assert outcome.probe_reports == ()


LOG = f"echo block >> log; {REFUSE}"


@pytest.mark.slow
def test_a_log_that_is_only_written_and_a_cap_in_the_third_turn(play):
    """A third turn in which the host ends the loop is played, whether the hook logs or not."""
    keys = {"host": "codex", "cap": 2, "expect": {"verdict": "capped"}}

    ends = [play(hooks={"Stop": command}, **keys).verdict_name for command in (REFUSE, LOG)]

    assert ends == ["capped", "capped"]


@pytest.mark.parametrize("expect", [{"blocks": 3}, {"fires": {"Stop": 3}}])
def test_a_log_that_is_only_written_and_counts_that_are_expected(stop, expect):
    """Where the scenario counts refusals or hook runs, a third turn is played and counts."""
    outcome = stop(LOG, turns=3, expect={"verdict": "livelock", **expect})

    assert (outcome.iterations, outcome.violations) == (3, ())


def test_a_log_beside_a_first_turn_with_other_words(stop):
    """A log is no loop after two turns that differ, as those where the host tells that a stop was refused."""
    outcome = stop(f"echo x >> log; grep -q 'active\": *false' && echo first >&2; {REFUSE}")

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.stem, outcome.iterations) == ("unread", 1, 4)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [3, 4])
def test_a_log_whose_lines_are_counted(stop, limit):
    """A hook that counts the lines of its log is played on, although it was observed after two turns."""
    count = f"echo block >> log; [ $(wc -l < log) -ge {limit} ] && exit 0; {REFUSE}"
    outcome = stop(count)

    assert isinstance(outcome.verdict, Terminated)
    assert outcome.iterations == limit


@pytest.mark.nightly
@pytest.mark.parametrize(
    "allows",
    [
        "[ $(stat -c %s - <&3) -gt 7 ]",
        pytest.param("python3 -c 'import os; exit(os.lseek(3, 0, 1) < 8)'", marks=pytest.mark.slow),
    ],
)
def test_a_log_whose_size_is_asked_through_an_open_file(stop, allows):
    """A hook that asks how far it is in its log, and never opens it for reading, is played on to its end."""
    outcome = stop(f"exec 3>>log; echo x >&3; {allows} && exit 0; {REFUSE}")

    assert isinstance(outcome.verdict, Terminated)
    assert outcome.iterations == 4


@pytest.mark.nightly
def test_a_log_of_a_slow_hook(stop):
    """A slow hook is not observed before its third turn, because that may prove nothing."""
    outcome = stop(f"echo block >> log; sleep 1.1; {REFUSE}")

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.iterations) == ("unread", 3)


@pytest.mark.nightly
def test_a_log_with_the_time(stop):
    """A log with the time is no loop before its third turn, for other times are tried from the last ones."""
    outcome = stop(f"date >> log; {REFUSE}")

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.iterations) == ("unread", 3)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("job", "verdict"),
    [("sleep 600; touch done", Undecided), ("tail -f /dev/null; touch done", Livelock)],
)
def test_a_process_that_was_left_running_is_no_proof(stop, job, verdict):
    """A loop that waits for a process is not proved, and is undecided if that process is a `sleep`."""
    job = f"(setsid sh -c '{job}' >/dev/null 2>&1 &)"
    command = f"[ -f done ] && exit 0; [ -f begun ] || {{ touch begun; {job}; }}; {REFUSE}"
    outcome = stop(command, turns=6, expect={"leftovers": 1})

    assert isinstance(outcome.verdict, verdict)
    ended = "the processes that hooks or commands left running, and that were ended"
    if isinstance(outcome.verdict, Livelock):
        assert outcome.verdict.evidence == "driven"
        assert ended in outcome.verdict.matters


@pytest.mark.slow
@pytest.mark.nightly
def test_a_hook_in_the_background_is_no_proof(play):
    """A loop beside a hook that went on in the background until it was ended is no proved loop."""
    daemon = """read -r _; echo '{"async": true}'; exec sleep 600"""
    hooks = {"Stop": [REFUSE, daemon]}
    outcome = play(hooks=hooks, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert "the processes that hooks or commands left running, and that were ended" in outcome.verdict.matters
    assert outcome.findings == ()
    assert any("in the background" in text for text in outcome.assumptions)


def test_what_a_hook_in_the_background_writes_soon_is_part_of_the_state(play):
    """A file that a hook writes after it asked its host to go on is there at the next turn."""
    late = """echo '{"async": true}'; cat >/dev/null; echo done > done"""
    outcome = play(hooks={"Stop": f"[ -f done ] && exit 0; {{ {late}; }}"}, env=OFF)

    assert isinstance(outcome.verdict, Terminated)
    assert [change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes] == [
        "workspace/done"
    ]


@pytest.mark.nightly
def test_a_log_beside_a_count_that_starts_over_late(stop):
    """A log that is only written hides no cycle of 20 turns in which a count starts again."""
    count = "n=$(cat n 2>/dev/null || echo 0); echo $(((n + 1) % 20)) > n; "
    outcome = stop(f"{count}[ $n = 7 ] && echo seven >> log; {REFUSE}")

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.period) == ("unread", 20)
    assert outcome.probe_reports == ()


@pytest.mark.nightly
@pytest.mark.parametrize(("log", "evidence"), [("date >> log", "unread"), ("date >/dev/null", "closed")])
def test_a_clock_that_decides_nothing(stop, log, evidence):
    """A hook that reads only the clock keeps its level, and the clock is an assumption."""
    outcome = stop(f"{log}; {REFUSE}")

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.iterations) == (evidence, 3)
    (assumed,) = (text for text in outcome.verdict.assumptions if "read the clock" in text)
    assert "with 13 s between 7 turns, then 1 h later, 24 times another 1.04 days later" in assumed
    assert {probe.kind for report in outcome.probe_reports for probe in report.probes} == {
        PerturbationKind.CLOCK
    }


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ('[ "$(date +%Y)" -ge 2931 ] && exit 0', '[ "$(date +%Y)" -ge 2931 ]'),
        pytest.param(
            """python3 -c 'import sys, time; sys.exit(time.time() > 3e10)' || exit 0""",
            "time.time() > 30000000000.0",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """python3 -c 'import sys, timeit; sys.exit(timeit.default_timer() > 3e10)' || exit 0""",
            "timeit.default_timer() > 30000000000.0",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """python3 -c 'import time; exit(time.clock_gettime(1) > 3e10)' || exit 0""",
            "time.clock_gettime(1) > 30000000000.0",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_comparison_with_the_clock_is_no_proof(stop, command, told):
    """A hook that compares the time is a loop of the turns that were played, and the comparison is named."""
    outcome = stop(f"{command}; {REFUSE}", turns=8)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.verdict.matters == (f"the clock (`{told}` in the command of the hook)",)
    assert outcome.iterations == 8


BASH, EPOCH = "bash -c '{}'", "[ $((EPOCHSECONDS / {} % {})) = {} ] && exit 0; exit 2"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        # An end that real time cannot reach while the test runs; bash reads this clock without any program.
        BASH.format(EPOCH.format(3600, 24, "$((($(cat at) / 3600 + 5) % 24))")),
        pytest.param(
            BASH.format(EPOCH.format(86400, 7, "$((($(cat at) / 86400 + 2) % 7))")), marks=pytest.mark.slow
        ),
        pytest.param('[ "$(date +%s)" -ge $(($(stat -c %Y at) + 3600)) ] || exit 2', marks=pytest.mark.slow),
    ],
    ids=["an hour of the day", "a day of the week", "an hour later"],
)
def test_a_clock_that_decides(stop, command):
    """A hook that allows the stop at another time is no proof of a loop, though its state recurs."""
    outcome = stop(command, files={"at": f"{time.time():.0f}"}, turns=5)

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop after" in outcome.verdict.why
    assert outcome.iterations == 5


@pytest.mark.nightly
@pytest.mark.slow
def test_a_clock_that_decides_behind_the_cap(play):
    """The decisions at other times are also reported for a loop that the host's cap ends."""
    command = BASH.format(EPOCH.format(3600, 24, "$((($(cat at) / 3600 + 5) % 24))"))
    outcome = play(hooks={"Stop": command}, files={"at": f"{time.time():.0f}"})

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.without.name == "undecided"
    assert "would allow the stop after" in outcome.verdict.without.why


@pytest.mark.nightly
@pytest.mark.parametrize(
    "test",
    ['"$(date +%a%H)" = {:%a%H}', '"$(date +%H)" = {:%H} ] && [ "$(date +%d)" = {:%d}'],
    ids=["in one text", "one by one"],
)
def test_an_hour_of_one_day_decides(stop, test):
    """A hook that allows the stop within an hour of one day is no proof of a loop."""
    end = datetime.now(UTC) + timedelta(days=1, hours=11)
    outcome = stop(f"[ {test.format(end, end)} ] && exit 0; {REFUSE}", turns=5)

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop after" in outcome.verdict.why


@pytest.mark.nightly
def test_a_remainder_of_the_seconds_decides(stop):
    """A hook that looks at a remainder of the clock is no proof of a loop, however quick its turns are."""
    outcome = stop(
        BASH.format(EPOCH.format(20, 7, "$((($(cat at) / 20 + 3) % 7))")),
        files={"at": f"{time.time():.0f}"},
        turns=5,
    )

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop after" in outcome.verdict.why


STAMPED = (
    "d=.l/$(date +%Y%m%d_%H%M%S); mkdir -p $d; n=$(cat $d/c 2>/dev/null || echo 0); n=$((n+1)); "
    "echo $n > $d/c; [ $n -ge 3 ] || exit 2"
)


@pytest.mark.nightly
def test_a_count_in_a_folder_named_for_the_second(stop):
    """A hook that allows the stop only to a quick agent is reported with both ends."""
    outcome = stop(STAMPED)

    assert isinstance(outcome.verdict, Terminated)
    (clock,) = (finding for finding in outcome.findings if finding.name == "CLOCK")
    assert "With turns that follow at once it allows the stop" in clock.text
    assert "between them, it has not allowed the stop" in clock.text
    assert any("turns follow at once" in text for text in outcome.assumptions)


@pytest.mark.nightly
def test_a_count_in_a_folder_named_for_the_second_at_a_pace(stop):
    """With a declared pace the same hook is a loop."""
    # Experiments make hundreds of such folders.
    assert isinstance(stop(STAMPED, pace="2s", turns=12).verdict, Livelock)


@pytest.mark.slow
def test_a_pause_between_turns_is_no_end_of_a_plain_count(stop):
    """A hook that counts and logs the time ends the same at any pace, and no clock is reported."""
    outcome = stop(f"{COUNT} date >> log; [ $n -ge 4 ] || {{ {REFUSE}; }}")

    assert outcome.verdict == Terminated(turn=4)
    assert "CLOCK" not in [finding.name for finding in outcome.findings]


@pytest.mark.nightly
def test_a_count_that_is_read(stop):
    """A counter that is read is driven by real turns up to the limit, and named."""
    outcome = stop(f"{COUNT} {REFUSE}", turns=40)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.matters) == ("driven", ("workspace/n",))
    assert outcome.iterations == 40
    assert UNOBSERVED not in outcome.assumptions


@pytest.mark.nightly
def test_real_turns_come_before_experiments(stop):
    """A threshold within the turns is reached by real turns, without any experiment."""
    outcome = stop(f"{COUNT} [ $n -ge 60 ] || {{ {REFUSE}; }}")

    assert outcome.verdict == Terminated(turn=60)
    assert outcome.probe_reports == ()


@pytest.mark.nightly
@pytest.mark.slow
def test_a_repetition_that_begins_late_is_seen(stop):
    """Turns that become alike shortly before the last one are a repetition like any other."""
    words = "m=$n; [ $m -le 40 ] || m=41; printf 'a%.0s' $(seq $m) >&2; exit 2"

    outcome = stop(f"{COUNT} {words}", turns=43)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.iterations == 43


@pytest.mark.nightly
def test_real_turns_end_before_the_cap(play):
    """On a host with a cap the loop is found before the cap ends it."""
    outcome = play(hooks={"Stop": f"{COUNT} {REFUSE}"})

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.iterations == 8
    assert not any(hooked.decision.overridden for _, hooked in outcome.trace.hooked())


LIMITS = {
    "a limit in HOME": 'echo x >> "$HOME/c"; [ $(wc -l < "$HOME/c") -ge $(cat "$HOME/limit") ] || exit 2',
    "chance": "bash -c '((RANDOM % 20 == 0)) || exit 2'",
    "a file time": "touch -d @$(($(stat -c %Y .m) + 1)) .m; [ $(stat -c %Y .m) -ge 25 ] || exit 2",
    "the transcript's size": f"[ $(stat -c %s {TRANSCRIPT}) -ge 25000 ] || exit 2",
    "a folder": "mkdir .d/$(ls .d | wc -l); [ $(ls .d | wc -l) -ge 25 ] || exit 2",
}


@pytest.mark.nightly
@pytest.mark.parametrize("command", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("turns", [12, 40])
def test_what_is_read_is_never_proved_irrelevant(stop, command, turns):
    """A limit that is read from anywhere ends the run if it is played that far, and else is no proof."""
    outcome = stop(
        f"mkdir -p .d; [ -e .m ] || touch -d @0 .m; {command}", world={"home": {"limit": "25"}}, turns=turns
    )

    if isinstance(outcome.verdict, Livelock):
        assert outcome.verdict.evidence == "driven"
        assert turns == 12 or "RANDOM" in command
        assert outcome.verdict.matters
    elif turns == 40:
        assert isinstance(outcome.verdict, Terminated)


@pytest.mark.nightly
def test_commands_of_the_agent_are_observed(play):
    """A loop is not closed if a command of the agent reads what changes."""
    read = {"repeating": {"run": "cat log >/dev/null; echo x >> log", "times": 1}}
    written = {"repeating": {"run": "echo x >> log", "times": 1}}

    driven = play(hooks={"Stop": REFUSE}, env=OFF, then=read, turns=12)
    unread = play(hooks={"Stop": REFUSE}, env=OFF, then=written, turns=12)

    assert (driven.verdict.evidence, driven.verdict.matters) == ("driven", ("workspace/log",))
    assert unread.verdict.evidence == "unread"


@pytest.mark.slow
def test_a_file_outside_that_changed_early_in_the_session_matters(harness):
    """A file of the machine that changes in the first turn, before a repetition is observed, matters."""
    with tempfile.TemporaryDirectory(prefix=".hookharness-", dir=Path.home()) as folder:
        file = Path(folder, "limit")
        file.write_text("1\n")
        made = scenario_from(
            {"name": "test", "hooks": {"Stop": f"cat {file} >/dev/null; {REFUSE}"}, "env": OFF}
        )
        scenario = replace(made, script=script_from([], then="idle"), turns=8, reach=(folder,))

        outcome = simulate(
            scenario,
            harness.settings,
            harness.resources,
            on_turn=lambda turn, _: file.write_text("2\n") if turn == 1 else None,
        )

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert any(str(file) in words for words in outcome.verdict.matters)


@pytest.mark.nightly
@pytest.mark.parametrize("mask,evidence", [((), "driven"), (("home/",), "masked")])
def test_nothing_is_claimed_of_reads_that_cannot_be_observed(tmp_path, mask, evidence):
    """Where only process groups isolate, a loop is driven or masked, and its story tells all it assumes."""
    given = scenario_from({"name": "weakest", "hooks": {"Stop": REFUSE}, "mask": [*mask]})
    with Harness(Settings(base=tmp_path, tier=Tier.GROUP)) as harness:
        outcome = harness.simulate(replace(given, script=script_from([], then="idle")))

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == evidence
    told = " ".join(story(outcome, width=1000).splitlines())
    assert [sentence for sentence in outcome.assumptions if f"assumed: {sentence}" not in told] == []
    assert any("may survive" in sentence for sentence in outcome.assumptions)


TIP = 'set -- one two three four; shift $((RANDOM % 4)); echo "tip $1" >&2; exit 2'
BEFORE = ["", "date +%N >> log; "]


@pytest.mark.nightly
@pytest.mark.parametrize("before", BEFORE, ids=["a state that recurs", "beside a log"])
def test_a_tip_that_is_drawn_is_still_a_loop(play, before):
    """A hook that always refuses, with a reason drawn by chance, is a livelock with `driven` evidence."""
    outcome = play(hooks={"Stop": f"bash -c '{before}{TIP}'"}, env=OFF, turns=40)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert "what changes the words of the hooks' answers" in outcome.verdict.matters
    assert any("RANDOM" in each for each in outcome.verdict.matters)


@pytest.mark.nightly
@pytest.mark.parametrize("before", BEFORE, ids=["a state that recurs", "beside a log"])
def test_a_tip_that_is_drawn_before_the_cap(play, before):
    """Where the host's cap comes first, chance decides how soon the loop shows; nobody says that it ends."""
    outcome = play(hooks={"Stop": f"bash -c '{before}{TIP}'"}, turns=40)

    match outcome.verdict:
        case Livelock(evidence=evidence, cap=cap):
            assert (evidence, cap.overrides) == ("driven", 9)
        case Capped(without=without):
            assert without.name != "terminated"
        case other:
            pytest.fail(f"{other} for a loop that a cap ends")


@pytest.mark.nightly
def test_a_count_beside_a_tip_that_is_drawn(play):
    """A hook that allows the stop after a count is no loop, whatever reasons it draws."""
    count = "n=$(cat n 2>/dev/null || echo 0); [ $n -ge 30 ] && exit 0; echo $((n + 1)) > n; "
    outcome = play(hooks={"Stop": f"bash -c '{count}{TIP}'"}, turns=60)

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.without.name == "terminated"
    assert "allow the stop in turn 31" in outcome.verdict.without.why


@pytest.mark.nightly
def test_a_comparison_with_the_clock_in_two_scripts(stop):
    """A hook that compares a time which a function of another script returns is no proof of a loop."""
    files = {
        "lib.sh": "now() { date +%s; }\n",
        "gate.sh": f". ./lib.sh\n[ $(now) -gt 30000000000 ] && exit 0\n{REFUSE}\n",
    }
    outcome = stop("sh gate.sh", files=files, turns=6)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    assert outcome.verdict.matters == ("the clock (`[ $(now) -gt 30000000000 ]` in the scripts of the hook)",)
