"""
The events of Claude Code 2.1.329 that never occur in a simulated session.

They are listed because hooks for them can still be tried with a payload.
"""

from __future__ import annotations

from pytest_hookharness.hosts.profiles.claude_code.fields import INPUT, TOOL, WORD, event_rule
from pytest_hookharness.hosts.rules.events import Power
from pytest_hookharness.model.protocol import Field

_INTERACTIVE = "it does not occur in a headless session"
_NO_TEAM = "the simulation has one agent and no team"
_NO_DIALOGUE = "the simulation has no server that asks the user"

_SERVER = (Field(name="mcp_server_name", kind=WORD), Field(name="message"))
_MESSAGE_KINDS = ("permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog")

UNREACHED = (
    event_rule(
        "StopFailure",
        Field(name="error", kind=WORD, choices=("rate_limit", "server_error", "unknown")),
        Field(name="error_details", optional=True),
        Field(name="last_assistant_message", optional=True),
        fact="StopFailure ignores the output of hooks",
        recorded=False,
        target="error",
        unreachable="the scripted agent has no model server that could fail",
    ),
    event_rule(
        "PermissionDenied",
        TOOL,
        INPUT,
        Field(name="reason"),
        fact="PermissionDenied ignores refusals",
        turn=True,
        recorded=False,
        target="tool_name",
        unreachable="the simulation has no classifier that denies calls",
    ),
    event_rule(
        "Notification",
        Field(name="message"),
        Field(name="title", optional=True),
        Field(name="notification_type", kind=WORD, choices=_MESSAGE_KINDS),
        fact="Notification ignores the output of hooks",
        recorded=False,
        target="notification_type",
        unreachable=_INTERACTIVE,
    ),
    event_rule(
        "TeammateIdle",
        Field(name="teammate_name", kind=WORD),
        Field(name="team_name", kind=WORD),
        fact="exit code 2 on TeammateIdle keeps the teammate working",
        recorded=False,
        power=Power.REFUSES,
        ignores=("decision",),
        unreachable=_NO_TEAM,
    ),
    event_rule(
        "ConfigChange",
        Field(
            name="source",
            kind=WORD,
            choices=("user_settings", "project_settings", "local_settings", "policy_settings", "skills"),
        ),
        Field(name="file_path", kind="path", optional=True),
        fact="a refusal on ConfigChange rejects the new settings",
        recorded=False,
        power=Power.REFUSES,
        target="source",
        unreachable="the simulation applies changed settings without this event",
    ),
    event_rule(
        "DirectoryAdded",
        Field(name="directory", kind="folder"),
        Field(name="source", kind=WORD),
        fact="DirectoryAdded ignores the output of hooks",
        recorded=False,
        target="source",
        unreachable=_INTERACTIVE,
    ),
    event_rule(
        "FileChanged",
        Field(name="file_path", kind="path"),
        Field(name="event", kind=WORD, choices=("change", "add", "unlink")),
        fact="FileChanged cannot be refused",
        recorded=False,
        target="file_path",
        env_file=True,
        unreachable="the simulation does not watch files for the host",
    ),
    event_rule(
        "WorktreeRemove",
        Field(name="worktree_path", kind="path"),
        fact="WorktreeRemove ignores the output of hooks",
        recorded=False,
        unreachable="a simulated session does not remove its worktree",
    ),
    event_rule(
        "Elicitation",
        *_SERVER,
        Field(name="mode", kind=WORD, optional=True, choices=("form", "url")),
        Field(name="url", optional=True),
        Field(name="requested_schema", kind="object", optional=True),
        fact="a refusal on Elicitation declines it",
        turn=True,
        recorded=False,
        power=Power.REFUSES,
        target="mcp_server_name",
        unreachable=_NO_DIALOGUE,
    ),
    event_rule(
        "ElicitationResult",
        *_SERVER,
        Field(name="action", kind=WORD, choices=("accept", "decline", "cancel")),
        Field(name="content", kind="object", optional=True),
        fact="a refusal on ElicitationResult changes the answer to a decline",
        turn=True,
        recorded=False,
        power=Power.REFUSES,
        target="mcp_server_name",
        unreachable=_NO_DIALOGUE,
    ),
)
