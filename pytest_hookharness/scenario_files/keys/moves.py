"""Tables of scripts: tool calls, other moves, events, reactions, and the behaviour after the script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_hookharness.model import moves
from pytest_hookharness.scenario_files.keys import common
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    FlagShape,
    Folder,
    Many,
    Named,
    Nothing,
    PlacedValue,
    Tag,
    Tagged,
    Text,
    Values,
    either,
)

_CALL_SHAPES: common.Shapes = {
    "name": Text(noun="a tool's name", pattern=texts.WORDS, example="Bash"),
    "given": either(
        Text(read=lambda text: moves.ToolResult(text=text)), common.record_of(moves.ToolResult, "a result")
    ),
    "expect": ChoiceShape(noun="the decision on a call", words=("allow", "deny", "ask")),
}
_MODIFIER_NAMES = {"given": "result"}
MODIFIERS = common.keys_of(moves.ToolCall, _CALL_SHAPES, names=_MODIFIER_NAMES, only=("given", "expect"))
CALL = common.record_of(moves.ToolCall, "a tool call", _CALL_SHAPES, only=("name", "input"), labelled=True)
PARALLEL_CALL = common.record_of(
    moves.ToolCall, "a tool call", _CALL_SHAPES, names=_MODIFIER_NAMES, without=("label",), labelled=True
)


def make_tools(
    *,
    calls: moves.ToolCall | tuple[moves.ToolCall, ...],
    label: str,
    say: str = "",
    given: moves.ToolResult | None = None,
    expect: str | None = None,
) -> moves.Tools:
    """Return a turn of tool calls; modifiers beside a list apply to each call that has none of its own."""
    several = calls if isinstance(calls, tuple) else (replace(calls, label=label),)
    return moves.Tools(calls=tuple(_modified(call, given, expect) for call in several), say=say)


def _modified(call: moves.ToolCall, given: moves.ToolResult | None, expect: str | None) -> moves.ToolCall:
    return replace(
        call,
        given=given if call.given is None else call.given,
        expect=expect if call.expect is None else call.expect,
    )


SUBAGENT = common.record_of(
    moves.Subagent,
    "a task for a subagent",
    {
        "kind": common.WORDS,
        "texts": either(
            Text(read=lambda text: (text,)), Many(noun="a list of texts", item=Text(), at_least=1)
        ),
        "received": common.REGEX,
    },
    names={"texts": "text"},
    only=("kind", "prompt", "texts", "received"),
    build=dict,
)
EDIT = common.record_of(
    moves.Edit,
    "an edit",
    {"file": common.TOOL_FILE, "old": common.WORDS},
    only=("file", "text", "old"),
    build=dict,
)
READ = common.record_of(
    moves.Read, "a read of a file", {"file": common.TOOL_FILE}, only=("file",), build=dict
)
FILE_ALONE = replace(common.TOOL_FILE, read=lambda path: {"file": texts.read_path_of_tool(path)})
_BEHAVIOUR = Text(noun="a behaviour", pattern=texts.BEHAVIOUR, example="idle")
THEN = either(
    replace(_BEHAVIOUR, read=lambda name: moves.Behaviour(name=name)),
    Named(
        noun="a behaviour with its options, as in {fixing: {after: 2}}",
        key=_BEHAVIOUR,
        value=common.JSON_MAPPING,
        single=True,
        read=lambda named: next(moves.Behaviour(name=name, options=how) for name, how in named.items()),
    ),
)

MOVES = (
    Tag("say", Text(), role="say", doc="Text of the agent before the next tool call."),
    Tag(
        "tool",
        either(CALL, Many(item=PARALLEL_CALL, noun="a list of tool calls", at_least=1)),
        role="call",
        field="calls",
        make=make_tools,
        modifiers=MODIFIERS,
        doc="A tool call in the host's own format, or a list of simultaneous calls.",
    ),
    Tag(
        "run",
        common.WORDS,
        role="call",
        field="command",
        make=moves.RunCommand,
        modifiers=MODIFIERS,
        doc="A shell command, run by the host's own shell tool.",
    ),
    Tag(
        "edit",
        EDIT,
        role="call",
        make=moves.Edit,
        modifiers=MODIFIERS,
        doc="A change of a file in the workspace.",
    ),
    Tag(
        "read",
        either(FILE_ALONE, READ),
        role="call",
        make=moves.Read,
        modifiers=MODIFIERS,
        doc="A read of a file in the workspace.",
    ),
    Tag(
        "stop",
        either(Text(), Nothing(read=lambda _: moves.Stop().text)),
        role="stop",
        field="text",
        make=moves.Stop,
        doc="A message without a tool call: the agent wants to stop.",
    ),
    Tag(
        "subagent",
        either(Text(read=lambda text: {"prompt": text}), SUBAGENT),
        role="call",
        make=moves.Subagent,
        doc="A task for a subagent.",
    ),
)
PROMPT = Tag(
    "prompt",
    either(Text(read=lambda text: moves.Prompt(text=text)), common.record_of(moves.Prompt, "a prompt")),
    role="event",
    doc="The user writes to the agent.",
)
EVENTS = (
    PROMPT,
    Tag(
        "wait",
        common.DURATION,
        role="event",
        field="seconds",
        make=moves.Wait,
        doc="Time passes for the agent and its hooks, but no real time.",
    ),
    Tag(
        "compact",
        either(
            ChoiceShape(
                noun="a trigger",
                words=("manual", "auto"),
                read=lambda trigger: moves.Compact(trigger=trigger),
            ),
            Nothing(read=lambda _: moves.Compact()),
        ),
        role="event",
        doc="The host shortens the conversation.",
    ),
    Tag(
        "resume",
        either(
            FlagShape(only=True, read=lambda _: moves.Resume()),
            ChoiceShape(noun="a way", words=("fork",), read=lambda _: moves.Resume(fork=True)),
            Nothing(read=lambda _: moves.Resume()),
        ),
        role="event",
        doc="The session ends and is resumed; `fork` resumes a copy with its own session id.",
    ),
    Tag(
        "end",
        either(Text(read=lambda reason: moves.End(reason=reason)), Nothing(read=lambda _: moves.End())),
        role="event",
        doc="The session ends.",
    ),
    Tag("corrupt", common.CORRUPT, role="event", doc="A file is damaged between two turns."),
)
RECORDING = Tag(
    "recording",
    Folder(noun="a recording, or a folder of recordings", or_file=True),
    role="recording",
    doc="The prompts, calls and stops that `hookharness record` stored; no call is carried out.",
)
GOING_ON = Tag("then", THEN, role="then", doc="What the agent does when its script has ended.")


def check_acts(items: Sequence[PlacedValue | None]) -> Iterator[tuple[int, str]]:
    """Yield a problem for ``say`` without a call after it, and for what follows ``then`` or ``end``."""
    for index, item in enumerate(items):
        if item is None:
            continue
        if item.tag.role == "recording":
            yield from ((index, str(error)) for error in _unreadable(item.value))
        if item.tag.role == "then" and index + 1 < len(items):
            yield index, "then must be the last item: it says what the agent does after its script"
        if item.tag.name == "end" and any(
            one is None or one.tag.role != "then" for one in items[index + 1 :]
        ):
            yield index, "end must be the last act, because nothing is played after the end of the session"
        if item.tag.role == "say":
            after = items[index + 1] if index + 1 < len(items) else "the end"
            if after == "the end" or (isinstance(after, PlacedValue) and after.tag.role != "call"):
                name = after.tag.name if isinstance(after, PlacedValue) else after
                yield (
                    index,
                    f"say must be followed by a tool call, but {name} follows; for a text alone use stop",
                )


def _unreadable(folder: Path) -> Iterator[ValueError]:
    try:
        _read_recording(folder)
    except ValueError as error:
        yield error


def _read_recording(folder: Path) -> tuple[moves.Act, ...]:
    from pytest_hookharness.scenario_files.recordings import read_acts

    return read_acts(folder)


def gather_acts(items: Sequence[PlacedValue]) -> tuple[moves.Act, ...]:
    """Return the acts of a list; the text of ``say`` becomes part of the call after it."""
    acts: list[Any] = []
    said: dict[str, str] = {}
    for item in items:
        match item.tag.role:
            case "say":
                said = {"say": item.value}
            case "call":
                acts.append(make_act(item, label=item.path, **said, **item.modifiers))
                said = {}
            case "stop":
                acts.append(make_act(item, label=item.path))
            case "event":
                acts.append(make_act(item))
            case "recording":
                acts += _read_recording(item.value)
            case "then":
                pass
    return tuple(acts)


def make_act(item: PlacedValue, **more: object) -> Any:
    """Return the act of one item."""
    if item.tag.make is None:
        return item.value
    fields: Values = {item.tag.field: item.value} if item.tag.field else item.value
    return item.tag.make(**fields, **more)


def gather_script(items: Sequence[PlacedValue]) -> moves.Script:
    """Return a script; one without any act starts with a prompt."""
    going_on = [item.value for item in items if item.tag.role == "then"]
    acts = gather_acts(items) or (moves.FIRST_PROMPT,)
    return moves.Script(acts=acts, then=going_on[0]) if going_on else moves.Script(acts=acts)


AGENT = Many(
    noun="a list of acts",
    item=Tagged(noun="an act", tags=(*EVENTS, *MOVES, RECORDING, GOING_ON)),
    check=check_acts,
    gather=gather_script,
)


def _moves_only(
    tags: tuple[Tag, ...], who: str, *, noun: str = "a list of moves", item: str = "a move"
) -> Many:
    """Return a list of moves in which other events, and ``then`` unless it is one of the tags, are barred."""
    names = {tag.name for tag in tags}
    barred = {tag.name: f"{tag.name} is an event; {who}" for tag in EVENTS if tag.name not in names}
    if GOING_ON not in tags:
        barred[GOING_ON.name] = "then must be at the end of the agent's own list"
    return Many(
        noun=noun,
        item=Tagged(noun=item, tags=tags, barred=barred),
        at_least=1,
        check=check_acts,
        gather=gather_script if GOING_ON in tags else gather_acts,
    )


MOVES_ALONE = _moves_only(MOVES, "an agent reacts with moves only")
# What a reaction does: moves of the agent, and prompts of the user.
REACTION_ACTS = _moves_only(
    (PROMPT, *MOVES),
    "a reaction has moves and prompts only",
    noun="a list of moves and prompts",
    item="a move or a prompt",
)
# A thread's script: moves and ``then``, but no events, because nobody else is in its session.
THREAD_SCRIPT = _moves_only((*MOVES, GOING_ON), "a hook thread makes moves")
REACTIONS = Many(
    noun="a list of reactions",
    item=common.record_of(
        moves.Reaction,
        "a reaction",
        {"event": common.EVENT, "reason": common.REGEX, "moves": REACTION_ACTS, "times": common.TIMES},
        names={"moves": "do"},
        required=("moves",),
    ),
)
