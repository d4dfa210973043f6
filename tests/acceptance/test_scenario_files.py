"""Claims about scenario files as pytest items."""

import os
import re

import pytest

from pytest_hookharness.frontends.pytest_plugin import options

STUBBORN = "echo 'run never' >&2; exit 2"


@pytest.mark.slow
def test_the_flag_alone(project):
    """The flag alone runs the scenario folder and nothing else, also when testpaths is set."""
    project.scenario("polite")
    project.write("tests/test_other.py", "def test_other(): raise SystemExit\n")
    project.write("scenarios/test_beside.py", "def test_beside(): raise SystemExit\n")
    project.write("pytest.ini", "[pytest]\ntestpaths = tests\n")

    result = project.run("--hook-scenarios", "-v")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["scenarios/polite.scenario.yaml::polite?claude-code? PASSED*"])


@pytest.mark.slow
def test_the_flag_with_paths(project):
    """With paths the flag collects the scenario files below them beside the tests."""
    project.scenario("elsewhere", folder="tests/loops")
    project.scenario("ignored")
    project.write("tests/test_other.py", "def test_other(): pass\n")

    project.run("--hook-scenarios", "tests").assert_outcomes(passed=2)


def test_without_the_flag(project):
    """Without the flag no scenario is collected."""
    project.scenario("polite")
    project.write("test_other.py", "def test_other(): pass\n")

    project.run().assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_folder_without_the_flag_says_what_is_missing(project):
    """If nothing runs in a folder that has scenario files, the summary names the option that runs them."""
    project.scenario("polite")

    left_out, named = project.run("scenarios"), project.run("scenarios", "--hook-scenarios", "-k", "nothing")

    assert left_out.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    hint = "hook harness: scenario files are there; --hook-scenarios runs them"
    assert hint in left_out.outlines
    assert hint not in named.outlines


@pytest.mark.slow
def test_a_named_file(project):
    """A scenario file that is named is collected without the flag, and the first lines name the tier."""
    file = project.scenario("polite")

    result = project.run(str(file))

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["hook harness: *, seed 0, hook timeout 10 s", "collected 1 item"])


@pytest.mark.slow
def test_the_ini_key(project):
    """The ini key collects scenario files for good."""
    project.scenario("polite")
    project.write("test_other.py", "def test_other(): pass\n")
    project.write("pytest.ini", "[pytest]\nhook_scenarios = true\n")

    project.run().assert_outcomes(passed=2)


@pytest.mark.slow
def test_other_folders(project):
    """The ini key hook_scenario_paths names where the flag alone looks."""
    project.scenario("polite", folder="loops")
    project.write("pytest.ini", "[pytest]\nhook_scenario_paths = loops\n")

    project.run("--hook-scenarios").assert_outcomes(passed=1)


def test_no_folder_is_an_error(project):
    """The flag alone without any scenario folder is a usage error that names the folder."""
    result = project.run("--hook-scenarios")

    assert result.ret == 4
    result.stderr.fnmatch_lines(["*none of the scenario folders exists*scenarios*"])


@pytest.mark.nightly
def test_node_id_and_keyword(project):
    """An item can be chosen by its node id and by -k."""
    file = project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN, verdict="livelock")

    project.run(f"{file}::polite[claude-code]").assert_outcomes(passed=1)
    project.run("--hook-scenarios", "-k", "stubborn").assert_outcomes(passed=1, deselected=1)


@pytest.mark.nightly
def test_variants_and_hosts_are_items(project):
    """Each variant on each host is an item of its own, the base among them."""
    text = project.scenario("polite").read_text()
    text += 'variants:\n  stubborn:\n    files: {hook.sh: "#!/bin/sh\\necho run the tests >&2; exit 2\\n"}\n'
    text += "    expect: {verdict: livelock}\n"
    project.scenario("polite", text="host: [claude-code, claude-code@2.1.329]\n" + text)

    result = project.run("--hook-scenarios", "-v")

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*::polite?stubborn-claude-code@2.1.329? PASSED*"])


@pytest.mark.slow
def test_projects_are_not_collected(project):
    """Tests inside the project that a scenario copies are no tests of ours."""
    text = project.scenario("polite").read_text()
    project.scenario("polite", text="project: project/\n" + text)
    project.write("scenarios/project/test_theirs.py", "raise SystemExit\n")
    project.write("scenarios/project/conftest.py", "raise SystemExit\n")

    project.run("--hook-scenarios", ".").assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_broken_file(project):
    """A malformed file is an error that names line, column and key, without a traceback."""
    file = project.scenario("polite", verdict="terminatd")

    result = project.run("--hook-scenarios")

    result.assert_outcomes(errors=1)
    line = 1 + file.read_text().splitlines().index("  verdict: terminatd")
    result.stdout.fnmatch_lines([f"*polite.scenario.yaml:{line}:12*expect.verdict*terminatd*terminated*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.slow
def test_an_unknown_host(project):
    """An unknown host is an error of the file that lists the known ones."""
    project.scenario("polite", text="host: claude-cod\n" + project.scenario("polite").read_text())

    result = project.run("--hook-scenarios")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*claude-cod*claude-code*"])


@pytest.mark.slow
def test_an_unknown_behaviour(project):
    """An unknown behaviour is an error at its place in the file and not a failure of the hook."""
    text = project.scenario("polite").read_text().replace("then: idle", "then: idel")
    project.scenario("polite", text=text)

    result = project.run("--hook-scenarios")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['scenarios/polite.scenario.yaml:*:11 *idel*did you mean "idle"*'])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.nightly
def test_what_cannot_be_played_is_an_error(project):
    """A scenario that the harness cannot play is an error with one clear sentence, never a verdict."""
    file = project.scenario("polite")
    project.scenario("polite", text=file.read_text().replace("hooks: {Stop: ./hook.sh}", "hooks: none.json"))

    result = project.run("--hook-scenarios", "-n", "2", "-ra")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["polite?claude-code? could not be played: hooks: *no file 'none.json'*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.slow
def test_a_failure_shows_the_story(project):
    """A failed expectation is a story at its line in the file, without frames of the harness."""
    file = project.scenario("stubborn", body=STUBBORN, verdict="terminated")
    line = 1 + file.read_text().splitlines().index("  verdict: terminated")

    result = project.run("--hook-scenarios", "-rf")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "livelock: Stop is blocked forever by ./hook.sh (state repeats every turn after turn 1; *",
            "*Stop *./hook.sh*exited 2*block*never*",
            f"*expected: terminated*scenarios/stubborn.scenario.yaml:{line}*expect.verdict*",
            "*replay: *hookharness run 'scenarios/stubborn.scenario.yaml::stubborn?claude-code?' --seed 0*",
        ]
    )
    result.stdout.fnmatch_lines(
        ["FAILED scenarios/stubborn.scenario.yaml::stubborn?claude-code? - livelock:*"]
    )
    result.stdout.no_fnmatch_line("*pytest_hookharness/*")


@pytest.mark.slow
def test_the_table(project):
    """A run ends with a table of scenario, host, turns, blocks, verdict and time."""
    project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN, verdict="livelock")

    result = project.run("--hook-scenarios")

    result.stdout.fnmatch_lines(
        [
            "scenario *host *turns *blocks *verdict *time*",
            "polite *claude-code* 2 * 1 *terminated * s*",
            "stubborn *claude-code* 3 * 3 *livelock * s*",
        ]
    )


@pytest.mark.nightly
def test_under_xdist(project):
    """With two workers a failure is reported at its line, and the table has every row."""
    for number in range(3):
        project.scenario(f"polite{number}")
    project.scenario("stubborn", body=STUBBORN)
    project.write("scenarios/test_beside.py", "def test_beside(): raise SystemExit\n")
    project.write("tests/test_other.py", "def test_other(): raise SystemExit\n")
    project.write("pytest.ini", "[pytest]\ntestpaths = tests\n")

    result = project.run("--hook-scenarios", "-n", "2", "-rf")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["FAILED scenarios/stubborn.scenario.yaml::stubborn?claude-code? - livelock:*"]
    )
    result.stdout.fnmatch_lines_random([f"polite{number} *terminated*" for number in range(3)])


@pytest.mark.nightly
def test_rerun_of_failures(pytester, project):
    """The items work with --last-failed as any other test does."""
    project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN)

    pytester.runpytest_subprocess("-p", "no:faker", "--hook-scenarios").assert_outcomes(passed=1, failed=1)
    pytester.runpytest_subprocess("-p", "no:faker", "--hook-scenarios", "--lf").assert_outcomes(failed=1)


@pytest.mark.slow
def test_junit_properties(project):
    """The verdict is in the properties of the JUnit report."""
    project.scenario("polite")

    project.run("--hook-scenarios", "--junitxml=report.xml").assert_outcomes(passed=1)

    report = (project.path / "report.xml").read_text()
    assert '<property name="hook.verdict" value="terminated"' in report
    assert '<property name="hook.iterations" value="2"' in report


@pytest.mark.slow
def test_keep(project):
    """With --hook-keep the workspace of a failure stays, and the report says where."""
    project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN)

    result = project.run("--hook-scenarios", "--hook-keep", f"--basetemp={project.path / 'base'}")

    (kept,) = (line.split()[-1] for line in result.outlines if line.startswith("kept in"))
    assert (project.path / "base") in (project.path / kept).parents
    assert (project.path / kept / "workspace" / "hook.sh").exists()
    assert not list((project.path / "base").glob("hooks*/polite*"))


@pytest.mark.slow
def test_nothing_is_kept_otherwise(project):
    """Without that option no workspace stays, also not that of a failure."""
    project.scenario("stubborn", body=STUBBORN)

    project.run("--hook-scenarios", f"--basetemp={project.path / 'base'}").assert_outcomes(failed=1)

    assert not list((project.path / "base").glob("hooks*/*"))


@pytest.mark.nightly
def test_the_same_seed_the_same_trace(project):
    """Two runs with one seed print the same story, except for times."""
    project.scenario("stubborn", body="cat > seen.json; " + STUBBORN)
    stories = []
    for _ in range(2):
        lines = project.run("--hook-scenarios", "--hook-seed", "7").outlines
        stories.append([re.sub(r"\d+(\.\d+)? ?m?s", "", line) for line in lines if "rootdir" not in line])

    assert stories[0] == stories[1]
    assert any("--seed 7" in line for line in stories[0])


def test_bad_options(project):
    """An invalid time is a usage error that says what can be written."""
    project.scenario("polite")

    result = project.run("--hook-scenarios", "--hook-timeout", "soon")

    assert result.ret != 0
    assert "--hook-timeout: 'soon' is not a time above zero" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("name", ["cluade-code", "claude-code,codex", ""])
def test_a_wrong_host(pytestconfig, monkeypatch, name):
    """An unknown host is one usage error, which says how to name several."""
    monkeypatch.setattr(pytestconfig.option, "hook_host", [name])
    with pytest.raises(pytest.UsageError, match="repeat the option for several hosts") as caught:
        options.settings(pytestconfig)

    assert ("did you mean 'claude-code'?" in str(caught.value)) == bool(name)


@pytest.mark.nightly
def test_wall_budget(project):
    """A simulation that uses up its wall time is undecided, and says so."""
    project.scenario("slow", body="echo x >> log; sleep 0.2; echo no >&2; exit 2")

    result = project.run("--hook-scenarios", "--hook-budget", "0.5s")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["undecided: time budget used up*--hook-budget * in pytest*"])


@pytest.mark.nightly
def test_turn_budget(project):
    """A loop that reads random bytes and never ends is undecided after its turns, and the file is named."""
    chance = "cat noise > read; head -c 9 /dev/urandom > noise; echo no >&2; exit 2"
    text = project.scenario("chance", body=chance).read_text()
    project.scenario("chance", text='env: {CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0"}\n' + text)

    result = project.run("--hook-scenarios", "--hook-turns", "12")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["undecided: *12 turns*workspace/noise*"])


@pytest.mark.nightly
def test_a_name_that_is_not_utf8_spoils_no_other_item(project):
    """A scenario file whose name xdist cannot transfer is an error, and all other files are played."""
    project.scenario("polite")
    (project.path / "scenarios" / os.fsdecode(b"evil\xff.scenario.yaml")).write_text("name: evil\n")

    result = project.run("--hook-scenarios", "-n", "1")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*evil*its path is not UTF-8; rename it*"])
