"""Problems that a check finds by playing its sessions again with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from pytest_hookharness.campaigns.check.chance import prove_chance
from pytest_hookharness.campaigns.check.command_guards.false_advice import prove_false_advice
from pytest_hookharness.campaigns.check.gates.counted_changes import prove_counted_changes
from pytest_hookharness.campaigns.check.gates.spent_limits import prove_spent_limits
from pytest_hookharness.campaigns.check.gates.unheard_checks import prove_unheard_checks
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.sole_readers import prove_sole_readers
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem

_Prove: TypeAlias = Callable[
    [HookSet, TryOut, Collection[Problem], Sequence[PlayedSession]], Iterable[ProvedSymptom]
]
# Keys: what is changed, in words that are shown while the sessions are played.
_PROOFS: Mapping[str, _Prove] = {
    "the same session again": prove_chance,
    "without a program": prove_sole_readers,
    "another prompt": prove_spent_limits,
    "other changes": prove_counted_changes,
    "the advice of refusals": prove_false_advice,
    "failing checks": prove_unheard_checks,
}


def prove_further(
    hook_set: HookSet,
    try_out: Callable[[Sequence[CheckSession], str], Sequence[PlayedSession]],
    known: Collection[Problem],
    played: Sequence[PlayedSession],
) -> Iterator[Problem]:
    """Yield hooks that decide by chance, guards that need one program, faulty gates, and false advice."""
    found = [*known]
    for words, prove in _PROOFS.items():
        for one in prove(hook_set, partial(_play, try_out, words), [*found], played):
            found.append(one.as_problem([other.id for other in found]))
            yield found[-1]


def _play(
    try_out: Callable[[Sequence[CheckSession], str], Sequence[PlayedSession]],
    words: str,
    sessions: Sequence[CheckSession],
) -> Sequence[PlayedSession]:
    return try_out(sessions, words)
