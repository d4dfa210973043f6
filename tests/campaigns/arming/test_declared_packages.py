"""Claims about packages that a project declares and that are missing on this machine."""

import json

import pytest

from pytest_hookharness.campaigns.arming.declared_packages import missing_package

OF_NODE = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '{}' imported from /x/a.mjs"
OF_PYTHON = "ModuleNotFoundError: No module named '{}'"


@pytest.fixture
def root(tmp_path):
    """A part of a repository; the repository and the part declare packages."""
    (tmp_path / ".git").mkdir()
    part = tmp_path / "plugins/one"
    (part / "hooks").mkdir(parents=True)
    (part / "hooks/package.json").write_text(
        json.dumps({"dependencies": {"better-sqlite3": "1", "@a/b": "2"}})
    )
    (tmp_path / "requirements.txt").write_text("# no pandas\nPyYAML>=6\npython_dotenv==1\n")
    (part / "pyproject.toml").write_text('[project]\ndependencies = [\n  "rich[x]>=1",\n  "httpx",\n]\n')
    return part


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (OF_NODE.format("better-sqlite3"), "better-sqlite3"),
        (OF_NODE.format("@a/b/sub"), "@a/b"),
        (OF_NODE.format("left-pad"), ""),
        ("Error: Cannot find module './lib/x.js'", ""),
        (OF_PYTHON.format("yaml"), "yaml"),
        (OF_PYTHON.format("dotenv.main"), "dotenv"),
        (OF_PYTHON.format("rich.console"), "rich"),
        (OF_PYTHON.format("httpx"), "httpx"),
        (OF_PYTHON.format("pandas"), ""),
        ("all is well", ""),
    ],
)
def test_which_missing_packages_are_declared(root, said, name):
    """A package is known by the manifests of the project and of the folders around it, others are not."""
    assert missing_package(said, root) == name


def test_a_broken_manifest_declares_nothing(tmp_path):
    """A manifest that is no JSON object declares nothing and does no harm."""
    (tmp_path / "package.json").write_text("[1")
    assert missing_package(OF_NODE.format("x"), tmp_path) == ""
