"""
How hook runs side by side end, compared with the same runs one after the other.

A run that leaves its work to another one, and ends well, is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Exited, NotStarted, ProcessResult, Signaled
from pytest_hookharness.model.protocol import Reply, Ruling

_LONGEST = 80
REFUSE = "refuse"
# What a hook does, by its command: that it refuses, or how its runs end.
EndingKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RunEndings:
    """
    How some hook runs ended, where they refused or failed.

    Attributes:
        times: How often, by hook and ending.
        said: The last line of standard error of one of these runs.
    """

    times: Mapping[EndingKey, int]
    said: Mapping[EndingKey, str]


def count_endings(runs: Iterable[tuple[str, Reply, ProcessResult]]) -> RunEndings:
    """Count how hook runs ended; each comes with the command of its hook and its reply."""
    times: dict[EndingKey, int] = {}
    said: dict[EndingKey, str] = {}
    for command, reply, result in runs:
        if how := _describe(reply, result):
            key = command, how
            times[key] = times.get(key, 0) + 1
            lines = result.stderr.text.strip().splitlines()
            said.setdefault(key, lines[-1][:_LONGEST] if lines else "")
    return RunEndings(times, said)


def _describe(reply: Reply, result: ProcessResult) -> str:
    """Return what a run does besides ending well, as a verb of several; empty if it does nothing else."""
    if reply.ruling is Ruling.DENY:
        return REFUSE
    match result.own_ending:
        case Exited(code) if code:
            return f"end with exit code {code}"
        case Signaled(number):
            return f"are ended by signal {number}"
        case NotStarted():
            return "do not start"
        case _:
            return ""


def more_often(alone: Sequence[RunEndings], together: RunEndings) -> Iterator[tuple[EndingKey, str]]:
    """Yield what runs side by side do more often than in all rounds one after the other, with the words."""
    for key, times in together.times.items():
        usual = {one.times.get(key, 0) for one in alone}
        if len(usual) == 1 and times > max(usual):
            said = f' ("{together.said[key]}")' if together.said[key] and key[1] != REFUSE else ""
            yield key, f"{times} {key[1]}{said}, one after the other {max(usual)}"
