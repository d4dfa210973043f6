"""The hooks that the check-up is judged by are well formed, labelled, and do what their labels say."""

import json
import os
import re
import shlex

import pytest

from .behave import BEHAVIOURS
from .drive import BAD, GOOD, Project, handlers, place_of
from .prove import PROOFS

WELL_BEHAVED = sorted(path.name for path in GOOD.iterdir())
SEEDED = sorted(path.name for path in BAD.iterdir())
VERDICTS = {"terminated", "livelock", "recursing"}
# The defect of these is that the script is missing, or may not be executed.
NOT_RUN = {"script-of-another-name", "not-executable"}


def label_of(name):
    """The label of a hook with a defect."""
    return json.loads((BAD / name / "label.json").read_text(encoding="utf-8"))


def script_of(folder, handler):
    """The script that a command names, by its place in the project."""
    words = [word for word in shlex.split(handler.command) if "/hooks/" in word]
    return folder / re.sub(r"^.*?(?=\.\w+/hooks/)", "", words[0])


@pytest.mark.parametrize("folder", [GOOD / name for name in WELL_BEHAVED] + [BAD / name for name in SEEDED])
def test_every_project_is_well_formed(folder):
    """Each project has one settings file with hooks, whose scripts can be run unless that is the defect."""
    found = list(handlers(folder))
    scripts = [script_of(folder, handler) for handler in found]
    called = [script for script, handler in zip(scripts, found, strict=True) if handler.command[0] == '"']

    assert found
    assert all(script.is_file() for script in scripts) is (folder.name != "script-of-another-name")
    assert all(os.access(script, os.X_OK) for script in called) is (folder.name not in NOT_RUN)


def test_sets_are_whole():
    """There are twenty well-behaved hooks and thirty with a defect, and each has its proof."""
    assert (len(WELL_BEHAVED), len(SEEDED)) == (20, 30)
    assert set(WELL_BEHAVED) == set(BEHAVIOURS)
    assert set(SEEDED) == set(PROOFS)
    assert not [name for name in WELL_BEHAVED if (GOOD / name / "label.json").exists()]


def test_labels_are_whole():
    """Each label names one defect of its own in a sentence, the findings that say so, and a verdict."""
    labels = [label_of(name) for name in SEEDED]
    sentences = [label["defect"] for label in labels]

    assert [set(label) for label in labels] == [{"defect", "findings", "verdict"}] * 30
    assert len(set(sentences)) == 30
    assert [words for words in sentences if not words.endswith(".") or ". " in words] == []
    assert [label["findings"] for label in labels if not label["findings"]] == []
    assert {label["verdict"] for label in labels} == VERDICTS


@pytest.mark.parametrize("settings", [(), (".claude/settings.json", ".codex/hooks.json")])
def test_projects_without_one_settings_file_are_seen(tmp_path, settings):
    """A project with no settings file, or with two, is an error."""
    for place in settings:
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text("{}")

    with pytest.raises(ValueError, match="settings files"):
        place_of(tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", WELL_BEHAVED)
def test_well_behaved_hooks_behave(tmp_path, name):
    """A well-behaved hook does what it is there for, and nothing else."""
    BEHAVIOURS[name](Project(GOOD / name, tmp_path), tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SEEDED)
def test_defects_show(tmp_path, name):
    """A hook with a defect has the one that its label names."""
    PROOFS[name](Project(BAD / name, tmp_path), tmp_path)
