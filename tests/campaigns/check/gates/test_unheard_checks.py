"""Hooks that do not tell the agent that their check failed, played with test doubles."""

from __future__ import annotations

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.gates.unheard_checks import prove_unheard_checks

ANSWERS = (
    'out=$(npx tsc --noEmit) || printf \'{"hookSpecificOutput": '
    '{"hookEventName": "PostToolUse", "additionalContext": "%s"}}\' "$(echo "$out" | head -1)"'
)


@pytest.fixture
def found(tmp_path, try_out):
    """The texts of the problems of one hook of a project."""

    def find(command, event="PostToolUse", known=()):
        settings = tmp_path / ".claude" / "settings.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        entry = {"hooks": [{"type": "command", "command": command}]}
        settings.write_text(json.dumps({"hooks": {event: [entry]}}))
        (hook_set,) = find_hook_sets(tmp_path)
        problems = [*prove_unheard_checks(hook_set, try_out, known, [])]
        assert {one.symptom.kind for one in problems} <= {"UNSEEN-REASON"}
        return [one.symptom.text for one in problems], problems

    return find


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("command", "event", "told"),
    [
        ("npx tsc --noEmit 2>&1 | head -20", "PostToolUse", "standard output and ends with status 0"),
        ("ruff check . >&2; exit 0", "PostToolUse", "standard error and ends with status 0"),
        ("npm test", "Stop", "standard output and ends with status 1"),
    ],
)
def test_a_failed_check_that_nobody_sees(found, command, event, told):
    """What a failed check prints is a problem if the host shows it to nobody."""
    (text,), _ = found(command, event)
    program = command.split()[0]

    assert text == (
        f"{event}: while `{program}` fails, the hook prints the failure on {told}. claude-code does not "
        "pass it to the agent."
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        "npx eslint . >&2 || exit 2",
        ANSWERS,
        "npx eslint . >/dev/null 2>&1 || true",
        "npx prettier --write .",
        "ruff format . || true",
        "npx eslint --fix .; exit 0",
        "npm install; exit 0",
        "npx tsc || notify-send 'It fails.'",
        "npx prettier --check . >&2 || exit 2",
    ],
    ids=["refuses", "answers", "drops", "formats", "formats too", "fixes", "installs", "shows", "tells"],
)
def test_no_problem_of_other_hooks(found, command):
    """A hook that tells the agent, throws the output away, or only formats, has no such problem."""
    assert found(command) == ([], [])


def test_no_hook_is_reported_twice(found):
    """A hook that already has this problem is not played again."""
    _, problems = found("npx eslint .; exit 0")

    assert found("npx eslint .; exit 0", known=[one.as_problem([]) for one in problems]) == ([], [])


@pytest.mark.slow
def test_a_check_in_an_arm_of_case_is_found(found):
    """A script that chooses the check by the kind of file is played with a file of that kind."""
    texts, _ = found('case "$(jq -r .tool_input.file_path)" in *.ts) npx eslint . ;; esac; exit 0')

    assert len(texts) == 1
