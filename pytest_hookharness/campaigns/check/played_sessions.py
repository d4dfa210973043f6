"""Sessions with their outcomes, and longer and shorter forms of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.model.bad_ends import MANY_REFUSALS
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """A session with its outcome, or why it could not be played; ``failed`` for a defect of the harness."""

    session: CheckSession
    outcome: Outcome | None = None
    why: str = ""
    failed: bool = False

    @property
    def refused(self) -> bool:
        """Whether hooks refused a stop."""
        stops = hosts.find(self.session.scenario.host).for_role(hosts.Role.STOP)
        return self.outcome is not None and any(self.outcome.blocks(rule.name) for rule in stops)

    @property
    def held(self) -> bool:
        """Whether hooks refused the end of the session."""
        return self.session.ends and self.refused


# Plays sessions that are not part of the report.
TryOut: TypeAlias = Callable[[Sequence[CheckSession]], Sequence[PlayedSession]]


def kept_to_its_end(plays: Sequence[PlayedSession]) -> Iterator[CheckSession]:
    """Yield the first of two short sessions, to be played to its end, if only its stop was refused."""
    refused = [one.refused for one in plays if one.outcome is not None]
    if refused == [True, False]:
        session = plays[0].session
        scenario = replace(session.scenario, turns=session.scenario.turns + MANY_REFUSALS)
        yield replace(session, scenario=scenario, ends=True)


def shortened(session: CheckSession) -> CheckSession:
    """Return a session until its last move, however often the stop is refused."""
    scenario = replace(session.scenario, turns=len(session.scenario.script.acts))
    return replace(session, scenario=scenario, ends=False, way_out="")
