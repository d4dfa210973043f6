"""
Recorded refusals beside those of a replay, one by one, and the likely cause of the first difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.signatures import mask_numbers
from pytest_hookharness.model.actions import HookRefusal
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.model.verdicts import Undecided

_MISSING = re.compile(
    r"^.*(?:command not found|: not found|No such file or directory|ModuleNotFoundError|Cannot find module"
    r"|is not recognized|No module named|can't open file).*$",
    re.MULTILINE,
)
_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """
    How many refusals are as recorded.

    Attributes:
        recorded: How many the transcript has.
        same: How many of them, from the first, the replay has in the same order.
        more: How many further refusals the replay has.
        difference: The first difference, in words; empty if there is none.
        cause: What may have caused it; empty if nothing is known.
    """

    recorded: int
    same: int
    more: int = 0
    difference: str = ""
    cause: str = ""


SUBAGENT_STOP = "SubagentStop"


def recorded_refusals(stream: SessionStream, agent: str = "") -> tuple[HookRefusal, ...]:
    """Return the refusals of an agent's calls and stops, in order; of a subagent's those of its stops."""
    found = (refusal for item in stream.items if item.agent == agent for refusal in item.refusals)
    return tuple(one for one in found if not agent or one.event == SUBAGENT_STOP)


def replayed_refusals(outcome: Outcome, agent: str = "") -> tuple[HookRefusal, ...]:
    """Return the refusals of an agent in a replay, in order; those that the host overrides too."""
    found = (
        HookRefusal(event=hooked.event, hook=run.hook.command, reason=run.reason.strip())
        for _, hooked in outcome.trace.hooked()
        if hooked.decision.refused or hooked.decision.overridden or hooked.decision.ruling is Ruling.DENY
        for run in hooked.deciding
    )
    return tuple(one for one in found if (one.event == SUBAGENT_STOP) == bool(agent))


def alike(recorded: HookRefusal, replayed: HookRefusal, cwd: str, outcome: Outcome) -> bool:
    """Return whether two refusals have the same event and text, without numbers and the project's path."""
    if recorded.event != replayed.event:
        return False
    here = next((path for path, name in outcome.folders if name.startswith("workspace")), "")
    return not recorded.reason or _bare(recorded.reason, cwd) == _bare(replayed.reason, here)


def _bare(reason: str, project: str) -> str:
    return mask_numbers(reason.replace(project, "<project>") if project else reason).strip()


def compare(stream: SessionStream, outcome: Outcome, agent: str = "") -> Comparison:
    """Return how far an agent's refusals in a replay are those of the transcript."""
    recorded, replayed = recorded_refusals(stream, agent), replayed_refusals(outcome, agent)
    pairs = zip(recorded, replayed, strict=False)
    same = 0
    for one, other in pairs:
        if not alike(one, other, stream.cwd, outcome):
            break
        same += 1
    if same == len(recorded):
        return Comparison(recorded=len(recorded), same=same, more=len(replayed) - same)
    told = _describe(replayed[same]) if same < len(replayed) else "no further refusal"
    difference = f"refusal {same + 1}: recorded {_describe(recorded[same])}; here {told}"
    cause = next(_causes(outcome, recorded[same]), "")
    return Comparison(recorded=len(recorded), same=same, difference=difference, cause=cause)


def _describe(refusal: HookRefusal) -> str:
    by = f" by {refusal.hook}" if refusal.hook else ""
    return f"{refusal.event}{by}: {_short(refusal.reason)!r}" if refusal.reason else f"{refusal.event}{by}"


def _causes(outcome: Outcome, wanted: HookRefusal) -> Iterator[str]:
    """Yield likely causes: our own limits first, then a missing tool or file."""
    if isinstance(outcome.verdict, Undecided) and outcome.verdict.turn < outcome.scenario.turns:
        yield f"the replay ended in turn {outcome.verdict.turn}: {outcome.verdict.why}"
    runs = [run for _, run in outcome.trace.hook_runs()]
    for run in runs:
        if not run.ran:
            yield f"`{run.hook.command}` did not run: {_last_line(run) or 'it was not found'}"
    for run in runs:
        if line := _MISSING.search(_stderr(run)):
            yield f"`{run.hook.command}` says {_short(line[0])!r}: a tool or file is missing here"
    if not any(run.hook.event == wanted.event for run in runs):
        yield (
            f"no hook ran on {wanted.event}: these files configure none for it; settings that git ignores, "
            "that are not committed, or that lie in the home folder are not played"
        )
    yield (
        "files that were not committed, the environment, or another version of the hook; transcripts contain "
        "none of these"
    )


def _stderr(run: HookRun) -> str:
    return run.run.stderr.text if run.run is not None else ""


def _last_line(run: HookRun) -> str:
    lines = _stderr(run).strip().splitlines()
    return _short(lines[-1]) if lines else ""


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."
