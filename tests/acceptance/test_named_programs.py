"""Claims about hooks whose program exists nowhere: a mistake that is found before anything runs."""

import pytest

SCENARIO = """\
name: guarded
host: claude-code
{keys}
hooks: {{PreToolUse: '{command}'}}
agent: [{{prompt: go}}, {agent}, {{stop: Done.}}]
"""
CALL = "{run: rm -rf build, expect: deny}"


@pytest.fixture
def run(project):
    """Run a scenario with a hook; return the result."""

    def run_scenario(command, keys="", agent=CALL):
        text = SCENARIO.format(command=command, keys=keys, agent=agent)
        project.write("scenarios/guarded.scenario.yaml", text)
        return project.run("--hook-scenarios")

    return run_scenario


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [
        "python3 ./gaurd.py",
        'python3 "$CLAUDE_PROJECT_DIR"/gaurd.py --strict',
        "node gaurd.js",
        "./gaurd.sh",
        '"$CLAUDE_PROJECT_DIR"/gaurd.sh',
    ],
)
def test_a_program_that_exists_nowhere_is_an_error(run, command):
    """A hook whose program certainly does not exist is an error that names it and the nearest file."""
    result = run(command, keys="files: {guard.py: '', guard.js: '', guard.sh: ''}")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*gaurd.* does not exist; did you mean 'guard.*'? Otherwise*"])
    result.stdout.no_fnmatch_line("*turn 1*")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("command", "keys", "agent"),
    [
        pytest.param("python3 ./gaurd.py", "expect: {findings: [NOT-RUN]}", "{run: ls}", id="expected"),
        pytest.param("python3 ./made.py", "", "{edit: {file: made.py, text: ''}}", id="made by the agent"),
        pytest.param(
            "python3 ./made.py", "files: {sub/made.py: ''}", "{run: cd sub}", id="in another folder"
        ),
        pytest.param("cat ./approved.txt", "", "{run: ls}", id="no program"),
        pytest.param("test -e ./gaurd.py || exit 0", "", "{run: ls}", id="looked for"),
    ],
)
def test_what_may_be_missing(run, command, keys, agent):
    """A file that is no program, is elsewhere, will be made or is expected to be missing is no error."""
    run(command, keys, agent).stdout.no_fnmatch_line("*cannot run*")
