"""Malformed files, generated from the tables of keys: every key with every kind of mistake."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pytest_hookharness import scenario_files
from pytest_hookharness.scenario_files.json_schema import schema
from pytest_hookharness.scenario_files.keys.scenario import SCENARIO
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.choose_shape import takes
from pytest_hookharness.scenario_files.schema.shapes import (
    Anything,
    ChoiceShape,
    Either,
    FlagShape,
    Folder,
    Many,
    Named,
    Nothing,
    Number,
    RecordShape,
    Tagged,
    Text,
    Whole,
)
from pytest_hookharness.scenario_files.yaml import parser
from pytest_hookharness.scenario_files.yaml.elements import ListNode, ScalarNode, TableNode

VALIDATOR = jsonschema.Draft202012Validator(schema())


class Pairs(list):
    """A mapping as pairs, so that a key can occur twice."""


@dataclass
class Paper:
    """Writes values as YAML, and records the position of each."""

    lines: list[str] = field(default_factory=list)
    keys: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    values: dict[str, tuple[int, int]] = field(default_factory=dict)

    def write(self, value: Any, path: str, indent: int) -> None:
        pairs = list(value.items()) if isinstance(value, dict) else value
        if not isinstance(value, dict | list) or not value:
            self.lines = self.lines or [""]
            text = "null" if value is None else json.dumps(value, ensure_ascii=True)
            self.values.setdefault(path, (len(self.lines), len(self.lines[-1]) + 1))
            self.lines[-1] += text
        elif isinstance(value, dict | Pairs):
            self.begin(path, indent)
            for key, inner in pairs:
                self.line(indent)
                here = f"{path}.{key}" if path else key
                self.keys.setdefault(here, []).append((len(self.lines), indent + 1))
                self.lines[-1] += json.dumps(key) + ": "
                self.write(inner, here, indent + 2)
        else:
            self.begin(path, indent)
            for index, inner in enumerate(value):
                self.line(indent)
                self.lines[-1] += "- "
                self.write(inner, f"{path}[{index}]", indent + 2)

    def begin(self, path: str, indent: int) -> None:
        compact = bool(self.lines) and self.lines[-1].endswith("- ") and len(self.lines[-1]) == indent
        line = len(self.lines) + (0 if compact else 1)
        self.values.setdefault(path, (line, indent + 1))

    def line(self, indent: int) -> None:
        if not (self.lines and self.lines[-1].endswith("- ") and len(self.lines[-1]) == indent):
            self.lines.append(" " * indent)


def paper(value: Any) -> Paper:
    sheet = Paper()
    sheet.write(value, "", 0)
    return sheet


def element_of(value: Any) -> Any:
    if isinstance(value, dict):
        return TableNode(entries=())
    return ListNode(items=()) if isinstance(value, list) else ScalarNode(value=value)


def minimal(shape: Any) -> Any:
    """Return a small value that fits a shape."""
    match shape:
        case Text():
            assert good(shape, shape.example), shape
            return shape.example
        case ChoiceShape():
            return shape.words[0]
        case Whole():
            return shape.minimum or 0
        case Number():
            return 1
        case FlagShape():
            return shape.only is not False
        case Nothing():
            return None
        case Folder():
            return "."
        case Anything():
            return 1
        case Many():
            return [minimal(shape.item)] * max(1, shape.at_least)
        case Named():
            return {minimal(shape.key): minimal(shape.value)}
        case RecordShape():
            keys = [key for key in shape.keys if key.required] or shape.keys[: shape.at_least]
            return {key.name: minimal(key.shape) for key in keys}
        case Tagged():
            tag = next(tag for tag in shape.tags if tag.name in ("prompt", "run"))
            return {tag.name: minimal(tag.shape)}
        case Either():
            return minimal(shape.shapes[0])
    raise AssertionError(shape)


def good(shape: Text, word: str) -> bool:
    try:
        shape.read(word)
    except ValueError:
        return False
    return not shape.pattern or texts.matches(shape.pattern, word)


def contexts(
    shape: Any, wrap: Callable[[Any], Any], path: str, *, inner: bool = False
) -> Iterator[tuple[Any, Callable[[Any], Any], str, bool]]:
    """Yield every shape of the tables, with a function that puts a value there, and its key path."""
    yield shape, wrap, path, inner
    match shape:
        case RecordShape():
            base = minimal(shape)
            for key in shape.keys:
                yield from contexts(
                    key.shape,
                    lambda value, key=key: wrap({**base, key.name: value}),
                    f"{path}.{key.name}" if path else key.name,
                )
        case Many():
            yield from contexts(shape.item, lambda value: wrap([value]), f"{path}[0]")
        case Named():
            name = minimal(shape.key)
            yield from contexts(shape.value, lambda value: wrap({name: value}), f"{path}.{name}")
        case Either():
            for one in shape.shapes:
                yield from contexts(one, wrap, path, inner=True)
        case Tagged():
            for tag in shape.tags:
                yield from contexts(tag.shape, lambda v, tag=tag: wrap({tag.name: v}), f"{path}.{tag.name}")
                for key in tag.modifiers:
                    yield from contexts(
                        key.shape,
                        lambda v, tag=tag, key=key: wrap({tag.name: minimal(tag.shape), key.name: v}),
                        f"{path}.{key.name}",
                    )


@dataclass
class Case:
    """
    One malformed document.

    Attributes:
        kind: The kind of mistake.
        document: The document.
        path: The key path of the one problem.
        spot: Its line and column.
        words: Words of its message.
        nearest: Its suggestion.
        tellable: Whether JSON Schema can refuse it.
    """

    kind: str
    document: Any
    path: str
    spot: tuple[int, int]
    words: str
    nearest: str | None = None
    tellable: bool = True


def wrong_types(shape: Any, wrap: Any, path: str) -> Iterator[Case]:
    for value in ("text", 3, 2.5, True, None, [], {}):
        fits = takes(shape, element_of(value))
        known_by = isinstance(shape, Either) and isinstance(value, dict) and takes_a_mapping(shape)
        if not fits and not known_by:
            document = wrap(value)
            yield Case("type", document, path, paper(document).values[path], "expected ")
            return


def takes_a_mapping(shape: Either) -> bool:
    return any(isinstance(one, RecordShape | Named | Tagged) for one in shape.shapes)


def near_misses(shape: Any, wrap: Any, path: str) -> Iterator[Case]:
    match shape:
        case ChoiceShape():
            for word in shape.words:
                document = wrap(word + word[-1])
                yield Case("near", document, path, paper(document).values[path], "is not", word)
        case Text():
            wrong = [word for word in ("", "../x", "/x", "a b", "(", "x") if not good(shape, word)]
            if wrong:
                document = wrap(wrong[0])
                tellable = not shape.format
                yield Case("near", document, path, paper(document).values[path], "", tellable=tellable)
        case Whole(minimum=int() as least):
            document = wrap(least - 1)
            yield Case("near", document, path, paper(document).values[path], "out of range")
        case Named(key=key):
            wrong = [word for word in ("", "../x", "a b", "a/b") if not good(key, word)]
            if wrong:
                document = wrap({wrong[0]: minimal(shape.value)})
                where = f"{path}.{wrong[0]}"
                yield Case("near", document, where, paper(document).keys[where][0], "")


def wrong_keys(shape: RecordShape, wrap: Any, path: str) -> Iterator[Case]:
    base = minimal(shape)
    for key in shape.keys:
        strange = key.name + key.name[-1]
        document = wrap({**base, strange: minimal(key.shape)})
        where = f"{path}.{strange}" if path else strange
        meant = bool(shape.known_by) and not base
        if not meant:
            yield Case(
                "unknown", document, where, paper(document).keys[where][0], "unknown key", nearest=key.name
            )
        there = {**base, key.name: minimal(key.shape)}
        document = wrap(Pairs([*there.items(), (key.name, there[key.name])]))
        where = f"{path}.{key.name}" if path else key.name
        spot = paper(document).keys[where][1]
        yield Case("duplicate", document, where, spot, "is written twice", tellable=False)
        if key.required:
            document = wrap({name: value for name, value in base.items() if name != key.name})
            sheet = paper(document)
            if sheet.lines:
                spot = sheet.values.get(path, (1, 1))
                yield Case("missing", document, path, spot, f'"{key.name}" is missing')


def generated() -> Iterator[Any]:
    """Yield all malformed documents."""
    for shape, wrap, path, inner in contexts(SCENARIO, lambda value: value, ""):
        if path:
            cases = [*near_misses(shape, wrap, path), *([] if inner else wrong_types(shape, wrap, path))]
        else:
            cases = []
        if isinstance(shape, RecordShape):
            cases += wrong_keys(shape, wrap, path)
        if path.startswith("variants.before-the-fix."):
            # A variant has the same tables; its own keys are enough.
            cases = [case for case in cases if case.path.count(".") + case.path.count("[") <= 3]
        yield from cases


CASES = list(generated())


def report(document: Any) -> tuple[scenario_files.ScenarioProblem, ...]:
    text = "\n".join(paper(document).lines) + "\n"
    with pytest.raises(scenario_files.ScenarioErrors) as caught:
        scenario_files.loads(text, Path(__file__).parent / "x.scenario.yaml")
    return caught.value.problems


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def test_there_are_many_cases_of_each_kind():
    """The tables give hundreds of malformed files, of all five kinds."""
    kinds = [case.kind for case in CASES]

    assert {kind: kinds.count(kind) >= 10 for kind in kinds} == dict.fromkeys(
        ("unknown", "duplicate", "missing", "type", "near"), True
    )
    assert len(CASES) > 500


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["unknown", "duplicate", "missing", "type", "near"])
def test_each_mistake_is_the_only_problem(kind):
    """A file with one mistake has one problem, with the exact line, column, key path and suggestion."""
    wrong = []
    for case in CASES:
        if case.kind != kind:
            continue
        problems = report(case.document)
        seen = [(one.path, (one.line, one.column)) for one in problems]
        if kind == "duplicate":
            # The first of the two keys still counts, and may need other keys to make sense.
            seen = [one for one in seen if one == (case.path, case.spot)]
            problems = [one for one in problems if (one.path, (one.line, one.column)) in seen]
        fits = seen == [(case.path, case.spot)] and case.words in problems[0].message
        if not fits or case.nearest not in (None, problems[0].nearest):
            wrong.append((case, [str(problem) for problem in problems]))

    assert wrong == []


@pytest.mark.slow
def test_the_schema_refuses_what_the_loader_refuses():
    """The exported JSON Schema refuses every structural mistake too."""
    passed = [
        case
        for case in CASES
        if case.tellable and case.kind != "duplicate" and VALIDATOR.is_valid(plain(case.document))
    ]

    assert passed == []


@pytest.mark.slow
def test_both_parsers_report_the_same_problems(monkeypatch):
    """Without libyaml the problems are the same, with the same lines and columns."""
    sample = CASES[::7]
    fast = [report(case.document) for case in sample]
    monkeypatch.setattr(parser, "LOADER", yaml.SafeLoader)
    slow = [report(case.document) for case in sample]

    assert fast == slow


@pytest.mark.nightly
def test_plain_data_gives_the_same_problems_without_lines():
    """A mapping in Python code has the problems of the same file, but no lines."""
    for case in CASES:
        if case.kind == "duplicate" or "variants" in case.document:
            continue
        with pytest.raises(scenario_files.ScenarioErrors) as caught:
            scenario_files.scenario_from(case.document, path=Path(__file__).parent / "x.scenario.yaml")
        found = [(one.path, one.line, one.nearest) for one in caught.value.problems]

        assert found == [(one.path, 0, one.nearest) for one in report(case.document)]
