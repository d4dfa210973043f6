"""Claims about the model server and the launcher, with a small program in place of an agent."""

import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pytest_hookharness
from pytest_hookharness.execution.processes.sandbox import python_program
from pytest_hookharness.execution.real_program.model_server import HttpAnswer, ModelServer

LAUNCHER = "pytest_hookharness.execution.real_program.program_launcher"
ASKS = """
import sys, urllib.request
for text in sys.argv[2:]:
    answer = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/say?x", text.encode())
    print(answer.read().decode(), flush=True)
sys.exit(3)
"""


def launch(server, *texts, port=0):
    """Run a program that asks the server these texts on a port of its own, and ends with 3."""
    with socket.socket() as held:
        # Nobody else gets a port that is held. With this option, as the launcher has it, it can be shared.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        number = str(port or held.getsockname()[1])
        words = [
            *python_program(LAUNCHER),
            number,
            str(Path.cwd()),
            sys.executable,
            "-c",
            ASKS,
            number,
            *texts,
        ]
        return subprocess.run(words, cwd=server.folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_answers_to_a_program(tmp_path):
    """Each request is answered, for one program after the other, and each ends as it likes."""
    with ModelServer(
        tmp_path / ("long" * 40) / "x", lambda path, body: HttpAnswer("text/plain", path.encode() + body)
    ) as server:
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
        for _ in range(2):
            ended = launch(server, "one", "two", port=port)
            server.wait_for_port()
            assert (ended.stdout.split(), ended.returncode) == (["/say?xone", "/say?xtwo"], 3)


def test_a_launcher_that_can_not_listen(tmp_path):
    """A launcher that ends before it listens is no error of the server, and the next program is answered."""
    with ModelServer(tmp_path, lambda _, body: HttpAnswer("text/plain", body)) as server:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            failed = launch(server, "one", port=taken.getsockname()[1])
        assert failed.returncode == 1
        assert "Address already in use" in failed.stderr
        assert launch(server, "two").stdout.split() == ["two"]


@pytest.mark.parametrize("wrong", [False, True])
def test_a_program_that_must_end(tmp_path, wrong):
    """Without an answer the program is killed, and an error of the answer is kept."""

    def answer(_path, body):
        if body == b"two":
            return 1 / 0 if wrong else None
        return HttpAnswer("text/plain", body)

    with ModelServer(tmp_path, answer) as server:
        ended = launch(server, "one", "two", "three")
        assert (ended.stdout.split(), ended.returncode) == (["one"], 128 + 9)
        assert isinstance(server.problem, ZeroDivisionError) is wrong


@pytest.mark.slow
def test_a_program_that_is_killed_late(tmp_path):
    """A program that must end sees no closed connection before it is killed."""
    with ModelServer(tmp_path, lambda _, __: None) as server:
        end, late = server.end_program, []
        server.end_program = lambda: late.append(threading.Timer(0.5, end)) or late[-1].start()
        ended = launch(server, "one")
        server.end_program = end
        assert (ended.returncode, ended.stderr) == (128 + 9, "")


def test_what_each_hook_run_waits_for():
    """The tap and the launcher load none of the modules that take longer to load than they do."""
    names = ["hook_tap", "program_launcher"]
    code = "; ".join(f"import pytest_hookharness.execution.real_program.{name}" for name in names)
    place = f"import sys; sys.path.append({str(Path(pytest_hookharness.__file__).parents[1])!r})"
    words = [sys.executable, "-I", "-S", "-c", f"{place}; {code}; print(*sys.modules)"]
    loaded = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()

    assert "pytest_hookharness.execution.real_program.hook_tap" in loaded
    slow = ("contextlib", "ctypes", "enum", "json", "signal", "socket", "subprocess", "threading", "typing")
    assert not {*loaded} & {*slow}
