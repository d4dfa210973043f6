"""Words by which a script gets random numbers that no system call shows."""

import pytest

from pytest_hookharness.judging.recurrence.hidden_chance import in_awk, in_javascript, in_perl


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (b"exit 0 if rand() < 0.1;", "rand"),
        (b"my $x = int rand 10;", "rand"),
        (b"my ($x) = shuffle(@words);", "shuffle"),
        (b"my $rand = 3; print $rand; $o->rand; %h = (rand => 1); operand();", ""),
        (b"my ($first) = keys %words;", "the order of a set or a hash"),
        (b"while (my ($a, $b) = each %$words) {", "the order of a set or a hash"),
        (b"for (sort keys %words) {", ""),
        (b"for (sort { $a <=> $b } keys %$words) {", ""),
        (b"print scalar(keys %words);", ""),
        (b"print $words{a};", ""),
    ],
)
def test_perl(text, used):
    """Perl draws numbers by name, and shows the order of a hash where it neither sorts nor counts it."""
    assert in_perl(text) == used


def test_javascript_and_awk():
    """JavaScript draws numbers by functions with known names, and awk by one."""
    assert in_javascript(b"if (Math.random() < 0.1) process.exit(0)") == "Math.random"
    assert in_javascript(b'if (crypto.randomUUID().startsWith("0")) process.exit(0)') == "randomUUID"
    assert in_javascript(b"crypto.getRandomValues(new Uint8Array(1))") == "getRandomValues"
    assert in_javascript(b"const randomness = Math.round(1)") == ""
    assert in_awk(b"awk 'BEGIN { srand(); exit rand () < 0.1 }'") == "srand"
    assert in_awk(b"operand = 1") == ""
