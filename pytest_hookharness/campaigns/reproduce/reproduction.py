"""
What came of playing a recorded session against the real hooks.

Recorded refusals are compared with those of the replay, one by one. The first difference gets a likely cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.judging.detectors.signatures import mask_numbers
from pytest_hookharness.judging.findings.finding_catalogue import MANGLED
from pytest_hookharness.model.actions import HookRefusal, StreamItem
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookRun, Trace
from pytest_hookharness.model.verdicts import Undecided


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalCounts:
    """
    How many refusals are as recorded.

    Attributes:
        same: How many of them, from the first, the replay has in the same order.
        more: How many further refusals the replay has.
        difference: The first difference, in words; empty if there is none.
        cause: What may have caused it; empty if nothing is known.
    """

    recorded: int = 0
    same: int = 0
    more: int = 0
    difference: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """
    The result of ``hookharness reproduce``.

    Attributes:
        host: The host that wrote it, with its version.
        played: The host profile that was played.
        loop: The loop in the transcript, in one sentence; empty if there is none.
        others: Further loops in the transcript, each in one sentence; they are not looked at.
        further: The results for the shorter loops that were reproduced too, each by itself.
        without: Why no loop is there, and what the transcript has instead; empty if there is one.
        project: Which files the hooks saw, in words.
        verdict: The verdict on the whole session, followed by its text.
        left_out: What the replay did not do.
        missing: What the transcripts of this host do not contain.
        shrunk: What the small scenario contains, and whether each part is needed; empty if there is none.
        doubt: When these expect the wrong thing, in sentences; empty if they cannot.
    """

    source: str
    host: str
    played: str = ""
    loop: str = ""
    others: tuple[str, ...] = ()
    further: tuple[Reproduction, ...] = ()
    without: str = ""
    project: str = ""
    compared: RefusalCounts = RefusalCounts()
    verdict: str = ""
    reproduced: bool = False
    left_out: tuple[str, ...] = ()
    missing: str = ""
    shrunk: str = ""
    plays: int = 0
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def complete(self) -> bool:
        """Whether each loop was seen again, or there is none."""
        return bool(self.without) or (self.reproduced and all(one.complete for one in self.further))


_MISSING = re.compile(
    r"^.*(?:command not found|: not found|No such file or directory|ModuleNotFoundError|Cannot find module"
    r"|is not recognized|No module named|can't open file).*$",
    re.MULTILINE,
)
UNKNOWN_CAUSE = (
    "files that were not committed, the environment, or another version of the hook; transcripts contain "
    "none of these"
)
_SHOWN = 300


SUBAGENT_STOP = "SubagentStop"
# What the hooks of one event said: several may have refused it, and not in the same order each time.
_Refused: TypeAlias = tuple[HookRefusal, ...]


def recorded_refusals(items: Iterable[StreamItem]) -> list[_Refused]:
    """Return the refusals of each refused item, by event, in order."""
    return [
        tuple(one for one in item.refusals if one.event == event)
        for item in items
        for event in dict.fromkeys(one.event for one in item.refusals)
    ]


def replayed_refusals(trace: Trace) -> list[_Refused]:
    """Return the refusals of each refused event in a replay, in order; those that the host overrides too."""
    return [
        tuple(
            HookRefusal(event=hooked.event, hook=run.hook.command, reason=run.reason.strip())
            for run in hooked.deciding
        )
        for _, hooked in trace.hooked()
        if hooked.decision.refused or hooked.decision.overridden or hooked.decision.ruling is Ruling.DENY
    ]


def alike(
    recorded: HookRefusal, replayed: HookRefusal, project: str, folders: Iterable[tuple[str, str]]
) -> bool:
    """Return whether two refusals have the same event and text, without numbers and the project's path."""
    if recorded.event != replayed.event:
        return False
    here = next((path for path, name in folders if name.startswith("workspace")), "")
    return not recorded.reason or _bare(recorded.reason, project) == _bare(replayed.reason, here)


def _bare(reason: str, project: str) -> str:
    return mask_numbers(reason.replace(project, "<project>") if project else reason).strip()


def compare(
    recorded: Sequence[_Refused], outcome: Outcome, project: str, *, of_subagent: bool
) -> RefusalCounts:
    """
    Return how far the refusals of a replay are those of the transcript.

    Args:
        of_subagent: Whether they are about the stops of subagents; all others are left out then.
    """
    every = (one for one in replayed_refusals(outcome.trace) if one)
    replayed = [one for one in every if (one[0].event == SUBAGENT_STOP) == of_subagent]
    whole, same = sum(map(len, recorded)), 0
    for number, group in enumerate(recorded):
        here = replayed[number] if number < len(replayed) else ()
        for one in group:
            if not any(alike(one, other, project, outcome.folders) for other in here):
                told = " and ".join(map(_describe, here)) or "no further refusal"
                difference = f"refusal {same + 1}: recorded {_describe(one)}; here {told}"
                cause = next(_causes(outcome, one, here), "")
                return RefusalCounts(recorded=whole, same=same, difference=difference, cause=cause)
            same += 1
    return RefusalCounts(recorded=whole, same=same, more=len(replayed) - len(recorded))


def _describe(refusal: HookRefusal) -> str:
    by = f" by {refusal.hook}" if refusal.hook else ""
    said = f": {in_one_line(refusal.reason, _SHOWN)!r}" if refusal.reason else ""
    return f"{refusal.event}{by}{said}"


def _causes(outcome: Outcome, wanted: HookRefusal, here: _Refused) -> Iterator[str]:
    """Yield likely causes: our own limits first, then a missing tool or file."""
    if isinstance(outcome.verdict, Undecided) and outcome.verdict.turn < outcome.scenario.turns:
        yield f"the replay ended in turn {outcome.verdict.turn}: {outcome.verdict.why}"
    runs = [run for _, run in outcome.trace.hook_runs()]
    for run in runs:
        if not run.ran:
            yield f"`{run.hook.command}` did not run: {_last_line(run) or 'it was not found'}"
    for run in runs:
        if line := _MISSING.search(_stderr(run)):
            said = in_one_line(line[0], _SHOWN)
            yield f"`{run.hook.command}` says {said!r}: a tool or file is missing here"
    for finding in outcome.findings:
        if finding.name == MANGLED.name:
            yield finding.text
    if not any(run.hook.event == wanted.event for run in runs):
        yield (
            f"no hook ran on {wanted.event}: these files configure none for it; settings that git ignores, "
            "that are not committed, or that lie in the home folder are not played"
        )
    if any(one.event == wanted.event for one in here):
        yield (
            f"{wanted.event} is refused here too, but with another text: another hook, another version of "
            "it, or other results of its checks"
        )
    yield UNKNOWN_CAUSE


def _stderr(run: HookRun) -> str:
    return run.run.stderr.text if run.run is not None else ""


def _last_line(run: HookRun) -> str:
    lines = _stderr(run).strip().splitlines()
    return in_one_line(lines[-1], _SHOWN) if lines else ""
