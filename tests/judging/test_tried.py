"""
How the conditions of further runs are listed.
"""

from pytest_hookharness.judging.comparison.tried import tried_words

from pytest_hookharness.model.mutations import (
    FailingTool,
    HangingTool,
    HookOrder,
    KeyOrder,
    Quoted,
    TwoSessions,
    Unset,
    WithoutTool,
)


def test_conditions_are_listed_by_kind():
    """Each kind is named once, with what it is about, and in which or in how many ways."""
    forms = [Quoted(1, "rm x", str(number), "", must_be_refused=True, harmless="") for number in range(9)]
    tools = [WithoutTool("jq"), FailingTool("jq"), HangingTool("jq"), FailingTool("yq")]

    assert tried_words([KeyOrder(), *forms, *tools, TwoSessions(), Unset("TMUX"), Unset("A")]) == (
        "key-order; quoting `rm x` (9 ways); tools jq (missing, failing, hanging), yq (failing); "
        "sessions (another session); unset TMUX, A"
    )
    assert tried_words([HookOrder("Stop", (2, 1))]) == "order Stop (2-1)"
