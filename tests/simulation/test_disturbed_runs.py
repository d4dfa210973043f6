"""Hooks whose state the harness cannot copy and undo, with real hooks."""

import sys

import pytest

from pytest_hookharness.model.verdicts import Livelock, Terminated, Undecided

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
REFUSE = "import sys; sys.stderr.write('run the tests'); sys.exit(2)\n"


def run(play, text, **keys):
    return play(hooks={"Stop": "./check"}, files={"check": text}, modes={"check": "755"}, **keys)


@pytest.mark.nightly
def test_an_end_after_turns_on_copies_is_not_claimed(play):
    """A count in the kernel goes on in the turns that are played on copies, so the end after them is open."""
    count = (
        f"#!{sys.executable}\nimport ctypes\nc = ctypes.CDLL(None)\ns = c.semget(4711, 1, 0o1666)\n"
        "n = c.semctl(s, 0, 12, 0)\nif n == 21: raise SystemExit(0)\nc.semctl(s, 0, 16, n + 1)\n"
    )
    outcome = run(play, count + REFUSE)

    assert not isinstance(outcome.verdict, Terminated)


@pytest.mark.nightly
def test_a_limit_of_the_size_of_files_is_no_unread_log(play):
    """A log whose size ends the loop, by a write that fails, is seen to be full in real turns."""
    text = "#!/bin/bash\n(ulimit -f 1; printf %99s >> log) 2>/dev/null || exit 0\necho no >&2\nexit 2\n"
    outcome = run(play, text, env=OFF)

    assert isinstance(outcome.verdict, Terminated)


@pytest.mark.slow
@pytest.mark.nightly
def test_steps_that_become_too_small_to_see(play):
    """A number that comes closer and closer to zero is played like any other."""
    text = (
        f"#!{sys.executable}\nimport pathlib\np = pathlib.Path('x')\n"
        "x = float(p.read_text()) if p.exists() else 1e-10\np.write_text(f'{x / 9:.60f}')\n"
    )
    outcome = run(play, text + REFUSE, env=OFF, turns=30)

    assert isinstance(outcome.verdict, Livelock | Undecided)
