"""
Judge the hooks of the blind test and count what is right.

As a program it judges seeds, and prints a line for each: python -m tests.blind.judging 0 60
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import Script
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .generator import generate, missing_programs
from .subject import Subject, Truth

RIGHT, UNDECIDED, FALSE = "right", "undecided", "FALSE"


@dataclass(frozen=True, slots=True)
class Judged:
    """
    What was said about the hooks of a seed.

    Attributes:
        seed: The seed.
        result: ``right``, ``undecided`` or ``FALSE``.
        kind: The name of the verdict, and its evidence.
        said: The verdict with its reason.
        true: The truth.
        seconds: How long it took.
    """

    seed: int
    result: str
    kind: str
    said: str
    true: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.seed:4} {self.result:9} {self.seconds:6.1f} s  {self.said}; true: {self.true}"


def play(harness: Harness, subject: Subject, *, capped: bool) -> Outcome:
    """Play hooks with an idle agent at default options, on a host with its own cap, or with the cap off."""
    names = [f"gate-{number}" for number in range(len(subject.stops))]
    files = dict(subject.files) | dict(zip(names, subject.stops, strict=True))
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": f"./{name}"} for name in names]}]}
    acts = []
    if subject.prompt:
        files["at-prompt"] = subject.prompt
        hooks["UserPromptSubmit"] = [{"hooks": [{"type": "command", "command": "./at-prompt"}]}]
        acts = [{"prompt": "Fix the bug"}]
    cap = {} if capped else {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
    keys = {"name": "blind", "hooks": hooks, "files": files, "git": subject.git, "env": cap}
    script: Script = script_from(acts, then="idle")
    return harness.simulate(replace(scenario_from(keys), script=script))


def compare(subject: Subject, outcome: Outcome) -> str:
    """Return whether a verdict is right, false, or none."""
    verdict = outcome.verdict
    match verdict, subject.truth:
        case Livelock(), truth:
            return RIGHT if truth is Truth.ENDLESS else FALSE
        case Terminated(), Truth.ENDS:
            return RIGHT if subject.after in {None, outcome.blocks("Stop")} else FALSE
        case Terminated(), truth:
            return FALSE if truth is Truth.ENDLESS else RIGHT
        case Capped(without=without), truth if without.name != "undecided":
            return RIGHT if (without.name == "livelock") is (truth is Truth.ENDLESS) else FALSE
        case _:
            pass
    return UNDECIDED


def judge(harness: Harness, seed: int) -> Judged:
    """Judge the hooks of a seed; every second one on a host with its own cap."""
    subject = generate(seed)
    began = time.monotonic()
    outcome = play(harness, subject, capped=seed % 2 == 1)
    kind = f"{outcome.verdict_name} {getattr(outcome.verdict, 'evidence', '')}".strip()
    if isinstance(outcome.verdict, Capped):
        kind = f"{kind} without: {outcome.verdict.without.name}"
    said = f"{kind} after {outcome.blocks('Stop')}: {getattr(outcome.verdict, 'why', '')}".removesuffix(": ")
    true = f"{subject.truth.value} {'' if subject.after is None else subject.after} {subject.mechanism}"
    return Judged(seed, compare(subject, outcome), kind, said, true, time.monotonic() - began)


def figures(found: Iterable[Judged]) -> str:
    """Return in a line how many verdicts are right, and which false ones claim what."""
    found = list(found)
    results = Counter(one.result for one in found)
    false = Counter(one.kind for one in found if one.result == FALSE)
    named = ", ".join(f"{number} {said}" for said, number in sorted(false.items())) or "none"
    part = 1 - results[UNDECIDED] / max(1, len(found))
    return f"{len(found)} hooks: {results[RIGHT]} right, {part:.1%} decided, false: {named}"


def judge_all(seeds: Iterable[int], tell: Callable[[str], object], settings: Settings) -> list[Judged]:
    """Judge seeds whose programs are installed, and tell of each."""
    found = []
    with Harness(settings) as harness:
        for seed in seeds:
            if missing := missing_programs(generate(seed)):
                tell(f"{seed:4} left out: no {', '.join(missing)}\n")
                continue
            found.append(judge(harness, seed))
            tell(f"{found[-1]}\n")
            sys.stdout.flush()
    tell(figures(found) + "\n")
    return found


if __name__ == "__main__":
    judge_all(range(int(sys.argv[1]), int(sys.argv[2])), sys.stdout.write, Settings(wall=float(sys.argv[3])))
