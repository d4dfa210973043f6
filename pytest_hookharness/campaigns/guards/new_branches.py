"""The moves that show whether a guard of commits to a branch knows a line that leaves the branch first."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.judging.checkup.neighbours import NEW_BRANCH
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, RunCommand

# How scripts learn of the current branch.
_BRANCH = re.compile(
    r"branch --show-current|show-current|rev-parse\W+--abbrev-ref|symbolic-ref|abbrev-ref|\.git/HEAD"
)


def try_new_branch(refused: Collection[str], source: str) -> tuple[Act, ...]:
    """
    Return the acts of an agent that commits on another branch, and on a new branch in one line.

    There are none if no guard that asks for the branch refused a commit.
    """
    known = next((text for text in refused if NEW_BRANCH.belongs_to([text])), "")
    if not known or not _BRANCH.search(source):
        return ()
    (control,), line = NEW_BRANCH.controls, NEW_BRANCH.text
    # These are carried out, so that the branch is another one.
    names = ("-b topic", "-", "topic")
    begin, back, again = (RunCommand(command=f"git checkout -q {name}") for name in names)
    asked = [RunCommand(command=text, given=GIVEN) for text in (known, line, line)]
    commit = RunCommand(command=control, given=GIVEN)
    return (FIRST_PROMPT, begin, commit, back, *asked, again, commit)
