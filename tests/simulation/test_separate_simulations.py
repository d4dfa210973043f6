"""What one simulation found, or could not find, does not affect another one."""

from __future__ import annotations

import pytest

from pytest_hookharness.simulation.startup import languages, start_check, trial_runs

STOP = {"stop": "Done."}
GUARD = "#!/bin/bash\nbash .hooks/check.sh 2>/dev/null || exit 2\n"
CALLS = {"missing": {}, "present": {".hooks/check.sh": "#!/bin/bash\nexit 1\n"}}
PLAN = "import sys\nsys.stderr.write('Line 1 of plan.md is wrong\\n'); sys.exit(2)\n"
# It ends every Python program at once, with a message that the hook could have written.
HELD_BACK = {
    ".hooks/a.py": "print(1)\n",
    ".lib/sitecustomize.py": "import os, sys\nsys.stderr.write('licence of a.py missing\\n')\nos._exit(1)\n",
}


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Begin each test as in a new process."""
    for module, names in ((start_check, ("_known", "_unsure", "_said")), (languages, ("_known", "_spoken"))):
        for name in names:
            monkeypatch.setattr(module, name, {})


def failures(outcome):
    """Return the kind of failure of each hook run, or else its doubt."""
    runs = [hook_run.run for _, hook_run in outcome.trace.hook_runs()]
    return {run.failure.kind if run.failure else run.doubt for run in runs}


@pytest.mark.nightly
@pytest.mark.parametrize("order", [("missing", "present"), ("present", "missing")])
def test_a_hook_without_its_helper_is_told_from_the_same_hook_with_it(play, order):
    """Whichever runs first, only the hook whose helper is missing is reported; the other one refuses."""
    seen = {
        name: failures(
            play(
                files={".hooks/guard.sh": GUARD, **CALLS[name]},
                hooks={"Stop": "bash .hooks/guard.sh"},
                agent=[STOP],
                turns=3,
            )
        )
        for name in order
    }

    assert seen == {"missing": {"called"}, "present": {""}}


@pytest.mark.nightly
def test_a_trial_that_a_busy_machine_cut_is_made_again(play, monkeypatch):
    """If the trials of one simulation took too long, the next one tries the same hook again."""

    def doubt():
        return failures(
            play(files={".hooks/g.py": PLAN}, hooks={"Stop": "python3 .hooks/g.py"}, agent=[STOP], turns=3)
        )

    with monkeypatch.context() as busy:
        busy.setattr(trial_runs, "_LIMIT", 0.004)
        assert doubt() == {start_check._CUT}
    assert doubt() == {""}


@pytest.mark.nightly
def test_an_interpreter_that_the_environment_stops_says_nothing_about_others(play):
    """A syntax error is found, also after a scenario whose PYTHONPATH stops every Python program."""
    play(
        files=HELD_BACK,
        env={"PYTHONPATH": ".lib"},
        hooks={"Stop": "python3 .hooks/a.py"},
        agent=[STOP],
        turns=3,
    )
    broken = play(
        files={".hooks/b.py": "import sys\nprint('x'\nsys.exit(2)\n"},
        hooks={"Stop": "python3 .hooks/b.py"},
        agent=[STOP],
        turns=3,
    )

    assert failures(broken) == {"syntax"}
