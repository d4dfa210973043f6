"""Claims about the model server and the launcher, with a small program in place of an agent."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.fixture
def port():
    """A port that nobody uses; a live run has a network of its own instead."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def launch(server, port, *texts):
    """Run a program that asks the server these texts, and ends with 3."""
    program = (sys.executable, "-c", ASKS, str(port), *texts)
    words = [*python_program(LAUNCHER), str(port), str(Path.cwd()), *program]
    return subprocess.run(words, cwd=server.folder, capture_output=True, text=True, timeout=30, check=False)


def test_answers_to_a_program(tmp_path, port):
    """Each request is answered, for one program after the other, and each ends as it likes."""
    with ModelServer(
        tmp_path / ("long" * 40) / "x", lambda path, body: HttpAnswer("text/plain", path.encode() + body)
    ) as server:
        for _ in range(2):
            ended = launch(server, port, "one", "two")
            assert (ended.stdout.split(), ended.returncode) == (["/say?xone", "/say?xtwo"], 3)


@pytest.mark.parametrize("wrong", [False, True])
def test_a_program_that_must_end(tmp_path, port, wrong):
    """Without an answer the program is killed, and an error of the answer is kept."""

    def answer(_path, body):
        if body == b"two":
            return 1 / 0 if wrong else None
        return HttpAnswer("text/plain", body)

    with ModelServer(tmp_path, answer) as server:
        ended = launch(server, port, "one", "two", "three")
        assert (ended.stdout.split(), ended.returncode) == (["one"], 128 + 9)
        assert isinstance(server.problem, ZeroDivisionError) is wrong
