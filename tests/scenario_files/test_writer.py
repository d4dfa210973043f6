"""Scenario files that are written by a program."""

from dataclasses import replace

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Behaviour,
    Compact,
    Edit,
    End,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Script,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
    Wait,
)
from pytest_hookharness.model.mutations import Parallel, VaryRequest
from pytest_hookharness.model.scenario import Answer, Double, Scenario
from pytest_hookharness.scenario_files.writer import Unwritable, write

GIVEN = ToolResult(text="done")
ACTS = (
    FIRST_PROMPT,
    Prompt(text="on: 12:30 \u2028 \U0001f600 \x85 'x' \"y\" \\"),
    RunCommand(command="rm -rf build", given=GIVEN),
    Edit(file="a b.py", text="x\n", expect="allow"),
    Edit(file="a.py", text="new", old="old"),
    Read(file="a.py"),
    Tools(calls=(ToolCall(name="WebFetch", input={"url": "https://example.com/"}, given=GIVEN),)),
    Subagent(prompt="Look."),
    Compact(),
    Stop(text="no"),
    End(),
)


@pytest.fixture
def scenario(tmp_path):
    """Return a scenario with everything that can be written."""
    (tmp_path / "project").mkdir()
    return Scenario(
        name="check",
        project=tmp_path / "project",
        hooks=".claude/settings.json",
        git=True,
        commands={
            "claude": Double(agent="claude-code", stdout="ok\n"),
            "make": Double(exit=1, stdout="1 check failed\n", heals_after=2),
            "true": Double(),
        },
        answers=(Answer(event="Stop", type="prompt"),),
        vary=(VaryRequest("quoting"), VaryRequest("names")),
        parallel=Parallel(event="Stop", width=4),
        script=Script(acts=ACTS, then=Behaviour(name="fixing", options={"after": 2})),
    )


def unlabelled(acts):
    """Yield the acts without their labels."""
    for act in acts:
        if isinstance(act, Tools):
            yield replace(act, calls=tuple(replace(call, label="") for call in act.calls))
        else:
            yield replace(act, label="") if hasattr(act, "label") else act


@pytest.mark.parametrize("git", [True, False])
def test_a_written_scenario_of_a_repository(tmp_path, git):
    """The copy of a repository is a repository again if the scenario's is."""
    (tmp_path / ".git").mkdir()
    scenario = Scenario(name="a", project=tmp_path, git=git)

    (read,) = scenario_files.loads(
        write(scenario, name="a", why="", folder="repository"), tmp_path / "a.scenario.yaml"
    )

    assert read.git == git


def test_a_written_scenario_can_be_read(scenario, tmp_path):
    """A scenario that is written and loaded is the same scenario, unusual characters included."""
    text = write(scenario, name="again", why="It shows: this.", folder="project")
    (read,) = scenario_files.loads(text, tmp_path / "again.scenario.yaml")
    assert tuple(unlabelled(read.script.acts)) == ACTS
    for name in ("project", "hooks", "git", "commands", "answers", "vary", "expect"):
        assert getattr(read, name) == getattr(scenario, name)
    assert read.script.then == scenario.script.then
    assert (read.name, read.why) == ("again", "It shows: this.")


def test_files_and_waits_are_written(tmp_path):
    """Files, modes, words before a call, failed results and waits are the same when they are read again."""
    texts = {"a.sh": "#!/bin/sh\nexit 2\n", "b": "no end", "c": "  first\n", "d": "x \n", "e": "", "é": "\n"}
    failed = ToolResult(text="no", failed=True)
    acts = (Wait(seconds=61.0), RunCommand(command="ls", say="Now.", given=failed), Stop(text="Done."))
    given = Scenario(name="n", files=texts, modes={"a.sh": 0o644}, script=Script(acts=acts))
    (read,) = scenario_files.loads(write(given, name="n", why="w"), tmp_path / "n.yaml")

    assert (read.files, read.modes, read.project) == (texts, given.modes, None)
    assert tuple(unlabelled(read.script.acts)) == acts


def test_other_scenarios_are_refused(scenario):
    """An act or a command that cannot be written is refused and not left out."""
    with pytest.raises(Unwritable, match="Resume"):
        write(replace(scenario, script=Script(acts=(Resume(),))), name="n", why="w", folder="p")
    moving = Double(agent="claude-code", does=(Stop(),))
    with pytest.raises(Unwritable, match="the test double of npm"):
        write(replace(scenario, commands={"npm": moving}), name="n", why="w", folder="p")
