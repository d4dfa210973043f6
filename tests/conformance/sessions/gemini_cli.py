"""
This module is concerned with the recorded sessions of Gemini CLI.
"""

from __future__ import annotations

from collections.abc import Mapping

from .session import WORK, Session

SESSIONS: Mapping[str, Session] = {
    "plain": Session(acts=WORK),
}
