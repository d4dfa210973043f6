"""The model server of a live run: it answers requests of a real program, on the program's own loopback."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias, cast

from pytest_hookharness.execution.real_program.program_launcher import CONTROL
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer over HTTP, sent once ``after`` is set; ``kind`` is its content type."""

    kind: str
    body: bytes
    status: int = 200
    after: threading.Event | None = None


# Given the path of a request and its body; ``None`` ends the program.
Answering: TypeAlias = Callable[[str, bytes], HttpAnswer | None]


# Seconds until a server that does not close its port, or a program that does not end, is given up, and until
# an answer is sent anyway.
_LONGEST = 10.0


class ModelServer(AbstractContextManager["ModelServer"]):
    """
    Answers one program after the other, each started by `program_launcher`, for a block.

    Attributes:
        folder: The folder of the control socket, in which the launcher must be started.
        problem: The exception that an answer raised; the program was ended then.
    """

    def __init__(self, folder: Path, answer: Answering) -> None:
        self.folder = folder
        self.problem: BaseException | None = None
        self._answer = answer
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._program: socket.socket | None = None
        self._control = socket.socket(socket.AF_UNIX)
        folder.mkdir(parents=True, exist_ok=True)
        # The path of a socket must be short, and that of the folder may be long.
        with tempfile.TemporaryDirectory() as short:
            link = Path(short, "s")
            link.symlink_to(folder)
            self._control.bind(str(link / CONTROL))
        self._control.listen()
        threading.Thread(target=self._serve_all, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        # An accept that waits goes on waiting if its socket is only closed.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        self.end_program()

    def wait_for_port(self) -> None:
        """Wait until the port of a program that has ended is free for the next one."""
        self._idle.wait(_LONGEST)

    def end_program(self) -> None:
        """End the program that runs, if one does."""
        program = self._program
        if program is not None:
            with contextlib.suppress(OSError):
                program.shutdown(socket.SHUT_RDWR)

    def _serve_all(self) -> None:
        while True:
            try:
                program, _ = self._control.accept()
            except OSError:
                return
            self._idle.clear()
            with program:
                self._program = program
                self._serve(program)
            self._idle.set()

    def _serve(self, program: socket.socket) -> None:
        _, descriptors, _, _ = socket.recv_fds(program, 64, 1)
        if not descriptors:
            return  # The launcher ended before it could listen, and says why on its standard error.
        with _Listening(socket.socket(fileno=descriptors[0]), self._respond) as server:
            thread = threading.Thread(target=server.accept_all, daemon=True)
            thread.start()
            with contextlib.suppress(OSError):
                program.send(b"\0")
                # Until the launcher has ended, or this side was shut down.
                program.recv(1)
            # At once, where `serve_forever` would first look once more for requests.
            server.socket.shutdown(socket.SHUT_RDWR)
            thread.join()

    def _respond(self, path: str, body: bytes) -> HttpAnswer | None:
        with self._lock:
            try:
                answer = self._answer(path, body)
            except BaseException as problem:  # noqa: BLE001 -- raised again in the thread of the run
                self.problem, answer = problem, None
            if answer is None:
                self.end_program()
            return answer


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, respond: Answering) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.respond = respond

    def accept_all(self) -> None:
        """Answer each connection in a thread of its own, until the socket is shut down."""
        with contextlib.suppress(OSError):
            while True:
                self.process_request(*self.socket.accept())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore that a program closes a connection early."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._handle(b"")

    def do_HEAD(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _handle(self, body: bytes) -> None:
        answer = cast("_Listening", self.server).respond(self.path, body)
        if answer is None:
            # Until the program has ended: of a connection that is closed before, it would make an error.
            self.connection.settimeout(_LONGEST)
            with contextlib.suppress(OSError):
                self.rfile.read(1)
            self.close_connection = True
            return
        if answer.after is not None:
            answer.after.wait(_LONGEST)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name is that of the base class
        """Print nothing."""
