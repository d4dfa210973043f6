"""Claims about the note on shell scripts that a Mac cannot run as they are."""

import pytest

from pytest_hookharness.campaigns.check.mac_shell import describe_mac_problems


def notes(body, shebang="#!/bin/bash"):
    """What is said about a script."""
    return [*describe_mac_problems([("hook.sh", f"{shebang}\n{body}\n")])]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('name="${1,,}"', "${x,,}"),
        ("mapfile -t lines < file", "mapfile"),
        ("git ls-files | readarray -t x", "mapfile"),
        ("declare -A seen", "declare -A"),
        ("now=$(date +%s%N)", "date +%N"),
        ("date -u '+%s.%3N'", "date +%N"),
        ("sed -i 's/a/b/' file", "sed -i"),
        ("sed -E -i -e 's/a/b/' file", "sed -i"),
        ('dir=$(readlink -f "$0")', "readlink -f"),
        ("stat -c %Y file", "stat -c"),
        ("grep -oP 'a(?=b)' file", "grep -P"),
        ("if timeout 5 make; then exit 0; fi", "timeout"),
        ("x=$(timeout 5 make)", "timeout"),
        ('set -eu\nitems=()\nrun "${items[@]}"', "${items[@]}"),
    ],
)
def test_what_a_mac_does_not_have(line, word):
    """Each construct is named with its line and the reason."""
    (note,) = notes(line)
    assert note.startswith("hook.sh may fail on a Mac: line ")
    assert f"`{word}`" in note


@pytest.mark.parametrize(
    "line",
    [
        "# mapfile",
        "echo 'use timeout 5 and stat -c'",
        "sed -i '' 's/a/b/' file",
        "sed -i.bak 's/a/b/' file",
        "sed -n 's/i/j/p' file",
        "date +%s",
        "grep -E 'timeout |x' file",
        "export TIMEOUT=5 timeout=5",
        "stat -f %m file",
        '[ "$(uname)" = Darwin ] || stat -c %Y file',
        "command -v timeout >/dev/null && timeout 5 make",
        'items=()\nrun "${items[@]}"',
        'set -u\nitems=()\nrun ${items[@]+"${items[@]}"}',
        'x="${1:-a,b}"',
    ],
)
def test_what_a_mac_has(line):
    """What works on a Mac too, or stands in a comment or a quoted text, is not named."""
    assert notes(line) == []


def test_other_shells():
    """Scripts for another interpreter are not read."""
    assert notes("mapfile -t x", "#!/usr/bin/env zsh") == []
    assert notes("mapfile -t x", "#!/usr/bin/env python3") == []


def test_many_places():
    """At most four places of a script are named, and the others counted."""
    (note,) = notes("\n".join(["mapfile x"] * 6))
    assert note.endswith("and 2 more.")
