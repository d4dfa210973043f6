"""Pitfalls that a single run shows: each is found in a trace that has it, and not in similar traces."""

from dataclasses import replace

import pytest

from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Event, Prompt, Read, Resume, RunCommand, ToolCall, ToolResult
from pytest_hookharness.model.processes import Exited, Output, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling, Unheard
from pytest_hookharness.model.trace import (
    Change,
    Exchange,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    Step,
    Trace,
)

RULE = Rule("It is so.", Basis.OBSERVED, "a host")
LINES = "Indent with tabs.\nKeep it short."
GO, AGAIN = Prompt(text="Go."), Resume()


def hook_run(
    command: str = "./a.sh", *, code: int = 0, out: str = "", err: str = "", **reply: object
) -> HookRun:
    ended = ProcessResult(
        ending=Exited(code),
        stdout=Output(out.encode(), len(out)),
        stderr=Output(err.encode(), len(err)),
    )
    hook = Hook(event="PreToolUse", command=command)
    return HookRun(hook=hook, payload={}, run=ended, reply=Reply(rule=RULE, **reply))  # type: ignore[arg-type]


def asked(
    *hook_runs: HookRun, changed: str = "", to_agent: str = "", target: str = "Bash", why: str = "no"
) -> HookEvent:
    ruling = next((one.reply.ruling for one in hook_runs if one.reply.ruling is not Ruling.NONE), Ruling.NONE)
    refused = ruling is Ruling.DENY
    return HookEvent(
        event="PreToolUse",
        target=target,
        hook_runs=hook_runs,
        decision=Decision(
            event="PreToolUse",
            ruling=ruling,
            refused=refused,
            reasons=(why,) if refused else (),
            to_agent=(to_agent,) if to_agent else (),
            rule=RULE,
        ),
        changes=(Change(path=changed, how="content"),) if changed else (),
    )


def denied(**how: str) -> HookEvent:
    return asked(hook_run(code=2, err="no", ruling=Ruling.DENY, reason="no"), **how)


def trace(*exchanges: Exchange | Event) -> Trace:
    steps = [item if not isinstance(item, Prompt | Resume) else Happened(event=item) for item in exchanges]
    return Trace(
        steps=tuple(Step(number=number, turn=number, exchange=item) for number, item in enumerate(steps, 1))  # type: ignore[arg-type]
    )


def found(seen: Trace, **wanted: object) -> list[tuple[str, str]]:
    return [(one.name, one.text) for one in find(seen, expect=Expectation(**wanted))]  # type: ignore[arg-type]


STAYED = "PreToolUse of Bash, allow: .state did not change"
EFFECT = {"PreToolUse:allow": (".state",)}
COUNTED, UNCOUNTED = asked(hook_run(), changed="workspace/.state/n"), asked(hook_run())


@pytest.mark.parametrize(
    ("exchanges", "effects", "texts"),
    [
        ((COUNTED, COUNTED), EFFECT, []),
        ((COUNTED, denied()), EFFECT, []),
        ((UNCOUNTED,), {}, []),
        ((asked(),), EFFECT, []),
        (
            (UNCOUNTED,),
            EFFECT,
            [f"{STAYED}, and no other hook run changed it."],
        ),
        (
            (denied(changed="workspace/.state"), UNCOUNTED),
            EFFECT,
            [f"{STAYED}; the same hook changed it on PreToolUse of Bash, deny."],
        ),
        (
            (asked(hook_run(), changed="workspace/.stated"),),
            {"PreToolUse": (".state",)},
            [f"{STAYED}, and no other hook run changed it."],
        ),
    ],
)
def test_a_missing_expected_change_is_found(exchanges, effects, texts) -> None:
    """A file that must change with a decision is reported where it does not, and only there."""
    assert found(trace(*exchanges), effects=effects) == [("EARLY-EXIT", text) for text in texts]


def read(file: str, *, why: str = "begin first", expect: str | None = None) -> list[Exchange]:
    call = ToolCall(name="Read", input={"file": file})
    return [
        Moved(move=Read(file=file, expect=expect)),
        denied(target="Read", why=why),
        Performed(call=call, result=ToolResult(), refused=True),
    ]


def ran(command: str, *, refused: bool, changed: str = "") -> list[Exchange]:
    changes = (Change(path=changed, how="added"),) if changed else ()
    call = ToolCall(name="Bash", input={"command": command})
    done = Performed(call=call, result=ToolResult(), refused=refused, changes=changes)
    return [Moved(move=RunCommand(command=command)), denied() if refused else asked(hook_run()), done]


LOCKED = [*read("a.md"), *read("b.md")]


@pytest.mark.parametrize(
    ("exchanges", "expected"),
    [
        (LOCKED, 1),
        ([*LOCKED, *ran("ls", refused=True)], 1),
        ([*ran("ls", refused=False), AGAIN, *LOCKED], 1),
        # One file twice, a reason for each, an allowed call, reads that must be refused: a guard.
        ([*read("a.md"), *read("a.md")], 0),
        ([*read(".env"), *read("config/.env.prod")], 0),
        ([*read(".env"), *read("a.md")], 1),
        ([*read("a.md", why="no a"), *read("b.md", why="no b")], 0),
        ([*LOCKED, *ran("ls", refused=False)], 0),
        ([*read("a.md", expect="deny"), *read("b.md", expect="deny")], 0),
        ([], 0),
    ],
)
def test_a_session_that_is_locked_out_is_found(exchanges, expected) -> None:
    """Only a session in which nothing is allowed, reads of several files included, is locked out."""
    assert [name for name, _ in found(trace(GO, *exchanges))] == ["STUCK-PHASE"] * expected


BEGAN = [*ran("make", refused=True), *ran("begin", refused=False, changed="workspace/.phase")]


def test_a_mark_that_is_left_over_is_found() -> None:
    """
    A call that one session refuses and the next allows is reported with the files left over, if expected.
    """
    seen = trace(GO, *BEGAN, AGAIN, GO, *ran("make", refused=False))
    text = (
        "The first Bash 'make' was refused in one session and allowed in the next, "
        "which began with .phase left over."
    )

    assert found(seen, sessions_alike=True) == [("STUCK-PHASE", text)]
    assert found(seen) == []


def test_equal_sessions_are_no_finding() -> None:
    """A call that each session refuses at first is no finding."""
    seen = trace(GO, *BEGAN, *ran("make", refused=False), AGAIN, GO, *BEGAN, *ran("make", refused=False))

    assert found(seen, sessions_alike=True) == []


UNMEANT = {"ruling": Ruling.DENY, "silent": True, "unmeant": True}


def test_output_that_is_taken_for_a_refusal_is_found() -> None:
    """Output that a host treats as a refusal is one finding, without another one for its missing reason."""
    seen = trace(asked(hook_run(out="{}\n", **UNMEANT), why="denied by a hook"))
    fault = trace(asked(hook_run(out="note\nmore", fault="mangled: no answer", **UNMEANT)))
    silent = trace(asked(hook_run(**UNMEANT)))

    assert found(seen) == [
        ("STDOUT-DENIES", "PreToolUse: exit code 0 with '{}' on standard output, and the host refuses.")
    ]
    assert [name for name, _ in found(fault)] == ["STDOUT-DENIES"]
    assert "'note ...'" in found(fault)[0][1]
    assert "nothing on standard output" in found(silent)[0][1]


def test_a_refusal_that_was_meant_is_none() -> None:
    """A refusal without a reason stays a refusal."""
    bare = replace(hook_run(), reply=Reply(ruling=Ruling.DENY, silent=True, rule=RULE))

    assert [name for name, _ in found(trace(asked(bare)))] == ["SILENT-REFUSAL"]


@pytest.mark.parametrize(
    ("place", "text", "to_agent", "heard", "names"),
    [
        ("output on a prompt", "one line", (), "", ["PROMPT-NOISE"]),
        ("output on a prompt", "one line", (), "<x>one line</x>", []),
        ("reason of an allow", LINES, (), "", ["UNSEEN-REASON"]),
        ("reason of an allow", "one line", ("on. l",), "", ["UNSEEN-REASON"]),
        ("reason of an allow", "one line", ("other",), "", []),
        ("reason of an allow", "it is read only", (), "", []),
        ("reason of an allow", LINES, (), f"<x>{LINES}</x>", []),
    ],
)
def test_text_that_does_not_arrive_is_found(place, text, to_agent, heard, names) -> None:
    """Text for the agent that does not reach it is found, and short notes for the user are not."""
    lost = Unheard(place=place, text=text, rule=RULE)

    assert [
        name for name, _ in found(trace(asked(hook_run(unheard=lost), to_agent=heard)), told=to_agent)
    ] == names


def loud(command: str, **more: object) -> HookRun:
    return hook_run(command, err="alive\n", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hook_runs", "texts"),
    [
        (
            (loud("a"), loud("b")),
            ["PreToolUse: 2 hooks write to standard error and decide nothing; 2 lines for one event."],
        ),
        (
            (hook_run("a", context="x"), hook_run("b", context="x")),
            ["PreToolUse: 2 hooks say the same, 'x'."],
        ),
        (
            (
                loud("a", code=2, ruling=Ruling.DENY, reason="[a]: alive"),
                loud("b", code=2, ruling=Ruling.DENY, reason="[b]: alive"),
            ),
            ["PreToolUse: 2 hooks say the same, 'alive'."],
        ),
        ((loud("a"), hook_run("b")), []),
        ((loud("a"), loud("b", code=2, ruling=Ruling.DENY, reason="alive")), []),
        ((loud("a"), loud("b", code=1, fault="crashed: 1")), []),
        ((hook_run("a", context="x"), hook_run("b", context="y")), []),
        # Their hosts found an answer on standard error.
        ((loud("a", user_text="x"), loud("b", user_text="y")), []),
    ],
)
def test_noise_of_several_hooks_is_found(hook_runs, texts) -> None:
    """Several hooks that write noise or the same text at one event are reported with the number of lines."""
    seen = [text for name, text in found(trace(asked(*hook_runs, to_agent="x"))) if name == "DOUBLE-NOISE"]

    assert seen == texts
