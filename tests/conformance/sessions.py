"""The sessions in which hook input was recorded, by host and by the name of the recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """
    A recorded session.

    Attributes:
        acts: The moves of the agent, and the events of the script.
        keys: Further keys of the scenario.
        quiet: Events without a hook, because a hook there would change the session.
        said: The output of an event's hook, as a word of the shell.
    """

    acts: Sequence[Mapping[str, Any]]
    keys: Mapping[str, Any] = field(default_factory=dict)
    quiet: Sequence[str] = ()
    said: Mapping[str, str] = field(default_factory=dict)


WORK: Sequence[Mapping[str, Any]] = (
    {"say": "I will run a command"},
    {"run": "echo hi > ran.txt; echo visible"},
    {"edit": {"file": "new.txt", "text": "abc\n"}},
    {"read": "nope.txt"},
    {"run": "exit 3"},
    {"stop": "All done."},
)
SUBAGENT: Sequence[Mapping[str, Any]] = (
    {"subagent": {"prompt": "SUBTASK do sub", "text": "sub done"}},
    {"stop": "All done."},
)
_WAIT = {
    "tool": {"name": "multi_agent_v1wait_agent", "input": {"targets": ["the subagent"], "timeout_ms": 15000}},
    "result": "{}",
}
_NEEDS = {
    "tool": {
        "name": "Bash",
        "input": {"command": "true", "sandbox_permissions": "require_escalated", "justification": "need"},
    }
}
_ASK = """'{"decision": "ask", "reason": "look first"}'"""

SESSIONS: Mapping[str, Mapping[str, Session]] = {
    "claude-code": {
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
        "setup": Session(acts=WORK, keys={"world": {"setup": "init"}}),
        "worktree": Session(
            acts=WORK, keys={"world": {"worktree": "new"}}, said={"WorktreeCreate": '"$PWD"'}
        ),
    },
    "codex": {
        "plain": Session(acts=WORK),
        "perm": Session(acts=(_NEEDS, *WORK), keys={"options": {"permission_mode": "default"}}),
        "compact": Session(acts=({"stop": "All done."}, {"compact": "auto"})),
        "subagent": Session(acts=(SUBAGENT[0], _WAIT, *SUBAGENT[1:])),
    },
    "gemini-cli": {
        "plain": Session(acts=WORK),
        "fail": Session(acts=({"read": "nope.txt"}, {"stop": "All done."})),
        "ask": Session(acts=({"run": "echo hi > ran.txt"},), said={"BeforeTool": _ASK}),
    },
    "qwen-code": {
        "plain": Session(acts=WORK, keys={"files": {"QWEN.md": "Be brief.\n"}}),
        "subagent": Session(acts=SUBAGENT),
        "expand": Session(
            acts=({"stop": "All done."}, {"prompt": "/greet you"}, {"stop": "All done."}),
            keys={"files": {".qwen/commands/greet.md": "Say hello to {{args}}.\n"}},
        ),
    },
    "openhands": {
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
    },
}


def session_of(host: str, name: str) -> Session:
    """
    Return the session of a host by the name of its recording; the plain session if that name is unknown.
    """
    sessions = SESSIONS.get(host.partition("@")[0], {})
    return sessions.get(name) or sessions.get("plain") or Session(acts=WORK)
