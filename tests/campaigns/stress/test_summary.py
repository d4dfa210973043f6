"""How mutations that were tried are listed."""

from pytest_hookharness.campaigns.stress.mutations.environment import Unset
from pytest_hookharness.campaigns.stress.mutations.hook_order import HookOrder
from pytest_hookharness.campaigns.stress.mutations.other_sessions import TwoSessions
from pytest_hookharness.campaigns.stress.mutations.stdin import KeyOrder
from pytest_hookharness.campaigns.stress.mutations.tools import FailingTool, HangingTool, WithoutTool
from pytest_hookharness.campaigns.stress.mutations.wording import Quoted
from pytest_hookharness.campaigns.stress.plan import list_tried


def test_mutations_are_listed_by_family():
    """Each family is named once, with its subjects, and with the names or the number of their mutations."""
    forms = [Quoted(1, "rm x", str(number), "", "", must_be_refused=True) for number in range(9)]
    tools = [WithoutTool("jq"), FailingTool("jq"), HangingTool("jq"), FailingTool("yq")]

    assert list_tried([KeyOrder(), *forms, *tools, TwoSessions(), Unset("TMUX"), Unset("A")]) == (
        "key-order; quoting `rm x` (9 ways); tools jq (missing, failing, hanging), yq (failing); "
        "sessions (another session); unset TMUX, A"
    )
    assert list_tried([HookOrder("Stop", (2, 1))]) == "order Stop (2-1)"
