"""Laws of loading, for all texts, all bytes and all valid mappings."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from pytest_hookharness import scenario_files
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files.json_schema import schema
from pytest_hookharness.scenario_files.keys.scenario import SCENARIO
from pytest_hookharness.scenario_files.schema import texts
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
from pytest_hookharness.scenario_files.yaml import elements, parser

HERE = Path(__file__).parent / "x.scenario.yaml"
VALIDATOR = jsonschema.Draft202012Validator(schema())
QUIET = settings(
    max_examples=100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# Pieces that mean something in YAML or in a scenario, so that random texts are useful.
PIECES = some.sampled_from(
    [
        *(
            "name: a\n",
            "agent:\n",
            "- ",
            "  ",
            "\t",
            ": ",
            "? ",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "&a ",
            "*a",
            "!!x ",
            "<<: ",
        ),
        *(
            "|\n",
            ">-\n",
            "'",
            '"',
            "#",
            "---\n",
            "...\n",
            "%YAML 1.2\n",
            "\n",
            "\r",
            "\x85",
            "\ufeff",
            "\\u",
            "\0",
        ),
        *("stop: x\n", "expect: {", "verdict: ", "hooks:\n", "1e999", "0o9", ".nan", "\U0001f600", "\ud800"),
        "files: {a: b}",
    ]
)
TEXTS = some.lists(PIECES | some.text(max_size=5), max_size=30).map("".join)
PLAIN = some.text(
    some.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufffe\uffff")
)
JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**60), 2**60) | some.floats(-1e9, 1e9) | PLAIN,
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(PLAIN, inner, max_size=2),
    max_leaves=4,
)


def values(shape):
    """Return a strategy for the values that fit a shape."""
    match shape:
        case Text() if not shape.pattern and not shape.format:
            return PLAIN
        case Text():
            return some.sampled_from([shape.example, shape.example + "x", "7s", "ab/c", "0644"]).filter(
                lambda text: fits(shape, text)
            )
        case ChoiceShape(words=words):
            return some.sampled_from(words)
        case Whole(octal=True):
            # Files mean digits as chmod does, Python code means a number.
            return some.just(0)
        case Whole(minimum=least, maximum=most):
            return some.integers(least, 300 if most is None else min(most, 300))
        case Number():
            return some.floats(0, 1e6)
        case FlagShape(only=None):
            return some.booleans()
        case FlagShape(only=only):
            return some.just(only)
        case Nothing():
            return some.none()
        case Folder():
            return some.just(".")
        case Anything():
            return JSON
        case Many(item=item, at_least=least, unique=unique):
            return some.lists(values(item), min_size=least, max_size=2, unique_by=repr if unique else None)
        case Named(key=key, value=value, single=single):
            return some.dictionaries(values(key), values(value), min_size=1 if single else 0, max_size=1)
        case RecordShape():
            return some.fixed_dictionaries(
                {key.name: values(key.shape) for key in shape.keys if key.required},
                optional={key.name: values(key.shape) for key in shape.keys if not key.required},
            )
        case Tagged(tags=tags):
            return some.one_of(
                some.fixed_dictionaries(
                    {tag.name: values(tag.shape)},
                    optional={key.name: values(key.shape) for key in tag.modifiers},
                )
                for tag in tags
            )
        case Either(shapes=shapes):
            return some.one_of(values(one) for one in shapes)
    raise AssertionError(shape)


def fits(shape, text):
    try:
        shape.read(text)
    except ValueError:
        return False
    return not shape.pattern or texts.matches(shape.pattern, text)


# Few keys at a time: a document of all of them hardly ever makes sense as a whole.
KEYS = {key.name: key.shape for key in SCENARIO.keys if key.name != "name"}
DOCUMENTS = some.sets(some.sampled_from(sorted(KEYS)), max_size=3).flatmap(
    lambda names: some.fixed_dictionaries(
        {"name": some.just("a"), **{one: values(KEYS[one]) for one in sorted(names)}}
    )
)


def outcome(call):
    """Return the scenarios or problems of a call; any other exception is an error."""
    try:
        return call()
    except scenario_files.ScenarioErrors as errors:
        found = errors
    assert found.problems
    assert str(found)
    return found


@pytest.mark.slow
@QUIET
@given(TEXTS)
def test_any_text_gives_scenarios_or_problems(text):
    """Loading any text gives scenarios or problems, and nothing else."""
    found = outcome(lambda: scenario_files.loads(text, HERE))

    assert isinstance(found, tuple | scenario_files.ScenarioErrors)


@pytest.mark.slow
@QUIET
@given(TEXTS)
def test_any_text_gives_the_same_without_libyaml(text):
    """Loading any text with PyYAML's own parser gives scenarios or problems too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "LOADER", parser.yaml.SafeLoader)
        found = outcome(lambda: scenario_files.loads(text, HERE))

    assert isinstance(found, tuple | scenario_files.ScenarioErrors)


@pytest.mark.slow
@QUIET
@given(some.binary(max_size=200) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_scenarios_or_problems(tmp_path_factory, data):
    """Loading a file of any bytes gives scenarios or problems, and nothing else."""
    file = tmp_path_factory.getbasetemp() / "any.scenario.yaml"
    file.write_bytes(data)
    found = outcome(lambda: scenario_files.load(file))

    assert isinstance(found, tuple | scenario_files.ScenarioErrors)


@pytest.mark.slow
@QUIET
@given(JSON)
def test_any_value_gives_a_scenario_or_problems(data):
    """Any plain data gives a scenario or problems."""
    assert isinstance(
        outcome(lambda: scenario_files.scenario_from(data)), Scenario | scenario_files.ScenarioErrors
    )


@pytest.mark.nightly
@QUIET
@given(DOCUMENTS)
def test_a_fitting_mapping_round_trips(document):
    """A mapping that fits the tables becomes the same scenarios from Python and from a file."""
    text = json.dumps(document, ensure_ascii=False)
    read = outcome(lambda: scenario_files.loads(text, HERE))
    if "variants" in document or len(document.get("host", "")) == 2:
        return
    given_plainly = outcome(lambda: scenario_files.scenario_from(document, path=HERE))
    if isinstance(read, scenario_files.ScenarioErrors):
        expected = [(one.path, one.nearest) for one in given_plainly.problems]
        assert sorted(expected, key=str) == sorted(
            ((one.path, one.nearest) for one in read.problems), key=str
        )
    else:
        assert replace(read[0], origin=None) == replace(given_plainly, origin=None)


@pytest.mark.nightly
@QUIET
@given(DOCUMENTS)
def test_what_fits_the_tables_is_valid_by_the_schema(document):
    """A document that the loader accepts is valid by the exported JSON Schema."""
    if not isinstance(
        outcome(lambda: scenario_files.loads(json.dumps(document, ensure_ascii=False), HERE)), tuple
    ):
        return

    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


@pytest.mark.slow
@QUIET
@given(some.text(max_size=12) | some.from_regex(r"\A[-./a]{1,8}\Z"))
def test_paths_inside_the_workspace_stay_there(text):
    """An accepted path is relative and never leaves the workspace."""
    if texts.matches(texts.INSIDE, text):
        path = Path("/w", texts.read_inside(text))
        assert ".." not in path.parts
        assert path.is_relative_to("/w")
        assert path != Path("/w")


@QUIET
@given(some.text(alphabet="0123456789abcdefox.+-eE_:", max_size=8))
def test_a_number_is_a_number_for_json_too(text):
    """A scalar that becomes a number survives JSON unchanged."""
    value = outcome_of_scalar(text)

    assert json.loads(json.dumps(value, allow_nan=False)) == value


def outcome_of_scalar(text):
    try:
        return elements.resolve(text)
    except ValueError:
        return None
