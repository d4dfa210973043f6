"""
The tables of single acts: moves, events, and how the agent goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.moves import (
    Behaviour,
    Compact,
    Corrupt,
    Edit,
    End,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    Wait,
)
from pytest_hookharness.scenario_files.keys.common import (
    CALL,
    DURATION,
    INSIDE,
    JSON_MAPPING,
    MODIFIERS,
    PARALLEL_CALL,
    WORDS,
    make_tools,
)
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    FlagShape,
    Key,
    Many,
    Named,
    Nothing,
    RecordShape,
    Tag,
    Text,
    Values,
)

HARMS = ("delete", "empty", "truncate", "garbage", "crlf", "bom", "chmod", "replace")
HARMS_WITH_TEXT = ("chmod", "replace")


def _field(name: str, doc: str) -> Key:
    return Key(name=name, shape=Text(), doc=doc)


FILE_ALONE = Text(
    noun=INSIDE.noun,
    pattern=INSIDE.pattern,
    example=INSIDE.example,
    read=lambda path: {"file": patterns.read_inside(path)},
)
FILE = Key(name="file", shape=INSIDE, doc="The path, relative to the workspace.", required=True)


def check_harm(values: Values) -> Iterator[tuple[str, str]]:
    """
    A text belongs to two kinds of harm, and to no other.
    """
    how = values.get("how", "delete")
    if how in HARMS_WITH_TEXT and "text" not in values:
        yield "", f"how: {how} needs a text"
    if how not in HARMS_WITH_TEXT and "text" in values:
        yield "text", f"how: {how} takes no text; only {' and '.join(HARMS_WITH_TEXT)} do"
    if how == "chmod" and "text" in values and not patterns.matches(patterns.MODE, values["text"]):
        yield "text", 'the text of chmod is an octal mode such as "0644"'


CORRUPT = RecordShape(
    noun="a harm",
    keys=(
        FILE,
        Key(name="how", shape=ChoiceShape(noun="a kind of harm", words=HARMS), doc="What happens to it."),
        _field("text", "The new text for replace, the octal mode for chmod."),
    ),
    build=Corrupt,
    check=check_harm,
)
SUBAGENT = RecordShape(
    noun="a piece of work for a subagent",
    keys=(
        Key(name="kind", shape=WORDS, doc="The kind of subagent."),
        _field("prompt", "What it is told."),
        _field("text", "What it says when it wants to stop."),
    ),
)
EDIT = RecordShape(
    noun="an edit",
    keys=(
        FILE,
        Key(name="text", shape=Text(), doc="The new text, or the new passage.", required=True),
        Key(name="old", shape=WORDS, doc="The passage to replace."),
    ),
)
THEN = Either(
    shapes=(
        Text(
            noun="a behaviour",
            pattern=patterns.BEHAVIOUR,
            example="idle",
            read=lambda name: Behaviour(name=name),
        ),
        Named(
            noun="a behaviour with its options, as in {fixing: {after: 2}}",
            key=Text(noun="a behaviour", pattern=patterns.BEHAVIOUR, example="fixing"),
            value=JSON_MAPPING,
            single=True,
            read=lambda named: next(Behaviour(name=name, options=how) for name, how in named.items()),
        ),
    )
)

MOVES = (
    Tag(name="say", shape=Text(), role="say", doc="Words that go with the next tool call."),
    Tag(
        name="tool",
        shape=Either(shapes=(CALL, Many(item=PARALLEL_CALL, noun="a list of tool calls", at_least=1))),
        role="call",
        field="calls",
        make=make_tools,
        modifiers=MODIFIERS,
        doc="A tool call in the host's own terms, or a list of calls made at once.",
    ),
    Tag(
        name="run",
        shape=WORDS,
        role="call",
        field="command",
        make=RunCommand,
        modifiers=MODIFIERS,
        doc="A shell command, by whatever tool the host has for that.",
    ),
    Tag(
        name="edit",
        shape=EDIT,
        role="call",
        make=Edit,
        modifiers=MODIFIERS,
        doc="A change of a file in the workspace.",
    ),
    Tag(
        name="read",
        shape=Either(shapes=(FILE_ALONE, RecordShape(noun="a look at a file", keys=(FILE,)))),
        role="call",
        make=Read,
        modifiers=MODIFIERS,
        doc="A look at a file of the workspace.",
    ),
    Tag(
        name="stop",
        shape=Either(shapes=(Text(), Nothing(read=lambda _: Stop().text))),
        role="stop",
        field="text",
        make=Stop,
        doc="A message without a tool call: the agent wants to end its turn.",
    ),
    Tag(
        name="subagent",
        shape=Either(shapes=(Text(read=lambda text: {"prompt": text}), SUBAGENT)),
        role="call",
        make=Subagent,
        doc="A piece of work handed to a subagent.",
    ),
)
EVENTS = (
    Tag(
        name="prompt",
        shape=Either(
            shapes=(
                Text(read=lambda text: Prompt(text=text)),
                RecordShape(
                    noun="a prompt",
                    keys=(Key(name="text", shape=Text(), doc="The words.", required=True),),
                    build=Prompt,
                ),
            )
        ),
        role="event",
        doc="The person writes to the agent.",
    ),
    Tag(
        name="wait",
        shape=DURATION,
        role="event",
        field="seconds",
        make=Wait,
        doc="Time passes for the agent, not for the machine.",
    ),
    Tag(
        name="compact",
        shape=Either(
            shapes=(
                ChoiceShape(
                    noun="a trigger",
                    words=("manual", "auto"),
                    read=lambda trigger: Compact(trigger=trigger),
                ),
                Nothing(read=lambda _: Compact()),
            )
        ),
        role="event",
        doc="The host shortens the conversation.",
    ),
    Tag(
        name="resume",
        shape=Either(
            shapes=(
                FlagShape(only=True, read=lambda _: Resume()),
                ChoiceShape(noun="a way", words=("fork",), read=lambda _: Resume(fork=True)),
                Nothing(read=lambda _: Resume()),
            )
        ),
        role="event",
        doc="The session is ended and taken up again, or a copy of it under another name.",
    ),
    Tag(
        name="end",
        shape=Either(shapes=(Text(read=lambda reason: End(reason=reason)), Nothing(read=lambda _: End()))),
        role="event",
        doc="The session ends.",
    ),
    Tag(name="corrupt", shape=CORRUPT, role="event", doc="A file is harmed between turns."),
)
GOING_ON = Tag(name="then", shape=THEN, role="then", doc="How the agent behaves from here on.")
