"""
The tables of whole scripts: lists of acts, and reactions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Reaction, Script
from pytest_hookharness.scenario_files.keys.common import EVENT, REGEX, TIMES
from pytest_hookharness.scenario_files.keys.moves import EVENTS, GOING_ON, MOVES
from pytest_hookharness.scenario_files.schema.shapes import (
    Key,
    Many,
    PlacedValue,
    RecordShape,
    Tagged,
    Values,
)


def check_acts(items: Sequence[PlacedValue | None]) -> Iterator[tuple[int, str]]:
    """
    Words go with a call, and what the agent does at last comes last.
    """
    for index, item in enumerate(items):
        if item is None:
            continue
        if item.tag.role == "then" and index + 1 < len(items):
            yield index, "then must be the last item: it says how the agent goes on without a script"
        if item.tag.role == "say":
            after = items[index + 1] if index + 1 < len(items) else "the end"
            if after == "the end" or (isinstance(after, PlacedValue) and after.tag.role != "call"):
                name = after.tag.name if isinstance(after, PlacedValue) else after
                yield (
                    index,
                    f"say goes with the tool call after it, but {name} follows; words alone are a stop",
                )


def gather_acts(items: Sequence[PlacedValue]) -> tuple[Act, ...]:
    """
    The acts of a list; words are joined to the call after them.
    """
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
            case "then":
                pass
    return tuple(acts)


def make_act(item: PlacedValue, **more: object) -> Any:
    """
    The act that an item became.
    """
    if item.tag.make is None:
        return item.value
    fields: Values = {item.tag.field: item.value} if item.tag.field else item.value
    return item.tag.make(**fields, **more)


def gather_script(items: Sequence[PlacedValue]) -> Script:
    """
    A script; one that has no act at all begins with a prompt.
    """
    going_on = [item.value for item in items if item.tag.role == "then"]
    acts = gather_acts(items) or (FIRST_PROMPT,)
    return Script(acts=acts, then=going_on[0]) if going_on else Script(acts=acts)


AGENT = Many(
    noun="a list of acts",
    item=Tagged(noun="an act", tags=(*EVENTS, *MOVES, GOING_ON)),
    check=check_acts,
    gather=gather_script,
)
BARRED = {
    **{tag.name: f"{tag.name} is an event; an agent reacts with moves only" for tag in EVENTS},
    GOING_ON.name: "then belongs at the end of the agent's own list",
}
MOVES_ALONE = Many(
    noun="a list of moves",
    item=Tagged(noun="a move", tags=MOVES, barred=BARRED),
    at_least=1,
    check=check_acts,
    gather=gather_acts,
)
REACTION = RecordShape(
    noun="a reaction",
    keys=(
        Key(name="event", shape=EVENT, doc="The hook event that must have shown it."),
        Key(name="reason", shape=REGEX, doc="Searched in what was shown."),
        Key(
            name="do",
            field="moves",
            shape=MOVES_ALONE,
            doc="What the agent does instead of its next move.",
            required=True,
        ),
        Key(name="times", shape=TIMES, doc="How often at most."),
    ),
    build=Reaction,
)
REACTIONS = Many(item=REACTION, noun="a list of reactions")
