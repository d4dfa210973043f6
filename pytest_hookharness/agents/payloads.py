"""Generated payloads: standard input for the hooks of any event, from the event's table of fields."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness.model.moves import Edit, Read, RunCommand
from pytest_hookharness.model.name_hint import UnknownName, name_hint
from pytest_hookharness.model.protocol import EventFields, Field, Json

if TYPE_CHECKING:
    from faker import Faker

Operation: TypeAlias = RunCommand | Edit | Read
# Return a host's payload keys for one of the given operations, in a folder.
Sample: TypeAlias = Callable[[str, tuple[Operation, ...]], Mapping[str, Json]]


class UnknownField(UnknownName):
    """A key that is not in the payload of an event."""


def make_payload(
    rules: EventFields, *, seed: int = 0, sample: Sample = lambda _folder, _operations: {}, **fixed: Json
) -> dict[str, Json]:
    """
    Return a payload for the hooks of an event: generated values, equal for equal seeds, and fixed ones.

    Args:
        sample: Returns the host's keys for a generated tool call.

    Raises:
        UnknownField: A fixed key is not in the payload of the event.
    """
    names = [field.name for field in rules.fields]
    for name in fixed:
        if name not in names:
            raise UnknownField(f"unknown key {name!r} for {rules.event}{name_hint(name, names, 'keys')}")
    from faker import Faker  # noqa: PLC0415 - importing it takes longer than importing the harness

    faker = Faker()
    faker.seed_instance(f"{seed} {rules.event}")
    payload: dict[str, Json] = {}
    folder = str(fixed.get("cwd") or f"/home/{faker.user_name()}/{faker.word()}")
    called = sample(folder, _make_operations(faker, folder))
    for field in rules.fields:
        # Generated in any case, so that fixing one value does not change the others.
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
        case "input text":
            return "{}"
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
