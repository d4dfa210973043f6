"""Tables of whole scripts: lists of acts, and reactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Reaction, Script
from pytest_hookharness.scenario_files.keys.common import EVENT, REGEX, TIMES, record_of
from pytest_hookharness.scenario_files.keys.moves import EVENTS, GOING_ON, MOVES
from pytest_hookharness.scenario_files.schema.shapes import Many, PlacedValue, Tagged, Values


def check_acts(items: Sequence[PlacedValue | None]) -> Iterator[tuple[int, str]]:
    """Yield a problem for ``say`` without a call after it, and for ``then`` that is not the last item."""
    for index, item in enumerate(items):
        if item is None:
            continue
        if item.tag.role == "then" and index + 1 < len(items):
            yield index, "then must be the last item: it says what the agent does after its script"
        if item.tag.role == "say":
            after = items[index + 1] if index + 1 < len(items) else "the end"
            if after == "the end" or (isinstance(after, PlacedValue) and after.tag.role != "call"):
                name = after.tag.name if isinstance(after, PlacedValue) else after
                yield (
                    index,
                    f"say must be followed by a tool call, but {name} follows; for a text alone use stop",
                )


def gather_acts(items: Sequence[PlacedValue]) -> tuple[Act, ...]:
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
            case "then":
                pass
    return tuple(acts)


def make_act(item: PlacedValue, **more: object) -> Any:
    """Return the act of one item."""
    if item.tag.make is None:
        return item.value
    fields: Values = {item.tag.field: item.value} if item.tag.field else item.value
    return item.tag.make(**fields, **more)


def gather_script(items: Sequence[PlacedValue]) -> Script:
    """Return a script; one without any act starts with a prompt."""
    going_on = [item.value for item in items if item.tag.role == "then"]
    acts = gather_acts(items) or (FIRST_PROMPT,)
    return Script(acts=acts, then=going_on[0]) if going_on else Script(acts=acts)


AGENT = Many(
    noun="a list of acts",
    item=Tagged(noun="an act", tags=(*EVENTS, *MOVES, GOING_ON)),
    check=check_acts,
    gather=gather_script,
)
MOVES_ALONE = Many(
    noun="a list of moves",
    item=Tagged(
        noun="a move",
        tags=MOVES,
        barred={
            **{tag.name: f"{tag.name} is an event; an agent reacts with moves only" for tag in EVENTS},
            GOING_ON.name: "then must be at the end of the agent's own list",
        },
    ),
    at_least=1,
    check=check_acts,
    gather=gather_acts,
)
# A thread's script: moves and ``then``, but no events, because nobody else is in its session.
THREAD_SCRIPT = Many(
    noun="a list of moves",
    item=Tagged(
        noun="a move",
        tags=(*MOVES, GOING_ON),
        barred={tag.name: f"{tag.name} is an event; a hook thread makes moves" for tag in EVENTS},
    ),
    at_least=1,
    check=check_acts,
    gather=gather_script,
)
REACTIONS = Many(
    noun="a list of reactions",
    item=record_of(
        Reaction,
        "a reaction",
        {"event": EVENT, "reason": REGEX, "moves": MOVES_ALONE, "times": TIMES},
        names={"moves": "do"},
        required=("moves",),
    ),
)
