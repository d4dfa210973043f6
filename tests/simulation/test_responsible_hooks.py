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


DAEMON = "env -i setsid sleep 86399 >/dev/null 2>&1 </dev/null & sleep 0.1"
# It removes the mark by which the harness knows where a process comes from.
UNMARKED = f"bash -c 'ulimit -S -x unlimited; {DAEMON}'"


def test_a_daemon_is_named_with_its_hook(play):
    """Of two hooks of one event, the one that left a daemon has the finding, not the one that ended last."""
    outcome = play(agent=AGENT, hooks={"Stop": [DAEMON, "sleep 0.5"]})

    assert [(one.name, one.hook) for one in outcome.findings] == [("LEFTOVER", DAEMON)]
    assert len(outcome.leftovers) == 1


def test_a_daemon_of_unknown_origin_names_all_hooks(play):
    """A daemon that nothing connects with one of two hooks is one leftover whose finding names both."""
    outcome = play(agent=AGENT, hooks={"Stop": [UNMARKED, "sleep 0.5"]})

    (finding,) = outcome.findings
    assert (finding.name, finding.hook) == ("LEFTOVER", f"{UNMARKED}, sleep 0.5")
    assert "one of these hooks did it" in finding.text
    assert len(outcome.leftovers) == 1
    assert any("left running" in text for text in outcome.assumptions)
