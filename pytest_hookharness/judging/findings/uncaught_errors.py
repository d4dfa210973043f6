"""Uncaught errors of Python or JavaScript that ended a hook, as its standard error tells them last."""

from __future__ import annotations

import re

# How a refusal that is only such a failure is described.
FAILURE_REFUSES = "was refused because an uncaught error ended its hook"
_TRACEBACK = "Traceback (most recent call last):"
_OF_PYTHON = re.compile(r"[A-Za-z_][\w.]*: .*|[\w.]*(?:Error|Exception|Exit|Interrupt)")
_OF_NODE = re.compile(r"(?:[A-Za-z]\w*)?Error(?: \[\w+\])?(?:: .*)?")


def uncaught_error(text: str) -> str:
    """Return the line of an error with which Python or Node ended; empty for none."""
    lines = text.rstrip().splitlines() or [""]
    if lines[-1].startswith("Node.js v"):
        return next((line for line in lines if _OF_NODE.fullmatch(line)), "")
    return lines[-1] if _OF_PYTHON.fullmatch(lines[-1]) and _TRACEBACK in lines else ""
