"""
Made-up payloads: an input for any event, from its field table.

Faker is imported only when a payload is made.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness.model.moves import Edit, Read, RunCommand
from pytest_hookharness.model.protocol import EventFields, Field, Json

if TYPE_CHECKING:
    from faker import Faker

Operation: TypeAlias = RunCommand | Edit | Read
# What a host tells of a call, given its folder and what the call may do.
Sample: TypeAlias = Callable[[str, tuple[Operation, ...]], Mapping[str, Json]]


class UnknownField(ValueError):
    """
    A key that the hooks of an event are never given.
    """


def make_payload(
    rules: EventFields, *, seed: int = 0, sample: Sample = lambda _folder, _operations: {}, **fixed: Json
) -> dict[str, Json]:
    """
    An input for the hooks of an event: made-up values, equal for equal seeds, and the fixed ones.

    Args:
        rules: The field table of the event.
        seed: What the made-up values follow from.
        sample: Puts a made-up call into the words of the host.
        fixed: Values by key.

    Raises:
        UnknownField: A fixed key is none of the event's.
    """
    names = [field.name for field in rules.fields]
    for name in fixed:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownField(
                f"{rules.event} hooks are not given {name!r}; they are given {', '.join(names)}{hint}"
            )
    from faker import Faker  # noqa: PLC0415 - it costs more to import than all else together

    faker = Faker()
    faker.seed_instance(f"{seed} {rules.event}")
    payload: dict[str, Json] = {}
    folder = str(fixed.get("cwd") or f"/home/{faker.user_name()}/{faker.word()}")
    called = sample(folder, _make_operations(faker, folder))
    for field in rules.fields:
        # Drawn in any case, so that fixing one value leaves all others as they are.
        made = _make(field, faker, folder=folder, event=rules.event)
        payload[field.name] = fixed.get(field.name, called.get(field.source or field.name, made))
    return payload


def _make(field: Field, faker: Faker, *, folder: str, event: str) -> Json:
    if field.choices:
        return str(faker.random_element(field.choices))
    match field.kind:
        case "uuid":
            return str(faker.uuid4())
        case "folder":
            return folder
        case "path":
            return posixpath.join(folder, str(faker.file_name()))
        case "word":
            return str(faker.word())
        case "flag":
            return bool(faker.boolean())
        case "count":
            return int(faker.random_int(0, 999))
        case "list":
            return []
        case "object" | "input" | "response":
            return {}
        case "nothing":
            return None
        case "event":
            return event
        case _:
            return str(faker.sentence())


def _make_operations(faker: Faker, folder: str) -> tuple[Operation, ...]:
    command, text = f"echo {faker.word()}", str(faker.sentence())
    path, other = posixpath.join(folder, str(faker.file_name())), str(faker.word())
    made: tuple[Operation, ...] = (
        RunCommand(command=command),
        Edit(file=path, text=f"{text}\n"),
        Edit(file=path, text=other, old=text),
        Read(file=path),
    )
    return tuple(faker.random_sample(made, len(made)))
