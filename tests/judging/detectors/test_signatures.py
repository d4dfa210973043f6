"""What the detectors ignore as noise, and where."""

import pytest

from pytest_hookharness.judging.detectors.signatures import (
    ActionKind,
    error_words,
    joined_signature,
    kind_of,
    mask_numbers,
    mask_result,
    mask_times,
    signature_of,
)
from pytest_hookharness.model.actions import Action, ActionResult


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run at 10:02:11", "run at 23:59:00"),
        ("on 2026-01-02T10:00:00Z", "on 2026-03-04T11:00:00+01:00"),
        ("since 1767225600", "since 1767225777.5"),
        ("took 0.12s", "took 93 seconds"),
        ("--log /tmp/tmpa1b2/out", "--log /tmp/tmpzzz/out"),
        ("in /var/folders/x/y/tmp.XYZ/z", "in /var/folders/x/y/tmp.ABC/z"),
        ("# attempt 3", "# attempt 44"),
    ],
)
def test_drifting_text_is_masked(one, other):
    """Times, durations, temporary names and counted attempts are masked."""
    assert mask_times(one) == mask_times(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("close 12", "close 13"),
        ("pytest /tmp/p/test_a.py", "pytest /tmp/p/test_b.py"),
        ("app.py:10:20", "app.py:11:20"),
        ("src/tmpl/a", "src/tmpl/b"),
        ("/home/u/tmpa/x", "/home/u/tmpb/x"),
        ("v1.2", "v1.3"),
    ],
)
def test_names_are_not_masked(one, other):
    """Numbers that name things, places in files, and files that are not temporary are kept."""
    assert mask_times(one) != mask_times(other)


def test_results_and_errors():
    """Ids are noise in results, numbers are noise in errors, and an exit code alone is no error text."""
    uuid = "0b1e7a5e-0000-4000-8000-{:012}"

    assert mask_result("id " + uuid.format(1)) == mask_result("id " + uuid.format(2))
    assert mask_result("45 %") != mask_result("46 %")
    assert mask_numbers("port 80, 1a2b3c4d") == mask_numbers("port 81, 9f8e7d6c")
    assert error_words(mask_numbers("Exit code 1\n")) == ""
    assert error_words(mask_numbers("Exit code 1\nno rule")) != ""


def test_long_texts_are_still_compared():
    """Two very long texts are alike exactly if they differ only in their digits."""
    assert mask_result("a1" * 9000) == mask_result("a2" * 9000)
    assert mask_result("a1" * 9000) != mask_result("b1" * 9000)


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("Bash", {"command": "npm test"}, ActionKind.RUN),
        ("Bash", {"command": "npm test && sleep 5"}, ActionKind.WAIT),
        ("Bash", {"command": "for i in 1 2; do sleep 1; done"}, ActionKind.WAIT),
        ("Bash", {"command": "gh run watch"}, ActionKind.RUN),
        ("Bash", {"command": "gh pr checks --watch"}, ActionKind.WAIT),
        ("Bash", {"command": "echo '; sleep 5'"}, ActionKind.RUN),
        ("shell", {"command": ["bash", "-lc", "sleep 3"]}, ActionKind.WAIT),
        ("exec_command", {"cmd": "ls"}, ActionKind.RUN),
        ("write_stdin", {"session_id": 1, "chars": ""}, ActionKind.WAIT),
        ("write_stdin", {"session_id": 1, "chars": "y\n"}, ActionKind.OTHER),
        ("terminal", {"command": ""}, ActionKind.WAIT),
        ("terminal", {}, ActionKind.RUN),
        ("BashOutput", {"bash_id": "1"}, ActionKind.WAIT),
        ("file_editor", {"command": "view", "path": "a"}, ActionKind.READ),
        ("file_editor", {"command": "create", "path": "a"}, ActionKind.EDIT),
        ("Write", {"file_path": "a"}, ActionKind.EDIT),
        ("Read", {"file_path": "a"}, ActionKind.READ),
        ("mcp__x__y", {}, ActionKind.OTHER),
    ],
)
def test_kinds_of_calls(tool, arguments, kind):
    """The kind of a call is known from its tool, and for a shell from its command."""
    assert kind_of(tool, arguments) is kind


@pytest.mark.parametrize("one", ["made at 10:02:11", "45 %", ""])
@pytest.mark.parametrize("other", ["made at 23:59:00", "46 %", ""])
@pytest.mark.parametrize("outcomes", [("done", "done"), ("done", "unknown"), ("failed", "refused")])
def test_late_signatures_are_alike_as_stored_ones(one, other, outcomes):
    """A signature that digests its result when it is compared is like the same signatures as a stored one."""
    pair = [
        Action(tool="Bash", arguments={"command": "ls"}, result=result, outcome=ActionResult(outcome))
        for result, outcome in zip((one, other), outcomes, strict=True)
    ]
    stored, late = ([signature_of(action, late=late) for action in pair] for late in (False, True))

    assert late[0].alike(late[1]) is stored[0].alike(stored[1])
    assert joined_signature(late).alike(joined_signature(late[::-1]))


def test_a_text_from_many_attempts_is_masked_in_any_case():
    """Counts of attempts are masked in capital letters and in letters of other alphabets, too."""
    assert mask_times("RETRY #3, \u0130teration 4, ta\u212ae 5") == mask_times(
        "RETRY #7, \u0130teration 8, ta\u212ae 9"
    )
