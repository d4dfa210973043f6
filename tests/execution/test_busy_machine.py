"""Hook timeouts on a machine that is busy with something else."""

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from pytest_hookharness.model.processes import Cut, Exited, ProcessResult, TimedOut
from tests.execution.toys import launch

pytestmark = pytest.mark.slow

CPU = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
# On one processor: half a second of work, or as much waiting.
WORKS = f"""
import os, time
os.sched_setaffinity(0, {{{CPU}}})
while time.process_time() < 0.5:
    pass
"""
WAITS = "import time; time.sleep(20)"
SHORT = 0.8


@pytest.fixture
def crowd():
    """Keep one processor busy with four other processes."""
    code = f"import os\nos.sched_setaffinity(0, {{{CPU}}})\nprint(flush=True)\nwhile True: pass"
    with ExitStack() as stack:
        for _ in range(4):
            each = stack.enter_context(subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE))
            stack.callback(each.kill)
            assert each.stdout is not None
            each.stdout.readline()
        yield


def run(sandbox, code, **keys) -> ProcessResult:
    """Run Python code as a hook."""
    keys = {"hook_timeout": SHORT, **keys}
    (result,) = sandbox.run([launch(sys.executable, "-I", "-c", code, **keys)], budget=60.0)
    return result


@pytest.mark.nightly
@pytest.mark.usefixtures("crowd")
def test_a_hook_timeout_is_extended_by_the_time_for_which_a_hook_had_no_processor(sandbox):
    """A hook that would end in time on a quiet machine ends, and the extension is reported."""
    result = run(sandbox, WORKS)

    assert result.ending == Exited(0)
    assert result.wall > SHORT
    assert SHORT < SHORT + result.extended <= 4 * SHORT


@pytest.mark.nightly
@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(
    ("code", "keys", "by"),
    [
        (WAITS, {}, Cut.HOOK_TIMEOUT),
        (WORKS, {"exact": True}, Cut.HOOK_TIMEOUT),
        (WORKS, {"limit": SHORT, "hook_timeout": 10.0}, Cut.LIMIT),
    ],
)
def test_no_other_limit_is_extended(sandbox, code, keys, by):
    """A hook that waits for something else, a stated timeout and the limit of a host are cut as ever."""
    result = run(sandbox, code, **keys)

    assert isinstance(result.ending, TimedOut)
    assert (result.ending.by, result.ending.after) == (by, SHORT)
    assert not result.extended


@pytest.mark.nightly
@pytest.mark.usefixtures("crowd")
def test_time_without_a_cpu_does_not_count_for_leftovers(sandbox):
    """A process that outlives its hook gets as much time more as it had no CPU, and is then ended."""
    fork = "import os, sys\nif os.fork(): sys.exit()\n[os.close(number) for number in range(3)]\n"
    soon, late = (run(sandbox, f"{fork}{code}", linger=0.5) for code in (WORKS.replace("0.5", "0.3"), WAITS))

    assert soon.leftovers == ()
    assert len(late.leftovers) == 1


@pytest.mark.nightly
def test_a_hook_that_has_a_processor_is_cut_in_time(sandbox):
    """A hook that works without end is cut at its timeout, or soon after on a machine that is not quiet."""
    result = run(sandbox, "while True: pass")

    assert isinstance(result.ending, TimedOut)
    assert result.ending.after <= 4 * SHORT
