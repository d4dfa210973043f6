"""
Rows: results recorded of the real hosts, one claim each.

A digest of its name sets a fifth of all rows aside. Profiles are written without looking at those.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"
_SOURCES = ("ss_start", "ss_startup", "ss_startup_resume")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    One recorded result.

    Attributes:
        host: The host with its version.
        table: The table of results that it belongs to.
        name: Its name in the table.
        given: The behaviour of the hooks, their configuration, and the moves of the agent.
        recorded: The behaviour of the host, by term.
        events: The host's names of the events before a tool and at a stop.
    """

    host: str
    table: str
    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    recorded: Mapping[str, Any] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Table and name, unique for the host."""
        return f"{self.table}/{self.name}"

    @property
    def id(self) -> str:
        """Host, table and name."""
        return f"{self.host}/{self.key}"

    @property
    def set_aside(self) -> bool:
        """Whether it belongs to the fifth that no profile was written from."""
        return self._draw(5) == 0

    @property
    def in_quick_run(self) -> bool:
        """Whether it belongs to the fifth that every test run replays."""
        return self._draw(5) == 1

    def _draw(self, parts: int) -> int:
        return int(hashlib.sha256(self.id.encode()).hexdigest()[:8], 16) % parts


def rows() -> tuple[Row, ...]:
    """Return all rows of all hosts."""
    return tuple(row for file in sorted(DATA.glob("*/results.json")) for row in _of_host(file.parent))


def _of_host(folder: Path) -> Iterator[Row]:
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    payloads = json.loads((folder / "payloads.json").read_text(encoding="utf-8"))
    for table, read in _TABLES.items():
        if table in results:
            yield from read(results)
    yield from _payloads(payloads)


def _row(results: Mapping[str, Any], table: str, name: str, given: Any, **recorded: Any) -> Row:
    host = recorded.pop("host", results["host"])
    return Row(
        host=host, table=table, name=name, given=given, recorded=recorded, events=results.get("events", {})
    )


def _answers(table: str) -> Callable[[Mapping[str, Any]], Iterator[Row]]:
    def read(results: Mapping[str, Any]) -> Iterator[Row]:
        for one in results[table]:
            terms = {key: value for key, value in one.items() if key != "variant"}
            yield _row(results, table, one["variant"], results["variants"][table][one["variant"]], **terms)

    return read


def _more_loops(results: Mapping[str, Any]) -> Iterator[Row]:
    block, code = (results["variants"]["loop"][name] for name in ("json_block", "exit2"))
    for one in results["more_loops"]:
        terms = {key: one[key] for key in ("host", "calls", "flags", "cut") if key in one}
        said = {"command": one["command"]} if "command" in one else code if one.get("exit2") else block
        asked = {key: one[key] for key in ("env", "subagent", "between_tool") if key in one}
        yield _row(results, "loop", one["variant"], {**said, **asked}, **terms)


def _multi(results: Mapping[str, Any]) -> Iterator[Row]:
    given = results["variants"]["multi"]
    for name, labels in results["multi"]["order_of_start"].items():
        yield _row(results, "several", name, given[name], started=sorted(labels), at_once=True)
    for name, one in results["multi"].items():
        if name != "order_of_start":
            yield _row(results, "several", name, given[name], **one)


def _matchers(results: Mapping[str, Any]) -> Iterator[Row]:
    table = results["matchers"]
    for state in ("fired", "not_fired"):
        for matcher in dict.fromkeys(table[state]):
            given = {"event": results["events"]["pre"], "matcher": matcher}
            yield _row(results, "matchers", repr(matcher), given, hook_runs=state == "fired")
    start = {"ss_start": "start", "ss_startup": "startup", "ss_startup_resume": "startup|resume"}
    for name in _SOURCES:
        given = {"event": "SessionStart", "matcher": start[name]}
        yield _row(results, "matchers", name, given, hook_runs=name in table["other"])
    given = {"event": results["events"]["stop"], "matcher": "no_match_for_anything"}
    yield _row(results, "matchers", "stop_nomatch", given, hook_runs="stop_nomatch" in table["other"])


def _visibility(results: Mapping[str, Any]) -> Iterator[Row]:
    for name, one in results["visibility"].items():
        yield _row(results, "visibility", name, results["variants"]["visibility"][name], **one)


def _settings(results: Mapping[str, Any]) -> Iterator[Row]:
    for name, fired in results["settings"].items():
        yield _row(results, "settings", name, results["variants"]["settings"][name], fired=sorted(fired))


def _timeouts(results: Mapping[str, Any]) -> Iterator[Row]:
    for name, one in results["timeouts"].items():
        yield _row(results, "timeouts", name, results["variants"]["timeouts"][name], **one)


def _payloads(payloads: Mapping[str, Any]) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for one in payloads["payloads"]:
        name = one["event"] if one["session"] == "plain" else f"{one['event']}-{one['session']}"
        seen[name] = seen.get(name, 0) + 1
        terms = {key: value for key, value in one.items() if key not in ("event", "session")}
        given = {"event": one["event"], "session": one["session"]}
        named = name if seen[name] == 1 else f"{name}-{seen[name]}"
        yield _row(payloads, "payloads", named, given, **terms)


def _matrix(results: Mapping[str, Any]) -> Iterator[Row]:
    for one in results["matrix"]:
        terms = {key: value for key, value in one.items() if key not in ("answer", "event")}
        given = {**results["variants"]["answers"][one["answer"]], "event": one["event"]}
        yield _row(results, "matrix", f"{one['event']}-{one['answer']}", given, **terms)


def _loops(results: Mapping[str, Any]) -> Iterator[Row]:
    for one in results["loops"]:
        if one["host"] is not None:
            terms = {key: one[key] for key in ("host", "calls", "requests", "status", "errors")}
            yield _row(results, "loops", one["variant"], one["given"], **terms)


def _process(results: Mapping[str, Any]) -> Iterator[Row]:
    for one in results["process"]:
        terms = {key: value for key, value in one.items() if key not in ("variant", "given")}
        yield _row(results, "process", one["variant"], one["given"], **terms)


_TABLES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Row]]] = {
    "pre": _answers("pre"),
    "stop": _answers("stop"),
    "loop": _answers("loop"),
    "more_loops": _more_loops,
    "multi": _multi,
    "matchers": _matchers,
    "visibility": _visibility,
    "settings": _settings,
    "timeouts": _timeouts,
    "matrix": _matrix,
    "loops": _loops,
    "process": _process,
}
