"""How the code of shell scripts is told from texts."""

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of


def test_text_that_is_no_code_is_hidden():
    """Comments, here-documents and quotes are hidden in place, and what is expanded within quotes is not."""
    script = """x="a$(b 'c')" # d\ncat <<E\nf\nE\n"""
    assert code_of(script) == """x="_$(b '_')" ___\ncat <<E\n_\n_\n"""
