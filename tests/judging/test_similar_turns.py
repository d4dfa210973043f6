"""When turns are the same except for numbers, times and ids."""

import random
import string

import pytest

from pytest_hookharness.judging.recurrence.similar_turns import (
    LONGEST_PERIOD,
    TextOutlines,
    TurnSignature,
    actions_of,
    choose_observed,
    describe_difference,
    find_similar_periods,
)
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.protocol import Basis, Decision, Rule, Ruling
from pytest_hookharness.model.trace import Change, HookEvent, Moved, Step

RULE = Rule("a stop is refused", Basis.ASSUMED, "the test")
OUTLINES = TextOutlines()


def turn(number, *, refused=True, reason="try 1 of 3", said="Done."):
    """One stop and its result."""
    ruling = Ruling.DENY if refused else Ruling.ALLOW
    decision = Decision(
        event="Stop", ruling=ruling, refused=refused, reasons=(reason,) if refused else (), rule=RULE
    )
    return (
        Step(number=2 * number - 1, turn=number, exchange=Moved(move=Stop(text=said))),
        Step(number=2 * number, turn=number, exchange=HookEvent(event="Stop", decision=decision)),
    )


def period_of(word):
    """The period of turns of which each letter stands for one kind."""
    likenesses = {number: TurnSignature((letter,), "") for number, letter in enumerate(word, 1)}
    return next(find_similar_periods(len(word), likenesses.get), None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("try 3 of 10", "try 4 of 10"),
        ("at 2026-11-21T10:00:00Z", "at 2026-11-21T10:00:07Z"),
        ("id 7f9c24e8-3b12-4fef-91e0-5c1f4f2c6d01", "id 0b1c24e8-3b12-4fef-91e0-5c1f4f2c6dff"),
        ("took 12.5 ms", "took 7 ms"),
        ("failed\nline 1\nline 2", "failed\nline 1\nline 2\nline 3"),
    ],
)
def test_texts_that_differ_in_numbers_times_and_ids_have_one_outline(one, other):
    """Numbers, times, ids and the number of similar lines are not part of an outline."""
    assert TextOutlines().of(one) == TextOutlines().of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("the build failed", "the build passed"), ("a\nb", "b\na"), ("", "x")]
)
def test_texts_with_other_words_have_other_outlines(one, other):
    """Words and their order are part of an outline."""
    assert TextOutlines().of(one) != TextOutlines().of(other)


def test_turns_with_counting_reasons_have_the_same_actions():
    """A refusal with a counter in its reason is the same action, and an allowed stop is another."""
    assert actions_of(turn(1, reason="try 1"), OUTLINES) == actions_of(turn(2, reason="try 2"), OUTLINES)
    assert actions_of(turn(1), OUTLINES) != actions_of(turn(2, refused=False), OUTLINES)


@pytest.mark.parametrize(
    ("word", "period"),
    [
        ("aaa", 1), ("xaaa", 1), ("aa", None), ("ababab", 2), ("abab", None), ("abcabcabc", 3),
        ("aab", None), ("abaab", None), ("x" + string.printable[:LONGEST_PERIOD] * 3, LONGEST_PERIOD),
        (string.printable[: LONGEST_PERIOD + 1] * 3, None),
    ],
)  # fmt: skip
def test_the_period_is_the_shortest_one_that_came_twice(word, period):
    """A period needs its beginning and two repetitions, and is the shortest one."""
    assert period_of(word) == period


def test_a_period_needs_the_same_state_at_its_beginning():
    """Turns with the same actions and another state afterwards are not similar."""
    likenesses = {number: TurnSignature(("a",), standing) for number, standing in enumerate("xyy", 1)}
    assert [*find_similar_periods(3, likenesses.get)] == []


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (turn(1), ""),
        (turn(1, reason="try 9 of 3"), ""),
        (turn(1, refused=False), "Stop was allowed"),
        (turn(1, reason="the last try"), "Stop was refused with another reason: 'the last try'"),
        (turn(1)[:1], "fewer steps"),
        ((*turn(1), turn(1)[1]), "additionally the event Stop"),
        (turn(1)[1:], "the event Stop instead of the agent's stop"),
        (turn(1, said="No."), "the agent's stop with other values"),
    ],
)
def test_a_difference_says_what_came_instead(seen, words):
    """A difference in the actions is described briefly, and equal actions give no text."""
    assert describe_difference(turn(1), seen, OUTLINES) == words


def drawn(dice, alphabet=string.ascii_letters + string.digits, length=6):
    """A refusal that names a file with a random name."""
    return f"Not done (input kept in stop-input.{''.join(dice.choices(alphabet, k=length))})."


@pytest.mark.slow
def test_a_random_name_that_looks_like_a_word_is_an_id():
    """In each of 200 runs turns with random names become similar and stay so."""
    surprises = 0
    for seed in range(200):
        dice, outlines = random.Random(seed), TextOutlines()  # noqa: S311  # dice, not secrets
        texts = [drawn(dice) for _ in range(24)]
        read = [outlines.of(text) for text in texts]
        likenesses = {number: TurnSignature((text,), "") for number, text in enumerate(read, 1)}

        assert any(any(find_similar_periods(last, likenesses.get)) for last in range(3, 9)), seed
        assert len({*read[8:]}) == 1, seed
        # A single such text does not show that the name is random.
        words = [text for text in texts[8:] if TextOutlines().of(text) != read[8]]
        surprises += len(words)
        expected = turn(1, reason=texts[9])
        assert not any(describe_difference(expected, turn(2, reason=text), outlines) for text in words), seed
    assert surprises > 20


@pytest.mark.parametrize(
    ("before", "word"),
    [
        (["3fA9c1"], "failed"),
        (["passed", "failed"], "broken"),
        (["3fa9c1", "0bb1d2"], "passed"),
        (["3fA9c1", "0bb1d2"], "unclear"),
        (["failed", "3fA9c1", "0bb1d2"], "failed"),
    ],
)
def test_a_word_is_no_id(before, word):
    """
    A word at a place with fewer than two ids, of another length or alphabet, or seen before them, is no id.
    """
    outlines = TextOutlines()
    for one in before:
        outlines.of(f"It is {one} now.")

    assert word in outlines.of(f"It is {word} now.")


@pytest.mark.parametrize(
    ("turn", "differs", "chosen"),
    [
        (41, {}, [1, 2, 3]),
        (41, {20: {"log"}}, [1, 2, 3, 20]),
        (42, {20: {"log"}}, [1, 2, 3]),
        (41, {20: {"log"}, 5: {"log"}}, [1, 2, 3, 5]),
        (41, {20: {"n", "log"}}, [1, 2, 3]),
    ],
    ids=["a count", "it recurs", "another turn", "it recurs sooner", "more differs"],
)
def test_a_longer_period_is_observed_where_something_recurs(turn, differs, chosen):
    """Beside the first periods one is observed if what differs at all of them is equal there."""

    def differing(_, period):
        return [Change(path=path, how="content") for path in differs.get(period, {"n"})]

    assert [*choose_observed(turn, range(1, 21), differing)] == chosen
