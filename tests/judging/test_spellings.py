"""Other spellings of commands that guards refuse."""

import pytest

from pytest_hookharness.judging.checkup.bypasses import spellings


@pytest.mark.parametrize(
    ("command", "other"),
    [
        ("git commit --no-verify -m done", "git commit -nm done"),
        ("git commit --no-verify -m done", "git commit -m done --no-verify"),
        ("git push --force origin topic", "git push -fu origin topic"),
        ("git push --force", "git push origin +HEAD"),
    ],
)
def test_options_in_other_forms(command, other):
    """Options are also tried behind other words, and joined to others of one letter."""
    assert other in [*spellings(command)]
