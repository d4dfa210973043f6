"""
This module is concerned with observations: what a run gave that a promise in a file can be about.

Middle floor. Observations cross from an xdist worker to its controller, so each is JSON there and back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_hookharness.model.expectations import VerdictName
from pytest_hookharness.model.outcome import HOLLOW, Outcome

# So much of the reasons is enough to write a pattern; hooks may say as much as they like.
MOST_REASONS = 20
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """
    What one run of one item gave.

    Attributes:
        verdict: The verdict by name.
        iterations: Turns since the first prompt.
        blocks: Refusals that the host honoured, by event.
        reasons: The reasons of refusals, each once, in order and cut short.
        unmet: Places of those promised patterns that no whole reason holds.
        hollow: Names of findings after which its end says nothing of the hooks, and that nobody promised.
    """

    verdict: VerdictName
    iterations: int
    blocks: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    unmet: tuple[int, ...] = ()
    hollow: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome) -> Observation:
        """
        What an outcome gives.
        """
        reasons = outcome.reasons()
        expect = outcome.scenario.expect
        hollow = (finding for finding in outcome.findings if finding.name in HOLLOW)
        events = dict.fromkeys(hooked.event for _, hooked in outcome.trace.hooked())
        return cls(
            verdict=outcome.verdict_name,
            iterations=outcome.iterations,
            blocks={event: outcome.blocks(event) for event in events if outcome.blocks(event)},
            reasons=tuple(dict.fromkeys(reason[:LONGEST_REASON] for reason in reasons))[:MOST_REASONS],
            unmet=tuple(
                place
                for place, pattern in enumerate(expect.reasons)
                if not any(re.search(pattern, reason) for reason in reasons)
            ),
            hollow=tuple(found.name for found in hollow if not expect.allows(found.code, found.name)),
        )

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Observation:
        """
        The observation that was made JSON of.
        """
        return cls(
            verdict=told["verdict"],
            iterations=told["iterations"],
            blocks=told["blocks"],
            reasons=tuple(told["reasons"]),
            unmet=tuple(told["unmet"]),
            hollow=tuple(told["hollow"]),
        )

    def to_json(self) -> dict[str, Any]:
        """
        The observation as JSON.
        """
        return {
            "verdict": self.verdict,
            "iterations": self.iterations,
            "blocks": dict(self.blocks),
            "reasons": list(self.reasons),
            "unmet": list(self.unmet),
            "hollow": list(self.hollow),
        }
