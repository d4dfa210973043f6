"""Claims about exported scenarios: which project the scenario files of a check-up name."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.scenario_export import export, shows
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario


def checkup(root):
    scenario = Scenario(name="check", host="claude-code", project=root, script=Script(acts=(FIRST_PROMPT,)))
    problem = Problem(id="livelock-check", symptom=Symptom(kind="livelock", text="It is."), scenario=scenario)
    return CheckReport(place=HookSet(host="claude-code", root=root, files=()), problems=(problem,))


@pytest.fixture
def project(tmp_path):
    """A project with a hook."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "hook.sh").write_text("exit 0\n")
    return root


@pytest.mark.parametrize(
    ("git", "folder", "named"),
    [
        (True, "repository/scenarios", "repository"),
        (True, "repository", "repository"),
        (True, ".", "./repository"),
        (False, "repository", "."),
        (False, "elsewhere", "project"),
        (False, "repository/scenarios", "project"),
    ],
)
@pytest.mark.parametrize("relative", [True, False])
def test_which_project_a_file_names(project, tmp_path, monkeypatch, git, folder, named, relative):
    """A file within the repository names that, one above the project its path, and any other a copy."""
    if git:
        (project / ".git").mkdir()
    (tmp_path / folder).mkdir(exist_ok=True)
    monkeypatch.chdir(project)
    where = os.path.relpath(tmp_path / folder) if relative else tmp_path / folder
    (problem,) = export(checkup(project), Path(where), lambda *_: True).problems
    (scenario,) = scenario_files.load(problem.file)
    assert f'\nproject: "{named}"\n' in problem.file.read_text()
    assert scenario.project == (tmp_path / folder / "project" if named == "project" else project)
    assert (scenario.project / "hook.sh").is_file()


def test_problems_are_reported_where_no_file_can_be_written(project, tmp_path):
    """A project that cannot be copied leaves the problems as they are and nothing behind, and says why."""
    (project / "link").symlink_to("/")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (problem,) = export(checkup(project), folder, lambda *_: True).problems
    assert (problem.id, problem.file) == ("livelock-check", None)
    assert "leaves the project" in problem.unwritten
    assert not [*folder.iterdir()]


def test_a_file_that_somebody_writes_meanwhile_stays(project, tmp_path):
    """A file that is written while its scenario is played stays, and the other problems get their files."""
    first, second, _ = of_two_hooks(project).problems
    mine = tmp_path / f"claude-code-{first.id}.scenario.yaml"

    def play(*_):
        mine.write_text("mine")
        return True

    taken, written, _ = export(of_two_hooks(project), tmp_path, play).problems

    assert mine.read_text() == "mine"
    assert taken.unwritten == f"none, because {mine} exists already; move it away"
    assert (written.id, written.file.is_file()) == (second.id, True)


def test_an_interrupted_check_up_writes_nothing(project, tmp_path):
    """After Ctrl-C nothing is run to write a file."""
    found = replace(checkup(project), interrupted=True)
    (problem,) = export(found, tmp_path, lambda *_: pytest.fail("it was played")).problems
    assert problem.unwritten == "none, because the check was interrupted"


def test_a_check_up_without_time_left_plays_no_file(project, tmp_path, harness):
    """Where the budget ended before a scenario was seen to fail, no file is written, and it says why."""
    found = checkup(project)
    run = CheckRun(found.place, replace(harness.settings, wall=0.0), harness.resources)
    (problem,) = export(found, tmp_path, partial(shows, run)).problems
    assert problem.file is None
    assert "because the time budget ended" in problem.unwritten


def test_conditions_are_written(project, tmp_path):
    """Options of the host, and the order of hooks, that a session ran with are in its file."""
    found = checkup(project)
    (problem,) = found.problems
    scenario = replace(
        problem.scenario, host="openhands", options={"stuck_detection": False}, order={"Stop": (1, 2)}
    )
    made = replace(found, problems=(replace(problem, scenario=scenario),))
    (problem,) = export(made, tmp_path, lambda *_: True).problems
    (loaded,) = scenario_files.load(problem.file)
    assert (loaded.options, loaded.order) == ({"stuck_detection": False}, {"Stop": (1, 2)})


def test_what_is_lent_is_not_written(project, tmp_path):
    """A file names no folder of the HOME of the person who had it written."""
    found = checkup(project)
    (problem,) = found.problems
    scenario = replace(problem.scenario, env={"npm_config_cache": "/home/user/.npm", "OWN": "1"})
    place = replace(found.place, lent_env={"npm_config_cache": "/home/user/.npm"})
    made = replace(found, place=place, problems=(replace(problem, scenario=scenario),))
    (problem,) = export(made, tmp_path, lambda *_: True).problems
    (loaded,) = scenario_files.load(problem.file)
    assert loaded.env == {"OWN": "1"}


GATE, GUARD = (Hook(event=event, command=f"./{event}.sh") for event in ("Stop", "PreToolUse"))


def of_two_hooks(root):
    """Problems of two hooks in one session."""
    found = checkup(root)
    (one,) = found.problems
    kinds = (("livelock", "", GATE), ("CRASHED", "HH005", GUARD), ("NOT-RUN", "HH004", GUARD))
    problems = tuple(
        replace(
            one,
            id=f"{kind}-check",
            symptom=Symptom(kind=kind, code=code, hook=hook.command, text="It is."),
        )
        for kind, code, hook in kinds
    )
    return replace(found, place=replace(found.place, hooks=(GATE, GUARD)), problems=problems)


def test_a_file_plays_the_one_hook_of_a_plugin(project, tmp_path):
    """A file for one hook of a plugin has the plugin as its project, as a host would add all of its hooks."""
    found = of_two_hooks(project)
    problems = [
        replace(one, scenario=replace(one.scenario, project=None, plugin=project)) for one in found.problems
    ]
    found = replace(found, place=replace(found.place, plugin=True), problems=tuple(problems))
    gate, _, absent = export(found, tmp_path, lambda *_: True).problems
    (scenario,) = scenario_files.load(gate.file)
    assert (scenario.plugin, [*scenario.hooks]) == (None, ["Stop"])
    assert (scenario.project / "hook.sh").is_file()
    assert scenario.env == {"CLAUDE_PLUGIN_ROOT": "{{workspace}}"}
    # With all hooks it stays a plugin.
    (whole,) = scenario_files.load(absent.file)
    assert (whole.plugin is None, whole.project, whole.hooks) == (False, None, None)


def test_a_file_plays_the_one_hook_that_it_guards(project, tmp_path):
    """If other hooks have problems too, a file has one hook, so that it passes when that hook is fixed."""
    gate, guard, absent = export(of_two_hooks(project), tmp_path, lambda *_: True).problems
    handler = {"type": "command", "command": "./Stop.sh"}
    assert scenario_files.load(gate.file)[0].hooks == {"Stop": [handler]}
    assert [*scenario_files.load(guard.file)[0].hooks] == ["PreToolUse"]
    # A hook that cannot be started may be fixed in the settings, so these are read.
    assert scenario_files.load(absent.file)[0].hooks is None


def test_a_file_plays_all_hooks_where_one_does_not_show_it(project, tmp_path):
    """A problem that a hook does not have alone gets a file with all hooks."""
    found = export(of_two_hooks(project), tmp_path, lambda scenario, _: scenario.hooks is None).problems
    assert [scenario_files.load(problem.file)[0].hooks for problem in found] == [None, None, None]
