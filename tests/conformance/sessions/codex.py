"""
The recorded sessions of Codex.
"""

from __future__ import annotations

from collections.abc import Mapping

from .session import SUBAGENT, WORK, Session

_WAIT = {
    "tool": {"name": "multi_agent_v1wait_agent", "input": {"targets": ["the subagent"], "timeout_ms": 15000}},
    "result": "{}",
}

SESSIONS: Mapping[str, Session] = {
    "plain": Session(acts=WORK),
    "perm": Session(acts=WORK, keys={"options": {"permission_mode": "default"}}),
    "compact": Session(acts=({"stop": "All done."}, {"compact": "auto"})),
    "subagent": Session(acts=(SUBAGENT[0], _WAIT, *SUBAGENT[1:])),
}
