"""Many hosts in one run, and a host that another distribution brings by an entry point."""

import os
import textwrap

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.plugin import HOSTS


@pytest.fixture
def toy(project, tmp_path, monkeypatch):
    """Install a distribution with the profile of a host that lets only one refusal pass."""
    site = tmp_path / "site"
    info = site / "toy_host-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-host\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pytest_hookharness.hosts]\ntoy@1 = toy_host:TOY\n")
    (site / "toy_host.py").write_text(
        textwrap.dedent(
            """
            from dataclasses import replace

            from pytest_hookharness.hosts import find

            CLAUDE = find("claude-code")
            TOY = replace(CLAUDE, name="toy", version="1", cap=replace(CLAUDE.cap, cap=1, below_one=1))
            """
        )
    )
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", path)
    return info


@pytest.mark.nightly
def test_a_brought_host_is_played_beside_ours(project, toy):
    """A profile of another distribution is known by its name, and its cap applies."""
    text = project.scenario("loop", body="echo run the tests >&2; exit 2", verdict="capped").read_text()
    project.scenario("loop", text="until: guard\n" + text)

    result = project.run_apart("--hook-scenarios", "--hook-host", "toy", "--hook-host", "claude-code")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["loop*toy@1*2*1*capped*passed", "loop*claude-code*9*8*capped*passed"])


@pytest.mark.nightly
def test_a_brought_host_that_is_no_profile(project, toy):
    """An entry point that gives something else is named with what it must give."""
    (toy / "entry_points.txt").write_text("[pytest_hookharness.hosts]\ntoy@1 = os.path:sep\n")
    project.scenario("loop", body="exit 0")

    result = project.run_apart("--hook-scenarios", "--hook-host", "toy")

    assert result.ret != 0
    result.stdout.fnmatch_lines(["*entry point 'toy@1'*must name a Profile*"])


@pytest.mark.slow
def test_a_conftest_brings_a_host_and_a_section_of_the_report(project):
    """A conftest can bring a host for its run, and a section for the report of each failed test."""
    project.scenario("loop", body="echo run the tests >&2; exit 2")
    project.write(
        "conftest.py",
        "from dataclasses import replace\n"
        "from pytest_hookharness.hosts import find\n"
        "def pytest_hook_hosts():\n"
        "    return [replace(find('claude-code'), name='mine', version='7')]\n"
        "def pytest_hook_report_sections(outcome):\n"
        "    return [('owner of the hooks', f'{outcome.host}: ask the platform team')]\n",
    )

    result = project.run("--hook-scenarios", "--hook-host", "mine")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- owner of the hooks -*", "mine@7: ask the platform team"])
    assert "mine" not in hosts.names()


@pytest.mark.parametrize("brought", ["find('codex')", "'codex@9'"], ids=str)
def test_a_host_that_cannot_be_brought_is_a_usage_error(project, brought):
    """A host that is built in, or is no profile, ends the run before anything is collected."""
    project.write(
        "conftest.py",
        f"from pytest_hookharness.hosts import find\ndef pytest_hook_hosts():\n    return [{brought}]\n",
    )

    result = project.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pytest_hook_hosts gave*codex*"])


def test_the_help_names_every_host():
    """The help of --hook-host names every built-in host."""
    assert [name for name in hosts.names() if "@" not in name] == HOSTS.split()


@pytest.mark.nightly
def test_one_scenario_on_every_host(project):
    """A run on all hosts shows the verdicts side by side, and the facts behind differences."""
    text = project.scenario("loop", body="echo run the tests >&2; exit 2", verdict="livelock").read_text()
    project.scenario("loop", text="until: guard\nturns: 20\n" + text)

    result = project.run_apart("--hook-scenarios", "--hook-host", "all")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*hosts compared*",
            "scenario*loop*",
            "claude-code@2.1.329*capped*",
            "HH018 DIVERGE  loop: capped on claude-code@*; livelock on codex@*",
            "*claude-code@2.1.329*: in turn 9 refusal overridden: 8 refusals*observed: claude-code*",
            "*codex@0.169.0*: in turn 9 refused: *observed: codex*",
        ]
    )
