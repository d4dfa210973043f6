"""
This module is concerned with where facts about the OpenHands SDK are known from.

Middle floor: hosts.
"""

from __future__ import annotations

from pytest_hookharness.model.protocol import Basis, Rule

RECORDED = "OpenHands SDK 1.58.0, recorded standard input"
MEASURED = "OpenHands SDK 1.58.0, measured"
OLDER = "OpenHands SDK 1.12.0, measured"
BRANCH = "OpenHands software-agent-sdk, pull request 3183, measured"
CODE = "source code of the OpenHands SDK, 1.43.1 to 1.58.2"
CHOSEN = "not recorded; chosen for the simulation"


def observed(text: str, source: str = MEASURED) -> Rule:
    """
    A fact that was seen.
    """
    return Rule(text, Basis.OBSERVED, source)


def documented(text: str) -> Rule:
    """
    A fact that was read in the host's own code.
    """
    return Rule(text, Basis.DOCUMENTED, CODE)


def assumed(text: str) -> Rule:
    """
    What the simulation chose.
    """
    return Rule(text, Basis.ASSUMED, CHOSEN)
