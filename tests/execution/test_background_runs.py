"""Hook runs for which their host does not wait, on each tier."""

import time

import pytest

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Cut, Detach, Exited, Stdin, Tier, TimedOut

from .toys import STAY, launch, staying

ASKS = """echo '{"async": true, "asyncTimeout": 60000}'"""
STAYS = f"sleep {STAY}"
DAEMON = f"(setsid {STAYS} </dev/null >/dev/null 2>&1 &)"


@pytest.fixture(scope="module", params=Tier, ids=lambda tier: tier.name.lower())
def sandbox(request):
    """A sandbox of each tier."""
    with Supervisor() as supervisor:
        if reason := supervisor.tiers()[request.param]:
            pytest.skip(f"no {request.param.value} here: {reason}")
        with supervisor.open(Confinement(tier=request.param)) as opened:
            yield opened


@pytest.fixture
def run(sandbox):
    """Run shell code as a hook that may ask its host to go on; nothing is left of it."""

    def shell(code, **keys):
        keys = {"detach": Detach.ON_REQUEST, "background": 0.3, **keys}
        (result,) = sandbox.run([launch("sh", "-c", code, **keys)])
        assert staying() == []
        return result

    return shell


def ended_in_background(result):
    return isinstance(result.ending, TimedOut) and result.ending.by is Cut.BACKGROUND


@pytest.mark.nightly
@pytest.mark.parametrize(
    "code",
    [
        f"{ASKS}; {STAYS}",
        f"{ASKS}; trap '' TERM; {STAYS}; {STAYS}",
        f"{ASKS}; {DAEMON}; {STAYS}",
        f"printf '{{\"async\"'; printf ': true}}'; {STAYS}",
        f"{ASKS}; exec >&- 2>&-; {STAYS}",
    ],
    ids=["waits", "ignores-term", "daemon", "in-two-parts", "closes-its-output"],
)
def test_a_hook_that_asks_for_it_is_not_waited_for(run, code):
    """A hook that asks its host to go on, and goes on itself, is ended after the time that it is given."""
    began = time.monotonic()
    result = run(code, limit=600.0, hook_timeout=500.0)

    assert ended_in_background(result)
    assert result.wall < result.ending.after
    assert time.monotonic() - began < 100.0  # the hook would have been waited for longer


@pytest.mark.nightly
def test_a_hook_that_is_configured_so_is_not_waited_for_at_all(run):
    """A hook in the background by its settings takes none of its host's time, whatever it prints."""
    result = run(f"echo text; {STAYS}", detach=Detach.AT_ONCE)

    assert ended_in_background(result)
    assert (result.wall, result.stdout.text) == (0.0, "text\n")


@pytest.mark.parametrize("detach", [Detach.ON_REQUEST, Detach.AT_ONCE])
def test_a_hook_that_ends_soon_in_the_background_is_seen_to_its_end(run, detach):
    """A hook that ends in time ends by itself, with all of its output and without a wait for its streams."""
    result = run(
        f"{ASKS}; cat; echo late; exit 3", detach=detach, stdin=Stdin(data=b"input\n"), background=30.0
    )

    assert result.ending == Exited(3)
    assert result.stdout.text.endswith("input\nlate\n")
    assert result.stdin_read == len(b"input\n")


def test_a_child_that_keeps_the_output_of_such_a_hook_holds_nobody_up(run):
    """A process that is left with the output of a hook that asked its host to go on is a leftover."""
    result = run(f"{ASKS}; {STAYS} & exit 0", pipe_wait=60.0)

    assert result.ending == Exited(0)
    assert [STAY in left.command for left in result.leftovers] == [True]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "first",
    [
        "echo text",
        """echo '{"async": false}'""",
        """echo '{"async": 1}'""",
        "echo '{\"async\": true'",
        "true",
    ],
)
def test_other_output_does_not_send_a_hook_to_the_background(run, first):
    """A hook whose first line asks for nothing is cut at its timeout, even if a later line asks."""
    result = run(f"{first}; {ASKS if first != 'true' else first}; {STAYS}", hook_timeout=0.3)

    assert isinstance(result.ending, TimedOut)
    assert result.ending.by is Cut.HOOK_TIMEOUT


@pytest.mark.slow
def test_a_host_that_knows_no_background_waits(run):
    """Where the host does not read the request, the hook is cut at its timeout like any other."""
    result = run(f"{ASKS}; {STAYS}", detach=Detach.NEVER, hook_timeout=0.3)

    assert isinstance(result.ending, TimedOut)
    assert result.ending.by is Cut.HOOK_TIMEOUT


@pytest.mark.nightly
def test_the_time_of_the_whole_run_is_never_exceeded(sandbox):
    """A hook in the background that the budget of the batch ends is reported as ended by it."""
    hook = launch("sh", "-c", f"{ASKS}; {STAYS}", detach=Detach.ON_REQUEST, background=60.0)
    (result,) = sandbox.run([hook], budget=0.3)

    assert result.cut_by_budget
    assert staying() == []


@pytest.mark.nightly
def test_hooks_beside_one_in_the_background_are_not_touched(sandbox):
    """Of two hooks that run at the same time, only the one in the background is ended."""
    asking = launch("sh", "-c", f"{ASKS}; {STAYS}", detach=Detach.ON_REQUEST, background=0.1)
    other = launch("sh", "-c", "sleep 0.4; echo done")
    results = sandbox.run([asking, other])

    assert ended_in_background(results[0])
    assert (results[1].ending, results[1].stdout.text) == (Exited(0), "done\n")
    assert staying() == []
