"""How the code of shell scripts is told from texts."""

import pytest

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of, script_of


def test_text_that_is_no_code_is_hidden():
    """Comments, here-documents and quotes are hidden in place, and what is expanded within quotes is not."""
    script = """x="a$(b 'c')" # d\ncat <<E\nf\nE\n"""
    assert code_of(script) == """x="_$(b '_')" ___\ncat <<E\n_\n_\n"""


FUNCTIONS = """\
outer() {
  inner() {
    echo 1
  }
  inner
}
below()
{
  echo 2
}
function named { echo 3; }
apart() (
  cd /
)
echo end
"""


@pytest.mark.parametrize(
    ("words", "name"),
    [("echo 1", "inner"), ("inner\n}", "outer"), ("echo 2", "below"), ("echo 3", "named"), ("cd /", "apart")],
)
def test_functions_in_any_usual_form(words, name):
    """Functions may be indented, have their brace in the next line, fill one line, or be a subshell."""
    around = script_of(FUNCTIONS).function_at(FUNCTIONS.index(words))
    assert around is not None
    assert around.name == name


def test_what_follows_functions_is_in_none():
    """A function ends where it is closed at its own depth."""
    assert script_of(FUNCTIONS).function_at(FUNCTIONS.index("echo end")) is None
