"""Candidate moves: which moves hooks, their messages and a script suggest."""

import pytest

from pytest_hookharness.campaigns.explore.candidate_moves import (
    LEFT,
    WITHHELD,
    CandidateMoves,
    Reach,
    Suggestions,
    named,
    named_in_source,
    scripted,
)
from pytest_hookharness.model.moves import Edit, Read, RunCommand, Script, Stop, ToolCall, Tools
from pytest_hookharness.model.protocol import Basis, Decision, Rule
from pytest_hookharness.model.trace import HookEvent, Step


def refused_stop(*reasons):
    """Return a step in which hooks refused a stop for some reasons."""
    rule = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
    return Step(
        number=1,
        turn=1,
        exchange=HookEvent(event="Stop", decision=Decision(event="Stop", reasons=reasons, rule=rule)),
    )


def given(*moves, **keys):
    """Return suggestions that a scenario's author gives."""
    return Suggestions(given=moves, **keys)


@pytest.mark.parametrize(
    "text,moves",
    [
        ("Run `touch notes.md` to save it.", [RunCommand(command="touch notes.md")]),
        ("The folder is locked: run ./check first.", [RunCommand(command="./check")]),
        ("Run git status and look.", [RunCommand(command="git status")]),
        ("Say so: write <promise>ALL DONE</promise>.", [Stop(text="<promise>ALL DONE</promise>")]),
        ('Reply with "tests pass" at the end.', [Stop(text="tests pass")]),
        ("Read `stop_hook_active` and mend it.", []),
        ("Run nothing-of-that-name now.", []),
        ("No.", []),
        ("Traceback (most recent call last):\n  x", []),
        ('Write "done" into STATUS.txt when it is.', [Edit(file="STATUS.txt", text="done\n")]),
        ('Run git commit -m "save and go" first.', [RunCommand(command='git commit -m "save and go"')]),
        ('Say "done" to go on.', [Stop(text="done")]),
    ],
)
def test_refusals_name_moves(text, moves):
    """Commands and texts to stop with are taken from a refusal, and other text in backticks is not."""
    found = [move for move in named(text) if "explored" not in str(move) and "rm -f" not in str(move)]

    assert found == moves


def test_files_that_are_named_are_changed_and_removed():
    """A file in a refusal gives two moves; the hooks' own folder, and paths that lead out, give none."""
    assert [*named("deps.lock must be there.")] == [
        Edit(file="deps.lock", text="explored\n"),
        RunCommand(command="rm -f deps.lock"),
    ]
    assert [*named("See .claude/hooks/check.sh or ../up.txt")] == []


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("    self.assertEqual(add(2, 2), 4)", []),
        ("data = json.loads(text); self.value", []),
        ("src/a.ts(3,5): error TS1005: ';' expected.", ["src/a.ts"]),
        ("AssertionError in add.py, line 3", ["add.py"]),
    ],
)
def test_code_in_a_message_names_no_files(text, files):
    """A call or an attribute, as a traceback shows it, is no file to edit."""
    assert [move.file for move in named(text) if isinstance(move, Edit)] == files


@pytest.mark.parametrize(
    "text",
    ["The change is not reviewed: create the file `reviewed` first.", "Please touch `reviewed`."],
)
def test_a_word_in_backticks_that_is_said_to_be_a_file_is_one(text):
    """A word that the text calls a file, or has the agent make, gives the moves of a file."""
    assert [*named(text)] == [Edit(file="reviewed", text="explored\n"), RunCommand(command="rm -f reviewed")]


@pytest.mark.parametrize(
    "source",
    [
        'os.path.exists(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "reviewed"))',
        'mark = os.path.join(os.environ.get("CLAUDE_PROJECT_DIR", "."), "reviewed")',
        'mark = Path(os.environ["CLAUDE_PROJECT_DIR"]) / "reviewed"',
        'if not (root / "reviewed").exists():',
        'os.path.isfile("reviewed")',
        'open("reviewed").read()',
    ],
)
def test_files_that_pythons_look_at_are_changed_and_removed(source):
    """A path that a Python hook joins or opens gives the moves of a file, with folders too."""
    assert [*named_in_source(source)] == [
        Edit(file="reviewed", text="explored\n"),
        RunCommand(command="rm -f reviewed"),
    ]
    deeper = [*named_in_source(source.replace('"reviewed"', '"notes/reviewed"'))]
    assert deeper[0] == Edit(file="notes/reviewed", text="explored\n")


@pytest.mark.parametrize(
    "source",
    [
        'count = Path(root) / "count"\ncount.write_text("1")',
        'count = os.path.join(root, "count")\nwith open(count, "a") as file: file.write("1")',
        'open(os.path.join(root, "count"), "w").write("1")',
        'open("count", mode="w")',
        '(root / "count").touch()',
    ],
)
def test_state_that_pythons_make_is_only_removed(source):
    """A file that a Python hook writes is its own state: it may be removed, and is never written."""
    assert [*named_in_source(source)] == [RunCommand(command="rm -f count")]


def test_quoted_words_that_are_no_paths_are_no_files():
    """A key that is looked up and a text that is joined give no moves."""
    assert [*named_in_source('x = data["tool_name"]\nprint(", ".join(names, "x"))\ny = 4 / 2')] == []


@pytest.mark.parametrize(
    ("reach", "withheld"),
    [
        (Reach.CONTAINED, []),
        (Reach.WORKSPACE, ["rm -rf /data", "rm -rf ~/data", "rm ../data"]),
        (Reach.MACHINE, ["rm -rf /data", "rm -rf ~/data", "rm ../data", "touch ./a/b", "rm -f a/b"]),
    ],
)
def test_a_command_that_only_a_hook_names_is_withheld(reach, withheld):
    """Without containment it counts as left out, unless the author gives it too."""
    commands = [
        "rm -rf /data",
        "rm -rf ~/data",
        "rm ../data",
        "touch ./a/b",
        "rm -f a/b",
        "rm -f a",
        "git push",
    ]
    candidates = CandidateMoves(
        given(Stop(), RunCommand(command="git push"), reach=reach), limit=9, fixed=False
    )
    candidates.learn([refused_stop(*(f"Never run `{command}`." for command in commands))] * 2)

    assert {*commands} - {move.command for move in candidates.moves if isinstance(move, RunCommand)} == {
        *withheld
    }
    assert candidates.missing[WITHHELD] == len(withheld)


def test_hooks_are_no_files_to_change():
    """A refusal that names its own script suggests no move for it, nor does a look at itself."""
    candidates = CandidateMoves(given(Stop(), hooks=frozenset({"scripts/never.py"})), limit=9, fixed=False)
    candidates.learn(
        [refused_stop("Refused by scripts/never.py.", "See ./scripts/never.py.", "Write notes.md.")]
    )

    assert candidates.moves == [
        Stop(),
        Edit(file="notes.md", text="explored\n"),
        RunCommand(command="rm -f notes.md"),
    ]
    assert [*named_in_source("[ -x ./scripts/never.py ] || exit 0\n", {"scripts/never.py"})] == []


def test_state_that_hooks_make_is_only_removed():
    """A file that a hook looks at may be made and removed, one that it makes itself only removed."""
    found = [*named_in_source("[ -e checked ] || touch .lock\n")]

    assert found == [
        Edit(file="checked", text="explored\n"),
        RunCommand(command="rm -f checked"),
        RunCommand(command="rm -f .lock"),
    ]


def test_a_script_gives_its_moves_but_for_those_to_refuse():
    """Moves of a script are candidates without their labels, and calls that must be refused are not."""
    acts = (
        RunCommand(command="make", label="agent[1].run"),
        RunCommand(command="rm -rf /", expect="deny"),
        Read(file="a.txt", say="Let me see."),
        Tools(calls=(ToolCall(name="X", input={}, expect="deny"),)),
    )

    assert [*map(str, CandidateMoves(given(*scripted(Script(acts=acts))), limit=9, fixed=False).moves)] == [
        *map(str, [Stop(), RunCommand(command="make"), Read(file="a.txt")])
    ]


def test_candidates_are_added_up_to_the_limit():
    """A move that hooks name is added once, and moves beyond the limit are counted."""
    candidates = CandidateMoves(given(Stop()), limit=2, fixed=False)
    candidates.learn([refused_stop("Run `make test`.", "Run `make test`."), refused_stop("Run `make lint`.")])

    assert candidates.moves == [Stop(), RunCommand(command="make test")]
    assert candidates.missing == {LEFT: 1}


def test_given_candidates_stay_as_they_are():
    """If the author gives the moves, nothing is added but a stop."""
    candidates = CandidateMoves(given(RunCommand(command="make")), limit=9, fixed=True)
    candidates.learn([refused_stop("Run `make test`.")])

    assert candidates.moves == [Stop(), RunCommand(command="make")]
    assert not candidates.missing
