"""Scenarios whose project is the repository that they are in."""

import contextlib
import json
import os
import subprocess

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace.project_files import list_ignored, run_git
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.simulation.testbed.run_settings import Settings

TEXT = """\
name: own
project: repository
git: true
hooks:
  Stop: 'test "$(git status -s)$(packages/tool)" = installed && touch packages/cache && test ! -e .env'
agent: [{prompt: Go.}, {stop: Done.}]
expect: {verdict: terminated}
"""


@pytest.fixture
def repository(tmp_path):
    """Return a repository with a scenario, and with packages and a secret that git ignores."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("packages/\n.env\n")
    (tmp_path / ".env").write_text("TOKEN=1\n")
    tool = tmp_path / "packages" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho installed\n")
    tool.chmod(0o755)
    # Part of a virtual environment: a link that leaves the project.
    (tool.parent / "sh").symlink_to("/bin/sh")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "own.scenario.yaml").write_text(TEXT)
    return tmp_path


def test_packages_are_linked_and_secrets_are_not(repository, harness):
    """Hooks find the installed packages of a repository, change none, and see no ignored file."""
    (scenario,) = scenario_files.load(repository / "scenarios" / "own.scenario.yaml")

    outcome = harness.simulate(scenario)
    if outcome.tier is not Tier.NAMESPACES:
        pytest.skip("no namespaces here, so nothing is lent")

    (hook_run,) = [hook_run for _, hook_run in outcome.trace.hook_runs()]
    assert (hook_run.run.ending.code, hook_run.run.stderr.text) == (0, "")
    assert sorted(path.name for path in (repository / "packages").iterdir()) == ["sh", "tool"]
    assert [line for line in outcome.assumptions if "git ignores" in line] == [
        "Of what git ignores in the project, linked and not watched: packages; left out: .env."
    ]


PLUGIN = """\
name: own
plugin: repository
agent: [{prompt: Go.}, {stop: Done.}]
expect: {verdict: terminated}
"""
COMMAND = 'test "$("$CLAUDE_PLUGIN_ROOT"/packages/tool)" = installed && test ! -e "$CLAUDE_PLUGIN_ROOT"/.env'


def test_packages_of_a_plugin_are_linked(repository, harness):
    """The hooks of a plugin find the installed packages of its repository, and the outcome says so."""
    stops = {"Stop": [{"hooks": [{"type": "command", "command": f"{COMMAND} || exit 2"}]}]}
    (repository / "hooks").mkdir()
    (repository / "hooks" / "hooks.json").write_text(json.dumps({"hooks": stops}))
    (repository / "scenarios" / "own.scenario.yaml").write_text(PLUGIN)
    (scenario,) = scenario_files.load(repository / "scenarios" / "own.scenario.yaml")

    outcome = harness.simulate(scenario)
    if outcome.tier is not Tier.NAMESPACES:
        pytest.skip("no namespaces here, so nothing is lent")

    (hook_run,) = [hook_run for _, hook_run in outcome.trace.hook_runs()]
    assert (hook_run.run.ending.code, hook_run.run.stderr.text) == (0, "")
    assert [line for line in outcome.assumptions if "git ignores" in line] == [
        "Of what git ignores in the plugin, linked and not watched: packages; left out: .env."
    ]


def test_folder_names_that_are_git_patterns(repository, harness):
    """Whatever the name of a linked folder is, git sees no more of it in the copy than in the repository."""
    for name in ("new*[1] ", os.fsdecode(b"packages\xff")):
        (repository / name).mkdir()
        (repository / name / "file").touch()
    (repository / ".gitignore").write_text("packages*/\nnew*/\n.env\n")
    (repository / "newer").touch()
    (scenario,) = scenario_files.load(repository / "scenarios" / "own.scenario.yaml")

    outcome = harness.simulate(scenario)
    if outcome.tier is not Tier.NAMESPACES:
        pytest.skip("no namespaces here, so nothing is lent")

    (hook_run,) = [hook_run for _, hook_run in outcome.trace.hook_runs()]
    assert (hook_run.run.ending.code, hook_run.run.stderr.text) == (0, "")


def test_nothing_of_a_repository_is_run(repository, tmp_path_factory):
    """A repository that names a program to fetch missing objects is asked what it ignores, and runs none."""
    said = tmp_path_factory.mktemp("elsewhere") / "said"

    def git(*words):
        command = ["git", "-C", str(repository), *words]
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.split()

    git("add", ".gitignore")
    git("update-index", "--skip-worktree", ".gitignore")
    (repository / ".gitignore").unlink()
    blob = git("rev-parse", ":.gitignore")[0]
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::sh -c touch% {said}"),
        ("protocol.ext.allow", "always"),
    ):
        git("config", name, value)

    with contextlib.suppress(WorkspaceError):
        list_ignored(repository)

    assert not said.exists()
    git("ls-files", "--others", "--ignored", "--exclude-standard")
    assert said.exists(), "git does not fetch what is missing here, so nothing was shown"


@pytest.mark.slow
def test_nothing_is_linked_where_writes_would_reach_it(repository, tmp_path_factory):
    """If writes are not contained the copy is without packages, and the outcome says so."""
    (scenario,) = scenario_files.load(repository / "scenarios" / "own.scenario.yaml")

    with Harness(Settings(base=tmp_path_factory.mktemp("subreaper"), tier=Tier.SUBREAPER)) as harness:
        outcome = harness.simulate(scenario)

    (hook_run,) = [hook_run for _, hook_run in outcome.trace.hook_runs()]
    assert "packages/tool: not found" in hook_run.run.stderr.text
    assert [line for line in outcome.assumptions if "git ignores" in line] == [
        "Of what git ignores in the project, left out: packages, .env."
    ]


def test_there_must_be_a_repository(tmp_path):
    """A scenario outside of a repository cannot ask for one."""
    file = tmp_path / "own.scenario.yaml"
    file.write_text(TEXT)

    with pytest.raises(
        scenario_files.ScenarioErrors, match=r"own.scenario.yaml:2:10 project: .*contains \.git"
    ):
        scenario_files.load(file)


def test_a_project_whose_own_repository_is_incomplete(tmp_path):
    """What Git takes for no repository is looked up in the repository around it, as for its owner."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".gitignore").write_text("built\n")
    (folder / "built").write_text("")
    run_git(("init", "--quiet"), tmp_path)

    assert "built" in list_ignored(folder)
