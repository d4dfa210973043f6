"""The corpus of hooks: its labels belong to its files, and hold when the hooks are driven anew."""

import hashlib
import json
from collections import Counter

import pytest

from .drive import HOOKS, LABELS, MOST_RUNS, SUBJECTS, Broken, Drive, can_run, drive, interpreter_of

KNOWN = json.loads(LABELS.read_text(encoding="utf-8"))
QUICK = 5


def endless(name: str) -> bool:
    return KNOWN[name]["ends_after"] is None


# The slowest goes first and quick ones follow, because workers take several of the first items at once.
SLOWEST_FIRST = sorted(
    KNOWN, key=lambda name: (not name.endswith(".js"), endless(name), not name.endswith(".py"))
)


def strangers(hooks, known):
    """The names of hooks that differ from those that were labelled."""
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in hooks.iterdir() if path.is_file()
    }
    return sorted(
        name for name in found.keys() | known.keys() if found.get(name) != known.get(name, {}).get("sha256")
    )


def script_of(name: str) -> bytes:
    """A hook of the corpus; the test is skipped where its interpreter is missing."""
    script = (HOOKS / name).read_bytes()
    if not can_run(interpreter := interpreter_of(script)):
        pytest.skip(f"{interpreter} is not installed, so nothing is known about {name}")
    return script


def test_labels_belong_to_the_hooks():
    """Every hook is, byte for byte, the one that was labelled."""
    assert strangers(HOOKS, KNOWN) == []


def test_a_changed_hook_is_seen(tmp_path):
    """A hook that was changed, one that is gone and one that was added are each named."""
    for name in KNOWN:
        (tmp_path / name).write_bytes((HOOKS / name).read_bytes())
    (tmp_path / "always_refuses.sh").write_text("exit 0\n")
    (tmp_path / "three_strikes.sh").unlink()
    (tmp_path / "another.sh").write_text("exit 2\n")

    assert strangers(tmp_path, KNOWN) == ["always_refuses.sh", "another.sh", "three_strikes.sh"]


def test_the_corpus_is_balanced():
    """There are sixty hooks in three languages, half of them end, and each has some of either kind."""
    kinds = Counter((known["interpreter"], known["ends_after"] is None) for known in KNOWN.values())

    assert len(KNOWN) == 60
    assert sum(number for (_, never), number in kinds.items() if never) == 30
    assert {interpreter for interpreter, _ in kinds} == {"bash", "python3", "node"}
    assert len(kinds) == 6


def test_labels_are_complete():
    """Each label says how far its hook was driven, and every hook has a subject."""
    subjects = json.loads(SUBJECTS.read_text(encoding="utf-8"))

    assert subjects.keys() == KNOWN.keys()
    assert {known["hook_runs"] for known in KNOWN.values() if known["ends_after"] is None} == {MOST_RUNS}
    assert [
        name
        for name, known in KNOWN.items()
        if known["hook_runs"] != (known["ends_after"] or MOST_RUNS - 1) + 1
    ] == []
    assert [name for name in KNOWN if KNOWN[name]["agent"] != subjects[name]["agent"]] == []


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, known in KNOWN.items()
        if (known["ends_after"] or MOST_RUNS) <= QUICK and not known["moved_by"]
    ],
)
def test_short_loops_end_as_labelled(name):
    """A hook that allows the stop early does so after the number of refusals in its label."""
    known = KNOWN[name]

    assert drive(script_of(name), name=name, behaviour=known["agent"]).ends_after == known["ends_after"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", SLOWEST_FIRST)
def test_labels_hold(name):
    """A hook ends after the refusals in its label, at any time if time decides, or in none of its runs."""
    known = KNOWN[name]
    found = drive(script_of(name), name=name, behaviour=known["agent"])

    if "time" in known["moved_by"]:
        assert found.ends_after is not None
    else:
        assert found == Drive(known["ends_after"], known["hook_runs"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exit 0", Drive(0, 1)),
        ("echo no >&2; exit 2", Drive(None, 6)),
        ('echo \'{"decision": "block", "reason": "no"}\'', Drive(None, 6)),
        ("echo '{\"continue\": true}'", Drive(0, 1)),
        ("echo x >> log; [ $(wc -l < log) -gt 4 ] || { echo no >&2; exit 2; }", Drive(4, 5)),
        ("[ -f touched-3.txt ] || { echo no >&2; exit 2; }", Drive(2, 3)),
        (
            "read -r told; [[ $told == *'\"stop_hook_active\":true'* ]] || { echo no >&2; exit 2; }",
            Drive(1, 2),
        ),
        (
            '[ $(cat "$HOME"/.claude/projects/*/*.jsonl | wc -l) -ge 12 ] || { echo no >&2; exit 2; }',
            Drive(2, 3),
        ),
    ],
)
def test_the_oracle_counts_refusals(body, expected):
    """The oracle counts refusals of either form, and shows the hook edits and a growing transcript."""
    script = f"#!/usr/bin/env bash\n{body}\n".encode()

    assert drive(script, name="toy.sh", behaviour="editing", hook_runs=6) == expected


@pytest.mark.parametrize("body", ["exit 1", "exit 2", "echo oops >&2", "kill -9 $$"])
def test_the_oracle_calls_trouble_trouble(body):
    """A hook that fails, refuses without a reason, or complains while it allows the stop gets no label."""
    with pytest.raises(Broken, match=r"toy\.sh: exited"):
        drive(f"#!/usr/bin/env bash\n{body}\n".encode(), name="toy.sh")
