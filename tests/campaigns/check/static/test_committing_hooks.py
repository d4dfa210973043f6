"""Claims about hooks that are there to commit."""

import pytest

from pytest_hookharness.campaigns.check.causes import independent
from pytest_hookharness.campaigns.check.grouping import SymptomEvidence
from pytest_hookharness.campaigns.check.session_scenario import cut_short
from pytest_hookharness.campaigns.check.static_checks import StaticResult
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace

from .one_hook import one_hook

SHELL = "#!/bin/sh\n"


@pytest.mark.parametrize(
    ("text", "kind", "left"),
    [
        (SHELL + "git commit -qm saved\n", "STAGED", False),
        (SHELL + 'git -C "$DIR" commit -qm saved\n', "STAGED", False),
        ('subprocess.run(["git", "commit", "-m", "saved"])\n', "STAGED", False),
        (SHELL + "git commit -qm saved\n", "OUTSIDE-WRITE", True),
        (SHELL + "git add -A\n", "STAGED", True),
        (SHELL + "git add -A\necho 'Run git commit now.'\n", "STAGED", True),
        (SHELL + "git add -A # before git commit\n", "STAGED", True),
    ],
)
def test_hooks_that_change_the_repository(text, kind, left):
    """A hook that commits is not blamed for a commit, and one that only stages is."""
    hook_set, hook = one_hook("PostToolUse", text)
    symptom = Symptom(kind=kind, hook=hook.command, text="PostToolUse: .git/refs/heads/main was changed.")
    session = cut_short("an edit", Scenario(name="check", host="claude-code"))
    shown = SymptomEvidence(id="x", symptom=symptom, session=session, trace=Trace(), shown_by=())
    assert bool(independent([shown], StaticResult(), (), hook_set)) is left
