"""
This module is concerned with what a host profile is made of.

Middle floor: hosts. A host is a value of these types. How it reads replies, how it runs processes and
how it counts refusals are three separate parts, because most hosts differ from another in only one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_hookharness.hosts.events import EventRule, Role
from pytest_hookharness.hosts.tasklist import TaskItem, TaskStep
from pytest_hookharness.model.moves import Edit, Performance, Read, Run, ToolCall, ToolResult
from pytest_hookharness.model.processes import KillPolicy, Stdio
from pytest_hookharness.model.protocol import Json, Payload, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class MatcherRules:
    """
    How a matcher is compared with its target.

    Attributes:
        everything: Matchers that match all, beside none.
        plain: A matcher made only of these characters (a regular expression for all of it) is a
            list of exact names; any other is a regular expression.
        separators: What separates the names of such a list.
        anchored: Whether a regular expression must match the whole target.
        rule: Where this is known from.
    """

    everything: tuple[str, ...] = ("", "*")
    plain: str = r"[\w\- ,|]*"
    separators: str = r"[|,]"
    anchored: bool = False
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRules:
    """
    How hooks are configured.

    Attributes:
        paths: Settings files by state path, in ascending precedence.
        plugin_path: The file of a plugin, relative to its folder.
        types: Kinds of handlers, with the key that says what each runs.
        one_bad_voids_file: Whether a malformed entry turns off all hooks of its file.
        deduplicates: Whether the same handler runs once however often it matches.
        rules: Where this is known from.
    """

    paths: tuple[str, ...]
    plugin_path: str
    types: Mapping[str, str]
    one_bad_voids_file: bool
    deduplicates: bool
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRules:
    """
    How the host reads what a hook said.

    Attributes:
        refusing_code: The exit code that refuses.
        not_run_codes: Exit codes by which a shell says that it could not run the command.
        json_codes: Exit codes at which an answer in JSON is read; ``None`` for all.
        refusing_words: Values of ``decision`` that refuse.
        allowing_words: Values of ``decision`` that allow.
        permissions: Values of ``permissionDecision``.
        no_reason: What stands in for a reason that was not given.
        no_error_text: What stands in for an empty standard error.
        text_limit: Most characters of one text.
        rules: Where this is known from.
    """

    refusing_code: int = 2
    not_run_codes: tuple[int, ...] = (126, 127)
    json_codes: tuple[int, ...] | None = None
    refusing_words: tuple[str, ...] = ("block",)
    allowing_words: tuple[str, ...] = ("approve",)
    permissions: tuple[str, ...] = ("allow", "deny", "ask", "defer")
    no_reason: str = "Blocked by hook"
    no_error_text: str = "No stderr output"
    text_limit: int = 10_000
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """
    The words in which the agent's model is told; ``str.format`` templates.

    Attributes:
        label: How an event is called where it has a target.
        refusal: What a refused tool call gives.
        feedback: A refused stop.
        blocked: The notice that goes before it, or stands for it where nothing is held up.
        context: A text that a hook adds.
        denied: A refused permission for which no reason was given.
    """

    label: str
    refusal: str
    feedback: str
    blocked: str
    context: str
    denied: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRules:
    """
    How the host runs a hook.

    Attributes:
        shell: What a command line is given to.
        stdio: What the standard streams are.
        newline: Whether a newline follows the JSON.
        own_session: Whether the host starts it in a session of its own.
        pipe_wait: How long output is waited for once the process has ended.
        kill: How a hook that takes too long is ended.
        env: Variables that the host adds; ``str.format`` templates over the facts.
        env_file: The file for variables of later commands; a template like those.
        plugin_env: Further variables for the hooks of a plugin; templates like those.
        shared_limit: The variable that sets a shared budget in milliseconds.
        shared_most: Most seconds that a shared budget is raised to.
        rules: Where this is known from.
    """

    shell: tuple[str, ...] = ("/bin/sh", "-c")
    stdio: Stdio = Stdio.SOCKET
    newline: bool = True
    own_session: bool = True
    pipe_wait: float = 0.5
    kill: KillPolicy = KillPolicy()
    env: Mapping[str, str] = field(default_factory=dict)
    env_file: tuple[str, str] = ("", "")
    plugin_env: Mapping[str, str] = field(default_factory=dict)
    shared_limit: str = ""
    shared_most: float = 60.0
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRules:
    """
    The host's own net against endless refusals of a stop.

    Attributes:
        cap: How many refusals in a row it honours; ``None`` if it has no net.
        variable: The variable of its environment that sets the cap.
        reset_by_tools: Whether a tool call that is carried out begins the count again.
        rules: Where this is known from: ``cap``, ``cap across refused calls``, ``counted``, ``off``,
            ``reset``.
    """

    cap: int | None
    variable: str = ""
    reset_by_tools: bool = False
    rules: Mapping[str, Rule]


Operation: TypeAlias = Run | Edit | Read


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """
    The host's tools.

    Attributes:
        subagent: Name of the tool that starts a subagent.
        gated: Tools that need a permission.
        call: An operation in the host's own terms; the second argument is the workspace.
        operation: The reverse, ``None`` for a tool that the harness cannot perform.
        result: What the host makes of a performance; the last argument is the workspace.
        given: What the host makes of a result that a scenario supplies.
        launched: What the host says of a subagent: input, its number, the facts' folders.
        tasks: What a call does with the host's task list, ``None`` for any other tool; ``None`` for a
            host without such a list.
        keeps_folder: Whether the next command starts where the one before ended.
        put_back: What the agent is told if that was outside of the project; a template over ``folder``.
        rules: Where this is known from.
    """

    subagent: str
    gated: tuple[str, ...]
    call: Callable[[Operation, str], ToolCall]
    operation: Callable[[ToolCall, str], Operation | None]
    result: Callable[[ToolCall, Performance, str], ToolResult]
    given: Callable[[ToolCall, ToolResult], ToolResult]
    launched: Callable[[Payload, Mapping[str, str]], Json]
    tasks: Callable[[ToolCall, tuple[TaskItem, ...]], TaskStep | None] | None = None
    keeps_folder: bool = False
    put_back: str = ""
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRules:
    """
    Where the host writes the conversation.

    Attributes:
        path: A template over ``home``, ``slug`` and ``session``.
        subagent_path: The same for a subagent, over ``agent`` as well.
        rule: Where this is known from.
    """

    path: str
    subagent_path: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRules:
    """
    Commands that a person can give as a prompt.

    Attributes:
        folders: Where their files are, by state path, with what the host calls that source; nearest first.
        suffix: What the name of a file ends with.
        kind: What the host calls such an expansion.
        arguments: The place for arguments in a text.
        appended: What is added where a text has no place for arguments; a template over ``arguments``.
        rules: Where this is known from.
    """

    folders: Mapping[str, str]
    suffix: str
    kind: str
    arguments: str
    appended: str
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRules:
    """
    Sessions that work in a folder of their own.

    Attributes:
        folder: Where the host makes it if no hook does, relative to the project; a template over ``name``.
        branch: The branch of that; a template over ``name``.
        command: How it is made; a template over ``folder`` and ``branch``.
        rules: Where this is known from.
    """

    folder: str
    branch: str
    command: str
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    A host at one version.

    Attributes:
        name: The host.
        version: Its version.
        events: Its events by name.
        matchers: How matchers match.
        config: How hooks are configured.
        replies: How replies are read.
        wording: How the agent is told.
        process: How hooks are run.
        guard: Its net against endless refusals.
        tools: Its tools.
        transcript: Where the conversation is written.
        commands: Commands in prompts; ``None`` if it has none.
        worktrees: Sessions in a folder of their own; ``None`` if it has none.
    """

    name: str
    version: str
    events: Mapping[str, EventRule]
    matchers: MatcherRules
    config: ConfigRules
    replies: ReplyRules
    wording: Wording
    process: ProcessRules
    guard: GuardRules
    tools: ToolRules
    transcript: TranscriptRules
    commands: CommandRules | None = None
    worktrees: WorktreeRules | None = None

    @property
    def id(self) -> str:
        """
        Name and version.
        """
        return f"{self.name}@{self.version}"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        """
        Where the host looks for its settings, by state path.
        """
        return self.config.paths

    def by_role(self, role: Role) -> EventRule | None:
        """
        The event that the host has for a role, if it has one.
        """
        return next((event for event in self.events.values() if event.role is role), None)
