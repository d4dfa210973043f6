"""Text of hooks, agents and file names is made safe to print."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness.reports.safe_text import (
    clip_words,
    columns,
    fit,
    fold_line,
    plain,
    plain_lines,
    quoted,
    squeeze,
)

HOSTILE = {
    "\x1b[2J\x1b[31mred": "\\x1b[2J\\x1b[31mred",
    "safe\rgone": "safe gone",
    "one\ntwo\n\n  three\t4": "one two three 4",
    "bell\x07 back\x08 del\x7f": "bell\\x07 back\\x08 del\\x7f",
    "\x9b31m": "\\x9b31m",
    "right\u202eleft\u2066x": "right\\u202eleft\\u2066x",
    "zero\u200bwidth\ufeff": "zero\\u200bwidth\\ufeff",
    "line\u2028para\u2029": "line\\u2028para\\u2029",
    "half\udc80": "half\\udc80",
    "tag\U000e0041": "tag\\U000e0041",
    "space\u00a0\u3000wide": "space wide",
    "naïve 漢字 🙂": "naïve 漢字 🙂",
    "x ##vso[task.setvariable variable=a]b": "x #\\x23vso[task.setvariable variable=a]b",
    "##[error]no": "#\\x23[error]no",
    "## heading [1] #12": "## heading [1] #12",
}


@pytest.mark.parametrize("text,expected", HOSTILE.items())
def test_hostile_text_stays_text(text: str, expected: str) -> None:
    """Controls, direction marks and invisible characters are shown instead of acted upon."""
    assert " ".join(plain(text).split()) == expected


@given(st.text(st.characters(), max_size=300), st.integers(10, 120))
def test_the_result_is_one_bounded_harmless_line(text: str, most: int) -> None:
    """No result is longer than allowed, has two lines, or has a character that acts on a terminal."""
    line = plain(text, most)
    assert len(line) <= most
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    line.encode("utf-8")


def test_a_formatted_text_keeps_its_format() -> None:
    """Lines and blanks of a text stay, and characters that act on a terminal are shown instead."""
    assert [*plain_lines("  turn 1   a\n\n      b \x1b[31m##[x]\n")] == [
        "  turn 1   a",
        "",
        "      b \\x1b[31m#\\x23[x]",
    ]


def test_a_flood_is_cut_without_being_read() -> None:
    """Only the ends of a text of megabytes are read, and the cut is marked."""
    assert plain("x" * 10_000_000, 10) == "xxxx...xxx"
    assert plain(" " * 10_000_000 + "x", 10) == "...x"


def test_marks_piled_on_one_letter_are_taken_down() -> None:
    """A letter keeps at most three of the marks that are piled on it."""
    assert plain("a" + "\u0301" * 50 + "b") == "a" + "\u0301" * 3 + "b"


def test_quotation_marks_inside_are_escaped() -> None:
    """A quoted text cannot end its own quotation."""
    assert quoted('say "no"') == '"say \\"no\\""'


@pytest.mark.slow
@given(st.text(st.characters(), max_size=60).map(plain), st.integers(0, 40))
def test_a_cell_is_exactly_as_wide_as_asked(text: str, width: int) -> None:
    """A cell fills its columns exactly, also with letters that are two columns wide."""
    assert columns(fit(text, width)) == width
    assert columns(squeeze(text, width)) == width


def test_a_name_keeps_its_end() -> None:
    """A name that is cut in the middle keeps its beginning and its end."""
    assert squeeze("always-failing-ci[before-the-fix]", 20) == "always-fa...the-fix]"


def test_a_long_text_keeps_both_ends() -> None:
    """A text that is too long is cut in the middle, because its end often says what went wrong."""
    text = "ruff: /tmp/somewhere " + "x" * 5000 + " command not found"
    assert plain(text, 60).startswith("ruff: /tmp/somewhere")
    assert plain(text, 60).endswith("command not found")
    assert len(plain(text, 60)) == 60


@given(st.text(st.characters(), max_size=300).map(plain), st.integers(4, 40))
def test_a_folded_line_fits_and_loses_nothing(text: str, width: int) -> None:
    """No folded line is too wide, and all of them have every letter of the text."""
    lines = fold_line(text, width, "  ")
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_fold_keeps_columns_aligned() -> None:
    """Blanks inside a line stay, and the lines below are indented."""
    assert fold_line("Stop    ./x.sh  says it all", 20, "    ") == ["Stop    ./x.sh  says", "    it all"]


@pytest.mark.parametrize(
    ("most", "cut"),
    [(80, "a quick brown fox and a lazy dog"), (24, "a quick ... lazy dog"), (16, "a ... dog")],
)
def test_no_word_is_cut(most, cut):
    """A text that is cut between words has only whole words, and is no longer than allowed."""
    assert clip_words("a quick brown fox and a lazy dog", most) == cut
    assert len(cut) <= most


def test_a_very_long_word_is_cut():
    """A word that would fill a line is cut, as nothing would be left of it."""
    assert clip_words("a" * 90, 41) == f"{'a' * 18}...{'a' * 18}"
