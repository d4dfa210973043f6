"""The online detector call by call: when it refuses, what it says, and that the agent can always continue."""

import json

import pytest

from pytest_hookharness.judging.detectors.messages import MARK, LoopLimits, preview
from pytest_hookharness.judging.detectors.online import Malformed, OnlineDetector, from_json, to_json
from pytest_hookharness.model.actions import Action, ActionResult

LIMITS = LoopLimits()


class Session:
    """An agent behind the guard, and the files that it works on."""

    def __init__(self):
        self.watch = OnlineDetector()
        self.files = {}
        self.said = []

    def call(self, tool, result="ok", outcome=ActionResult.DONE, **arguments):
        """Try a call; return the text of its refusal, or ``None``."""
        intent = Action(tool=tool, arguments=arguments)
        file = arguments.get("file_path")
        self.watch, refusal = self.watch.before(intent, self.files.get(file), LIMITS)
        if refusal is not None:
            return refusal.text
        done = Action(tool=tool, arguments=arguments, result=result, outcome=outcome)
        self.watch, warning = self.watch.after(done, self.files.get(file), LIMITS)
        self.said.append(warning.text if warning else "")
        return ""

    def run(self, command, result="error: x", outcome=ActionResult.FAILED):
        return self.call("Bash", result, outcome, command=command)

    def edit(self, old, outcome=ActionResult.FAILED):
        return self.call("Edit", "not found", outcome, file_path="a.py", old_string=old, new_string="z")


@pytest.fixture
def session():
    return Session()


def test_the_third_call_is_refused(session):
    """The third equal call is refused, with a reason that names it and a way to continue."""
    assert [session.run("make") for _ in range(2)] == ["", ""]

    refusal = session.run("make")

    assert refusal.startswith(f"{MARK} this call would close a loop.")
    assert 'Bash {"command": "make"}' in refusal
    assert "\nNext: " in refusal


def test_a_stubborn_agent_is_not_locked_out(session):
    """
    After each refusal the same call is allowed twice, so the guard's own refusals never lock the agent out.
    """
    refused = [bool(session.run("make")) for _ in range(9)]

    assert refused == [False, False, True] * 3


def test_another_call_is_a_way_out_too(session):
    """A refused call is allowed after another call."""
    for _ in range(3):
        session.run("make")

    assert session.run("ls", "a.py", ActionResult.DONE) == ""
    assert session.run("make") == ""


def test_a_cycle_is_refused_at_its_last_call(session):
    """The call that would complete the third repetition of a cycle is refused, and none before it."""
    refused = [bool(session.run(word, word, ActionResult.DONE)) for word in "abcabcabc"]

    assert refused == [False] * 8 + [True]


def test_failures_stop_the_next_call(session):
    """After three failures with one error text the next call is refused, unless it reads a file."""
    for word in ("build", "link", "pack"):
        assert session.run(word) == ""

    assert session.call("Read", "text", file_path="log.txt") == ""
    for word in ("build", "link", "pack"):
        session.run(word)
    assert "3 calls in a row failed with one error" in session.run("ship")


def test_the_ladder_of_failed_edits(session):
    """A failed edit gives a warning, the second requires a read first, and the third ends the editing."""
    session.files["a.py"] = "\n".join(f"line {number}" for number in range(20))

    assert session.edit("one") == ""
    assert "read a.py before the next try" in session.said[-1]
    assert "line 9" in session.said[-1]
    assert "line 10" not in session.said[-1]
    assert session.edit("two") == ""
    assert "you have not read it since" in session.edit("three")
    session.call("Read", "text", file_path="a.py")
    assert session.edit("three") == ""
    session.call("Read", "text", file_path="a.py")
    assert "the last 3 edits of a.py failed" in session.edit("four")
    assert session.edit("four") == ""


def test_a_successful_edit_ends_the_ladder(session):
    """After a successful edit failures are counted from 0."""
    session.edit("one")
    session.edit("two", ActionResult.DONE)

    session.edit("three")

    assert "read a.py before the next try" in session.said[-1]


def test_a_file_that_changed_is_shown_first(session):
    """An edit whose passage disappeared because the file changed is refused once, and the file is shown."""
    session.files["a.py"] = "old\n"
    session.call("Read", "old", file_path="a.py")
    session.files["a.py"] = "new\n"

    refusal = session.edit("old")

    assert "a.py changed since you last read it" in refusal
    assert refusal.endswith("new\n")
    assert session.edit("new", ActionResult.DONE) == ""


def test_content_counts_and_not_time(session):
    """A file that was rewritten with the same text, or changed elsewhere, does not stop an edit."""
    session.files["a.py"] = "old\n"
    session.call("Read", "old", file_path="a.py")
    session.files["a.py"] = "old\nand more\n"

    assert session.edit("old", ActionResult.DONE) == ""


def test_a_new_text_over_unseen_changes(session):
    """Rewriting a whole file is refused once if the file changed since the agent read it."""
    session.files["a.py"] = "old\n"
    session.call("Read", "old", file_path="a.py")
    session.files["a.py"] = "theirs\n"
    write = {"file_path": "a.py", "content": "mine\n"}

    assert "theirs" in session.call("Write", **write)
    assert session.call("Write", **write) == ""


def test_a_preview_is_plain():
    """A preview has ten shortened lines without characters that control a terminal."""
    shown = preview("\x1b[2J\n" + "x" * 500 + "\n" * 30)

    assert "\x1b" not in shown
    assert len(shown.split("\n")) == 10
    assert max(map(len, shown.split("\n"))) == 200


def test_memory_survives_json(session):
    """Memory that is stored as JSON comes back unchanged."""
    session.files["a.py"] = "old\n"
    session.run("make")
    session.edit("one")

    assert from_json(json.loads(json.dumps(to_json(session.watch)))) == session.watch


@pytest.mark.parametrize(
    "kept_workspace",
    [
        None,
        {},
        [1],
        {"recent": [["a"]], "runs": [], "streak": ["", 0, ""], "files": []},
        {"recent": [], "runs": [-1], "streak": ["", 0, ""], "files": []},
        {"recent": [], "runs": 3, "streak": ["", 0, ""], "files": []},
        {"recent": [], "runs": [], "streak": ["", True, ""], "files": []},
        {"recent": [], "runs": [], "streak": ["", 0, ""], "files": [["a", "b", 1, 2]]},
    ],
)
def test_strange_memory_is_refused(kept_workspace):
    """JSON of another form is rejected."""
    with pytest.raises(Malformed):
        from_json(kept_workspace)


def test_memory_repeats_with_the_agent(session):
    """An agent that repeats itself forever brings the memory back to earlier states."""
    seen = set()
    for _ in range(300):
        session.run("status", f"{len(seen)}", ActionResult.DONE)
        session.run("make", "done", ActionResult.DONE)
        session.run("make", "done", ActionResult.DONE)
        session.run("ls", "", ActionResult.DONE)
    for _ in range(30):
        session.run("make")
        seen.add(json.dumps(to_json(session.watch)))

    assert len(seen) < 6
