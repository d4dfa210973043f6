"""Terminals: a program in one of its own, until it returns or its time is over."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
from pexpect import fdpexpect

_CODES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-_])|[\x00-\x08\x0b-\x1f\x7f]")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET = re.compile(r"\b(sk|gh[a-z]|github_pat|AIza|xox[a-z])[-_A-Za-z0-9]{16,}")
# Between two looks at whether the program is still there, for a child may hold its terminal open.
_LOOK = 0.2
_MOST_ANSWERS = 10
_SHOWN = 4000


@dataclass(frozen=True, slots=True)
class Conversation:
    """
    The result of a program.

    Attributes:
        code: Its exit code; nothing if it did not return in time.
        said: The end of what stood on its terminal, without codes and secrets.
    """

    code: int | None
    said: str


@dataclass(slots=True)
class _Terminal:
    screen: fdpexpect.fdspawn
    said: list[str] = field(default_factory=list)


def converse(
    words: Sequence[str],
    folder: Path,
    *,
    within: float,
    env: Mapping[str, str],
    asks: Mapping[str, str],
) -> Conversation:
    """
    Run a program in a terminal of its own, answer what it asks, and end its process group in any case.

    Args:
        words: Its argument vector.
        folder: Its working folder.
        within: Seconds after which it is ended.
        env: Its whole environment.
        asks: What it may ask, as regular expressions, and what is answered.
    """
    # A terminal without a fork: a fork in a process with threads is undefined.
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**env, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    terminal = _Terminal(fdpexpect.fdspawn(ours, encoding="utf-8", codec_errors="replace"))
    try:
        returned = _watch(process, terminal, time.monotonic() + within, asks)
    finally:
        # Not waited for yet, the leader keeps the number of its group from others.
        os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        terminal.screen.close()
    return Conversation(code if returned else None, _shown("".join(terminal.said), env))


def _watch(
    process: subprocess.Popen[bytes], terminal: _Terminal, end: float, asks: Mapping[str, str]
) -> bool:
    """Whether the program returned before the end."""
    replies = list(asks.values())
    patterns = [pexpect.TIMEOUT, pexpect.EOF, *asks]
    open_, answers = True, 0
    while not (ended := _has_ended(process)) and time.monotonic() < end:
        if not open_:
            _wait_for(process, min(_LOOK, end - time.monotonic()))
            continue
        found = terminal.screen.expect(patterns, timeout=_LOOK)
        if found == 1:
            terminal.said.append(terminal.screen.before or "")
            open_ = False
        elif found > 1:
            terminal.said += [terminal.screen.before or "", terminal.screen.after]
            answers += 1
            if answers <= _MOST_ANSWERS:
                terminal.screen.send(replies[found - 2])
    if open_:
        terminal.screen.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=_LOOK)
        terminal.said.append(terminal.screen.before or "")
    return ended


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _wait_for(process: subprocess.Popen[bytes], seconds: float) -> None:
    # A descriptor of the process is readable as soon as it has ended; it is not waited for by that.
    watched = os.pidfd_open(process.pid)
    try:
        pexpect.utils.select_ignore_interrupts([watched], [], [], max(0.0, seconds))
    finally:
        os.close(watched)


def _shown(text: str, env: Mapping[str, str]) -> str:
    """The end of a text without codes of the terminal, and without what looks like a secret."""
    plain = _CODES.sub("", text.replace("\r\n", "\n"))
    for name, value in env.items():
        if _SECRET_NAME.search(name) and len(value) >= 8:
            plain = plain.replace(value, f"<{name}>")
    return _SECRET.sub("<secret>", plain)[-_SHOWN:].strip()
