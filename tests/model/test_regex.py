"""Regular expressions that users write: they mean what they mean in Python, and matching them ends."""

import contextlib
import re
import subprocess
import sys
import time

import pytest

from pytest_hookharness.model import regex
from pytest_hookharness.model.regex import Regex, SlowPattern, found_in
from pytest_hookharness.model.time_budget import limited_to

# Seconds of CPU: far more than one search may take.
PATIENCE = 5.0
LETTERS = "a" * 80
ENDLESS = [
    (r"(a|aa)+$", LETTERS + "b"),
    (r"^(a|aa)+$", LETTERS + "b"),
    (r"(?:a|a)*b", LETTERS),
    (r"(\s+)+$", " " * 200_000 + "x"),
    (r"\s+$", " " * 1_000_000 + "x"),
    (r"(a+)+$b", LETTERS),
    (r"(a+)+\1$", LETTERS + "b"),
    (r"(?=(a|aa)+$)x", LETTERS + "b"),
    (r"(?<!x)(a|aa)+$", LETTERS + "b"),
    (r"(?:a{1,30}){1,30}b", "a" * 400),
    (r"((a{1,100}){1,100}){1,100}$", "a" * 500 + "b"),
    (r"a.*b.*c.*d", "a" * 3000 + "b" * 3000 + "c" * 3000),
    (r"([a-z]+)*[0-9]", "a" * 5000),
    ("(a|a)" * 40 + "b", LETTERS),
    ("a?" * 80 + "a" * 80 + "b", LETTERS),
    (r"(.|\n)*?(.|\n)*?(.|\n)*?END", "x\n" * 5000),
]


# Not the texts: one of a million characters would be sent with each report of its test.
@pytest.mark.nightly
@pytest.mark.parametrize(("pattern", "text"), ENDLESS, ids=[pattern for pattern, _ in ENDLESS])
@pytest.mark.parametrize("method", ["search", "fullmatch", "subn"])
def test_matching_ends(monkeypatch, pattern, text, method):
    """An expression that Python would match for hours gives an answer or an error in little time."""
    monkeypatch.setattr(regex, "LIMIT", 0.05)
    expression = Regex(pattern)
    began = time.process_time()

    with contextlib.suppress(SlowPattern):
        getattr(expression, method)(*(("", text) if method == "subn" else (text,)))

    assert time.process_time() - began < PATIENCE


@pytest.mark.slow
def test_what_takes_too_long_is_named():
    """The error names the expression and the length of the text, and says what to change."""
    # The engine is loaded and the expression compiled before the time runs.
    found_in("(a|aa)+$b", [""])
    with (
        limited_to(0.2),
        pytest.raises(SlowPattern, match=r"'\(a\|aa\)\+\$b'.* 80 characters; write it without"),
    ):
        found_in("(a|aa)+$b", [LETTERS])


def test_a_long_expression_is_cut_in_the_error():
    """An expression of any length takes one line."""
    assert len(str(SlowPattern("a" * 100_000, 1))) < 300


SAME = [
    (r"tests? failed", "3 tests failed"),
    (r"tests? failed", "3 tests passed"),
    (r"^\d+ (error|warning)s?$", "12 errors"),
    (r"^\d+ (error|warning)s?$", "12 errors\n"),
    (r"(?i)RUFF: .*not\s+found", "ruff: command\nnot found"),
    (r"(?s)a.*z", "a\nz"),
    (r"(?m)^b$", "a\nb\nc"),
    (r"a|b|c", "xxc"),
    (r"(?P<word>\w+) (?P=word)", "the the"),
    (r"(?<=a)b(?!c)", "abc abd"),
    (r"\bé\w*\b", "un été"),
    (r"[\w.+-]+@\w+", "write to a.b+c@d"),
    (r"x{2,3}?", "xxxx"),
    (r"", ""),
    (r"\.\*\{", "a.*{"),
    (r"(?x) a  b  # comment", "ab"),
    (r"[^/]*\.py", "src/app.py"),
]


@pytest.mark.parametrize(("pattern", "text"), SAME)
@pytest.mark.parametrize("padding", ["", "x" * 3000])
def test_expressions_mean_what_they_mean_in_python(pattern, text, padding):
    """Places that are found are those that Python's own engine finds, in short and in long texts."""
    text += padding
    ours, pythons = Regex(pattern), re.compile(pattern)

    for found, expected in (
        (ours.search(text), pythons.search(text)),
        (ours.fullmatch(text), pythons.fullmatch(text)),
    ):
        assert (found and (found.start(), found.end())) == (expected and expected.span())
    assert ours.subn("-", text) == pythons.subn("-", text)


@pytest.mark.parametrize(
    "pattern", ["(", "a{2,1}", "(?P<a>", "[z-a]", "(" * 5000 + ")" * 5000, "a**", r"\p{L}"]
)
def test_what_is_no_expression_is_an_error(pattern):
    """What Python cannot compile is refused when it is read."""
    with pytest.raises(re.error):
        Regex(pattern)


def test_a_replacement_is_text():
    """A backslash in a replacement stands for itself."""
    assert Regex("a+b*").subn(r"\1\g<0>", "xaab") == (r"x\1\g<0>", 1)


def test_simple_expressions_load_no_further_engine():
    """An expression that Python matches quickly does not import the engine with a time limit."""
    program = (
        "import sys; from pytest_hookharness.model.regex import Regex\n"
        "for text in ('tests? failed', 'a|b', 'mcp__.*', '^(Edit|Write)$'): Regex(text).search('x')\n"
        "assert 'regex' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
