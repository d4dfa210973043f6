"""Claims about the names of problems."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.hook_statistics import is_kind, is_wanted, name_problem, require_name
from pytest_hookharness.judging.checkup.one_place import at_one_place
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError


def place(*commands):
    hooks = tuple(Hook(event="Stop", command=command) for command in commands)
    return HookSet(host="claude-code", root=Path("/p"), files=(), hooks=hooks)


@pytest.mark.parametrize("kind", ["livelock", "no-end", "CRASHED"])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("taken", [(), ("livelock", "livelock-gate", "no-end-gate", "crashed-gate")])
def test_a_name_that_was_given_can_be_asked_for(kind, shared, taken):
    """Every name that a problem can have is accepted by --only."""
    symptom = Symptom(kind=kind, hook="sh ./hooks/gate.sh", text="It is.", shared=shared)
    name = name_problem(symptom, taken)
    assert name not in taken
    require_name(name, [place("./guard.py"), place("sh ./hooks/gate.sh")])


def test_a_name_with_what_the_problem_is_about():
    """The name of a problem of files is accepted too, and that of another script is not."""
    symptom = Symptom(kind="BYPASS", hook="sh ./hooks/gate.sh", text="It is.", topic="files")
    name = name_problem(symptom, ())
    assert name == "bypass-files-gate"
    require_name(name, [place("sh ./hooks/gate.sh")])
    with pytest.raises(SimulationError, match="can be called"):
        require_name(name, [place("sh ./hooks/other.sh")])


@pytest.mark.parametrize("name", ["zzz", "livelock-guard", "gate"])
def test_a_name_that_no_problem_can_have(name):
    """A name of no kind of problem, or of another script, is refused, with one that is like it."""
    with pytest.raises(SimulationError, match="can be called"):
        require_name(name, [place("./hooks/gate.sh")])
    with pytest.raises(SimulationError, match="did you mean 'livelock-gate'"):
        require_name("livelok-gate", [place("./hooks/gate.sh")])


@pytest.mark.parametrize("kind", ["livelock", "no-end", "CRASHED"])
def test_a_kind_can_be_asked_for(kind):
    """A kind of problems asks for every problem of it, and a name asks only for its own."""
    require_name(kind, [place("./hooks/gate.sh")])
    assert is_kind(kind)
    assert is_wanted(kind, f"{kind.lower()}-gate", kind)
    assert not is_wanted(kind, "mangled-gate", "MANGLED")
    assert not is_wanted(f"{kind.lower()}-gate", f"{kind.lower()}-other", kind)


@pytest.mark.parametrize(("text", "left"), [("3 lines in a: 0 instead of 4.", 1), ("3 lines in b: 0.", 2)])
def test_a_race_that_fewer_hooks_show(text, left):
    """Updates that one hook loses alone are not reported again for it and another one."""
    scenario = Scenario(name="race", host="claude-code")
    both = Symptom(kind="LOST-UPDATES", hook="./a.sh, ./b.sh", text=f"PostToolUse: {text}")
    alone = Symptom(kind="LOST-UPDATES", hook="./a.sh", text="PostToolUse: 3 lines in a: 1 instead of 2.")
    problems = [Problem(id=one.hook, symptom=one, scenario=scenario) for one in (both, alone)]
    assert at_one_place(problems)[-1].symptom == alone
    assert len(at_one_place(problems)) == left


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("PreToolUse: with no `jq` on the PATH the script ends silently, and it refuses nothing.", True),
        ("PreToolUse in turn 1: refuses (exit 2); with no `node` on the PATH, allows (exit 0).", False),
        ("UserPromptSubmit: with no `jq` on the PATH it ends with 2, which refuses every prompt.", False),
    ],
    ids=["the same", "another program", "another consequence"],
)
def test_guards_that_need_the_same_program(other, said):
    """Guards that allow everything without the same program are one problem, which names all their events."""
    scenario = Scenario(name="guards", host="claude-code")
    first = "Stop in turn 1: refuses (exit 2); with no `jq` on the PATH, allows (exit 0)."
    problems = [
        Problem(id=hook, symptom=Symptom(kind="UNGUARDED-TOOL", hook=hook, text=text), scenario=scenario)
        for hook, text in (("./a.sh", first), ("./b.sh", other))
    ]
    found = at_one_place(problems)
    assert len(found) == 2 - said
    assert found[0].symptom.hook == ("./a.sh, ./b.sh" if said else "./a.sh")
    assert found[0].symptom.text == (
        f"{first} Without this program, PreToolUse refuses nothing either." if said else first
    )


@pytest.mark.parametrize(
    ("other", "text"),
    [
        ("`jq` writes every refusal, so {}.", "`jq` writes every refusal, so {}."),
        ("it decides by what `jq` prints, so {}, and every call is allowed.", "{}."),
    ],
)
def test_what_a_source_says_is_told_of_its_own_hook(other, text):
    """If two hooks need one program for different things, the report has only what both have in common."""
    without = "with no `jq` on the PATH, nothing is refused"
    said = {"./a.sh": f"Stop: `jq` writes every refusal, so {without}.", "./b.sh": f"PreToolUse: {other}"}
    problems = [
        Problem(
            id=hook,
            symptom=Symptom(
                kind="UNGUARDED-TOOL",
                hook=hook,
                text=words.format(without),
                advice=f"Exit with {1 if hook == './a.sh' else 2}.",
            ),
            scenario=Scenario(name="guards", host="claude-code"),
        )
        for hook, words in said.items()
    ]
    (found,) = at_one_place(problems)
    assert found.symptom.text == f"Stop, PreToolUse: {text.format(without)}"
    assert found.symptom.advice == "Exit with 1. At PreToolUse: Exit with 2."


@pytest.mark.parametrize(
    ("other", "texts"),
    [
        ("stop: the host knows none of the keys continue, message", ["continue, message"]),
        ("stop: the host knows none of the keys note", ["continue, note"]),
        (
            "stop: the host knows none of the keys context; it reads reason",
            ["continue", "context; it reads reason"],
        ),
        ("stop: the answer is no JSON", ["continue", "the answer is no JSON"]),
    ],
    ids=["more keys", "another key", "another advice", "another fault"],
)
def test_answers_with_keys_that_the_host_does_not_know(other, texts):
    """Answers with nothing but unknown keys are one problem, which names the keys of all hooks."""
    scenario = Scenario(name="answers", host="cursor")
    said = {"./a.sh": "afterFileEdit: the host knows none of the keys continue", "./b.sh": other}
    problems = [
        Problem(id=hook, symptom=Symptom(kind="MANGLED", hook=hook, text=text), scenario=scenario)
        for hook, text in said.items()
    ]
    found = [one.symptom for one in at_one_place(problems)]
    assert [one.text.rpartition("keys " if "keys " in one.text else ": ")[2] for one in found] == texts
    assert [one.hook for one in found] == (["./a.sh, ./b.sh"] if len(texts) == 1 else ["./a.sh", "./b.sh"])


@pytest.mark.parametrize("seen", ["livelock", "capped", "no-end"])
@pytest.mark.parametrize("only", ["livelock", "capped", "no-end"])
def test_an_endless_loop_has_several_names(only, seen):
    """A refusal without end is found by each name that a check with more or less time gives to it."""
    assert is_wanted(f"{only}-gate", f"{seen}-gate", seen)
    assert is_wanted(only, f"{seen}-gate", seen)
    assert not is_wanted(f"{only}-gate", f"{seen}-other", seen)
    assert not is_wanted(f"{only}-gate", "gate", "MANGLED")
