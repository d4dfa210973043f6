"""Claims about what gates count as a change, with real gates in sessions."""

import pytest

from pytest_hookharness.campaigns.check.failing_gates import find_gates
from pytest_hookharness.campaigns.check.gates.counted_changes import prove_counted_changes

GATE = """#!/bin/bash
{changes}
{there}
out=$(npm test 2>&1) || {{ echo "Repair the tests: $out" >&2; exit 2; }}
"""
ALL = r"{ git diff --name-only -z; git ls-files -zo --exclude-standard; } | grep -zqE '\.ts$' || exit 0"
SINCE = f"""base=$(git rev-list --max-parents=0 HEAD)
[ -z "$(git diff --name-only "$base" -- '*.ts')" ] && {{ {ALL.removesuffix("|| exit 0")}; }} && exit 0
"""
THERE = "command -v npm >/dev/null || exit 0"
AFTER_EDIT = "The stop is refused after an edit of {} while `npm` fails, but allowed {}."


@pytest.fixture
def found(plugin, try_out):
    """The kinds and texts of the problems found in a gate."""

    def find(changes, there=THERE):
        text = GATE.format(changes=changes, there=there)
        hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}/gate.sh"', **{"gate.sh": text})
        kept = find_gates(hook_set, hook_set.hooks, try_out)
        problems = [*prove_counted_changes(hook_set, try_out, [], try_out(kept))]
        return [(one.symptom.kind, one.symptom.text) for one in problems]

    return find


@pytest.mark.nightly
def test_a_session_that_changed_nothing(found):
    """A gate that refuses the stop of a session that changed nothing is reported as OVERBLOCK."""
    assert found("") == [
        ("OVERBLOCK", "Stop is refused if `npm` fails, even in a session that changed nothing.")
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("changes", "known", "allowed"),
    [
        pytest.param(
            r"git status --porcelain | grep -qE '\.ts$' || exit 0",
            "changed.ts",
            "if the file is in a new folder or if the file's name has an accent or if the agent commits the "
            "change before it stops",
            id="status",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            r"git diff --name-only | grep -qE '\.ts$' || exit 0",
            "changed.ts",
            "if the file is new or if the agent commits the change before it stops",
            id="diff",
        ),
        pytest.param(
            ALL,
            "changed.ts",
            "if the agent commits the change before it stops",
            id="all",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_changes_that_are_not_seen(found, changes, known, allowed):
    """The report names the changes that a gate does not see, and only those."""
    assert found(changes) == [("BYPASS", AFTER_EDIT.format(known, allowed))]


TRACKED = "git diff --name-only HEAD"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(rf"{TRACKED} | grep -qx src/app.ts || exit 0", id="one file"),
        pytest.param(
            "{ git diff --name-only -z; git ls-files -zo; } | grep -zqvE '\\.(ts|tsx|js)$' || exit 0",
            id="other kinds",
        ),
        pytest.param(
            "{ git diff --name-only -z; git ls-files -zo; } | grep -zqE '(^|/)test_[^/]*\\.py$' || exit 0",
            id="test files",
        ),
    ],
)
def test_changes_that_are_not_meant(found, changes):
    """A gate that is about one file, other kinds of files or some names misses no change of others."""
    assert [kind for kind, text in found(changes) if "before it stops" not in text] == []


@pytest.mark.nightly
def test_a_missing_program_that_is_named(found):
    """A gate that says in its own words which program is missing is not told to do so."""
    named = "command -v npm >/dev/null || { echo 'npm is not installed: install Node.js.' >&2; exit 2; }"
    assert [kind for kind, _ in found("", there=named)] == ["OVERBLOCK"]


@pytest.mark.nightly
def test_a_missing_program(found):
    """A gate that takes a missing program for a failed check is UNGUARDED-TOOL, with its own message."""
    kinds = dict(found("", there=""))
    assert kinds.keys() == {"OVERBLOCK", "UNGUARDED-TOOL"}
    assert kinds["UNGUARDED-TOOL"].startswith(
        'Stop is also refused if `npm` cannot be started, with "Repair the tests: '
    )
