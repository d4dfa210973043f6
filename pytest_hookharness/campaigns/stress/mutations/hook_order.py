"""The order of hooks: those of one event run one after the other, in another order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.findings.codes import ORDER
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario

# Up to this number of hooks of an event, every order of them is tried.
_MOST_PERMUTED = 3


@dataclass(frozen=True, slots=True)
class HookOrder(Mutation, family="order", code=ORDER):
    """The hooks of an event one after the other, in an order of their places in the configuration, from 1."""

    event: str
    places: tuple[int, ...]

    def __str__(self) -> str:
        return f"the hooks of {self.event} in the order {', '.join(map(str, self.places))}"

    @property
    def subject(self) -> str:
        return self.event

    @property
    def name(self) -> str:
        return "-".join(map(str, self.places))

    @property
    def reference(self) -> Mutation:
        """The usual order: hooks run one by one in it too, so their speed decides nothing."""
        return replace(self, places=tuple(sorted(self.places)))

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, order={**scenario.order, self.event: self.places})


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield other orders of the hooks of each event that ran more than one."""
    if request.family != "order":
        return
    several = {hooked.event for _, hooked in outcome.trace.hooked() if len(hooked.hook_runs) > 1}
    if not several:
        yield NotTried("order", "no event had more than one hook")
    for event in sorted(several):
        places = range(1, traits.sets[event] + 1)
        if len(places) <= _MOST_PERMUTED:
            # The first one is the usual order.
            yield from (HookOrder(event, order) for order in [*itertools.permutations(places)][1:])
            continue
        yield HookOrder(event, tuple(reversed(places)))
        yield from (HookOrder(event, (*places[turn:], *places[:turn])) for turn in range(1, len(places)))
        some = f"orders of the {len(places)} hooks of {event} but the reverse and those that begin later"
        yield NotTried("order", some)
