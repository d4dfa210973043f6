"""Claims about how a check says what it varied."""

import pytest

from pytest_hookharness.campaigns.check.tried_sessions import describe_varied


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Tried: key-order; sessions (another agent, another session); processes.",
            (
                "Also tried: the input with its keys in another order; another agent and another session "
                "between its turns; a restarted host."
            ),
        ),
        ("Tried: tools git (missing).", "Also tried: no git on the PATH."),
        ("Tried: tools jq (missing), git (missing).", "Also tried: no jq or no git on the PATH."),
        (
            "Tried: tools git, jq (missing).",
            "Also tried: programs of the hooks that are missing or fail: git, jq (missing).",
        ),
        (
            "Tried: quoting `rm -rf /` (a heredoc); names nested/app.py.",
            (
                "Also tried: the words of a command as data: `rm -rf /` (a heredoc); another file of "
                "the same name: nested/app.py."
            ),
        ),
        ("Tried: 8 hook runs side by side.", "Tried: 8 hook runs side by side."),
        ("Tried: quoting `cd; rm build`.", "Tried: quoting `cd; rm build`."),
    ],
)
def test_what_was_varied(text, words):
    """Mutations are named by what they change; a text that cannot be split stays as it is."""
    assert describe_varied(text) == words
