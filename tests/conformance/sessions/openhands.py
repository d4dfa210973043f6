"""
The recorded sessions of OpenHands.
"""

from __future__ import annotations

from collections.abc import Mapping

from .session import Session

SESSIONS: Mapping[str, Session] = {
    "plain": Session(
        acts=(
            {"run": "printf 'hi\\n'; (exit 3)"},
            {"edit": {"file": "a.txt", "text": "one\ntwo\n"}},
            {"edit": {"file": "a.txt", "old": "two", "text": "TWO"}},
            {"read": "missing.txt"},
            {"tool": {"name": "think", "input": {"thought": "hmm"}}},
            {"stop": "All done."},
            {"prompt": "And now?"},
            {"tool": {"name": "finish", "input": {"message": "finished"}}},
        )
    ),
}
