"""Claims about Stop hooks that give up in one turn, and are met by the next prompt."""

import pytest

from pytest_hookharness.campaigns.check.failing_gates import find_gates
from pytest_hookharness.campaigns.check.gates.spent_limits import prove_spent_limits

GATE = """#!/bin/bash
input=$(cat)
n=$(cat .count 2>/dev/null || echo 0)
{begins}
[ "$n" -ge {limit} ] && exit 0
if ! out=$(pnpm check 2>&1); then
    echo $((n + 1)) > .count
    echo "Fix this first: $out" >&2
    exit 2
fi
rm -f .count
"""
# Checks, and tells the user when it gives up.
TELLS = GATE.replace('[ "$n" -ge {limit} ] && exit 0', "").replace(
    "    echo $((n",
    """    [ "$n" -ge {limit} ] && {{ echo '{{"systemMessage": "It still fails."}}'; exit 0; }}
    echo $((n""",
)
ANEW = '[ "$(echo "$input" | jq .stop_hook_active)" = true ] || n=0'


@pytest.fixture
def found(plugin, try_out):
    """What is said of a gate that gives up."""

    def find(text):
        hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}/gate.sh"', **{"gate.sh": text})
        kept = find_gates(hook_set, hook_set.hooks, try_out)
        return [*prove_spent_limits(hook_set, try_out, [], try_out(kept))]

    return find


@pytest.mark.nightly
def test_a_count_that_goes_on(found):
    """A gate whose count goes on allows the stop of the next turn without a check."""
    (problem,) = found(GATE.format(begins="", limit=3))

    assert problem.symptom.kind == "STUCK-PHASE"
    assert problem.symptom.text == (
        "Stop is refused 3 times and then allowed; after the next prompt it is allowed at once, although "
        "nothing was fixed."
    )


@pytest.mark.nightly
def test_a_gate_that_tells_the_user(found):
    """A gate that tells the user of the failure at each later stop has checked the turn."""
    assert found(TELLS.format(begins="", limit=3)) == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("begins", "limit"),
    [
        pytest.param(ANEW, 3, id="begins anew"),
        pytest.param("", 1, id="refuses once", marks=pytest.mark.nightly),
        pytest.param("n=0", 3, id="never gives up", marks=pytest.mark.nightly),
    ],
)
def test_other_counts(found, begins, limit):
    """A count that begins anew, a hook that refuses once, and one that never gives up, are not named."""
    assert found(GATE.format(begins=begins, limit=limit)) == []
