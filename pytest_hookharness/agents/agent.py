"""
The scripted agent as a value: its position in the script, and its next act.

An agent can be saved and restored at any time, because it holds only its script, its position and the
messages since its behaviour started. The behaviour's generator is replayed from these messages when it is
needed, or resumed where an earlier agent left it.
"""

from __future__ import annotations

import dataclasses
import enum
import gc
import types
from collections.abc import Iterator, Mapping
from dataclasses import field

from pytest_hookharness.agents.behaviours import BEHAVIOURS, DEAF, STEADY, BehaviourFunction, Moves, begin
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Compact,
    Corrupt,
    End,
    Move,
    Observation,
    Prompt,
    Reaction,
    Resume,
    Script,
    Stop,
    Wait,
)
from pytest_hookharness.model.regex import found_in

_MACHINERY = (types.CodeType, types.FunctionType, types.FrameType)


@dataclass(frozen=True, slots=True)
class Position:
    """
    The position of an agent in its script.

    Attributes:
        text: Description of the position. Agents with equal texts make the same moves from here on if they
            see the same messages.
        opaque: Why positions cannot be compared; empty if they can.
    """

    text: str
    opaque: str = ""


class Playback:
    """
    The generator of a behaviour as it was last left, so that an agent that saw more need not replay it.

    Several agents share one. An agent that takes the generator has it alone until it keeps it again.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[tuple[Observation, ...], Move, Moves]] = []

    def take(self, seen: tuple[Observation, ...]) -> tuple[int, Move, Moves] | None:
        """Return how many of these messages the generator has had, and its last move; ``None`` for none."""
        try:
            # In one step, because agents in other threads may share it.
            had, move, generator = self._kept.pop()
        except IndexError:
            return None
        return (len(had), move, generator) if had == seen[: len(had)] else None

    def keep(self, seen: tuple[Observation, ...], move: Move, generator: Moves | None) -> None:
        """Keep a generator that has had these messages and made that move."""
        self._kept[:] = [] if generator is None else [(seen, move, generator)]

    def __reduce__(self) -> tuple[type[Playback], tuple[()]]:
        # A generator cannot be copied, and need not be.
        return Playback, ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """
    A scripted agent at one point of its script.

    Attributes:
        place: Index of the next act.
        queue: Remaining moves of a reaction, and prompts of the user among them.
        reacted: Number of uses of each reaction.
        seen: Observations since the behaviour started.
        playback: The generator of the behaviour, if it was played before.
    """

    script: Script
    place: int = 0
    queue: tuple[Move | Prompt, ...] = ()
    reacted: tuple[int, ...] = ()
    seen: tuple[Observation, ...] = ()
    behaviours: Mapping[str, BehaviourFunction] = field(default_factory=lambda: BEHAVIOURS)
    playback: Playback = field(default_factory=Playback, compare=False, repr=False)

    def act(self, observation: Observation, *, turn_over: bool = False) -> tuple[Act | None, Agent]:
        """
        Return the next act, and the agent after it.

        After the end of a turn only events of the script can follow, or a prompt of a reaction: moves that
        were written for a refusal that did not happen are skipped. ``None`` means that the script has ended.
        """
        if turn_over:
            return self._prompt_of_reaction() or self._event()
        reaction = self._react(observation)
        if reaction is not None:
            return reaction
        if self.queue:
            return self.queue[0], replace(self, queue=self.queue[1:])
        if self.place < len(self.script.acts):
            return self.script.acts[self.place], replace(self, place=self.place + 1)
        after = replace(self, seen=(*self.seen, observation))
        move, generator = after.play()
        self.playback.keep(after.seen, move, generator)
        return move, after

    def _prompt_of_reaction(self) -> tuple[Act, Agent] | None:
        for index, act in enumerate(self.queue):
            if isinstance(act, Prompt):
                return act, replace(self, queue=self.queue[index + 1 :], seen=())
        return None

    def _event(self) -> tuple[Act | None, Agent]:
        for index in range(self.place, len(self.script.acts)):
            act = self.script.acts[index]
            if isinstance(act, Prompt | Wait | Compact | Resume | End | Corrupt):
                return act, replace(self, place=index + 1, queue=(), seen=())
        return None, replace(self, place=len(self.script.acts), queue=())

    def _react(self, observation: Observation) -> tuple[Act, Agent] | None:
        for index, reaction in enumerate(self.script.reactions):
            used = self.reacted[index]
            if reaction.times is not None and used >= reaction.times:
                continue
            if _hits(reaction, observation) and reaction.moves:
                # A count without a limit would make every state different from all earlier ones.
                count = used + 1 if reaction.times is not None else used
                reacted = (*self.reacted[:index], count, *self.reacted[index + 1 :])
                return reaction.moves[0], replace(self, queue=reaction.moves[1:], reacted=reacted)
        return None

    def heard(self, observation: Observation) -> tuple[str, ...]:
        """
        Return all that the agent's next moves can depend on in the messages of an observation.

        That is their whole text only if the behaviour reads it. A refusal may contain a time or another text
        that is new each time, as the output of a test runner does.
        """
        name = self.script.then.name
        if name not in DEAF or self.behaviours.get(name) is not BEHAVIOURS[name]:
            return tuple(map(repr, observation.messages))
        hits = [_hits(reaction, observation) for reaction in self.script.reactions]
        return (repr(hits), *(f"{message.kind} {message.event}" for message in observation.messages))

    def play(self) -> tuple[Move, Moves | None]:
        """Return the behaviour's next move, and its generator at that point; ``None`` if it has ended."""
        try:
            had, move, generator = self.playback.take(self.seen) or self._begin()
            for observation in self.seen[had:]:
                move = generator.send(observation)
        except StopIteration:
            return Stop(), None
        return move, generator

    def _begin(self) -> tuple[int, Move, Moves]:
        generator = begin(self.script.then, self.behaviours, self.seen[0])
        return 1, next(generator), generator

    @property
    def position(self) -> Position:
        """The agent's position, including the local variables of its behaviour."""
        return self._find_position(counts=True)

    @property
    def position_without_counts(self) -> Position:
        """
        The agent's position, without the numbers in a behaviour that counts forever.

        Agents with equal texts make the same moves except for these numbers.
        """
        name = self.script.then.name
        steady = name in STEADY and self.behaviours.get(name) is BEHAVIOURS[name]
        return self._find_position(counts=not steady)

    def _find_position(self, *, counts: bool) -> Position:
        head = f"act {self.place}, queue {self.queue!r}, reacted {self.reacted!r}"
        if not self.seen:
            return Position(head)
        move, generator = self.play()
        name = self.script.then.name
        try:
            return Position(f"{head}, {name} {_frames(generator, counts=counts)}")
        except _Opaque as reason:
            return Position(head, f"behaviour {name!r} remembers {reason}")
        finally:
            self.playback.keep(self.seen, move, generator)

    def further(self, earlier: Agent, repetitions: int) -> Agent:
        """
        Return the agent after more repetitions of a cycle, if it sees the same messages in each.

        ``earlier`` is the agent one repetition ago.
        """
        return replace(self, seen=(*self.seen, *(self.seen[len(earlier.seen) :] * repetitions)))


def _hits(reaction: Reaction, observation: Observation) -> bool:
    return any(
        reaction.event in ("", message.event) and found_in(reaction.reason, [message.text])
        for message in observation.messages
        if reaction.event or message.event
    )


class _Opaque(Exception):
    """A value of a behaviour that has no text by which it could be compared."""


def _frames(generator: object, *, counts: bool) -> str:
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
    # The iterator of a running ``for`` loop is not a local variable, but it affects the next moves. Only the
    # garbage collector shows it. It shows the local variables too; comparing them twice does no harm.
    return [
        _plain("for loop", value)
        for value in gc.get_referents(generator)
        if value is not inner and not isinstance(value, _MACHINERY) and (whole or isinstance(value, Iterator))
    ]


def _plain(name: str, value: object) -> str:
    if type(value) is str:
        # Most values are texts.
        return repr(value)
    match value:
        case None | bool() | int() | float() | str() | bytes() | range() | enum.Enum():
            return repr(value)
        case tuple() | list():
            return f"{type(value).__name__}({', '.join(_plain(name, item) for item in value)})"
        case set() | frozenset():
            return f"set({', '.join(sorted(_plain(name, item) for item in value))})"
        case Mapping():
            items = [f"{_plain(name, key)}: {_plain(name, item)}" for key, item in value.items()]
            return f"{{{', '.join(items)}}}"
        case Iterator():
            return _iterator(name, value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = (_plain(name, getattr(value, item.name)) for item in dataclasses.fields(value))
            return f"{type(value).__name__}({', '.join(fields)})"
        case _:
            raise _Opaque(f"a {type(value).__name__} in {name!r}")


def _iterator(name: str, value: Iterator[object]) -> str:
    if type(value).__module__ == "itertools":
        # From Python 3.14 on, these iterators cannot be reduced to their contents.
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
    Return an agent at the start of its script; a script that does not start with a prompt gets one.

    Raises:
        UnknownBehaviour: The script's behaviour is unknown, or does not have one of the options.
    """
    known = BEHAVIOURS if behaviours is None else behaviours
    begin(script.then, known, Observation()).close()
    if not any(isinstance(act, Prompt) for act in script.acts[:1]):
        script = replace(script, acts=(FIRST_PROMPT, *script.acts))
    return Agent(script=script, reacted=(0,) * len(script.reactions), behaviours=known)
