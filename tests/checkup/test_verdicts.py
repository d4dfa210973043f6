"""The check-up is silent on hooks that behave, and names the one defect of those that have one."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.frontends.checkup import check
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .drive import BAD, GOOD

WELL_BEHAVED = sorted(path.name for path in GOOD.iterdir())
SEEDED = sorted(path.name for path in BAD.iterdir())
# The hooks of each set that are quickly judged.
QUICK = ["no-private-keys", "branch-as-context"]
QUICKLY_SEEDED = ["event-of-its-own", "matcher-in-small-letters"]
# Names of the labels for which the catalogue has another.
OURS = {
    # The label has a name of its own for all that hooks do to index, refs and stash.
    "GIT-CHANGED": "STAGED",
}
# On a busy machine a check-up takes longer and finds the same.
SETTINGS = {"wall": 240.0}


def names(folder, base):
    """The names of all problems of a project, and how long they took."""
    with Harness(Settings(base=base, **SETTINGS)) as harness:
        found = [check(place, harness) for place in find_hook_sets(folder)]
    problems = [one.symptom.kind for checkup in found for one in checkup.problems]
    return problems, sum(checkup.seconds for checkup in found)


def judge_well_behaved(name, base, tally):
    """Check a hook that behaves."""
    found, seconds = names(GOOD / name, base)
    tally(name, [], found, seconds, right=not found)
    assert found == []


def judge_seeded(name, base, tally):
    """Check a hook with a defect."""
    wanted = json.loads((BAD / name / "label.json").read_text(encoding="utf-8"))["findings"]
    found, seconds = names(BAD / name, base)
    right = {OURS.get(word, word) for word in wanted} & {word.upper() for word in found}
    tally(name, wanted, found, seconds, right=bool(right))
    assert right, f"{name}: wanted one of {wanted}, found {found}"


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICK)
def test_quick_ones_that_behave(tmp_path, tally, name):
    """The check-up reports nothing about a well-behaved hook that is quickly judged."""
    judge_well_behaved(name, tmp_path, tally)


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICKLY_SEEDED)
def test_quick_ones_with_a_defect(tmp_path, tally, name):
    """The check-up names the defect of a hook that is quickly judged."""
    judge_seeded(name, tmp_path, tally)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in WELL_BEHAVED if name not in QUICK])
def test_no_false_alarm(tmp_path, tally, name):
    """The check-up reports nothing about a well-behaved hook."""
    judge_well_behaved(name, tmp_path, tally)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in SEEDED if name not in QUICKLY_SEEDED])
def test_defect_is_named(tmp_path, tally, name):
    """The check-up names the defect of a hook that has one."""
    judge_seeded(name, tmp_path, tally)
