"""
This module is concerned with samples: what hooks are told of a call outside of any session.

Middle floor: hosts. Names, inputs and results are the host's own, as in a session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.events import EventRule
from pytest_hookharness.hosts.facts import Facts
from pytest_hookharness.hosts.identifiers import derive_digest
from pytest_hookharness.hosts.profile import Operation, Profile
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.words import fixed_words
from pytest_hookharness.model.moves import Edit, Performance, Read, Run, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json

PLAIN: tuple[Operation, ...] = (
    Run(command="true"),
    Edit(file="file.txt", text="text\n"),
    Edit(file="file.txt", text="text", old="word"),
    Read(file="file.txt"),
)
_OF_TOOLS = frozenset({Role.BEFORE_TOOL, Role.PERMISSION, Role.AFTER_TOOL, Role.TOOL_FAILED})


def sample_words(
    profile: Profile,
    rule: EventRule,
    facts: Facts,
    given: Mapping[str, Json],
    operations: Sequence[Operation] = PLAIN,
) -> Mapping[str, Json]:
    """
    What a session would know of a call, if the event is about one; nothing for any other event.

    Args:
        profile: The host.
        rule: Its event.
        facts: Where its session is.
        given: Values of keys; the call is the first one that fits those that name a tool.
        operations: What the calls are to do.
    """
    if rule.role not in _OF_TOOLS:
        return {}
    fixed = fixed_words(profile, facts)
    named = {
        field.source or field.name: given[field.name]
        for field in rule.fields.fields
        if field.kind == "tool" and field.name in given
    }
    for operation in operations:
        made = profile.tools.call(operation, facts.workspace)
        if rule.tools and made.name not in rule.tools:
            continue
        words = _describe(profile, rule, facts, made, _result(profile, rule, facts, made))
        words |= profile.own_words({**fixed, **words})
        if named.items() <= words.items():
            return words
    name = next(iter((*named.values(), *rule.tools)), "")
    words = _describe(profile, rule, facts, ToolCall(name=str(name), input={}), ToolResult())
    return {**words, **profile.own_words({**fixed, **words}), **named}


def _result(profile: Profile, rule: EventRule, facts: Facts, made: ToolCall) -> ToolResult:
    if rule.role is Role.TOOL_FAILED:
        return profile.tools.result(made, Performance(error="it failed"), facts.workspace)
    return profile.tools.result(made, Performance(exit=0), facts.workspace)


def _describe(
    profile: Profile, rule: EventRule, facts: Facts, made: ToolCall, result: ToolResult
) -> dict[str, Json]:
    tools = profile.tools
    digest = derive_digest(facts.seed, "call", 0)[:22]
    words: dict[str, Json] = {
        "tool_name": made.name,
        "tool_input": tools.seen_as(made),
        "tool_use_id": tools.ids.call.format(
            digest=digest, session=facts.session_id, turn=0, index=0, number=0
        ),
    }
    if rule.role is Role.AFTER_TOOL:
        words |= {"tool_response": result.response, "tool_text": result.text, "tool_failed": result.failed}
    if rule.role is Role.TOOL_FAILED:
        words |= {"error": result.text, "is_interrupt": False}
    return words
