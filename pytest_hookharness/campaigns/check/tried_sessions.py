"""Sentences about what a check tried: its sessions, their mutations, and how long hooks took."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness.campaigns.check.hook_statistics import find_never_run, percentile
from pytest_hookharness.campaigns.check.session_scenario import describe_stand_ins
from pytest_hookharness.campaigns.check.static.correctable_hooks import (
    as_written,
    bare_scripts,
    original_commands,
)
from pytest_hookharness.model.checkup import HookSet, hook_name, hook_names
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import HookRun

_TRIED = "Tried: "
# What was different, by the family of the mutations; what follows names the subjects.
_FAMILIES = {
    "key-order": "the input with its keys in another order",
    "words": "words of one command in the description of another",
    "quoting": "the words of a command as data",
    "names": "another file of the same name",
    "state": "damaged files of the hooks",
    "tools": "programs of the hooks that are missing or fail",
    "sessions": "between its turns",
    "processes": "a restarted host",
}
# The faults that sessions correct.
_CORRECTED = {
    "bit": "had the executable bit",
    "path": "had the correct path of its script",
    "timeout": "had its timeout counted in seconds",
}
# So many hooks are all named with their times; of more, the slowest.
_FEW, _SLOWEST = 12, 6
_NAMED = re.compile(r"(?P<family>[\w-]+)(?: (?P<rest>.+))?")
_MISSING = re.compile(r"([\w.+-]+) \(missing\)")


def describe_corrections(hook_set: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield which faults of the project the sessions corrected, in sentences."""
    ran = {run.hook.command for outcome in outcomes for _, run in outcome.trace.hook_runs()}
    if ran and any("cannot be parsed" in flaw for flaw in hook_set.flaws):
        yield "In all sessions, the settings had no comments and trailing commas, which the host cannot read."
    before = original_commands(hook_set)
    bare = {**bare_scripts(hook_set), **bare_scripts(hook_set.found or hook_set)} if hook_set.texts else {}
    found = {
        "bit": ran & {*bare},
        "path": ran & {*before},
        "timeout": {
            one.command
            for one, given in zip(hook_set.hooks, as_written(hook_set), strict=True)
            if one.timeout != given.timeout and one.command in ran
        },
    }
    for kind, commands in found.items():
        if commands:
            written = ", ".join(sorted(before.get(one, one) for one in commands))
            named = hook_names(as_written(hook_set), written)
            yield f"In all sessions but the first, {named} {_CORRECTED[kind]}, so that other defects show."


def describe_varied(text: str, before: str = _TRIED, instead: str = "Also tried: ") -> str:
    """Return which mutations were tried, without the names of their families; other text as it is."""
    items = [_NAMED.fullmatch(item) for item in text.removeprefix(before).removesuffix(".").split("; ")]
    if any(item is None or item["family"] not in _FAMILIES for item in items):
        return text
    return f"{instead}{'; '.join(_in_words(one['family'], one['rest'] or '') for one in items if one)}."


def _in_words(family: str, rest: str) -> str:
    """Return what was tried of one family; ``rest`` names subjects, and in parentheses how they differed."""
    if family == "sessions":
        return f"{' and '.join(rest.strip('()').split(', '))} {_FAMILIES[family]}"
    missing = [_MISSING.fullmatch(one) for one in rest.split(", ")]
    if family == "tools" and all(missing):
        return f"{' or '.join(f'no {one[1]}' for one in missing if one)} on the PATH"
    return f"{_FAMILIES[family]}: {rest}" if rest else _FAMILIES[family]


def describe_tried(
    hook_set: HookSet, outcomes: Sequence[Outcome], active: Sequence[str], stuck: Collection[str]
) -> Iterator[str]:
    """Yield what was tried with a hook set, in sentences."""
    # Left out are commands that replace a hook, and hooks that cannot run.
    own = {hook.command for hook in (*hook_set.hooks, *hook_set.shared)} - {*stuck}
    every = (hook_run for outcome in outcomes for _, hook_run in outcome.trace.hook_runs())
    # A handler that is no command has no run: its answer was assumed.
    hook_runs = [hook_run for hook_run in every if hook_run.run and hook_run.hook.command in own]
    unseen = find_never_run(hook_set, outcomes)
    hooks, silent = (
        len(hook_set.hooks),
        sum(hook.command in stuck or hook in unseen for hook in hook_set.hooks),
    )
    all_of_them = f"each of {hooks} hooks" if hooks > 1 else "the hook"
    who = (
        f"{hooks - silent} of {counted(hooks, 'hook')}" if silent else f"{all_of_them} on each of its events"
    )
    yield f"{counted(len(outcomes), 'session')} with {counted(len(hook_runs), 'hook run')}: {who}."
    yield from dict.fromkeys(
        describe_varied(text) for outcome in outcomes for text in outcome.varied if text.startswith(_TRIED)
    )
    yield from describe_stand_ins(hook_set)
    yield from dict.fromkeys(f"Activated: {one}." for one in active)
    yield from _describe_times(hook_set, hook_runs)


def _describe_times(hook_set: HookSet, hook_runs: Sequence[HookRun]) -> Iterator[str]:
    """Yield how long each hook took; of many hooks the slowest."""
    times: dict[str, list[float]] = {hook.command: [] for hook in hook_set.hooks}
    for one in hook_runs:
        if one.run is not None and one.hook.command in times:
            times[one.hook.command].append(one.run.wall)
    within = {command: 1000 * percentile(walls) for command, walls in times.items() if walls}
    slowest = sorted(within, key=lambda command: within[command], reverse=True)
    shown = slowest if len(slowest) <= _FEW else slowest[:_SLOWEST]
    for command, most in within.items():
        if command in shown:
            name = hook_name(hook_set.hooks, command)
            yield f"{name}: {counted(len(times[command]), 'run')}, 95% within {most:.0f} ms."
    if others := slowest[len(shown) :]:
        yield f"The other {len(others)} hooks: 95% of the runs of each within {within[others[0]]:.0f} ms."
