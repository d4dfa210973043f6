"""Short forms of sessions, and pairs of them: the first is kept if the stop is refused only in that one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check.grouping import PlayedSession
from pytest_hookharness.model.bad_ends import MANY_REFUSALS
from pytest_hookharness.model.checkup import CheckSession


def kept_to_its_end(plays: Sequence[PlayedSession]) -> Iterator[CheckSession]:
    """Yield the first of two short sessions, to be played to its end, if only its stop was refused."""
    refused = [_is_refused(one) for one in plays if one.outcome is not None]
    if refused == [True, False]:
        session = plays[0].session
        scenario = replace(session.scenario, turns=session.scenario.turns + MANY_REFUSALS)
        yield replace(session, scenario=scenario, ends=True)


def _is_refused(played: PlayedSession) -> bool:
    return replace(played, session=replace(played.session, ends=True)).held


def shortened(session: CheckSession) -> CheckSession:
    """Return a session until its last move, however often the stop is refused."""
    scenario = replace(session.scenario, turns=len(session.scenario.script.acts))
    return replace(session, scenario=scenario, ends=False, way_out="")
