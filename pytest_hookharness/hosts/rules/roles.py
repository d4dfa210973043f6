"""
Roles: what an event is for, whatever a host calls it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Role(enum.Enum):
    """
    What an event is for, whatever the host calls it. A session knows events only by this.
    """

    WORKTREE = "worktree"
    SETUP = "setup"
    SESSION_START = "session start"
    INSTRUCTIONS = "instructions"
    EXPANSION = "expansion of a prompt"
    PROMPT = "prompt"
    MESSAGE = "message"
    BEFORE_TOOL = "before a tool"
    PERMISSION = "permission"
    AFTER_TOOL = "after a tool"
    TOOL_FAILED = "after a failed tool"
    AFTER_BATCH = "after all tools"
    TASK_CREATED = "task made"
    TASK_COMPLETED = "task done"
    FOLDER_CHANGED = "current folder changed"
    SUBAGENT_START = "subagent start"
    SUBAGENT_STOP = "subagent stop"
    STOP = "stop"
    BEFORE_COMPACT = "before compaction"
    AFTER_COMPACT = "after compaction"
    SESSION_END = "session end"
    BEFORE_MODEL = "before a request to the model"
    TOOL_CHOICE = "choice of tools for a request"
    AFTER_MODEL = "after an answer of the model"
    NOTIFICATION = "notice for the person"
    OTHER = "other"


# Names that most hosts share, and by which a scenario may mean the event on those that call it otherwise.
COMMON: Mapping[str, Role] = {
    "SessionStart": Role.SESSION_START,
    "UserPromptSubmit": Role.PROMPT,
    "PreToolUse": Role.BEFORE_TOOL,
    "PostToolUse": Role.AFTER_TOOL,
    "Stop": Role.STOP,
    "SubagentStart": Role.SUBAGENT_START,
    "SubagentStop": Role.SUBAGENT_STOP,
    "PreCompact": Role.BEFORE_COMPACT,
    "SessionEnd": Role.SESSION_END,
}
