"""Claims about the comparison of a simulated and a real session, on plain values."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.live.comparison import compare
from pytest_hookharness.campaigns.live.listed_differences import LISTED, ListedDifference
from pytest_hookharness.campaigns.live.live_record import live_record
from pytest_hookharness.campaigns.live.normalisation import normalised, normalised_text
from pytest_hookharness.campaigns.live.session_record import (
    ComparableSession,
    RecordedRun,
    SeenText,
    read_tapped,
)
from pytest_hookharness.reports.trace.read import first_mismatch
from pytest_hookharness.reports.trace.schema import DEFINITIONS, RECORDS

PROFILE = hosts.find("codex")
UUID = "0190aaaa-bbbb-4ccc-8ddd-eeeeffff0000"


def run(event="Stop", command="./check.sh", newline="", **keys):
    """One recorded run with these keys in its input."""
    return RecordedRun(
        event=event,
        command=command,
        stdin=f"{json.dumps({'hook_event_name': event, **keys})}{newline}".encode(),
    )


def session(base="/a", **changes):
    """A session of two messages of the model."""
    record = ComparableSession(
        runs=(
            (run("UserPromptSubmit", cwd=f"{base}/workspace"),),
            (run("PreToolUse"), run("PostToolUse")),
            (run(),),
        ),
        told=((SeenText(text="Go."),), (SeenText(text=f"wrote {base}/workspace/a.txt"),)),
        files={"workspace/a.txt": "file 644 one"},
        end="it ended by itself",
        folders=((f"{base}/workspace", "workspace"), (f"{base}/home", "home")),
    )
    return replace(record, **changes)


def differences(real, **options):
    """What differs from the simulated session, by category and in both values."""
    found = compare(PROFILE, "0.169.0", session(), real, **options).differences
    return [(one.category, one.simulated, one.real) for one in found]


def test_the_same_session_in_other_folders():
    """Two runs that differ in their folders alone agree in every item."""
    comparison = compare(PROFILE, "0.169.0", session(), session("/some/where"))

    assert comparison.differences == ()
    assert comparison.compared["payload keys"] == 4
    assert comparison.agreed("payload keys") == 4


RUNS = session().runs


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"runs": (*RUNS[:2], ())}, [("hook runs", "1", "0"), ("order of events", "['Stop']", "[]")]),
        (
            {"runs": (RUNS[0], RUNS[1][::-1], RUNS[2])},
            [("order of events", "['PreToolUse', 'PostToolUse']", "['PostToolUse', 'PreToolUse']")],
        ),
        (
            {"runs": (*RUNS[:2], (run(more=1),))},
            [("payload keys", "hook_event_name", "hook_event_name, more")],
        ),
        (
            {"runs": ((run("UserPromptSubmit", cwd="/elsewhere"),), *RUNS[1:])},
            [("payload values", "<workspace>", "/elsewhere")],
        ),
        ({"runs": (*RUNS[:2], (run(newline="\n"),))}, [("final newline", "False", "True")]),
        (
            {"told": (session().told[0], (SeenText(text="wrote nothing"),))},
            [("told", "wrote <workspace>/a.txt", "wrote nothing")],
        ),
        (
            {"told": ((*session().told[0], SeenText(text="look", event="Stop")), session().told[1])},
            [("told", "nothing", "look")],
        ),
        ({"told": session().told[:1]}, [("turns", "2", "1")]),
        ({"files": {"workspace/a.txt": "file 600 one"}}, [("files", "file 644 one", "file 600 one")]),
        ({"files": {}}, [("files", "file 644 one", "nothing")]),
        ({"end": "it went on"}, [("end", "it ended by itself", "it went on")]),
    ],
)
def test_one_difference(change, found):
    """Each change of the real session is one difference, of its own category, with both values."""
    assert differences(session(**change)) == found


def test_a_text_in_several_parts():
    """A text of the simulation agrees if the model of the real program got it in parts."""
    parts = (SeenText(text="wrote "), SeenText(text="/a/workspace/a.txt"))

    assert not differences(session(told=(session().told[0], parts)))


def test_the_first_difference_of_the_session_comes_first():
    """Differences come in the order of the session, whatever their category; those about all of it last."""
    real = session(
        runs=(RUNS[0], RUNS[1], (run(more=1),)),
        told=(session().told[0], (SeenText(text="wrote nothing"),)),
        end="it went on",
    )

    found = compare(PROFILE, "0.169.0", session(), real).differences

    assert [(one.category, one.turn) for one in found] == [("told", 2), ("payload keys", 2), ("end", None)]


def test_both_sides_in_a_trace_file():
    """The record of a comparison has both sessions message by message, normalised, and is valid."""
    simulated = session(moves=("writes /a/workspace/a.txt", "stops"))
    real = session("/b", moves=("writes /b/workspace/a.txt", "stops"), end="it went on")
    comparison = compare(PROFILE, "0.169.0", simulated, real)

    record = json.loads(json.dumps(live_record(comparison, simulated, real)))

    assert first_mismatch(record, RECORDS["live"], DEFINITIONS) == ""
    assert record["headline"].endswith("program 0.169.0; first: end of the session")
    assert [one["turn"] for one in record["differences"]] == [None]
    middle = record["turns"][1]
    assert middle["simulated"] == middle["real"]
    assert [(entry["who"], entry["text"]["text"]) for entry in middle["real"]] == [
        ("told", "Go."),
        ("agent", "writes <workspace>/a.txt"),
        ("PreToolUse", "./check.sh"),
        ("PostToolUse", "./check.sh"),
    ]


def test_a_known_difference_is_agreement():
    """A known difference has its reason in the record, and the run counts as agreement."""
    profile = hosts.find("gemini-cli")
    made = (run("AfterAgent", prompt_response=text) for text in ("two", "one\ntwo"))
    simulated, real = (session(runs=((), (), (one,))) for one in made)
    comparison = compare(profile, "0.61.0", simulated, real)

    record = live_record(comparison, simulated, real)

    assert record["agreed"]
    assert record["headline"].endswith(", 1 known difference")
    assert [one["known"] for one in record["differences"]] == [
        "prompt_response holds the texts of refused stops too"
    ]


def test_events_that_run_at_the_same_time():
    """The order of events that the host may run at the same time is not compared, that of others is."""
    swapped = session(runs=(RUNS[0], RUNS[1][::-1], RUNS[2]))
    together = (frozenset({"PreToolUse", "PostToolUse"}),)

    assert differences(swapped, unordered=together) == []
    assert differences(swapped, unordered=(frozenset({"Stop", "SessionEnd"}),)) != []


def test_the_same_calls_in_another_order():
    """Runs for several calls of one message are paired by the call, not by their order."""
    one, two = (run("PreToolUse", tool_input={"command": f"echo {n}"}) for n in "12")
    simulated, real = (session(runs=((), made, ())) for made in ((one, two), (two, one)))

    assert compare(PROFILE, "0.169.0", simulated, real).differences == ()


def test_the_rule_behind_a_difference():
    """A difference in an input names the rule of the profile about the keys of that event."""
    (found,) = compare(PROFILE, "0", session(), session(runs=(*RUNS[:2], (run(more=1),)))).differences

    assert found.rule == PROFILE.events["Stop"].fields.rule


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("/base/workspace/a and -base-workspace", "<workspace>/a and <workspace>"),
        ("id 0190aaaa-bbbb-4ccc-8ddd-eeeeffff0000.", "id <uuid>."),
        ("toolu_000001 and call_3_1", "<call> and <call>"),
        ("at 2026-01-05T09:00:01.000Z, in 2026/01/05/", "at <time>, in <day>/"),
        ("version 2.1.329", "version 2.1.329"),
    ],
)
def test_what_is_made_alike(text, alike):
    """Folders, identifiers and times become words; anything else stays."""
    assert normalised_text(text, [("/base/workspace", "workspace")]) == alike


def test_values_that_are_made_alike():
    """Durations and names of models are made alike by their key; other numbers, and truth values, stay."""
    value = {"duration_ms": 3, "count": 3, "timestamp": True, "list": [{"duration_ms": 0.5}], "model": "m"}

    assert normalised(value, []) == {
        "duration_ms": "<number>",
        "count": 3,
        "timestamp": True,
        "list": [{"duration_ms": "<number>"}],
        "model": "<model>",
    }


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"folder": "/b/workspace/sub"}, [("<workspace>", "<workspace>/sub")]),
        ({"env": {"HOST": "/b/home", "USER": "me", "PATH": "/own:/bin"}}, []),
        ({"env": {"HOST": "/b/home/x"}}, [("<home>", "<home>/x")]),
        ({"env": {"HOST": None}}, [("<home>", "nothing")]),
        ({"env": {}}, [("<home>", "nothing")]),
        ({"folder": "", "env": {}}, []),
    ],
)
def test_surroundings_of_a_run(change, found):
    """Working folder and the variables that the host changes are compared, except those of shell and user."""
    mine = replace(run(), folder="/a/workspace", env={"HOST": "/a/home", "SHLVL": "1"})
    theirs = replace(mine, **{"folder": "/b/workspace", "env": {"HOST": "/b/home"}, **change})
    simulated = session(runs=(*RUNS[:2], (mine,)))
    real = session("/b", runs=(*session("/b").runs[:2], (theirs,)))
    differing = compare(PROFILE, "0.169.0", simulated, real).differences

    assert [(one.simulated, one.real) for one in differing] == found
    assert {one.category for one in differing} <= {"surroundings"}


def test_how_much_is_listed():
    """The profiles of Claude Code and Codex have at most five known differences from the real programs."""
    listed = {(one.host, one.reason) for one in LISTED if one.host.startswith(("claude-code@", "codex@"))}

    assert len(listed) <= 5


def test_a_listed_difference():
    """A known difference belongs to one version, category and value; another one is new."""
    known = ListedDifference(host="codex@0.169.0", category="files", where="a", real="nothing", reason="so")
    (found,) = compare(PROFILE, "0", session(), session(files={})).differences

    assert known.covers("codex@0.169.0", found)
    assert not known.covers("codex@0.170.0", found)
    assert not known.covers("codex@0.169.0", replace(found, real="other"))
    assert not known.covers("codex@0.169.0", replace(found, category="told"))
    assert all(one.reason and one.host in hosts.names() for one in LISTED)


def test_runs_as_the_tap_notes_them():
    """Of several lines about one run the last counts, and runs come in the order of their starts."""
    env = {"A": "1", "B": "3"}
    begun = {"pid": 2, "at": 2.0, "command": "b", "cwd": "/", "env": env, "stdin": b"", "exit": None}
    lines = [
        begun,
        {**begun, "pid": 1, "at": 1.0, "command": "a"},
        {**begun, "stdin": b'{"hook_event_name": "Stop"}', "exit": 2},
    ]
    (_, first), (_, second) = read_tapped(map(repr, lines), {"A": "1", "B": "2", "C": "4"})

    assert (first.command, first.exit, first.event) == ("a", None, "")
    assert (second.command, second.exit, second.event) == ("b", 2, "Stop")
    assert second.env == {"B": "3", "C": None}


@pytest.mark.parametrize(("real", "known"), [("file 600 one", True), ("file 600 two", False)])
def test_a_known_difference_in_a_part_of_a_value(real, known):
    """A difference that is known of a part of a value is known only if the rest of the value agrees."""
    profile = hosts.find("openhands")
    simulated, other = (session(files={"workspace/a": one}) for one in ("file 644 one", real))

    record = live_record(compare(profile, "1.58", simulated, other), simulated, other)

    assert record["agreed"] is known
