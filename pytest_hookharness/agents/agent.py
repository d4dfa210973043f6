"""
The agent as a value: where it stands, and what it does next.

An agent can be saved and put back at any time, because it holds only its
script, its place in it and what it has seen since its behaviour began; the behaviour's generator is
played again from that when it is needed. Loops are found in a few turns, so this costs nothing that
could be measured.
"""

from __future__ import annotations

import dataclasses
import enum
import gc
import re
import types
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pytest_hookharness.agents.behaviours import BEHAVIOURS, STEADY, BehaviourFunction, begin
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Compact,
    Corrupt,
    End,
    Move,
    Observation,
    Prompt,
    Resume,
    Script,
    Stop,
    Wait,
)

_MACHINERY = (types.CodeType, types.FunctionType, types.FrameType)


@dataclass(frozen=True, slots=True)
class Position:
    """
    Where an agent stands.

    Attributes:
        text: Equal texts mean that the agent will act alike from here on if it sees alike.
        opaque: Why that cannot be said, if it cannot.
        stance: The same without the counts of a behaviour that counts for ever: equal ones mean that it
            will act alike but for numbers.
    """

    text: str
    opaque: str = ""
    stance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """
    A scripted agent at one point of its script.

    Attributes:
        script: The whole script.
        place: Index of the next act.
        queue: Moves of a reaction that are still to be made.
        reacted: How often each reaction was used.
        seen: All that was seen since the behaviour began.
        behaviours: The behaviours that are known, by name.
    """

    script: Script
    place: int = 0
    queue: tuple[Move, ...] = ()
    reacted: tuple[int, ...] = ()
    seen: tuple[Observation, ...] = ()
    behaviours: Mapping[str, BehaviourFunction] = field(default_factory=lambda: BEHAVIOURS)

    def act(self, observation: Observation, *, turn_over: bool = False) -> tuple[Act | None, Agent]:
        """
        What the agent (or the script around it) does next, and the agent after that.

        Once a turn is over only events of the script can take place: moves that were written for a
        refusal that did not come are passed over. ``None`` means that nothing is left.
        """
        if turn_over:
            return self._event(self.place)
        reaction = self._react(observation)
        if reaction is not None:
            return reaction
        if self.queue:
            return self.queue[0], replace(self, queue=self.queue[1:])
        if self.place < len(self.script.acts):
            return self.script.acts[self.place], replace(self, place=self.place + 1)
        after = replace(self, seen=(*self.seen, observation))
        move, _ = after.play()
        return move, after

    def _event(self, place: int) -> tuple[Act | None, Agent]:
        for index in range(place, len(self.script.acts)):
            act = self.script.acts[index]
            if isinstance(act, Prompt | Wait | Compact | Resume | End | Corrupt):
                return act, replace(self, place=index + 1, queue=(), seen=())
        return None, replace(self, place=len(self.script.acts), queue=())

    def _react(self, observation: Observation) -> tuple[Act, Agent] | None:
        for index, reaction in enumerate(self.script.reactions):
            used = self.reacted[index]
            if reaction.times is not None and used >= reaction.times:
                continue
            hit = any(
                reaction.event in ("", message.event) and re.search(reaction.reason, message.text)
                for message in observation.messages
                if reaction.event or message.event
            )
            if hit and reaction.moves:
                # A count without an end would keep the state from ever coming again.
                count = used + 1 if reaction.times is not None else used
                reacted = (*self.reacted[:index], count, *self.reacted[index + 1 :])
                return reaction.moves[0], replace(self, queue=reaction.moves[1:], reacted=reacted)
        return None

    def play(self) -> tuple[Move, Generator[Move, Observation, None] | None]:
        """
        The move that the behaviour makes now, and its generator, which nobody else has.
        """
        generator = begin(self.script.then, self.behaviours, self.seen[0])
        try:
            move = next(generator)
            for observation in self.seen[1:]:
                move = generator.send(observation)
        except StopIteration:
            return Stop(), None
        return move, generator

    @property
    def position(self) -> Position:
        """
        Where the agent stands, the local variables of its behaviour included.
        """
        head = f"act {self.place}, queue {self.queue!r}, reacted {self.reacted!r}"
        if not self.seen:
            return Position(head, stance=head)
        _, generator = self.play()
        name = self.script.then.name
        steady = name in STEADY and self.behaviours.get(name) is BEHAVIOURS[name]
        try:
            text, stance = _frames(generator), _frames(generator, counts=not steady)
            return Position(f"{head}, {name} {text}", stance=f"{head}, {name} {stance}")
        except _Opaque as reason:
            return Position(head, f"behaviour {self.script.then.name!r} remembers {reason}")

    def further(self, earlier: Agent, repetitions: int) -> Agent:
        """
        The agent after as many more laps as the one since an earlier time, if it sees the same in each.
        """
        return replace(self, seen=(*self.seen, *(self.seen[len(earlier.seen) :] * repetitions)))


class _Opaque(Exception):
    """
    A value whose equality cannot be told from its text.
    """


def _frames(generator: object, *, counts: bool = True) -> str:
    parts = []
    while generator is not None:
        frame = getattr(generator, "gi_frame", None)
        if frame is None:
            raise _Opaque(f"an iterator ({type(generator).__name__}) instead of a generator")
        inner = getattr(generator, "gi_yieldfrom", None)
        values = {
            name: _plain(name, value) if counts or type(value) is not int else "a count"
            for name, value in sorted(frame.f_locals.items())
        }
        parts.append(f"at {frame.f_lasti} with {values} on {_stack(generator, inner, whole=counts)}")
        generator = inner
    return " in ".join(parts)


def _stack(generator: object, inner: object, *, whole: bool) -> list[str]:
    # The iterator of a running ``for`` loop is no local variable, yet decides what comes next.
    # Only the collector can see it; what else it shows are the locals again, which does no harm.
    return [
        _plain("for loop", value)
        for value in gc.get_referents(generator)
        if value is not inner and not isinstance(value, _MACHINERY) and (whole or isinstance(value, Iterator))
    ]


def _plain(name: str, value: object) -> str:
    match value:
        case None | bool() | int() | float() | str() | bytes() | enum.Enum():
            return repr(value)
        case tuple() | list():
            return f"{type(value).__name__}({', '.join(_plain(name, item) for item in value)})"
        case set() | frozenset():
            return f"set({', '.join(sorted(_plain(name, item) for item in value))})"
        case Mapping():
            items = [f"{_plain(name, key)}: {_plain(name, item)}" for key, item in value.items()]
            return f"{{{', '.join(items)}}}"
        case range():
            return repr(value)
        case Iterator():
            return _iterator(name, value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = (_plain(name, getattr(value, item.name)) for item in dataclasses.fields(value))
            return f"{type(value).__name__}({', '.join(fields)})"
        case _:
            raise _Opaque(f"a {type(value).__name__} in {name!r}")


def _iterator(name: str, value: Iterator[object]) -> str:
    if type(value).__module__ == "itertools":
        # These no longer tell what they hold, from Python 3.14 on.
        raise _Opaque(f"an itertools.{type(value).__name__} in {name!r}")
    try:
        made = value.__reduce__()
    except TypeError:
        made = ""
    if isinstance(made, str):
        raise _Opaque(f"a {type(value).__name__} in {name!r}")
    kind, *rest = made
    return f"{getattr(kind, '__name__', kind)}({', '.join(_plain(name, item) for item in rest)})"


def start(script: Script, behaviours: Mapping[str, BehaviourFunction] | None = None) -> Agent:
    """
    An agent at the beginning of its script.

    A script that does not begin with a prompt is given one.

    Raises:
        UnknownBehaviour: The script's behaviour is not known, or an option is not one of its own.
    """
    known = BEHAVIOURS if behaviours is None else behaviours
    begin(script.then, known, Observation()).close()
    if not any(isinstance(act, Prompt) for act in script.acts[:1]):
        script = replace(script, acts=(FIRST_PROMPT, *script.acts))
    return Agent(script=script, reacted=(0,) * len(script.reactions), behaviours=known)
