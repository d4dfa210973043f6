"""
Standard input of the same content in another shape.
"""

import json

from pytest_hookharness.hosts import shape
from pytest_hookharness.model.mutations import Shaping

PAYLOAD = {"tool_name": "Bash", "tool_input": {"command": "ls", "list": [{"a": 1, "b": 2}]}}


def test_keys_stand_in_reverse_order_at_every_depth():
    """The content stays the same; only the order of the keys does not."""
    shaped = shape(PAYLOAD, Shaping(reversed=True))

    assert shaped == PAYLOAD
    assert '{"tool_input": {"list": [{"b": 2, "a": 1}], "command": "ls"}, "tool_name": "Bash"}' == json.dumps(
        shaped
    )


def test_further_keys_stand_behind_all_others():
    """Unknown keys are added at the end and change nothing else."""
    assert [*PAYLOAD, "new"] == [*shape(PAYLOAD, Shaping(extra={"new": 1}))]
