"""
Behaviours: what an agent does after the end of its script.

A behaviour is a generator function. Its arguments are the first observation and its options; it yields a move
and receives the next observation. It must be deterministic, and keep its memory in plain local variables:
they are part of the state that is compared, so the less it remembers, the sooner a loop is proved.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from pytest_hookharness.model.moves import Behaviour, Edit, Move, Observation, RunCommand, Stop
from pytest_hookharness.model.name_hint import name_hint
from pytest_hookharness.model.scenario import Scenario

BehaviourFunction: TypeAlias = Callable[..., Generator[Move, Observation, None]]
Moves: TypeAlias = Generator[Move, Observation, None]


class UnknownBehaviour(ValueError):
    """A behaviour that is not registered, or an option that it does not have."""


def idle(seen: Observation, *, text: str = "Done.") -> Moves:
    """Stop with the same text each time, and do nothing else."""
    while True:
        yield Stop(text=text)


def obedient(seen: Observation, *, run: str = "true", text: str = "Done.") -> Moves:
    """Run a command before every stop."""
    while True:
        yield RunCommand(command=run)
        yield Stop(text=text)


def editing(seen: Observation, *, file: str = "touched-{n}.txt", text: str = "Done.") -> Moves:
    """Write a new file before every stop."""
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
    """Stop a number of times, then fix the cause with one edit or command, then only stop."""
    for _ in range(after):
        yield Stop(text=text)
    yield RunCommand(command=run) if run else Edit(file=file, text=contents)
    while True:
        yield Stop(text=text)


def promising(seen: Observation, *, tag: str, text: str = "Done.") -> Moves:
    """Write a promise tag into the text of every stop."""
    while True:
        yield Stop(text=f"{text} <promise>{tag}</promise>")


def quoting(seen: Observation, *, text: str = "") -> Moves:
    """Quote the last message, or a given text, at every stop."""
    while True:
        quoted = text or (seen.messages[-1].text if seen.messages else "")
        seen = yield Stop(text=f'You said: "{quoted}"')


def repeating(seen: Observation, *, run: str = "true", times: int = 3, text: str = "Done.") -> Moves:
    """Run the same command several times before every stop."""
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
    """Switch a file between two texts, with a stop after each change."""
    while True:
        yield Edit(file=file, text=one)
        yield Stop(text=text)
        yield Edit(file=file, text=other)
        yield Stop(text=text)


BEHAVIOURS: Mapping[str, BehaviourFunction] = {
    function.__name__: function
    for function in (idle, obedient, editing, fixing, promising, quoting, repeating, oscillating)
}

# Behaviours that repeat the same moves forever, except for numbers.
STEADY = frozenset({"idle", "obedient", "editing", "promising", "quoting", "repeating", "oscillating"})

# Behaviours that make the same moves whatever they are told.
DEAF = frozenset(BEHAVIOURS) - {"quoting"}


def number_options(name: str) -> frozenset[str]:
    """Return the options of a behaviour that are whole numbers; none if it is unknown."""
    function = BEHAVIOURS.get(name)
    parameters = {} if function is None else inspect.signature(function).parameters
    return frozenset(key for key, parameter in parameters.items() if isinstance(parameter.default, int))


def begin(behaviour: Behaviour, known: Mapping[str, BehaviourFunction], seen: Observation) -> Moves:
    """
    Start a behaviour with the agent's first observation.

    Raises:
        UnknownBehaviour: The name is unknown, or the behaviour does not have one of the options.
    """
    function = known.get(behaviour.name)
    if function is None:
        hint = name_hint(behaviour.name, sorted(known), "behaviours")
        raise UnknownBehaviour(f"unknown behaviour {behaviour.name!r}{hint}")
    signature = inspect.signature(function)
    parameters = [*signature.parameters.values()][1:]
    names = [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
    other = next((name for name in behaviour.options if name not in names), None)
    if other is not None and len(names) == len(parameters):
        hint = name_hint(other, names, "options") if names else "; it has no options"
        raise UnknownBehaviour(f"behaviour {behaviour.name!r} has no option {other!r}{hint}")
    try:
        signature.bind(seen, **behaviour.options)
    except TypeError as error:
        takes = ", ".join(names) or "no options"
        raise UnknownBehaviour(f"behaviour {behaviour.name!r}: {error}; it takes: {takes}") from None
    return function(seen, **behaviour.options)


@contextmanager
def errors_at(scenario: Scenario) -> Generator[None]:
    """Name the place in the scenario's file in an error about the behaviour of its agent."""
    try:
        yield
    except UnknownBehaviour as error:
        if scenario.origin is None:
            raise
        line = scenario.origin.line(scenario.mark("agent"))
        raise UnknownBehaviour(f"{scenario.origin.file}:{line} agent: {error}") from None
