"""Sessions at a declared pace: the times of files, Git, and folders of the developer."""

import os
import time
from dataclasses import replace

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.verdicts import Livelock, Terminated
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "echo 'run the tests' >&2; exit 2"
DAY = 86400.0


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["git diff-index --quiet HEAD --", "git diff-files --quiet"])
@pytest.mark.parametrize("pace", [0, "10s"])
def test_git_finds_nothing_changed_where_nothing_was(play, asked, pace):
    """Git compares the times of files with those that it noted, which a later clock leaves equal."""
    outcome = play(
        git=True, files={"a.txt": "x"}, hooks={"Stop": f"{asked} && exit 0; {REFUSE}"}, env=OFF, pace=pace
    )

    assert outcome.verdict == Terminated(turn=1)


@pytest.mark.slow
def test_git_finds_nothing_changed_after_a_commit_at_a_pace(play):
    """A file that was committed in one turn is unchanged in the turns after it."""
    hook = (
        "[ -f n ] || { touch n; git add n; git -c user.name=a -c user.email=a@b commit -qm n; "
        f"{REFUSE}; }}; git diff-index --quiet HEAD -- && git diff-files --quiet && exit 0; {REFUSE}"
    )
    outcome = play(git=True, hooks={"Stop": hook}, env=OFF, pace="10s", turns=5)

    assert outcome.verdict == Terminated(turn=2)


@pytest.mark.nightly
def test_the_status_of_a_file_changed_when_its_content_did(play):
    """The time of the last change of status grows as old as that of the content."""
    hook = f'[ -n "$(find src -cmin -1)" ] || exit 0; {REFUSE}'
    outcome = play(
        files={"src/a.py": "x"},
        hooks={"Stop": hook},
        agent=[{"run": "echo y > src/a.py"}],
        env=OFF,
        pace="10s",
    )

    assert outcome.verdict == Terminated(turn=7)


@pytest.mark.slow
def test_files_of_covered_folders_keep_their_times(play, tmp_path):
    """No time of a developer's file is changed, not even one after the present."""
    folder = tmp_path / "covered"
    folder.mkdir()
    later = folder / "later"
    later.write_text("x")
    os.utime(later, (time.time() + DAY, time.time() + DAY))
    before = later.stat().st_mtime_ns

    outcome = play(world={"cover": [str(folder)]}, hooks={"Stop": f"echo x >> {folder}/own"}, pace="10s")

    assert isinstance(outcome.verdict, Terminated)
    assert later.stat().st_mtime_ns == before
    assert (folder / "own").stat().st_mtime == pytest.approx(time.time(), abs=60)


@pytest.mark.nightly
def test_a_hook_that_changes_a_covered_folder_gets_a_verdict(play, tmp_path):
    """Numbers that it may compare with are looked for in the workspace alone."""
    outcome = play(
        world={"cover": [str(tmp_path)]}, hooks={"Stop": f"echo x >> {tmp_path}/own; {REFUSE}"}, env=OFF
    )

    assert isinstance(outcome.verdict, Livelock)


@pytest.mark.slow
def test_a_new_file_is_new_where_test_doubles_show_the_time(tmp_path):
    """Without a trace, the first turn has the machine's time for all programs and files."""
    hook = f'touch new; [ "$(($(date +%s) - $(stat -c %Y new)))" -lt 5 ] && exit 0; {REFUSE}'
    made = scenario_from({"name": "test", "hooks": {"Stop": hook}, "env": OFF, "pace": "10s"})
    with Harness(Settings(base=tmp_path, tier=Tier.GROUP)) as harness:
        outcome = harness.simulate(replace(made, script=script_from([], then="idle")))

    assert outcome.verdict == Terminated(turn=1)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({"pace": "10s"}, marks=pytest.mark.nightly),
        {"agent": [{"wait": "10m"}, {"stop": "Done."}]},
        pytest.param({"agent": [{"wait": "2s"}, {"stop": "Done."}]}, marks=pytest.mark.nightly),
        pytest.param({"agent": [{"stop": "Done."}]}, marks=pytest.mark.nightly),
    ],
)
def test_a_time_that_a_program_chose_for_a_file_is_kept(play, keys):
    """A time that a hook gives a file is shown as it is, whatever the clock of the scenario shows."""
    hook = (
        "touch -d '10 minutes ago' ten; [ -f new ] || { touch new; cp -p new copy; }; sleep 0.2; "
        "[ copy -nt new ] && exit 0; find copy -newer new | grep -q . && exit 0; "
        '[ "$(($(date +%s) - $(stat -c %Y ten)))" -ge 599 ] || exit 0; '
    )
    outcome = play(hooks={"Stop": hook + REFUSE}, env=OFF, turns=20, **keys)

    assert isinstance(outcome.verdict, Livelock)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{}, {"pace": "1m"}, {"agent": [{"wait": "5m"}, {"stop": "Done."}]}])
def test_a_hook_that_does_not_run_is_found_under_a_moved_clock(play, keys):
    """That a script is missing is found whether the clock is moved or not."""
    outcome = play(
        files={"sub/h.sh": "exit 2"}, hooks={"Stop": "sh ./sub/h.sh"}, world={"cwd": "sub"}, env=OFF, **keys
    )

    assert "NOT-RUN" in [finding.name for finding in outcome.findings]
