"""Claims about hooks whose program this machine lacks, and that are tried by a stand-in."""

import os
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.stand_ins import stand_ins
from pytest_hookharness.campaigns.check.static_checks import check_statically

HOOK = """import json, sys
if not json.load(sys.stdin)["stop_hook_active"]:
    print("Once more.", file=sys.stderr)
    sys.exit(2)
"""


@pytest.fixture
def without_uv(monkeypatch):
    """A PATH without uv."""
    folders = os.environ["PATH"].split(os.pathsep)
    left = [folder for folder in folders if not Path(folder, "uv").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(left))


@pytest.mark.usefixtures("without_uv")
def test_a_script_of_uv_that_needs_only_python(plugin, harness):
    """A hook that `uv run` starts is tried without uv if it needs only Python, and the report says so."""
    hook_set = plugin("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py", **{"stop.py": HOOK})
    assert not check_statically(hook_set).stuck
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    assert "uv is not on PATH: Python alone ran those of its scripts that need no package." in report.tried
    assert not report.untried
    assert report.triggered == ("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py",)


@pytest.mark.usefixtures("without_uv")
def test_a_script_of_uv_that_needs_a_package(plugin):
    """A hook that needs a package cannot be tried without uv."""
    hook_set = plugin("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py", **{"stop.py": f"import rich\n{HOOK}"})
    assert [*check_statically(hook_set).stuck.values()] == ["uv is not on PATH"]


def test_hooks_that_start_no_uv(plugin):
    """Nothing stands in for a program that no hook starts."""
    assert not stand_ins(plugin("python3 stop.py"))
