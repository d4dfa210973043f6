"""The events of Claude Code 2.1.329 that occur in a simulated session."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.profiles.claude_code.fields import (
    DURATION,
    INPUT,
    MERGED_FOR_TOOL,
    STOPPING,
    TOOL,
    UNREACHED,
    USE,
    WORD,
    event_rule,
)
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import Field

_TASK = (
    Field(name="task_id", kind=WORD),
    Field(name="task_subject"),
    Field(name="task_description", optional=True),
    Field(name="teammate_name", kind=WORD, optional=True),
    Field(name="team_name", kind=WORD, optional=True),
)
_TASK_REFUSED = (
    "the call fails with the reason as {event} hook feedback, counts as refused, and the hooks after it "
    "see a failed call"
)

_ALL = (
    event_rule(
        "WorktreeCreate",
        Field(name="name", kind=WORD),
        fact=(
            "if a WorktreeCreate hook fails in any way, no worktree is created; the last line of output is "
            "its folder"
        ),
        role=Role.WORKTREE,
        power=Power.REFUSES,
        assumed=(
            "WorktreeCreate occurs before all other events; if it fails, the session ends without "
            "another event; of several folders, that of the hook that ended last is used; a relative "
            "folder starts in the project; the files that the agent edits are those in the worktree"
        ),
    ),
    event_rule(
        "Setup",
        Field(name="trigger", kind=WORD, choices=("init", "maintenance")),
        fact="Setup cannot be refused; it occurs only if the session is started for it",
        role=Role.SETUP,
        target="trigger",
        context=True,
        env_file=True,
    ),
    event_rule(
        "SessionStart",
        Field(name="source", kind=WORD, choices=("startup", "resume", "clear", "compact", "fork")),
        # Only on a resume.
        Field(name="seconds_since_last_response", kind="count", optional=True),
        Field(name="context_tokens", kind="count", optional=True),
        Field(name="prompt_cache_likely_expired", kind="flag", optional=True),
        Field(name="estimated_cache_write_usd", kind="count", optional=True),
        fact="SessionStart cannot be refused; plain output and additionalContext reach the model",
        role=Role.SESSION_START,
        target="source",
        plain=True,
        context=True,
        env_file=True,
        observed=True,
    ),
    event_rule(
        "InstructionsLoaded",
        Field(name="file_path", kind="path"),
        Field(name="memory_type", kind=WORD, choices=("Project", "User", "Local")),
        Field(name="load_reason", kind=WORD, choices=("session_start",)),
        fact="InstructionsLoaded ignores the output of hooks",
        role=Role.INSTRUCTIONS,
        target="load_reason",
    ),
    event_rule(
        "PreCompact",
        Field(name="trigger", kind=WORD, choices=("manual", "auto")),
        Field(name="custom_instructions", kind="nothing"),
        fact="a refusal on PreCompact prevents the compaction; plain output is added to its instructions",
        role=Role.BEFORE_COMPACT,
        power=Power.REFUSES,
        target="trigger",
        plain=True,
    ),
    event_rule(
        "PostCompact",
        Field(name="trigger", kind=WORD, choices=("manual", "auto")),
        Field(name="compact_summary"),
        fact="PostCompact cannot be refused",
        role=Role.AFTER_COMPACT,
        target="trigger",
        recorded=False,
    ),
    event_rule(
        "SessionEnd",
        Field(
            name="reason",
            kind=WORD,
            choices=("clear", "resume", "logout", "prompt_input_exit", "other"),
        ),
        fact="SessionEnd cannot be refused; all its hooks share 1.5 seconds",
        role=Role.SESSION_END,
        target="reason",
        timeout=1.5,
        shared=True,
        observed=True,
    ),
    event_rule(
        "UserPromptExpansion",
        Field(name="expansion_type", kind=WORD, choices=("slash_command",)),
        Field(name="command_name", kind=WORD),
        Field(name="command_args"),
        Field(name="command_source", kind=WORD, choices=("projectSettings", "userSettings")),
        Field(name="prompt"),
        fact="UserPromptExpansion occurs after an accepted UserPromptSubmit; a refusal stops the expansion",
        turn=True,
        role=Role.EXPANSION,
        power=Power.REFUSES,
        target="command_name",
        plain=True,
        context=True,
        assumed="a refused expansion erases the prompt",
    ),
    event_rule(
        "UserPromptSubmit",
        Field(name="prompt"),
        fact="a refusal on UserPromptSubmit erases the prompt: the model does not get it",
        turn=True,
        role=Role.PROMPT,
        power=Power.REFUSES,
        plain=True,
        context=True,
        timeout=30.0,
        observed=True,
    ),
    event_rule(
        "MessageDisplay",
        Field(name="turn_id", kind="uuid"),
        Field(name="message_id", kind="uuid"),
        Field(name="index", kind="count"),
        Field(name="final", kind="flag"),
        Field(name="delta"),
        fact="MessageDisplay ignores refusals",
        role=Role.MESSAGE,
        timeout=10.0,
    ),
    event_rule(
        "Stop",
        *STOPPING,
        fact="a refusal on Stop makes the agent continue, and so does additionalContext",
        turn=True,
        role=Role.STOP,
        power=Power.REFUSES,
        context=True,
        context_continues=True,
        observed=True,
    ),
    event_rule(
        "PreToolUse",
        TOOL,
        INPUT,
        USE,
        fact="a refusal on PreToolUse prevents the call, and the model gets the reason",
        turn=True,
        role=Role.BEFORE_TOOL,
        merging=MERGED_FOR_TOOL,
        power=Power.REFUSES,
        target="tool_name",
        context=True,
        observed=True,
    ),
    event_rule(
        "PermissionRequest",
        TOOL,
        INPUT,
        Field(name="permission_suggestions", kind="list", optional=True),
        fact="hookSpecificOutput.decision answers PermissionRequest; exit code 2 and continue are ignored",
        turn=True,
        role=Role.PERMISSION,
        ignores=("continue",),
        target="tool_name",
    ),
    event_rule(
        "PostToolUse",
        TOOL,
        INPUT,
        Field(name="tool_response", kind="response"),
        USE,
        DURATION,
        fact="on a refusal on PostToolUse the model gets the reason; nothing is blocked",
        turn=True,
        role=Role.AFTER_TOOL,
        power=Power.INFORMS,
        target="tool_name",
        context=True,
        observed=True,
    ),
    event_rule(
        "PostToolUseFailure",
        TOOL,
        INPUT,
        USE,
        Field(name="error"),
        Field(name="is_interrupt", kind="flag"),
        DURATION,
        fact="on a refusal on PostToolUseFailure the model gets the reason; nothing is blocked",
        turn=True,
        role=Role.TOOL_FAILED,
        ignores=("continue",),
        power=Power.INFORMS,
        target="tool_name",
        context=True,
    ),
    event_rule(
        "PostToolBatch",
        Field(name="tool_calls", kind="list"),
        fact="a refusal on PostToolBatch ends the turn; refused calls are among its calls",
        assumed="PostToolBatch occurs even if all its calls were refused",
        turn=True,
        role=Role.AFTER_BATCH,
        power=Power.REFUSES,
        context=True,
    ),
    event_rule(
        "TaskCreated",
        *_TASK,
        fact="a refusal on TaskCreated prevents the creation of the task",
        role=Role.TASK_CREATED,
        power=Power.REFUSES,
        ignores=("continue",),
        assumed=(
            "a task that TaskCreated hooks refuse leaves no trace, and the next task gets its number; "
            f"{_TASK_REFUSED.format(event='TaskCreated')}"
        ),
    ),
    event_rule(
        "TaskCompleted",
        *_TASK,
        fact="exit code 2 on TaskCompleted keeps the task open",
        role=Role.TASK_COMPLETED,
        power=Power.REFUSES,
        ignores=("decision",),
        assumed=(
            "if TaskCompleted hooks refuse, nothing else that TaskUpdate would change is changed; "
            f"{_TASK_REFUSED.format(event='TaskCompleted')}; continue: false completes the task and ends "
            "the turn"
        ),
    ),
    event_rule(
        "CwdChanged",
        Field(name="old_cwd", kind="folder"),
        Field(name="new_cwd", kind="folder"),
        fact="CwdChanged cannot be refused",
        role=Role.FOLDER_CHANGED,
        env_file=True,
        assumed="CwdChanged occurs before the hooks after the call that changed the folder",
    ),
    event_rule(
        "SubagentStart",
        fact="SubagentStart cannot be refused",
        of_subagent=True,
        role=Role.SUBAGENT_START,
        target="agent_type",
        context=True,
    ),
    event_rule(
        "SubagentStop",
        STOPPING[0],
        Field(name="agent_transcript_path", kind="path"),
        *STOPPING[1:],
        fact="a refusal on SubagentStop makes the subagent continue",
        turn=True,
        of_subagent=True,
        role=Role.SUBAGENT_STOP,
        power=Power.REFUSES,
        target="agent_type",
        context=True,
        context_continues=True,
        observed=True,
    ),
    *UNREACHED,
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}
