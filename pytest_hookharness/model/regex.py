"""
Regular expressions that users write, matched within a time limit.

Python's own engine cannot be interrupted and may need longer than any budget: for `(a|aa)+$` the time doubles
with every letter. The ``regex`` engine has the same language and takes a time limit.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol

from pytest_hookharness.model.time_budget import check_time, remaining

# Seconds of processor time for one search, which are more by the clock on a busy machine. What is decided at
# all is decided in a hundredth of it.
LIMIT = 0.5
# Characters up to which a single repetition takes no time worth a limit: it may take the square of them.
_SHORT = 2000
_REPETITION = re.compile(r"[*+{]|(?<!\()\?")
# Syntax with another meaning in the other engine: classes such as [[:alpha:]], and {e} for similar texts.
# Such an expression is always matched by that engine, so its meaning does not depend on the text.
_OWN_MEANING = re.compile(r"\[:|\{[a-z]")
# Groups of alternatives that may be tried in every combination.
_FEW_GROUPS = 8
_SHOWN = 60


class SlowPattern(Exception):
    """A regular expression could not be matched with a text within the time limit."""

    def __init__(self, pattern: str, length: int) -> None:
        self.pattern = pattern
        self.length = length
        super().__init__(pattern, length)

    def __str__(self) -> str:
        shown = self.pattern if len(self.pattern) <= _SHOWN else f"{self.pattern[:_SHOWN]}..."
        return (
            f"the regular expression {shown!r} takes too long on a text of {self.length} characters; "
            "write it without one repetition inside or right after another"
        )


class Match(Protocol):
    """A place where an expression was found."""

    def start(self) -> int:
        """Return where it begins."""
        ...

    def end(self) -> int:
        """Return where it ends."""
        ...


class Regex:
    """A regular expression whose matching ends."""

    def __init__(self, pattern: str, *, dotall: bool = False, quick: bool = False) -> None:
        """
        Compile an expression.

        Args:
            dotall: Whether a dot stands for the end of a line too.
            quick: Whether it is known to need no time limit.

        Raises:
            re.error: It is none, or is too large.
        """
        self.pattern = pattern
        self._dotall = dotall
        self._plain = _plain(pattern, dotall)
        # The longest text for which Python's own engine is safe.
        self._longest = float("inf") if quick else _longest_safe(pattern)
        if not self._longest:
            # An expression that only the other engine refuses is refused here, and not when it is matched.
            _limited(pattern, dotall)

    def search(self, text: str, start: int = 0) -> Match | None:
        """Return the first place where a text matches; raise ``SlowPattern`` if that takes too long."""
        found: Match | None = self._ask("search", text, text, start)
        return found

    def fullmatch(self, text: str) -> Match | None:
        """Return the whole text if it matches; raise ``SlowPattern`` if that takes too long."""
        found: Match | None = self._ask("fullmatch", text, text)
        return found

    def subn(self, replacement: str, text: str) -> tuple[str, int]:
        """
        Return a text with another one wherever the expression is found, and how often it was.

        Raises:
            SlowPattern: That takes too long.
        """
        # A function, because a replacement text would be searched for references to groups.
        replaced: tuple[str, int] = self._ask("subn", text, lambda _: replacement, text)
        return replaced

    def _ask(self, method: str, text: str, *args: object) -> Any:
        if len(text) <= self._longest:
            return getattr(self._plain, method)(*args)
        limited = _limited(self.pattern, self._dotall)
        check_time(f"a text was searched for {self.pattern[:_SHOWN]!r}")
        try:
            return getattr(limited, method)(*args, timeout=max(0.01, min(LIMIT, remaining())))
        except TimeoutError:
            raise SlowPattern(self.pattern, len(text)) from None


def is_quick(pattern: str, length: int) -> bool:
    """Return whether an expression surely needs no time limit on a text of some length."""
    return length <= _longest_safe(pattern)


def _longest_safe(pattern: str) -> float:
    if _OWN_MEANING.search(pattern):
        return 0
    repetitions, groups = len(_REPETITION.findall(pattern)), pattern.count("(")
    if not repetitions:
        return float("inf") if groups <= _FEW_GROUPS else 0
    return _SHORT if repetitions == 1 and not groups else 0


@contextmanager
def without_warnings() -> Generator[None]:
    """Hide Python warnings in a block: valid patterns and programs can cause some."""
    # Filters are global: without the lock, one thread could restore those that another one has set.
    with _filter_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_filter_lock = threading.RLock()


@lru_cache(maxsize=256)
def _plain(pattern: str, dotall: bool) -> re.Pattern[str]:
    with without_warnings():
        try:
            return re.compile(pattern, re.DOTALL if dotall else 0)
        except (OverflowError, RecursionError) as error:
            raise re.error(f"it is too large for Python: {error}") from None


@lru_cache(maxsize=256)
def _limited(pattern: str, dotall: bool) -> Any:
    # It takes time to import, and most runs need no limit.
    import regex  # noqa: PLC0415

    with without_warnings():
        try:
            return regex.compile(pattern, regex.DOTALL if dotall else 0)
        except (regex.error, OverflowError, RecursionError, MemoryError) as error:
            raise re.error(f"it cannot be matched within a time limit: {error}") from None


def found_in(pattern: str, texts: Iterable[str]) -> bool:
    """Return whether an expression is found in a text; raise ``SlowPattern`` if that takes too long."""
    expression = Regex(pattern)
    return any(expression.search(text) for text in texts)
