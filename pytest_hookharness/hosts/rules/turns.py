"""The rules of turns: the role of each event, their order in a session, and the host's limits on a turn."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import field

from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Rule


class Role(enum.Enum):
    """
    When in a session an event occurs, independent of the name that a host gives it.

    The session simulation knows events only by their roles.
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
    TASK_CREATED = "task created"
    TASK_COMPLETED = "task completed"
    FOLDER_CHANGED = "current folder changed"
    SUBAGENT_START = "subagent start"
    SUBAGENT_STOP = "subagent stop"
    STOP = "stop"
    BEFORE_COMPACT = "before compaction"
    AFTER_COMPACT = "after compaction"
    SESSION_END = "session end"
    BEFORE_MODEL = "before a request to the model"
    TOOL_CHOICE = "choice of tools for a request"
    AFTER_MODEL = "after a response of the model"
    NOTIFICATION = "notification of the user"
    OTHER = "other"


# Events on which a hook can end what runs, with ``continue: false``.
HALTING = frozenset(
    {
        Role.EXPANSION,
        Role.PROMPT,
        Role.BEFORE_TOOL,
        Role.PERMISSION,
        Role.AFTER_TOOL,
        Role.TOOL_FAILED,
        Role.AFTER_BATCH,
        Role.TASK_CREATED,
        Role.TASK_COMPLETED,
        Role.SUBAGENT_STOP,
        Role.STOP,
        Role.BEFORE_COMPACT,
        Role.BEFORE_MODEL,
        Role.TOOL_CHOICE,
        Role.AFTER_MODEL,
    }
)

# Event names that most hosts share. A scenario can use them on a host with another name for the event.
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
    """What resets the count of refusals in a row."""

    NOTHING = "only the next prompt"
    CALLS_DONE = "a tool call that is carried out"
    CALLS_TRIED = "any tool call"


class AtCap(enum.Enum):
    """What the host does at the cap."""

    OVERRIDES = "the host overrides the refusal"
    ERRS = "the host ends the run with an error"
    ASKS_NO_MORE = "the host runs the stop hooks no more"


class FlagUse(enum.Enum):
    """When ``stop_hook_active`` is set: the agent continues because a stop hook refused."""

    STAYS = "after the first refusal, until the next prompt"
    RESET_BY_CALLS = "after a refusal, until a tool call"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapRules:
    """
    The cap: the host's own limit on refusals of a stop.

    Attributes:
        cap: How many refusals in a row the host honours; ``None`` if it has no cap.
        overrides_at_cap: Whether the host already overrides refusal number ``cap``; otherwise it
            overrides the one after it.
        below_one: The cap in place of one below 1; ``None`` if such a cap turns the limit off.
        most: The largest cap; a larger one is lowered to it.
        variable: The environment variable that sets the cap.
        setting: Where the settings set the cap.
        option: The option that sets the cap.
        per_hook: The key with which a handler sets the cap for itself, ``null`` for none; empty for no key.
        message: What the host prints at the cap; a template over ``count``, ``limit`` and ``reason``.
        status: The host's own word for a run that ended at the cap.
        flag: When ``stop_hook_active`` is set.
        rules: The facts about the cap: ``cap``, ``cap across refused calls``, ``counted``, ``off`` and
            ``reset`` where they can occur; ``no cap`` for a host without one.
    """

    cap: int | None = None
    overrides_at_cap: bool = False
    below_one: int | None = None
    most: int | None = None
    variable: str = ""
    setting: KeyPath = ()
    option: str = ""
    per_hook: str = ""
    resets: Resets = Resets.NOTHING
    at_cap: AtCap = AtCap.OVERRIDES
    message: str = ""
    status: str = ""
    flag: FlagUse = FlagUse.STAYS
    rules: Mapping[str, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRules:
    """
    The host's limit on an agent's moves in one turn.

    Attributes:
        most: The number of moves. If the last of them is a stop, its hooks do not run.
        option: The option that sets the limit.
        status: The host's own word for a run that ended at the limit.
        stopped: The same if the last move was a stop; empty for the same word.
    """

    most: int
    option: str = ""
    status: str = ""
    stopped: str = ""
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckRules:
    """
    How the host detects an agent that repeats itself.

    Attributes:
        detect: Returns why the newest moves are a repetition; empty if they are none. Each move is a kind
            (``call``; ``failed``, a call that gave only an error; ``stop``) and a digest of the move and
            its result.
        before_call: Whether a call is examined when the model asks for it, without a result; the call that
            completes a repetition is then not made.
        warning: What the agent reads in place of the result at the first repetition of a turn, which then
            ends at the second one; a template over ``name`` and ``input`` of the call. Empty for no warning.
        remembered: How many moves are examined.
        option: The option that turns the detection off with ``false``.
        status: The host's own word for a run that ended so.
    """

    detect: Callable[[tuple[tuple[str, str], ...]], str]
    before_call: bool = False
    warning: str = ""
    remembered: int = 20
    option: str = ""
    status: str = "stuck"
    rule: Rule


class AskEffect(enum.Enum):
    """The effect of *ask* before a tool if no person is there to ask."""

    REFUSED = "the call is refused"
    CALL_MADE = "the call is made"
    WAITS = "the host waits forever"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRefusal:
    """
    Calls that the host itself refuses in some permission modes, without a person to ask.

    The model gets a text instead of a result, by tool. The hooks before the call run if it comes
    ``after_hooks``;
    those after it never do.
    """

    modes: tuple[str, ...]
    texts: Mapping[str, str]
    after_hooks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """
    Which events occur in a turn, and in which order.

    Attributes:
        starts_with_prompt: Whether session start occurs with the first prompt. A session without a prompt
            then has no session end either.
        refused_prompt_stops: Whether a refused prompt leads to the stop at once. A refusal of this stop
            sends the prompt after all.
        refusal_prompts: Whether prompt hooks also run for the reason of a refused stop.
        expanded_prompt: Whether prompt hooks get an expanded prompt with the texts of expansion hooks.
        expands_accepted: Whether a prompt that names a command is expanded after its prompt hooks have
            accepted it; otherwise before they run.
        asks_after_calls: Whether prompt hooks also run after each tool result, with an empty prompt.
        subagent_prompts: Whether prompt hooks also run for the prompt of a subagent.
        pieces: Whether hooks for a text of the agent also run before it is complete.
        own_instructions: The host's own instruction file, loaded after those of the project, and with them
            before the start; a template over ``home``. Empty if all are loaded after the start.
        after_start: Roles of events right after session start.
        before_request: Roles of events before each request to the model.
        after_request: Roles of events after each response of the model.
        together: Whether the hooks run for all calls of a move before the first call is made.
        batches_refused: Whether refused calls are among those of the event after all calls of a move.
        finishing: Tools whose call is a stop, with the key of its text.
        refused_by_mode: Calls that permission modes refuse, unless the settings allow them.
        unasked_modes: Permission modes in which no permission hook runs.
        edits_mode: The permission mode in which edits need no permission; empty for none.
        edit_commands: Commands of the shell that need none either in that mode.
        mode: The permission mode of a session; the option ``permission_mode`` can set another one.
        end_reason: The reason of a session end for which the script names none.
        rules: The facts about turns that no event states.
    """

    starts_with_prompt: bool = False
    refused_prompt_stops: bool = False
    refusal_prompts: bool = False
    expanded_prompt: bool = False
    expands_accepted: bool = False
    asks_after_calls: bool = False
    subagent_prompts: bool = False
    pieces: bool = False
    own_instructions: str = ""
    after_start: tuple[Role, ...] = ()
    before_request: tuple[Role, ...] = ()
    after_request: tuple[Role, ...] = ()
    together: bool = False
    batches_refused: bool = False
    finishing: Mapping[str, str] = field(default_factory=dict)
    ask_effect: AskEffect = AskEffect.REFUSED
    refused_by_mode: tuple[ModeRefusal, ...] = ()
    unasked_modes: tuple[str, ...] = ()
    edits_mode: str = ""
    edit_commands: tuple[str, ...] = ()
    mode: str = "default"
    end_reason: str = "other"
    rules: Mapping[str, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRule:
    """
    An option of the host's command line.

    Attributes:
        default: Its value if it is not given. A given value must have the same type.
        choices: The values that the host knows; empty for any.
        ignored: Why it has no effect although the host accepts it; empty if it has one.
    """

    default: bool | int | float | str
    choices: tuple[str, ...] = ()
    ignored: str = ""
    rule: Rule
