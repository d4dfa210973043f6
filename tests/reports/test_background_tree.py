"""Trees of background processes and of the threads that they start."""

from pytest_hookharness.model.background import BackgroundReport, BackgroundRun, Denial, HookThread
from pytest_hookharness.reports.terminal.agent_tree import render_background

HOSTILE = "\x1b[2J\n\u202e" + "x" * 5000


def ran(name, by=0, **more):
    """A process that was seen."""
    return BackgroundRun(id=name, name="build", by=by, depth=0, pid=7, **more)


def thread(number, process, because="on_exit (exit code 1: failure)", **more):
    """A thread that was spawned."""
    return HookThread(
        number=number, name="build", process=process, hook="build.on_exit", because=because, depth=1, **more
    )


def test_no_process_gives_no_tree():
    """Without a detached process there is no tree."""
    assert render_background(BackgroundReport()) == []


def test_the_tree():
    """Each process is below the thread that detached it, with the results of its hooks."""
    tracked = BackgroundReport(
        processes=(
            ran("build", ended=2.5, started=1.0, code=1, lines=3, missed=2),
            ran("build.2", by=1, side=True),
        ),
        threads=(
            thread(1, "build", turns=(3, 4), verdict="terminated"),
            thread(2, "build"),
            thread(3, "build", turns=(5, 5), verdict="hung"),
        ),
        denials=(
            Denial(process="build.2", hook="build.on_exit", reason="a limit", stops=True),
            Denial(process="rm", hook="", reason="no such process", stops=False),
        ),
    )

    assert render_background(tracked) == [
        "  processes and the threads of their hooks",
        "    build (pid 7)  exited 1 after 1.5 s, 3 lines, 2 of them unwatched",
        "      on_exit (exit code 1: failure) -> thread 1, depth 1: turns 3 to 4, terminated",
        "        build.2 (pid 7), started with unknown parent  still running, 0 lines",
        "          build.on_exit -> no thread: a limit",
        "      on_exit (exit code 1: failure) -> thread 2, depth 1: due, but not played",
        "      on_exit (exit code 1: failure) -> thread 3, depth 1: turn 5, hung",
        "    detach rm -> not started: no such process",
    ]


def test_hostile_words_and_long_trees_are_bounded():
    """With any output of processes, the tree stays short and does not act on a terminal."""
    tracked = BackgroundReport(
        processes=tuple(ran(f"{number}{HOSTILE}") for number in range(500)),
        threads=(thread(1, f"1{HOSTILE}", because=HOSTILE),),
        denials=(Denial(process=HOSTILE, hook=HOSTILE, reason=HOSTILE, stops=False),),
    )

    lines = render_background(tracked)

    assert len(lines) == 41
    assert all(line.isprintable() and len(line) < 300 for line in lines)
