"""Expectations in files that are updated to the observed values, while everything else stays."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from pytest_hookharness.judging.findings.finding_catalogue import NOT_RUN
from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.scenario_files import loads
from pytest_hookharness.scenario_files.update.revise import ObservedRun, Revision
from pytest_hookharness.scenario_files.update.update import rewrite, update

HERE = Path(__file__).parent / "x.scenario.yaml"
BASE = "x[claude-code]"
SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").rglob("*.scenario.yaml"))


def saw(verdict="terminated", iterations=2, blocks=1, reasons=("run the tests",), unmet=()):
    """Return the observed values of one item; the blocks are those of stops."""
    return ObservedRun(
        verdict=verdict, iterations=iterations, blocks={"Stop": blocks}, reasons=reasons, unmet=unmet
    )


def updated(text, *runs, trouble=False, **seen):
    """Return text and refusals after an update with values of the base and other items."""
    variants = {f"x[{name.replace('_', '-')}]": [one] for name, one in seen.items()}
    made = update(text, HERE, {BASE: list(runs), **variants} if runs else variants, trouble=trouble)
    return made.text, made.refused


def test_hooks_that_did_not_run_change_no_expectation():
    """Values of a run whose hooks could not start do not become expected."""
    text = "name: x\nexpect: {verdict: livelock}"

    assert updated(text, replace(saw(), inconclusive=("NOT-RUN",))) == (
        text,
        ("expect: x[claude-code] had NOT-RUN, so its hooks did not decide; fix that first",),
    )


@pytest.mark.parametrize("wanted", [(), ("NOT-RUN",)])
def test_observed_values_survive_json(wanted):
    """Observed values are the same after JSON, and include findings that are not expected."""
    expect = Expectation(verdict="terminated", findings=wanted)
    outcome = Outcome(
        scenario=Scenario(name="x", expect=expect),
        host="claude-code",
        trace=Trace(),
        verdict=Terminated(turn=1),
        findings=(NOT_RUN.found("./x is not there"),),
    )
    seen = ObservedRun.of(outcome)

    assert seen.inconclusive == (() if wanted else ("NOT-RUN",))
    assert ObservedRun.from_json(json.loads(json.dumps(seen.to_json()))) == seen


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ("name: x\nexpect:\n  within: 1 # why\n", "name: x\nexpect:\n  within: 2 # why\n", saw()),
        ("name: x\nexpect: {blocks: 9}\n", "name: x\nexpect: {blocks: 1}\n", saw()),
        ("name: x\nexpect: {blocks: {Stop: 3}}", "name: x\nexpect: {blocks: {Stop: 1}}", saw()),
        ("name: x\nexpect: {blocks: {min: 2}}", "name: x\nexpect: {blocks: {min: 1}}", saw()),
        (
            "name: x\nexpect:\n  blocks:\n    max: 0\n    min: 0\n",
            "name: x\nexpect:\n  blocks:\n    max: 1\n    min: 1\n",
            saw(),
        ),
        (
            "name: x\nexpect: {blocks: {Stop: {min: 0, max: 3}}}",
            "name: x\nexpect: {blocks: {Stop: {min: 0, max: 7}}}",
            saw(blocks=7),
        ),
        ("name: x\nexpect: {verdict: livelock}", "name: x\nexpect: {verdict: terminated}", saw()),
        ("name: x\nexpect: {verdict: 'livelock'}", "name: x\nexpect: {verdict: 'terminated'}", saw()),
        ('{"name": "x", "expect": {"within": 1}}', '{"name": "x", "expect": {"within": 2}}', saw()),
        (
            "name: x\nexpect: {reasons: never}\n",
            "name: x\nexpect: {reasons: run the tests}\n",
            saw(unmet=(0,)),
        ),
        (
            "name: x\nexpect:\n  reasons:\n  - tests\n  - 'never' # one\n",
            "name: x\nexpect:\n  reasons:\n  - tests\n  - 'it''s \\[no\\]' # one\n",
            saw(reasons=("run the tests", "\n it's [no]\nmore"), unmet=(1,)),
        ),
        (
            'name: x\nexpect: {reasons: ["never"]}\n',
            'name: x\nexpect: {reasons: ["say: \\"no\\" \\U0000202e"]}\n',
            saw(reasons=('say: "no" \u202e',), unmet=(0,)),
        ),
        ("\ufeffname: x\r\nexpect: {within: 1}\r\n", "\ufeffname: x\r\nexpect: {within: 2}\r\n", saw()),
    ],
)
def test_unmet_expectations_are_changed(before, after, seen):
    """An unmet expectation becomes the observed value, and each other byte of the file stays."""
    assert updated(before, seen) == (after, ())


@pytest.mark.parametrize(
    "text",
    [
        "name: x\n",
        "name: x\nexpect: {}\n",
        "name: x\nexpect: {within: 2, blocks: 1, reasons: tests}\n",
        "name: x\nexpect: {blocks: {min: 0, max: 1}, verdict: terminated}\n",
        "name: x\nexpect: {findings: [HUNG-HOOK]}\n",
    ],
)
def test_other_values_stay(text):
    """Met expectations, and values that are not expected, are not written."""
    assert updated(text, saw()) == (text, ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: x", "name: x\nexpect: {verdict: livelock, within: 2, blocks: 1}\n"),
        (
            "name: x\r\nwhy: y\r\n",
            "name: x\r\nwhy: y\r\nexpect: {verdict: livelock, within: 2, blocks: 1}\r\n",
        ),
        (
            "name: x\nwhy: |\n  b\n\n# the end\n...\n",
            "name: x\nwhy: |\n  b\n\n# the end\nexpect: {verdict: livelock, within: 2, blocks: 1}\n...\n",
        ),
        ('{"name": "x"}', '{"name": "x", "expect": {"verdict": "livelock", "within": 2, "blocks": 1}}'),
        ("name: x\nexpect: {}", "name: x\nexpect: {verdict: livelock}"),
        ("name: x\nexpect: { within: 3 }", "name: x\nexpect: { verdict: livelock, within: 3 }"),
        (
            '{"name": "x", "expect": {"within": 3}}',
            '{"name": "x", "expect": {"verdict": "livelock", "within": 3}}',
        ),
        (
            "name: x\nexpect: # that\n    # this\n    within: 3\n",
            "name: x\nexpect: # that\n    # this\n    verdict: livelock\n    within: 3\n",
        ),
        (
            "name: x\r\nexpect:\r\n  within: 3\r\n",
            "name: x\r\nexpect:\r\n  verdict: livelock\r\n  within: 3\r\n",
        ),
    ],
)
def test_a_verdict_that_was_not_written(before, after):
    """A new verdict is written before the other keys, or with turns and refusals if there are no keys."""
    assert updated(before, saw("livelock"), trouble=True) == (after, ())


@pytest.mark.parametrize("verdict", ["livelock", "hung", "recursing", "lockout", "capped", "undecided"])
def test_bad_verdicts_need_a_request(verdict):
    """A livelock and other bad verdicts become expected only on request, and undecided never does."""
    text = "name: x\nexpect: {within: 9}\n"
    assert update(text, HERE, {BASE: [saw(verdict)]}).text == text
    asked, refused = updated(text, saw(verdict), trouble=True)

    assert (asked == text) is (verdict == "undecided") is bool(refused)


def test_an_expected_livelock_can_be_updated():
    """Other keys of an expected livelock are changed without a request."""
    text = "name: x\nexpect: {verdict: livelock, blocks: 9}\n"

    assert updated(text, saw("livelock")) == (text.replace("9", "1"), ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{verdict: livelock, period: 1, evidence: closed}", "{verdict: terminated}"),
        ("{period: 1, verdict: livelock , guard: none }", "{verdict: terminated }"),
        ("{period: 1, evidence: closed, verdict: livelock, within: 9}", "{verdict: terminated, within: 9}"),
        ("{verdict: livelock, guard: {overrides: 9}, within: 9}", "{verdict: terminated, within: 9}"),
        (
            "\n  verdict: livelock\n  # a\n  period: 1\n  within: 9",
            "\n  verdict: terminated\n  # a\n  within: 9",
        ),
        ("\n  guard: none\n  verdict: livelock\n  period: 1", "\n  verdict: terminated"),
    ],
)
def test_keys_of_a_former_livelock_are_removed(before, after):
    """Keys about a livelock are removed with it."""
    assert updated(f"name: x\nexpect: {before}\nenv: {{}}\n", saw()) == (
        f"name: x\nexpect: {after}\nenv: {{}}\n",
        (),
    )


def test_the_cap_stays_if_it_ended_the_loop():
    """The expectation about the cap stays if the cap ended the loop."""
    text = "name: x\nexpect: {verdict: livelock, period: 1, guard: {overrides: 9}}\n"

    assert updated(text, saw("capped"), trouble=True) == (
        "name: x\nexpect: {verdict: capped, guard: {overrides: 9}}\n",
        (),
    )


VARIANTS = "name: x\nexpect: {within: 1}\nvariants:\n  own: {expect: {blocks: 5}}\n  same: {env: {A: b}}\n"


def test_an_inherited_expectation_belongs_to_all():
    """The base's expectation is updated from the base and its heirs, and not from variants with their own."""
    text, refused = updated(VARIANTS, saw(), own_claude_code=saw(), same_claude_code=saw(iterations=7))

    assert (text, refused) == (
        VARIANTS.replace("within: 1", "within: 7").replace("blocks: 5", "blocks: 1"),
        (),
    )


def test_an_item_that_did_not_run():
    """An expectation shared by an item that did not run is not changed, and all other expectations are."""
    text, refused = updated(VARIANTS, saw(), own_claude_code=saw())

    assert text == VARIANTS.replace("blocks: 5", "blocks: 1")
    assert refused == (
        "expect: x[same-claude-code] shares this expectation and did not run to its end; run it too",
    )


@pytest.mark.parametrize(
    ("expectation", "other", "word"),
    [
        (
            "within: 9",
            saw("livelock"),
            "verdicts differ: x[claude-code] had terminated, x[codex] had livelock",
        ),
        ("blocks: 9", saw(blocks=3), "blocks differ: x[claude-code] had 1, x[codex] had 3"),
        ("blocks: {Stop: 9}", saw(blocks=3), "blocks of Stop differ"),
        ("reasons: never", saw(reasons=("other",), unmet=(0,)), "1 patterns match no reason"),
    ],
)
def test_hosts_that_disagree(expectation, other, word):
    """If the hosts of one file have different values, nothing is written and each is named."""
    text = f"name: x\nhost: [claude-code, codex]\nexpect: {{{expectation}}}\n"

    after, (refused,) = updated(text, saw(unmet=(0,) if "reasons" in expectation else ()), codex=other)

    assert after == text
    assert word in refused


def test_runs_that_differ():
    """An item that had different results in several runs is not used."""
    text = "name: x\nexpect: {within: 1}\n"

    after, (refused,) = updated(text, saw(), saw(iterations=3))

    assert after == text
    assert "had different results" in refused


def test_a_host_that_the_file_does_not_name():
    """Values of a host that the file does not name are not written."""
    text = "name: x\nexpect: {within: 1}\n"

    assert updated(text, codex=saw()) == (text, ("x[codex]: the file does not name that host",))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("name: x\nexpect:\n  verdict: |-\n    livelock\n", "written as a block of lines"),
        ("name: x\nexpect:\n  verdict: livelock\n  period: 1 # why\n", "not alone on its line"),
        ("name: x\nexpect: {verdict: livelock, # why\n  period: 1}\n", "a key that has a comment beside it"),
        ("name: x\nwhy: |\n  without an end", ""),
    ],
)
def test_values_that_cannot_be_changed_alone(text, word):
    """A change that would need or cause another one is left to the author."""
    after, (refused,) = updated(text, saw("terminated" if word else "livelock"), trouble=True)

    assert after == text
    assert word in refused


def test_a_mistake_of_the_editor_is_detected(monkeypatch):
    """A changed text with another meaning than intended is not used."""
    text = "name: x\nwhy: y\nexpect: {within: 1}\n"
    slip = "pytest_hookharness.scenario_files.update.update.rewrite"
    monkeypatch.setattr(slip, lambda *given: rewrite(*given).replace("why: y", "why: z"))

    after, (refused,) = updated(text, saw())

    assert after == text
    assert "without changing something else" in refused


def laid_out(chance, pairs, depth):
    """Return a strategy for block mappings with random comments, blank lines and spaces."""
    indent = " " * depth
    for key, value in pairs:
        for _ in range(chance.randrange(3)):
            yield chance.choice(
                [f"{indent}# {key}: 1", "", f"{' ' * chance.randrange(9)}# ü 'quote\" [", "  "]
            )
        tail = chance.choice(["", " ", "  # within: 1", "\t# x"])
        if isinstance(value, list):
            yield f"{indent}{key}:{tail}"
            yield from laid_out(chance, value, depth + chance.choice([1, 2, 5]))
        else:
            yield f"{indent}{key}:{' ' * chance.randrange(1, 4)}{value}{tail}"


@pytest.mark.slow
@settings(max_examples=60, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.integers(0, 2**32), some.sampled_from(["\n", "\r\n"]))
def test_only_the_value_changes(seed, line_end):
    """In any layout, only the characters of the changed value change."""
    chance = random.Random(seed)  # noqa: S311 - layouts are no secrets
    word = chance.choice(["livelock", "'livelock'", '"livelock"'])
    numbers = [("min", "1"), ("max", "2")]
    blocks = chance.choice(["7", "{Stop: 7}", [("Stop", "7")], [("Stop", numbers)], numbers])
    expectation = [("verdict", word), ("within", "1"), ("blocks", blocks)]
    chance.shuffle(expectation)
    parts = [
        ("name", "x"),
        ("why", "'within: 1 # livelock'"),
        ("expect", expectation),
        ("env", [("A", '"1"')]),
    ]
    chance.shuffle(parts)
    text = chance.choice(["", "\ufeff"]) + line_end.join(laid_out(chance, parts, 0)) + line_end

    after, refused = updated(text, saw(iterations=3, blocks=9))

    old, new = text.splitlines(), after.splitlines()
    changed = [(was, now) for was, now in zip(old, new, strict=True) if was != now]
    assert refused == ()
    assert 3 == len(changed)
    assert after.count(line_end) == text.count(line_end)
    values = (("livelock", "terminated"), ("7", "9"), ("2", "9"), ("1", "3"))
    assert all(any(was.replace(*value, 1) == now for value in values) for was, now in changed), changed
    (before,), (loaded,) = loads(text, HERE), loads(after, HERE)
    assert replace(before, expect=loaded.expect, origin=None) == replace(loaded, origin=None)
    assert (loaded.expect.verdict, loaded.expect.within) == ("terminated", 3)


def test_an_open_range_stays_open():
    """An open end of a range is not filled in."""
    text = "name: x\nexpect: {blocks: {max: 1}}\n"

    assert rewrite(text, ("expect",), [Revision(("blocks",), Range(None, 4))]) == text.replace("1", "4")


@pytest.mark.nightly
@pytest.mark.parametrize("verdict", ["terminated", "hung"])
@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_shipped_scenarios_can_be_updated(file, verdict):
    """Shipped scenarios are updated to the observed values, and a second update changes nothing."""
    text = file.read_bytes().decode()
    scenarios = loads(text, file)
    said = tuple(f"other words {number}" for number in range(9))

    def seen(unmet):
        one = {"iterations": 999, "blocks": 77, "reasons": said}
        return {
            item.id: [saw(verdict, **one, unmet=tuple(range(len(item.expect.reasons))) if unmet else ())]
            for item in scenarios
        }

    made = update(text, file, seen(unmet=True), trouble=True)

    assert made.refused == ()
    assert update(made.text, file, seen(unmet=False), trouble=True) == replace(made, refused=())
