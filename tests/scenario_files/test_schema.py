"""The exported JSON Schema: it is the shipped one, and it agrees with the loader."""

import json
from pathlib import Path

import fastjsonschema
import jsonschema
import pytest

import pytest_hookharness
from pytest_hookharness import scenario_files
from pytest_hookharness.scenario_files.json_schema import schema
from pytest_hookharness.scenario_files.keys import scenario
from pytest_hookharness.scenario_files.schema import texts as patterns
from pytest_hookharness.scenario_files.schema.shapes import Either, Many, Named, RecordShape, Tagged, Text

SHIPPED = Path(pytest_hookharness.__path__[0]) / "scenario.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(schema())

VALID = [
    {"name": "a"},
    {"name": "a", "host": ["x", "y@1.2"], "project": ".", "git": True, "world": {"network": False}},
    {"name": "a", "hooks": ".claude/settings.json", "modes": {"x": "0755", "y": 4755}},
    {"name": "a", "hooks": {"Stop": "./x.sh"}, "env": {"A_1": ""}, "files": {"./a/b": ""}},
    {"name": "a", "agent": [{"prompt": "x"}, {"say": "y"}, {"run": "z", "expect": "ask", "result": "r"}]},
    {"name": "a", "agent": [{"compact": None}, {"resume": None}, {"wait": "2h"}, {"end": None}]},
    {"name": "a", "agent": [{"tool": [{"name": "X"}, {"name": "Y", "input": {"a": [1]}}]}]},
    {"name": "a", "agent": [{"corrupt": {"file": "x", "how": "bom"}}, {"then": {"fixing": {"after": 2}}}]},
    {"name": "a", "when": [{"do": [{"stop": "x"}]}], "turns": 1.0, "hook_timeout": 0.5},
    {"name": "a", "expect": {"blocks": {"Stop": {"min": 1}}, "guard": {"overrides": 2}, "reasons": "x"}},
    {"name": "a", "expect": {"told": "x", "effects": {"Stop:allow": ["a/b"]}, "sessions_alike": True}},
    {"name": "a", "variants": {"v": {"expect": {"verdict": "livelock", "period": 1}}}},
    {"name": "a", "env": {"A": "1"}, "git": True, "variants": {"v": {"env": {"A": None}, "git": None}}},
    {"name": "a", "world": {"home": {"b": "c"}}, "variants": {"v": {"world": {"home": {"b": None}}}}},
    {"name": "a", "expect": {"blocks": 1}, "variants": {"v": {"expect": None}, "w": {}}},
    {"name": "a", "agent": [{"edit": {"file": "sub/../x", "text": "y"}}, {"read": "./a/../b"}]},
    {"name": "a", "mask": ["tmp/**", {"file": "x", "keys": ["k"]}], "world": {"cover": ["/opt"]}},
    {"name": "a", "terminal": True, "variants": {"v": {"terminal": [{"expect": "N.*:", "send": "x"}]}}},
    {"name": "a", "parallel": {"event": "Stop", "counts": {"file": "n", "json": "a.b"}}},
    {"name": "a", "parallel": {"event": "Stop"}},
    {"name": "a", "parallel": {"width": 4, "hook": "count"}},
    {"name": "a", "explore": True, "expect": {"verdict": "lockout", "way_in": []}},
    {"name": "a", "explore": {"moves": [{"run": "x"}], "states": 9, "time": "3s"}},
    {
        "name": "a",
        "parallel": {
            "event": "Stop",
            "width": 2,
            "waves": 2,
            "apart": "30ms",
            "hook": "x",
            "counts": [{"file": "n", "lines": True}],
        },
    },
]
REFUSED = [
    {},
    [],
    {"name": "a", "agent": [{"prompt": "x", "stop": "y"}]},
    {"name": "a", "agent": [{}]},
    {"name": "a", "agent": [{"then": {"a": {}, "b": {}}}]},
    {"name": "a", "when": [{"do": [{"wait": "1s"}]}]},
    {"name": "a", "when": [{"do": []}]},
    {"name": "a", "files": {"../x": ""}},
    {"name": "a", "env": {"A": None}},
    {"name": "a", "git": None},
    {"name": "a", "variants": {"v": {"env": {"A": [None]}}}},
    {"name": "a", "variants": {"v": None}},
    {"name": "a", "agent": [{"read": "/etc/passwd"}]},
    {"name": "a", "host": ["x", "x"]},
    {"name": "a", "mask": [{"file": "x", "keys": ["k"], "text": "t"}]},
    {"name": "a", "expect": {"blocks": {}, "leftovers": {}}},
    {"name": "a", "expect": {"effects": {"Stop": ["../a"]}}},
    {"name": "a", "expect": {"sessions": "different"}},
    {"name": "a", "variants": {"v": {"name": "b"}}},
    {"name": "a", "modes": {"x": 10000}},
    {"name": "a", "terminal": []},
    {"name": "a", "parallel": {"counts": {"file": "n", "lines": True}}},
    {"name": "a", "parallel": {"event": "Stop", "apart": "30ms"}},
    {"name": "a", "vary": ["wide"]},
    {"name": "a", "explore": {"moves": []}},
    {"name": "a", "explore": {"moves": [{"prompt": "x"}]}},
    {"name": "a", "explore": {"states": 0}},
    {"name": "a", "parallel": {"event": "Stop", "counts": {"file": "n", "lines": True, "json": "a"}}},
    {"name": "a", "parallel": {"event": "Stop", "width": 0, "counts": {"file": "n", "lines": True}}},
    {"name": "a", "terminal": [{"expect": "("}]},
]


def texts(shape):
    """Yield every text shape of the tables."""
    match shape:
        case Text():
            yield shape
        case RecordShape():
            for key in shape.keys:
                yield from texts(key.shape)
        case Many():
            yield from texts(shape.item)
        case Named():
            yield shape.key
            yield from texts(shape.value)
        case Either():
            for one in shape.shapes:
                yield from texts(one)
        case Tagged():
            for tag in shape.tags:
                yield from texts(tag.shape)


def described(schema):
    """Yield the description of every key in a schema, empty if it has none; references are left out."""
    match schema:
        case {"properties": properties}:
            keys = {name: value for name, value in properties.items() if "$ref" not in value}
            yield from (value.get("description", "") for value in keys.values())
        case _:
            pass
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for value in inner:
        yield from described(value)


def test_the_shipped_schema_is_the_exported_one():
    """The file in the package equals the export; ``nox -s pages`` writes it again."""
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == schema()


@pytest.mark.nightly
def test_the_schema_is_a_valid_schema():
    """The export follows draft 2020-12, and other validators can compile it."""
    jsonschema.Draft202012Validator.check_schema(schema())
    older = {**schema(), "$schema": "http://json-schema.org/draft-07/schema#"}

    assert callable(fastjsonschema.compile(older))


@pytest.mark.parametrize("document", VALID)
def test_loader_and_schema_accept_the_same(document):
    """A valid document is valid for both."""
    scenario_files.loads(json.dumps(document), Path("x.scenario.yaml"))

    assert list(VALIDATOR.iter_errors(document)) == []


@pytest.mark.parametrize("document", REFUSED)
def test_loader_and_schema_refuse_the_same(document):
    """A malformed document is malformed for both."""
    with pytest.raises(scenario_files.ScenarioErrors):
        scenario_files.loads(json.dumps(document), Path("x.scenario.yaml"))

    assert not VALIDATOR.is_valid(document)


def test_every_key_is_described():
    """Each key, at any depth, has a description of one sentence for editors."""
    top = schema()
    descriptions = [text for part in (top, *top["$defs"].values()) for text in described(part)]

    assert len(descriptions) > 150
    assert [text for text in descriptions if not text.endswith(".") or "``" in text or len(text) < 10] == []


def test_every_example_is_valid():
    """The examples in messages are accepted."""
    for shape in texts(scenario.SCENARIO):
        shape.read(shape.example)

        assert not shape.pattern or patterns.matches(shape.pattern, shape.example)
