"""
This module is concerned with the words in which the events of Claude Code 2.1.329 are written down.

Middle floor: hosts. The order of the keys is the host's own.
"""

from __future__ import annotations

from pytest_hookharness.hosts.events import EventRule, Power
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.rules.merging import Merging, Words
from pytest_hookharness.model.protocol import Basis, EventFields, Field, Rule

RECORDED = "Claude Code 2.1.329, headless, recorded standard input"
REFERENCE = "Claude Code hooks reference, 2026-08"
CHOSEN = "not recorded; chosen for the simulation"

_SESSION = (
    Field(name="session_id", kind="uuid"),
    Field(name="transcript_path", kind="path"),
    Field(name="cwd", kind="folder"),
)
_PROMPT_ID = Field(name="prompt_id", kind="uuid", optional=True)
_MODE = Field(
    name="permission_mode",
    kind="word",
    choices=("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"),
)
_EVENT = Field(name="hook_event_name", kind="event")
_IN_SUBAGENT = (
    Field(name="agent_id", kind="word", optional=True),
    Field(name="agent_type", kind="word", optional=True, choices=("general-purpose",)),
)
_OF_SUBAGENT = (
    Field(name="agent_id", kind="word"),
    Field(name="agent_type", kind="word", choices=("general-purpose", "Explore", "Plan")),
)
TOOL = Field(name="tool_name", kind="tool", choices=("Bash", "Write", "Edit", "Read"))
INPUT = Field(name="tool_input", kind="input")
USE = Field(name="tool_use_id", kind="word")
DURATION = Field(name="duration_ms", kind="count")
STOPPING = (
    Field(name="stop_hook_active", kind="flag"),
    Field(name="last_assistant_message"),
    Field(name="background_tasks", kind="list"),
    Field(name="session_crons", kind="list"),
)
WORD = "word"
MERGED = Merging(as_ended=True)
MERGED_FOR_TOOL = Merging(as_ended=True, words=Words.LAST, several="last finished")


def _fields(event: str, extra: tuple[Field, ...], *, turn: bool, recorded: bool) -> EventFields:
    # Events of a turn carry the permission mode, and say so if a subagent caused them.
    middle = (_MODE, *_IN_SUBAGENT) if turn else ()
    basis = Basis.OBSERVED if recorded else Basis.DOCUMENTED
    rule = Rule(
        f"{event} hooks get these keys, in this order",
        basis,
        RECORDED if recorded else f"{REFERENCE}; the order of the keys is assumed",
    )
    return EventFields(event=event, fields=(*_SESSION, _PROMPT_ID, *middle, _EVENT, *extra), rule=rule)


def event_rule(
    event: str,
    *extra: Field,
    says: str,
    turn: bool = False,
    recorded: bool = True,
    role: Role = Role.OTHER,
    power: Power = Power.NOTHING,
    target: str = "",
    plain: bool = False,
    context: bool = False,
    continues: bool = False,
    timeout: float = 600.0,
    shared: bool = False,
    env_file: bool = False,
    ignores: tuple[str, ...] = (),
    merging: Merging = MERGED,
    assumed: str = "",
    unreachable: str = "",
    observed: bool = False,
) -> EventRule:
    """
    An event: its own keys after those that all events have, and what is known about it.
    """
    source = "Claude Code 2.1.329, headless, measured" if observed else REFERENCE
    return EventRule(
        fields=_fields(event, extra, turn=turn, recorded=recorded),
        role=role,
        power=power,
        merging=merging,
        target=target,
        plain=plain,
        context=context,
        context_continues=continues,
        timeout=timeout,
        shared=shared,
        env_file=env_file,
        ignores=ignores,
        unreachable=unreachable,
        rule=Rule(says, Basis.OBSERVED if observed else Basis.DOCUMENTED, source),
        rests_on=(Rule(assumed, Basis.ASSUMED, CHOSEN),) if assumed else (),
    )


def subagent_fields(event: str, extra: tuple[Field, ...], *, turn: bool) -> EventFields:
    """
    The keys of an event that always names its subagent.
    """
    middle = (_MODE, *_OF_SUBAGENT) if turn else _OF_SUBAGENT
    rule = Rule(f"{event} hooks get these keys, in this order", Basis.OBSERVED, RECORDED)
    return EventFields(event=event, fields=(*_SESSION, _PROMPT_ID, *middle, _EVENT, *extra), rule=rule)
