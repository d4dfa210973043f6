"""Masks in whole runs: what they may name, what they must name, and when one is advised."""

from __future__ import annotations

import re

import pytest
import yaml

from pytest_hookharness.model.verdicts import Livelock, Undecided
from pytest_hookharness.reports.terminal.advice import advice

OFF = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
LOCKS = "d=.locks/$(date +%s%N); mkdir -p $d; echo 1 > $d/n; ls .locks | cksum > .sum; echo more >&2; exit 2"
# Writes what it reads, so that the change is not one that is only written.
NOISE = "cat '{0}' 2>/dev/null | wc -c; head -c 9 /dev/urandom > '{0}'; exit 2"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "mask",
    [
        "workspace/.locks",
        *(
            pytest.param(f"workspace/{glob}", marks=pytest.mark.slow)
            for glob in (".locks/", ".locks/*", ".locks/**", ".l?cks/[0-9]*")
        ),
    ],
)
def test_a_mask_of_a_folder_or_a_glob(play, mask):
    """A mask may name a folder, or names in it by a pattern; what comes and goes there is then left out."""
    outcome = play(hooks={"Stop": LOCKS}, mask=[mask, "workspace/.sum"], expect={"verdict": "livelock"})

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "masked"
    assert not outcome.violations


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mask", "seen"),
    [
        ("workspace/.lokcs", "no such path; did you mean workspace/.locks?"),
        ("workspace/*.nothing", "no such path"),
        ({"file": "workspace/state.json", "keys": ["time"]}, "workspace/state.json has no such key"),
        ({"file": "workspace/state.json", "text": "never"}, "workspace/state.json has no such text"),
    ],
)
def test_a_mask_that_matches_nothing(play, mask, seen):
    """A mask that left nothing out is a broken expectation at its own place, with what is there instead."""
    outcome = play(
        hooks={"Stop": "mkdir -p .locks/a; echo more >&2; exit 2"},
        files={"state.json": '{"n": 1}'},
        mask=["workspace/.locks/*", mask, "transcript"],
        turns=4,
        expect={"verdict": "livelock"},
    )

    (broken,) = [item for item in outcome.violations if item.path.startswith("mask")]
    assert (broken.path, broken.seen) == ("mask[1]", seen)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["noise", "a noise, [1]"])
def test_advice_on_a_mask_can_be_pasted(play, name):
    """A mask that is advised was tried: declared as printed, it gives the verdict that it promises."""
    hooks = {"Stop": NOISE.format(name)}
    outcome = play(hooks=hooks, env=OFF, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    pasted = yaml.safe_load(re.search(r"`(mask: \[.*\])` in a scenario file the last", advice(outcome))[1])
    assert play(hooks=hooks, env=OFF, turns=6, **pasted).verdict.evidence == "masked"


@pytest.mark.slow
def test_no_advice_to_mask_what_matters(play):
    """A part that was shown to make a difference is not advised to be masked."""
    count = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; [ $n -gt 300 ] || exit 2"
    outcome = play(hooks={"Stop": count}, env=OFF, turns=6)

    assert isinstance(outcome.verdict, Undecided)
    assert "mask" not in advice(outcome)


@pytest.mark.nightly
@pytest.mark.parametrize(("read", "said"), [("cat n; ", True), ("", False)])
def test_a_masked_file_that_is_read_is_named(play, read, said):
    """A masked loop names the masked files that its hooks were seen to read, and no others."""
    outcome = play(hooks={"Stop": f"{read}date +%N >> n; echo more >&2; exit 2"}, mask=["workspace/n"])

    assert outcome.verdict.evidence == "masked"
    sentence = "What hooks read and the scenario masks decides nothing: workspace/n."
    assert (sentence in outcome.verdict.assumptions) is said
