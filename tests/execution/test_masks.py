"""What a mask hides of a file, and what it never hides."""

from __future__ import annotations

import pytest

from pytest_hookharness.execution.state.masking import Masked, Masking, glob_pattern
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.scenario import Mask


def left(mask: Mask, data: bytes) -> bytes | None:
    return Masking([mask]).apply("workspace/f", data).data


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("workspace/*.json", "workspace/a.json", True),
        ("workspace/*.json", "workspace/b/a.json", False),
        ("workspace/**/*.json", "workspace/a.json", True),
        ("workspace/**/*.json", "workspace/b/c/a.json", True),
        ("workspace/**", "workspace/b/c", True),
        ("home/.claude/?", "home/.claude/a", True),
        ("home/.claude/?", "home/.claude/ab", False),
        ("home/[ab]", "home/a", True),
        ("home/[!ab]", "home/a", False),
        ("home/a+b", "home/a+b", True),
        ("home/[", "home/[", True),
    ],
)
def test_globs_cross_folders_only_by_two_stars(glob: str, path: str, expected: bool) -> None:
    """One star stays within a folder, two cross folders, and everything else means itself."""
    assert bool(glob_pattern(glob).fullmatch(path)) is expected


def test_a_bare_mask_leaves_everything_out() -> None:
    """A mask without keys and text leaves nothing of the content."""
    assert Masking([Mask(file="workspace/*")]).apply("workspace/f", b"x") == Masked(None, changed=True)


def test_keys_are_masked_at_any_depth() -> None:
    """Values under a masked key do not count at any depth; all other values do."""
    mask = Mask(file="workspace/f", keys=("at",))
    one = left(mask, b'{"at": 1, "list": [{"at": {"x": 1}, "n": 1}]}')
    assert one == left(mask, b'{"list": [{"n": 1, "at": null}], "at": 2}')
    assert one != left(mask, b'{"at": 1, "list": [{"at": 1, "n": 2}]}')
    assert one != left(mask, b'{"list": [{"at": 1, "n": 1}]}')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"at": 1, "n": 1}', b'{"at": 1, "n": 1.0}'),
        (b'{"at": 1, "n": 0.1}', b'{"at": 1, "n": 0.10}'),
        (b'{"at": 1, "n": 0.1}', b'{"at": 1, "n": "0.1"}'),
        (b'{"at": 1, "n": true}', b'{"at": 1, "n": 1}'),
        (b'{"at": 1, "n": 1, "n": 2}', b'{"at": 1, "n": 2}'),
        (b'{"at": 1, "n": {"a": 1}}', b'{"at": 1, "n": [["a", 1]]}'),
        (b'{"at": 1, "n": "(masked)"}', b'{"at": 1, "m": "(masked)"}'),
    ],
)
def test_what_is_not_masked_still_counts_exactly(one: bytes, other: bytes) -> None:
    """Beside a masked key, numbers, types, repeated keys and names keep their differences."""
    mask = Mask(file="workspace/f", keys=("at",))
    assert left(mask, one) != left(mask, other)


def test_a_file_without_the_key_is_left_as_it_is() -> None:
    """A mask that finds nothing changes nothing."""
    assert Masking([Mask(file="workspace/f", keys=("at",))]).apply("workspace/f", b'{ "n":1}') == Masked(
        b'{ "n":1}'
    )


def test_a_file_that_is_not_json_counts_whole() -> None:
    """Keys cannot be masked in a file that is not JSON: all of it counts, and the reason is given."""
    masked = Masking([Mask(file="workspace/f", keys=("at",))]).apply("workspace/f", b"{at: 1")
    assert (masked.data, masked.changed) == (b"{at: 1", False)
    assert masked.problem.startswith("workspace/f is not JSON, so at could not be masked in it")
    assert Masking([Mask(file="workspace/f", keys=("at",))]).apply("workspace/f", b"[" * 100_000).problem


def test_text_is_masked_by_expression() -> None:
    """Matches of the expression do not count; the rest does, also bytes that are not text."""
    mask = Mask(file="workspace/f", text=r"\d+ ms")
    assert left(mask, b"took 12 ms \xff") == left(mask, b"took 9999 ms \xff")
    assert left(mask, b"took 12 ms \xff") != left(mask, b"took 12 ms \xfe")
    assert Masking([mask]).apply("workspace/f", b"nothing") == Masked(b"nothing")


def test_masks_of_one_file_add_up() -> None:
    """Keys of several masks and expressions are all hidden in a file that all of them name."""
    masking = Masking([Mask(file="workspace/*", keys=("a",)), Mask(file="**/f", keys=("b",))])
    assert (
        masking.apply("workspace/f", b'{"a": 1, "b": 1}').data
        == masking.apply("workspace/f", b'{"b": 2, "a": 2}').data
    )


def test_a_mask_of_a_part_beside_one_of_all() -> None:
    """A mask of a part of a file that another mask leaves out altogether is not one that matches nothing."""
    masking = Masking([Mask(file="workspace/f"), Mask(file="workspace/f", keys=("at",)), Mask(file="home/g")])
    masking.apply("workspace/f", b"{}")
    assert [*masking.unused] == [2]


def test_a_wrong_expression_is_an_error_of_its_own() -> None:
    """An invalid expression is reported with its mask."""
    with pytest.raises(WorkspaceError, match=r"mask of workspace/f: '\(' is not a regular expression"):
        Masking([Mask(file="workspace/f", text="(")])
