"""Claims about generated texts."""

from pytest_hookharness.campaigns.check.corpora import hostile_texts


def test_the_seed_decides_the_texts_that_are_made_up():
    """Texts are drawn anew for another seed, and are the same for the same one."""
    assert hostile_texts(1) == hostile_texts(1)
    assert {*hostile_texts(1)} - {*hostile_texts(2)}
