"""
Terminals for hooks, and a dialogue with the hook over each.

A terminal belongs to the pytest process, which holds both ends for as long as its hook runs: a terminal that
no process has open is taken away from its session.
"""

from __future__ import annotations

import os
import re
import termios
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_hookharness.model.delivery import Asked, Dialogue, Terminal, TypedAnswer
from pytest_hookharness.model.processes import ProcessResult, TimedOut
from pytest_hookharness.model.regex import Regex, SlowPattern

if TYPE_CHECKING:
    from pexpect import fdpexpect

# The end of the harness, that of the hook, and the path at which a hook finds it.
OpenedTerminal: TypeAlias = tuple[int, int, str]

_ROWS, _COLUMNS = 24, 80
# Seconds between two looks whether the hook has ended, in case another process keeps the terminal open.
_LOOK = 0.05
# Seconds after the end of a hook for reading its last output, in case another process still writes.
_DRAIN = 1.0
_MAX_OUTPUT = 1 << 16
_MAX_QUESTIONS = 20
_MAX_LINE = 200
# Output that matches no question is discarded in pieces of this size, or a flood would be kept in full.
_PIECE = re.compile(r".{16384}", re.DOTALL)
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")


class Conversation:
    """The dialogue over one terminal, at ``path``, from its opening to the end of its hook."""

    def __init__(self, terminal: Terminal, opened: OpenedTerminal) -> None:
        self._ours, self._theirs, self.path = opened
        termios.tcsetwinsize(self._theirs, (_ROWS, _COLUMNS))
        os.set_blocking(self._ours, False)
        self._answers = terminal.answers
        self._ended = float("inf")
        self._log = _DialogueLog()
        self._failure: SlowPattern | None = None
        self._thread = threading.Thread(target=self._talk_or_fail, name="hook terminal", daemon=True)
        self._thread.start()

    def _talk_or_fail(self) -> None:
        try:
            self._talk()
        except SlowPattern as failure:
            self._failure = failure

    def _talk(self) -> None:
        # Heavy, and only needed here.
        from pexpect import EOF, TIMEOUT, fdpexpect

        terminal = fdpexpect.fdspawn(
            self._ours, encoding="utf-8", codec_errors="replace", timeout=_LOOK, use_poll=True
        )
        terminal.delaybeforesend = None
        terminal.logfile_read = self._log
        # pexpect only searches with them.
        questions: list[Any] = [Regex(answer.expect, dotall=True) for answer in self._answers]
        patterns = [*questions, _PIECE, EOF, TIMEOUT]
        while True:
            index = terminal.expect_list(patterns)
            if index < len(self._answers):
                self._answer(terminal, self._answers[index])
            elif patterns[index] is EOF:
                self._log.rest = str(terminal.before)
                return
            elif time.monotonic() > self._ended + (0.0 if patterns[index] is TIMEOUT else _DRAIN):
                self._log.rest = str(terminal.buffer)
                return

    def _answer(self, terminal: fdpexpect.fdspawn[str], answer: TypedAnswer) -> None:
        try:
            terminal.send(answer.keys)
        except OSError:
            # Nobody reads any more, or the hook has not read what was typed before.
            return
        self._log.note(Asked(_last_line(f"{terminal.before}{terminal.after}"), answer.send))

    def end(self) -> None:
        """Close the terminal."""
        os.close(self._theirs)
        self._ended = time.monotonic()
        self._thread.join()
        os.close(self._ours)

    @property
    def dialogue(self) -> Dialogue:
        """The text on the terminal; raises `SlowPattern` if the search for a question took too long."""
        if self._failure is not None:
            raise self._failure
        return self._log.dialogue


class _DialogueLog:
    """The part of a conversation that is kept, of bounded size; ``rest`` is output that fits no question."""

    def __init__(self) -> None:
        self.rest = ""
        self._shown = bytearray()
        self._total = 0
        self._asked: list[Asked] = []

    def write(self, text: str) -> None:
        """Keep what was shown, up to the limit."""
        data = text.encode()
        self._total += len(data)
        self._shown += data[: _MAX_OUTPUT - len(self._shown)]

    def flush(self) -> None:
        """Nothing to do; pexpect calls it."""

    def note(self, asked: Asked) -> None:
        """Keep a question with its answer."""
        if len(self._asked) < _MAX_QUESTIONS:
            self._asked.append(asked)

    @property
    def dialogue(self) -> Dialogue:
        """The whole log as a value."""
        shown, asked = bytes(self._shown), tuple(self._asked)
        return Dialogue(shown=shown, total=self._total, asked=asked, unanswered=_last_line(self.rest))


@contextmanager
def open_terminals(
    terminals: Sequence[Terminal | None], opener: Callable[[], OpenedTerminal]
) -> Generator[list[Conversation | None]]:
    """Open the terminals of hooks that are started together; all are closed at the end of the block."""
    with ExitStack() as stack:
        opened: list[Conversation | None] = []
        for terminal in terminals:
            one = None if terminal is None else Conversation(terminal, opener())
            if one is not None:
                stack.callback(one.end)
            opened.append(one)
        yield opened


def with_dialogue(run: ProcessResult, conversation: Conversation | None) -> ProcessResult:
    """Return a result with what passed over its terminal."""
    if conversation is None:
        return run
    dialogue, ending = conversation.dialogue, run.ending
    if isinstance(ending, TimedOut) and dialogue.unanswered:
        from pytest_hookharness.execution.processes.activities import AT_TERMINAL

        doing = (
            replace(activity, asks=dialogue.unanswered) if activity.waits_for == AT_TERMINAL else activity
            for activity in ending.doing
        )
        ending = replace(ending, doing=tuple(doing))
    return replace(run, ending=ending, dialogue=dialogue)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in _CONTROL.sub("", text).splitlines()]
    return next((line[-_MAX_LINE:] for line in reversed(lines) if line), "")
