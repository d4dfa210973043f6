"""Limits beyond the turns that are played, which act at one exact count, wherever their number stands."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.judging.probing.thresholds import Candidates
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import find_pattern
from pytest_hookharness.model.verdicts import Livelock, Terminated, Undecided
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.probing.limit_sources import describe_untried, most_candidates
from pytest_hookharness.simulation.testbed.run_settings import Settings

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
COUNT = "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; "
COMMENTS = "# nothing\n" * 900
FEW = json.dumps({f"package-{number}": number for number in range(6, 150)})
MANY = json.dumps({f"package-{number}": number for number in range(160, 600)})
ASSIGNED = "; ".join(f"v{number}={20 + 2 * number}" for number in range(50))
AT_157 = {
    "home": ("[ $n -eq $(cat ~/limit) ] || exit 2", {"world": {"home": {"limit": "157"}}}),
    "large file": ("f=bi; [ $n -eq $(tail -n 1 ${f}g) ] || exit 2", {"files": {"big": f"{COMMENTS}157\n"}}),
    "large file in home": (
        "[ $n -eq $(tail -n 1 ~/big) ] || exit 2",
        {"world": {"home": {"big": f"{COMMENTS}157\n"}}},
    ),
    "hexadecimal": ("[ $n -eq $((0x9d)) ] || exit 2", {}),
    "octal": ("[ $n -eq $((0235)) ] || exit 2", {}),
    "range": ("bash -c 'for i in {1..157}; do l=$i; done; [ $(cat n) -eq $l ] || exit 2' || exit 2", {}),
    "many numbers in files": (
        "grep -q name package.json; [ $n -eq 157 ] || exit 2",
        {"files": {"package.json": FEW}},
    ),
    "many numbers in the script": (f"{ASSIGNED}; v=157; [ $n -eq $v ] || exit 2", {}),
    "difference": ("[ $n -eq $((200-43)) ] || exit 2", {}),
    "lines of a file": ("[ $n -eq $(wc -l < tasks) ] || exit 2", {"files": {"tasks": "- task\n" * 157}}),
    "items of a list": (
        "[ $n -eq $(jq '.tasks | length' plan.json) ] || exit 2",
        {"files": {"plan.json": json.dumps({"tasks": ["task"] * 157})}},
    ),
    "sum": ("a=100; b=57; [ $n -eq $((a+b)) ] || exit 2", {}),
}


def test_fewer_limits_are_tried_where_each_experiment_writes_many_files():
    """Where an experiment writes a hundred files, fewer fit into the same time than where it writes one."""

    def pattern(write):
        return find_pattern([write(number) for number in (2, 3, 4)], SessionClock(started=0, now=60))

    one = pattern(lambda number: {"workspace/n": b"%d" % number})
    many = pattern(lambda number: {f"workspace/touched-{place}.txt": b"x" for place in range(number)})
    assert most_candidates(20, 0.01, one) > 2 * most_candidates(20, 0.01, many)
    assert most_candidates(20, 0.01, one) > most_candidates(20, 0.5, one)
    assert most_candidates(20, 0.01, None) >= most_candidates(20, 0.01, one)


@pytest.fixture
def stop(play):
    """Play a Stop hook for a few turns on a host without a cap."""

    def run(command, **keys):
        return play(hooks={"Stop": COUNT + command}, env=OFF, turns=5, **keys)

    return run


@pytest.mark.nightly
@pytest.mark.parametrize(
    "kind",
    ["home", *(pytest.param(kind, marks=pytest.mark.slow) for kind in [*AT_157][1:])],
)
def test_a_limit_is_found_wherever_its_number_stands(stop, kind):
    """A limit that acts at one exact count leaves the run undecided, and the turn is named."""
    command, keys = AT_157[kind]

    outcome = stop(command, **keys)

    assert isinstance(outcome.verdict, Undecided)
    assert "would allow the stop at 156 in workspace/n, in turn 157" in outcome.verdict.why


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("command", "turn"),
    [
        ("[ $n -eq $((3*9)) ] || exit 2", 27),
        ("[ $((n*17%64)) -eq 3 ] || exit 2", 19),
        ("[ $((n*17 % 1009)) -eq 3 ] || exit 2", 475),
        ("a=37; b=9; [ $n -eq $((a*b)) ] || exit 2", 333),
    ],
)
def test_a_computed_limit_is_found(stop, command, turn):
    """A product, and a remainder of a product, are tried like numbers that are written."""
    outcome = stop(command)

    assert isinstance(outcome.verdict, Undecided)
    assert f"in turn {turn}," in outcome.verdict.why


@pytest.mark.nightly
def test_limits_that_were_not_tried_are_reported(stop):
    """Where files suggest more limits than can be tried, the report says how many are left."""
    outcome = stop("grep name package.json; exit 2", files={"package.json": MANY})

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "driven"
    (left,) = (text for text in outcome.verdict.assumptions if "were not tried" in text)
    assert "exact limits that the hooks' files suggest" in left


@pytest.mark.nightly
def test_the_simulated_clock_suggests_no_limits(tmp_path):
    """Numbers in what shows hooks the simulated time, such as our folder's name, are not tried as limits."""
    hooks = {"Stop": f"{COUNT} date >/dev/null; exit 2"}
    made = scenario_from({"name": "n", "hooks": hooks, "env": OFF, "turns": 5, "pace": "2s"})
    base = tmp_path / "run-777"
    base.mkdir()
    with Harness(Settings(base=base)) as harness:
        outcome = harness.simulate(replace(made, script=script_from([], then="idle")))

    tried = [probe.tried for report in outcome.probe_reports for probe in report.probes]
    assert any("in workspace/n" in text for text in tried)
    assert [text for text in tried if text.startswith(("776 in", "777 in"))] == []


@pytest.mark.parametrize(
    ("played", "said"), [(0, "3 exact limits"), (110, "2 exact limits"), (150, "1 exact limit"), (200, "")]
)
def test_limits_that_were_played_are_not_reported_as_untried(played, said):
    """An exact limit that real turns passed needs no experiment, and is not among those that are left."""
    told = "".join(describe_untried(Candidates(left=(99, 129, 189)), 8, 1, played))

    assert told.partition(" that")[0] == said
    assert told.endswith({0: "108.", 110: "138.", 150: "198.", 200: ""}[played])


PLAYED = {
    "a file in home": ("[ $n -ge $(cat ~/limit) ] || exit 2", {"world": {"home": {"limit": "25"}}}, 25),
    "hexadecimal": ("[ $n -eq $((0x2a)) ] || exit 2", {}, 42),
    "a range": ("bash -c 'for i in {1..30}; do l=$i; done; [ $(cat n) -ge $l ] || exit 2' || exit 2", {}, 30),
    "a digest": ('case "$(echo $n | md5sum)" in 0*) exit 0;; esac; exit 2', {}, 48),
}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", PLAYED)
def test_a_limit_within_the_turns_is_played(play, kind):
    """A threshold within the allowed turns is reached by real turns, whatever it is computed from."""
    command, keys, turn = PLAYED[kind]

    outcome = play(hooks={"Stop": COUNT + command}, env=OFF, turns=60, **keys)

    assert outcome.verdict == Terminated(turn=turn)


TRANSCRIPT = '$(sed -n \'s/.*"transcript_path": *"\\([^"]*\\)".*/\\1/p\')'
SHARED = """\
import sys
from multiprocessing import resource_tracker, shared_memory
resource_tracker.register = lambda *_: None
try:
    memory = shared_memory.SharedMemory("hook")
except FileNotFoundError:
    memory = shared_memory.SharedMemory("hook", create=True, size=8)
memory.buf[0] += 1
sys.exit(0 if memory.buf[0] >= 15 else 2)
"""
FILE_TIME = (
    "[ -e m ] || touch -d @0 m; touch -d @$(($(stat -c %Y m) + 1)) m; [ $(stat -c %Y m) -ge 15 ] || exit 2"
)
BLOCKS = (
    "b=$(stat -c %b h 2>/dev/null || echo 0); truncate -s 0 h; truncate -s 1M h; "
    "dd if=/dev/zero bs=4096 count=$((b/8+1)) conv=notrunc of=h 2>/dev/null; [ $b -ge 120 ] || exit 2"
)
OBJECTS = (
    "[ -d .git ] || git init -q .; set -- $(git count-objects); "
    "echo $1 | git hash-object -w --stdin >/dev/null; [ $1 -ge 15 ] || exit 2"
)
DEVICES = "cd /dev/shm; mkdir -p d; mktemp -p d >/dev/null; [ $(ls d | wc -l) -ge 15 ] || exit 2"

UNSEEN = {
    "60 KB of transcript": f"[ $(stat -c %s {TRANSCRIPT}) -ge 60000 ] || exit 2",
    "200 KB of transcript": f"[ $(stat -c %s {TRANSCRIPT}) -ge 200000 ] || exit 2",
    "a file time": FILE_TIME,
    "allocated blocks": BLOCKS,
    "dangling git objects": OBJECTS,
    "shared memory": "python3 shared.py || exit 2",
    "/dev": DEVICES,
    "chance": "bash -c '((RANDOM % 20 == 0)) || exit 2' || exit 2",
}


@pytest.mark.nightly
@pytest.mark.parametrize("turns", [6, 200])
@pytest.mark.parametrize("kind", UNSEEN)
def test_what_no_state_shows_is_never_a_proof(play, kind, turns):
    """A limit on something that no file content shows is played to its end, or named as what could matter."""
    outcome = play(hooks={"Stop": UNSEEN[kind]}, env=OFF, turns=turns, files={"shared.py": SHARED})

    if isinstance(outcome.verdict, Livelock):
        assert turns == 6
        assert outcome.verdict.evidence == "driven"
        assert outcome.verdict.matters
    else:
        assert isinstance(outcome.verdict, Terminated if turns == 200 else Terminated | Undecided)
