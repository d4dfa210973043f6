"""
The events of Claude Code 2.1.329 that a simulated session never comes to.

Their hooks can be given a payload all the same, which is why they stand here.
"""

from __future__ import annotations

from pytest_hookharness.hosts.profiles.claude_code.fields import INPUT, TOOL, WORD, event_rule
from pytest_hookharness.hosts.rules.events import Power
from pytest_hookharness.model.protocol import Field

_INTERACTIVE = "a headless session never comes to it"
_NO_TEAM = "the simulation has one agent and no team"
_NO_DIALOGUE = "the simulation has no server that asks the person"

_SERVER = (Field(name="mcp_server_name", kind=WORD), Field(name="message"))
_MESSAGE_KINDS = ("permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog")

UNREACHED = (
    event_rule(
        "StopFailure",
        Field(name="error", kind=WORD, choices=("rate_limit", "server_error", "unknown")),
        Field(name="error_details", optional=True),
        Field(name="last_assistant_message", optional=True),
        says="StopFailure ignores what a hook says",
        recorded=False,
        target="error",
        unreachable="the scripted agent has no model server that could fail",
    ),
    event_rule(
        "PermissionDenied",
        TOOL,
        INPUT,
        Field(name="reason"),
        says="PermissionDenied ignores refusals",
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
        says="Notification ignores what a hook says",
        recorded=False,
        target="notification_type",
        unreachable=_INTERACTIVE,
    ),
    event_rule(
        "TeammateIdle",
        Field(name="teammate_name", kind=WORD),
        Field(name="team_name", kind=WORD),
        says="exit code 2 on TeammateIdle keeps the teammate at work",
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
        says="a refusal on ConfigChange keeps the new settings out",
        recorded=False,
        power=Power.REFUSES,
        target="source",
        unreachable="the simulation takes changed settings without asking",
    ),
    event_rule(
        "DirectoryAdded",
        Field(name="directory", kind="folder"),
        Field(name="source", kind=WORD),
        says="DirectoryAdded ignores what a hook says",
        recorded=False,
        target="source",
        unreachable=_INTERACTIVE,
    ),
    event_rule(
        "FileChanged",
        Field(name="file_path", kind="path"),
        Field(name="event", kind=WORD, choices=("change", "add", "unlink")),
        says="FileChanged cannot be refused",
        recorded=False,
        target="file_path",
        env_file=True,
        unreachable="the simulation does not watch files for the host",
    ),
    event_rule(
        "WorktreeRemove",
        Field(name="worktree_path", kind="path"),
        says="WorktreeRemove ignores what a hook says",
        recorded=False,
        unreachable="a simulated session leaves its worktree in place",
    ),
    event_rule(
        "Elicitation",
        *_SERVER,
        Field(name="mode", kind=WORD, optional=True, choices=("form", "url")),
        Field(name="url", optional=True),
        Field(name="requested_schema", kind="object", optional=True),
        says="a refusal on Elicitation declines it",
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
        says="a refusal on ElicitationResult turns the answer into a decline",
        turn=True,
        recorded=False,
        power=Power.REFUSES,
        target="mcp_server_name",
        unreachable=_NO_DIALOGUE,
    ),
)
