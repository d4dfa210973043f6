"""Claims about shell scripts that ask for the status of a program and get another one."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.static.exit_statuses import lost_statuses

LOST = [
    ("if false 2>&1 | tail -5; then\n  echo lost\nfi", 1),
    ("true\nif ! false | tee log.txt; then\n  exit 0\nfi\necho lost", 2),
    ("out=$(false 2>&1 | tail -n 20)\nif [ $? -eq 0 ]; then echo lost; fi", 1),
    ('out="$(false | head -20)"\nstatus=$?\n[ $status -eq 0 ] && echo lost', 1),
    ("false | tail -20\n\n# says whether it failed\nif [[ $? == 0 ]]; then echo lost; fi", 1),
    ("check() {\n  local out=$(false)\n  if [ $? -eq 0 ]; then echo lost; fi\n}\ncheck", 2),
    ("true\nfalse \\\n  | tail -20\nif [ $? -eq 0 ]; then echo lost; fi", 2),
    ("false | # the last lines\n  tail -20\nif [ $? -eq 0 ]; then echo lost; fi", 1),
    ("if false \\\n  --option; then exit 0; fi\nif false --x 'a; b' | cat; then\n  echo lost\nfi", 3),
]


BEHIND_IFS = [
    ("if false; then\n  exit 0\nfi\n\n# says whether it failed\nif [[ $? -eq 1 ]]; then echo seen; fi", 6),
    ("if ! true; then exit 1; fi\nstatus=$?\n[ $status -ne 0 ] && echo seen", 2),
    ("for i in 1; do\nif\n  false\nthen\n  if true; then echo; fi; exit 1\nfi\n(($?)) && echo seen\ndone", 7),
]

FORCED = [
    ('out=$(false 2>&1) || true\nstatus=$?\nif [ "$status" -ne 0 ]; then echo seen; fi', 1),
    ("true\nfalse || :\nif [[ $? -ne 0 ]]; then\n  echo seen\nfi", 2),
    ("false || true # goes on\n\n# says whether it failed\n[ $? -ne 0 ] && echo seen", 1),
    ("false || true; rc=$?\n((rc > 0)) && echo seen", 1),
    ('out="$(true\nfalse)" || true\nrc="$?"; if [ "$rc" = 1 ]; then echo seen; fi', 2),
    ("out=$(false | cat) || true\nrc=${PIPESTATUS[0]:-$?}\nif [[ $rc -ne 0 ]]; then echo seen; fi", 1),
    ("check() {\n  false || true\n  local rc=$?\n  return $rc\n}\ncheck || echo seen", 2),
    ("set -e\ncd . && false || true; rc=$?; exit ${rc}", 2),
]


def found(body):
    return [*lost_statuses(f"#!/bin/bash\n{body}\n")]


@pytest.mark.parametrize(("body", "line"), LOST)
def test_statuses_that_are_lost(tmp_path, body, line):
    """A failure behind a pipe or a declaration is named with its line, and bash does not see it."""
    assert [number for _, number in found(body)] == [line + 1]
    run = subprocess.run(["bash", "-c", body], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "lost"


@pytest.mark.parametrize(("body", "line"), BEHIND_IFS)
def test_the_status_of_a_condition_behind_its_end(body, line):
    """Behind an `if` that was not entered the status is 0, which is named with the line that asks for it."""
    assert [number for _, number in found(f"set -o pipefail\n{body}")] == [line + 2]
    run = subprocess.run(["bash", "-c", body], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == ""


@pytest.mark.parametrize(("body", "line"), FORCED)
def test_statuses_of_lists_that_never_fail(body, line):
    """The status behind `|| true` is always 0, which is named with the line of the list."""
    assert [number for _, number in found(f"set -o pipefail\n{body}")] == [line + 2]
    run = subprocess.run(["bash", "-c", f"{body}\nexit 0"], capture_output=True, text=True, check=True)
    assert run.stdout == ""


@pytest.mark.parametrize("body", [body for body, _ in LOST if "local" not in body])
def test_scripts_that_ask_for_the_status_of_pipelines(body):
    """A script that sets pipefail or asks for PIPESTATUS is not named."""
    assert not found(f"set -euo pipefail\n{body}")
    assert not found(f"{body}\nexit ${{PIPESTATUS[0]}}")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "if false | grep -q x; then exit 2; fi",
        "if false || true | tail -1; then exit 2; fi",
        'if false 2>&1 | tee "$LOG" \\\n   | grep -q " error "; then exit 2; fi',
        'if false | tee "$LOG" |\n   grep -q " error "; then exit 2; fi',
        "if false | tail -5 &&\n   grep -q x y; then exit 2; fi",
        "out=$(false | tail -5 \\\n  | grep x)\nif [ $? -ne 0 ]; then exit 2; fi",
        'out=$(false 2>&1)\nif [ $? -ne 0 ]; then echo "$out" | tail -5; exit 2; fi',
        'out=$(false | tail -5)\necho "$out"\n',
        "if false; then\n  exit 0\nelse\n  run_it\nfi\nstatus=$?",
        "if false; then\n  run_it\nfi\nstatus=$?",
        "if run_it; then exit 0; else run_again; fi\nstatus=$?",
        "if false; then\n  exit 0\nfi\nrun_it\nif [ $? -ne 0 ]; then exit 2; fi",
        "if false; then\n  if true; then\n    exit 0\n  fi\nfi\nstatus=$?",
        "local out\nout=$(false)\nif [ $? -ne 0 ]; then exit 2; fi",
        'if echo "$x" | head -1; then exit 2; fi',
        "echo 'if false | tail -5; then'\n# if false | tail -5; then",
        "cat <<END\nif false | tail -5; then\nEND",
        "false | tail -5\nrun_again\nif [ $? -ne 0 ]; then exit 2; fi",
        "out=$(false) || true\nrun_it\nif [ $? -ne 0 ]; then exit 2; fi",
        "out=$(false || true)\nrc=$?\nrun_it\nrc=$?\nif [ $rc -ne 0 ]; then exit 2; fi",
        "false || true\nrc=$?\nrun_it\nrc=$?\nif [ $rc -ne 0 ]; then exit 2; fi",
        "false || true\nrc=$?\ntouch done",
        "false || failed=1\nrc=$?\n[ $rc -eq 0 ]",
        "false || true_or_not\nrc=$?\n[ $rc -eq 0 ]",
        "false | cat || true\nrc=${PIPESTATUS[0]}\n[ $rc -eq 0 ] || exit 2",
        "(\n  false || true\n  false\n)\nrc=$?\n[ $rc -eq 0 ] || exit 2",
        "if false; then\n  false || true\nfi\nrc=$?\n[ $rc -eq 0 ] || exit 2",
        "if false || true; then\n  [ $? -eq 0 ]\nfi",
        "echo 'false || true\nrc=$?'\n[ $rc -eq 0 ]",
    ],
)
def test_statuses_that_are_those_of_their_programs(body):
    """Other pipes, and pipes whose status nobody asks for, are not named."""
    assert not found(body)
    assert not [*lost_statuses(f"#!/usr/bin/env python3\n{body}\n")]


def test_line_ends_of_windows():
    """Empty lines of a script with line ends of Windows are empty too."""
    text = "#!/bin/bash\r\n\r\nif true; then\r\n  exit 1\r\nfi\r\n\r\necho done\r\n"
    assert not [*lost_statuses(text)]
