"""Claims about the note on shell scripts that a Mac cannot run as they are."""

import pytest

from pytest_hookharness.campaigns.check.static.mac_shell import (
    calls_for_a_mac,
    describe_mac_problems,
)


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
        ('set -e -o nounset\nlocal items=()\nfor x in "${items[*]}"; do :; done', "${items[@]}"),
        ('echo "${1,,}"', "${x,,}"),
        ('echo "$(mapfile -t x <f)"', "mapfile"),
        ("git ls-files | xargs sed -i 's/a/b/'", "sed -i"),
        ("sed --in-place 's/a/b/' file", "sed -i"),
        ("sed 's/a/b/' -i file", "sed -i"),
        ('x=$(dirname "$(readlink -f "$0")")', "readlink -f"),
        ("stat -Lc%s file", "stat -c"),
        ("stat --format=%s file", "stat -c"),
        ("grep -m 1 --perl-regexp x file", "grep -P"),
        ("LC_ALL=C /usr/bin/timeout 5 make", "timeout"),
        ("exec timeout -k 1 5 make", "timeout"),
        ("cat <<END\ndone\nEND\ntimeout 5 make", "timeout"),
        ("cat <<'END' >&2\ndone\nEND\ntimeout 5 make", "timeout"),
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
        "cat <<END\nmapfile x\nsed -i s/a/b/ f\n${x,,}\nEND",
        "cat >&2 <<-'END'\n\ttimeout 5 make\n\tEND",
        'echo "use stat -c %Y, or: sed -i x; timeout 5 make"',
        'echo "\n timeout 5 make\n"',
        "echo 'date +%N'",
        "x=$'it\\'s'; echo 'timeout 5 x'",
        "stat -c %Y file 2>/dev/null || stat -f %m file",
        "case $(uname) in Linux) sed -i s/a/b/ f ;; *) sed -i '' s/a/b/ f ;; esac",
        "readlink -f x 2>/dev/null || echo x",
        "if type timeout >/dev/null; then timeout 5 x; fi",
        "if ((BASH_VERSINFO[0] > 3)); then mapfile x; fi",
        "git grep -P x",
        "grep -e -P file",
        "pgrep -P 1",
        'set -u\nitems=()\n((${#items[@]})) && run "${items[@]}"',
        'set -u\nitems=()\nitems+=(one)\nrun "${items[@]}"',
        "echo $((1 << x)); echo ${#x}",
    ],
)
def test_what_a_mac_has(line):
    """What works on a Mac too, or stands in a comment or a quoted text, is not named."""
    assert notes(line) == []


def test_other_shells():
    """Scripts for another interpreter are not read."""
    assert notes("mapfile -t x", "#!/usr/bin/env zsh") == []
    assert notes("mapfile -t x", "#!/usr/bin/env python3") == []


def test_options_of_the_first_line():
    """An empty array is an error where the first line sets the option, too."""
    assert notes('items=()\nrun "${items[@]}"', "#!/bin/bash -eu") != []


def test_many_places():
    """At most four places of a script are named, and the others counted."""
    (note,) = notes("\n".join(["mapfile x"] * 6))
    assert note.endswith("and 2 more.")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("true\nsed -i '' -E 's/a/b/' file", "`sed -i ''` works only on a Mac"),
        ('age=$(stat -f %m "$file" || echo 0)', "`stat -f` works only on a Mac"),
        ("date -v -1d", "`date -v` works only on a Mac"),
        ('at=$(date -j -f "%Y-%m-%d" "$day" +%s 2>/dev/null || echo 0)', "`date -j` works only on a Mac"),
        ('date -j -f %Y "$day" +%s || date -d "$day" +%s', ""),
        ("sed -i '' 's/a/b/' file || sed -i 's/a/b/' file", ""),
        ("stat -f %m file || stat -c %Y file", ""),
        ("at=$(stat -f %m f 2>/dev/null || stat -c %Y f 2>/dev/null || echo 0)", "`stat -f %m ... ||"),
        ('at=$(stat -f \'%z\' "$f" || stat --format=%s "$f")', "`stat -f %m ... ||"),
        ("at=$(stat -c %Y f 2>/dev/null || stat -f %m f)", ""),
        ("at=$(stat -f%m f || stat -c %Y f)", ""),
        ("at=$(stat -f %m f || stat -c %Y f | tail -1)", ""),
        ("case $(uname) in Darwin) ;; esac\nat=$(stat -f %m f || stat -c %Y f)", ""),
        ("stat -f file", ""),
        ("command -v osascript >/dev/null || exit 0\nsed -i '' s/a/b/ file", ""),
        ("[ \"$(uname)\" = Darwin ] && sed -i '' s/a/b/ file", ""),
        ("echo \"use sed -i '' there\"", ""),
    ],
)
def test_calls_that_work_only_on_a_mac(body, words):
    """A call that the tools of Linux refuse is named, unless the script has the other way too."""
    found = [*calls_for_a_mac(f"#!/usr/bin/env bash\n{body}\n")]
    assert [said.startswith(words) for said, _ in found] == ([True] if words else [])
    assert not [*calls_for_a_mac(f"#!/usr/bin/env python3\n{body}\n")]
