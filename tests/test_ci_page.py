"""
The snippets of docs/ci.md and the manifest for pre-commit: each has the form that it should have, and works.
"""

import importlib.resources
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text()
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
WORKFLOW, JOB, CONFIG = ".github/workflows/hooks.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml"
# The keys of a hook that pre-commit documents, with the types of their values.
KEYS = {
    "id": str,
    "name": str,
    "description": str,
    "entry": str,
    "language": str,
    "files": str,
    "pass_filenames": bool,
    "require_serial": bool,
    "additional_dependencies": list,
}


def snippet(name):
    found = re.search(rf"`{re.escape(name)}`:\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert found, f"docs/ci.md has no {name}"
    return found[1]


def schema(name):
    folder = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    return json.loads((folder / f"{name}.json").read_text())


def flaws(text, name):
    """Why a file is not of the form that is published for its kind."""
    content = yaml.safe_load(text)
    if True in content:
        # YAML 1.1 reads the key `on` as true; GitHub reads it as YAML 1.2 does.
        content["on"] = content.pop(True)
    return [error.message for error in jsonschema.Draft7Validator(schema(name)).iter_errors(content)]


@pytest.mark.parametrize(
    ("name", "kind", "good", "bad"),
    [
        (WORKFLOW, "github-workflows", "runs-on: ubuntu-latest", "runs_on: ubuntu-latest"),
        (JOB, "gitlab-ci", "when: always", "when: ever"),
    ],
)
def test_snippets_have_the_published_form(name, kind, good, bad):
    """Each snippet is valid by the published schema of its kind, and with a wrong word it is not."""
    text = snippet(name)

    assert flaws(text, kind) == []
    assert flaws(text.replace(good, bad), kind) != []


def test_the_hook_for_pre_commit_has_the_documented_form():
    """The manifest has what pre-commit requires of its hooks, and the snippet is the first written out."""
    hook, check = HOOKS
    ((local,),) = [each["hooks"] for each in yaml.safe_load(snippet(CONFIG))["repos"]]

    assert all({"id", "name", "entry", "language"} <= each.keys() for each in HOOKS)
    assert all(isinstance(value, KEYS[key]) for each in (hook, check, local) for key, value in each.items())
    assert local.pop("additional_dependencies") == ["pytest-hookharness"]
    assert local == {key: value for key, value in hook.items() if key != "description"}


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("scenarios/check.scenario.yaml", True),
        (".claude/settings.json", True),
        ("tools/hooks/lint.sh", True),
        ("odd.scenario.yaml", True),
        ("README.md", False),
        ("src/hooked/app.py", False),
    ],
)
def test_when_pre_commit_runs_it(path, runs):
    """Only changes of scenarios, hooks or settings of an agent start the hook for pre-commit."""
    assert bool(re.search(HOOKS[0]["files"], path)) == runs


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        (".claude/settings.json", True),
        ("hooks/hooks.json", True),
        ("skills/review/SKILL.md", True),
        (".claude-plugin/plugin.json", True),
        ("README.md", False),
        ("src/hooked/app.py", False),
    ],
)
def test_when_pre_commit_checks(path, runs):
    """Only changes of settings, hooks and plugins start a check."""
    assert bool(re.search(HOOKS[1]["files"], path)) == runs


def test_the_short_job_has_eight_lines():
    """The job that checks hooks is valid in a workflow, and has eight lines."""
    found = re.search(r"a job of eight lines is enough:\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    job = found[1]
    workflow = "on: push\njobs:\n" + "".join(f"  {line}\n" for line in job.splitlines())

    assert len(job.splitlines()) == 8
    assert flaws(workflow, "github-workflows") == []
    assert flaws(workflow.replace("steps:", "stages:"), "github-workflows") != []


def commands():
    """The commands of all snippets, without those that install something."""
    steps = yaml.safe_load(snippet(WORKFLOW))["jobs"]["hooks"]["steps"]
    hook = HOOKS[0]
    lines = [step["run"] for step in steps if "run" in step]
    lines += [*yaml.safe_load(snippet(JOB))["agent-hooks"]["script"], hook["entry"]]
    return [line for line in lines if not line.startswith("pip install ")]


@pytest.mark.nightly
def test_the_commands_of_the_snippets_work(tmp_path):
    """Each command of a snippet succeeds in a repository with the page's scenario, and leaves its file."""
    scenario = tmp_path / "scenarios" / "check.scenario.yaml"
    scenario.parent.mkdir()
    scenario.write_text(snippet("scenarios/check.scenario.yaml"))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "GITHUB"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    found = commands()
    for command in found:
        words = [*shlex.split(command), "-p", "no:faker"]
        ran = subprocess.run(
            words, cwd=tmp_path, env={**clean, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"

    assert len(found) == 3
    assert json.loads((tmp_path / "hooks.sarif").read_text())["runs"][0]["results"] == []
    assert "hook.verdict" in (tmp_path / "hooks.xml").read_text()
