"""Loops on hosts that put the number of refused stops into the input of hooks."""

from __future__ import annotations

import pytest

from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated, Undecided

GO_ON = """echo '{"followup_message": "Run the tests."}'"""
FROM = "[ $(jq .loop_count) -ge %d ] && exit 0\n"
LOGS = "jq .loop_count >>log\n"
CONTINUE = """echo '{"decision": "continue", "reason": "Run `true`."}'"""


@pytest.fixture
def gate(play):
    """Play a Stop hook of Cursor, whose input counts the refused stops (documented)."""

    def run(text, **keys):
        hook = {"command": "sh gate.sh", "loop_limit": None}
        return play(host="cursor", files={"gate.sh": text}, hooks={"stop": [hook]}, turns=12, **keys)

    return run


@pytest.mark.nightly
@pytest.mark.parametrize("text", ["", LOGS], ids=["neither", "logs it"])
def test_a_gate_that_never_allows_the_stop(gate, text):
    """A count in the input does not prevent the verdict, which names it as what the loop could depend on."""
    verdict = gate(text + GO_ON).verdict

    assert isinstance(verdict, Livelock)
    assert (verdict.evidence, verdict.matters) == ("driven", ("loop_count in its input",))


@pytest.mark.nightly
@pytest.mark.parametrize("limit", [40, 5000])
def test_a_gate_that_allows_a_later_stop(gate, limit):
    """Experiments with larger numbers find the turn in which the hook would allow the stop."""
    verdict = gate(FROM % limit + GO_ON).verdict

    assert isinstance(verdict, Undecided)
    assert f"in turn {limit + 1:,}" in verdict.why


@pytest.mark.nightly
def test_larger_numbers_are_tried_beside_files_that_stay_equal(gate):
    """A file whose later content is unknown does not end the experiments, and is not the threshold."""
    verdict = gate(
        "n=$(jq .loop_count); grep -q 99 when; date +%s%N >when\n[ $n -ge 40 ] && exit 0\n" + GO_ON
    ).verdict

    assert isinstance(verdict, Undecided)
    assert "at 28 more refused stops, in turn 41" in verdict.why


N = "n=$(jq .loop_count)\n"
# Gates beside files that grow, that copy the number, that are added to it, and that hold the limit.
BESIDE = {
    "files": (N + "mkdir -p marks; : >marks/$n; ls marks >/dev/null\n[ $n -ge 700 ] && exit 0\n", 701),
    "a copy": (N + "last=$(cat last 2>/dev/null || echo 0); echo $n >last\n[ $last -ge 60 ] && exit 0\n", 62),
    "a sum": (
        N + "o=$(($(cat own 2>/dev/null || echo 0) + 1)); echo $o >own\n[ $((n + o)) -eq 301 ] && exit 0\n",
        151,
    ),
    "a limit": (N + "date >>log\nfile=limit; [ $n -eq $(cat $file.txt) ] && exit 0\n", 138),
}


@pytest.mark.nightly
@pytest.mark.parametrize("beside", BESIDE)
def test_the_turn_is_told_beside_files(play, beside):
    """The turn in which the hook allows the stop is found whatever it does with files."""
    text, turn = BESIDE[beside]
    files = {"gate.sh": text + GO_ON, "limit.txt": "137\n"}
    hook = {"command": "sh gate.sh", "loop_limit": None}
    verdict = play(host="cursor", files=files, hooks={"stop": [hook]}, turns=12).verdict

    assert isinstance(verdict, Undecided)
    assert f"in turn {turn}," in verdict.why


@pytest.mark.nightly
def test_a_mask_beside_the_number(gate):
    """A mask of a log does not turn a number that may decide into a repeated state."""
    verdict = gate(N + "echo $n >>log\n" + GO_ON, mask=["workspace/log"]).verdict

    assert isinstance(verdict, Livelock)
    assert verdict.evidence == "driven"


@pytest.mark.nightly
def test_a_gate_that_allows_the_stop_soon(gate):
    """A limit within the turns that are played ends the session there."""
    outcome = gate(FROM % 6 + GO_ON)

    assert isinstance(outcome.verdict, Terminated)
    assert outcome.blocks() == 6


@pytest.mark.nightly
def test_a_host_that_counts_moves_too(play):
    """Antigravity also counts moves in the input (documented); experiments send larger numbers of both."""
    late = "[ $(jq .stepIdx) -lt 300 ] || touch done"
    stop = f"cat >/dev/null; [ -e done ] && exit 0; {CONTINUE}"
    hooks = {"PreToolUse": late, "Stop": stop}
    stops = [{"stop": "Done."}]
    outcome = play(host="antigravity", cap="none", hooks=hooks, agent=stops, then="obedient", turns=12)

    assert isinstance(outcome.verdict, Undecided)
    assert "in turn 301" in outcome.verdict.why


@pytest.mark.nightly
def test_another_name_of_the_count(play):
    """Antigravity has another name for the number of refused stops (documented)."""
    verdict = play(host="antigravity", cap="none", hooks={"Stop": f"cat >/dev/null; {CONTINUE}"}).verdict

    assert isinstance(verdict, Livelock)
    assert verdict.matters == ("executionNum in its input",)


@pytest.mark.nightly
def test_a_hosts_own_limit(play):
    """Cursor's own limit ends the loop, and what the hook would do without it is known."""
    outcome = play(host="cursor", files={"gate.sh": FROM % 40 + GO_ON}, hooks={"stop": "sh gate.sh"})

    assert isinstance(outcome.verdict, Capped)
    assert outcome.verdict.without.name == "terminated"
