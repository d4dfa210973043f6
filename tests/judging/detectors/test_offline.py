"""Which streams of an agent's calls are loops; the streams are written by hand, after the definitions."""

from itertools import chain, repeat

import pytest

from pytest_hookharness.judging.detectors.messages import LoopLimits, Unreachable
from pytest_hookharness.judging.detectors.streams import detect
from pytest_hookharness.model.actions import Action, ActionResult, Break

FAILED = ActionResult.FAILED


def run(command, result="ok", outcome=ActionResult.DONE, agent="", **more):
    return Action(
        tool="Bash",
        arguments={"command": command, **more},
        result=result,
        outcome=outcome,
        agent=agent,
        place=command,
    )


def call(tool, result="ok", outcome=ActionResult.DONE, **arguments):
    return Action(tool=tool, arguments=arguments, result=result, outcome=outcome)


def times(number, *actions):
    return list(chain.from_iterable(repeat(actions, number)))


EDIT = call("Edit", "search string not found", FAILED, file_path="a.py", old_string="x", new_string="y")
LOOPS = {
    "three like calls": (times(3, run("make")), ["repetition"]),
    "a description that differs": ([run("make", description=word) for word in "abc"], ["repetition"]),
    "failing numbers": (
        [run(f"curl :{n}", f"port {n} refused", FAILED) for n in (80, 81, 82)],
        ["repetition"],
    ),
    "counted attempts": ([run(f"make # attempt {n}") for n in range(3)], ["repetition"]),
    "times of day": ([run(f"make # 10:0{n}", f"took 0.{n}s") for n in range(3)], ["repetition"]),
    "temporary files": ([run(f"make >/tmp/tmp{w}x", "done") for w in "abc"], ["repetition"]),
    "build and install": (times(3, run("build"), run("install")), ["cycle of 2"]),
    "edit, test, read, edit": (
        times(3, EDIT, run("pytest", "1 failed", FAILED), call("Read", "text", file_path="a.py"), run("ls")),
        ["cycle of 4"],
    ),
    "one action twice in a repetition": (times(3, run("a"), run("b"), run("a"), run("c")), ["cycle of 4"]),
    "one error, three calls": ([run(w, "no network", FAILED) for w in "abc"], ["failures"]),
    "refused by another hook": (times(3, run("push", "never", ActionResult.REFUSED)), ["repetition"]),
    "unknown results": (times(3, run("make", "", ActionResult.UNKNOWN)), ["repetition"]),
    "two loops, one after the other": (
        [*times(3, run("a")), *times(3, run("b"))],
        ["repetition", "repetition"],
    ),
    "one loop among subagents": (
        [run("make", agent=name) for name in ("one", "two", "one", "one", "two")],
        ["repetition"],
    ),
}
NO_LOOPS = {
    "twice": times(2, run("make")),
    "two repetitions": times(2, run("a"), run("b"), run("c")),
    "waiting in the call": times(9, run("sleep 5; status", "busy")),
    "waiting beside it": times(9, run("status", "busy"), run("sleep 5", "")),
    "a tool that waits": times(9, call("BashOutput", "", bash_id="1")),
    "a terminal that is looked at": times(9, call("terminal", "", command="")),
    "a result that changes": [run("status", f"{n} of 9") for n in range(9)],
    "numbers that name things": [run(f"gh issue close {n}", "closed") for n in range(9)],
    "pages": [call("Read", f"page {n}", file_path="a", offset=n) for n in range(9)],
    "empty results": [run(f"touch -d 10:0{n} a", "") for n in range(9)],
    "files of a project below /tmp": [run(f"pytest /tmp/p/test_{n}.py", "1 passed") for n in range(9)],
    "edits whose numbers differ": [call("Edit", file_path="a", old_string=f"{n}") for n in range(9)],
    "a success between failures": times(
        5, run("a", "e", FAILED), run("b", "e", FAILED), run("c", "e"), run("d")
    )[:7],
    "other errors": [run(w, f"{w} not found", FAILED) for w in ("ant", "bee", "cow", "dog")],
    "an exit code without words": [run(f"grep {w} x", "Exit code 1", FAILED) for w in "abcd"],
    "prompts between": times(9, run("make"), Break(why="prompt")),
    "the guard's own refusals": times(
        5, run("a", "e", FAILED), run("a", "e", FAILED), run("a", "Loop guard: no.", ActionResult.REFUSED)
    ),
    "several agents": [run("make", agent=str(n)) for n in range(9)],
}


@pytest.mark.parametrize(("stream", "titles"), LOOPS.values(), ids=LOOPS)
def test_loops_are_named(stream, titles):
    """A loop in a stream is reported with its title and period."""
    assert [loop.title for loop in detect(stream)] == titles


@pytest.mark.parametrize("stream", NO_LOOPS.values(), ids=NO_LOOPS)
def test_what_is_no_loop(stream):
    """Polling, batch work, text of other programs and the guard's own refusals are no loops."""
    assert detect(stream) == ()


@pytest.mark.parametrize("period", range(1, 9))
def test_every_period_is_the_smallest(period):
    """A cycle of up to eight calls is reported with its smallest period, its calls and its place."""
    repetition = [run(f"step-{letter}") for letter in "abcdefgh"[:period]]
    (loop,) = detect([run("before"), *times(4, *repetition), run("after")])

    assert (loop.period, loop.count, loop.first, loop.last) == (period, 4, "step-a", repetition[-1].place)


def test_a_period_of_nine_is_beyond():
    """A cycle of nine calls is too long to be detected."""
    assert detect(times(9, *(run(f"step-{letter}") for letter in "abcdefghi"))) == ()


def test_the_words_of_a_loop():
    """A loop is reported with tool, arguments and count, and with advice."""
    (loop,) = detect(times(4, run("make")))

    assert loop.text == 'The same call was made 4 times in a row: Bash {"command": "make"}.'
    assert "stop" in loop.advice


def test_drift_is_said():
    """The message mentions noise that differs between the repetitions."""
    (loop,) = detect([run(f"make # try {n}") for n in range(3)])

    assert loop.drifting
    assert "apart from numbers, times and temporary names" in loop.text


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (
            {"repetitions": 10, "window": 5},
            "repetitions: 10 can never be reached, because the window holds 5 actions",
        ),
        ({"failures": 6, "repetitions": 2, "window": 5}, "failures: 6 can never be reached"),
        ({"repetitions": 1}, "repetitions: 1 is too small for a loop"),
    ],
)
def test_limits_out_of_reach(limits, says):
    """A limit that no stream can reach is an error that names the window and what would fit."""
    with pytest.raises(Unreachable, match=says):
        LoopLimits(**limits)


def test_the_window_sets_the_longest_period():
    """A window that holds three repetitions of two calls detects cycles of two, and none of three."""
    limits = LoopLimits(window=6)

    assert len(detect(times(3, run("a"), run("b")), limits)) == 1
    assert detect(times(3, run("a"), run("b"), run("c")), limits) == ()
