"""
This module is concerned with analysis: a real transcript, and the loops of its agent.

Upper floor. It joins those who read files, know the hosts' forms and detect loops.
"""

from __future__ import annotations

from pathlib import Path

from pytest_hookharness.hosts import histories
from pytest_hookharness.judging.detectors.limits import Limits
from pytest_hookharness.judging.detectors.memory import is_own
from pytest_hookharness.judging.detectors.streams import detect
from pytest_hookharness.loading.records import Records, Unreadable
from pytest_hookharness.model.actions import Action, Analysis, Outcome


def analyze(path: Path, limits: Limits | None = None) -> Analysis:
    """
    What the detectors say of a transcript.

    Raises:
        Unreadable: It cannot be read, is empty, or is a transcript of no host that is known.
    """
    records = Records(path)
    try:
        gathering = histories.gather(records.read())
    except histories.UnknownForm as error:
        malformed = ", ".join(f"{count} x {why}" for why, count in records.malformed.items())
        left_out = f"; left out: {malformed}" if malformed else ""
        raise Unreadable(f"{path}: {error}{left_out}") from error
    actions = [moment for moment in gathering.moments if isinstance(moment, Action)]
    return Analysis(
        source=str(path),
        form=gathering.form,
        actions=len(actions),
        unanswered=sum(action.outcome is Outcome.UNKNOWN for action in actions),
        unread={**records.malformed, **gathering.left_out},
        own=sum(map(is_own, actions)),
        loops=detect(gathering.moments, limits),
    )
