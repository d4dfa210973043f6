"""What a scenario sets in place of its host and its user: flag, cap, prompts; and the end of calls."""

from __future__ import annotations

import pytest

from pytest_hookharness.model.verdicts import Livelock

REFUSE = "echo more >&2; exit 2"
OVERRIDES = 4


def test_a_flag_of_any_value(play, inputs):
    """The flag of a scenario can be null or absent; the hook gets exactly that, and the report says it."""
    outcome = play(hooks={"Stop": REFUSE}, flag=[None, "absent", True], turns=3)

    sent = [payload.get("stop_hook_active", "absent") for payload in inputs(outcome)]
    assert sent[:3] == [None, "absent", True]
    assert any("stop_hook_active null, no value, true" in text for text in outcome.assumptions)


def test_a_flag_that_is_never_sent(play, inputs):
    """The word `absent` alone leaves the flag out of every stop."""
    outcome = play(hooks={"Stop": REFUSE}, flag="absent")

    assert all("stop_hook_active" not in payload for payload in inputs(outcome))
    assert any("stop hooks never get stop_hook_active, instead" in text for text in outcome.assumptions)


def test_a_flag_of_one_value_has_no_order(play):
    """If there is one value, the report says that every stop gets it, and names no order."""
    outcome = play(hooks={"Stop": REFUSE}, flag="never", turns=3)

    assert any("hooks always get stop_hook_active false, instead" in text for text in outcome.assumptions)


@pytest.mark.parametrize("host", ["claude-code", "codex", "qwen-code"])
def test_a_cap_of_the_scenario(play, host):
    """A scenario can set the cap of any host, and the report prints that as an assumption."""
    outcome = play(host=host, hooks={"Stop": REFUSE}, cap=OVERRIDES - 1, until="guard")

    assert outcome.verdict.cap.overrides == OVERRIDES
    assert outcome.blocks("Stop") == OVERRIDES - 1
    assert sum("honours 3 refusals of a stop in a row" in text for text in outcome.assumptions) == 1


def test_no_cap(play):
    """With `cap: none` a host honours any number of refusals."""
    outcome = play(hooks={"Stop": REFUSE}, cap="none", turns=12)

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.cap is None


@pytest.mark.parametrize(("resets", "name"), [("prompt", "capped"), ("calls_done", "livelock")])
def test_what_resets_a_cap(play, resets, name):
    """A scenario can set what starts the count of refusals anew."""
    outcome = play(
        hooks={"Stop": REFUSE},
        cap={"refusals": OVERRIDES - 1, "resets": resets},
        then="obedient",
        until="guard",
        turns=12,
    )

    assert (outcome.verdict_name == "capped") == (name == "capped")


@pytest.mark.slow
def test_a_prompt_in_a_reaction(play):
    """A reaction may be a prompt of the user, also after the turn is over."""
    asks = "grep -q 'go on' asked 2>/dev/null && exit 0; echo go on > asked; echo ask the user >&2; exit 2"
    outcome = play(
        hooks={"Stop": asks, "UserPromptSubmit": "cat >> prompts"},
        when=[{"event": "Stop", "do": [{"stop": "May I?"}, {"prompt": "Yes, you may."}], "times": 1}],
        expect={"files": {"contain": {"prompts": "Yes, you may."}}},
    )

    assert outcome.terminated
    assert not outcome.violations


def test_prompts_without_end(play):
    """A user who writes again and again without a move of the agent is cut at the limit of turns."""
    outcome = play(
        hooks={"UserPromptSubmit": "echo seen"},
        when=[{"event": "UserPromptSubmit", "do": [{"prompt": "again"}]}],
        turns=5,
    )

    assert "6 events of the script followed each other without a turn" in outcome.verdict.why


@pytest.mark.slow
def test_follow_ups_of_cursor(play):
    """A follow-up on Cursor runs the prompt hooks, which is printed as an assumption."""
    once = '[ -e asked ] && exit 0; touch asked; echo \'{"followup_message": "and the tests"}\''
    outcome = play(
        host="cursor",
        hooks={
            "version": 1,
            "hooks": {
                "stop": [{"command": once}],
                "beforeSubmitPrompt": [{"command": "cat >> prompts; echo '{}'"}],
            },
        },
        expect={"files": {"contain": {"prompts": "and the tests"}}},
    )

    assert not outcome.violations
    assert any("beforeSubmitPrompt occurs with the text" in text for text in outcome.assumptions)


LOCKS = "[ -e broken ] || exit 0; echo locked >&2; exit 2"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hook", "after", "broken"),
    [
        (LOCKS, 1, ""),
        (LOCKS, 0, "a call of Bash was made in turn 1"),
        (LOCKS, 9, "no call was tried"),
        ("true", 1, "a call of Bash was made in turn 2"),
    ],
)
def test_calls_that_succeed_no_more(play, hook, after, broken):
    """A scenario can expect that no tool call succeeds after a turn, and that at least one is tried."""
    outcome = play(
        hooks={"PreToolUse": hook},
        agent=[{"run": "touch broken"}, {"run": "true"}, {"run": "true"}, {"stop": "Done."}],
        expect={"no_call_after": after},
    )

    assert [item.seen for item in outcome.violations] == ([broken] if broken else [])
