"""The rules of process hooks, with plain values and made-up times."""

from itertools import pairwise

import pytest

from pytest_hookharness.model.background import (
    BackgroundProcess,
    OnExit,
    OnOutputMatch,
    OnTimeout,
    ProcessHook,
    Rate,
    ThreadLimits,
)
from pytest_hookharness.simulation.background.engine import advance, next_due
from pytest_hookharness.simulation.background.engine_state import (
    Detached,
    EngineState,
    OutputLine,
    Policy,
    ProcessExited,
    RunProcess,
    SpawnThread,
    Started,
    ThreadEnded,
    Tick,
    UserStarted,
)

ANY_EXIT = ProcessHook(trigger=OnExit(), instructions="Look.")
ERRORS = ProcessHook(trigger=OnOutputMatch(r"ERROR \d+"))


class Run:
    """Policy and state to which events are applied; it keeps every action."""

    def __init__(self, *hooks, limits=None, **processes):
        self.policy = Policy(
            processes={"build": BackgroundProcess(run="make", hooks=hooks), **processes},
            limits=limits or ThreadLimits(),
        )
        self.state = EngineState()
        self.actions = []

    def __call__(self, *events):
        for event in events:
            self.state, actions = advance(self.policy, self.state, event)
            self.actions += actions
        return self

    def detach(self, name="build", by=0, at=0.0):
        """Detach and start a process; return its id."""
        self(Detached(name=name, by=by, at=at))
        made = self.actions[-1]
        assert isinstance(made, RunProcess)
        self(Started(process=made.process, pid=41 + len(self.state.watched), at=at))
        return made.process

    @property
    def spawned(self):
        """Return the threads to run, in order."""
        return [action for action in self.actions if isinstance(action, SpawnThread)]

    @property
    def denied(self):
        """Return what was refused."""
        return list(self.state.denials)


def ends(process="build", code=0, at=1.0):
    """Return the end of a process."""
    return ProcessExited(process=process, code=code, at=at)


@pytest.mark.parametrize(
    ("codes", "code", "hook_runs"),
    [
        ((), 0, True),
        ((), 137, True),
        ((0,), 0, True),
        ((0,), 1, False),
        ((1, 2), 2, True),
        ((137,), 9, False),
    ],
)
def test_an_exit_fires_for_its_codes(codes, code, hook_runs):
    """A hook for an exit fires for any code, or for the codes that it names."""
    run = Run(ProcessHook(trigger=OnExit(codes)))
    run.detach()

    assert bool(run(ends(code=code)).spawned) is hook_runs


def test_an_exit_fires_once():
    """An exit that is reported twice, by a watcher and by the one after it, spawns one thread."""
    run = Run(ANY_EXIT)
    run.detach()

    assert len(run(ends(), ThreadEnded(at=2.0), ends(), ends(at=4.0)).spawned) == 1
    assert run.state.watched["build"].run.ended == 1.0


def test_lines_are_matched_one_by_one():
    """A pattern is searched in each line, and a match across the end of a line is none."""
    run = Run(ERRORS)
    run.detach()
    run(OutputLine(process="build", text="ERROR", at=1.0), OutputLine(process="build", text="12", at=1.0))
    assert run.spawned == []

    assert len(run(OutputLine(process="build", text="an ERROR 12 here", at=1.0)).spawned) == 1


def test_a_noisy_process_spawns_what_it_may():
    """Ten thousand matching lines spawn as many threads as the hook allows, and no start is refused."""
    run = Run(ERRORS, ProcessHook(trigger=OnOutputMatch("ERROR"), max_spawns=3))
    run.detach()
    for number in range(10_000):
        run(OutputLine(process="build", text=f"ERROR {number}", at=1.0), ThreadEnded(at=1.0))

    hooks = [spawn.thread.hook for spawn in run.spawned]
    assert (hooks.count("build.on_output_match"), hooks.count("build.on_output_match.2")) == (1, 3)
    assert (run.denied, run.state.watched["build"].run.lines) == ([], 10_000)
    assert len(run.state.watched["build"].tail) == 50


def test_a_timeout_fires_once_and_not_early():
    """A hook for a timeout fires at its time, and only then; before, it says when that is."""
    run = Run(ProcessHook(trigger=OnTimeout(30.0)))
    run.detach(at=5.0)
    assert next_due(run.policy, run.state) == 35.0
    assert run(Tick(at=34.9)).spawned == []

    assert len(run(Tick(at=35.0), ThreadEnded(at=36.0), Tick(at=99.0)).spawned) == 1
    assert next_due(run.policy, run.state) is None


@pytest.mark.parametrize(("at", "hook_runs"), [(29.0, False), (31.0, True)])
def test_an_end_that_is_reported_late_does_not_hide_a_timeout(at, hook_runs):
    """Whether a process ran too long is decided by its own times, not by when they are reported."""
    run = Run(ProcessHook(trigger=OnTimeout(30.0)))
    run.detach()

    assert bool(run(ends(at=at), Tick(at=99.0)).spawned) is hook_runs


def test_a_silent_process_still_ends():
    """Without output nothing matches, not even a pattern for everything; exit and timeout still fire."""
    run = Run(ProcessHook(trigger=OnOutputMatch("")), ProcessHook(trigger=OnTimeout(5.0)), ANY_EXIT)
    run.detach()
    run(Tick(at=6.0), ThreadEnded(at=7.0), ends(at=8.0))

    assert [spawn.thread.hook for spawn in run.spawned] == ["build.on_timeout", "build.on_exit"]


def test_several_hooks_of_one_event_run_one_after_another():
    """Each hook has a thread of its own, and the next begins when the one before has ended."""
    run = Run(ANY_EXIT, ANY_EXIT, ANY_EXIT)
    run.detach()
    seen = [len(run(event).spawned) for event in (ends(), *(ThreadEnded(at=at) for at in (2.0, 3.0, 4.0)))]

    assert seen == [1, 2, 3, 3]
    hooks = [spawn.thread.hook for spawn in run.spawned]
    assert hooks == ["build.on_exit", "build.on_exit.2", "build.on_exit.3"]


def test_a_hook_waits_for_the_user():
    """While the user's own thread runs, no other does."""
    run = Run(ANY_EXIT)(UserStarted(at=0.0))
    run.detach()
    assert run(ends()).spawned == []

    assert len(run(ThreadEnded(at=2.0)).spawned) == 1


def deepen(run, times, by=None):
    """Let each thread detach the process whose end spawned it; return the number of threads."""
    process = run.detach()
    for at in range(times):
        run(ends(process, at=float(at)))
        if not run.spawned or run.spawned[-1].thread.process != process:
            break
        process = run.detach(by=run.spawned[-1].thread.number if by is None else by[0], at=float(at))
        run(ThreadEnded(at=float(at)))
    return len(run.spawned)


@pytest.mark.parametrize("depth", [0, 1, 3, 5])
def test_depth_is_limited(depth):
    """A chain of threads is stopped at the limit, with every parent named, root first."""
    run = Run(ANY_EXIT, limits=ThreadLimits(depth=depth))

    assert deepen(run, 20) == depth
    (denial,) = run.denied
    assert denial.stops
    assert denial.reason == f"the depth limit of {depth}: the thread would be at depth {depth + 1}"
    assert denial.chain[0] == "the user's thread detached build"
    assert len(denial.chain) == 2 * depth + 2


def test_a_thread_knows_its_depth():
    """Each thread knows its depth."""
    run = Run(ANY_EXIT)
    deepen(run, 20)

    assert [spawn.context.depth for spawn in run.spawned] == [1, 2, 3]


def test_an_unknown_parent_does_not_reduce_the_depth():
    """A process with an unknown parent counts as deep as the deepest thread so far."""
    run = Run(ANY_EXIT)

    assert deepen(run, 20, by=[None]) == 3
    (denial,) = run.denied
    assert "an unknown parent, at most as deep as thread 3 (depth 3), detached build.4" in denial.chain


def test_what_the_user_detaches_later_is_not_deep():
    """A deep thread does not make the user's own processes deep."""
    run = Run(ANY_EXIT, beside=BackgroundProcess(run="true", hooks=(ANY_EXIT,)))
    deepen(run, 20)
    run(ends(run.detach("beside", by=0, at=50.0), at=51.0))

    assert run.spawned[-1].thread.depth == 1


def test_a_thread_that_never_ran_is_no_possible_parent():
    """A thread that still waits cannot be the unknown parent."""
    run = Run(ANY_EXIT)(UserStarted(at=0.0))
    run.detach()
    run(ends())

    name = run.detach(by=None, at=2.0)

    assert run.state.watched[name].run.depth == 0


def test_without_a_depth_limit_the_harness_keeps_its_own():
    """With every limit off a fixed limit of the harness remains, for threads and for processes."""
    run = Run(ANY_EXIT, limits=ThreadLimits(depth=None, most=7))
    deepen(run, 6)
    run(*(Detached(name="build", by=0, at=60.0) for _ in range(100)))

    assert len(run.spawned) == 6
    assert len(run.state.watched) == 7
    assert {denial.reason for denial in run.denied} == {"the harness's own bound of 7 processes"}


def test_a_storm_without_limits_is_bounded():
    """Lines that each spawn a thread reach the harness's own limit, which is reported once."""
    run = Run(
        ProcessHook(trigger=OnOutputMatch("E"), max_spawns=None), limits=ThreadLimits(depth=None, most=5)
    )
    run.detach()
    for _ in range(5000):
        run(OutputLine(process="build", text="E", at=1.0))

    assert len(run.state.threads) == 5
    assert [denial.reason for denial in run.denied] == ["the harness's own bound of 5 threads"]


def test_the_rate_is_shared_with_the_user():
    """The user's starts count, and a hook's thread waits until the rate allows it."""
    run = Run(ANY_EXIT, limits=ThreadLimits(rate=Rate(2, 10.0)))
    run(UserStarted(at=0.0), UserStarted(at=4.0))
    run.detach()
    run(ThreadEnded(at=5.0), ends(at=6.0))
    assert run.spawned == []
    assert next_due(run.policy, run.state) == 10.0

    assert len(run(Tick(at=9.9)).spawned) == 0
    assert len(run(Tick(at=10.0)).spawned) == 1


def test_the_rate_holds_under_load():
    """No more of many waiting threads start in any window than the rate allows, and none is lost."""
    rate, starts = Rate(3, 10.0), []
    run = Run(
        ProcessHook(trigger=OnOutputMatch("E"), max_spawns=None), limits=ThreadLimits(rate=rate, most=20)
    )
    run.detach()
    run(*(OutputLine(process="build", text="E", at=1.0) for _ in range(20)))
    for tenth in range(10, 1500):
        before = len(run.spawned)
        if len(run(ThreadEnded(at=tenth / 10)).spawned) > before:
            starts.append(tenth / 10)

    assert len(run.spawned) == 20
    windows = [after - before for before, after in zip(starts, starts[rate.starts :], strict=False)]
    assert min(windows) >= rate.per
    assert all(after > before for before, after in pairwise(starts))


def test_an_undeclared_name_is_refused():
    """An undeclared process does not run, and that is no sign of recursion."""
    run = Run(ANY_EXIT)(Detached(name="rm", by=None, at=0.0), Detached(name="rm", by=None, at=0.0))

    (denial,) = run.denied
    assert not denial.stops
    assert run.state.watched == {}


def test_a_thread_gets_nothing_of_the_history():
    """A thread gets its process, its hook and the end of the output, and nothing else."""
    process = BackgroundProcess(
        run="make release",
        purpose="Building.",
        related=("Makefile",),
        summary="A release.",
        hooks=(ProcessHook(trigger=OnExit((2,)), instructions="Read the log."),),
    )
    run = Run(other=process)
    run.detach("other", at=1.0)
    lines = tuple(f"line {number}" for number in range(60))
    run(ProcessExited(process="other", code=2, at=8.5, lines=60, tail=lines))

    context = run.spawned[0].context
    assert (context.command, context.pid, context.ran) == ("make release", 42, 7.5)
    assert (context.purpose, context.instructions, context.related) == (
        "Building.",
        "Read the log.",
        ("Makefile",),
    )
    assert (context.summary, context.tail) == ("A release.", lines[-50:])
    assert context.because == "on_exit (exit code 2: failure, often wrong usage)"


def test_what_was_printed_unwatched_is_counted():
    """Lines that were printed without a watcher are counted as missed, and match nothing."""
    run = Run(ERRORS)
    run.detach()
    run(
        OutputLine(process="build", text="fine", at=0.5),
        ProcessExited(process="build", code=0, at=1.0, lines=4),
    )

    assert (run.state.watched["build"].run.missed, run.spawned) == (3, [])
