"""Claims about texts with a leading dash that a program takes for an option."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.static.ended_searches import texts_as_options

REFUSED = [
    "printf '- %s\\n' x",
    'printf "- %s: %s\\n" "$x" "$y" >> "${LOG:-/dev/null}"',
    "printf '--- report ---\\n'",
    "if true; then printf '-%s' x; fi",
    "grep -q '--force' file",
    "echo x | grep -qE '--(no-verify|force)'",
    'echo x | grep -qi "--no-verify" && exit 2',
    "echo x | grep -q '-rf'",
    "echo x | grep -E '-n'; true",
    "LC_ALL=C grep -q '--force' file",
]
ACCEPTED = [
    "printf -- '- %s\\n' x",
    "printf '%s\\n' '- x'",
    "printf '-'",
    "printf '\\n- %s' x",
    "printf -v text '%s' x",
    "grep -q -- '--force' file",
    "grep -q -e '--force' file",
    "grep -qe '-----BEGIN KEY-----' file",
    "grep -Eqe '--force' file",
    "grep --regexp '--force' file",
    "grep '--include=*.py' -r x .",
    "grep '--color=never' x file",
    "grep '-i' x file",
    "grep -q '[-]-force' file",
    "echo \"printf '- x'\"",
    "awk '{printf \"- %s\", $1}' file",
    "# printf '- %s' x",
    "cat <<'END'\nprintf '- %s' x\nEND",
    "my-printf '- x'",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_is_taken_for_an_option(text):
    """A format or a pattern that begins with a dash is named with its line."""
    assert [line for _, line in texts_as_options(f"#!/bin/bash\n{text}\n")] == [2]


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_dash_that_is_no_option(text):
    """A text behind the options, an option in quotes, and what is no call are left alone."""
    assert not [*texts_as_options(f"#!/bin/bash\n{text}\n")]


@pytest.mark.parametrize("text", [one for one in REFUSED if "LC_ALL" not in one])
def test_the_shell_agrees(tmp_path, text):
    """The shell prints an error for each call that is named."""
    (tmp_path / "file").write_text("--force\n", encoding="utf-8")
    run = subprocess.run(["bash", "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "option" in run.stderr or "Usage" in run.stderr


def test_one_cause_for_each_program():
    """All formats of a script are one cause."""
    text = "#!/bin/sh\nprintf '- %s' x\nprintf '- [x] %s' y\ngrep -q '--force' f\n"
    assert len({words for words, _ in texts_as_options(text)}) == 2


@pytest.mark.parametrize(
    "first", ["#!/usr/bin/env perl", "#!/usr/bin/awk -f", "#!/usr/bin/env ruby", "grep() {"]
)
def test_other_languages(first):
    """In other languages, and in a script with a function of that name, the dash begins no option."""
    if "grep" in first:
        first = f"#!/bin/bash\n{first} command rg -e \"$@\"; }}\ngrep '--force' f"
    assert not [*texts_as_options(f'{first}\nprintf "- %s\\n", x\n')]


def test_zsh():
    """Zsh prints such a format, so its scripts are left alone."""
    assert not [*texts_as_options("#!/bin/zsh\nprintf '- %s' x\n")]
