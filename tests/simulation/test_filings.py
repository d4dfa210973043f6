"""
Claims about filings: which project the scenario files of a check-up name.
"""

from dataclasses import replace

import pytest

from pytest_hookharness import loading
from pytest_hookharness.filings import file_away
from pytest_hookharness.model.checkups import Checkup, Complaint, Place, Problem
from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.model.scenario import Scenario


def checkup(root):
    scenario = Scenario(name="check", host="claude-code", project=root, script=Script(acts=(FIRST_PROMPT,)))
    problem = Problem(
        id="livelock-check", complaint=Complaint(kind="livelock", text="It is."), scenario=scenario
    )
    return Checkup(place=Place(host="claude-code", root=root, files=()), problems=(problem,))


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
    ],
)
def test_which_project_a_file_names(project, tmp_path, git, folder, named):
    """A file within the repository names that, one above the project its path, and any other a copy."""
    if git:
        (project / ".git").mkdir()
    (problem,) = file_away(checkup(project), tmp_path / folder, lambda *_: True).problems
    (scenario,) = loading.load(problem.file)
    assert f'\nproject: "{named}"\n' in problem.file.read_text()
    assert scenario.project == (tmp_path / folder / "project" if named == "project" else project)


def test_options_are_written(project, tmp_path):
    """Options of the host that a session was played with stand in its file."""
    found = checkup(project)
    (problem,) = found.problems
    scenario = replace(problem.scenario, host="openhands", options={"stuck_detection": False})
    made = replace(found, problems=(replace(problem, scenario=scenario),))
    (problem,) = file_away(made, tmp_path, lambda *_: True).problems
    assert loading.load(problem.file)[0].options == {"stuck_detection": False}
