"""
The rules of turns: what is asked when, and what ends one.

The rules of guards: a host's own nets against endless turns.

Roles: what an event is for, whatever a host calls it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.model.protocol import Rule


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


class Resets(enum.Enum):
    """
    What begins the count of refusals in a row again.
    """

    NOTHING = "nothing but the next prompt"
    CALLS_DONE = "a tool call that is carried out"
    CALLS_TRIED = "any tool call"


class AtCap(enum.Enum):
    """
    What the host does at the cap.
    """

    OVERRIDES = "it sets the refusal aside"
    ERRS = "it ends the run with an error"
    ASKS_NO_MORE = "it asks the hooks of a stop no more"


class FlagUse(enum.Enum):
    """
    When hooks of a stop are told that the agent goes on because of one.
    """

    STAYS = "after the first refusal, until the next prompt"
    RESET_BY_CALLS = "after a refusal, until a tool call"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapRules:
    """
    The host's own net against endless refusals of a stop.

    Attributes:
        cap: Which refusals in a row it honours: this many; ``None`` if it has no net.
        on: Whether the refusal of this number is the one that is set aside; otherwise the one after it.
        low: What a cap below one acts as; ``None`` if it switches the net off.
        most: What a larger cap acts as.
        variable: The variable of its environment that sets the cap.
        setting: Where the cap stands in the settings.
        option: The option that sets it.
        per_hook: The key of a handler that sets the cap for it, ``null`` for none; empty for no such key.
        resets: What begins the count again.
        then: What happens at the cap.
        words: What the host says at the cap; a template over ``count``, ``limit`` and ``reason``.
        status: The host's own word for a run that ended so.
        flag: When the flag of a stop is set.
        rules: Where this is known from: ``cap``, ``cap across refused calls``, ``counted``, ``off``,
            ``reset``, as far as they can be; ``no cap`` for a host without a net.
    """

    cap: int | None = None
    on: bool = False
    low: int | None = None
    most: int | None = None
    variable: str = ""
    setting: KeyPath = ()
    option: str = ""
    per_hook: str = ""
    resets: Resets = Resets.NOTHING
    then: AtCap = AtCap.OVERRIDES
    words: str = ""
    status: str = ""
    flag: FlagUse = FlagUse.STAYS
    rules: Mapping[str, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRules:
    """
    How many moves the host lets an agent make in one turn.

    Attributes:
        most: How many; a stop that is the last of them asks no hooks.
        option: The option that sets it.
        status: The host's own word for a run that ended so.
        stopped: The same if the last move was a stop; empty for no other word.
        rule: Where this is known from.
    """

    most: int
    option: str = ""
    status: str = ""
    stopped: str = ""
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckRules:
    """
    How the host sees that an agent goes round in circles.

    Attributes:
        look: Why the newest moves are taken for a circle, empty if they are not. Each is a kind (``call``,
            ``failed``: one that gave nothing but an error, ``stop``) and a digest of what was done and what
            came of it.
        remembered: How many moves are looked at.
        option: The option that switches it off with ``false``.
        status: The host's own word for a run that ended so.
        rule: Where this is known from.
    """

    look: Callable[[tuple[tuple[str, str], ...]], str]
    remembered: int = 20
    option: str = ""
    status: str = "stuck"
    rule: Rule


class Asking(enum.Enum):
    """
    What an *ask* before a tool does without a person to ask.
    """

    REFUSED = "the call is refused"
    LETS = "the call is made"
    WAITS = "the host waits for ever"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """
    How a session goes from event to event.

    Attributes:
        starts_with_prompt: Whether the session starts, for its hooks, with the first prompt; without one
            there is no end for them either.
        refused_prompt_stops: Whether a refused prompt goes straight to the stop, whose refusal sends it.
        refusal_prompts: Whether the words of a refused stop are asked about like a prompt.
        asks_after_calls: Whether the hooks of a prompt are asked after each tool result, with an empty one.
        subagent_prompts: Whether they are asked about the prompt of a subagent.
        after_start: Roles that are asked once the session has started.
        before_request: Roles that are asked each time before the model is.
        after_request: Roles that are asked each time after the model has answered.
        together: Whether all calls of a move are asked about before the first is made.
        finishing: Tools whose call is a stop, with the key of its text.
        asking: What *ask* does.
        unasked_modes: Permission modes in which no hook is asked for a permission.
        edits_mode: The mode in which edits need no permission; empty for none.
        mode: The permission mode of a session; an option ``permission_mode`` can set another.
        end_reason: The reason of an end that the script does not name.
        rules: Where this is known from, as far as it is not said with an event.
    """

    starts_with_prompt: bool = False
    refused_prompt_stops: bool = False
    refusal_prompts: bool = False
    asks_after_calls: bool = False
    subagent_prompts: bool = False
    after_start: tuple[Role, ...] = ()
    before_request: tuple[Role, ...] = ()
    after_request: tuple[Role, ...] = ()
    together: bool = False
    finishing: Mapping[str, str] = field(default_factory=dict)
    asking: Asking = Asking.REFUSED
    unasked_modes: tuple[str, ...] = ()
    edits_mode: str = ""
    mode: str = "default"
    end_reason: str = "other"
    rules: Mapping[str, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRule:
    """
    An option with which the host can be started.

    Attributes:
        default: Its value if it is not given; a given one must be of the same kind.
        ignored: Why it has no effect although the host takes it; empty if it has one.
        rule: Where this is known from.
    """

    default: bool | int | float | str
    ignored: str = ""
    rule: Rule
