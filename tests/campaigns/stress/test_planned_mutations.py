"""Which mutations are planned for a scenario that was run, and what is reported about all others."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.stress.first_run import HookTraits
from pytest_hookharness.campaigns.stress.mutations.environment import Unset
from pytest_hookharness.campaigns.stress.mutations.filesystem import StateFile
from pytest_hookharness.campaigns.stress.mutations.hook_order import HookOrder
from pytest_hookharness.campaigns.stress.mutations.other_sessions import TwoAgents, TwoSessions
from pytest_hookharness.campaigns.stress.mutations.tools import FailingTool, HangingTool, WithoutTool
from pytest_hookharness.campaigns.stress.mutations.wording import MovedWords, Quoted, forms_of
from pytest_hookharness.campaigns.stress.plan import plan_trials
from pytest_hookharness.model.moves import RunCommand, Stop, ToolCall, ToolResult
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import (
    Change,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    State,
    StateEntry,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import Terminated

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")


def ran(command, *, refused=False):
    call = Performed(call=ToolCall(name="Bash", input={}), result=ToolResult(), refused=refused)
    return [Moved(move=RunCommand(command=command)), call]


def asked(*commands, changed=()):
    hook_runs = (
        HookRun(hook=Hook(event="Stop", command=one), payload={}, reply=Reply(rule=RULE)) for one in commands
    )
    changes = tuple(Change(path=path, how="added") for path in changed)
    decision = Decision(event="Stop", rule=RULE)
    return [HookEvent(event="Stop", hook_runs=tuple(hook_runs), decision=decision, changes=changes)]


def played(family, *exchanges, names=(), host="claude-code", **keys):
    steps, states, files, turn = [], {}, {}, 0
    for number, exchange in enumerate(exchanges, 1):
        turn += isinstance(exchange, Moved)
        steps.append(Step(number=number, turn=turn, exchange=exchange))
        for change in getattr(exchange, "changes", ()):
            files = {**files, change.path: StateEntry("file", 0o644, "x")}
        states[turn] = State(files=files)
    scenario = Scenario(name="x", host=host, vary=(VaryRequest(family, names),), **keys)
    trace = Trace(steps=tuple(steps), states=states)
    return Outcome(scenario=scenario, host=host, trace=trace, verdict=Terminated(turn=turn))


def plan(outcome, traits):
    """The mutations, and the notes about what cannot be tried."""
    trials, untried = plan_trials(outcome, traits)
    return trials, [*map(str, untried)]


def test_a_refused_command_is_asked_about_in_every_form():
    """Each command that was refused is tried as data and as code, each form once."""
    exchanges = (*ran("rm -rf x", refused=True), *ran("rm -rf x", refused=True), *ran("ls"))
    mutations, notes = plan(played("quoting", *exchanges), HookTraits())

    assert all(isinstance(one, Quoted) and one.turn == 1 for one in mutations)
    assert len({one.form for one in mutations}) == len(mutations) == 12
    assert not notes


def test_words_of_a_refused_command_are_moved_and_those_of_others_too():
    """Refused words describe something harmless, and the words of an allowed call the refused one."""
    exchanges = (*ran("ls"), *ran("rm -rf x", refused=True))
    mutations, _ = plan(played("words", *exchanges), HookTraits())

    assert [
        MovedWords(2, "echo hello", "rm -rf x", must_be_refused=False),
        MovedWords(2, "rm -rf x", "ls", must_be_refused=True),
    ] == mutations


def test_what_cannot_be_tried_is_reported():
    """A family that finds nothing to try says so, and what it needs."""
    for family, words in {
        "quoting": "no shell command was refused",
        "words": "no shell command was refused",
        "state": "no hook wrote a file",
        "order": "no event had more than one hook",
        "names": "no hook did anything about a file",
        "tools": "no command that may be missing",
    }.items():
        mutations, notes = plan(played(family, *ran("ls")), HookTraits())
        assert mutations == []
        assert len(notes) == 1
        assert words in notes[0]


def test_tools_are_those_of_the_source_that_are_there():
    """Commands that hooks name and find are varied, but for what every system has and for doubles."""
    traits = HookTraits(words=frozenset({"env", "cat", "git", "no-such-command"}))
    mutations, _ = plan(played("tools", *ran("ls"), commands={"npm": Double()}), traits)

    assert [WithoutTool("git"), FailingTool("git")] == mutations


@pytest.mark.parametrize(
    ("called", "tried"), [({"zoo", "ask"}, ["zoo"]), (set(), ["bid", "cue", "dip", "wit"])]
)
def test_tools_that_are_called_are_tried_and_what_runs_the_hooks_is_left_alone(tmp_path, called, tried):
    """Other words are only tried where none calls a command, and the interpreter of a hook never."""
    names = ["ask", "bid", "cue", "dip", "wit", "zoo"]
    for name in names:
        (tmp_path / name).symlink_to("/bin/true")
    environment = {"PATH": str(tmp_path)}
    traits = HookTraits(frozenset(names), frozenset(called), frozenset({"ask"}), environment)
    mutations, notes = plan(played("tools", *ran("ls")), traits)

    assert tried == [*dict.fromkeys(getattr(one, "command", "") for one in mutations)]
    assert "Not tried (tools): the command ask, which runs the hook itself." in notes
    assert ("Not tried (tools): the command zoo, one of many." in notes) is ("zoo" not in tried)


def test_tools_that_are_named_are_varied_although_they_are_not_there():
    """A named command that is not installed can still fail and hang."""
    mutations, _ = plan(played("tools", *ran("ls"), names=("no-such-command",)), HookTraits())

    assert [FailingTool("no-such-command"), HangingTool("no-such-command")] == mutations


def test_state_is_harmed_once_it_is_there_and_before_the_end():
    """A file of the hooks is harmed in each way after the turn that made it; one made last is reported."""
    stop = [Moved(move=Stop())]
    early = (*ran("ls"), *asked("./a", changed=["workspace/.n", "home/log"]), *stop)
    mutations, notes = plan(played("state", *early), HookTraits())

    assert {StateFile(".n", how, 1) for how in ("empty", "garbage", "truncate", "delete")} == {*mutations}
    assert ["Not tried (state): files outside of the workspace, such as home/log."] == notes

    late, notes = plan(played("state", *stop, *asked("./a", changed=["workspace/.n"])), HookTraits())
    assert (late, len(notes)) == ([], 1)


def test_every_order_of_a_small_set_is_tried():
    """Three hooks have five other orders; of more, the reverse and the rotations are tried, with a note."""
    three, four = (played("order", *ran("ls"), *asked(*"abcd"[:size])) for size in (3, 4))

    assert len(plan(three, HookTraits(sets={"Stop": 3}))[0]) == 5
    some, notes = plan(four, HookTraits(sets={"Stop": 4}))
    assert HookOrder("Stop", (4, 3, 2, 1)) in some
    assert (len(some), len(notes)) == (4, 1)


def test_variables_are_those_that_hooks_name():
    """A variable that the source names is unset, except for those that no program runs without."""
    traits = HookTraits(
        words=frozenset({"MODE", "PATH", "OTHER"}), environment={"MODE": "x", "PATH": "/bin", "USER": "a"}
    )

    assert plan(played("unset", *ran("ls")), traits) == ([Unset("MODE")], [])
    none, notes = plan(played("unset", *ran("ls")), replace(traits, words=frozenset({"PATH"})))
    assert none == []
    assert "(unset)" in notes[0]


def test_two_agents_are_tried_where_the_input_distinguishes_them():
    """Where the input of a call does not say which agent makes it, no two agents of one session are tried."""
    with_one, without = (
        plan(played("sessions", host=host), HookTraits()) for host in ("claude-code", "openhands")
    )

    assert [TwoAgents(), TwoSessions()] == with_one[0]
    assert [TwoSessions()] == without[0]
    assert "nothing by which they differ" in without[1][0]


def test_what_reads_the_input_is_tried_first(tmp_path):
    """What reads the input comes first; words that call nothing count where nothing else is called."""
    for name in ("git", "jq", "node"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    named = frozenset({"git", "jq", "node"})
    environment = {"PATH": str(tmp_path)}
    traits = HookTraits(words=named, called=named - {"node"}, environment=environment)
    assert traits.tools == ("jq", "git")
    assert HookTraits(words=named, environment=environment).tools == ("jq", "node", "git")


def test_a_line_of_a_commit_message_begins_with_the_command():
    """One form has the command at the start of a line, without shell operators."""
    (form,) = [one for one in forms_of("cat notes.txt") if one.form == "a line of a commit message"]

    assert "\ncat notes.txt" in form.text
    assert not {*"|;<>&"} & {*form.text}
    assert not form.code
