"""
Claims about the pages that the problems of a check-up name.
"""

from pathlib import Path

import pytest

from pytest_hookharness.model.checkups import Checkup, Complaint, Place, Problem
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.checkup import as_json, told

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        *((kind, "") for kind in ("livelock", "capped", "no-end", "hung", "recursing", "lockout")),
        ("STAGED", "HH302"),
    ],
)
def test_every_problem_has_a_page(kind, code):
    """A problem names a page that is there, also where it is a verdict, which has a part of one."""
    complaint = Complaint(kind=kind, code=code, text="It is.")
    problem = Problem(id=kind, complaint=complaint, scenario=Scenario(name="check", host="claude-code"))
    place = Place(host="claude-code", root=Path("/p"), files=())
    checkup = Checkup(place=place, problems=(problem,))

    page = as_json([checkup], lambda _: "")["checkups"][0]["problems"][0]["page"]
    path, _, part = page.partition("#")
    assert f"page      {page}" in told(checkup, lambda _: "")
    assert not part or f"\n## {part}\n" in (ROOT / path).read_text()
    assert (ROOT / path).is_file()
