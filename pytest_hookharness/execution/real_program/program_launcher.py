"""
The first process of a live run: it opens the server's port inside the sandbox, and starts the program.

A socket stays in the network in which it was opened, even if another process uses it. So the launcher
listens in the sandbox's own network, which has only loopback, and hands the socket to the pytest process.
The program waits for this module, so it imports only what loads quickly.
"""

from __future__ import annotations

import _socket
import _thread
import os
import sys

CONTROL = "model-server"
_KILL = 9


def main(port: str, workspace: str, *argv: str) -> None:
    """
    Start a program in a workspace, and end with its exit code.

    The launcher starts in the folder of the control socket. ``port`` is that of the model server.
    """
    control = _socket.socket(_socket.AF_UNIX)
    control.connect(CONTROL)
    listener = _socket.socket(_socket.AF_INET)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen()
    number = listener.fileno().to_bytes(4, sys.byteorder)
    control.sendmsg([b"listening"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, number)])
    listener.close()
    control.recv(1)
    os.chdir(workspace)
    stdin = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    program = os.posix_spawnp(argv[0], argv, os.environ, file_actions=stdin, setsid=True)
    _thread.start_new_thread(_end_together, (control, program))
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def _end_together(control: _socket.socket, program: int) -> None:
    """End the program as soon as the other side asks for it, or is gone."""
    try:
        control.recv(1)
    finally:
        os.killpg(program, _KILL)
