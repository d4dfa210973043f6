"""
Claims about the report of a check-up.
"""

from pathlib import Path

import pytest

from pytest_hookharness.model.checkups import Checkup, Complaint, Place, Problem
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.checkup import headline, told

HOOKS = tuple(Hook(event="Stop", command=command) for command in ("./a.sh", "./b.sh", "./c.sh"))
PLACE = Place(host="claude-code", root=Path("/p"), files=(), hooks=HOOKS)


def problem(hook, kind="livelock", **more):
    complaint = Complaint(kind=kind, hook=hook, text="It is.", turn=29)
    return Problem(id=kind, complaint=complaint, scenario=Scenario(name="check", host="claude-code"), **more)


def report(**more):
    return told(Checkup(place=PLACE, **more), lambda _: "hookharness check")


@pytest.mark.parametrize(
    ("undecided", "said"),
    [((), "is not seen any more"), (("No time.",), "was not seen, but not all could be told")],
)
def test_one_problem_that_was_looked_for(undecided, said):
    """Where one problem was looked for, it is said whether it is gone, and not that all is well."""
    made = Checkup(place=PLACE, only="livelock-a", undecided=undecided)
    assert headline(made).startswith(f"claude-code: the problem livelock-a {said}, ")
    assert "Only livelock-a was looked for" in report(only="livelock-a")
