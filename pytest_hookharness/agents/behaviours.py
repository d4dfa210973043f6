"""
Behaviours: how an agent goes on for ever once its script is done.

A behaviour is a generator function: it is given what the agent sees first and
its options, yields a move, and is sent what the agent sees next. It must be deterministic, and keep
what it remembers in plain local variables: they are part of the state that the judge compares, so the
less it remembers, the sooner a loop is proved.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Generator, Mapping
from typing import TypeAlias

from pytest_hookharness.model.moves import Behaviour, Edit, Move, Observation, RunCommand, Stop

BehaviourFunction: TypeAlias = Callable[..., Generator[Move, Observation, None]]
Moves: TypeAlias = Generator[Move, Observation, None]


class UnknownBehaviour(ValueError):
    """
    A behaviour that nobody registered, or options that it does not take.
    """


def idle(seen: Observation, *, text: str = "Done.") -> Moves:
    """
    Says the same at every stop and does nothing else.
    """
    while True:
        yield Stop(text=text)


def obedient(seen: Observation, *, run: str = "true", text: str = "Done.") -> Moves:
    """
    Answers a refusal with a tool call, then wants to stop again.
    """
    while True:
        yield RunCommand(command=run)
        yield Stop(text=text)


def editing(seen: Observation, *, file: str = "touched-{n}.txt", text: str = "Done.") -> Moves:
    """
    Touches a new file, then wants to stop, and so on with another file.
    """
    n = 0
    while True:
        n += 1
        yield Edit(file=file.replace("{n}", str(n)), text=f"{n}\n")
        yield Stop(text=text)


def fixing(
    seen: Observation,
    *,
    after: int = 1,
    file: str = "fixed.txt",
    contents: str = "fixed\n",
    run: str = "",
    text: str = "Done.",
) -> Moves:
    """
    Wants to stop a number of times, then mends what is wrong, then only wants to stop.
    """
    for _ in range(after):
        yield Stop(text=text)
    yield RunCommand(command=run) if run else Edit(file=file, text=contents)
    while True:
        yield Stop(text=text)


def promising(seen: Observation, *, tag: str, text: str = "Done.") -> Moves:
    """
    Gives a promise by tag at every stop.
    """
    while True:
        yield Stop(text=f"{text} <promise>{tag}</promise>")


def quoting(seen: Observation, *, text: str = "") -> Moves:
    """
    Quotes at every stop what it was told last, or a given text.
    """
    while True:
        told = text or (seen.messages[-1].text if seen.messages else "")
        seen = yield Stop(text=f'You said: "{told}"')


def repeating(seen: Observation, *, run: str = "true", times: int = 3, text: str = "Done.") -> Moves:
    """
    Makes the same tool call several times in a row before every stop.
    """
    while True:
        for _ in range(times):
            yield RunCommand(command=run)
        yield Stop(text=text)


def oscillating(
    seen: Observation,
    *,
    file: str = "setting.txt",
    one: str = "on\n",
    other: str = "off\n",
    text: str = "Done.",
) -> Moves:
    """
    Changes a file to one text, wants to stop, changes it to the other, wants to stop, and so on.
    """
    while True:
        yield Edit(file=file, text=one)
        yield Stop(text=text)
        yield Edit(file=file, text=other)
        yield Stop(text=text)


BEHAVIOURS: Mapping[str, BehaviourFunction] = {
    function.__name__: function
    for function in (idle, obedient, editing, fixing, promising, quoting, repeating, oscillating)
}

# These never come to an end of their own, however far they count.
STEADY = frozenset({"idle", "obedient", "editing", "promising", "quoting", "repeating", "oscillating"})


def begin(behaviour: Behaviour, known: Mapping[str, BehaviourFunction], seen: Observation) -> Moves:
    """
    Start a behaviour with what the agent sees first.

    Raises:
        UnknownBehaviour: The name is not known, or an option is not one of its own.
    """
    function = known.get(behaviour.name)
    if function is None:
        near = difflib.get_close_matches(behaviour.name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownBehaviour(
            f"there is no behaviour {behaviour.name!r}; known are {', '.join(sorted(known))}{hint}"
        )
    try:
        inspect.signature(function).bind(seen, **behaviour.options)
    except TypeError as error:
        takes = ", ".join(list(inspect.signature(function).parameters)[1:]) or "no options"
        raise UnknownBehaviour(f"behaviour {behaviour.name!r}: {error}; it takes: {takes}") from None
    return function(seen, **behaviour.options)
