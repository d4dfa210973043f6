"""Annotations and summaries for GitHub Actions, in its syntax and within its limits."""

import re

from pytest_hookharness.reports.ci.github import FailureAnnotation, annotation, step_summary

ROW = {
    "scenario": "lint",
    "host": "claude-code@2",
    "iterations": 3,
    "blocks": 1,
    "verdict": "terminated",
    "wall": 1.25,
    "passed": True,
}


def failure(name="lint[claude-code]", headline="livelock: 100 %", story="one\ntwo", file="a,b:c.yaml"):
    return FailureAnnotation(name=name, file=file, line=7, headline=headline, story=story)


def test_an_annotation_is_one_workflow_command():
    """Percent signs are escaped everywhere, and colons and commas in properties, as GitHub requires."""
    assert annotation(failure()) == (
        "::error file=a%2Cb%3Ac.yaml,line=7,title=lint[claude-code]::livelock: 100 %25"
    )


def test_no_text_begins_another_command():
    """What a hook says cannot end the line and begin a command of its own."""
    line = annotation(failure(headline="no\n::add-mask::secret\r##[endgroup]", name="x\n::error::y"))

    assert line.count("\n") == line.count("\r") == 0
    assert line.startswith("::error ")


def test_the_summary_is_a_table_with_folded_stories():
    """Each simulation is a row, and each failure is folded below with its story."""
    broken = {**ROW, "scenario": "a|b", "passed": False, "verdict": "livelock"}

    lines = step_summary([ROW, broken], [failure(story="turn 1   agent\n  ::x")]).splitlines()

    assert "2 simulations: 1 as expected, 1 failed" in lines
    assert "| `a\\|b` | `claude-code@2` | 3 | 1 | livelock | 1.2 s | **FAILED** |" in lines
    assert "| `lint` | `claude-code@2` | 3 | 1 | terminated | 1.2 s | passed |" in lines
    start = lines.index("<details>")
    assert lines[start + 1] == "<summary><code>lint[claude-code]: livelock: 100 %</code></summary>"
    assert lines[start + 3 : start + 7] == ["```text", "turn 1   agent", "  ::x", "```"]


def test_a_simulation_without_expectations_is_unknown():
    """A simulation without expectations counts neither as passed nor as failed."""
    lines = step_summary([ROW, {**ROW, "passed": None}], []).splitlines()

    assert "2 simulations: 1 as expected, 1 unknown" in lines
    assert "| `lint` | `claude-code@2` | 3 | 1 | terminated | 1.2 s | unknown |" in lines


def test_hostile_text_stays_in_its_place():
    """Tags, fences, bars and line ends in a text do not change the structure of the summary."""
    hostile = "</code><script>|```\x1b[31m"
    text = step_summary([{**ROW, "scenario": hostile}], [failure(hostile, hostile, f"{hostile}\n```\n# big")])

    outside = re.sub(r"(?s)^(`{4,})text\n.*?^\1$", "", text, flags=re.MULTILINE)
    assert "# big" in text
    assert "# big" not in outside
    assert "<script>" not in re.sub(r"`{4}.*?`{4}", "", outside)
    assert "\x1b" not in text


def test_the_summary_keeps_to_its_limit():
    """Stories that do not fit are counted, all others are complete, and the summary is within its limit."""
    failures = [failure(str(number), story="ü" * 1000) for number in range(50)]

    for most in (10_000, 20_000, 30_000):
        text = step_summary([ROW] * 20, failures, most=most)
        folded = text.count("</details>")
        assert len(text.encode()) <= most
        assert text.count("<details>") == folded
        assert f"{50 - folded} more failures did not fit" in text
    assert len(step_summary([ROW] * 5000, failures).encode()) <= 1 << 20


def test_a_full_summary_is_left_alone():
    """If earlier runs left no room, nothing is written."""
    assert step_summary([ROW], [failure()], most=0) == ""
    assert step_summary([ROW], [failure()], most=-5) == ""


def test_failures_have_room_before_other_rows():
    """If there are more rows than the table may have, it shows the failures."""
    rows = [ROW] * 600 + [{**ROW, "scenario": "last", "passed": False}]

    assert "`last`" in step_summary(rows, [])
    assert "and 101 more simulations" in step_summary(rows, [])
