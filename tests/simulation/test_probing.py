"""Loops whose state never repeats exactly: probes find out what decides, with real hooks."""

from dataclasses import replace

import pytest

from pytest_hookharness.frontends.screen import ProgressEntry, ProgressLine
from pytest_hookharness.model.probes import PartKind
from pytest_hookharness.model.verdicts import Livelock, Terminated, Undecided

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo run the tests >&2; exit 2"


def count(then, file="n"):
    """Return a hook that counts in a file and continues with ``then``, in which ``$n`` is the count."""
    return f"n=$(cat {file} 2>/dev/null || echo 0); n=$((n+1)); echo $n > {file}; {then}"


def until(limit, file="n", test="ge"):
    """Return a hook that counts, and allows the stop at a threshold."""
    return count(f"[ $n -{test} {limit} ] || exit 2", file)


@pytest.mark.nightly
def test_a_count_that_decides_nothing(play):
    """A hook that counts, stamps and logs, and always refuses, is a livelock without any mask."""
    logging = count(f'date +%s.%N > t; echo "$(date) $n" >> log; {REFUSE}')

    outcome = play(hooks={"Stop": logging}, env=OFF, turns=20)

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.evidence, outcome.verdict.period) == ("driven", 1)
    assert outcome.iterations == 20
    kinds = {part.path: part.kind for part in outcome.probe_reports[-1].parts}
    assert kinds == {
        "workspace/log": PartKind.GROWTH,
        "workspace/n": PartKind.COUNTER,
        "workspace/t": PartKind.STAMP,
    }


@pytest.mark.nightly
def test_turns_and_probes_are_reported_while_it_runs(harness, play, monkeypatch):
    """The callbacks of a run get its turns and hook runs, and each probe."""

    class Kept(ProgressLine):
        seen = ProgressEntry("test")

        def entry_of(self, _):
            return self.seen

    monkeypatch.setattr(harness, "_line", Kept())

    outcome = play(hooks={"Stop": count(REFUSE)}, env=OFF)

    assert Kept.seen.text == f"turn {outcome.iterations}, {outcome.hook_runs()} hook runs"
    assert Kept.seen.probes == sum(len(probing.probes) for probing in outcome.probe_reports) > 0


@pytest.mark.nightly
def test_a_threshold_within_the_turns_is_driven(play):
    """A threshold within the turns is reached by real turns, and only that makes the run terminated."""
    outcome = play(hooks={"Stop": until(30)}, env=OFF)

    assert outcome.verdict == Terminated(turn=30)
    assert outcome.blocks("Stop") == 29
    assert outcome.probe_reports == ()


@pytest.mark.nightly
def test_a_threshold_beyond_the_turns_is_named(play):
    """A threshold beyond the turn limit leaves the run undecided, and is named."""
    outcome = play(hooks={"Stop": until(1000)}, env=OFF, turns=50, expect={"within": 50})

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop at 999 in workspace/n, in turn 1,000" in outcome.verdict.why
    assert "tried ahead, not played" in outcome.verdict.why
    assert outcome.iterations == 50
    assert not outcome.passed


@pytest.mark.nightly
@pytest.mark.parametrize("limit", [4, 75])
def test_a_threshold_that_is_met_exactly(play, limit):
    """A count that is compared for equality is found by the number in the command, and driven there."""
    assert play(hooks={"Stop": until(limit, test="eq")}, env=OFF).verdict == Terminated(turn=limit)


@pytest.mark.nightly
def test_two_thresholds_together(play):
    """A hook that allows the stop only if a count and a log are both far enough is followed to there."""
    both = count("echo x >> log; { [ $n -ge 12 ] && [ $(wc -l < log) -ge 20 ]; } || exit 2")

    assert play(hooks={"Stop": both}, env=OFF).verdict == Terminated(turn=20)


@pytest.mark.nightly
def test_a_threshold_that_moves_along(play):
    """A hook that moves its own threshold ahead is a livelock, though its count alone would pass it."""
    rearm = count(
        "limit=$(cat limit 2>/dev/null || echo 5); echo $((n+5)) > limit; "
        f"[ $n -lt $limit ] || exit 0; {REFUSE}"
    )

    outcome = play(hooks={"Stop": rearm}, env=OFF)

    assert isinstance(outcome.verdict, Livelock)
    assert any(
        "would affect the decision if it changed alone" in limit for limit in outcome.probe_reports[-1].limits
    )


@pytest.mark.nightly
def test_a_message_that_changes_on_the_way(play):
    """A hook that changes its message at some count is driven beyond that, and probed without its words."""
    words = count("[ $n -ge 9 ] && echo 'for the last time' >&2 || echo please >&2; exit 2")

    outcome = play(hooks={"Stop": words}, env=OFF, turns=20)

    assert isinstance(outcome.verdict, Livelock)
    (report,) = outcome.probe_reports
    assert report.inert
    assert report.turn == 20
    assert any("what changes the words of the hooks" in part for part in outcome.verdict.matters)


@pytest.mark.nightly
@pytest.mark.parametrize("place", ["$HOME/n", "/tmp/n", "/opt/hook-n"])
def test_counts_elsewhere(play, place, harness):
    """A count is found, perturbed and restored wherever the hook may write."""
    outcome = play(hooks={"Stop": until(20, file=place)}, env=OFF)

    assert outcome.verdict == Terminated(turn=20)


@pytest.mark.nightly
def test_probes_leave_no_marks(play):
    """Nothing of a probe is part of the run: neither files, nor hook runs, nor calls of doubles."""
    hook = count(f"check || true; [ $n -ge 40 ] || {{ {REFUSE}; }}")

    outcome = play(
        hooks={"Stop": hook},
        env=OFF,
        turns=20,
        commands={"check": {"exit": 1}},
        expect={"verdict": "undecided", "files": {"contain": {"n": "20"}}},
    )

    assert outcome.passed, outcome.violations
    assert outcome.hook_runs() == len(outcome.calls["check"]) == 20
    assert len(outcome.probe_reports[0].probes) > 5


@pytest.mark.nightly
def test_a_time_that_would_end_it(play):
    """A hook that allows the stop five minutes after its first refusal is found without waiting."""
    cooldown = (
        f"[ -f first ] || date +%s > first; [ $(($(date +%s) - $(cat first))) -ge 300 ] && exit 0; {REFUSE}"
    )

    outcome = play(hooks={"Stop": cooldown}, env=OFF)

    assert isinstance(outcome.verdict, Undecided)
    threshold = outcome.probe_reports[-1].threshold
    assert threshold is not None
    assert threshold.seconds == pytest.approx(300, rel=0.05)
    clock = next(finding for finding in outcome.findings if finding.name == "CLOCK")
    assert "allows the stop in turn" in clock.text


@pytest.mark.nightly
def test_a_short_time_is_left_to_pass(play):
    """A hook that allows the stop half a second after its first refusal is driven until it really does."""
    moment = (
        "[ -f first ] || date +%s%N > first; "
        f"[ $(( ($(date +%s%N) - $(cat first)) / 1000000 )) -ge 500 ] && exit 0; {REFUSE}"
    )

    outcome = play(hooks={"Stop": moment}, env=OFF)

    assert isinstance(outcome.verdict, Terminated)
    assert outcome.verdict.turn > 3


@pytest.mark.nightly
def test_a_stored_time_that_is_a_name(play):
    """A hook that uses the time of a file as its name is not said to decide by the clock."""
    name = (
        "[ -f base ] || touch base; key=$(stat -c %Y base); "
        f"[ -f seen-$key ] && exit 0; date +%s > seen-$key; {REFUSE}"
    )

    outcome = play(hooks={"Stop": name}, env=OFF)

    assert outcome.verdict == Terminated(turn=2)
    assert "CLOCK" not in [finding.name for finding in outcome.findings]


@pytest.mark.nightly
def test_a_time_of_a_file_that_would_end_it(play):
    """File times are probed too: an old file may be what makes a hook allow the stop."""
    old = f'[ -f mark ] || touch mark; [ -n "$(find mark -mmin +10)" ] && exit 0; {REFUSE}'

    outcome = play(hooks={"Stop": old}, env=OFF)

    assert isinstance(outcome.verdict, Undecided)
    threshold = outcome.probe_reports[-1].threshold
    assert threshold is not None
    assert threshold.seconds == pytest.approx(11 * 60, rel=0.1)


@pytest.mark.nightly
def test_a_threshold_that_only_a_quick_agent_reaches(play):
    """A hook that allows the stop at the fourth refusal in five minutes never does for a slow agent."""
    quick = (
        "now=$(date +%s); last=$(cat last 2>/dev/null || echo $now); n=$(cat n 2>/dev/null || echo 0); "
        "[ $((now - last)) -ge 300 ] && n=0; n=$((n+1)); echo $n > n; echo $now > last; "
        "[ $n -ge 4 ] || exit 2"
    )

    outcome = play(hooks={"Stop": quick}, env=OFF)

    assert outcome.verdict == Terminated(turn=4)
    clock = next(finding for finding in outcome.findings if finding.name == "CLOCK")
    assert "allows the stop in turn 4" in clock.text
    assert "it has not allowed the stop" in clock.text


@pytest.mark.slow
def test_a_count_without_a_clock_has_no_such_finding(play):
    """A hook that only counts is the same at every pace, and there is no finding about the clock."""
    outcome = play(hooks={"Stop": until(4)}, env=OFF)

    assert outcome.verdict == Terminated(turn=4)
    assert "CLOCK" not in [finding.name for finding in outcome.findings]


@pytest.mark.nightly
@pytest.mark.parametrize("network", [False, True])
def test_a_network_that_was_asked_for(play, network):
    """The assumptions of a loop name the network if a hook opened a socket."""
    code = "import socket; socket.socket().connect(('192.0.2.1', 9))" if network else "pass"
    outcome = play(hooks={"Stop": f'python3 -c "{code}" 2>/dev/null; {REFUSE}'}, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Livelock)
    assert any("opened network sockets" in one for one in outcome.assumptions) is network


@pytest.mark.slow
@pytest.mark.parametrize("most", ["20000", "3_000_000", "$((2 * 1024 * 1024))"])
def test_the_length_of_an_unopened_transcript(play, most):
    """A hook that looks at the size of the transcript is no livelock, also if its limit is far above that."""
    size = (
        'path=$(sed \'s/.*"transcript_path":"\\([^"]*\\)".*/\\1/\'); '
        f'[ $(stat -c %s "$path") -gt {most.replace("_", "")} ] && exit 0; {REFUSE}'
    )

    outcome = play(hooks={"Stop": size}, env=OFF, turns=4)

    assert isinstance(outcome.verdict, Undecided)
    assert "the length of the transcript" in outcome.verdict.why


@pytest.mark.nightly
def test_an_agent_with_an_end_is_driven_to_it(play):
    """An agent whose script has an end is driven to it, even if hooks count."""
    moves = [{"stop": "Done."}] * 6

    outcome = play(
        agent=moves, hooks={"Stop": count("[ -f done ] && exit 0; echo $n >&2; exit 2")}, env=OFF, turns=40
    )

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.stem >= 6


def test_without_probes(harness, play):
    """Probes can be switched off, and then a hook that counts is undecided."""
    before = harness.settings
    harness.settings = replace(before, probes=False)
    try:
        outcome = play(hooks={"Stop": count(REFUSE)}, env=OFF, turns=6)
    finally:
        harness.settings = before

    assert isinstance(outcome.verdict, Undecided)
    assert outcome.probe_reports == ()


@pytest.mark.nightly
def test_a_clock_that_goes_on_between_two_repetitions(play):
    """A second that passes during the confirming repetition is no proof of two answers."""
    # The stamp is the same in two repetitions and another one in the third, as if a second had passed then.
    ticking = (
        "n=$(wc -l < /dev/shm/rounds 2>/dev/null || echo 0); echo x >> /dev/shm/rounds; "
        f"now=$(date +%s); [ $n -ge 2 ] && echo $((now - 1)) > t || echo $((now - 2)) > t; {REFUSE}"
    )

    outcome = play(hooks={"Stop": ticking}, env=OFF, mask=["shm/rounds"])

    assert isinstance(outcome.verdict, Livelock)
    assert "FLAKY" not in [finding.name for finding in outcome.findings]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "script",
    [
        "date +%s%N >> log; [ $(sort -u log | wc -l) -ge 20 ] && exit 0",
        "echo $$ >> log; [ $(sort -u log | wc -l) -ge 20 ] && exit 0",
        't=$(sed \'s/.*"transcript_path":"\\([^"]*\\)".*/\\1/\'); [ $(grep -c no-more $t) -eq 25 ] && exit 0',
    ],
)
def test_extrapolated_additions_differ_as_real_ones(play, script):
    """Times and numbers of extrapolated additions differ as real ones do, and refusals are counted too."""
    outcome = play(hooks={"Stop": f"{script}; echo no-more >&2; exit 2"}, env=OFF)

    assert isinstance(outcome.verdict, Terminated)


@pytest.mark.nightly
def test_a_threshold_in_the_environment(play):
    """A threshold that is met exactly and is only in the environment is found."""
    outcome = play(hooks={"Stop": until("$LIMIT", test="eq")}, env={**OFF, "LIMIT": "37"})

    assert outcome.verdict == Terminated(turn=37)


@pytest.mark.nightly
def test_an_attribute_that_counts(play):
    """A count in an extended attribute is no livelock, though the bytes of the file stay the same."""
    script = (
        "#!/usr/bin/env python3\nimport os, sys\n"
        "def read():\n    try: return int(os.getxattr('f', 'user.n'))\n    except OSError: return 0\n"
        "open('f', 'a').close()\nn = read() + 1\n"
        "try: os.setxattr('f', 'user.n', str(n).encode())\nexcept OSError: sys.exit(0)\n"
        "if n < 12:\n    print('no', file=sys.stderr)\n    sys.exit(2)\n"
    )

    outcome = play(hooks={"Stop": "./count.py"}, files={"count.py": script}, env=OFF)

    assert not isinstance(outcome.verdict, Livelock)


@pytest.mark.nightly
def test_a_number_in_the_header_of_a_database(play):
    """A count in the header of a SQLite file, which is in no row, is followed to its threshold."""
    script = (
        "#!/usr/bin/env python3\nimport sqlite3, sys\ndb = sqlite3.connect('h.db', isolation_level=None)\n"
        "n = db.execute('pragma user_version').fetchone()[0] + 1\ndb.execute(f'pragma user_version = {n}')\n"
        "if n < 20:\n    print('no', file=sys.stderr)\n    sys.exit(2)\n"
    )

    outcome = play(hooks={"Stop": "./count.py"}, files={"count.py": script}, env=OFF)

    assert outcome.verdict == Terminated(turn=20)


@pytest.mark.slow
def test_a_covered_folder_is_used_once(play, tmp_path):
    """A folder of the developer's is restored after probes, and no second run uses it."""
    (tmp_path / "mine").write_text("mine")
    before = (tmp_path / "mine").stat().st_mtime_ns
    counting = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n"
    hook = f"cd {tmp_path}; date +%s > s; {counting}; [ $n -ge 6 ] || {{ {REFUSE}; }}"

    outcome = play(hooks={"Stop": hook}, env=OFF, world={"cover": [str(tmp_path)]})

    assert outcome.verdict == Terminated(turn=7)
    assert (tmp_path / "n").read_text() == "7\n"
    assert (tmp_path / "mine").stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_cap_does_not_end_a_probe(play):
    """A repetition that would reach the host's cap is tried as if the cap were far away."""
    three = "n=$(cat n 2>/dev/null || echo 0); echo $(( (n + 1) % 3 )) > n"

    outcome = play(hooks={"Stop": f"{three}; {REFUSE}"})

    assert isinstance(outcome.verdict, Livelock)
    assert (outcome.verdict.period, outcome.verdict.evidence) == (3, "closed")
