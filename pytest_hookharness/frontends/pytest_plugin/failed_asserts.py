"""How failed assertions about outcomes and responses read: what the hooks did, not Python values."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from types import MethodType
from typing import Any

import pytest

from pytest_hookharness.frontends.pytest_plugin.fixtures import TestResults
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.verdicts import Verdict, verdict_name
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.turns import render_response
from pytest_hookharness.reports.terminal.verdict_text import first_line

# The text of pytest for `assert outcome.passed`; a message of the test stands before it.
_ATTRIBUTE = re.compile(
    r"assert (?P<negated>not )?(?:True|False)\n \+  where (?:True|False) = "
    r"(?P<shown><(?:Outcome|Response) .*>)\.(?P<name>\w+)"
)


def shorten(error: BaseException, results: TestResults) -> None:
    """Give a failed assertion about an outcome or a response its headline."""
    if isinstance(error, AssertionError) and error.args and isinstance(error.args[0], str):
        error.args = (_headline(error.args[0], results), *error.args[1:])


def without_class(message: str, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    """Return the line of a failure without what says nothing: `AssertionError`, or the module of an error."""
    if message.startswith("AssertionError: "):
        return message.removeprefix("AssertionError: ")
    return message.removeprefix(f"{excinfo.type.__module__}.")


def _headline(message: str, results: TestResults) -> str:
    found = _ATTRIBUTE.search(message)
    seen: tuple[Outcome | Response, ...] = (*results.outcomes, *results.responses)
    shown = next((one for one in seen if found is not None and repr(one) == found["shown"]), None)
    if found is None or shown is None:
        return message
    wanted = f"{'not ' if found['negated'] else ''}{found['name']}"
    # What breaks `passed` is in the headline already.
    expected = "" if wanted == "passed" else f"; expected: {wanted}"
    said = first_line(shown) if isinstance(shown, Outcome) else render_response(shown).partition("\n")[0]
    return f"{message[: found.start()]}{plain(said, 400)}{expected}"


def explain_comparison(op: str, left: object, right: object) -> list[str] | None:
    """Explain why two values are not equal if one is of an outcome or a response; ``None`` if pytest can."""
    if op != "==":
        return None
    for value, other in ((left, right), (right, left)):
        if isinstance(value, MethodType) and isinstance(value.__self__, Outcome | Response):
            called = f"{type(value.__self__).__name__.lower()}.{value.__name__}"
            return [f"{called} == {other!r}", f"{called} is a method: write {called}() == {other!r}"]
        if isinstance(value, Outcome) and isinstance(other, Outcome):
            return [f"{value!r} == {other!r}", f"different: {', '.join(_differences(value, other))}"]
        if isinstance(value, Outcome | Verdict) and isinstance(other, str):
            name = value.verdict_name if isinstance(value, Outcome) else verdict_name(value)
            return [
                f"{name} == {other!r}",
                f"the name of the verdict is a value of its own: write outcome.verdict_name == {other!r}",
            ]
    return None


def _differences(one: Any, other: Any) -> Iterator[str]:
    for each in dataclasses.fields(one):
        if getattr(one, each.name) != getattr(other, each.name):
            yield each.name
