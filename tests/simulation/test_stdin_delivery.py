"""Standard input that reaches hooks in another way than from their host."""

import json

import pytest

from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.processes import Exited, ProcessSpec, Stdin, Stdio, TimedOut
from pytest_hookharness.simulation.testbed.launch_overrides import deliver

DATA = b'{"a":"\xc3\xa4"}\n'
LAUNCH = ProcessSpec(argv=("x",), cwd="/", env={}, stdin=Stdin(data=DATA), stdio=Stdio.SOCKET)
TELLS_KIND = """
if [ -t 0 ]; then echo pty
elif [ -p /dev/stdin ]; then echo pipe
elif [ -S /dev/stdin ]; then echo socket
elif [ ! -e /dev/stdin ]; then echo closed
elif [ -c /dev/stdin ]; then echo null
fi >&2
exit 2
"""


@pytest.mark.parametrize(
    "shape, data",
    [
        ("whole", DATA),
        ("empty", b""),
        ("partial-line", DATA[:-1]),
        ("partial-json", DATA[: len(DATA) // 2]),
        ("bom", b"\xef\xbb\xbf" + DATA),
    ],
)
def test_input_has_the_given_shape(shape, data):
    """Each shape is made of the bytes that the host would have written."""
    assert deliver(LAUNCH, Delivery(shape=shape)).stdin.data == data


@pytest.mark.parametrize("size", [1 << 16, (1 << 20) + 1])
def test_input_grows_and_stays_json(size):
    """A size is reached by one more key, and the other keys stay."""
    data = deliver(LAUNCH, Delivery(size=size)).stdin.data

    assert size <= len(data) < size + 100
    assert json.loads(data)["a"] == "ä"
    assert data.endswith(b"}\n")


def test_input_that_is_large_enough_stays_as_it_is():
    """A size that the input already has adds nothing."""
    assert deliver(LAUNCH, Delivery(size=5)) == LAUNCH


@pytest.mark.parametrize("kind", ["socket", "pipe", "pty", "null", "closed"])
def test_hook_gets_the_given_kind(play, kind):
    """Only standard input is of the kind that is asked for; the output still arrives."""
    outcome = play(hooks={"Stop": TELLS_KIND}, stdin={"kind": kind}, turns=1)

    assert {kind} == {reason.strip().split()[-1] for reason in outcome.reasons("Stop")}


@pytest.mark.slow
def test_the_input_of_one_event_is_left_open(play):
    """If the input of one event is left open, a hook that reads to its end hangs there and nowhere else."""
    ways = {"events": {"SessionEnd": {"close": False}}}
    reads = "cat >/dev/null"
    outcome = play(hooks={"Stop": reads, "SessionEnd": reads}, stdin=ways, hook_timeout=0.3)
    endings = {hook_run.hook.event: hook_run.run.ending for _, hook_run in outcome.trace.hook_runs()}

    assert endings["Stop"] == Exited(0)
    assert isinstance(endings["SessionEnd"], TimedOut)


@pytest.mark.parametrize("size", [60_000, 70_000, 200_000, 900_000])
def test_input_of_any_size_passes_through(play, size):
    """A hook that copies its input to its output returns every byte of it."""
    outcome = play(hooks={"SessionEnd": "cat"}, stdin={"size": size})
    ((_, hook_run),) = outcome.trace.hook_runs()

    assert len(hook_run.stdin) >= size
    assert hook_run.run.stdout.data == hook_run.stdin


@pytest.mark.parametrize("hook, whole", [("exit 0", False), ("cat >/dev/null", True)])
def test_hook_that_ends_early_takes_less(play, hook, whole):
    """The part of a large input that a hook does not read is measured where it is written."""
    outcome = play(hooks={"SessionEnd": hook}, stdin={"size": 1 << 20})
    ((_, hook_run),) = outcome.trace.hook_runs()

    assert (hook_run.run.stdin_taken == len(hook_run.stdin)) is whole
