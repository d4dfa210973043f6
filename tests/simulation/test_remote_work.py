"""Claims about work that an executor does: it is waited for by one clock, and limited by a duration."""

import time
from concurrent.futures import CancelledError, Executor, Future

import pytest

from pytest_hookharness import explore, simulate
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.remote_work import receive
from pytest_hookharness.simulation.testbed.run_settings import Settings, TrialSelection

SETTINGS = Settings(choice=TrialSelection(most=3))
STRESSED = {
    "name": "stressed",
    "hooks": {"Stop": "true"},
    "agent": [{"stop": "Done."}],
    "vary": ["faults"],
}
EXPLORED = {"name": "explored", "hooks": {"Stop": "true"}, "explore": {"moves": [{"run": "true"}]}}


class Elsewhere(Executor):
    """An executor on a machine whose clock is a day ahead."""

    def __init__(self, monkeypatch):
        self._monkeypatch = monkeypatch
        self.done = 0

    def submit(self, function, /, *values, **keys):
        future = Future()
        now = time.time
        with self._monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: now() + 24 * 3600.0)
            future.set_result(function(*values, **keys))
        self.done += 1
        return future


class Idle(Executor):
    """An executor that begins nothing."""

    def __init__(self):
        self.given = []

    def submit(self, *_, **__):
        self.given.append(Future())
        return self.given[-1]


def test_work_that_is_never_begun_is_taken_back():
    """Work that no one begins until the time given is cancelled, and an error of the budget."""
    future = Future()
    with pytest.raises(BudgetEnded, match="an executor was waited for"):
        receive(future, time.monotonic())

    assert future.cancelled()


def test_an_error_of_work_is_raised_where_it_is_received():
    """A time-out that the work itself raises is none of the harness, and is passed on."""
    future = Future()
    future.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        receive(future, time.monotonic())


def test_work_that_was_taken_back_is_waited_for_no_longer():
    """Work that is taken back, as by Ctrl-C, is waited for no longer."""
    future = Future()
    future.cancel()

    with pytest.raises(CancelledError):
        receive(future, time.monotonic() + 2.0)


@pytest.mark.nightly
def test_mutations_do_not_depend_on_the_clock_of_another_machine(monkeypatch):
    """A machine whose clock is a day ahead plays every mutation."""
    executor = Elsewhere(monkeypatch)
    there, here = (simulate(scenario_from(STRESSED), SETTINGS, one) for one in (executor, None))

    assert executor.done
    assert "as declared" in {trial.outcome for trial in there.trial_results}
    assert [trial.outcome for trial in there.trial_results] == [trial.outcome for trial in here.trial_results]


@pytest.mark.slow
def test_states_do_not_depend_on_the_clock_of_another_machine(monkeypatch):
    """A machine whose clock is a day ahead expands every state."""
    executor = Elsewhere(monkeypatch)
    outcome = explore(scenario_from(EXPLORED), executor, Settings())

    assert executor.done
    assert outcome.explored.covered


@pytest.mark.nightly
def test_an_exploration_waits_for_an_idle_executor_no_longer_than_its_time():
    """States that an executor never begins to expand are not known, and are taken back."""
    executor = Idle()
    outcome = explore(scenario_from(EXPLORED), executor, Settings(wall=3.0))

    assert not outcome.explored.covered
    assert executor.given
    assert all(future.cancelled() for future in executor.given)
