"""Claims about hooks that learn the time by what is new in each of their runs."""

import pytest

from pytest_hookharness.model.verdicts import Livelock, Undecided

WAITS = (
    "[ -f .first ] || echo $now >.first; [ $((now - $(cat .first))) -gt 600 ] && exit 0; "
    "echo Again. >&2; exit 2"
)
OF_PYTHON = "now=$(python3 -c 'import os, sys; print(int({}))'); "


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("now", "host"),
    [
        ("now=$(date -r /proc/self +%s); ", "claude-code"),
        (OF_PYTHON.format('os.stat("/proc/thread-self").st_mtime'), "claude-code"),
        (OF_PYTHON.format("os.fstat(os.pipe()[0]).st_mtime"), "claude-code"),
        (OF_PYTHON.format("os.stat(sys.stdin.fileno()).st_mtime"), "codex"),
    ],
)
def test_a_hook_that_asks_when_something_new_was_made(play, now, host):
    """Its process, a pipe or its input tells a hook the time, so a loop that waits for a time is none."""
    outcome = play(hooks={"Stop": now + WAITS}, host=host, turns=30, cap="none")

    assert isinstance(outcome.verdict, Undecided)
    assert "it would allow the stop after about 10 min" in outcome.verdict.why


@pytest.mark.nightly
def test_the_input_has_no_time_if_it_is_a_socket(play):
    """Where the input of a hook is a socket, its times stand still, and the loop never ends."""
    now = OF_PYTHON.format("os.fstat(0).st_mtime")

    assert isinstance(play(hooks={"Stop": now + WAITS}, turns=30).verdict, Livelock)


@pytest.mark.nightly
def test_a_program_that_asks_for_the_status_of_its_output(play):
    """The C library asks for it with each output, and no program tells it: the proof stays what it is."""
    outcome = play(hooks={"Stop": "now=$(stat -c %s .first || echo 0); " + WAITS}, turns=30)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "closed"


@pytest.mark.slow
def test_a_clock_that_no_play_can_move(play):
    """If a hook compares the time since the machine started, its clock is an assumption of the end."""
    hook = (
        "now=$(cut -d. -f1 /proc/uptime); last=$(cat .last 2>/dev/null || echo -100); echo $now >.last; "
        "[ $((now - last)) -lt 30 ] && exit 0; echo Again. >&2; exit 2"
    )
    outcome = play(hooks={"Stop": hook})

    assert outcome.terminated
    assert any(
        "`/proc/uptime`" in one and "Other times were not played" in one for one in outcome.assumptions
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "use", ["# time.monotonic() would do as well", "began = time.monotonic(); time.monotonic() - began"]
)
def test_a_hook_that_measures_itself(play, use):
    """Who measures how long something takes, or only names a clock, decides nothing by it."""
    script = f"import time\n{use}\n"
    outcome = play(hooks={"Stop": "python3 end.py"}, files={"end.py": script})

    assert outcome.terminated
    assert not any("monotonic" in one for one in outcome.assumptions)
