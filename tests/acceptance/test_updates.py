"""Claims about ``--hook-update``."""

import pytest

from pytest_hookharness.frontends.pytest_plugin import update_files
from pytest_hookharness.scenario_files.update.update import update

STUBBORN = "echo 'run never' >&2; exit 2"
# Another process, such as an editor, writes while the tests run.
MEDDLER = """
from pathlib import Path

def pytest_runtest_setup(item):
    with Path("scenarios/polite.scenario.yaml").open("a") as file:
        file.write("# later\\n")
"""
INTERRUPTER = "def pytest_runtest_teardown(item): raise KeyboardInterrupt\n"


@pytest.mark.nightly
def test_a_broken_expectation_is_written(project):
    """A failed expectation is changed in its file, an endless loop is not, and both are printed."""
    polite = project.scenario("polite", verdict="terminated # soon\n  within: 1\n  blocks: 7")
    stubborn = project.scenario("stubborn", body=STUBBORN)
    before, other = polite.read_text(), stubborn.read_text()
    polite.chmod(0o640)

    result = project.run("--hook-scenarios", "--hook-update")

    result.assert_outcomes(failed=2)
    assert polite.read_text() == before.replace("within: 1", "within: 2").replace("blocks: 7", "blocks: 1")
    assert stubborn.read_text() == other
    assert polite.stat().st_mode & 0o777 == 0o640
    assert sorted(polite.parent.iterdir()) == [polite, stubborn]
    result.stdout.fnmatch_lines(
        [
            "scenarios/polite.scenario.yaml: changed; run it again to confirm",
            "  - within: 1",
            "  - blocks: 7",
            "  + within: 2",
            "  + blocks: 1",
            "scenarios/stubborn.scenario.yaml: not changed: expect: the verdict was livelock; *=all",
        ]
    )


@pytest.mark.nightly
def test_workers_report_and_the_controller_writes(project):
    """The results of items on two workers are written together at the end, endless loops on demand."""
    host = "host: [claude-code, codex]\n"
    for name, body in (("one", STUBBORN), ("two", STUBBORN)):
        text = project.scenario(name, body=body, verdict="terminated").read_text()
        project.scenario(name, text=host + text)

    result = project.run("--hook-scenarios", "-n", "2", "--hook-update=all")

    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        ["scenarios/one.scenario.yaml: changed; *", "*verdict: terminated", "*verdict: livelock"]
    )
    texts = [file.read_text() for file in (project.path / "scenarios").iterdir()]
    assert [text.count("verdict: livelock") for text in texts] == [1, 1]


@pytest.mark.slow
def test_a_file_that_was_changed_meanwhile(project):
    """A file that was edited during the run is not changed."""
    polite = project.scenario("polite", verdict="terminated\n  within: 1")
    before = polite.read_text()
    project.write("conftest.py", MEDDLER)

    result = project.run("--hook-scenarios", "--hook-update")

    assert polite.read_text() == before + "# later\n"
    result.stdout.fnmatch_lines(["*polite.scenario.yaml: not changed: the file was edited during the run*"])


@pytest.mark.nightly
def test_nothing_is_written_after_an_interruption(project):
    """A run that was interrupted writes nothing."""
    polite = project.scenario("polite", verdict="terminated\n  within: 1")
    before = polite.read_text()
    project.write("conftest.py", INTERRUPTER)

    result = project.run_apart("--hook-scenarios", "--hook-update")

    assert result.ret == 2
    assert polite.read_text() == before
    result.stdout.fnmatch_lines(["the run was interrupted: nothing is written"])


@pytest.mark.slow
def test_an_edit_at_the_last_moment(project, monkeypatch):
    """An edit that is made while the new text is computed stays, and the file is not changed."""
    polite = project.scenario("polite", verdict="terminated\n  within: 1")
    before = polite.read_text()

    def edited(*arguments, **named):
        with polite.open("a") as file:
            file.write("# later\n")
        return update(*arguments, **named)

    monkeypatch.setattr(update_files, "update", edited)
    result = project.run("--hook-scenarios", "--hook-update")

    assert polite.read_text() == before + "# later\n"
    result.stdout.fnmatch_lines(["*polite.scenario.yaml: not changed: *was changed by another program*"])


@pytest.mark.slow
def test_a_path_behind_the_bare_option(project):
    """A path right behind the option is a usage error that says what may stand there."""
    result = project.run("--hook-update", "scenarios")

    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--hook-update*invalid choice*scenarios*"])
