"""
The tables of tool calls and their results.

The texts that many keys share: paths, events, durations, expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_hookharness.model.moves import ToolCall, ToolResult, Tools
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    Anything,
    ChoiceShape,
    Either,
    FlagShape,
    Key,
    Named,
    Number,
    RecordShape,
    Text,
    Whole,
)

WORDS = Text(noun="a text that is not empty", pattern=patterns.WORDS)
INSIDE = Text(
    noun="a path inside the workspace",
    pattern=patterns.INSIDE,
    example="src/app.py",
    read=patterns.read_inside,
)
REGEX = Text(noun="a regular expression", format="regex", example="tests? failed", read=patterns.read_regex)
EVENT = Text(noun="an event name", pattern=patterns.EVENT, example="PreToolUse")
DURATION = Either(
    shapes=(
        Text(
            noun="a duration in ms, s, m, h or d",
            pattern=patterns.DURATION,
            example="301s",
            read=patterns.read_duration,
        ),
        Number(noun="a number of seconds"),
    )
)
TIMES = Whole(noun="a number of times", minimum=1)
JSON_MAPPING = Named(key=Text(), value=Anything())


RESULT = Either(
    shapes=(
        Text(read=lambda text: ToolResult(text=text)),
        RecordShape(
            noun="a result",
            keys=(
                Key(name="text", shape=Text(), doc="What the agent reads."),
                Key(name="failed", shape=FlagShape(), doc="Whether the tool reports an error."),
                Key(name="response", shape=Anything(), doc="The host's structured form of the result."),
            ),
            build=ToolResult,
        ),
    )
)
MODIFIERS = (
    Key(
        name="expect",
        shape=ChoiceShape(noun="what becomes of a call", words=("allow", "deny", "ask")),
        doc="What must become of this very call.",
    ),
    Key(name="result", field="given", shape=RESULT, doc="The result, instead of a real call."),
)
CALL_KEYS = (
    Key(
        name="name",
        shape=Text(noun="a tool's name", pattern=patterns.WORDS, example="Bash"),
        doc="The host's name of the tool.",
        required=True,
    ),
    Key(name="input", shape=JSON_MAPPING, doc="The tool's input, as the host passes it."),
)


def make_call(
    *,
    name: str,
    input: Mapping[str, Json] | None = None,  # noqa: A002 - the word of the format
    label: str,
    given: ToolResult | None = None,
    expect: str | None = None,
) -> ToolCall:
    """
    A tool call; a tool without input gets an empty one.
    """
    return ToolCall(name=name, input=input or {}, label=label, given=given, expect=expect)


CALL = RecordShape(noun="a tool call", keys=CALL_KEYS, build=make_call, labelled=True)
PARALLEL_CALL = RecordShape(noun="a tool call", keys=CALL_KEYS + MODIFIERS, build=make_call, labelled=True)


def make_tools(
    *,
    calls: ToolCall | tuple[ToolCall, ...],
    label: str,
    say: str = "",
    given: ToolResult | None = None,
    expect: str | None = None,
) -> Tools:
    """
    A turn of tool calls; what stands beside several of them goes for each that says nothing else.
    """
    several = calls if isinstance(calls, tuple) else (replace(calls, label=label),)
    return Tools(
        calls=tuple(
            replace(
                call,
                given=given if call.given is None else call.given,
                expect=expect if call.expect is None else call.expect,
            )
            for call in several
        ),
        say=say,
    )
