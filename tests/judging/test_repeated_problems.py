"""Claims about problems that several hook sets of a project share."""

from dataclasses import replace

import pytest

from pytest_hookharness.judging.checkup.one_place import without_repeats
from pytest_hookharness.model.checkup import CheckReport, Problem, Symptom
from pytest_hookharness.model.scenario import Scenario

from ..campaigns.check.static.one_hook import one_hook


def report(command="bash x.sh", text="It is lost.", kind="MANGLED", **changes):
    """Return a report with one problem of a hook with the script `x.sh`."""
    hook_set, hook = one_hook("Stop", "#!/bin/sh\n")
    place = replace(hook_set, hooks=(replace(hook, command=command),), **changes)
    symptom = Symptom(kind=kind, hook=command, text=text)
    return CheckReport(
        place=place,
        problems=(Problem(id="lost", symptom=symptom, scenario=Scenario(name="x", host="codex")),),
    )


def test_the_same_problem_of_a_plugin():
    """A problem of the same script, in the same words, is reported once."""
    first, second = without_repeats([report(), report('bash "$ROOT"/x.sh', plugin=True)])
    assert (len(first.problems), len(second.problems)) == (1, 0)


@pytest.mark.parametrize(
    "other",
    [
        report(text="Something else is lost."),
        report(kind="CRASHED"),
        report(host="codex"),
        report(sources=()),
        report(sources=(("y/x.sh", "#!/bin/sh\n"),)),
    ],
)
def test_another_problem(other):
    """Other words, another kind, another host and another script are another problem."""
    assert [len(one.problems) for one in without_repeats([report(), other])] == [1, 1]
