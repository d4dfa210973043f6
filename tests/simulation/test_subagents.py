"""Subagents whose stop is refused: each further text is a turn, and their loops are judged like others."""

from __future__ import annotations

import pytest

from pytest_hookharness.campaigns.stress.first_run import ReplayScript
from pytest_hookharness.model.moves import SubagentText
from pytest_hookharness.model.trace import Moved
from pytest_hookharness.model.verdicts import Livelock

REFUSE = "echo verify it >&2; exit 2"
ONCE = "cat >> inputs; echo >> inputs; [ -e asked ] && exit 0; touch asked; echo verify it >&2; exit 2"
LOOK = {"subagent": {"prompt": "look", "text": ["First.", "Second.", "Third."]}}


@pytest.mark.parametrize("host", ["codex", "claude-code", "qwen-code"])
def test_a_subagent_that_never_may_stop(play, host):
    """A hook that always refuses a subagent's stop is a livelock, on hosts with and without a cap."""
    outcome = play(
        host=host,
        hooks={"SubagentStop": REFUSE},
        agent=[{"subagent": "look"}, {"stop": "Done."}],
        expect={"verdict": "livelock", "period": 1},
    )

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence in ("closed", "unread")
    assert not outcome.violations
    assert len([*outcome.trace.hooked("SubagentStop")]) < 8


@pytest.mark.nightly
def test_a_period_of_two(play):
    """A subagent that is refused by two hooks in turn has a period of two."""
    flip = "if [ -e f ]; then rm f; echo one >&2; else touch f; echo two >&2; fi; exit 2"
    outcome = play(
        host="codex",
        hooks={"SubagentStop": flip},
        agent=[{"subagent": "look"}, {"stop": "Done."}],
        expect={"verdict": "livelock", "period": 2},
    )

    assert not outcome.violations


@pytest.mark.nightly
def test_a_threshold_of_a_subagents_hook(play):
    """A hook that allows a subagent's stop after some refusals is played until it does."""
    count = (
        "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; [ $n -gt 12 ] || { echo more >&2; exit 2; }"
    )
    outcome = play(
        host="codex",
        hooks={"SubagentStop": count},
        agent=[{"subagent": "look"}, {"stop": "Done."}],
        expect={"blocks": {"SubagentStop": 12}, "findings": ["EMPTY-ADVICE"]},
    )

    assert outcome.terminated
    assert not outcome.violations


@pytest.mark.slow
def test_texts_of_a_subagent(play, inputs):
    """A refused subagent says its next text, and the agent receives what it said last."""
    outcome = play(
        hooks={"SubagentStop": ONCE},
        agent=[{"subagent": {**LOOK["subagent"], "received": "Second"}}, {"stop": "Done."}],
    )

    assert outcome.terminated
    assert not outcome.violations
    assert [payload["last_assistant_message"] for payload in inputs(outcome)] == ["First.", "Second."]
    said = [step.exchange.move for step in outcome.trace.steps if isinstance(step.exchange, Moved)]
    assert [move.text for move in said if isinstance(move, SubagentText)] == ["Second."]


@pytest.mark.slow
def test_a_replay_of_a_refused_subagent(play):
    """The moves of a run to be played again have no further texts of a subagent: these follow."""
    outcome = play(hooks={"SubagentStop": ONCE}, agent=[LOOK, {"run": "true"}, {"stop": "Done."}])

    acts = [act for _, act in ReplayScript.of(outcome.trace).acts]
    assert not any(isinstance(act, SubagentText) for act in acts)


@pytest.mark.slow
def test_a_call_beside_a_refused_subagent(play):
    """A call that the agent makes at once with a refused subagent still belongs to the same move."""
    calls = [
        {"name": "Agent", "input": {"prompt": "look", "description": "look"}},
        {"name": "Bash", "input": {"command": "true"}, "expect": "allow"},
    ]
    outcome = play(hooks={"SubagentStop": ONCE}, agent=[{"tool": calls}, {"stop": "Done."}])

    assert outcome.terminated
    assert not outcome.violations


@pytest.mark.parametrize(
    ("hook", "seen"), [("true", "'First.'"), (REFUSE, "nothing")], ids=["another text", "never allowed"]
)
def test_what_the_agent_receives(play, hook, seen):
    """An agent that receives another text from its subagent, or none, breaks the scenario's expectation."""
    outcome = play(
        host="codex",
        hooks={"SubagentStop": hook},
        agent=[{"subagent": {**LOOK["subagent"], "received": "^Second"}}, {"stop": "Done."}],
        expect={"verdict": "livelock" if hook == REFUSE else "terminated"},
    )

    (broken,) = outcome.violations
    assert broken.path == "agent[0].subagent.received"
    assert broken.seen == seen


@pytest.mark.slow
def test_the_transcript_of_a_refused_subagent(play):
    """A refused subagent has its refusal and its next text in its own transcript."""
    counts = 'f=$(sed \'s/.*"agent_transcript_path":"\\([^"]*\\)".*/\\1/\'); wc -l < "$f" >> lines; '
    outcome = play(
        hooks={"SubagentStop": f"{counts} [ $(wc -l < lines) -gt 1 ] || {{ echo more >&2; exit 2; }}"},
        agent=[LOOK, {"stop": "Done."}],
        expect={"files": {"equal": {"lines": "2\n4\n"}}},
    )

    assert outcome.terminated
    assert not outcome.violations
