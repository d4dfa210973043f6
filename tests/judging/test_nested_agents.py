"""
How sessions of fake agents led to each other, what agent and hooks revert, and which agents are missing.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.judging.expectations.events import broken_calls
from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.judging.findings.session_findings import AGENTS, find_chain
from pytest_hookharness.model.agent_sessions import ChildCall, ChildHookRun, ChildSession
from pytest_hookharness.model.moves import RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, Output, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import Change, Exchange, HookEvent, HookRun, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
FORMAT = Hook(event="PostToolUse", command="./format.sh")


def trace(*exchanges: Exchange) -> Trace:
    return Trace(
        steps=tuple(Step(number=turn, turn=turn, exchange=item) for turn, item in enumerate(exchanges, 1))
    )


def changed(before: str, after: str) -> tuple[Change, ...]:
    return (Change(path="workspace/app.py", how="content", before=before, after=after),)


def edited(before: str, after: str) -> Performed:
    call = ToolCall(name="Edit", input={})
    return Performed(call=call, result=ToolResult(), changes=changed(before, after))


def hooked(
    before: str, after: str, *, children: tuple[ChildSession, ...] = (), stderr: str = ""
) -> HookEvent:
    run = ProcessResult(ending=Exited(0), stderr=Output(stderr.encode(), len(stderr)))
    hook_run = HookRun(hook=FORMAT, payload={}, run=run, reply=Reply(rule=RULE))
    decision = Decision(event="PostToolUse", rule=RULE)
    return HookEvent(
        event="PostToolUse",
        hook_runs=(hook_run,),
        decision=decision,
        changes=changed(before, after) if before != after else (),
        children=children,
    )


def child(number: int, parent: int, refused: str = "") -> ChildSession:
    return ChildSession(
        number=number,
        parent=parent,
        argv=("claude", "-p", "x"),
        size=10 * number,
        starter="Stop ./a.sh",
        refused=refused,
    )


def test_a_chain_leads_from_the_root_to_what_was_refused() -> None:
    """The chain contains exactly the sessions that contain the refused one, outermost first."""
    children = (
        child(1, 0),
        child(2, 0),
        child(3, 1),
        child(4, 3, "a depth of 2"),
        child(5, 2, "a depth of 2"),
    )
    assert find_chain(trace(hooked("", "", children=children))) == (
        "Stop ./a.sh starts session 1 by `claude -p x`, a prompt of 10 bytes",
        "Stop ./a.sh starts session 3 by `claude -p x`, a prompt of 30 bytes",
        "Stop ./a.sh starts session 4 by `claude -p x`, a prompt of 40 bytes, which was refused",
    )


def test_a_chain_ends_at_a_circular_record() -> None:
    """A session whose record names a younger session as its parent has no parent."""
    children = (child(1, 2), child(2, 1, "a depth of 1"))
    assert len(find_chain(trace(hooked("", "", children=children)))) == 2
    assert find_chain(trace(hooked("", "", children=children[:1]))) == ()


def test_the_same_change_reverted_twice_is_pingpong() -> None:
    """A change of the agent that hooks revert twice is found and reported once."""
    again = [edited("a", "b"), hooked("b", "a")]
    (finding,) = find(trace(*again, *again, *again))
    assert (finding.code, finding.turn, finding.hook) == ("HH019", 4, "./format.sh")
    assert finding.text.startswith("workspace/app.py: hooks of PostToolUse reverted the same change")


@pytest.mark.parametrize(
    "exchanges",
    [
        [edited("a", "b"), hooked("b", "a")],
        [edited("a", "b"), hooked("b", "c"), edited("c", "d"), hooked("d", "e")],
        [edited("a", "b"), hooked("b", "a"), edited("a", "c"), hooked("c", "a")],
        [edited("a", "b"), hooked("c", "a"), edited("a", "b"), hooked("c", "a")],
        [edited("a", "b"), edited("b", "a"), edited("a", "b"), edited("b", "a")],
        [hooked("a", "b"), hooked("b", "a"), hooked("a", "b"), hooked("b", "a")],
    ],
    ids=["once", "formatted", "other changes", "something between", "agent alone", "hooks alone"],
)
def test_other_changes_are_no_pingpong(exchanges: list[Exchange]) -> None:
    """Reverting once, changing further, and changes of one side alone are not found."""
    assert find(trace(*exchanges)) == ()


@pytest.mark.parametrize(
    "said",
    [
        "./a.sh: 3: claude: not found",
        "./a.sh: line 3: codex: command not found",
        "zsh: command not found: gemini",
        "env: 'claude': No such file or directory",
        "env: \u2018claude\u2019: No such file or directory",
        (
            '  File "subprocess.py", line 1955, in _execute_child\n    raise child_exception_type(number)\n'
            "FileNotFoundError: [Errno 2] No such file or directory: 'claude'"
        ),
    ],
)
def test_a_missing_agent_is_found(said: str) -> None:
    """A call of a missing agent is found in the messages of shells, env and Python."""
    (finding,) = find(trace(hooked("", "", stderr=said)))
    assert finding.name == "AGENT-MISSING"
    assert "fake agent" in finding.advice


@pytest.mark.parametrize(
    "said",
    [
        "jq: not found",
        "see claude: it was not found",
        "no-claude: not found: x",
        "claude: not found, so no review is asked for",
        "review: claude: not found",
        "ls: cannot access 'goose': No such file or directory",
        "FileNotFoundError: [Errno 2] No such file or directory: 'goose'",
    ],
)
def test_other_words_name_no_agent(said: str) -> None:
    """Another missing command, text about an agent, and a file of its name are no missing agent."""
    assert find(trace(hooked("", "", stderr=said))) == ()


def test_expectations_about_nested_calls() -> None:
    """An expected call of a nested session is broken if it had another result, or was never made."""
    does = tuple(
        RunCommand(command="x", expect=expect, label=f"commands.claude.does[{place}]")
        for place, expect in enumerate(["deny", "allow", "allow"])
    )
    calls = tuple(ChildCall(name="Bash", expected=move.expect or "", label=move.label) for move in does[:2])
    children = (replace(child(1, 0), calls=calls),)
    scenario = Scenario(name="x", commands={"claude": Double(agent="claude-code", does=does)})
    outcome = Outcome(
        scenario=scenario,
        host="h",
        trace=trace(hooked("", "", children=children)),
        verdict=Terminated(turn=1),
    )
    assert [(item.path, item.seen) for item in broken_calls(outcome)] == [
        ("commands.claude.does[0].expect", "allow"),
        ("commands.claude.does[2].expect", "the call was never made"),
    ]


def test_a_nested_session_that_only_the_cap_ended_is_found() -> None:
    """A nested session that its host's cap ended is found, and one whose stop was allowed is not."""
    hook_runs = (ChildHookRun(event="Stop", command="./a.sh", ruling="deny"),)
    held = replace(child(1, 0), ended="capped", hook_runs=hook_runs)
    (finding,) = find(trace(hooked("", "", children=(held, replace(held, number=2, ended="stopped")))))
    assert (finding.name, finding.hook) == ("CHILD-CAPPED", "./a.sh")


def test_the_program_of_every_host_is_known():
    """`AGENTS` has a program of every host that the harness knows."""
    names = {profile.name.partition("-")[0] for profile in hosts.known()}
    assert not [name for name in names if not any(program.startswith(name) for program in AGENTS)]
