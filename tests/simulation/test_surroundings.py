"""
Folders and disks around hooks that are not as usual.
"""

import pytest

from pytest_hookharness.execution.workspace import WorkspaceError

TELLS = 'echo "[$(pwd -P 2>&1)]" >&2; exit 2'
WRITES = "(echo 1 >>.n/count) 2>/dev/null && echo written >&2 || echo lost >&2; exit 2"


def said(outcome):
    return outcome.reasons("Stop")[0]


def test_hooks_are_started_in_a_folder(play):
    """The folder is made, hooks are started in it, and the input says so too."""
    outcome = play(hooks={"Stop": TELLS}, cwd="src/deep", turns=1)
    (_, fire), *_ = outcome.trace.fires()

    assert "workspace/src/deep]" in said(outcome)
    assert b'workspace/src/deep"' in fire.stdin


def test_hooks_are_started_in_a_folder_that_is_gone(play):
    """The folder is removed under the hook, which cannot name it any more."""
    outcome = play(
        hooks={"Stop": 'ls -d . ; [ -e "$PWD" ] || echo gone >&2; exit 2'},
        turns=1,
        cwd={"path": "src", "removed": True},
    )

    assert "gone" in said(outcome)


@pytest.mark.parametrize("place", ["my project", "it's", "a$HOME", "two\nlines", "häuser"])
def test_workspace_has_any_name(play, place):
    """A workspace whose path holds a space or worse is made, and its files are found."""
    outcome = play(
        hooks={"Stop": "hooks/ends.sh"},
        files={"hooks/ends.sh": f"#!/bin/sh\n{TELLS}\n"},
        place=place,
        turns=1,
    )

    assert f"workspace/{place}]" in said(outcome)


@pytest.mark.parametrize(
    "keys, told",
    [
        ({}, "written"),
        ({"readonly": ["workspace/.n/count"]}, "lost"),
        ({"readonly": ["workspace/.n"]}, "lost"),
    ],
)
def test_nobody_writes_to_what_is_read_only(play, keys, told):
    """A file or a folder that is read-only stays as it is, whoever the hook runs as."""
    outcome = play(hooks={"Stop": WRITES}, files={".n/count": "0\n"}, turns=1, **keys)

    assert told in said(outcome)


@pytest.mark.parametrize(
    "keys, told", [({"files": {".n/.keep": ""}}, "written"), ({"full": ["workspace/.n"]}, "lost")]
)
def test_nothing_fits_on_a_full_disk(play, keys, told):
    """Not one byte can be written below a folder that is said to be full."""
    assert told in said(play(hooks={"Stop": WRITES}, turns=1, **keys))


def test_a_folder_that_holds_something_is_not_covered_by_a_full_disk(play):
    """What a full disk would hide is not hidden in silence."""
    with pytest.raises(WorkspaceError, match="is not empty"):
        play(hooks={"Stop": WRITES}, files={".n/count": "0\n"}, full=["workspace/.n"])
