"""
Write a scenario that a program made as the text of a scenario file.

Values are written as JSON, which is valid YAML, so that no text is read as another type. A scenario with
anything that this module cannot write is refused; nothing is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from pytest_hookharness.model import moves
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.scenario_files.schema.texts import REPOSITORY

_BEYOND = re.compile(r"[^\x20-\x7e]")


class Unwritable(ValueError):
    """A scenario contains something that this module cannot write."""


def write(scenario: Scenario, *, name: str, why: str, folder: str = "") -> str:
    """
    Return the text of a scenario file, in which ``folder``, the project or plugin, is relative to the file.

    Without a folder the scenario has no project; its files are in the text.

    The scenario's expectation is not written, so that the default applies.

    Raises:
        Unwritable: The scenario contains something that cannot be written.
    """
    keys: dict[str, Any] = {"name": name, "why": why, "host": scenario.host}
    if folder:
        keys["plugin" if scenario.plugin is not None else "project"] = folder
    if scenario.hooks is not None:
        keys["hooks"] = scenario.hooks
    if scenario.git != (folder == REPOSITORY):
        keys["git"] = scenario.git
    answers = [
        {"event": answer.event, "type": answer.type, "reply": dict(answer.reply)}
        for answer in scenario.answers
    ]
    world = {"subfolder": scenario.subfolder, "answers": answers}
    more = {
        "env": dict(scenario.env),
        "options": dict(scenario.options),
        "order": {event: [*places] for event, places in scenario.order.items()},
        "commands": {word: _double(word, double) for word, double in scenario.commands.items()},
        "world": {key: value for key, value in world.items() if value},
        "vary": [request.family for request in scenario.vary],
        "modes": {path: f"{mode:04o}" for path, mode in scenario.modes.items()},
    }
    keys |= {key: value for key, value in more.items() if value}
    lines = [f"{key}: {_json(value)}" for key, value in keys.items()]
    if scenario.files:
        lines += ["files:", *(line for path, text in scenario.files.items() for line in _file(path, text))]
    then = scenario.script.then
    acts = [each for act in scenario.script.acts for each in _acts(act)]
    acts.append({"then": {then.name: dict(then.options)} if then.options else then.name})
    lines += ["agent:", *(f"  - {_json(act)}" for act in acts)]
    return "\n".join([*lines, ""])


def _json(value: object) -> str:
    # JSON escapes characters above U+FFFF as surrogate pairs, which YAML does not accept.
    return _BEYOND.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _file(path: str, text: str) -> Iterator[str]:
    """Yield a file of the workspace as lines that a person can read, where YAML has a form for its text."""
    readable = text.endswith("\n") and not text.endswith("\n\n") and text[0] not in " \n"
    if readable and not _BEYOND.search(text.replace("\n", "")) and " \n" not in text:
        yield f"  {_json(path)}: |"
        yield from (f"    {line}" if line else "" for line in text.splitlines())
    else:
        yield f"  {_json(path)}: {_json(text)}"


def _acts(act: moves.Act) -> Iterator[dict[str, Any]]:
    if say := getattr(act, "say", ""):
        yield {"say": say}
    yield _act(act)


def _double(word: str, double: Double) -> dict[str, Any]:
    if double.does:
        raise Unwritable(f"the moves of the test double of {word} cannot be written")
    usual = Double()
    keys = {field.name: getattr(double, field.name) for field in fields(Double)}
    # A record needs a key.
    return {name: value for name, value in keys.items() if value != getattr(usual, name)} or {"exit": 0}


def _act(act: moves.Act) -> dict[str, Any]:
    match act:
        case moves.Prompt(text=text):
            return {"prompt": {"text": text}}
        case moves.RunCommand(command=command):
            return {"run": command, **_modifiers(act)}
        case moves.Edit(file=file, text=text, old=old):
            passage = {} if old is None else {"old": old}
            return {"edit": {"file": file, "text": text, **passage}, **_modifiers(act)}
        case moves.Read(file=file):
            return {"read": {"file": file}, **_modifiers(act)}
        case moves.Tools(calls=(moves.ToolCall(name=name, input=data) as call,)):
            return {"tool": {"name": name, "input": data}, **_modifiers(call)}
        case moves.Stop(text=text):
            return {"stop": text}
        case moves.Wait(seconds=seconds):
            return {"wait": f"{seconds:g}s"}
        case moves.Subagent(kind=kind, prompt=prompt, texts=texts, received=received):
            said = texts[0] if len(texts) == 1 else list(texts)
            checked = {"received": received} if received else {}
            return {"subagent": {"kind": kind, "prompt": prompt, "text": said, **checked}}
        case moves.Compact(trigger=trigger):
            return {"compact": trigger}
        case moves.End(reason=reason):
            return {"end": reason}
        case _:
            raise Unwritable(f"the act {act} cannot be written")


def _modifiers(call: moves.RunCommand | moves.Edit | moves.Read | moves.ToolCall) -> dict[str, Any]:
    modifiers: dict[str, Any] = {} if call.expect is None else {"expect": call.expect}
    if given := call.given:
        modifiers["result"] = {"text": given.text, "failed": True} if given.failed else given.text
    return modifiers
