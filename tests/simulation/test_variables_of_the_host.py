"""Claims about the environment variables that a scenario gives its host."""

import pytest


@pytest.mark.parametrize(("value", "passed"), [("{{workspace}}/lib", True), ("lib", False)])
def test_a_variable_that_names_the_project(play, value, passed):
    """In a variable, `{{workspace}}` is the absolute path of the project, in whatever folder a hook runs."""
    outcome = play(
        hooks={"Stop": 'cd / && test -f "$TOOLS/x.txt" || exit 2'},
        env={"TOOLS": value},
        files={"lib/x.txt": "text"},
        turns=2,
    )
    assert (outcome.blocks("Stop") == 0) is passed
