"""Join problems of several hooks or of two hook sets with one cause: each cause is reported once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.judging.findings.codes import LOST_UPDATES, UNGUARDED_TOOL, UNSEEN_REASON
from pytest_hookharness.judging.findings.finding_catalogue import MANGLED, SILENT_REFUSAL
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom

# What the agent should read: each hook says something else where nobody hears it.
_UNSEEN = frozenset({SILENT_REFUSAL.name, UNSEEN_REASON.name})
# Without this program guards allow what they would refuse: sources and sessions say it in different words.
_WITHOUT = re.compile(r"with no `[\w.+-]+` on the PATH(?=.*(?:\ballow|refuses nothing|nothing is refused))")
# An answer in another form than the host's: each hook may have other keys in it.
_NO_KEYS = re.compile(r"(.*the host knows none of the keys )([\w$-]+(?:, [\w$-]+)*)(.*)", re.DOTALL)
_EVENT = re.compile(r"\w+(?=(?: in turn \d+)?:)")


def at_one_place(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems, those of one kind with the same cause once, with all hooks that have it."""
    found: dict[tuple[str, str], Problem] = {}
    for problem in _of_fewest_hooks(problems):
        symptom = problem.symptom
        key = (symptom.kind, _cause(symptom) if symptom.hook else symptom.text)
        known = found.get(key)
        if known is None or symptom.hook in known.symptom.hook.split(", "):
            found.setdefault(key, problem)
            continue
        one, other = known.symptom.entries, symptom.entries
        entries = (*one, *other) if one and other else ()
        together = replace(
            known.symptom,
            hook=f"{known.symptom.hook}, {symptom.hook}",
            text=_with_keys(_with_event(known.symptom.text, symptom.text), symptom.text),
            entries=entries,
            advice=_with_advice(known.symptom.advice, symptom),
        )
        found[key] = replace(known, symptom=together)
    return [*found.values()]


def _cause(symptom: Symptom) -> str:
    """Return the words that problems of one kind share if they have the same cause."""
    program = _WITHOUT.search(symptom.text)
    if program and symptom.kind == UNGUARDED_TOOL.name:
        return program[0]
    words = symptom.text.partition(": ")[2] or symptom.text
    if symptom.kind == MANGLED.name and (keys := _NO_KEYS.fullmatch(words)):
        return f"{keys[1]}{keys[3]}"
    # Each hook says something else where nobody hears it.
    return words.rpartition('" ')[2] if symptom.kind in _UNSEEN else words


def _with_event(text: str, other: str) -> str:
    """Return the words about hooks without a program, with the event of another hook that needs it too."""
    own, event, program = _EVENT.match(text), _EVENT.match(other), _WITHOUT.search(text)
    if event is None or program is None or event[0] in text:
        return text
    if own is None or " in turn " in text:
        return f"{text} Without this program, {event[0]} refuses nothing either."
    # What was read in the source of one hook need not be true of the other.
    same = text.partition(": ")[2] == other.partition(": ")[2]
    words = text.partition(": ")[2] if same else f"{program[0]}, nothing is refused."
    return f"{own[0]}, {event[0]}: {words}"


def _with_advice(advice: str, other: Symptom) -> str:
    """Return the advice on hooks without a program, with that for another event if it differs."""
    event = _EVENT.match(other.text)
    if other.kind != UNGUARDED_TOOL.name or event is None or other.advice in advice:
        return advice
    return f"{advice} At {event[0]}: {other.advice}"


def _with_keys(text: str, other: str) -> str:
    """Return the words about keys that the host does not know, with those of another answer."""
    one, more = _NO_KEYS.fullmatch(text), _NO_KEYS.fullmatch(other)
    if one is None or more is None:
        return text
    keys = dict.fromkeys([*one[2].split(", "), *more[2].split(", ")])
    return f"{one[1]}{', '.join(keys)}{one[3]}"


def _of_fewest_hooks(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the problems without races in which other hooks ran beside those that lose the same updates."""
    races: dict[str, list[set[str]]] = {}
    for one in problems:
        if one.symptom.kind == LOST_UPDATES.name:
            races.setdefault(_without_numbers(one), []).append({*one.symptom.hook.split(", ")})
    for one in problems:
        hooks, known = {*one.symptom.hook.split(", ")}, races.get(_without_numbers(one), [])
        if one.symptom.kind != LOST_UPDATES.name or not any(fewer < hooks for fewer in known):
            yield one


def _without_numbers(problem: Problem) -> str:
    return re.sub(r"\d+", "N", problem.symptom.text)


def without_repeats(reports: Iterable[CheckReport]) -> Iterator[CheckReport]:
    """
    Yield the reports, without problems that an earlier one has of the same scripts, in the same words.

    A project's settings and its plugin may start the same scripts.
    """
    reported: set[tuple[object, ...]] = set()
    for report in reports:
        keys = {problem.id: _key(report.place, problem) for problem in report.problems}
        kept = tuple(one for one in report.problems if keys[one.id] is None or keys[one.id] not in reported)
        reported |= {key for key in keys.values() if key is not None}
        yield replace(report, problems=kept)


def _key(hook_set: HookSet, problem: Problem) -> tuple[object, ...] | None:
    """Return what makes two problems the same; ``None`` if its scripts are not known."""
    symptom = problem.symptom
    named = [hook for hook in hook_set.hooks if hook.command in symptom.hook.split(", ")]
    scripts = {hook_set.root / path for hook in named for path, _ in hook_set.sources_of(hook)}
    known = bool(named) and all(hook_set.sources_of(hook) for hook in named)
    return (hook_set.host, symptom.kind, symptom.text, frozenset(scripts)) if known else None
