"""Problems that all hook runs of a hook show together, and the names of problems."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness.campaigns.check.reads.compared_tools import VS_CODE_TOOLS, foreign_tools
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.check.static.correctable_hooks import as_written
from pytest_hookharness.campaigns.check.static.hook_program import empty_run
from pytest_hookharness.campaigns.check.static.timeout_units import short_timeouts
from pytest_hookharness.campaigns.guards.unasked import find_unasked
from pytest_hookharness.execution.processes.slots import competition, slowdown
from pytest_hookharness.judging.findings.codes import INERT_GUARD, SLOW, UNASKED
from pytest_hookharness.judging.findings.finding_catalogue import NOT_RUN, catalogue
from pytest_hookharness.model.bad_ends import BAD_ENDS, ENDLESS
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom, script_of
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Hook, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Change
from pytest_hookharness.model.verdicts import FindingCode
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_NAME = re.compile(r"([\w-]+)(?:\.\w{1,5})?(?=[\"'\s,]|$)")
# The messages of Python and JavaScript about a missing module.
_NO_MODULE = re.compile(r"No module named '([\w.]+)'|Cannot find (?:module|package) '([^'\s]+)'")
_IMPORT = (
    "Find the module from the place of the script, not by the name of the folder around it, which varies; "
    "and say on standard error that the hook does nothing if it is missing."
)
_SEVERAL = 2
_P95 = 0.95
# From fewer hook runs no percentile follows.
_FEWEST = 5
_NEAR = 0.5


def short_name(command: str) -> str:
    """Return the name of the script in a command, without its suffix; the program if there is no script."""
    script = script_of(command.split(",", maxsplit=1)[0]).rpartition("/")[2].rpartition(".")[0]
    if re.fullmatch(r"[\w-]+", script):
        return script
    words = [word.rpartition("/")[2] for word in command.split(",", maxsplit=1)[0].split()]
    scripts = [word for word in words if re.search(r"\.\w{1,5}\W*$", word)]
    found = _NAME.search((scripts or words or [""])[0])
    return found[1] if found else ""


def find_never_run(hook_set: HookSet, outcomes: Sequence[Outcome]) -> list[Hook]:
    """Return the hooks that no session triggered."""
    hook_runs = [hook_run for outcome in outcomes for _, hook_run in outcome.trace.hook_runs()]
    # Sessions have the hooks of a component in other settings.
    placed = hook_set.inline is None
    fired = {_key(hook_run.hook, placed=placed) for hook_run in hook_runs if hook_run.run is not None}
    return [hook for hook in hook_set.hooks if _key(hook, placed=placed) not in fired]


def _key(hook: Hook, *, placed: bool) -> tuple[str, str, str | None, str]:
    return hook.event, hook.command, hook.matcher, hook.source.rpartition("/")[2] if placed else ""


def find_problems(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Problem]:
    """Yield the problems that all hook runs show together, one for each hook and kind."""
    for hook in _find_without_effect(hook_set, outcomes):
        if foreign := foreign_tools(hook_set, hook):
            named = ", ".join(f"`{name}`" for name in foreign)
            text = (
                f"{hook.event}: it has no effect; it checks for {named}, which {hook_set.host} does not have."
            )
            if {*foreign} & {*VS_CODE_TOOLS}:
                text += (
                    " Visual Studio Code, which reads the files of hooks of Copilot CLI too, has such tools."
                )
            yield _problem(hook_set, hook, INERT_GUARD, text)
    yield from _find_failed_imports(hook_set, outcomes)
    yield from _find_slow(hook_set, outcomes)
    yield from (_problem(hook_set, hook, UNASKED, text) for hook, text in find_unasked(hook_set, outcomes))


def _find_failed_imports(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Problem]:
    """Yield the hooks that never find a module of their own, say so, and end well: nobody else notices."""
    for hook in {hook.command: hook for hook in hook_set.hooks}.values():
        runs = [*_runs(hook.command, outcomes)]
        texts = [f"{run.stderr.text}\n{run.stdout.text}" for run in runs if run.ending == Exited(0)]
        said = [_NO_MODULE.search(text) for text in texts]
        if len(runs) < _SEVERAL or len(texts) < len(runs) or not all(said) or said[0] is None:
            continue
        name = (said[0][1] or said[0][2]).partition(".")[0]
        if name == hook_set.root.name:
            where = "which is the name of the folder around it, and it was run in a folder of another name"
        elif any((hook_set.root / inside).exists() for inside in (name, f"{name}.py")):
            where = "which it looks for in another place"
        else:
            # A package of others, which may be there on the machine of its users.
            continue
        text = f'{hook.event}: each run ended with 0 and said "{said[0][0]}", {where}.'
        yield _problem(hook_set, hook, NOT_RUN, text, _IMPORT)


def _find_without_effect(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Hook]:
    """Yield the hooks that ran and showed no effect: no output, no decision, no change."""
    for hook in {hook.command: hook for hook in hook_set.hooks}.values():
        hook_runs = [
            (hooked, hook_run)
            for outcome in outcomes
            for _, hooked in outcome.trace.hooked()
            for hook_run in hooked.hook_runs
            if hook_run.hook.command == hook.command
        ]
        if hook_runs and not any(
            hook_run.run is None
            or hook_run.run.ending != Exited(0)
            or hook_run.run.stdout.total
            or hook_run.run.stderr.total
            or hook_run.reply.ruling is not Ruling.NONE
            or any(_is_of_hook(change, hook) for change in hooked.changes)
            for hooked, hook_run in hook_runs
        ):
            yield hook


def _is_of_hook(change: Change, hook: Hook) -> bool:
    """Return whether a hook may have made a change, and not the host, which adds a transcript."""
    by_hooks = change.path.startswith("workspace/") or change.how != "added"
    return by_hooks and (not change.hooks or hook.command in change.hooks)


def _find_slow(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[Problem]:
    # TIMEOUT-UNIT already reports these.
    hasty = short_timeouts(hook_set.found or hook_set)
    given = zip(hook_set.hooks, as_written(hook_set), strict=True)
    for hook in {one.command: one for one, before in given if before.timeout not in hasty}.values():
        runs = [run for run in _runs(hook.command, outcomes) if isinstance(run.ending, Exited)]
        limits = {run.limit for run in runs if run.limit is not None}
        if len(runs) < _FEWEST or not limits:
            continue
        if percentile([run.wall for run in runs]) <= _NEAR * min(limits):
            continue
        # What a run works takes longer while others want the CPUs; what it waits for does not. The load is of
        # the last minute, and an empty run shows that of now.
        competing = max(competition(), slowdown(empty_run(hook_set, hook)))
        took = percentile([run.wall - run.cpu * (competing - 1) for run in runs])
        if took <= _NEAR * min(limits):
            continue
        text = f"{hook.event}: 95% of its runs take up to {took:.1f} s; its timeout is {min(limits):g} s."
        yield _problem(hook_set, hook, SLOW, text)


def _runs(command: str, outcomes: Sequence[Outcome]) -> Iterator[ProcessResult]:
    for outcome in outcomes:
        for _, hook_run in outcome.trace.hook_runs():
            if hook_run.hook.command == command and hook_run.run is not None:
                yield hook_run.run


def percentile(times: Sequence[float]) -> float:
    """Return the 95th percentile of some times by nearest rank; 0 for none."""
    return sorted(times)[math.ceil(_P95 * len(times)) - 1] if times else 0.0


def _problem(hook_set: HookSet, hook: Hook, code: FindingCode, text: str, advice: str = "") -> Problem:
    symptom = symptom_of(code, hook.command, text, advice)
    scenario = Scenario(name="check", host=hook_set.host)
    return Problem(id=_name(code.name, hook.command), symptom=symptom, scenario=scenario)


_COUNTED = re.compile(r"-\d+$")
_ENDLESS = re.compile(rf"^(?:{'|'.join(sorted(ENDLESS))})(?=-|$)")


def name_problem(symptom: Symptom, taken: Collection[str]) -> str:
    """Return a name that is not ``taken``; the next check gives the same problem the same name."""
    kind = "-".join(filter(None, (symptom.kind, symptom.topic)))
    base = _name(kind, "" if symptom.shared else symptom.hook)
    free = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in free if name not in taken)


def _name(kind: str, command: str) -> str:
    return "-".join(filter(None, (kind.lower(), short_name(command).lower())))


def is_kind(name: str) -> bool:
    """Return whether a name is that of a kind of problem, such as ``livelock``, and not of one problem."""
    return name.lower() in _kinds()


def _kinds() -> set[str]:
    return {code.name.lower() for code in (*catalogue(), *BAD_ENDS)}


def is_wanted(only: str, name: str, kind: str) -> bool:
    """Return whether ``only`` asks for a problem: by its name, by its kind, or not at all."""
    return not only or is_same(only, name) or is_same(only.lower(), kind.lower())


def is_same(name: str, other: str) -> bool:
    """
    Return whether two names, of problems or of kinds, are those of the same one.

    A stop that is refused without end has one of several names, by how much of it was seen.
    """
    return _ENDLESS.sub("livelock", name) == _ENDLESS.sub("livelock", other)


def require_name(name: str, hook_sets: Sequence[HookSet]) -> None:
    """
    Check that a problem of some hook set can have a name, or be of a kind of this name.

    If hooks start agents of another host, a problem may be named after a hook of another hook set.

    Raises:
        SimulationError: No problem can have it.
    """
    known = {known for hook_set in hook_sets for known in _names(hook_set)}
    # What a problem is about may stand after its kind.
    kind, _, rest = name.partition("-")
    plain = [*{name, f"{kind}-{rest.partition('-')[2]}"}]
    if not is_kind(name) and known.isdisjoint([*plain, *(_COUNTED.sub("", one) for one in plain)]):
        near = difflib.get_close_matches(name, known, n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise SimulationError(
            f"--only: no problem of these hooks can be called {name!r}{meant}; take the name from the replay "
            "command in a report, such as livelock-SCRIPT, or a kind of problems, such as livelock"
        )


def _names(hook_set: HookSet) -> Iterator[str]:
    for kind in _kinds():
        yield kind
        yield from (_name(kind, hook.command) for hook in hook_set.hooks)
