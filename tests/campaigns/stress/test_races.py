"""Parallel hook runs, counted where the author says, or compared by everything that they write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_hookharness
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

AGENT = [{"prompt": "x"}, {"run": "true"}, {"stop": "Done."}]
ONCE = "#!/bin/sh\necho x >>log\n[ -e mark ] && exit 0\n: >mark\necho once >&2\nexit 2\n"
LOG = {"file": "log", "lines": True}


def findings_of(outcome):
    """The findings and their words."""
    return [(finding.name, finding.text) for finding in outcome.findings]


@pytest.mark.slow
def test_a_refusal_that_is_meant_once_is_counted(play):
    """A hook that marks its first refusal refuses in every run that looked before: LOST-UPDATES."""
    outcome = play(
        files={"once.sh": ONCE},
        hooks={"PreToolUse": "./once.sh"},
        agent=AGENT,
        parallel={"event": "PreToolUse", "width": 3, "counts": LOG},
    )

    assert (
        "LOST-UPDATES",
        "PreToolUse: of 3 runs side by side 3 refuse, one after the other 1.",
    ) in findings_of(outcome)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("parallel", "message"),
    [
        ({"event": "Notification", "counts": LOG}, "the session fires no Notification hook"),
        ({"event": "PreToolUse", "hook": "other", "counts": LOG}, "'other' in its command"),
        ({"event": "PreToolUse", "width": 1, "counts": LOG}, "write 2 or more"),
        ({"event": "PreToolUse", "counts": {"file": "no", "lines": True}}, "counts nothing"),
    ],
)
def test_what_would_count_nothing_is_an_error(play, parallel, message):
    """Parallel hook runs that never happen, or that are counted nowhere, are an error."""
    with pytest.raises(SimulationError, match=message):
        play(files={"once.sh": ONCE}, hooks={"PreToolUse": "./once.sh"}, agent=AGENT, parallel=parallel)


@pytest.mark.nightly
def test_hook_runs_that_never_end_side_by_side_are_an_error(play):
    """Where hook runs wait for each other nothing is counted, and that is an error."""
    script = "#!/bin/sh\necho x >>log\nmkdir lock || exec sleep 60\nsleep 0.2\nrmdir lock\n"
    with pytest.raises(SimulationError, match=r"[12] of 3 hook runs side by side had not ended"):
        play(
            files={"waits.sh": script},
            hooks={"PreToolUse": "./waits.sh"},
            agent=AGENT,
            hook_timeout=0.1,
            parallel={"event": "PreToolUse", "width": 3, "counts": LOG},
        )


COUNTS = """#!/bin/sh
n=$(cat .count 2>/dev/null || echo 0)
echo $((n + 1)) >.count
exit 0
"""
APPENDS = """#!/bin/sh
echo called >>.log
exit 0
"""
LEAVES_IT_TO_OTHERS = """#!/bin/sh
mkdir .lock 2>/dev/null || exit 0
sleep 0.05
echo built >>.log
rmdir .lock
exit 0
"""
WAITS_FOR_OTHERS = """#!/bin/sh
until mkdir .lock 2>/dev/null; do sleep 0.01; done
trap 'rmdir .lock' EXIT
sleep 0.05
echo called >>.log
"""
CALL = [{"run": "ls", "result": "a"}, {"stop": "Done."}]


@pytest.fixture
def race(play):
    """Run the hooks of each event side by side, without counters."""

    def run(hook, **keys):
        keys = {"hooks": {"PreToolUse": "./hook.sh"}, "parallel": {"width": 8}, **keys}
        return play(agent=CALL, files={"hook.sh": hook}, **keys)

    return run


@pytest.mark.nightly
@pytest.mark.parametrize("event", [{}, {"event": "PreToolUse"}])
@pytest.mark.parametrize(
    "hook, found", [(COUNTS, ["LOST-UPDATES"]), (APPENDS, []), (LEAVES_IT_TO_OTHERS, [])]
)
def test_a_race_loses_what_is_read_and_written_back(race, hook, found, event):
    """Runs side by side lose counts that are read and written back, and no lines that are appended."""
    outcome = race(hook, parallel={"width": 8, **event})

    assert found == [finding.name for finding in outcome.findings]
    assert [row.outcome for row in outcome.trial_results] == ["differs" if found else "as declared"]


@pytest.mark.nightly
def test_a_race_is_between_hooks_that_write(race):
    """Lost updates are blamed on the hook that writes, and not on one beside it that writes nothing."""
    (found,) = race(COUNTS, hooks={"PreToolUse": ["./hook.sh", "true"]}).findings

    assert (found.name, found.hook) == ("LOST-UPDATES", "./hook.sh")


@pytest.mark.nightly
def test_a_race_that_is_cut_has_lost_nothing(race):
    """Hook runs that wait for each other longer than they may are reported as not tried, and lose nothing."""
    outcome = race(WAITS_FOR_OTHERS, hook_timeout=0.25)

    assert outcome.findings == ()
    assert any("one was cut after 0.25 s (the hook timeout)" in note for note in outcome.varied)


@pytest.mark.nightly
def test_runs_are_interleaved_where_the_package_lies_in_a_private_folder(tmp_path):
    """A copy of the package below /tmp, which sandboxes hide, still controls the order of its hook runs."""
    package = Path(pytest_hookharness.__file__).parent
    scenario = Path(__file__).parents[3] / "scenarios/pitfalls/torn-log/torn-log.scenario.yaml"
    shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(scenario.parent, tmp_path / "scenarios")

    item = "torn-log[with-the-pitfall-claude-code]"
    ended = subprocess.run(
        [sys.executable, "-m", package.name, "run", f"scenarios/{scenario.name}::{item}"],
        cwd=tmp_path,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
        text=True,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr


SHARED_NAME = """#!/bin/sh
cat >.tmp
sleep 0.02
mv .tmp .last || exit 1
exit 0
"""
OWN_NAME = """#!/bin/sh
file=$(mktemp ./.tmp.XXXXXX)
cat >$file
sleep 0.02
mv $file .last || exit 1
"""
# Leaves no file, and its name is no file that is written.
LOCKS = """#!/bin/sh
mkdir .lock 2>/dev/null || { echo busy >&2; exit 2; }
sleep 0.05
rmdir .lock
"""
# Fails in one of three runs, whether or not another one is there.
BY_CHANCE = """#!/bin/sh
[ $(od -An -N1 -tu1 /dev/urandom) -lt 80 ] && exit 1
exit 0
"""


@pytest.mark.nightly
@pytest.mark.parametrize("parallel", [{"width": 8}, {"width": 8, "event": "PreToolUse"}])
@pytest.mark.parametrize(
    ("hook", "found"),
    [
        (SHARED_NAME, ("CRASHED", "end with exit code 1")),
        (LOCKS, ("LOST-UPDATES", "refuse, one after the other 0")),
        (OWN_NAME, None),
        (BY_CHANCE, None),
    ],
)
def test_a_hook_that_fails_only_beside_others_is_found(race, hook, found, parallel):
    """Runs that fail or refuse only side by side are found, and neither those that never do nor by chance."""
    # The hook that fails by chance may do so in the session itself, too, which is a finding of its own.
    findings = [one for one in race(hook, parallel=parallel).findings if "side by side" in one.text]

    assert [(one.name, found is not None and found[1] in one.text) for one in findings] == (
        [(found[0], True)] if found else []
    )


@pytest.mark.nightly
def test_a_hook_that_fails_beside_others_is_found_with_counters_too(race):
    """Where counters are named, runs that fail only side by side are found as well."""
    hook = SHARED_NAME.replace("exit 0", "echo x >>.log")
    texts = [
        finding.text
        for finding in race(
            hook, parallel={"event": "PreToolUse", "width": 4, "counts": {"file": ".log"}}
        ).findings
    ]

    assert any("end with exit code 1" in text for text in texts)


@pytest.mark.nightly
@pytest.mark.parametrize("counts", [{"file": ".count"}, {"file": ".count", "lines": True}])
def test_a_file_that_holds_a_number_counts_by_it(race, counts):
    """A counter file without a key counts by its number, and not by its only line."""
    outcome = race(COUNTS, parallel={"event": "PreToolUse", "width": 4, "counts": counts})

    (found,) = outcome.findings
    assert found.name == "LOST-UPDATES"
    assert "the number in .count at 1 instead of 4" in found.text


SAVES_ITS_INPUT = """#!/bin/sh
input=$(cat)
case $input in *first*) sleep 0.05; file=first ;; *) file=second ;; esac
echo $file >.current
sleep 0.05
[ "$(cat .current)" = $file ] || { echo "another call was there" >&2; exit 2; }
"""


@pytest.mark.nightly
@pytest.mark.parametrize("different", [False, True])
def test_different_calls_at_the_same_time(play, different):
    """A hook that confuses two calls is found if the runs get different ones, and not if all get the same."""
    outcome = play(
        agent=[{"run": "first", "result": "a"}, {"run": "second", "result": "a"}, {"stop": "Done."}],
        files={"hook.sh": SAVES_ITS_INPUT},
        hooks={"PreToolUse": "./hook.sh"},
        parallel={"event": "PreToolUse", "width": 2, "different": different},
    )

    assert [finding.name for finding in outcome.findings] == ["LOST-UPDATES"] * different


def test_calls_that_do_not_differ_are_an_error(play):
    """Where the session makes no two different calls, asking for them is an error that says what to do."""
    with pytest.raises(SimulationError, match="make two different calls"):
        play(
            agent=CALL,
            files={"hook.sh": COUNTS},
            hooks={"PreToolUse": "./hook.sh"},
            parallel={"event": "PreToolUse", "different": True},
        )
