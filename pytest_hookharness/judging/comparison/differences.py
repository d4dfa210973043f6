"""
Differences between two runs of which one has a mutation that must not matter.

These are the questions that several families of mutations ask; each names the code and the hook at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_hookharness.judging.comparison.traces import Pair, describe_decision, pairs
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookRun, Trace
from pytest_hookharness.model.verdicts import Finding, FindingCode

# A code, and the command at fault.
Defect: TypeAlias = tuple[FindingCode, str]
# What shells say of a variable that is not set.
_UNSET = ("unbound variable", "parameter not set", "parameter null or not set")


def find_first(
    mutation: object, usual: Trace, seen: Trace, look: Callable[[Pair], Defect | None]
) -> Finding | None:
    """
    Return a finding for the first event in which a defect shows.

    Args:
        mutation: What is named as the difference; its ``str`` is shown.
        usual: The run without the mutation.
        seen: The run with it.
        look: Returns the defect that an event of both runs shows.
    """
    for pair in pairs(usual, seen):
        defect = look(pair)
        if defect is not None:
            code, hook = defect
            before = describe_decision(pair.before, hook)
            after = describe_decision(pair.after, hook, quoting=True)
            text = f"{pair.before.event} in turn {pair.turn}: {before}; with {mutation}, {after}."
            return code.found(text, turn=pair.turn, hook=hook)
    return None


def by_decision(code: FindingCode, pair: Pair) -> Defect | None:
    """Report a code where the decision differs."""
    return (code, pair.hook) if pair.differs else None


def by_leak(pair: Pair) -> Defect | None:
    """Report a hook that now fails silently: an exit code other than 0, no decision and no output."""
    leaks = (before for before, after in pair.hook_runs() if status(before) == 0 and failed_silently(after))
    leaking = next(leaks, None)
    return (codes.STATUS_LEAK, leaking.hook.command) if leaking is not None else None


def by_failure(pair: Pair) -> Defect | None:
    """Report a hook that now fails, or whose shell stumbles over a variable that is not set."""
    ended_well = ((before, after) for before, after in pair.hook_runs() if status(before) == 0)
    failures = (before for before, after in ended_well if _failed(after) or _stumbled(after))
    failing = next(failures, None)
    return (codes.STRICT_SHELL, failing.hook.command) if failing is not None else None


def status(hook_run: HookRun) -> int | None:
    """Return the exit code of a hook run; ``None`` if it did not exit."""
    ending = hook_run.run.ending if hook_run.run is not None else None
    match ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return code
        case _:
            return None


def failed_silently(hook_run: HookRun) -> bool:
    """Whether a hook run exited badly without a decision and without any output."""
    silent = hook_run.run is not None and not hook_run.run.stdout.total and not hook_run.run.stderr.total
    return silent and status(hook_run) is not None and _failed(hook_run)


def _failed(hook_run: HookRun) -> bool:
    """Whether a hook run ended badly without a decision."""
    if hook_run.run is None or isinstance(hook_run.run.ending, TimedOut | NotStarted):
        return False
    return status(hook_run) != 0 and hook_run.reply.ruling is Ruling.NONE


def _stumbled(hook_run: HookRun) -> bool:
    # Some shells end the script with the exit code of a refusal, so the ruling does not show it.
    text = hook_run.run.stderr.text if hook_run.run is not None else ""
    return status(hook_run) != 0 and any(words in text for words in _UNSET)
