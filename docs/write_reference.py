"""Write the pages of reference and both JSON Schemas from the tables that the package goes by."""

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.agents.behaviours import BEHAVIOURS
from pytest_hookharness.reports.terminal.host_facts import hosts_table
from pytest_hookharness.reports.trace.schema import schema as trace_schema
from pytest_hookharness.scenario_files.json_schema import export, schema
from pytest_hookharness.scenario_files.keys.common import DURATION, TIME_LIMIT

PAGES = Path(__file__).parent / "reference"
PACKAGE = Path(__file__).parent.parent / "pytest_hookharness"
MADE = "<!-- made by docs/write_reference.py; changes to this page are lost -->\n"
Schema = Mapping[str, Any]
KINDS_OF_VALUES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "nothing",
}
DURATIONS = [export(one)["anyOf"] for one in (DURATION, TIME_LIMIT)]
MOST_KEYS = 12
HOW_TO = Path(__file__).parent / "how-to" / "another-kind-of-agent.md"
TABLE = "<!-- this table is made by docs/write_reference.py -->"


def allowed(schema: Schema, top: Schema) -> str:
    """What may stand at a place, in words."""
    if "$ref" in schema:
        return allowed(top["$defs"][schema["$ref"].rpartition("/")[2]], top)
    if schema.get("anyOf") in DURATIONS:
        return "a time such as `500ms`, `10s`, `2m`, `1h`, `1d`; or a number of seconds"
    if "anyOf" in schema:
        return "; or ".join(dict.fromkeys(allowed(one, top) for one in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{str(schema['const']).lower()}`"
    match schema.get("type"):
        case "array":
            return f"a list: {allowed(schema.get('items', {}), top)}"
        case "object" if schema.get("properties"):
            keys = list(schema["properties"])
            more = " and more" if len(keys) > MOST_KEYS else ""
            return f"a mapping with {', '.join(f'`{key}`' for key in keys[:MOST_KEYS])}{more}"
        case "object":
            return f"{allowed(schema['additionalProperties'], top)}, by name"
        case list(kinds):
            return "; or ".join(KINDS_OF_VALUES[kind] for kind in kinds)
        case None:
            return "anything that JSON can say"
        case kind:
            return "a regular expression" if schema.get("format") == "regex" else KINDS_OF_VALUES[kind]


def rows(properties: Schema, top: Schema, needed: tuple[str, ...] = ()) -> Iterator[str]:
    """A row of a table for each key."""
    for name, shape in properties.items():
        described = shape if "description" in shape else top["$defs"][shape["$ref"].rpartition("/")[2]]
        may = allowed(shape, top).replace("|", "\\|")
        yield f"| `{name}` | {described['description']}{' Needed.' if name in needed else ''} | {may} |"


def table(head: str, properties: Schema, top: Schema, needed: tuple[str, ...] = ()) -> str:
    """A table of keys."""
    return "\n".join(
        [f"| {head} | says | allowed |", "| --- | --- | --- |", *rows(properties, top, needed), ""]
    )


def acts(top: Schema) -> Iterator[tuple[str, Schema]]:
    """The moves and events of a script, with their schemas."""
    for one in top["$defs"]["agent"]["items"]["anyOf"]:
        if one.get("type") == "object":
            yield one["required"][0], one["properties"]


def behaviours() -> str:
    """Return the table of what an agent can do after its script, with the options and their defaults."""
    lines = ["| behaviour | what the agent does | options |", "| --- | --- | --- |"]
    for name, function in BEHAVIOURS.items():
        words = (function.__doc__ or "").partition("\n")[0].removesuffix(".")
        parameters = inspect.signature(function).parameters.values()
        options = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
        shown = ", ".join(f"`{one.name}` ({default_of(one)})" for one in options)
        lines.append(f"| `{name}` | {words} | {shown} |")
    return "\n".join([*lines, ""])


def default_of(option: inspect.Parameter) -> str:
    """Return the default of an option of a behaviour."""
    if option.default is option.empty:
        return "needed"
    return f"`{json.dumps(option.default)}`" if option.default != "" else "none"


def of_how_to(page: str) -> str:
    """Return the page about behaviours with its table made anew."""
    before, _, rest = page.partition(TABLE)
    behind = rest.partition("\n\n")[2].partition("\n\n")[2]
    return f"{before}{TABLE}\n\n{behaviours()}\n{behind}"


def of_moves(top: Schema) -> str:
    """The page of the agent's moves, and of what happens to it."""
    head = (
        f"# Moves and events\n\n{MADE}\nWhat may stand in the list under `agent`, and `expect` beside it.\n"
    )
    parts = [f"## {name}\n\n{table('key', properties, top)}" for name, properties in acts(top)]
    return "\n".join([head, *parts, behaviours()])


def pages() -> dict[str, str]:
    """All pages by file name."""
    top = schema()
    keys = table("key", top["properties"], top, tuple(top["required"]))
    world = table("key", top["$defs"]["world"]["properties"], top)
    expectations = table("expectation", top["$defs"]["expect"]["properties"], top)
    known = hosts_table([hosts.summarise(profile) for profile in hosts.known()])
    return {
        "scenario-keys.md": f"# Keys of a scenario file\n\n{MADE}\n{keys}\n## Keys of `world`\n\n{world}",
        "moves.md": of_moves(top),
        "expectations.md": f"# Expectations\n\n{MADE}\nWhat may stand under `expect`.\n\n{expectations}",
        "hosts.md": f"# Hosts\n\n{MADE}\n```text\n{known}\n```\n",
    }


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    HOW_TO.write_text(of_how_to(HOW_TO.read_text()))
    for name, text in pages().items():
        (PAGES / name).write_text(text)
    for name, made in (("scenario", schema()), ("trace", trace_schema())):
        (PACKAGE / f"{name}.schema.json").write_text(f"{json.dumps(made, indent=2)}\n")
