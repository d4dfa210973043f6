"""How a process is started, by each of the possible ways."""

from __future__ import annotations

import errno
import os

import pytest

from pytest_hookharness.execution.processes import spawn
from pytest_hookharness.execution.processes.framing import ProcessRequest
from pytest_hookharness.execution.processes.translation import encode

from .toys import launch


@pytest.fixture(params=["private", "public"])
def spawner(request: pytest.FixtureRequest) -> spawn.Spawner:
    """A spawner that uses the interpreter's private function, or the public library."""
    made = spawn.Spawner()
    if request.param == "public":
        made._start = made._by_popen
    return made


def request(*words: str, **changes: object) -> ProcessRequest:
    return ProcessRequest(encode(launch(*words, **changes)))


def test_this_interpreter_offers_the_fast_way() -> None:
    """The private function works on the supported interpreters."""
    made = spawn.Spawner()
    assert made._start != made._by_popen


def test_a_process_has_the_given_streams(spawner: spawn.Spawner) -> None:
    """A process that is started has the given streams, and can be waited for by its number."""
    read_end, write_end = os.pipe()
    pid, refusal = spawner.start(request("sh", "-c", "echo $$; exit 5"), (read_end, write_end, write_end))
    os.close(write_end)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(read_end) as output:
        assert output.read() == f"{pid}\n"
    assert refusal is None
    assert os.waitstatus_to_exitcode(status) == 5


@pytest.mark.parametrize(
    "words,changes,number",
    [
        (("no-such-command",), {}, errno.ENOENT),
        (("/etc/passwd",), {}, errno.EACCES),
        (("true",), {"cwd": "/no/such"}, errno.ENOENT),
    ],
)
def test_a_refusal_is_known_at_once(
    spawner: spawn.Spawner, words: tuple[str, ...], changes: dict[str, str], number: int
) -> None:
    """A command that cannot be started is refused with the system's own error number."""
    null = os.open("/dev/null", os.O_RDWR)
    pid, refusal = spawner.start(request(*words, **changes), (null, null, null))
    os.close(null)
    if pid:
        os.waitpid(pid, 0)
    assert refusal is not None
    assert refusal.errno == number
