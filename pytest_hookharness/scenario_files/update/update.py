"""
Update the expectations of a scenario file to what its items did.

Only single values change, and every other byte stays as it is; PyYAML reports where each value starts and
ends. The changed text is loaded again, and is used only if exactly these expectations changed as intended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import yaml

from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import UNWANTED, VerdictName
from pytest_hookharness.scenario_files.loader import loads
from pytest_hookharness.scenario_files.update.revise import (
    KeyPath,
    ObservedRun,
    Revision,
    Unclear,
    changes,
    revise,
)
from pytest_hookharness.scenario_files.yaml.elements import ScenarioErrors, resolve
from pytest_hookharness.scenario_files.yaml.parser import LOADER

PLAIN = re.compile(r"[A-Za-z](?:[\w ./()=+\\-]*[\w./()=+\\])?")
# Includes YAML's additional line ends, bidirectional control characters and invisible characters.
UNPRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class NotEditable(Exception):
    """A value cannot be changed alone because of its layout; the text says why."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """The replacement of the passage from ``start`` to ``end``; an empty passage is an insertion."""

    start: int
    end: int
    text: str


def rewrite(text: str, place: KeyPath, wanted: Sequence[Revision]) -> str:
    """
    Return a valid scenario file with some values of one expectation changed, which may be missing at the top.

    Raises:
        NotEditable: A value cannot be changed alone.
    """
    mark = text[: text.startswith("\ufeff")]
    text = text[len(mark) :]
    # The loader must be the one that loads scenario files: others accept fewer texts.
    root = yaml.compose(text, Loader=LOADER)
    expectation = _find(root, place)
    if expectation is not None:
        edits = [edit for change in wanted for edit in _edits(text, expectation, change)]
        edits += _removals(text, expectation, {change.path[0] for change in wanted if change.value is None})
    elif isinstance(root, yaml.MappingNode):
        edits = [_new_expectation(text, root, wanted)]
    else:
        raise NotEditable("is not a mapping")
    return mark + _apply(edits, text)


def _apply(edits: Iterable[TextEdit], text: str) -> str:
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _find(node: yaml.Node | None, path: KeyPath) -> yaml.Node | None:
    for step in path:
        match node:
            case yaml.MappingNode():
                node = next((value for key, value in node.value if key.value == step), None)
            case yaml.SequenceNode() if isinstance(step, int):
                node = node.value[step]
            case _:
                return None
    return node


def _edits(text: str, expectation: yaml.Node, change: Revision) -> Iterator[TextEdit]:
    *around, last = change.path
    node = _find(expectation, change.path)
    if node is None and isinstance(last, int):
        # A single pattern may be written without a list.
        node = _find(expectation, tuple(around))
    match node, change.value:
        case _, None:
            return
        case None, str() as value:
            yield _entry(text, expectation, change.path, value)
        case yaml.MappingNode(), Range(min=least, max=most):
            for name, number in (("min", least), ("max", most)):
                end = _find(node, (name,))
                if end is not None:
                    yield _scalar(end, _number(number))
        case yaml.ScalarNode(), Range(min=least):
            yield _scalar(node, _number(least))
        case yaml.ScalarNode(), str() | int() as value:
            yield _scalar(node, value)
        case _:
            raise NotEditable("is not written as a single value")


def _number(number: int | None) -> int:
    if number is None:
        raise NotEditable("has an open end")
    return number


def _scalar(node: yaml.Node, value: str | int) -> TextEdit:
    style: str | None = getattr(node, "style", None)
    if style in ("|", ">"):
        raise NotEditable("is written as a block of lines")
    written = value if isinstance(value, str) else str(value)
    return TextEdit(_start(node), _end(node), _dressed(written, style, value))


def _dressed(written: str, style: str | None, value: str | int) -> str:
    """Return a value in the old value's quotes, or in those that it needs."""
    if isinstance(value, int):
        return written
    if style == "'" and not UNPRINTABLE.search(written):
        return "'" + written.replace("'", "''") + "'"
    if not style and PLAIN.fullmatch(written) and resolve(written) == written:
        return written
    quoted = json.dumps(written, ensure_ascii=False)
    return UNPRINTABLE.sub(lambda found: f"\\U{ord(found[0]):08x}", quoted)


def _entry(text: str, mapping: yaml.Node, path: KeyPath, value: str) -> TextEdit:
    """Return the insertion of a new key before the others."""
    if not isinstance(mapping, yaml.MappingNode) or len(path) != 1:
        raise NotEditable("is not written in a mapping")
    flow = bool(mapping.flow_style)
    if not mapping.value:
        return TextEdit(_start(mapping) + 1, _start(mapping) + 1, f"{path[0]}: {value}")
    first = mapping.value[0][0]
    key, word = (json.dumps(path[0]), json.dumps(value)) if first.style == '"' else (path[0], value)
    start = _start(first)
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    if not flow and indent.strip(" "):
        raise NotEditable("does not start on a line of its own")
    return TextEdit(start, start, f"{key}: {word}" + (", " if flow else _line_end(text) + indent))


def _removals(text: str, mapping: yaml.Node, names: Container[str | int]) -> Iterator[TextEdit]:
    """Yield the removals of keys with values: whole lines, or in flow style all up to the next key."""
    if not isinstance(mapping, yaml.MappingNode):
        return
    entries: list[tuple[yaml.Node, yaml.Node]] = mapping.value
    for removed, group in groupby(range(len(entries)), lambda index: entries[index][0].value in names):
        indexes = list(group)
        first, last = indexes[0], indexes[-1]
        if not removed:
            continue
        if not mapping.flow_style:
            yield from (_line_of(text, *entries[index]) for index in indexes)
        elif last + 1 < len(entries):
            yield _without_comment(text, _start(entries[first][0]), _start(entries[last + 1][0]))
        else:
            yield _without_comment(text, _end(entries[first - 1][1]), _end(entries[last][1]))


def _line_of(text: str, key: yaml.Node, value: yaml.Node) -> TextEdit:
    start = text.rfind("\n", 0, _start(key)) + 1
    end = text.find("\n", _end(value)) + 1 or len(text)
    alone = not text[start : _start(key)].strip(" ") and "\n" not in text[_start(key) : _end(value)]
    if not alone or "#" in text[_end(value) : end]:
        raise NotEditable(f"would lose {key.value!r}, which is not alone on its line")
    return TextEdit(start, end, "")


def _without_comment(text: str, start: int, end: int) -> TextEdit:
    if "#" in text[start:end]:
        raise NotEditable("would lose a key that has a comment beside it")
    return TextEdit(start, end, "")


def _new_expectation(text: str, root: yaml.MappingNode, wanted: Sequence[Revision]) -> TextEdit:
    """Return the insertion of a complete expectation at the end of the file."""
    values = {str(change.path[0]): _plain(change.value) for change in wanted}
    if root.flow_style:
        end = _end(root.value[-1][1])
        return TextEdit(end, end, f', "expect": {json.dumps(values)}')
    end = min(_end(root), len(text))
    line_end = _line_end(text)
    before = "" if text[:end].endswith("\n") else line_end
    inner = ", ".join(f"{name}: {value}" for name, value in values.items())
    return TextEdit(end, end, f"{before}expect: {{{inner}}}{line_end}")


def _plain(value: str | int | Range | None) -> str | int:
    number = value.min if isinstance(value, Range) else value
    return number if isinstance(number, str) else _number(number)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _start(node: yaml.Node) -> int:
    return node.start_mark.index


def _end(node: yaml.Node) -> int:
    return node.end_mark.index


@dataclass(frozen=True, slots=True)
class Update:
    """The text of a file, perhaps unchanged, and the changes that were not made, with reasons."""

    text: str
    refused: tuple[str, ...] = ()


class _Refused(Exception):
    """An expectation is not changed; the text says why."""


def update(
    text: str, path: Path, seen: Mapping[str, Sequence[ObservedRun]], *, trouble: bool = False
) -> Update:
    """
    Return the text of a scenario file with unmet expectations changed to what was observed.

    ``seen`` has the observed values of each run of each item, by name of the item. With ``trouble``, bad
    verdicts such as ``livelock`` may become expected.

    Raises:
        ScenarioErrors: The text is not a valid scenario file.
    """
    scenarios = loads(text, path)
    strangers = seen.keys() - {scenario.id for scenario in scenarios}
    refused = [f"{name}: the file does not name that host" for name in sorted(strangers)]
    for place in dict.fromkeys(map(_place, scenarios)):
        try:
            text = _updated(text, path, place, seen, trouble)
        except (_Refused, Unclear) as why:
            refused.append(f"{'.'.join(place)}: {why}")
        except (NotEditable, ScenarioErrors) as why:
            refused.append(f"{'.'.join(place)}: {why}; change it by hand")
    return Update(text, tuple(refused))


def _place(scenario: Scenario) -> tuple[str, ...]:
    """Return the keys of an item's expectation: its variant's own, or the base's."""
    own = scenario.mark("expect") != "expect"
    return ("variants", scenario.variant, "expect") if own else ("expect",)


def _updated(
    text: str, path: Path, place: tuple[str, ...], seen: Mapping[str, Sequence[ObservedRun]], trouble: bool
) -> str:
    scenarios = loads(text, path)
    sharing = [scenario for scenario in scenarios if _place(scenario) == place]
    before = sharing[0].expect
    given = {scenario.id: runs[0] for scenario in sharing if (runs := seen.get(scenario.id))}
    if not given:
        return text
    after = revise(before, given, written=_is_written(sharing[0]))
    wanted = tuple(changes(before, after))
    if not wanted:
        return text
    for scenario in sharing:
        runs = seen.get(scenario.id, ())
        if not runs:
            raise _Refused(f"{scenario.id} shares this expectation and did not run to its end; run it too")
        if inconclusive := runs[0].inconclusive:
            raise _Refused(
                f"{scenario.id} had {', '.join(inconclusive)}, so its hooks did not decide; fix that first"
            )
        if any(run != runs[0] for run in runs):
            raise _Refused(f"{scenario.id} had different results in several runs")
    if after.verdict != before.verdict:
        _check(after.verdict, trouble)
    rewritten = rewrite(text, place, wanted)
    _compare(scenarios, loads(rewritten, path), place, after)
    return rewritten


def _is_written(scenario: Scenario) -> bool:
    return scenario.origin is not None and scenario.mark("expect") in scenario.origin.marks


def _check(verdict: VerdictName | None, trouble: bool) -> None:
    """Refuse a verdict that must not become expected only because it was observed."""
    if verdict == "undecided":
        raise _Refused("the verdict was undecided, which cannot be expected; allow more time or turns")
    if verdict in UNWANTED and not trouble:
        raise _Refused(f"the verdict was {verdict}; fix the hook, or accept it with --hook-update=all")


def _compare(
    before: Sequence[Scenario], after: Sequence[Scenario], place: tuple[str, ...], expect: Expectation
) -> None:
    """Raise ``NotEditable`` unless exactly one expectation changed, and changed as intended."""
    meant = [
        replace(scenario, origin=None, expect=expect if _place(scenario) == place else scenario.expect)
        for scenario in before
    ]
    if meant != [replace(scenario, origin=None) for scenario in after]:
        raise NotEditable("cannot be changed without changing something else")
