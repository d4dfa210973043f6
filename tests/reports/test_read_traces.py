"""Trace files that are read back, and invalid ones that are refused with file and line."""

import json

import pytest

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.markdown.incident import unfinished
from pytest_hookharness.reports.terminal.table import render_table
from pytest_hookharness.reports.trace import read, records
from pytest_hookharness.reports.trace.read import UnreadableTrace, read_run, row

SCENARIO = Scenario(name="lint", variant="old")
BEGIN = records.begin(
    SCENARIO, records.TraceHeader(id="a::b`", front_end="pytest", host="claude-code", tier=Tier.GROUP)
)
STATE = records.state(1, records.State())
STEP = {
    "record": "step",
    "number": 1,
    "turn": 3,
    "at": 0.5,
    "kind": "happened",
    "words": "writes: \x1b[31m",
    "happening": {"name": "prompt", "data": {"text": "{}", "bytes": 2, "cut_at": None, "replaced": False}},
}
END = records.end(
    Outcome(scenario=SCENARIO, host="claude-code", trace=Trace(), verdict=Terminated(turn=1), wall=2.0)
)


def lines(*made):
    return [json.dumps(record).encode() + b"\n" for record in made]


def test_a_whole_run_is_read():
    """The records of a run are sorted by kind, and its row of the table is made of them."""
    run = read_run(lines(BEGIN, STEP, STATE, END), "a.jsonl")

    assert (run.steps, run.states, run.end, run.torn) == ((STEP,), (STATE,), END, False)
    assert "lint[old]  claude-code      0       0  terminated  2.0 s  passed" in render_table([row(run)])


def test_a_run_without_an_end_was_interrupted():
    """A run that was killed is interrupted, has the turns that were seen, and its result is unknown."""
    run = read_run(lines(BEGIN, STEP), "a.jsonl")

    assert render_table([row(run)]).splitlines()[1:] == [
        "lint[old]  claude-code      3       0  interrupted  0.0 s  unknown",
        "1 simulation: 1 unknown",
    ]
    assert unfinished(run).splitlines()[0] == "## interrupted: `` a::b` ``"
    assert "turn 3  writes: \\x1b[31m" in unfinished(run)


def test_a_run_that_could_not_be_played_says_why():
    """A scenario that could not be played has its reason, and does not count as interrupted."""
    run = read_run(lines(BEGIN, records.trouble("no room")), "a.jsonl")

    assert row(run)["verdict"] == "not played"
    assert "no room" in unfinished(run)


def test_an_incomplete_line_is_left_out():
    """An incomplete last line is left out and reported; a file with nothing else has no run."""
    whole, torn = lines(BEGIN, STEP)
    run = read_run([whole, torn[:-1]], "a.jsonl")

    assert (run.torn, run.steps) == (True, ())
    assert read_run([whole[:20]], "a.jsonl") is None
    assert read_run([], "a.jsonl") is None


BAD = [
    ([b"nothing\n"], "a.jsonl:1: is not JSON"),
    ([b'{"record": NaN}\n'], "a.jsonl:1: is not JSON"),
    ([b'{"record": 1e999}\n'], "a.jsonl:1: is not JSON"),
    ([b"[" * 100_000 + b"\n"], "a.jsonl:1: is not JSON"),
    ([b"\xff\n"], "a.jsonl:1: is not JSON"),
    ([b"[]\n"], "a.jsonl:1: is no record of a trace"),
    ([b'{"record": ["begin"]}\n'], "a.jsonl:1: is no record of a trace"),
    (lines({**BEGIN, "version": 1}), "a.jsonl:1: has version 1, expected 2"),
    (lines({**BEGIN, "version": "\x1b[2J"}), r"a.jsonl:1: has version \x1b[2J, expected 2"),
    (lines({**BEGIN, "host": 3}), "a.jsonl:1: /host is not of type string"),
    (lines(STEP), "a.jsonl:1: a 'step' record does not belong there"),
    (lines(BEGIN, BEGIN), "a.jsonl:2: a 'begin' record does not belong there"),
    (lines(BEGIN, END, STEP), "a.jsonl:3: a 'step' record does not belong there"),
    (lines(BEGIN, {**STEP, "kind": "begin"}), "a.jsonl:2: is a step of unknown kind"),
    (lines(BEGIN, {**STEP, "kind": []}), "a.jsonl:2: is a step of unknown kind"),
    (lines(BEGIN, {**STEP, "turn": "3"}), "a.jsonl:2: /turn is not of type integer"),
]


@pytest.mark.parametrize("given,said", BAD)
def test_an_invalid_trace_is_refused_with_its_line(given, said):
    """A file that is no trace file of this version is refused, with file, line and reason."""
    with pytest.raises(UnreadableTrace) as refused:
        read_run(given, "a.jsonl")

    assert str(refused.value).startswith(said)


def test_endless_lines_are_refused(monkeypatch):
    """A line that is longer than any written one is refused before it is parsed."""
    monkeypatch.setattr(read, "LONGEST_LINE", 100)

    with pytest.raises(UnreadableTrace, match=r"a\.jsonl:1: is longer than 100 bytes"):
        read_run(lines(BEGIN), "a.jsonl")
