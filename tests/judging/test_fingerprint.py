"""When two states have the same digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness.judging.recurrence.cycle import build_state, changes, environment_digest, same_state
from pytest_hookharness.model.trace import Change, State, StateEntry

entries = st.builds(
    StateEntry,
    kind=st.sampled_from(["file", "folder", "link", "other"]),
    mode=st.sampled_from([0o644, 0o755, 0]),
    content=st.text(max_size=3),
)
files = st.dictionaries(st.text(max_size=3), entries, max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
visibles = st.dictionaries(st.text(max_size=2), scalars | st.lists(scalars, max_size=2), max_size=3)
states = st.builds(build_state, visibles, st.text(max_size=2), st.text(max_size=2), files)


def content(of: State) -> tuple[object, ...]:
    """Everything that the digest must depend on, as JSON."""
    return json.dumps(of.visible, sort_keys=True), of.agent, of.environment, dict(of.files), of.opaque


def shuffled(mapping: Mapping[str, object]) -> dict[str, object]:
    return dict(reversed(list(mapping.items())))


@pytest.mark.slow
@given(states, states)
def test_digests_are_equal_exactly_if_the_contents_are(one: State, other: State) -> None:
    """Two states have one digest if and only if all their content is equal."""
    assert (one.digest == other.digest) is (content(one) == content(other))


@pytest.mark.slow
@given(states)
def test_order_does_not_count(one: State) -> None:
    """The order of files and counters changes nothing."""
    other = build_state(shuffled(one.visible), one.agent, one.environment, shuffled(one.files))
    assert one.digest == other.digest


@pytest.mark.slow
@given(states, st.data())
def test_any_single_change_changes_the_digest(one: State, data: st.DataObject) -> None:
    """An added or removed file, another kind, mode, content or path each give another digest."""
    new = dict(one.files)
    path = data.draw(st.sampled_from(sorted(new)) | st.text(max_size=4) if new else st.text(max_size=4))
    entry = data.draw(st.none() | entries)
    if entry is None:
        new.pop(path, None)
    else:
        new[path] = entry
    other = build_state(one.visible, one.agent, one.environment, new)
    assert (one.digest == other.digest) is (new == dict(one.files))


@pytest.mark.slow
@given(st.lists(files, min_size=2, max_size=5), visibles)
def test_an_updated_digest_equals_a_new_one(steps: list[dict[str, StateEntry]], visible: dict) -> None:
    """A digest that was updated from any earlier state equals the one that is computed from nothing."""
    last = None
    for step in steps:
        last = build_state(visible, "a", "e", step, previous=last)
        assert last == build_state(visible, "a", "e", step)


@pytest.mark.slow
@given(files, files)
def test_going_there_and_back_gives_the_first_digest(
    one: dict[str, StateEntry], other: dict[str, StateEntry]
) -> None:
    """A state that comes back has its earlier digest."""
    first = build_state({}, "", "", one)
    there = build_state({}, "", "", other, previous=first)
    assert build_state({}, "", "", dict(one), previous=there).digest == first.digest


@pytest.mark.slow
@given(files, files)
def test_changes_name_exactly_what_differs(one: dict[str, StateEntry], other: dict[str, StateEntry]) -> None:
    """Each file that differs is named once, in order; in reverse, added files are removed ones."""
    there = changes(one, other)
    assert [change.path for change in there] == sorted(
        path for path in one.keys() | other.keys() if one.get(path) != other.get(path)
    )
    swap = {"added": "removed", "removed": "added"}
    assert changes(other, one) == tuple(
        replace(change, how=swap.get(change.how, change.how)) for change in there
    )


@pytest.mark.parametrize(
    ("after", "how"),
    [
        (StateEntry("link", 0o755, "y"), "kind"),
        (StateEntry("file", 0o755, "y"), "content"),
        (StateEntry("file", 0o755, "x"), "mode"),
    ],
)
def test_the_most_important_difference_is_named(after: StateEntry, how: str) -> None:
    """A new kind counts more than new content, and new content more than a new mode."""
    before = build_state({}, "", "", {"p": StateEntry("file", 0o644, "x")})
    assert changes(before, build_state({}, "", "", {"p": after})) == (Change(path="p", how=how),)


def test_an_opaque_state_equals_none() -> None:
    """A state that is not known completely equals no state, not even itself."""
    known = build_state({}, "", "", {})
    opaque = build_state({}, "", "", {}, "secret cannot be read")
    assert same_state(known, build_state({}, "", "", {}))
    assert not same_state(opaque, opaque)
    assert not same_state(known, opaque)
    assert known.digest != opaque.digest


def test_parts_of_an_entry_cannot_be_mistaken_for_each_other() -> None:
    """Characters cannot move between path, kind, mode and content of a file without changing the digest."""
    alike = [
        ("a", StateEntry("file", 0o6, "44")),
        ("a", StateEntry("file", 0o644, "")),
        ("afile", StateEntry("", 0o644, "")),
    ]
    assert len({build_state({}, "", "", dict([item])).digest for item in alike}) == 3


def test_parts_of_the_rest_cannot_be_mistaken_for_each_other() -> None:
    """A value in one part of the state cannot look like a value in another."""
    assert len({build_state({}, *words, {}).digest for words in (("ab", ""), ("a", "b"), ("", "ab"))}) == 3


@pytest.mark.slow
@given(st.dictionaries(st.text("AB", min_size=1, max_size=2), st.text("ab\n=", max_size=3), max_size=3))
def test_the_environment_counts_without_its_order(environment: dict[str, str]) -> None:
    """The digest of an environment depends on names and values, and not on their order."""
    assert environment_digest(environment) == environment_digest(shuffled(environment))
    assert environment_digest(environment) != environment_digest({**environment, "C": "1"})


def test_names_that_are_no_text_have_a_digest() -> None:
    """Files and variables whose bytes are not UTF-8 are part of a digest like any other."""
    odd = [
        build_state({}, "", "", {path: StateEntry("file", 0, "")}).digest
        for path in ("\udcff", "\udcfe", "?")
    ]
    assert len(set(odd)) == 3
    assert environment_digest({"A": "\udcff"}) != environment_digest({"A": "\udcfe"})
