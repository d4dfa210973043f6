"""Scenarios that would never end, or need more than the machine has, end with an error that says why."""

import contextlib
import os
import resource
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness import agents
from pytest_hookharness.execution.exhaustion import Exhausted, explain_exhaustion, naming_exhaustion
from pytest_hookharness.execution.processes.sandbox import ExecutionError
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.frontends.harness import USER_ERRORS, Harness
from pytest_hookharness.model import regex
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.time_budget import BudgetEnded, limited_to
from pytest_hookharness.model.trace import Performed
from pytest_hookharness.model.verdicts import Undecided
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

LETTERS = "a" * 60
ENDLESS = "(a|aa)+$b"
REFUSES = f"echo {LETTERS} >&2; exit 2"
HOOK = {"hooks": {"Stop": REFUSES}, "agent": [{"prompt": "go"}, {"stop": "Done."}]}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """A search is given up soon."""
    monkeypatch.setattr(regex, "LIMIT", 0.2)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({**HOOK, "expect": {"verdict": "livelock", "reasons": ENDLESS}}, id="reasons"),
        pytest.param({**HOOK, "expect": {"verdict": "livelock", "told": ENDLESS}}, id="told"),
        pytest.param({**HOOK, "when": [{"reason": ENDLESS, "do": [{"stop": "x"}]}]}, id="when"),
        pytest.param(
            {
                **HOOK,
                "hooks": {"Stop": f"printf {LETTERS}c >f; exit 2"},
                "mask": [{"file": "workspace/f", "text": ENDLESS}],
            },
            id="text of a mask",
        ),
        pytest.param(
            {
                **HOOK,
                "hooks": {
                    "PreToolUse": [{"matcher": ENDLESS, "hooks": [{"type": "command", "command": "true"}]}]
                },
                "agent": [{"tool": {"name": LETTERS, "input": {}}, "result": "x"}, {"stop": "Done."}],
            },
            id="matcher",
        ),
        pytest.param(
            {
                **HOOK,
                "hooks": {"Stop": f"printf {LETTERS}c >/dev/tty; sleep 0.5; exit 0"},
                "terminal": [{"expect": ENDLESS, "send": "x"}],
            },
            id="terminal",
        ),
        pytest.param(
            {
                **HOOK,
                "processes": {
                    "p": {
                        "run": f"echo {LETTERS}c",
                        "hooks": [{"on_output_match": ENDLESS, "agent": [{"stop": "x"}]}],
                    }
                },
                "agent": [{"run": "detach p"}, {"stop": "Done."}],
            },
            id="output of a process",
        ),
    ],
)
def test_an_endless_expression_is_an_error(play, keys):
    """Wherever a scenario takes a regular expression, one that never ends is an error that names it."""
    with pytest.raises(SimulationError, match=r"'\(a\|aa\)\+\$b' takes too long"):
        play(**keys)


@pytest.mark.slow
def test_an_endless_glob_ends(play):
    """A glob of a mask with many stars is decided or refused in little time."""
    began = time.monotonic()
    glob = "**/" * 10 + "*a" * 30 + "b"
    with contextlib.suppress(SimulationError):
        play(**{**HOOK, "hooks": {"Stop": f"touch {LETTERS}c; exit 2"}}, mask=[glob])

    assert time.monotonic() - began < 30


@pytest.fixture
def play_briefly(tmp_path):
    """Simulate a scenario with a budget of half a second."""

    def run(*, agent=(), **keys):
        made = scenario_from({"name": "test", **keys})
        with Harness(Settings(base=tmp_path / "base", wall=0.5)) as harness:
            return harness.simulate(replace(made, script=script_from(list(agent))))

    return run


@pytest.fixture
def many_files(tmp_path):
    """A folder that takes longer to read than the budget."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / str(number)).mkdir()
        for file in range(10):
            os.link(_large(tmp_path), folder / str(number) / str(file))
    return folder


def _large(tmp_path):
    place = tmp_path / "large"
    if not place.exists():
        place.write_bytes(b"")
        os.truncate(place, 200 << 20)
    return place


@pytest.mark.slow
def test_the_budget_ends_the_reading_of_covered_folders(play_briefly, many_files):
    """A covered folder that cannot be read within the budget is an error that names what was read."""
    began = time.monotonic()

    with pytest.raises(SimulationError, match=f"while {many_files}.*; give more time with --hook-budget"):
        play_briefly(**HOOK, world={"cover": [str(many_files)]})

    assert time.monotonic() - began < 10


@pytest.mark.slow
def test_the_budget_ends_the_copying_of_a_project(play_briefly, many_files):
    """A project that cannot be copied within the budget is an error that names what was copied."""
    with pytest.raises(SimulationError, match=f"while {many_files}/.* was copied"):
        play_briefly(**HOOK, project=many_files)


@pytest.mark.slow
def test_the_budget_ends_the_reading_of_what_a_hook_wrote(play_briefly):
    """Files of a hook that take longer to read than the budget leave the verdict open."""
    hook = "for n in $(seq 60); do truncate -s 200M file$n; done; exit 2"

    outcome = play_briefly(hooks={"Stop": hook}, agent=[{"stop": "Done."}])

    assert isinstance(outcome.verdict, Undecided)


def test_the_agent_reads_no_file_of_any_size(play):
    """A file that no host would read is an error of the tool, and not of the harness."""
    outcome = play(
        hooks={"PostToolUse": "true"},
        agent=[
            {"run": "truncate -s 40G f"},
            {"read": "f"},
            {"edit": {"file": "f", "text": "x"}},
            {"stop": "x"},
        ],
    )

    performed = [it.exchange for it in outcome.trace.steps if isinstance(it.exchange, Performed)]
    assert ["is larger than" in each.result.text for each in performed] == [False, True, True]


@pytest.mark.nightly
def test_a_lack_of_file_descriptors_is_said_in_words(tmp_path):
    """With any number of free descriptors a scenario is played, or an error names the lack of them."""
    made = scenario_from({"name": "test", **{key: HOOK[key] for key in ("hooks",)}, "git": True})
    made = replace(made, script=script_from(HOOK["agent"]))
    # The modules that a first run imports are loaded then.
    with Harness(Settings(base=tmp_path / "first", probes=False)) as harness:
        harness.simulate(made)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(place.name) for place in Path("/proc/self/fd").iterdir()}
    unused = [number for number in range(400) if number not in used]
    said = []
    for free in range(24):
        resource.setrlimit(resource.RLIMIT_NOFILE, (unused[free], hard))
        try:
            with Harness(Settings(base=tmp_path / str(free), probes=False)) as harness:
                harness.simulate(made)
        except USER_ERRORS as error:
            said.append(str(error))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert said
    lacking = [text for text in said if "descriptor" in text or "Too many open files" in text]
    assert lacking == said


def test_a_lack_of_processes_is_said_in_words():
    """A machine that starts no more processes and threads is named, whatever was to be started."""
    for error in (
        BlockingIOError(11, "x"),
        RuntimeError("can't start new thread"),
        OSError(12, "x"),
        OSError(28, "x"),
    ):
        with (
            pytest.raises(Exhausted, match=r"the machine is exhausted: no .* (is left|can be started)"),
            naming_exhaustion(),
        ):
            raise error
    with pytest.raises(RuntimeError, match="another"), naming_exhaustion():
        raise RuntimeError("another")
    assert not explain_exhaustion(OSError(2, "x"))
    assert {ExecutionError, WorkspaceError, Exhausted, SlowPattern, BudgetEnded} <= set(USER_ERRORS)


@pytest.mark.nightly
def test_a_budget_that_ends_in_a_trial_leaves_the_trial_out(tmp_path):
    """Where the time ends while a trial of `vary` is prepared, the scenario's own run still counts."""
    made = scenario_from({"name": "test", "hooks": {"Stop": "sleep 0.3"}, "vary": "all"})
    made = replace(made, script=script_from([{"stop": "Done."}]))

    with Harness(Settings(base=tmp_path / "base", wall=1.5)) as harness:
        outcome = harness.simulate(made)

    assert outcome.verdict.turn == 1


@pytest.mark.nightly
def test_a_run_for_comparison_that_the_budget_ends_shows_nothing(tmp_path):
    """Where no time is left for a second run of a scenario that waits, no clock is blamed."""
    # Where nothing is traced, shims show the time in the first run, and in the second one files are older.
    hook = "case $PATH in */clock/*) ;; *) sleep 60 ;; esac; echo x >>n; test $(wc -l <n) -gt 2"
    made = scenario_from({"name": "test", "hooks": {"Stop": f"{hook} || {{ echo go on >&2; exit 2; }}"}})
    made = replace(made, script=script_from([{"prompt": "Go."}, {"wait": "301s"}, {"stop": "Done."}]))

    with Harness(Settings(base=tmp_path, wall=4.0, tier=Tier.GROUP)) as harness:
        outcome = harness.simulate(made)

    assert isinstance(outcome.verdict, Undecided)
    assert "no time was left" in outcome.verdict.why


def test_files_are_restored_although_the_time_is_over(harness):
    """A trial that the end of the time interrupts leaves no file behind."""
    now = 0.0
    made = scenario_from({"name": "test", "hooks": {"Stop": "true"}, "files": {"f": "before"}})
    with harness.open_testbed(made) as testbed:
        point = SessionDriver(testbed, agents.start(made.script)).point
        with limited_to(5, lambda: now):
            checkpoint = Checkpoint(testbed, point)
            checkpoint.editor.write({"workspace/f": b"after"})
            now = 10.0
            checkpoint.restore()

        assert (testbed.workspace.root / "f").read_text() == "before"


@pytest.mark.nightly
def test_time_can_pass_to_the_end_of_the_calendar(play):
    """A script may let any number of centuries pass."""
    outcome = play(
        hooks={"Stop": "true"},
        agent=[{"prompt": "go"}, *[{"wait": "36525d"}] * 90, {"stop": "Done."}],
    )

    assert outcome.verdict.turn == 1


BUDGET = 4.0


@pytest.mark.nightly
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"vary": ["stdin", "faults", "shells"]},
        {"explore": {"time": "60s"}},
        {"agent": [{"prompt": "Go."}, {"wait": "301s"}, {"stop": "Done."}]},
    ],
)
def test_the_budget_covers_all_runs_of_a_scenario(tmp_path, keys):
    """Checks by further runs, mutations and explorations end within a tenth more than the budget."""
    slow = "sleep 0.3; test -e seen || touch seen; date +%s; ls -l --time-style=full-iso seen; "
    refuse = 'test $(($(date +%s) - $(stat -c %Y seen))) -gt 3000 && exit 0; echo "run make" >&2; exit 2'
    agent = keys.get("agent", [{"prompt": "Go."}, {"stop": "Done."}])
    others = {key: value for key, value in keys.items() if key != "agent"}
    made = scenario_from({"name": "test", "hooks": {"Stop": slow + refuse}, **others})
    began = time.monotonic()

    with Harness(Settings(base=tmp_path / "base", wall=BUDGET)) as harness:
        harness.simulate(replace(made, script=script_from(agent)))

    assert time.monotonic() - began < 1.1 * BUDGET + 1
