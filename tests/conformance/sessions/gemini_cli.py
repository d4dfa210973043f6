"""
The recorded sessions of Gemini CLI.
"""

from __future__ import annotations

from collections.abc import Mapping

from .session import WORK, Session

_ASK = """'{"decision": "ask", "reason": "look first"}'"""

SESSIONS: Mapping[str, Session] = {
    "plain": Session(acts=WORK),
    "fail": Session(acts=({"read": "nope.txt"}, {"stop": "All done."})),
    "ask": Session(acts=({"run": "echo hi > ran.txt"},), said={"BeforeTool": _ASK}),
}
