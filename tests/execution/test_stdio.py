"""What passes through the standard streams of a hook."""

from __future__ import annotations

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox
from pytest_hookharness.model.processes import Exited, KillPolicy, ProcessResult, Stdin, Stdio, TimedOut

from .toys import launch

MEGABYTE = b"x" * (1 << 20)
BOTH = pytest.mark.parametrize("stdio", [Stdio.PIPE, Stdio.SOCKET])


def run_hook(sandbox: Sandbox, *words: str, **changes: object) -> ProcessResult:
    (run,) = sandbox.run([launch(*words, **changes)])
    return run


@BOTH
def test_a_hundred_megabytes_are_drained_and_counted(sandbox: Sandbox, stdio: Stdio) -> None:
    """A flood of output neither blocks nor fills memory: it is counted in full and kept up to the limit."""
    run = run_hook(sandbox, "floods_stdout.sh", stdio=stdio, output_limit=1000)
    assert run.ending == Exited(0)
    assert run.stdout.total == 100_000_000
    assert run.stdout.data == bytes(1000)
    assert run.stdout.cut_at == 1000


@BOTH
def test_bytes_that_are_no_text_are_kept(sandbox: Sandbox, stdio: Stdio) -> None:
    """Output that is not UTF-8 arrives byte for byte."""
    run = run_hook(sandbox, "writes_invalid_utf8.sh", stdio=stdio)
    assert run.stdout.data == b'\377\376{"a":1}'
    assert run.stdout.cut_at is None


@BOTH
@pytest.mark.parametrize("size", [0, 1, 5000, 1 << 20])
def test_a_hook_that_reads_all_gets_all(sandbox: Sandbox, stdio: Stdio, size: int) -> None:
    """An input of any size arrives in full with its end, and is counted on our side."""
    run = run_hook(sandbox, "reads_all_stdin.sh", stdin=Stdin(data=MEGABYTE[:size]), stdio=stdio)
    assert run.stdout.data.strip() == str(size).encode()
    assert run.stdin_taken == size
    assert run.stdin_read in (size, None)


@BOTH
def test_a_hook_that_reads_nothing_of_a_megabyte_ends_as_it_ends(sandbox: Sandbox, stdio: Stdio) -> None:
    """A large input that is never read neither blocks the hook run nor counts as taken in full."""
    run = run_hook(sandbox, "reads_no_stdin.sh", stdin=Stdin(data=MEGABYTE), stdio=stdio)
    assert run.ending == Exited(0)
    assert 0 < run.stdin_taken < len(MEGABYTE)


def test_what_was_read_of_a_small_input_is_known_on_pipes(sandbox: Sandbox) -> None:
    """With pipes it is known to the byte how much of a small input a hook has read."""
    payload = Stdin(data=b"0123456789")
    assert run_hook(sandbox, "reads_no_stdin.sh", stdin=payload).stdin_read == 0
    assert run_hook(sandbox, "head", "-c", "4", stdin=payload).stdin_read in (4, 10)
    assert run_hook(sandbox, "dd", "bs=1", "count=4", stdin=payload).stdin_read == 4
    assert run_hook(sandbox, "cat", stdin=payload).stdin_read == 10


def test_on_sockets_it_is_known_only_that_all_was_read(sandbox: Sandbox) -> None:
    """With sockets an input that was read in full is known as such; otherwise the amount is unknown."""
    payload = Stdin(data=b"0123456789")
    assert run_hook(sandbox, "cat", stdin=payload, stdio=Stdio.SOCKET).stdin_read == 10
    assert run_hook(sandbox, "dd", "bs=1", "count=4", stdin=payload, stdio=Stdio.SOCKET).stdin_read is None
    assert run_hook(sandbox, "reads_no_stdin.sh", stdin=payload, stdio=Stdio.SOCKET).stdin_read is None


REOPENING = [("cat", "/dev/stdin"), ("sh", "-c", "echo x > /dev/stderr")]


@pytest.mark.parametrize("words", REOPENING)
def test_streams_that_are_sockets_cannot_be_opened_by_name(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    """Under a host whose streams are sockets, opening them by name fails as it does there."""
    run = run_hook(sandbox, *words, stdio=Stdio.SOCKET)
    assert run.ending != Exited(0)
    assert "No such device or address" in run.stderr.text


@pytest.mark.parametrize("words", REOPENING)
def test_streams_that_are_pipes_can_be_opened_by_name(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    """Under a host whose streams are pipes, opening them by name works."""
    assert run_hook(sandbox, *words, stdio=Stdio.PIPE).ending == Exited(0)


@pytest.mark.nightly
@BOTH
def test_an_input_left_open_has_no_end(sandbox: Sandbox, stdio: Stdio) -> None:
    """A hook that wants one line of an input left open ends; one that wants its end is cut."""
    payload = Stdin(data=b"one\n", close=False)
    assert run_hook(sandbox, "reads_one_line.sh", stdin=payload, stdio=stdio).stdout.data == b"one\n"
    quick = KillPolicy(signals=(9,))
    run = run_hook(sandbox, "reads_all_stdin.sh", stdin=payload, stdio=stdio, hook_timeout=0.3, kill=quick)
    assert isinstance(run.ending, TimedOut)


@BOTH
def test_an_input_in_pieces_comes_in_pieces(sandbox: Sandbox, stdio: Stdio) -> None:
    """An input that the host writes late and in pieces arrives in full, no earlier than its delays allow."""
    payload = Stdin(data=b"abcdef", chunk=2, delay=0.05)
    run = run_hook(sandbox, "cat", stdin=payload, stdio=stdio)
    assert run.stdout.data == b"abcdef"
    assert run.stdin_taken == 6
    assert run.wall >= 0.15


def test_a_hook_that_ends_before_its_late_input_took_none(sandbox: Sandbox) -> None:
    """A hook has read nothing of an input that would come after the hook's end."""
    run = run_hook(sandbox, "reads_no_stdin.sh", stdin=Stdin(data=b"late", delay=10.0))
    assert run.ending == Exited(0)
    assert run.stdin_taken == 0


@pytest.mark.slow
def test_a_hook_still_waiting_for_late_input_is_described_so(sandbox: Sandbox) -> None:
    """A hook that is cut before the host has written is described as waiting for the host."""
    run = run_hook(
        sandbox, "cat", stdin=Stdin(data=b"x", delay=30.0), hook_timeout=0.3, kill=KillPolicy(signals=(9,))
    )
    assert isinstance(run.ending, TimedOut)
    assert run.ending.doing[0].waits_for == "more of stdin, which the host has not written yet"


def test_a_terminal_is_a_terminal(sandbox: Sandbox) -> None:
    """Under a host that gives a terminal, all three streams are that terminal, and it controls the hook."""
    script = "test -t 0 && test -t 1 && test -t 2 && echo yes > /dev/tty; cat"
    run = run_hook(sandbox, "sh", "-c", script, stdin=Stdin(data=b"typed\n"), stdio=Stdio.TTY)
    assert run.ending == Exited(0)
    assert run.stdout.data.replace(b"\r", b"") == b"yes\ntyped\n"


def test_without_a_terminal_there_is_none(sandbox: Sandbox) -> None:
    """A hook on pipes has no controlling terminal."""
    assert run_hook(sandbox, "sh", "-c", "exec 3</dev/tty").ending != Exited(0)


def test_a_hook_gets_three_descriptors_and_no_more(sandbox: Sandbox) -> None:
    """Nothing that the harness has open is open in a hook."""
    # Listing the folder would open it.
    script = "for n in $(seq 0 64); do test -e /proc/$$/fd/$n && echo $n; done; true"
    assert run_hook(sandbox, "sh", "-c", script).stdout.text.split() == ["0", "1", "2"]


def test_the_environment_is_exactly_what_was_given(sandbox: Sandbox) -> None:
    """A hook sees the given environment and no other variable."""
    given = {"PATH": "/usr/bin:/bin", "NAME": "a=b\nc", "EMPTY": ""}
    run = run_hook(sandbox, "env", "-0", env=given)
    assert sorted(run.stdout.data.rstrip(b"\0").split(b"\0")) == [
        b"EMPTY=",
        b"NAME=a=b\nc",
        b"PATH=/usr/bin:/bin",
    ]


def test_a_command_is_looked_up_on_the_given_path_only(sandbox: Sandbox) -> None:
    """The command is looked up on the PATH of the process spec, not on the harness's."""
    assert not isinstance(run_hook(sandbox, "true", env={"PATH": "/no/such"}).ending, Exited)
