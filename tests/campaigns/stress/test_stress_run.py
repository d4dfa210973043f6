"""Scenarios that are played again with one thing different, with real hooks."""

import shutil
from dataclasses import dataclass, replace
from types import MappingProxyType

import pytest

from pytest_hookharness.campaigns.stress.first_run import HookTraits
from pytest_hookharness.campaigns.stress.stress_run import vary as play_again
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, Signaled
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError, TrialSelection

REFUSED = [{"run": "rm -rf build", "expect": "deny"}, {"stop": "Done."}]
BY_GREP = """#!/bin/sh
if grep -q '"tool_name":"Bash".*rm -rf'; then echo fix >&2; exit 2; fi
exit 0
"""
REPORTS = """#!/bin/sh
{ echo "$0 $PPID"; cat; echo; } >>notes
command -v tool >>notes || echo no tool >>notes
exit 0
"""
WITHOUT_AWK = """#!/bin/sh
command -v cat && command -v sed && ! command -v awk && exit 0
echo "awk is here" >&2
exit 2
"""
ONE_PARENT = """#!/bin/sh
[ -e .parent ] || echo $PPID >.parent
[ $PPID = "$(cat .parent)" ] || { echo fix >&2; exit 2; }
"""
FIRST_FAILS = """#!/bin/bash
set -e
n=$(cat .count 2>/dev/null || echo 0)
echo $((n + 1)) >.count
((n++))
exit 0
"""


@dataclass
class Coin:
    """A trial runner whose outcomes are known in advance."""

    outcomes: list[Outcome]
    until: float = 0.0

    def simulate(self, _scenario, _settings):
        return self.outcomes.pop(0)

    def side_by_side(self, jobs, _settings):
        yield from ((place, job(self)) for place, job in enumerate(jobs))


@pytest.fixture
def vary(play):
    """Run a scenario with one PreToolUse hook, with other keys or with families of mutations."""

    def run(hook, *kinds, agent=REFUSED, more=MappingProxyType({}), **keys):
        files = {"hook.sh": hook, "other.sh": hook, **more}
        keys = {"hooks": {"PreToolUse": "./hook.sh"}, **keys}
        return play(agent=agent, files=files, **({"vary": [*kinds]} if kinds else {}), **keys)

    return run


@pytest.fixture
def noted(vary):
    """Return what a hook noted about one call under some conditions."""

    def run(**conditions):
        agent = [{"run": "ls", "result": "a"}, {"run": "cat notes"}, {"stop": "Done."}]
        outcome = vary(REPORTS, agent=agent, **conditions)
        results = [step.exchange.result for step in outcome.trace.steps if hasattr(step.exchange, "result")]
        return results[-1].text

    return run


def _variables(hook_run):
    return {line.partition(b"=")[0] for line in hook_run.run.stderr.data.splitlines()}


def names(outcome):
    return [finding.name for finding in outcome.findings]


@pytest.mark.nightly
@pytest.mark.parametrize("delay", ["", "sleep 0.2\n"], ids=["first", "last"])
def test_a_hook_that_needs_another_one_is_found_whichever_is_quicker(vary, delay):
    """ORDER is found whichever hook ends first when they run side by side."""
    both = {"Stop": ["./marks.sh", "./asks.sh"]}
    files = {
        "marks.sh": f"#!/bin/sh\n{delay}touch .marked\n",
        "asks.sh": "#!/bin/sh\n[ -e .marked ] && exit 0\necho 'Not marked.' >&2; exit 2\n",
    }
    outcome = vary("", "order", agent=[{"run": "ls"}, {"stop": "Done."}], hooks=both, more=files)

    assert "ORDER" in names(outcome)


COUNTS = """#!/usr/bin/python3
import json, os, sys
seen = json.load(open("seen.json")) if os.path.exists("seen.json") else {"stops": 0}
seen["stops"] += 1
json.dump(seen, open("seen.json", "w"))
if seen["stops"] < 5:
    print("Run the tests first.", file=sys.stderr)
    sys.exit(2)
"""


@pytest.mark.nightly
def test_a_gate_that_fails_on_a_damaged_file_is_found(vary):
    """A gate that crashes on its damaged file, and so allows the stop, is FAILS-OPEN."""
    stops = [{"stop": word} for word in "abcde"]
    outcome = vary("", "state", agent=stops, hooks={"Stop": "./counts.py"}, more={"counts.py": COUNTS})

    assert "FAILS-OPEN" in names(outcome)


@pytest.mark.slow
def test_a_guard_by_order_of_keys_is_found(vary):
    """A guard that searches the raw JSON in one order is found by the other order."""
    outcome = vary(BY_GREP, "key-order")

    assert ["RAW-JSON"] == names(outcome)
    assert "reverse order" in outcome.findings[0].text
    assert any("RAW-JSON" in violation.seen for violation in outcome.violations)


@pytest.mark.slow
def test_nothing_is_varied_unless_asked_for(vary):
    """The same guard without a request is run once, and nothing is reported of mutations."""
    outcome = vary(BY_GREP)

    assert ([], ()) == (names(outcome), outcome.varied)


@pytest.mark.slow
def test_a_tool_that_nobody_calls_shows_nothing(vary):
    """A command that is named and never called counts as not tried, and the report says so."""
    outcome = vary(BY_GREP, {"tools": ["no-such-command"]})

    assert {row.outcome for row in outcome.trial_results} == {"not tried"}
    assert [note.partition("with ")[2] for note in outcome.varied if "shows nothing" in note] == [
        f"a `no-such-command` {trouble}: nobody called `no-such-command`."
        for trouble in ("that fails with exit code 70", "that never returns")
    ]


def test_what_runs_a_script_is_no_tool_of_it(vary):
    """The interpreter that the first line of a script asks for is not missing, though the script names it."""
    hook = "#!/usr/bin/env python3\nprint('by python3')\n"
    note = "Not tried (tools): the command python3, which runs the hook itself."

    assert note in vary(hook, "tools", agent=[{"run": "ls", "result": "a"}, {"stop": "Done."}]).varied


@pytest.mark.nightly
def test_what_a_loaded_file_calls_may_be_missing(vary):
    """A program that only a library of the hook calls is tried as missing, as one of the hook itself."""
    hook = "#!/bin/sh\n. ./lib/common.sh\ncommand | grep -q 'rm -rf' && { echo fix >&2; exit 2; }\nexit 0\n"
    lib = "command() { python3 -c 'import sys; print(sys.stdin.read())' 2>/dev/null; }\n"

    outcome = vary(hook, "tools", more={"lib/common.sh": lib})

    assert any("no `python3` on the PATH" in one.text for one in outcome.findings)


@pytest.mark.slow
def test_chance_is_not_blamed_on_a_mutation(vary):
    """A hook that decides differently in the unchanged scenario too is no finding, and a note says so."""
    base, other = vary(BY_GREP), vary("#!/bin/sh\nexit 0\n", agent=[{"run": "rm -rf build", "result": "x"}])
    base = replace(base, scenario=replace(base.scenario, vary=(VaryRequest("key-order"),)))
    runner = Coin([other, base, other, other])
    varied = play_again(base, HookTraits(), runner, Settings())

    assert ("RAW-JSON" not in names(varied), runner.outcomes) == (True, [other])
    assert any("perhaps by chance" in note for note in varied.varied)
    assert "RAW-JSON" in names(play_again(base, HookTraits(), Coin([other, base, base, other]), Settings()))


@pytest.mark.slow
def test_chance_is_not_blamed_on_a_fault(vary):
    """A random hook does not count as fail-open with a fault if it allows without the fault as well."""
    base, other = vary(BY_GREP), vary("#!/bin/sh\nexit 0\n", agent=[{"run": "rm -rf build", "result": "x"}])
    base = replace(base, scenario=replace(base.scenario, vary=(VaryRequest("stdin"),)))

    def tried(*outcomes):
        runner = Coin([*outcomes])
        varied = play_again(base, HookTraits(), runner, Settings(choice=TrialSelection(most=1)))
        return [(row.outcome, row.evidence) for row in varied.trial_results if row.hook], len(runner.outcomes)

    more = [base, base, other, other, other]
    ((doubted, why),), left = tried(base, other, base, other, other, *more)
    assert (doubted, left) == ("not tried", 0)
    assert "(also without the fault, fail-open: " in why
    ((doubted, why),), left = tried(base, other, base, base, base, base, base, base, other, base)
    assert (doubted, left) == ("not tried", 0)
    assert "(the next time, as declared: " in why
    ((seen, _),), left = tried(base, other, base, base, other)
    assert (seen, left) == ("fail-open", 0)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["a run without the fault", "the second run with it"])
def test_one_odd_run_hides_no_defect(vary, odd):
    """If one run contradicts, and all of five more agree with the first one, the defect counts."""
    base, other = vary(BY_GREP), vary("#!/bin/sh\nexit 0\n", agent=[{"run": "rm -rf build", "result": "x"}])
    base = replace(base, scenario=replace(base.scenario, vary=(VaryRequest("stdin"),)))
    control, again = (other, other) if odd == "a run without the fault" else (base, base)
    runner = Coin([base, other, base, control, again, base, base, base, other, other])
    varied = play_again(base, HookTraits(), runner, Settings(choice=TrialSelection(most=1)))

    assert ([row.outcome for row in varied.trial_results if row.hook], runner.outcomes) == (["fail-open"], [])


@pytest.mark.slow
def test_what_there_was_no_time_for_is_no_pass(vary):
    """A mutation that there was no time for is a failure, unless `undecided` is expected."""
    base = vary(BY_GREP)
    base = replace(
        base, scenario=replace(base.scenario, vary=(VaryRequest("key-order"), VaryRequest("input")))
    )
    in_time, late = (
        play_again(base, HookTraits(), Coin([base] * 9), Settings(wall=wall)) for wall in (60, 0)
    )
    expect = replace(base.scenario.expect, verdict="undecided")
    unsure = replace(base, scenario=replace(base.scenario, expect=expect))

    assert (base.violations, in_time.violations) == ((), ())
    assert "Tried: key-order; input." in in_time.varied
    assert ["2 of 2 were not tried, for lack of time; give --hook-budget (--budget) more"] == [
        violation.seen for violation in late.violations if violation.path == "vary"
    ]
    assert "Not tried, because the time budget ended: key-order; input." in late.varied
    assert play_again(unsure, HookTraits(), Coin([]), Settings(wall=0)).violations == ()
    faults = replace(base, scenario=replace(base.scenario, vary=(VaryRequest("stdin"),)))
    late = play_again(faults, HookTraits(), Coin([base] * 9), Settings(wall=0))
    assert any("for lack of time" in violation.seen for violation in late.violations)


@pytest.mark.nightly
def test_a_failure_of_the_first_hook_run_is_found(vary):
    """A count from 0 under `set -e` fails once, and is found among the shells."""
    agent = [{"run": "ls", "result": "a"}, {"run": "ls", "result": "a"}, {"stop": "Done."}]

    assert {"STRICT-SHELL", "CRASHED"} == set(names(vary(FIRST_FAILS, "shells", agent=agent)))


@pytest.mark.nightly
def test_a_hidden_command_is_missing_alone(vary, tmp_path):
    """A hook does not find a hidden command, and finds all other commands."""
    for name in ("sh", "cat", "sed", "awk"):
        (tmp_path / name).symlink_to(shutil.which(name))
    env = {"PATH": str(tmp_path)}
    agent = [{"run": "ls", "result": "a"}, {"stop": "Done."}]

    assert vary(WITHOUT_AWK, hidden=["awk"], env=env, agent=agent).blocks() == 0
    assert vary(WITHOUT_AWK, env=env, agent=agent).blocks() == 1


def test_company_comes_before_each_hook_run(noted):
    """Another session sends the same event with a session id and a transcript of its own."""
    lines = [line for line in noted(world={"company": "session"}).splitlines() if line.startswith("{")]
    first, second = (line.partition('"session_id":"')[2][:36] for line in lines[:2])

    assert first != second
    assert len(first) == len(second) == 36


@pytest.mark.slow
def test_another_agent_of_the_session_makes_only_tool_calls(vary):
    """A stop is an agent's own, so another agent of the session does not send it."""
    note = "#!/bin/sh\necho called >>calls\nexit 0\n"
    hooks = {"PreToolUse": "./hook.sh", "Stop": "./hook.sh"}
    expect = {"files": {"equal": {"calls": "called\n" * 3}}}
    agent = [{"run": "ls", "result": "a"}, {"stop": "Done."}]

    assert vary(note, agent=agent, hooks=hooks, world={"company": "agent"}, expect=expect).passed
    assert not vary(note, agent=agent, hooks=hooks, world={"company": "session"}, expect=expect).passed


@pytest.mark.nightly
def test_a_relaunched_host_is_another_process(vary):
    """Each hook run has its own parent; without the key they share one."""
    agent = [{"run": "ls", "result": "a"}, {"run": "ls", "result": "a"}, {"stop": "Done."}]
    hooks = {"PreToolUse": "exec ./hook.sh"}

    assert vary(ONE_PARENT, agent=agent, hooks=hooks, world={"relaunched": True}).blocks() == 1
    assert vary(ONE_PARENT, agent=agent, hooks=hooks).blocks() == 0


def test_a_relaunched_host_reports_a_kill_as_a_kill(vary):
    """A hook that is killed below a parent of its own has no exit code, and its output stays as it was."""
    killed = "#!/bin/sh\necho said >&2\nkill -KILL $$\n"
    hooks = {"PreToolUse": "exec ./hook.sh"}
    hook_run = next(
        hook_run for _, hook_run in vary(killed, hooks=hooks, world={"relaunched": True}).trace.hook_runs()
    )

    assert (hook_run.run.ending, hook_run.run.stderr.data) == (Signaled(9), b"said\n")


@pytest.mark.slow
def test_a_relaunched_host_passes_on_what_it_has(vary):
    """A parent of its own changes no variable, and no exit code."""
    prints = "#!/bin/sh\nenv | grep -v ^_= | sort >&2\nexit 3\n"
    plain, below = (
        next(hook_run for _, hook_run in vary(prints, world={"relaunched": way}).trace.hook_runs())
        for way in (False, True)
    )

    assert below.run.ending == plain.run.ending == Exited(3)
    assert _variables(below) == _variables(plain)


def test_hooks_run_in_the_order_that_is_given(noted):
    """Hooks that would begin at once run one after the other in the order of the scenario."""
    hooks = {"PreToolUse": ["./hook.sh", "./other.sh"]}
    places = [
        line.split()[0]
        for line in noted(hooks=hooks, order={"PreToolUse": [2, 1]}).splitlines()
        if ".sh " in line
    ]

    assert ["./other.sh", "./hook.sh"] == places[:2]


def test_an_order_must_name_every_hook_once(vary):
    """An order that does not fit the number of hooks is refused with what is allowed."""
    with pytest.raises(
        SimulationError, match=r"order.PreToolUse: got \[1, 2\] for 1 hook; name each of 1 to 1 once"
    ):
        vary(REPORTS, order={"PreToolUse": [1, 2]})


@pytest.mark.slow
def test_a_script_that_asks_for_any_shell_gets_the_one_that_is_given(vary):
    """Under `shell: bash` a script of `#!/bin/sh` is run by bash, and the usual one is not."""
    hook = '#!/bin/sh\n[ -n "${BASH_VERSION:-}" ] || exit 0\necho "bash is here" >&2\nexit 2\n'
    agent = [{"run": "ls", "result": "a"}, {"stop": "Done."}]

    assert vary(hook, agent=agent, world={"shell": "bash"}).blocks() == 1


OWN_BASH = """#!/bin/bash -f
case $BASH$- in */own/bash*f*) ;; *) exit 0 ;; esac
echo "another bash is here" >&2
exit 2
"""


@pytest.mark.nightly
def test_a_bash_of_ones_own_runs_scripts_that_ask_for_bash(vary, tmp_path):
    """A bash that `shells` names runs a script of `#!/bin/bash` with its options; another one does not."""
    own = tmp_path / "own" / "bash"
    own.parent.mkdir()
    shutil.copy(shutil.which("bash"), own)
    agent = [{"run": "ls", "result": "a"}, {"stop": "Done."}]

    assert vary(OWN_BASH, agent=agent).blocks() == 0
    assert vary(OWN_BASH, agent=agent, world={"shell": str(own)}).blocks() == 1
    assert "STRICT-SHELL" in names(vary(OWN_BASH, {"shells": [str(own)]}, agent=agent))
    missing = vary(OWN_BASH, {"shells": ["/nowhere/bash"]}, agent=agent)
    assert "Not tried (shells): /nowhere/bash, not available here." in missing.varied
