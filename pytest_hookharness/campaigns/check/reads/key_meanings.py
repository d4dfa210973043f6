"""
Reads of the input, the names that scripts use for the values that hosts send, and keys with equal meaning.

Each group of names stands for one value. If a host sends several keys of a group at an event, the first one
is meant. Some names stand for a value only at events of some kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import STOPS
from pytest_hookharness.model.fast_dataclass import dataclass

TOOL_ROLES = frozenset(
    [hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION, hosts.Role.AFTER_TOOL, hosts.Role.TOOL_FAILED]
)
_SUBAGENTS = frozenset([hosts.Role.SUBAGENT_START, hosts.Role.SUBAGENT_STOP])
_TASKS = frozenset([hosts.Role.TASK_CREATED, hosts.Role.TASK_COMPLETED])
# What a tool answered has another name at each host.
_RESULTS = ("tool_response", "tool_output", "tool_result", "toolResult")
_OF_RESULTS = frozenset([*_RESULTS, "toolResponse", "toolOutput", "result", "output", "response"])
# The name of the event, in the words of any host.
EVENT_NAMES = frozenset(
    ["hook_event_name", "hookEventName", "hook_event", "hookEvent", "hook_name", "hookName", "event"]
) | {"event_name", "eventName", "event_type", "eventType"}
# What stands in the input of tools, in the words of any host.
FILE_KEYS = frozenset(
    ["file_path", "filePath", "path", "filename", "file", "target_file", "absolute_path"]
) | {"TargetFile", "AbsolutePath", "filepath", "file_name", "fileName"}
# Words for the same thing, and the keys with which hosts send it, the first one that a host has counts.
_MEANINGS: Sequence[tuple[frozenset[str], Sequence[str]]] = (
    (_OF_RESULTS, _RESULTS),
    (
        frozenset(["toolInput", "toolinput", "toolArgs", "tool_args", "args", "arguments"]),
        ("tool_input", "toolArgs"),
    ),
    (frozenset(["toolName", "toolname", "tool"]), ("tool_name", "toolName")),
    (
        frozenset(["transcript", "messages", "conversation", "conversation_history", "conversationHistory"])
        | {"history", "chat_history", "session_messages", "transcriptPath"},
        ("transcript_path", "transcriptPath"),
    ),
    (
        frozenset(["usage", "token_usage", "tokenUsage", "tokens", "tokens_used", "total_tokens", "cost"])
        | {"context_window", "contextWindow", "context_usage", "total_cost", "total_cost_usd", "tool_uses"},
        ("agent_transcript_path", "transcript_path"),
    ),
    (
        frozenset(["error_message", "errorMessage", "error_msg", "failure_reason"]),
        ("error_message", "error_details", "error"),
    ),
    (
        frozenset(["error_type", "errorType", "error_message", "errorMessage", "error_code", "error_msg"])
        | {"failure", "failure_reason", "exception", "error"},
        ("error", "error_message"),
    ),
    (EVENT_NAMES, ("hook_event_name", "event_type")),
    (FILE_KEYS, ("file_path",)),
)
# The same, at events of some kinds only.
_AT_ROLES: Sequence[tuple[frozenset[hosts.Role], frozenset[str], Sequence[str]]] = (
    (
        _SUBAGENTS,
        frozenset(["agentType", "subagent_type", "subagentType", "agent_name", "agentName", "subagent_name"])
        | {"agent", "subagent", "tool_input", "agent_type"},
        ("agent_type", "agentType", "agent_name", "agentName", "subagent_type"),
    ),
    (_TASKS, frozenset(["description", "taskDescription", "task_desc"]), ("task_description",)),
    (
        _TASKS,
        frozenset(["title", "task_title", "taskTitle", "task", "task_name", "subject", "taskSubject"])
        | {"tool_input", "description"},
        ("task_subject",),
    ),
    (
        frozenset([hosts.Role.SESSION_END]),
        frozenset(["status", "stop_reason", "stopReason", "exit_reason", "exitReason", "end_reason"])
        | {"endReason", "termination_reason"},
        ("reason",),
    ),
    (
        frozenset([hosts.Role.PROMPT]),
        frozenset(["user_prompt", "userPrompt", "message", "user_message", "userMessage", "input", "text"])
        | {"query", "user_input", "userInput", "prompt_text", "content", "tool_input"},
        ("prompt", "message"),
    ),
    (
        STOPS,
        frozenset(
            ["response", "message", "output", "result", "text", "content", "summary", "answer", "reply"]
        )
        | {"last_message", "lastMessage", "assistant_message", "assistantMessage", "assistant_response"}
        | {"final_message", "finalMessage", "final_response", "final_output", "last_response", "agent_output"}
        | {"subagent_output", "agent_response", "model_response", "assistant_text", "tool_response"},
        ("last_assistant_message", "prompt_response"),
    ),
    (
        TOOL_ROLES,
        frozenset(["file_path", "filePath", "path", "file", "filename", "command", "cmd", "content"]),
        ("tool_input", "toolArgs"),
    ),
)


def meanings(role: hosts.Role | None) -> Iterator[tuple[frozenset[str], Sequence[str]]]:
    """Yield the words for each value at events of a kind, with the keys under which hosts send it."""
    for roles, words, sent in _AT_ROLES:
        if role in roles:
            yield words, sent
    yield from _MEANINGS


# The keys that lead to a value of the input, from the top.
KeyPath: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyRead:
    """
    One value that a script takes from its input.

    Attributes:
        paths: Where it looks for the value, each of them in the place of the others.
        name: The variable that gets the value; empty if there is none, or if that is unknown.
        line: Its line in the script, from 1; 0 if that is unknown.
    """

    paths: frozenset[KeyPath]
    name: str = ""
    line: int = 0


def join_reads(reads: Iterable[KeyRead]) -> Iterator[frozenset[KeyPath]]:
    """Yield the paths of each value: reads into one variable belong together, as fallbacks."""
    named: dict[str, frozenset[KeyPath]] = {}
    alone: list[frozenset[KeyPath]] = []
    for read in reads:
        if read.name:
            named[read.name] = named.get(read.name, frozenset()) | read.paths
        else:
            alone.append(read.paths)
    found = {paths: None for paths in (*named.values(), *alone) if paths}
    # What a function returns may be part of a larger expression.
    yield from (paths for paths in found if not any(paths < other for other in found))
