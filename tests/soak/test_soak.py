"""
Many hook runs with faults and input shapes drawn from a seed, and what must hold during and after them.
"""

import os
import random
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Exited, HeldOpen, Signaled, TimedOut
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

HOOKS = Path(__file__).parents[1] / "hooks"
RUNS = int(os.environ.get("HOOKHARNESS_SOAK_RUNS", "60"))
SEED = int(os.environ.get("HOOKHARNESS_SOAK_SEED", "0"))
STAY = f"86399.{os.getpid()}"
MOVES = 3
# Few enough for each test to end within its time limit.
PIECE = 100
PIECES = [*range(0, RUNS, PIECE)]
SIGNALS = {"KILL": 9, "SEGV": 11, "TERM": 15, "PIPE": 13}
SHAPES = (
    {},
    {"shape": "empty"},
    {"shape": "partial-json"},
    {"shape": "bom"},
    {"close": False},
    {"chunk": 64},
    {"size": 100_000},
    {"kind": "pipe"},
    {"kind": "null"},
    {"kind": "closed"},
    {"kind": "pty"},
)
WORLDS = (
    {},
    {"place": "it's a place"},
    {"relaunched": True},
    {"company": "session"},
    {"shell": "bash --posix"},
    {"full": ["tmp"]},
)


def draw(dice):
    """One hook with the endings that it may have; none of them reads its input."""
    loud, code = f"{HOOKS}/says_as_told.sh --deaf", dice.choice((0, 1, 2, 7, 137, 143, 255))
    signal = dice.choice(list(SIGNALS))
    return dice.choice(
        (
            (f"{loud} --exit {code} --out x", {Exited(code)}),
            (f"{loud} --err x --signal {signal}", {Signaled(SIGNALS[signal])}),
            (f"sleep {STAY}", TimedOut),
            (f"{HOOKS}/stops_itself.sh", TimedOut),
            (f"{HOOKS}/setsid_child.sh", {Exited(0), HeldOpen}),
            (f"{HOOKS}/leaves_term_ignorer.sh", {Exited(0), HeldOpen}),
            (f"{HOOKS}/kills_its_group.sh", {Signaled(9)}),
        )
    )


def is_one_of(ending, expected):
    """Whether an ending is expected, by its value or by its kind."""
    wanted = expected if isinstance(expected, set) else {expected}
    return any(isinstance(ending, one) if isinstance(one, type) else ending == one for one in wanted)


def scenario(dice):
    """A scenario with one hook, one shape of input and one world, and the endings of its hook runs."""
    command, expected = draw(dice)
    keys = {
        "name": "soak",
        "hooks": {"PreToolUse": f"exec {command}"},
        "env": {"TOY_SECONDS": STAY},
        "hook_timeout": "300ms",
        "stdin": dice.choice(SHAPES),
        "world": dice.choice(WORLDS),
    }
    made = scenario_from(keys)
    acts = [{"run": "ls", "result": "a"}] * MOVES
    return replace(made, script=script_from(acts, then="idle"), reach=(str(HOOKS),)), expected, keys


def descriptors():
    """The number of descriptors of this process."""
    return len([*Path("/proc/self/fd").iterdir()])


def command_lines():
    """The command lines of all processes, those in namespaces of their own too."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield place.read_bytes().replace(b"\0", b" ").decode(errors="replace")


def find_remains(base, before):
    """What is left behind: files below a folder, further descriptors, processes that have to stay."""
    files = [f"file {path.name}" for path in base.iterdir()]
    more = [f"{descriptors()} descriptors, not {before}"] if descriptors() > before else []
    return files + more + [f"process {line}" for line in command_lines() if STAY in line]


def leave_a_file(base):
    """Leave a file behind."""
    (base / "left").touch()


def leave_a_descriptor(_base):
    """Leave a descriptor open."""
    return os.open("/dev/null", os.O_RDONLY)


def leave_a_process(_base):
    """Leave a process that stays."""
    process = subprocess.Popen(["sleep", STAY])
    # The process exists before its command line does.
    while not any(STAY in line for line in command_lines()):
        assert process.poll() is None
    return process


@pytest.mark.nightly
@pytest.mark.parametrize("first", PIECES)
def test_a_soak_leaves_nothing_and_reports_the_true_endings(tmp_path, first):
    """Hook runs under random faults end in time, have their true endings, and leave nothing behind."""
    dice, done, before = random.Random(f"{SEED} {first}"), first, None  # noqa: S311  # dice, not secrets
    with Harness(Settings(base=tmp_path, wall=20.0, probes=False, seed=SEED)) as harness:
        while done < min(RUNS, first + PIECE):
            made, expected, keys = scenario(dice)
            outcome = harness.simulate(made)
            endings = [
                hook_run.run.ending for _, hook_run in outcome.trace.hook_runs() if hook_run.run is not None
            ]
            assert len(endings) >= MOVES, keys
            assert all(is_one_of(ending, expected) for ending in endings), (keys, endings)
            assert outcome.verdict_name == "terminated", keys
            before = descriptors() if before is None else before
            assert find_remains(tmp_path, before) == [], keys
            done += len(endings)


@pytest.mark.nightly
def test_pytest_counts_what_a_soak_comes_to(pytester):
    """The summary of a run of random scenarios counts those that are as expected and those that are not."""
    dice, kept, broken = random.Random(SEED), 0, 0  # noqa: S311  # dice, not secrets
    hooks = {
        "exit 0": True,
        "exit 2": False,
        "kill -KILL $$": False,
        "sleep 86399": False,
        "cat >/dev/null; exit 0": True,
    }
    for place in range(max(6, RUNS // 50)):
        command, good = dice.choice([*hooks.items()])
        kept, broken = kept + good, broken + (not good)
        text = f"name: soak-{place}\nhook_timeout: 300ms\nhooks: {{Stop: '{command}'}}\n"
        text += "agent: [{stop: Done.}]\n"
        pytester.path.joinpath(f"soak-{place}.scenario.yaml").write_text(text)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--hook-scenarios", ".")

    result.assert_outcomes(passed=kept, failed=broken)


def test_an_exit_code_is_no_kill():
    """The check of the soak fails for a kill that is reported as the exit code of a shell."""
    assert not is_one_of(Exited(137), {Signaled(9)})
    assert is_one_of(HeldOpen(Exited(0), 1.0), {Exited(0), HeldOpen})


@pytest.mark.parametrize(
    ("leave", "what"),
    [
        (leave_a_file, "file left"),
        (leave_a_descriptor, "descriptors"),
        (leave_a_process, f"process sleep {STAY}"),
    ],
    ids=["file", "descriptor", "process"],
)
def test_what_is_left_behind_is_found(tmp_path, leave, what):
    """A file, a descriptor and a process that are left behind are found, and nothing before that."""
    before = descriptors()
    assert find_remains(tmp_path, before) == []

    left = leave(tmp_path)
    try:
        (remains,) = find_remains(tmp_path, before)
    finally:
        if isinstance(left, subprocess.Popen):
            left.kill()
            left.wait()
        elif left is not None:
            os.close(left)

    assert what in remains
