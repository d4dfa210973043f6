"""Where shell scripts send what they print."""

import pytest

from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere


@pytest.mark.parametrize(
    ("script", "elsewhere"),
    [
        ("echo TEXT >&2\nexit 0\n", False),
        ("echo TEXT >&2\nls | xargs -I{} stat {} 2>/dev/null\n", False),
        ("echo TEXT >&2\necho ${name} >>log\necho $(date) | cat\n", False),
        ("echo TEXT >&2\n{ echo a; } >log\n(echo b) | cat\n", False),
        ("{ date\n  echo TEXT\n} >log\n", True),
        ("(date; echo TEXT) | cat\n", True),
        ("while true; do\n  echo TEXT\ndone >log\n", True),
        ("echo TEXT\nif true; then\n  date\nfi >log\n", True),
        ("say() { echo TEXT; }\nsay >log\n", True),
        ("x=$(\n  echo TEXT\n)\n", True),
        ("exec >log\necho TEXT\n", True),
    ],
)
def test_a_text_that_may_be_no_output(script, elsewhere):
    """A text stands in a block with another output only between its brackets; a keyword may end any block."""
    text = f"#!/bin/bash\n{script}"
    assert goes_elsewhere(text, text.index("TEXT")) is elsewhere
