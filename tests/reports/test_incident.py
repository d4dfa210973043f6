"""
The incident report: the trace fills seven sections, and hostile text stays inside its fences.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.model.moves import Prompt, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import PartKind, ProbeReport, StatePart
from pytest_hookharness.model.processes import Exited, ProcessResult, Tier
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.model.trace import Change, Happened, HookEvent, HookRun, Moved, Step, Trace
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
from pytest_hookharness.reports.markdown.incident import TO_DO, IncidentContext, incident_report

HEADINGS = [
    "Symptoms",
    "Investigation",
    "Root Cause",
    "The Fix",
    "Test Cases Affected",
    "Key Learnings",
    "Related Files",
]
RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host, 1.0, measured")
GUARD = Cap(overrides=9, why="It overrides the ninth.", rule=Rule("Eight are honoured.", Basis.ASSUMED, "b"))
EVIL = "EVIL ``` ~~~\n# EVIL\n```\n[EVIL](http://e) @EVIL \x1b[31mEVIL\u202e `EVIL`` ![EVIL](x)\n\n    EVIL"
AROUND = IncidentContext(
    replay_command="hookharness run 'a::b' --seed 7", day="2026-01-02", versions=("A 1.0", "B 2")
)


def asked(command, reason):
    """A Stop that a hook refuses."""
    hook_run = HookRun(
        hook=Hook(event="Stop", command=command, source=".claude/settings.json"),
        payload={},
        run=ProcessResult(ending=Exited(2), wall=0.1),
        reply=Reply(ruling=Ruling.DENY, reason=reason, rule=RULE),
    )
    decision = Decision(event="Stop", ruling=Ruling.DENY, refused=True, reasons=(reason,), rule=RULE)
    changes = (Change(path="workspace/log", how="content"),)
    return HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision, changes=changes)


def outcome(text="no", *, command="./check.sh --all", verdict=None, **more):
    """A loop of three refusals."""
    steps = [Step(number=1, turn=0, exchange=Happened(event=Prompt(text="Go.")))]
    for turn in range(1, 4):
        steps.append(Step(number=2 * turn, turn=turn, exchange=Moved(move=Stop(text="Done."))))
        steps.append(Step(number=2 * turn + 1, turn=turn, exchange=asked(command, text)))
    scenario = Scenario(
        name="lint",
        why=text,
        origin=Origin(file=Path("/here/scenarios/lint.scenario.yaml"), marks={"expect.verdict": (14, 1)}),
        project=Path("/here/scenarios/project"),
    )
    return Outcome(
        scenario=more.pop("scenario", scenario),
        host="claude-code@1",
        trace=Trace(steps=tuple(steps)),
        verdict=verdict or Livelock(stem=1, period=2, evidence="unread", cap=GUARD),
        tier=Tier.SUBREAPER,
        seed=7,
        **more,
    )


PROBING = ProbeReport(
    turn=3,
    period=1,
    parts=(
        StatePart(path="workspace/.n", name="count", kind=PartKind.COUNTER, before="1", after="2", step=1),
    ),
)
FINDING = Finding(code="HH001", name="HUNG-HOOK", text="It hung.", advice="Give it a limit.", turn=2, times=3)


def sections(text):
    """The text of each section, by its heading."""
    parts = re.split(r"^### (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def outside(text):
    """What a reader of Markdown would interpret: all but fenced blocks and code spans."""
    kept, closing = [], ""
    for line in text.splitlines():
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if closing:
            ends = mark is not None and line.strip() == mark[1] and mark[1].startswith(closing)
            closing = "" if ends else closing
        elif mark is not None:
            closing = mark[1]
        else:
            kept.append(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    return "\n".join(kept)


def test_seven_sections_in_order():
    """A report has a heading with day and verdict, and seven sections, each with a note to its author."""
    text = incident_report(outcome(), AROUND)

    assert text.startswith("## 2026-01-02: livelock in `lint[claude-code]`\n")
    assert list(sections(text)) == HEADINGS
    assert [heading for heading, said in sections(text).items() if f"\n{TO_DO} " not in said] == []


def test_what_the_trace_knows_is_filled_in():
    """Numbers, reasons, loop, rule, finding, experiment, files and command are in their sections."""
    found = sections(
        incident_report(
            outcome(
                probe_reports=(PROBING,),
                findings=(FINDING,),
                violations=(Violation(path="expect.verdict", expected="terminated", seen="livelock"),),
            ),
            replace(AROUND, root=Path("/here")),
        )
    )

    expected = {
        "Symptoms": [
            "3 turns, 3 hook runs",
            "3 refusals",
            "`Stop` was asked 3 times: 3 deny",
            "3 times:",
            "`terminated`",
        ],
        "Investigation": [
            "hookharness run 'a::b' --seed 7",
            "`claude-code@1`",
            "`./check.sh --all` on `Stop`",
            "`.claude/settings.json`, run 3 times",
            "subreaper",
            "seed 7",
            "`A 1.0`",
            "turn 1  agent",
            "count in",
        ],
        "Root Cause": [
            "after turn 1 and is 2 turns long",
            "2 times; evidence: `unread`",
            "`count in workspace/.n`",
            "`Exit code 2 refuses.` (observed: `a host, 1.0, measured`)",
            "`Eight are honoured.` (assumed: `b`)",
            "HH001 HUNG-HOOK: It hung. (first in turn 2, 3 times)",
        ],
        "The Fix": ["The same stop will be refused forever.", "Give it a limit."],
        "Test Cases Affected": [
            "`scenarios/lint.scenario.yaml` fails",
            "`expect.verdict`, line 14",
        ],
        "Key Learnings": ["would override refusal 9"],
        "Related Files": [
            "`scenarios/project` - the project",
            "`./check.sh` - named by a hook",
            "changed 3 times",
        ],
    }
    assert [
        (name, word) for name, words in expected.items() for word in words if word not in found[name]
    ] == []


@pytest.mark.parametrize(
    "text", [EVIL, "`", "``", "```", "", " ", "a" * 100_000, "\n" * 5000 + "x"], ids=repr
)
def test_hostile_text_stays_in_its_place(text):
    """Text and commands of hooks are never interpreted, do not act on a terminal, and are bounded."""
    found = outcome(
        text,
        command=text,
        scenario=replace(outcome(text).scenario, name=f"n{text}", project=Path(f"/p{text}")),
        verdict=Undecided(turn=3, why=text, changed=(Change(path=text, how="content"),)),
        findings=(replace(FINDING, text=text, hook=text, advice=text),),
        violations=(Violation(path=text, expected=text, seen=text),),
        assumptions=(text,),
    )

    page = incident_report(found, replace(AROUND, replay_command=text))

    assert "EVIL" not in outside(page)
    assert [line for line in outside(page).splitlines() if line.startswith("#")][1:] == [
        f"### {heading}" for heading in HEADINGS
    ]
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert len(page) < 30_000


def test_text_outside_its_fence_is_noticed():
    """The check for hostile text notices text whose fence or code span is too short."""
    assert "EVIL" in outside(f"```text\n{EVIL}\n```")
    assert "EVIL" in outside("`a ` EVIL`")
    assert "EVIL" not in outside("````text\n```\nEVIL\n````\n`` EVIL` ``")


@pytest.mark.parametrize(
    "verdict",
    [
        Terminated(turn=2),
        Capped(turn=9, cap=GUARD, changed=(Change(path="workspace/log", how="content"),)),
        Hung(turn=1, event="Stop", command="./lint.sh", rule=RULE),
        Recursing(turn=3, limit="a depth of 3"),
        Lockout(turn=2),
        Undecided(turn=200, why="no end"),
    ],
    ids=lambda verdict: type(verdict).__name__,
)
def test_every_verdict_has_its_report(verdict):
    """Every verdict has all sections, and only a livelock is called a loop."""
    found = sections(incident_report(outcome(verdict=verdict), IncidentContext(replay_command="")))

    assert list(found) == HEADINGS
    assert "The loop begins" not in found["Root Cause"]


def test_long_lists_are_cut_and_say_so():
    """The first twenty findings are listed, and the rest is counted."""
    many = tuple(replace(FINDING, text=f"Number {number}.") for number in range(50))

    found = sections(incident_report(outcome(findings=many), AROUND))["Root Cause"]

    assert "Number 19." in found
    assert "Number 20." not in found
    assert "and 30 more" in found


def test_single_events_are_reported():
    """The single events of a test are listed beside its simulation."""
    response = Response(hooked=asked("./alone.sh", "not alone"))

    assert (
        "./alone.sh"
        in sections(incident_report(outcome(), replace(AROUND, asked=[response])))["Investigation"]
    )


def test_no_line_of_an_incident_commands_a_runner():
    """A word that GitHub's runner would obey at the beginning of a line is escaped, wherever it came from."""
    text = " ".join(["::error::no"] * 60)
    finding = Finding(code="HH005", name="CRASHED", text=text, advice=text)
    page = incident_report(
        outcome(f"::stop-commands::x\n{text}", findings=(finding,), assumptions=(text,)), AROUND
    )

    assert [line for line in page.splitlines() if line.lstrip().startswith("::")] == []
    assert any(line.lstrip().startswith("\\x3a:error::no") for line in page.splitlines())


def test_paths_of_an_incident_are_short():
    """A file of the workspace is named as `workspace/...` in an incident report."""
    folder = "/tmp/pytest-of-me/pytest-22/hooks0/lint-1/workspace"
    page = incident_report(
        outcome(
            f"ruff: {folder}/app.py: not found",
            folders=((folder, "workspace"),),
            scenario=Scenario(name="lint"),
        ),
        AROUND,
    )

    assert "ruff: workspace/app.py: not found" in page
    assert folder not in page
