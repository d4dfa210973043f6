"""Claims about files that are made so that hooks check a project."""

import json

import pytest

from pytest_hookharness.campaigns.arming.checked_projects import project_for_checks


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ('ORDER = ("lint", "build", "test")', ["build", "lint", "test"]),
        ("#!/bin/sh\n# npm run e2e\nnpm run test:unit", ["test:unit"]),
        ("#!/bin/sh\njq -e .scripts.typecheck package.json && npm run typecheck", ["typecheck"]),
        ("#!/bin/sh\ngrep -q '\"lint\"' package.json && pnpm lint", ["lint"]),
        ('if (pkg.scripts?.check) execSync("yarn check")', ["check"]),
    ],
)
def test_scripts_that_a_source_names(plugin, text, scripts):
    """A package.json has the scripts for which a source asks, in whichever language."""
    made = project_for_checks(plugin(), [f"{text}\npackage.json"], ["npm"])
    assert [*json.loads(made.files["package.json"])["scripts"]] == scripts
    assert made.words == f"a package.json with the scripts {', '.join(scripts)}"


def test_files_that_a_source_names(plugin):
    """Each file is made that a source names and whose program has a test double, and no other one."""
    text = "Cargo.toml go.mod\nif (root / 'pyproject.toml').exists(): pass"
    made = project_for_checks(plugin(), [text], ["cargo", "pytest"])
    assert {*made.files} == {"Cargo.toml", "pyproject.toml"}
    assert made.words == "a Cargo.toml and a pyproject.toml"
    assert made.kinds == ("rs", "py")


@pytest.mark.parametrize("text", ["package.json", "my-package.json lint", "#!/bin/sh\n# Cargo.toml"])
def test_nothing_to_make(plugin, text):
    """Without a name of a script no package.json is made, and comments and other files ask for nothing."""
    assert project_for_checks(plugin(), [text], ["npm", "cargo"]).files == {}


def test_files_that_the_project_has(plugin, tmp_path):
    """What the project has is left as it is."""
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    hook_set = plugin()
    assert "Cargo.toml" in project_for_checks(hook_set, ["Cargo.toml"], ["cargo"]).files
    assert project_for_checks(hook_set_of_a_project(hook_set), ["Cargo.toml"], ["cargo"]).files == {}


def hook_set_of_a_project(hook_set):
    """Return a hook set as one of a project and not of a plugin."""
    return type(hook_set)(host=hook_set.host, root=hook_set.root, files=hook_set.files)
