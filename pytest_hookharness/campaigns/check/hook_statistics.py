"""
The names of problems: how each is called, and what can be one of given hooks.

Pure.

Records: what is wrong with a hook by all that it did in all sessions together.

Pure.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness.campaigns.check.rewording import foreign_tools, misnamed_tools
from pytest_hookharness.judging.findings.codes import ENDLESS, INERT_GUARD, SLOW
from pytest_hookharness.judging.findings.finding_catalogue import NEVER_FIRED, catalogue
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Hook, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Change
from pytest_hookharness.model.verdicts import FindingCode
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_NAME = re.compile(r"([\w-]+)(?:\.\w{1,5})?(?=[\"'\s,]|$)")
_P95 = 0.95
# Fewer fires say nothing of the slowest of a hundred.
_FEWEST = 5
_NEAR = 0.5


def short_name(command: str) -> str:
    """
    The name of the script in a command, without its ending; the program where there is no script.
    """
    words = [word.rpartition("/")[2] for word in command.split(",", maxsplit=1)[0].split()]
    scripts = [word for word in words if re.search(r"\.\w{1,5}\W*$", word)]
    found = _NAME.search((scripts or words or [""])[0])
    return found[1] if found else ""


def find_silent(place: HookSet, outcomes: Sequence[Outcome]) -> list[Hook]:
    """
    The hooks that no session woke.
    """
    fired = {_key(fire.hook) for outcome in outcomes for _, fire in outcome.trace.hook_runs()}
    return [hook for hook in place.hooks if _key(hook) not in fired]


def _key(hook: Hook) -> tuple[str, str, str | None, str]:
    return hook.event, hook.command, hook.matcher, hook.source.rpartition("/")[2]


def find_problems(place: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Problem]:
    """
    What the records of the hooks show, one problem for each hook and kind.
    """
    for hook in find_silent(place, outcomes):
        if names := misnamed_tools(place, hook):
            told = "; ".join(f"`{name}` is called `{meant}`" for name, meant in names)
            text = f"{hook.event}: its matcher has other capitals than the tool, so nothing wakes it: {told}."
            yield _problem(place, hook, NEVER_FIRED, text)
    for hook in _idle(place, outcomes):
        if foreign := foreign_tools(place, hook):
            named = ", ".join(f"`{name}`" for name in foreign)
            text = f"{hook.event}: it asks for {named}, which {place.host} has not, and never does anything."
            yield _problem(place, hook, INERT_GUARD, text)
    yield from _slow(place, outcomes)


def _idle(place: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Hook]:
    """
    Hooks that were fired and of which nothing was seen: no word, no decision, no change.
    """
    for hook in {hook.command: hook for hook in place.hooks}.values():
        fires = [
            (hooked, fire)
            for outcome in outcomes
            for _, hooked in outcome.trace.hooked()
            for fire in hooked.hook_runs
            if fire.hook.command == hook.command
        ]
        if fires and not any(
            fire.run is None
            or fire.run.ending != Exited(0)
            or fire.run.stdout.total
            or fire.run.stderr.total
            or fire.reply.ruling is not Ruling.NONE
            or any(map(_is_of_hook, hooked.changes))
            for hooked, fire in fires
        ):
            yield hook


def _is_of_hook(change: Change) -> bool:
    """
    Whether it was not the host that made it: at its first event it lays down a transcript.
    """
    return change.path.startswith("workspace/") or change.how != "added"


def _slow(place: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Problem]:
    for hook in {hook.command: hook for hook in place.hooks}.values():
        runs = [run for run in _runs(hook.command, outcomes) if isinstance(run.ending, Exited)]
        limits = {run.limit for run in runs if run.limit is not None}
        took = percentile([run.wall for run in runs])
        if len(runs) < _FEWEST or not limits or took <= _NEAR * min(limits):
            continue
        text = f"{hook.event}: 95 of 100 fires end within {took:.1f} s, of {min(limits):g} s that it has."
        yield _problem(place, hook, SLOW, text)


def _runs(command: str, outcomes: Sequence[Outcome]) -> Iterator[ProcessResult]:
    for outcome in outcomes:
        for _, fire in outcome.trace.hook_runs():
            if fire.hook.command == command and fire.run is not None:
                yield fire.run


def percentile(times: Sequence[float]) -> float:
    """
    The time within which 95 of 100 of them lie, by nearest rank; 0 for none.
    """
    return sorted(times)[math.ceil(_P95 * len(times)) - 1] if times else 0.0


def _problem(place: HookSet, hook: Hook, code: FindingCode, text: str) -> Problem:
    complaint = Symptom(kind=code.name, code=code.code, hook=hook.command, text=text, advice=code.fix)
    name = "-".join(filter(None, (code.name.lower(), short_name(hook.command).lower())))
    return Problem(id=name, symptom=complaint, scenario=Scenario(name="check", host=place.host))


_COUNTED = re.compile(r"-\d+$")


def name_problem(symptom: Symptom, taken: Collection[str]) -> str:
    """
    A name that is the same in the next check-up, as long as the same is wrong.

    Args:
        symptom: What is wrong.
        taken: The names of other problems.
    """
    base = _name(symptom.kind, "" if symptom.shared else symptom.hook)
    free = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in free if name not in taken)


def _name(kind: str, command: str) -> str:
    return "-".join(filter(None, (kind.lower(), short_name(command).lower())))


def require_name(name: str, places: Sequence[HookSet]) -> None:
    """
    See that a problem of some place can be called so.

    Where hooks start agents of another host, a problem may bear the name of a hook of another place.

    Raises:
        SimulationError: None can.
    """
    known = {known for place in places for known in _names(place)}
    if not known & {name, _COUNTED.sub("", name)}:
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise SimulationError(
            f"--only: no problem of these hooks can be called {name!r}; allowed is a name as the `again` "
            f"line of a report has it, such as livelock-SCRIPT{meant}"
        )


def _names(place: HookSet) -> Iterator[str]:
    for kind in (code.name for code in (*catalogue(), *ENDLESS)):
        yield kind.lower()
        yield from (_name(kind, hook.command) for hook in place.hooks)
