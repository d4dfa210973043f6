"""
This module is concerned with deliveries brought about: a launch whose standard input arrives otherwise.

Upper floor, below the stage. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from pytest_hookharness.model.deliveries import Delivery, Form, Inlet
from pytest_hookharness.model.processes import Launch, Stdio

_BOM = b"\xef\xbb\xbf"
# The shell becomes the command, so what is seen of the process is seen of the hook.
_NOTHING, _CLOSED = 'exec "$@" </dev/null', 'exec "$@" <&-'


def deliver(launch: Launch, way: Delivery) -> Launch:
    """
    A launch whose standard input is written in a given way.
    """
    data = _formed(_grown(launch.stdin.data, way.size), way.shape)
    stdin = replace(launch.stdin, data=data, close=way.close, chunk=way.chunk, delay=way.delay)
    return _connected(replace(launch, stdin=stdin), way.kind)


def _connected(launch: Launch, kind: Inlet) -> Launch:
    match kind:
        case "":
            return launch
        case "socket" | "pipe":
            return replace(launch, stdin=replace(launch.stdin, stdio=Stdio(kind)))
        case "pty":
            return replace(launch, stdin=replace(launch.stdin, stdio=Stdio.TTY))
        case "null" | "closed":
            redirected = _NOTHING if kind == "null" else _CLOSED
            argv = ("/bin/sh", "-c", redirected, "host", *launch.argv)
            return replace(launch, argv=argv, stdin=replace(launch.stdin, data=b""))
        case _:
            assert_never(kind)


def _formed(data: bytes, shape: Form) -> bytes:
    match shape:
        case "whole":
            return data
        case "empty":
            return b""
        case "partial-line":
            return data.rstrip(b"\n")
        case "partial-json":
            return data[: len(data) // 2]
        case "bom":
            return _BOM + data
        case _:
            assert_never(shape)


def _grown(data: bytes, size: int) -> bytes:
    missing = size - len(data)
    head, brace, end = data.rpartition(b"}")
    if missing <= 0 or not brace:
        return data
    filling = b',"a_key_that_nobody_knows":"%s"' % (b"x" * missing)
    return head + filling + brace + end
