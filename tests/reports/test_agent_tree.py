"""How sessions of fake agents, and sets of hooks that refuse alternately, are reported."""

from dataclasses import replace

from pytest_hookharness.model.agent_sessions import ChildHookRun, ChildSession
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Moved, Step, Trace
from pytest_hookharness.model.verdicts import Livelock, Recursing, Terminated, Verdict
from pytest_hookharness.reports.terminal.agent_tree import render_sessions
from pytest_hookharness.reports.terminal.story import story

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
HOOK_RUN = ChildHookRun(event="Stop", command="./a.sh", code=2, ruling="deny", reason="not\nyet")
BOMB = "\x1b[31mred\u202e"


def child(number: int, parent: int = 0, depth: int = 1, **others: object) -> ChildSession:
    made = ChildSession(number=number, parent=parent, depth=depth, argv=("claude", "-p", "x"), size=7)
    return replace(made, **others)  # type: ignore[arg-type]


def refusing(*hooks: tuple[str, str], children: tuple[ChildSession, ...] = ()) -> HookEvent:
    ruling = Ruling.DENY if hooks else Ruling.NONE
    hook_runs = tuple(
        HookRun(
            hook=Hook(event="PreToolUse", command=command),
            payload={},
            run=ProcessResult(ending=Exited(2)),
            reply=Reply(ruling=ruling, reason=reason, rule=RULE),
        )
        for command, reason in hooks
    )
    decision = Decision(event="PreToolUse", ruling=ruling, refused=bool(hooks), reasons=("x",), rule=RULE)
    return HookEvent(event="PreToolUse", hook_runs=hook_runs, decision=decision, children=children)


def outcome(verdict: Verdict, *asked: HookEvent) -> Outcome:
    steps: list[Step] = []
    for turn, item in enumerate(asked, 1):
        steps.append(Step(number=2 * turn - 1, turn=turn, exchange=Moved(move=Stop())))
        steps.append(Step(number=2 * turn, turn=turn, exchange=item))
    return Outcome(scenario=Scenario(name="x"), host="h", trace=Trace(steps=tuple(steps)), verdict=verdict)


def test_sessions_are_a_tree() -> None:
    """Each session is below the session that started it, with the replies of its hooks."""
    children = (
        child(1, hook_runs=(HOOK_RUN,), ended="stopped"),
        child(2, 1, 2),
        child(3, 0, 1, refused="a depth of 2"),
    )
    assert render_sessions(children) == [
        "  claude -p x  on 7 bytes: stopped",
        '    Stop ./a.sh  exited 2 -> deny "not yet"',
        "    claude -p x  on 7 bytes: cut off",
        "  claude -p x  refused: beyond a depth of 2",
    ]


def test_many_sessions_and_hook_runs_are_bounded() -> None:
    """Any number of sessions and hook runs, in any tree, takes a bounded number of lines."""
    many = [child(number, number - 1, number, hook_runs=(HOOK_RUN,) * 9) for number in range(1, 60)]
    lines = render_sessions(many)
    assert len(lines) == 17
    assert lines[5] == "    and 5 more hook runs"
    assert lines[-1].startswith("  ... ")
    assert render_sessions([child(1, 2), child(2, 1)])


def test_what_a_session_says_acts_on_no_terminal() -> None:
    """
    Words of a session, which a hook may have made up, are printed without anything that acts on a terminal.
    """
    hook_run = replace(HOOK_RUN, event=BOMB, command=BOMB, ruling=BOMB, reason=BOMB)
    made = child(1, argv=(BOMB,), ended=BOMB, hook_runs=(hook_run,))
    text = story(outcome(Recursing(turn=1, limit=BOMB, chain=(BOMB,)), refusing(children=(made,))))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_chain_begins_with_its_root() -> None:
    """The chain of causes follows the turns; a long one has its first links and its last."""
    chain = tuple(f"link {number}" for number in range(1, 13))
    text = story(outcome(Recursing(turn=1, limit="a depth of 12", chain=chain), refusing())).splitlines()
    place = text.index("  chain of causes:")
    assert text[place + 1 : place + 11] == [*(f"    link {n}" for n in range(1, 9)), "    ...", "    link 12"]
    assert "how it came" not in story(outcome(Terminated(turn=1), refusing()))


def test_hooks_that_refuse_alternately_are_named_with_their_demands() -> None:
    """If several hooks refuse in one cycle, the advice says which of them demands what."""
    lock, keep = ("./lock.sh", "[./lock.sh]: remove .lock"), ("./keep.sh", "run ./check")
    seen = [refusing(("./before.sh", "x")), *[refusing(lock), refusing(keep)] * 2]
    text = " ".join(story(outcome(Livelock(stem=1, period=2), *seen)).split())
    assert './lock.sh demands "remove .lock"; ./keep.sh demands "run ./check". Let each' in text
    assert "before.sh demands" not in text
    alone = story(outcome(Livelock(stem=1, period=1), *[refusing(lock)] * 3))
    assert "demands" not in alone
