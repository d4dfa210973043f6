"""Claims about hooks whose program this machine lacks, and that are tried by a stand-in."""

import os
import shlex
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.session_errors import hindered_hooks, play_session
from pytest_hookharness.campaigns.check.session_scenario import stand_ins
from pytest_hookharness.campaigns.check.sessions import plan_each_event
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


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.usefixtures("without_uv")
def test_a_script_of_uv_that_needs_only_python(plugin, harness):
    """A hook that `uv run` starts is tried without uv if it needs only Python, and the report says so."""
    hook_set = plugin("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py", **{"stop.py": HOOK})
    assert not check_statically(hook_set).stuck
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    assert any(text.startswith("uv is not on PATH: its scripts whose modules") for text in report.tried)
    assert not report.untried
    assert report.triggered == ("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py",)


@pytest.mark.usefixtures("without_uv")
def test_a_script_of_uv_that_needs_a_package(plugin):
    """A hook that needs a package cannot be tried without uv."""
    hook_set = plugin("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py", **{"stop.py": f"import no_such_ui\n{HOOK}"})
    assert [*check_statically(hook_set).stuck.values()] == ["uv is not on PATH"]


@pytest.mark.usefixtures("without_uv")
@pytest.mark.parametrize(
    "command",
    ["python3 stop.py", "if command -v uv >/dev/null; then uv run stop.py; else python3 stop.py; fi"],
)
def test_hooks_that_need_no_uv(plugin, command):
    """Nothing stands in for a program that no hook starts, or that a hook does without."""
    assert not stand_ins(plugin(command))


@pytest.mark.parametrize(
    ("dependency", "module", "cached", "stands_in"),
    [
        ("pyyaml", "yaml", False, True),
        ("pyyaml", "yaml", True, False),
        ("no-such-sdk", "no_such_sdk", False, False),
        ("", "json", False, False),
    ],
)
def test_uv_without_packages(plugin, monkeypatch, tmp_path, dependency, module, cached, stands_in):
    """Where the cache of uv is empty, this Python runs scripts that need packages if it has them."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    if cached:
        (tmp_path / "cache" / "archive-v0" / "x").mkdir(parents=True)
    needs = f'# dependencies = ["{dependency}"]\n' if dependency else "# dependencies = []\n"
    script = f"# /// script\n{needs}# ///\nimport {module}\n{HOOK}"
    hook_set = plugin("uv run ${CLAUDE_PLUGIN_ROOT}/stop.py", **{"stop.py": script})
    assert bool(stand_ins(hook_set)) is stands_in


def test_a_stand_in_that_does_not_start(plugin, harness):
    """A hook whose stand-in does not start here could not be tried, and is no failure of the hook."""
    said = "python: No module named pytest_hookharness.execution.workspace.uv_stand_in"
    session = plan_each_event(plugin(f"echo '{said}' >&2; exit 1"))
    outcome = play_session(session, harness.settings, harness.resources)
    assert [*hindered_hooks([outcome]).values()] == [
        "uv is not on PATH, and its stand-in does not start here"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Error: No-Such-Bun not found. Please install it", ""),
        ("Error: Deno not found. Please install Deno: https://deno.com", "deno is not on PATH"),
        ("the deno CLI is required but not installed", "deno is not on PATH"),
        ("node not found in the list of words", ""),
        (
            "in _execute_child\nFileNotFoundError: [Errno 2] No such file or directory: 'no-such-tool'",
            "no-such-tool is not on PATH",
        ),
        ("in open\nFileNotFoundError: [Errno 2] No such file or directory: 'no-such-file'", ""),
        ("Error: spawn no-such-tool ENOENT", "no-such-tool is not on PATH"),
    ],
)
def test_a_program_that_the_hook_says_is_missing(plugin, harness, said, why):
    """A hook that fails and names a program that is missing here could not be tried."""
    session = plan_each_event(plugin(f"echo {shlex.quote(said)} >&2; exit 1"))
    outcome = play_session(session, harness.settings, harness.resources)
    assert [*hindered_hooks([outcome]).values()] == ([why] if why else [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "ModuleNotFoundError: No module named 'kit.paths'",
            "kit.paths was not found by the copy of its script",
        ),
        (
            "x.sh: line 4: /a/lib/_words.sh: No such file or directory",
            "_words.sh was not found by the copy of its script",
        ),
        ("x.sh: line 9: log_words: command not found", "log_words was not found by the copy of its script"),
        ("Tests failed.", ""),
    ],
)
def test_what_a_copied_script_does_not_find(plugin, harness, said, why):
    """A hook that was copied without what it loads could not be tried; where it lies, that is its defect."""
    session = plan_each_event(plugin(f"cat >&2 <<'END'\n{said}\nEND\nexit 1"))
    outcome = play_session(session, harness.settings, harness.resources)
    assert [*hindered_hooks([outcome], copied=True).values()] == ([why] if why else [])
    assert not hindered_hooks([outcome])
