"""Runs that are read back from trace files, for tests of reports."""

import json
from pathlib import Path

import pytest

from pytest_hookharness.model.moves import Prompt, Stop, ToolCall, ToolResult
from pytest_hookharness.model.mutations import TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, Output, Process, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.model.trace import (
    Change,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    State,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import Cap, Finding, Livelock, Violation
from pytest_hookharness.reports.trace import records
from pytest_hookharness.reports.trace.hook_runs import bound
from pytest_hookharness.reports.trace.read import read_run
from pytest_hookharness.reports.trace.steps import Versions, step

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host, 1.0, measured")
FILE = "workspace/app.py"
VERSIONS = {FILE: Versions(b"x = 1\ny = 2\n", b"x = 1\ny = 3\n")}


def _asked(text, printed):
    written = printed.encode("utf-8", "replace")
    run = ProcessResult(
        ending=Exited(2),
        wall=0.1,
        stdout=Output(written, len(written)),
        stderr=Output(written, len(written)),
        leftovers=(Process(pid=7, command=text, age=0.05),),
    )
    hook = Hook(event="Stop", command=f"./check.sh {text}", source=".claude/settings.json")
    reply = Reply(ruling=Ruling.DENY, reason=text, rule=RULE)
    hook_run = HookRun(hook=hook, payload={"text": text}, run=run, reply=reply)
    decision = Decision(
        event="Stop", ruling=Ruling.DENY, refused=True, reasons=(text,), to_agent=(text,), rule=RULE
    )
    return HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)


def _steps(text, turns, printed):
    called = Performed(
        call=ToolCall(name="Write", input={"text": text}),
        result=ToolResult(text=text),
        changes=(Change(path=FILE, how="content"), Change(path=f"workspace/{text}", how="added")),
    )
    exchanges = [(0, Happened(event=Prompt(text=text)))]
    for turn in range(1, turns + 1):
        exchanges += [(turn, Moved(move=Stop(text=text))), (turn, called), (turn, _asked(text, printed))]
    return tuple(
        Step(number=number, turn=turn, exchange=exchange)
        for number, (turn, exchange) in enumerate(exchanges, 1)
    )


@pytest.fixture
def read_back():
    """Makes a run with a loop of refusals that has a given text everywhere."""

    def make(
        text="no",
        *,
        name="lint",
        host="claude-code@1",
        turns=3,
        verdict=None,
        kept_workspace=True,
        ended=True,
        printed=None,
        live=None,
    ):
        origin = Origin(file=Path("/here/a.scenario.yaml"), marks={"expect.verdict": (14, 1)})
        scenario = Scenario(name=name, why=text, origin=origin)
        guard = Cap(overrides=9, why=text, rule=RULE)
        seen = Outcome(
            scenario=scenario,
            host=host,
            trace=Trace(steps=_steps(text, turns, text if printed is None else printed)),
            verdict=verdict or Livelock(stem=1, period=2, cap=guard),
            findings=(Finding(code="HH010", name="SILENT-REFUSAL", text=text, advice=text, hook=text),),
            violations=()
            if kept_workspace
            else (Violation(path="expect.verdict", expected=text, seen=text),),
            assumptions=(text,),
            varied=(text,),
            trial_results=(
                TrialResult(
                    family="tools", mutation="no jq", outcome="fail-open", payload="deny", evidence=text
                ),
            ),
            wall=1.5,
        )
        occasion = records.TraceHeader(
            id=f"a.scenario.yaml::{name}[{host}]", front_end="pytest", host=host, replay_command=text
        )
        made = [
            records.begin(scenario, occasion),
            *(step(each, VERSIONS, each.number / 5) for each in seen.trace.steps),
            *(records.state(turn, State(digest=f"{turn % 2}{text}")) for turn in range(1, turns + 1)),
            *([live] if live else []),
            *([records.end(seen)] if ended else []),
        ]
        lines = [json.dumps(bound(record)).encode() + b"\n" for record in made]
        return read_run(lines, "a.jsonl")

    return make
