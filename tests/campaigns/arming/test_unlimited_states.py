"""Claims about states of loops that are tried without a limit."""

import pytest

from pytest_hookharness.campaigns.arming.state_files import LoopState, without_limit

STATE = "round: 1\nmax_rounds: 3\n"


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        ("- `max_rounds` (number, default 0 for unlimited)", True),
        ("max_rounds: unlimited if 0", True),
        ('[ "$MAX_ROUNDS" -gt 0 ] && [ "$ROUND" -ge "$MAX_ROUNDS" ] && exit 0', True),
        ("if max_rounds > 0 and n >= max_rounds:", True),
        ("if (state.maxRounds > 0 && state.round >= state.maxRounds) {", True),
        ("`max_rounds` is at most 100", False),
        ('[ "$ROUND" -ge "$MAX_ROUNDS" ] && exit 0', False),
        ('[ "$OTHER" -gt 0 ] && exit 0', False),
    ],
)
def test_a_limit_of_0(words, tried):
    """A limit becomes 0 where words behind its name, or a script that asks for it, say that this is none."""
    state = LoopState(files={".claude/loop.md": STATE}, origin="as x.md says", script="x.sh")
    texts = [one.files[".claude/loop.md"] for one in without_limit(state, words)]
    assert texts == (["round: 1\nmax_rounds: 0\n"] if tried else [])
