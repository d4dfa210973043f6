"""Combine base, variants and hosts into scenarios, and check names of hosts, findings and behaviours."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.model.scenario import Origin, Scenario, without_final_zeros
from pytest_hookharness.scenario_files.keys.scenario import COMMON
from pytest_hookharness.scenario_files.schema.shapes import REMOVED, Key, RecordShape, Values
from pytest_hookharness.scenario_files.yaml.elements import (
    Element,
    ListNode,
    Place,
    Problems,
    ScalarNode,
    TableEntry,
    TableNode,
    join,
    shown,
)

USUAL_HOST = "claude-code"
# Values of a file that are not passed to ``Scenario`` under their own names.
NOT_FIELDS = frozenset({"host", "script", "when", "variants", "world"})


def assemble(values: Values, origin: Origin | None, hosts: Sequence[str] | None) -> Iterator[Scenario]:
    """Yield the scenarios of a file: the base and each variant, on each of ``hosts`` or its own hosts."""
    settings = {"": values}
    for name, own in values.get("variants", {}).items():
        settings[name] = merge(values, own)
    for name, setting in settings.items():
        for host in hosts or setting.get("host", (USUAL_HOST,)):
            yield build(setting, host, name, origin)


def merge(base: Values, own: Values, keys: Sequence[Key] = COMMON) -> Values:
    """
    Return the base's values with a variant's on top.

    Mappings whose keys are merged are merged by key. What the variant removes is left out.
    """
    merged = {name: value for name, value in {**base, **own}.items() if value is not REMOVED}
    for key in keys:
        name = key.field or key.name
        if key.merges and name in merged and name in own:
            inner = key.shape.keys if isinstance(key.shape, RecordShape) else ()
            merged[name] = merge(base.get(name, {}), own[name], inner)
    return merged


def check_removals(element: Element, problems: Problems) -> None:
    """Record a problem for each key that a variant removes and the base does not have."""
    top = entries_of(element)
    for name, variant in entries_of(top["variants"].value).items() if "variants" in top else ():
        _check_removals(top, entries_of(variant.value), COMMON, join("variants", name), problems)


def _check_removals(
    base: Mapping[str, TableEntry],
    own: Mapping[str, TableEntry],
    keys: Sequence[Key],
    path: str,
    problems: Problems,
) -> None:
    merging = {key.name: key for key in keys if key.merges}
    there = {_plain(name) for name in base}
    for name, entry in own.items():
        value, where = entry.value, join(path, name)
        if isinstance(value, ScalarNode) and value.value is None and _plain(name) not in there:
            message = f"the base has no {shown(name)} that could be removed"
            problems.add(entry, where, message, allowed=sorted(base), near=name)
        elif name in merging:
            shape = merging[name].shape
            inner = shape.keys if isinstance(shape, RecordShape) else ()
            theirs = entries_of(base[name].value) if name in base else {}
            _check_removals(theirs, entries_of(value), inner, where, problems)


def _plain(name: str) -> str:
    return name.removeprefix("./")


def build(values: Values, host: str, variant: str, origin: Origin | None) -> Scenario:
    """Return one scenario; the keys of ``world`` are fields of their own."""
    fields = {name: value for name, value in values.items() if name not in NOT_FIELDS}
    fields |= values.get("world", {})
    if (project := fields.get("project")) is not None:
        # A copy leaves the project's own `.git` out, and hooks of a repository ask git for changes.
        fields.setdefault("git", (project / ".git").exists())
    return Scenario(host=host, variant=variant, origin=origin, script=script_of(values), **fields)


def script_of(values: Values) -> Script:
    """Return the agent's script with its reactions; the default is one prompt."""
    script: Script = values.get("script", Script(acts=(FIRST_PROMPT,)))
    script = replace(script, reactions=values.get("when", ()))
    return replace(script, then=values["then"]) if "then" in values else script


def check_hosts(element: Element, known: Sequence[str], problems: Problems) -> None:
    """Record a problem for each unknown host."""
    for path, place in chain.from_iterable(
        scalars_of(table, "host", top) for top, table in tables_of(element)
    ):
        host = place.value
        if isinstance(host, str) and not is_known(host, known):
            _refuse(place, path, host, "is not a known host", known, problems)


def _refuse(place: Place, path: str, word: str, why: str, allowed: Sequence[str], problems: Problems) -> None:
    message = f"{shown(word)} {why}"
    problems.add(place, path, message, allowed=allowed, near=word)


def is_known(host: str, known: Sequence[str]) -> bool:
    """Return whether a host is known; any version counts if the list has no versions of that host."""
    name, at, _ = host.partition("@")
    if without_final_zeros(host) in map(without_final_zeros, known) or not at:
        return host in known or bool(at)
    return name in known and not any(other.startswith(name + "@") for other in known)


def check_findings(element: Element, known: Mapping[str, str], problems: Problems) -> None:
    """Record a problem for each expected finding that is unknown or cannot occur."""
    for top, table in tables_of(element):
        if "expect" not in table:
            continue
        for path, place in scalars_of(entries_of(table["expect"].value), "findings", join(top, "expect")):
            word = place.value
            if not isinstance(word, str):
                continue
            why = known.get(word.upper(), "is not a known finding")
            if why:
                allowed = [name for name, objection in known.items() if not objection]
                _refuse(place, path, word, why, allowed, problems)


def check_behaviours(element: Element, known: Collection[str], problems: Problems) -> None:
    """Record a problem for each unknown behaviour under ``then``."""
    for top, table in tables_of(element):
        acts = table["agent"].value if "agent" in table else None
        for index, act in enumerate(acts.items if isinstance(acts, ListNode) else ()):
            if "then" in (tags := entries_of(act)):
                place, word = _named_first(tags["then"].value)
                if word and word not in known:
                    path = join(join(join(top, "agent"), index), "then")
                    _refuse(place, path, word, "is not a known behaviour", sorted(known), problems)


def _named_first(behaviour: Element) -> tuple[Place, str]:
    # Other elements are refused by the shape of ``then``.
    match behaviour:
        case ScalarNode(value=str() as word):
            return behaviour, word
        case TableNode(entries=(first, *_)):
            return first, first.key
        case _:
            return behaviour, ""


def tables_of(element: Element) -> Iterator[tuple[str, Mapping[str, TableEntry]]]:
    """Yield the entries of the base and of each variant, with their key paths."""
    top = entries_of(element)
    yield "", top
    if "variants" in top:
        for name, entry in entries_of(top["variants"].value).items():
            yield join("variants", name), entries_of(entry.value)


def scalars_of(table: Mapping[str, TableEntry], key: str, path: str) -> Iterator[tuple[str, ScalarNode]]:
    """Yield the single value under a key, or those of its list, with their key paths."""
    if key not in table:
        return
    here = join(path, key)
    match table[key].value:
        case ScalarNode() as scalar:
            yield here, scalar
        case ListNode(items=items):
            for index, item in enumerate(items):
                if isinstance(item, ScalarNode):
                    yield join(here, index), item
        case _:
            pass


def entries_of(element: Element) -> Mapping[str, TableEntry]:
    """Return the entries of a mapping by key; empty for another element."""
    return {entry.key: entry for entry in element.entries} if isinstance(element, TableNode) else {}
