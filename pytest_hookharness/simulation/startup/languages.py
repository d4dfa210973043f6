"""The languages of a deciding program: which probe programs it executes in the place of its own program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_hookharness.execution.startup.programs import GARBAGE, PROBES, ProbeProgram, likely_probes
from pytest_hookharness.simulation.startup.trial_runs import ANY_PATH, Trial, TrialRuns

# Probes that are executed, and which of them only after the whole of their text was read.
Languages: TypeAlias = tuple[tuple[ProbeProgram, ...], tuple[ProbeProgram, ...]]

_MOST_KNOWN = 200

# Keys: an interpreter's command line, and variables that it may read. The same key gives the same answer in
# all workspaces.
_known: dict[tuple[str, ...], Languages] = {}
# For an interpreter and an ending: the probes that it executed last. Its programs may execute others.
_spoken: dict[tuple[str, str], tuple[ProbeProgram, ...]] = {}


def find_languages(trials: TrialRuns, word: str, *, inline: bool = False) -> Languages:
    """
    Return the probes that the deciding program executes in the place of a word.

    Args:
        word: The path of a program.
        inline: Whether the word is the text of a program itself.

    Returns:
        All of them, and those that it executes only if it can read the whole of their text.
    """
    key = trials.interpretation(word, "" if inline else Path(word).suffix, str(inline))
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
            _spoken.clear()
        found = _try_languages(trials, word, inline=inline)
        if trials.cut or trials.depends_on_workspace:
            return found
        _known[key] = found
    return _known[key]


def _try_languages(trials: TrialRuns, word: str, *, inline: bool) -> Languages:
    ending = "" if inline else Path(word).suffix

    def run(texts: Sequence[str]) -> list[Trial]:
        given = texts if inline else [trials.write(f"probe{ending}", text) for text in texts]
        ends = trials.run([trials.with_word(word, each) for each in given])
        # A text of the command line may be quoted in any way, so its ends have none.
        return [
            Trial(end.code, "") if inline else end.renamed({name: ANY_PATH})
            for name, end in zip(given, ends, strict=True)
        ]

    empty, garbage = run(["", GARBAGE])
    # A text with a syntax is wrong if it is nonsense. What ends the same with it takes it for data.
    if empty.is_same(garbage):
        return (), ()
    executed: list[ProbeProgram] = []
    strict: list[ProbeProgram] = []
    first = _spoken.get((trials.program, ending)) or likely_probes(ending)
    for probes in (first, [probe for probe in PROBES if probe not in first]):
        found = [
            probe
            for probe, end in zip(probes, run([each.holding() for each in probes]), strict=True)
            if end.probed
        ]
        ends = run([probe.holding(GARBAGE) for probe in found])
        executed += found
        strict += (probe for probe, end in zip(found, ends, strict=True) if not end.probed)
        # The probes of other languages may be executed too, but not the first that was to be expected.
        if first[0] in executed and strict:
            break
    if executed:
        _spoken[trials.program, ending] = tuple(executed)
    return tuple(executed), tuple(strict)
