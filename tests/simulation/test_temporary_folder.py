"""What a harness leaves in its temporary folder."""

import tempfile

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.testbed.run_settings import Settings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder in which this process makes its temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_an_interruption_left_behind_is_removed(folder):
    """A workspace that an interruption left behind is removed with the folder that it is in."""
    with Harness(Settings()) as harness:
        (harness.base / "half" / "workspace").mkdir(parents=True)
        (harness.base / "half" / "workspace" / "file").write_text("text")

    assert [*folder.iterdir()] == []


def test_what_is_kept_stays(folder):
    """With --hook-keep the folder of kept workspaces stays, and is removed if none was kept."""
    with Harness(Settings(keep=True)) as harness:
        assert harness.base.is_dir()
    assert [*folder.iterdir()] == []

    with Harness(Settings(keep=True)) as harness:
        kept = harness.base / "kept"
        kept.mkdir()
    assert kept.is_dir()
