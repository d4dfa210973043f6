"""Claims about the shipped scenarios as files: complete, readable, and about hooks that are really there."""

import ast
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FILES = sorted(SCENARIOS.rglob("*.scenario.yaml"))
HOOKS = sorted(
    file
    for folder in ("project/.*/hooks", "project/hooks", "plugin/scripts")
    for file in SCENARIOS.glob(f"**/{folder}/*")
    if file.is_file()
)
FOLDERS = ("**/project/.claude/*.json", "**/project/.gemini/*.json", "**/plugin/hooks/hooks.json")
SETTINGS = sorted(file for folder in FOLDERS for file in SCENARIOS.glob(folder))
NOT_EXECUTABLE = {"missing-script/project/.claude/hooks/locked.sh"}
NOT_THERE = {"missing.py", "missing.sh"}


def name(file: Path) -> str:
    return str(file.relative_to(SCENARIOS))


@pytest.mark.parametrize("file", FILES, ids=name)
def test_scenario_says_what_it_is(file):
    """A scenario is named as its file, and says in one sentence or two what it shows."""
    content = yaml.safe_load(file.read_text())

    assert file.name == content["name"] + ".scenario.yaml"
    assert re.fullmatch(r"[A-Z][^\n]{20,200}\.", content["why"])
    assert "verdict" in content["expect"]


@pytest.mark.parametrize("file", HOOKS, ids=name)
def test_hook_says_what_it_is(file):
    """A hook begins with its interpreter and one line that names its event and its purpose."""
    first, second, *_ = file.read_text().splitlines()

    assert first.startswith("#!/")
    assert re.match(r"# \w+ hook( of a plugin)?: .{20,}\.$", second)
    assert os.access(file, os.X_OK) is (name(file) not in NOT_EXECUTABLE)


@pytest.mark.parametrize("file", HOOKS, ids=name)
def test_hook_can_be_read(file):
    """A hook is short, and its interpreter can parse it."""
    text = file.read_text()

    assert 60 > len(text.splitlines())
    if "python" in text.splitlines()[0]:
        ast.parse(text)
    elif text.startswith("#!/bin/sh"):
        assert 0 == subprocess.run(["sh", "-n", file], check=False).returncode


@pytest.mark.parametrize("file", SETTINGS, ids=name)
def test_settings_name_hooks_that_are_there(file):
    """Settings are JSON, and each command is a file of the project, except where its absence is the point."""
    groups = [group for groups in json.loads(file.read_text())["hooks"].values() for group in groups]
    commands = [hook["command"] for group in groups for hook in group["hooks"]]
    variables = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT")
    roots = dict.fromkeys(variables, file.parents[1])

    for command in commands:
        for root, path in re.findall(r'"\$\{?(\w+)\}?"(/\S+)', command):
            assert (roots[root] / path[1:]).exists() is (Path(path).name not in NOT_THERE)


def test_rules_hook_is_small():
    """The whole rules hook has at most 250 lines of code."""
    folder = SCENARIOS / "infinite-block-command/project/.claude/hooks/rules"
    lines = [line for file in folder.glob("*.py") for line in file.read_text().splitlines() if line.strip()]

    assert 250 >= len(lines)
