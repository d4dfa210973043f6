"""
This module is concerned with made-up payloads: an input for any event, from its field table.

Middle floor: agents. Faker is imported only when a payload is made.
"""

from __future__ import annotations

import difflib
import posixpath
from typing import TYPE_CHECKING

from pytest_hookharness.model.protocol import EventFields, Field, Json

if TYPE_CHECKING:
    from faker import Faker


class UnknownField(ValueError):
    """
    A key that the hooks of an event are never given.
    """


def make_payload(rules: EventFields, *, seed: int = 0, **fixed: Json) -> dict[str, Json]:
    """
    An input for the hooks of an event: made-up values, equal for equal seeds, and the fixed ones.

    Args:
        rules: The field table of the event.
        seed: What the made-up values follow from.
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
    for field in rules.fields:
        # Drawn in any case, so that fixing one value leaves all others as they are.
        tool = str(payload.get("tool_name", "Bash"))
        made = _make(field, faker, folder=folder, event=rules.event, tool=tool)
        payload[field.name] = fixed.get(field.name, made)
    return payload


def _make(field: Field, faker: Faker, *, folder: str, event: str, tool: str) -> Json:
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
        case "object":
            return {}
        case "nothing":
            return None
        case "event":
            return event
        case "input":
            return _make_input(faker, folder, tool)
        case "response":
            return {"stdout": str(faker.sentence()), "stderr": "", "interrupted": False, "isImage": False}
        case _:
            return str(faker.sentence())


def _make_input(faker: Faker, folder: str, tool: str) -> Json:
    command, text = f"echo {faker.word()}", str(faker.sentence())
    path, other = posixpath.join(folder, str(faker.file_name())), str(faker.word())
    match tool:
        case "Bash":
            return {"command": command, "description": text}
        case "Write":
            return {"file_path": path, "content": f"{text}\n"}
        case "Edit":
            return {"file_path": path, "old_string": text, "new_string": other}
        case "Read":
            return {"file_path": path}
        case _:
            return {}
