"""
The recorded sessions of Qwen Code.
"""

from __future__ import annotations

from collections.abc import Mapping

from .session import SUBAGENT, WORK, Session

SESSIONS: Mapping[str, Session] = {
    "plain": Session(acts=WORK, keys={"files": {"QWEN.md": "Be brief.\n"}}),
    "subagent": Session(acts=SUBAGENT),
    "expand": Session(
        acts=({"stop": "All done."}, {"prompt": "/greet you"}, {"stop": "All done."}),
        keys={"files": {".qwen/commands/greet.md": "Say hello to {{args}}.\n"}},
    ),
}
