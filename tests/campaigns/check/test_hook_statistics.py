"""Claims about hook statistics: defects that show in all runs of a hook together."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.hook_statistics import find_never_run, find_problems
from pytest_hookharness.campaigns.check.reads.compared_tools import foreign_tools
from pytest_hookharness.campaigns.check.static.hook_program import empty_run
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, Output, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

RULE = Rule("nothing said", Basis.DOCUMENTED, "a page")
HOOK = Hook(event="PreToolUse", command="./hooks/guard.py", timeout=2)
FOREIGN = 'if asked["tool_name"] in ("write_file", "edit_file"):\n    sys.exit(2)\n'


def place(source=""):
    return HookSet(
        host="claude-code", root=Path("/p"), files=(), hooks=(HOOK,), sources=(("hooks/guard.py", source),)
    )


def outcome(*runs, changes=()):
    decision = Decision(event="PreToolUse", rule=RULE)
    hook_runs = [HookRun(hook=HOOK, payload={}, run=run, reply=Reply(rule=RULE)) for run in runs]
    steps = tuple(
        Step(
            number=turn,
            turn=turn,
            exchange=HookEvent(event="PreToolUse", hook_runs=(hook_run,), decision=decision, changes=changes),
        )
        for turn, hook_run in enumerate(hook_runs, 1)
    )
    return Outcome(
        scenario=Scenario(name="check"),
        host="claude-code@1",
        trace=Trace(steps=steps),
        verdict=Terminated(turn=1),
    )


def kinds(source, *runs, changes=()):
    found = find_problems(place(source), [outcome(*runs, changes=changes)])
    return [problem.symptom.kind for problem in found]


def run(wall=0.1, stdout=b""):
    return ProcessResult(ending=Exited(0), wall=wall, limit=2.0, stdout=Output(stdout, len(stdout)))


@pytest.mark.parametrize(
    "source",
    [
        FOREIGN,
        '[ "$(jq -r .tool_name)" = write_file ] || exit 0\n',
        "[[ $TOOL_NAME == write_file ]]\n",
        'case "$TOOL_NAME" in\n  write_file) exit 2 ;;\nesac\n',
        'if (input.tool_name !== "runTerminalCommand") process.exit(0);\n',
    ],
)
def test_tools_of_another_host(source):
    """A hook that compares the tool's name with another host's, and does nothing, is an INERT-GUARD."""
    assert kinds(source, run()) == ["INERT-GUARD"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        'if asked["tool_name"] == "Write":\n',
        'if asked["tool_name"] in ("Write", "write_file"):\n',
        'if asked["tool_name"] == "mcp__server__tool":\n',
        'if asked["tool_name"] == "WebSearch":\n',
        "[[ $TOOL_NAME == Write ]] || exit 0\n",
        'other = "write_file"\n',
        'print("the tool_name may be", "write_file")\n',
        '# if tool_name == "write_file":\n',
        'if tool_name == "write_file": pass\nif "Write" == tool_name: pass\n',
    ],
)
def test_names_that_prove_nothing(source):
    """A script that names a tool of its host, or one that no host is known for, is no INERT-GUARD."""
    assert foreign_tools(place(source), HOOK) == ()
    assert kinds(source, run()) == []


def test_hooks_that_do_something():
    """A hook that printed something, or wrote a file, is no INERT-GUARD."""
    changed = (Change(path="workspace/log", how="added"),)
    laid_down = (Change(path="home/.host/transcript", how="added"),)
    assert kinds(FOREIGN, run(stdout=b"words")) == []
    assert kinds(FOREIGN, run(), changes=changed) == []
    assert kinds(FOREIGN, run(), changes=laid_down) == ["INERT-GUARD"]


@pytest.mark.parametrize(("times", "wall", "found"), [(5, 1.1, ["SLOW"]), (5, 0.9, []), (4, 1.9, [])])
def test_hooks_near_their_limit(times, wall, found):
    """A hook that takes more than half of its timeout is SLOW, if it ran often enough to say so."""
    assert kinds("", *[run(wall)] * times) == found


def test_a_busy_machine_makes_no_hook_slow(monkeypatch):
    """What a hook works takes longer on a busy machine, so only what it waits counts fully."""
    monkeypatch.setattr("os.getloadavg", lambda: (4.0 * (os.cpu_count() or 1), 0.0, 0.0))
    assert kinds("", *[replace(run(1.9), cpu=0.4)] * 5) == []
    assert kinds("", *[replace(run(1.9), cpu=0.0)] * 5) == ["SLOW"]


@pytest.mark.nightly
def test_a_hook_is_compared_with_an_empty_run_of_its_interpreter(tmp_path, monkeypatch):
    """Where an empty run of the interpreter takes long too, a hook that works as long is not SLOW."""
    script = "#!/usr/bin/env python3\n"
    program = tmp_path / "python3"
    program.write_text("#!/bin/sh\nexec sleep 0.2\n")
    program.chmod(0o755)
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert empty_run(place(script), HOOK) == ("python3", "-c", "")
    assert kinds(script, *[replace(run(1.9), cpu=0.4)] * 5) == []
    assert kinds(script, *[replace(run(1.9), cpu=0.0)] * 5) == ["SLOW"]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ('cd x && node "$CLAUDE_PROJECT_DIR"/x.js', ("node", "-e", "0")),
        ("bash -c 'true'", ("bash", "-c", ":")),
        ("./program", ("sh", "-c", ":")),
        ("python3.12 x.py", ("python3.12", "-c", "")),
    ],
)
def test_the_empty_run_of_a_command(command, found):
    """The interpreter that a command names is the one that is compared, else the shell."""
    assert empty_run(place(), Hook(event="Stop", command=command)) == found


def test_a_module_of_its_own_that_a_hook_never_finds(tmp_path):
    """A hook that ends well and says in each run that its own module is missing is one that did not run."""
    (tmp_path / "guard.py").touch()

    def found(*texts, root=tmp_path):
        runs = (ProcessResult(ending=Exited(0), stdout=Output(text.encode())) for text in texts)
        return [one.symptom for one in find_problems(replace(place(), root=root), [outcome(*runs)])]

    missing = '{"systemMessage": "Guard: No module named \'guard.rules\'"}'
    (symptom,) = found(missing, missing)
    assert symptom.kind == "NOT-RUN"
    assert symptom.text.endswith(
        "said \"No module named 'guard.rules'\", which it looks for in another place."
    )
    (elsewhere,) = found(missing, missing, root=Path("/p/guard"))
    assert "the name of the folder around it" in elsewhere.text
    assert not found(missing, "{}")
    assert not found(missing, missing, root=Path("/p"))


def test_the_hooks_of_a_component(tmp_path):
    """A hook of a component counts as run, though the sessions have it in other settings."""
    from_file = replace(HOOK, source=".claude/agents/a.md")
    component = HookSet(host="claude-code", root=tmp_path, files=(), hooks=(from_file,), inline={})
    settings = replace(component, inline=None)
    assert not find_never_run(component, [outcome(run())])
    assert find_never_run(settings, [outcome(run())]) == [from_file]
