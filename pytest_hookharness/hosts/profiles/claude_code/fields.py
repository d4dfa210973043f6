"""
The fields of Claude Code 2.1.329's events, the answers that it accepts, and the events that never occur.

The order of the keys is the host's own. The events in ``UNREACHED`` do not occur in a simulated session; they
are listed because hooks for them can still be tried with a payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.replies import AnswerRules, Halting, Merging, ReasonChoice, VerdictPath
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload, Ruling

_TOP: Mapping[str, type] = {
    "continue": bool,
    "suppressOutput": bool,
    "stopReason": str,
    "reason": str,
    "systemMessage": str,
    "hookSpecificOutput": Mapping,
}
_SPECIFIC: Mapping[str, type] = {
    "permissionDecisionReason": str,
    "updatedInput": Mapping,
    "additionalContext": str,
}
_OWN = "hookSpecificOutput"
_PERMISSIONS: Mapping[str | bool, Ruling] = {
    ruling.value: ruling for ruling in (Ruling.ALLOW, Ruling.DENY, Ruling.ASK, Ruling.DEFER)
}
_DECISIONS: Mapping[str | bool, Ruling] = {"approve": Ruling.ALLOW, "block": Ruling.DENY}


def check(event: str, answer: Payload) -> str | None:
    """Return why the host rejects an answer; ``None`` if it accepts it."""
    wrong = _mistyped(answer, _TOP)
    if wrong:
        return wrong
    decision = answer.get("decision")
    # Compared one by one, because a value that is an object or a list has no hash.
    if "decision" in answer and decision not in [*_DECISIONS]:
        return f"'decision' is {decision!r}; the host knows {', '.join(map(str, _DECISIONS))}"
    specific = answer.get(_OWN)
    return _check_specific(event, specific) if isinstance(specific, Mapping) else None


def _check_specific(event: str, specific: Mapping[str, Json]) -> str | None:
    name = specific.get("hookEventName")
    if name is None:
        return "'hookSpecificOutput' has no 'hookEventName'"
    if name != event:
        return f"'hookEventName' is {name!r}, but the event is {event}"
    permission = specific.get("permissionDecision")
    if "permissionDecision" in specific and permission not in [*_PERMISSIONS]:
        return f"'permissionDecision' is {permission!r}; the host knows {', '.join(map(str, _PERMISSIONS))}"
    return _mistyped(specific, _SPECIFIC)


def _mistyped(answer: Payload, table: Mapping[str, type]) -> str | None:
    for key, kind in table.items():
        if key in answer and not isinstance(answer[key], kind):
            return f"{key!r} is {answer[key]!r}, which has the wrong type"
    return None


ANSWERS = AnswerRules(
    starts="{",
    check=check,
    known=frozenset({*_TOP, "decision", "async", "asyncTimeout", "terminalSequence", "ok", "impossible"}),
    verdicts=(
        VerdictPath(
            path=(_OWN, "permissionDecision"),
            reason=(_OWN, "permissionDecisionReason"),
            rulings=_PERMISSIONS,
            roles=(Role.BEFORE_TOOL,),
        ),
        # Prompt and agent handlers answer with `ok`; a command that prints it says nothing.
        VerdictPath(path=("ok",), rulings={False: Ruling.DENY}, command=False),
        VerdictPath(path=("decision",), rulings=_DECISIONS),
    ),
    grant=(_OWN, "decision"),
    halting=Halting.AFTER_CALL,
    context=((_OWN, "additionalContext"),),
    changed_input=((_OWN, "updatedInput"),),
    changed_output=((_OWN, "updatedToolOutput"),),
    person=(("systemMessage",),),
)

_RECORDED = "Claude Code 2.1.329, headless, recorded standard input"
FACTS = FactSources(
    documents="Claude Code hooks reference, 2026-08",
    measurement="Claude Code 2.1.329, headless, measured",
    choice="not recorded; chosen for the simulation",
    host="claude-code",
)

_SESSION = (
    Field(name="session_id", kind="uuid"),
    Field(name="transcript_path", kind="path"),
    Field(name="cwd", kind="folder"),
)
_PROMPT_ID = Field(name="prompt_id", kind="uuid", optional=True)
MODES = ("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions")
_MODE = Field(name="permission_mode", kind="word", choices=MODES)
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
MERGED = Merging(in_finish_order=True)
# If several hooks refuse a call, only the last refusal in time reaches the model.
MERGED_FOR_TOOL = Merging(
    in_finish_order=True, reasons=ReasonChoice.LAST, joins_contexts=True, several="last finished"
)


def _fields(
    event: str, middle: tuple[Field, ...], extra: tuple[Field, ...], *, recorded: bool
) -> EventFields:
    text = f"{event} hooks get these keys, in this order"
    unordered = f"{FACTS.documents}; the order of the keys is assumed"
    rule = FACTS.observed(text, _RECORDED) if recorded else FACTS.documented(text, unordered)
    return EventFields(event=event, fields=(*_SESSION, _PROMPT_ID, *middle, _EVENT, *extra), rule=rule)


def event_rule(
    event: str,
    *extra: Field,
    fact: str,
    turn: bool = False,
    of_subagent: bool = False,
    recorded: bool = True,
    assumed: str = "",
    observed: bool = False,
    **own: Unpack[EventOptions],
) -> EventRule:
    """Return an event: the keys that all events have, its own keys after them, and the facts about it."""
    # Events of a turn have the permission mode, and the subagent that caused them if one did.
    agent = _OF_SUBAGENT if of_subagent else _IN_SUBAGENT if turn else ()
    middle = (_MODE, *agent) if turn else agent
    options: EventOptions = {"merging": MERGED, "timeout": 600.0, **own}
    return EventRule(
        fields=_fields(event, middle, extra, recorded=recorded and "unreachable" not in own),
        rule=FACTS.observed(fact) if observed else FACTS.documented(fact),
        rests_on=(FACTS.assumed(assumed),) if assumed else (),
        **options,
    )


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
        target="tool_name",
        unreachable="the simulation has no classifier that denies calls",
    ),
    event_rule(
        "Notification",
        Field(name="message"),
        Field(name="title", optional=True),
        Field(name="notification_type", kind=WORD, choices=_MESSAGE_KINDS),
        fact="Notification ignores the output of hooks",
        target="notification_type",
        unreachable=_INTERACTIVE,
    ),
    event_rule(
        "TeammateIdle",
        Field(name="teammate_name", kind=WORD),
        Field(name="team_name", kind=WORD),
        fact="exit code 2 on TeammateIdle keeps the teammate working",
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
        power=Power.REFUSES,
        target="source",
        unreachable="the simulation applies changed settings without this event",
    ),
    event_rule(
        "DirectoryAdded",
        Field(name="directory", kind="folder"),
        Field(name="source", kind=WORD),
        fact="DirectoryAdded ignores the output of hooks",
        target="source",
        unreachable=_INTERACTIVE,
    ),
    event_rule(
        "FileChanged",
        Field(name="file_path", kind="path"),
        Field(name="event", kind=WORD, choices=("change", "add", "unlink")),
        fact="FileChanged cannot be refused",
        target="file_path",
        env_file=True,
        unreachable="the simulation does not watch files for the host",
    ),
    event_rule(
        "WorktreeRemove",
        Field(name="worktree_path", kind="path"),
        fact="WorktreeRemove ignores the output of hooks",
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
        power=Power.REFUSES,
        target="mcp_server_name",
        unreachable=_NO_DIALOGUE,
    ),
)
