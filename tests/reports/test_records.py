"""The records of a trace file."""

import json
from dataclasses import replace

import jsonschema
import pytest

from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model import moves
from pytest_hookharness.model.agent_sessions import ChildCall, ChildHookRun, ChildSession
from pytest_hookharness.model.delivery import Asked, Dialogue, DoubleCall
from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.moves import Message, Observation, Prompt, Stop, ToolCall, ToolResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import (
    PartKind,
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    StatePart,
    Threshold,
)
from pytest_hookharness.model.processes import (
    Activity,
    Cut,
    Exited,
    HeldOpen,
    NotStarted,
    Output,
    Process,
    ProcessResult,
    Signaled,
    Tier,
    TimedOut,
)
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling, Unheard
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.model.trace import (
    Change,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    State,
    StateEntry,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Finding,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
    Violation,
)
from pytest_hookharness.reports.trace import records
from pytest_hookharness.reports.trace.hook_runs import LONGEST, bound, excerpt, of_bytes, of_output
from pytest_hookharness.reports.trace.read import first_mismatch
from pytest_hookharness.reports.trace.schema import DEFINITIONS, RECORDS, schema
from pytest_hookharness.reports.trace.steps import Versions, step

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
GUARD = Cap(overrides=9, why="It overrides the ninth.", rule=RULE)
CHILD = ChildSession(
    number=1,
    argv=("claude", "-p"),
    environment={"API_KEY": "hidden"},
    hook_runs=(ChildHookRun(event="Stop", command="./hook"),),
    calls=(ChildCall(name="Bash"),),
)
CHANGE = Change(path="workspace/a", how="content", before="1", after="2")
PROCESS = Process(7, "sleep 9", 0.5)
ENDINGS = [
    Exited(2),
    Signaled(9),
    TimedOut(5.0, Cut.LIMIT, doing=(Activity(PROCESS, "S", "read", "end of file"),), ended=Exited(0)),
    HeldOpen(Signaled(11), 0.5, (PROCESS,)),
    NotStarted("no such file"),
]
VERDICTS = [
    Terminated(turn=1),
    Capped(turn=9, cap=GUARD, changed=(CHANGE,)),
    Livelock(stem=1, period=2, cap=GUARD),
    Hung(turn=1, event="Stop", command="./hook", rule=RULE),
    Recursing(turn=1, limit="a depth of 3", chain=("one",)),
    Lockout(turn=1, moves=("run",)),
    Undecided(turn=1, why="no end", changed=(CHANGE,)),
]
ORIGIN = Origin(file="scenarios/a.scenario.yaml", marks={"expect": (7, 1), "expect.verdict": (8, 3)})
SCENARIO = Scenario(name="lint", origin=ORIGIN, expect=Expectation(verdict="terminated", within=4))
OCCASION = records.TraceHeader(id="a::b", front_end="pytest", host="claude-code", tier=Tier.GROUP)


def hook_run(ending=ENDINGS[0], **others):
    dialogue = Dialogue(shown=b"Name: ", total=6, asked=(Asked("Name:", "me"),))
    run = ProcessResult(ending=ending, stderr=Output(b"no", 2), leftovers=(PROCESS,), dialogue=dialogue)
    unheard = Unheard(place="reason of an allow", text="words", rule=RULE)
    reply = Reply(ruling=Ruling.DENY, reason="no", updated_input={"a": 1}, unheard=unheard, rule=RULE)
    given = {"hook": Hook(event="Stop", command="./hook"), "payload": {"a": 1}, "stdin": b"{}", "run": run}
    return HookRun(**{**given, "reply": reply, **others})


def hooked(*hook_runs, **others):
    decision = Decision(
        event="Stop", ruling=Ruling.DENY, refused=True, reasons=("no",), rule=RULE, rests_on=(RULE,)
    )
    made = HookEvent(
        event="Stop", hook_runs=hook_runs, decision=decision, changes=(CHANGE,), children=(CHILD,)
    )
    return replace(made, **others)


def performed():
    call = ToolCall(name="Bash", input={"command": "ls"})
    return Performed(
        call=call, result=ToolResult(text="a"), run=ProcessResult(ending=Exited(0)), changes=(CHANGE,)
    )


def record(exchange, **others):
    return step(Step(number=1, turn=1, exchange=exchange), **others)


SAW = Observation((Message("prompt", "Go."),))
STEPS = [
    *(
        record(Moved(move=move, saw=SAW))
        for move in (Stop(), moves.RunCommand(command="ls"), moves.Read(file="a"))
    ),
    *(record(Happened(event=event)) for event in (Prompt(text="Go."), moves.Wait(seconds=3))),
    record(performed()),
    record(hooked(hook_run(), hook_run(run=None, stdin=b""))),
    *(record(hooked(hook_run(ending))) for ending in ENDINGS),
]
PROBING = ProbeReport(
    turn=3,
    period=1,
    parts=(StatePart(path="home/a", kind=PartKind.COUNTER, before="1", after="2", step=1),),
    probes=(
        Probe(kind=PerturbationKind.AHEAD, tried="count 9", seen=ProbeResult(reaction=ProbeEffect.SAME)),
    ),
    threshold=Threshold(at="count 50", what="allows the stop", seconds=1.5),
)
TRACE = Trace(steps=(Step(number=1, turn=1, exchange=hooked(hook_run())),))


def ended(verdict, **others):
    given = {
        "findings": (Finding(code="HH001", name="HUNG-HOOK", text="It hung.", rule=RULE),),
        "violations": (Violation(path="expect.verdict", expected="terminated", seen="livelock"),),
        "calls": {"npm": (DoubleCall(("npm", "test"), stdin=b"x"),)},
        "probe_reports": (PROBING,),
        "assumptions": ("It is so.",),
    }
    outcome = Outcome(scenario=SCENARIO, host="claude-code", trace=TRACE, verdict=verdict, **given)
    return records.end(replace(outcome, **others), {code.code: code for code in catalogue()})


OTHERS = [
    records.begin(SCENARIO, replace(OCCASION, hooks=(Hook(event="Stop", command="./hook", timeout=3.0),))),
    records.begin(replace(SCENARIO, origin=None), replace(OCCASION, tier=None)),
    records.state(1, State(visible={"stop_hook_active": True}, files={"a": StateEntry("file", 0o644, "1")})),
    records.trouble("the workspace could not be made"),
    *map(ended, VERDICTS),
]


def closed(schema):
    """The same schema without additional properties."""
    match schema:
        case {"properties": dict(properties)}:
            rest = {key: closed(value) for key, value in schema.items() if key != "properties"}
            return {
                **rest,
                "properties": {k: closed(v) for k, v in properties.items()},
                "additionalProperties": False,
            }
        case dict():
            return {key: closed(value) for key, value in schema.items()}
        case list():
            return [closed(item) for item in schema]
    return schema


# Values whose form is the model's own, which the schema leaves open.
OPEN = {"verdict": {"name"}, "probe_reports": None, "trial_results": None, "background": None}


@pytest.mark.parametrize("made", [*STEPS, *OTHERS])
def test_records_match_the_schema(made):
    """Each kind of record, ending and verdict is valid for a schema library and for our own reader."""
    line = json.loads(json.dumps(bound(made), allow_nan=False))
    kind = line.get("kind", line["record"])

    jsonschema.Draft202012Validator({**schema(), "anyOf": [{"$ref": f"#/$defs/{kind}"}]}).validate(line)
    assert first_mismatch(line, RECORDS[kind], DEFINITIONS) == ""
    assert set(line) == set(RECORDS[kind]["properties"])


@pytest.mark.parametrize("made", STEPS)
def test_steps_have_only_keys_of_the_schema(made):
    """Every key of a step, at any depth, is in the schema."""
    line = json.loads(json.dumps(made))

    whole = closed({**schema(), "anyOf": [{"$ref": f"#/$defs/{line['kind']}"}]})
    jsonschema.Draft202012Validator(whole).validate(line)
    line["words of nobody"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(whole).validate(line)


@pytest.mark.parametrize(
    "harm,said",
    [
        (lambda line: line.pop("decision"), "the record has no 'decision'"),
        (lambda line: line.update(turn=True), "/turn is not of type integer"),
        (lambda line: line.update(turn=-1), "/turn is below 0"),
        (lambda line: line["hook_runs"][0]["stdin"].pop("bytes"), "/hook_runs/0/stdin has no 'bytes'"),
        (lambda line: line["hook_runs"][0]["run"]["ending"].update(kind="flew"), "/hook_runs/0/run"),
        (lambda line: line["decision"].update(ruling="perhaps"), "/decision/ruling is none of"),
        (lambda line: line.update(changes={}), "/changes is not of type array"),
    ],
)
def test_a_mismatch_is_reported_with_its_path(harm, said):
    """A record with a missing or wrong value is refused, and our own reader says where it is."""
    line = json.loads(json.dumps(record(hooked(hook_run()))))
    harm(line)

    assert said in first_mismatch(line, RECORDS["hook-event"], DEFINITIONS)
    assert not jsonschema.Draft202012Validator(schema()).is_valid(line)


def test_a_hook_run_is_recorded_as_data_and_in_words():
    """A hook run has its bytes, its ending as data and in words, the decision and its rule."""
    line = record(hooked(hook_run()))
    (one,) = line["hook_runs"]

    assert line["words"] == "Stop: refused"
    assert one["stdin"]["text"] == "{}"
    assert one["run"]["ending"] == {"kind": "exited", "code": 2}
    assert one["run"]["stderr"] == {"text": "no", "bytes": 2, "cut_at": None, "replaced": False}
    assert one["reply"]["words"] == '-> block "no"'
    assert line["decision"]["rule"] == {
        "text": "Exit code 2 refuses.",
        "basis": "observed",
        "source": "a host",
    }


def test_an_environment_is_never_recorded():
    """The environment of a fake agent's session is not in the records."""
    assert "API_KEY" not in json.dumps(STEPS)


def test_expectations_are_recorded_in_words():
    """Each expectation of the scenario is a line, and there are no further lines."""
    expect = Expectation(verdict="livelock", hook_runs={"./hook": Range(min=2)}, findings=("HH001",))

    assert records.begin(replace(SCENARIO, expect=expect), OCCASION)["expected"] == [
        "verdict: livelock",
        "hook_runs: ./hook at least 2",
        "findings: HH001",
    ]


def test_an_expected_path_is_recorded_as_moves():
    """Moves of an expected path are described as everywhere else, not as Python values."""
    lockout = Expectation(
        verdict="lockout", way_in=(moves.RunCommand(command="./release", label="expect.way_in[0]"),)
    )

    for expect, words in ((lockout, 'runs "./release"'), (replace(lockout, way_in=()), "none")):
        said = records.begin(replace(SCENARIO, expect=expect), OCCASION)["expected"]
        assert said == ["verdict: lockout", f"way_in: {words}"]


def test_a_finding_has_its_page():
    """A finding has with it what it is, why it matters and how to fix it."""
    (finding,) = ended(VERDICTS[0])["findings"]

    assert finding["page"]["what"].startswith("A hook did not end")


@pytest.mark.parametrize(
    "how,before,after,diff",
    [
        ("content", b"a\n", b"b\n", "--- a/workspace/a\n+++ b/workspace/a\n@@ -1 +1 @@\n-a\n+b\n"),
        ("content", b"a", b"b", "-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
        ("added", b"", b"b\n", "--- /dev/null\n+++ b/workspace/a\n@@ -0,0 +1 @@\n+b\n"),
        ("removed", b"a\n", b"", "--- a/workspace/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        ("content", None, b"b\n", None),
        ("content", b"a\xff", b"b\n", None),
        ("content", b"a\0", b"b\n", None),
        ("content", b"a" * (LONGEST + 1), b"b\n", None),
        ("content", b"a\n" * 2001, b"b\n", None),
        ("content", b"a\x0bb\r\n", b"c\n", "-a\x0bb\r\n+c\n"),
        ("mode", b"a", b"a", None),
    ],
)
def test_changed_texts_have_a_diff(how, before, after, diff):
    """A change has a diff only if both texts are known and small."""
    made = hooked(changes=(replace(CHANGE, how=how),))
    (change,) = record(made, contents={"workspace/a": Versions(before, after)})["changes"]

    found = None if change["diff"] is None else change["diff"]["text"]
    assert found == diff or (diff is not None and found.endswith(diff))


def test_a_name_with_a_line_end_adds_no_line_to_a_diff():
    """A path cannot look like a line of the diff."""
    path = "workspace/a\n+stolen"
    made = hooked(changes=(replace(CHANGE, path=path),))
    (change,) = record(made, contents={path: Versions(b"a\n", b"b\n")})["changes"]

    assert change["diff"]["text"].splitlines()[1] == "+++ b/workspace/a +stolen"


def test_long_texts_are_cut_and_say_so():
    """A stream of ten megabytes is recorded as its beginning, with its size and where it was cut."""
    flood = record(
        hooked(
            hook_run(run=ProcessResult(ending=Exited(0), stdout=Output(b"\xc3\xa4" * (1 << 19), 10_000_000)))
        )
    )
    stdout = bound(flood)["hook_runs"][0]["run"]["stdout"]

    assert (stdout["bytes"], stdout["cut_at"], len(stdout["text"].encode())) == (10_000_000, LONGEST, LONGEST)
    assert len(json.dumps(bound(flood))) < 7 * LONGEST
    assert len(bound({"list": list(range(5000))})["list"]) == 1000
    assert bound({"far": float("inf")}) == {"far": None}


def test_invalid_utf_8_is_replaced_and_marked():
    """Invalid bytes are replaced and marked; a valid replacement character is not marked."""
    assert of_bytes(b"a\xff") == {
        "text": "a\N{REPLACEMENT CHARACTER}",
        "bytes": 2,
        "cut_at": None,
        "replaced": True,
    }
    assert of_bytes("\N{REPLACEMENT CHARACTER}".encode())["replaced"] is False
    assert excerpt("a\udcff")["replaced"] is True
    assert bound(["a\udcff"]) == ["a\N{REPLACEMENT CHARACTER}"]


def test_a_stream_that_was_cut_by_the_harness_says_so():
    """Output that the harness did not keep is marked as missing."""
    assert of_output(Output(b"abc", 9))["cut_at"] == 3
    assert of_output(Output(b"abc", 3))["cut_at"] is None
