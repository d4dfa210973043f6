"""The hook that findings, verdicts and traces name, for hooks that run at the same time."""

from __future__ import annotations

import json

from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.reports.terminal.story import story

AGENT = [{"prompt": "go"}, {"stop": "Done."}]


def context(text: str) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": text}}
    return f"echo '{json.dumps(answer)}'"


def test_a_loop_by_context_names_its_hook_and_text(play):
    """A text for the agent that keeps a session going is named with its hook, and no other hook is."""
    hook = context("Run the linter.")
    outcome = play(agent=AGENT, hooks={"Stop": ["true", hook]})

    assert isinstance(outcome.verdict, Livelock)
    (symptom,) = [one for one in find_symptoms(outcome) if one.kind == "livelock"]
    assert symptom.hook == hook
    assert "Run the linter." in symptom.text
    assert 'block, by a text for the agent "Run the linter."' in story(outcome, width=400)
    assert "Stop is blocked forever by `true" not in story(outcome, width=400)
