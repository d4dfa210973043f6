"""
The recorded sessions of Claude Code.
"""

from __future__ import annotations

from collections.abc import Mapping

from .session import SUBAGENT, WORK, Session

SESSIONS: Mapping[str, Session] = {
    "plain": Session(acts=WORK, quiet=("PermissionRequest",)),
    "perm": Session(acts=WORK),
    "instr": Session(acts=WORK, keys={"files": {"CLAUDE.md": "Be brief.\n"}}),
    "compact": Session(acts=({"stop": "All done."}, {"compact": "manual"})),
    "subagent": Session(acts=SUBAGENT, quiet=("PermissionRequest",)),
    "cwd": Session(acts=({"run": "mkdir sub; ln -s ../place sub; cd sub"}, {"stop": "All done."})),
    "tasks": Session(
        acts=(
            {"tool": {"name": "TaskCreate", "input": {"subject": "one", "description": "first"}}},
            {"tool": {"name": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}},
            {"stop": "All done."},
        )
    ),
    "expand": Session(
        acts=({"stop": "All done."}, {"prompt": "/greet you"}, {"stop": "All done."}),
        keys={"files": {".claude/commands/greet.md": "Say hello to $ARGUMENTS.\n"}},
    ),
    "setup": Session(acts=WORK, keys={"setup": "init"}),
    "worktree": Session(acts=WORK, keys={"worktree": "new"}, said={"WorktreeCreate": '"$PWD"'}),
}
