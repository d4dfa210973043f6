"""The sentence about the files of a project that are not copied."""

from pathlib import Path

from pytest_hookharness.execution.workspace.project_files import IgnoredFiles


def test_caches_are_not_named():
    """Caches are reported in one word, and everything else that git ignores by its name."""
    folders = ("node_modules", ".pytest_cache", "src/__pycache__", "htmlcov")
    ignored = IgnoredFiles(Path("/p"), folders, (".env", ".hypothesis/a"))

    assert ignored.describe("project", linked=True) == (
        "Of what git ignores in the project, linked and not watched: node_modules, caches; "
        "left out: .env, caches."
    )
    assert IgnoredFiles(Path("/p"), ("a", "b")).describe("project", linked=False).endswith("left out: a, b.")
