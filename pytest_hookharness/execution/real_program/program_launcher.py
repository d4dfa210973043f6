"""
The first process of a live run: it opens the server's port inside the sandbox, and starts the program.

A socket stays in the network in which it was opened, even if another process uses it. So the launcher
listens in the sandbox's own network, which has only loopback, and hands the socket to the pytest process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading

CONTROL = "model-server"


def main(port: str, workspace: str, *argv: str) -> None:
    """
    Start a program and end with its exit code; started in the folder of the control socket.

    Args:
        port: The port of the model server.
        workspace: The folder in which the program works.
        argv: The program with its arguments.
    """
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(CONTROL)
        with socket.create_server(("127.0.0.1", int(port))) as listener:
            socket.send_fds(control, [b"listening"], [listener.fileno()])
        control.recv(1)
        program = subprocess.Popen(argv, cwd=workspace, stdin=subprocess.DEVNULL, start_new_session=True)
        threading.Thread(target=_end_together, args=(control, program.pid), daemon=True).start()
        code = program.wait()
    os._exit(code if code >= 0 else 128 - code)


def _end_together(control: socket.socket, program: int) -> None:
    """End the program as soon as the other side asks for it, or is gone."""
    with contextlib.suppress(OSError):
        control.recv(1)
    with contextlib.suppress(OSError):
        os.killpg(program, signal.SIGKILL)
