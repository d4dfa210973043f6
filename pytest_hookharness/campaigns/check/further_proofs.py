"""
Problems that a check finds by playing its sessions again, mostly with one thing changed.

A hook that was seen to allow and to refuse the same thing may decide by chance. It may also have counted, or
the files may have changed in between, so the whole session is played again before anything is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from pytest_hookharness.campaigns.check.command_guards.false_advice import prove_false_advice
from pytest_hookharness.campaigns.check.gates.commits import prove_taken_files
from pytest_hookharness.campaigns.check.gates.counted_changes import prove_counted_changes
from pytest_hookharness.campaigns.check.gates.spent_limits import prove_spent_limits
from pytest_hookharness.campaigns.check.gates.unheard_checks import prove_unheard_checks
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.check.sessions import in_order
from pytest_hookharness.campaigns.check.sole_readers import prove_sole_readers
from pytest_hookharness.judging.comparison.traces import Pair, describe_decision, pairs
from pytest_hookharness.judging.findings.finding_catalogue import FLAKY
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookRun

# Parts of the input that are new in each session or turn.
_VOLATILE = re.compile(r"id$|path$|cwd|time|dir$|root", re.IGNORECASE)
# Seconds within which a hook run hardly meets a timeout of its own, also on a busy machine.
_QUICK = 1.0
_TWICE = 2
_ADVICE = "Decide by the input and the files of the project: by no random number, time, or process number."


def find_suspect(played: Sequence[PlayedSession]) -> PlayedSession | None:
    """Return the session with the most runs of hooks that both allowed and refused the same thing."""
    rulings: dict[tuple[str, str], set[bool]] = {}
    for hook_run in (hook_run for one in played for hook_run in _runs(one.outcome)):
        seen = rulings.setdefault((hook_run.hook.command, _subject(hook_run)), set())
        seen.add(hook_run.reply.ruling is Ruling.DENY)
    suspects = {command for (command, _), seen in rulings.items() if len(seen) > 1}
    plain = [one for one in played if not one.session.event and not one.session.scenario.vary]
    numbers = [sum(run.hook.command in suspects for run in _runs(one.outcome)) for one in plain]
    most = max(numbers, default=0)
    return plain[numbers.index(most)] if most else None


def prove_chance(
    hook_set: HookSet, play: TryOut, _known: Collection[Problem], played: Sequence[PlayedSession]
) -> Iterator[ProvedSymptom]:
    """Play the session of a suspect twice, and yield the symptom if chance decides."""
    suspect = find_suspect(played)
    session = in_order(hook_set, suspect.session) if suspect is not None else None
    plays = play([session, session]) if session is not None else ()
    outcomes = [one.outcome for one in plays if one.outcome is not None]
    symptom = find_chance(*outcomes) if len(outcomes) == _TWICE else None
    if symptom is not None and session is not None:
        yield ProvedSymptom(symptom, session, outcomes[0].trace)


def _runs(outcome: Outcome | None) -> Iterator[HookRun]:
    if outcome is not None:
        yield from (hook_run for _, hook_run in outcome.trace.hook_runs())


def _subject(hook_run: HookRun) -> str:
    known = {key: value for key, value in hook_run.payload.items() if not _VOLATILE.search(key)}
    return json.dumps(known, sort_keys=True)


def find_chance(first: Outcome, again: Outcome) -> Symptom | None:
    """Return what shows that two plays of one session were decided differently; ``None`` if they were not."""
    pair = next((pair for pair in pairs(first.trace, again.trace) if pair.differs), None)
    if pair is None or not _is_certain(pair):
        return None
    seen = [describe_decision(hooked, pair.hook) for hooked in (pair.before, pair.after)]
    text = (
        f"{pair.before.event}: the same session was played twice, and in turn {pair.turn} the hook "
        f"{seen[0]} one time and {seen[1]} the other."
    )
    return symptom_of(FLAKY, pair.hook, text, _ADVICE, turn=pair.turn)


def _is_certain(pair: Pair) -> bool:
    """Whether the hook ended by itself both times, and so soon that the machine did not decide."""
    runs = [one.run for both in pair.hook_runs() for one in both if one.hook.command == pair.hook]
    return bool(runs) and all(
        run is not None and isinstance(run.ending, Exited) and run.failure is None and run.wall < _QUICK
        for run in runs
    )


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
    "files of the user": prove_taken_files,
    "failing checks": prove_unheard_checks,
}


def prove_further(
    hook_set: HookSet,
    try_out: Callable[..., Sequence[PlayedSession]],
    known: Collection[Problem],
    played: Sequence[PlayedSession],
) -> Iterator[Problem]:
    """
    Yield hooks that decide by chance, guards that need one program, faulty gates, false advice and so on.

    ``try_out`` plays sessions that are no part of the report, and shows the words meanwhile.
    """
    found = [*known]
    for words, prove in _PROOFS.items():
        for one in prove(hook_set, partial(try_out, words=words), [*found], played):
            found.append(one.as_problem([other.id for other in found]))
            yield found[-1]
