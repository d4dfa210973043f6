"""The events of Qwen Code 0.24.4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_hookharness.hosts.profiles.qwen.answers import (
    AGENT_TYPE,
    ANSWERS,
    BACKGROUND,
    DURATION,
    INPUT,
    LAST,
    OF_CALLS,
    STOPPING,
    TOOL,
    USE,
    WORD,
    event_rule,
)
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.replies import Halting
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import Field

_TODO = (Field(name="todo_id", kind=WORD), Field(name="todo_content"))
_PHASES = (
    Field(name="all_todos", kind="list"),
    Field(name="phase", kind=WORD, choices=("validation", "postWrite")),
)
_NO_TODOS = "the simulation has no to-do list"

_ALL = (
    event_rule(
        "InstructionsLoaded",
        Field(name="file_path", kind="path"),
        Field(name="memory_type", kind=WORD, choices=("project", "user", "local", "extension")),
        Field(name="load_reason", kind=WORD, choices=("session_start",)),
        fact="InstructionsLoaded ignores the output of hooks",
        role=Role.INSTRUCTIONS,
        target="load_reason",
        chosen="InstructionsLoaded occurs before SessionStart, for files of the project and one of the host",
    ),
    event_rule(
        "SessionStart",
        Field(name="source", kind=WORD, choices=("startup", "resume", "clear", "compact")),
        Field(name="model", kind=WORD),
        fact="SessionStart cannot be refused; plain output and additionalContext reach the model",
        role=Role.SESSION_START,
        target="source",
        plain=True,
        context=True,
        measured=True,
    ),
    event_rule(
        "Notification",
        Field(name="message", fixed=("Successfully authenticated with openai",)),
        Field(name="notification_type", kind=WORD, fixed=("auth_success",)),
        Field(name="title", fixed=("Authentication successful",)),
        fact="Notification ignores the output of hooks; a session signs in after its start",
        role=Role.NOTIFICATION,
        target="notification_type",
        exact=True,
        measured=True,
        chosen="only the notification of having signed in occurs",
    ),
    event_rule(
        "PreCompact",
        Field(name="trigger", kind=WORD, choices=("manual", "auto")),
        Field(name="custom_instructions", kind="nothing"),
        fact="PreCompact can add context and prevents nothing",
        recorded=False,
        role=Role.BEFORE_COMPACT,
        target="trigger",
        exact=True,
        context=True,
    ),
    event_rule(
        "PostCompact",
        Field(name="trigger", kind=WORD, choices=("manual", "auto")),
        Field(name="compact_summary"),
        fact="PostCompact ignores refusals",
        recorded=False,
        role=Role.AFTER_COMPACT,
        target="trigger",
    ),
    event_rule(
        "UserPromptExpansion",
        Field(name="command_name", kind=WORD),
        Field(name="command_args"),
        Field(name="prompt", source="expanded"),
        fact="a refusal on UserPromptExpansion stops the expansion",
        role=Role.EXPANSION,
        power=Power.REFUSES,
        target="command_name",
        plain=True,
        context=True,
        chosen=(
            "UserPromptExpansion occurs before UserPromptSubmit, which gets the expanded prompt; on the real "
            "host & is escaped in texts that its hooks add"
        ),
    ),
    event_rule(
        "UserPromptSubmit",
        Field(name="prompt"),
        Field(name="submitted_prompt", source="typed", optional=True),
        fact=(
            "a refusal on UserPromptSubmit stops the request to the model; the event also occurs after "
            "every tool result, with an empty prompt"
        ),
        role=Role.PROMPT,
        power=Power.REFUSES,
        plain=True,
        context=True,
        measured=True,
        chosen="a refusal after a tool result, or of the reason of a refused stop, ends the turn",
    ),
    event_rule(
        "MessageDisplay",
        Field(name="message_id", kind="uuid"),
        Field(name="displayed_text", source="delta"),
        Field(name="is_final", kind="flag", source="final"),
        fact="MessageDisplay ignores the output of hooks, and the host does not wait for them",
        role=Role.MESSAGE,
        waits=False,
        chosen=(
            "MessageDisplay occurs twice for a text, with is_final false and then true; on the real host "
            "also for each 200 ms in which pieces come, and only once if all of it comes within 200 ms; "
            "its hooks get the usual streams, not a file and /dev/null"
        ),
    ),
    event_rule(
        "Stop",
        STOPPING,
        LAST,
        *BACKGROUND,
        Field(name="context_usage", kind="count", fixed=(5e-05,)),
        Field(name="context_limit", kind="count", fixed=(200_000,)),
        Field(name="input_tokens", kind="count", fixed=(10,)),
        fact="a refusal on Stop makes the agent continue, and so does continue: false",
        role=Role.STOP,
        power=Power.REFUSES,
        measured=True,
    ),
    event_rule(
        "PreToolUse",
        TOOL,
        INPUT,
        *USE,
        fact="a refusal on PreToolUse prevents the call; changed input has no effect",
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        merging=OF_CALLS,
        target="tool_name",
        measured=True,
    ),
    event_rule(
        "PostToolUse",
        TOOL,
        INPUT,
        Field(name="tool_response", kind="response"),
        *USE,
        DURATION,
        fact="a refusal on PostToolUse reaches nobody; additionalContext reaches the model",
        answers=replace(ANSWERS, halting=Halting.REPLACES),
        role=Role.AFTER_TOOL,
        target="tool_name",
        context=True,
        measured=True,
    ),
    event_rule(
        "PostToolUseFailure",
        *USE,
        TOOL,
        INPUT,
        Field(name="error"),
        Field(name="is_interrupt", kind="flag"),
        DURATION,
        fact="PostToolUseFailure can add context and refuses nothing",
        role=Role.TOOL_FAILED,
        target="tool_name",
        context=True,
    ),
    event_rule(
        "PostToolBatch",
        Field(name="tool_calls", kind="list", source="own_calls"),
        fact=(
            "PostToolBatch occurs after all calls of a response, also after refused ones; a refusal ends "
            "nothing, and the model gets its reason instead of the last result"
        ),
        answers=replace(ANSWERS, halting=Halting.REPLACES),
        role=Role.AFTER_BATCH,
        power=Power.REPLACES,
        context=True,
        chosen=(
            "PostToolBatch occurs once for a response; on the real host it occurs for each call of it, in "
            "the order in which they end"
        ),
    ),
    event_rule(
        "SubagentStart",
        AGENT_TYPE,
        fact="SubagentStart cannot be refused",
        role=Role.SUBAGENT_START,
        target="agent_type",
        context=True,
    ),
    event_rule(
        "SubagentStop",
        STOPPING,
        AGENT_TYPE,
        Field(name="agent_transcript_path", kind="path"),
        LAST,
        *BACKGROUND,
        fact="a refusal on SubagentStop makes the subagent continue",
        role=Role.SUBAGENT_STOP,
        power=Power.REFUSES,
        target="agent_type",
        measured=True,
    ),
    # These never occur in a simulated session; hooks for them can still be tried with a payload.
    event_rule(
        "SessionEnd",
        Field(name="reason", kind=WORD, choices=("clear", "logout", "prompt_input_exit", "other")),
        fact="SessionEnd cannot be refused; it did not occur in a headless session",
        target="reason",
        measured=True,
        unreachable="it does not occur in a headless session",
    ),
    event_rule(
        "SessionDelete",
        Field(name="deleted_session_id", kind="uuid"),
        fact="SessionDelete ignores the output of hooks",
        waits=False,
        unreachable="it does not occur in a headless session",
    ),
    event_rule(
        "StopFailure",
        Field(name="error", kind=WORD, choices=("rate_limit", "server_error", "loop_detected", "unknown")),
        Field(name="error_details", optional=True),
        LAST,
        fact="StopFailure ignores the output of hooks",
        target="error",
        waits=False,
        unreachable="the scripted agent has no model server that could fail",
    ),
    event_rule(
        "PermissionRequest",
        TOOL,
        INPUT,
        Field(name="permission_suggestions", kind="list", optional=True),
        fact="hookSpecificOutput.decision answers PermissionRequest",
        target="tool_name",
        unreachable="it did not occur in a headless session, in any approval mode",
    ),
    event_rule(
        "PermissionDenied",
        TOOL,
        INPUT,
        fact="PermissionDenied ignores refusals",
        target="tool_name",
        chosen="only the keys about the call are known of the input of PermissionDenied hooks",
        unreachable="it did not occur in a headless session, in any approval mode",
    ),
    event_rule(
        "TodoCreated",
        *_TODO,
        Field(name="todo_status", kind=WORD, choices=("pending", "in_progress", "completed")),
        *_PHASES,
        fact="a refusal on TodoCreated prevents the creation of the item",
        power=Power.REFUSES,
        unreachable=_NO_TODOS,
    ),
    event_rule(
        "TodoCompleted",
        *_TODO,
        Field(name="previous_status", kind=WORD, choices=("pending", "in_progress")),
        *_PHASES,
        fact="a refusal on TodoCompleted keeps the item open",
        power=Power.REFUSES,
        unreachable=_NO_TODOS,
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}
