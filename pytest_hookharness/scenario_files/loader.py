"""Load scenarios from a file, a text or plain Python data, all by the same tables of keys."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from pytest_hookharness.model.moves import Script
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.scenario_files import variants
from pytest_hookharness.scenario_files.keys.scenario import SCENARIO, SCRIPT
from pytest_hookharness.scenario_files.schema.shapes import RecordShape, Values
from pytest_hookharness.scenario_files.schema.validate import FAILED, Conversion
from pytest_hookharness.scenario_files.yaml.elements import (
    MAX_DEPTH,
    Element,
    ListNode,
    Problems,
    RefusedNode,
    ScalarNode,
    TableEntry,
    TableNode,
    join,
    marks,
    place_of,
    shown,
)


def elements_of(data: object, problems: Problems, path: str = "", depth: int = 0) -> Element:
    """Return the elements of a value; a value that JSON does not have becomes a problem."""
    match data:
        case str():
            return _text(data, problems, path)
        case None | bool() | int():
            return ScalarNode(value=data)
        case float():
            return _number(data, problems, path)
        case os.PathLike():
            path_text = os.fsdecode(cast("os.PathLike[str]", data))
            return ScalarNode(value=path_text, text=path_text, trusted=True)
        case Mapping() | Sequence() if depth >= MAX_DEPTH:
            problems.add((0, 0), path, f"nested more than {MAX_DEPTH} levels deep")
        case bytes() | bytearray():
            problems.add((0, 0), path, "bytes are not allowed; decode them to a text")
        case Mapping():
            return TableNode(
                entries=tuple(_entries(cast("Mapping[object, object]", data), problems, path, depth))
            )
        case Sequence():
            items = enumerate(cast("Sequence[object]", data))
            return ListNode(items=tuple(elements_of(x, problems, join(path, n), depth + 1) for n, x in items))
        case _:
            kind = type(data).__name__
            problems.add((0, 0), path, f"a value of type {kind} is not allowed", allowed=("JSON values",))
    return RefusedNode()


def _entries(
    data: Mapping[object, object], problems: Problems, path: str, depth: int
) -> Iterator[TableEntry]:
    for key, value in data.items():
        if isinstance(key, str):
            yield TableEntry(key=key, value=elements_of(value, problems, join(path, key), depth + 1))
        else:
            message = f"expected a text as key, got {type(key).__name__}"
            problems.add((0, 0), path, message)


def _text(text: str, problems: Problems, path: str) -> Element:
    # Half a surrogate pair cannot be encoded, so it cannot be written to a file or pipe.
    if not text.isprintable() and any("\ud800" <= bad <= "\udfff" for bad in text):
        problems.add((0, 0), path, f"{shown(text)} contains half a surrogate pair, which no file can contain")
        return RefusedNode()
    return ScalarNode(value=str(text), text=str(text))


def _number(number: float, problems: Problems, path: str) -> Element:
    if math.isfinite(number):
        return ScalarNode(value=number)
    problems.add((0, 0), path, f"{number} is not a number that JSON has")
    return RefusedNode()


MAX_SIZE = 1 << 20


def load(
    path: Path,
    *,
    hosts: Sequence[str] | None = None,
    known_hosts: Sequence[str] | None = None,
    known_findings: Mapping[str, str] | None = None,
    known_behaviours: Collection[str] | None = None,
) -> tuple[Scenario, ...]:
    """
    Return the scenarios of a file: its base and variants, on each of ``hosts`` or else of the file's hosts.

    Args:
        known_hosts: The hosts that it may name; ``None`` for any.
        known_findings: The findings that it may name, with the reason if it must not, else an empty text.
        known_behaviours: The behaviours that it may name.

    Raises:
        ScenarioErrors: The file has problems; it lists all of them.
    """
    problems = Problems(path)
    data = read_bytes(path, problems)
    problems.raise_if_any()
    element = _compose(decode(data, problems), problems)
    if known_hosts is not None:
        variants.check_hosts(element, known_hosts, problems)
    if known_findings is not None:
        variants.check_findings(element, known_findings, problems)
    if known_behaviours is not None:
        variants.check_behaviours(element, known_behaviours, problems)
    return _scenarios(element, path, problems, hosts)


def loads(text: str, path: Path, *, hosts: Sequence[str] | None = None) -> tuple[Scenario, ...]:
    """
    Return the scenarios of the text of a file, which need not exist yet; folders are relative to it.

    Raises:
        ScenarioErrors: The text has problems.
    """
    problems = Problems(path)
    return _scenarios(_compose(text, problems), path, problems, hosts)


def _compose(text: str, problems: Problems) -> Element:
    if len(text) > MAX_SIZE:
        too_large(problems)
        problems.raise_if_any()
    # Not at the top: a scenario from Python data needs no parser.
    from pytest_hookharness.scenario_files.yaml.parser import compose

    element = compose(text, problems)
    if element is None:
        problems.raise_if_any()
    return element or RefusedNode()


def _scenarios(
    element: Element, path: Path, problems: Problems, hosts: Sequence[str] | None
) -> tuple[Scenario, ...]:
    variants.check_removals(element, problems)
    values = convert(SCENARIO, element, Conversion(problems, path.parent))
    return tuple(variants.assemble(values, Origin(file=path, marks=marks(element)), hosts))


def scenario_from(data: Mapping[str, object], *, path: Path | None = None) -> Scenario:
    """
    Return the scenario of a mapping in Python code, which has the keys of a scenario file.

    Folders are relative to ``path``. Without it, or if given as path objects, they may be anywhere.

    Raises:
        ScenarioErrors: The mapping has problems; they have no line numbers.
    """
    problems = Problems(path)
    element = elements_of(data, problems)
    for entry in element.entries if isinstance(element, TableNode) else ():
        if entry.key == "variants":
            problems.add(entry, entry.key, "variants belong in a file; this is one scenario")
    folder = path.parent if path is not None else Path()
    values = convert(SCENARIO, element, Conversion(problems, folder, confined=path is not None))
    if len(values.get("host", ())) > 1:
        problems.add((0, 0), "host", "several hosts belong in a file; this is one scenario")
        problems.raise_if_any()
    return next(variants.assemble(values, Origin(file=path) if path is not None else None, None))


def script_from(acts: Sequence[object], *, then: object = None, when: object = None) -> Script:
    """
    Return a script from plain Python data, in the format of ``agent``, ``then`` and ``when`` in a file.

    Raises:
        ScenarioErrors: The data have problems; they have no line numbers. It is a ``ValueError``.
    """
    problems = Problems()
    given = {"agent": acts, "then": then, "when": when}
    element = elements_of({key: value for key, value in given.items() if value is not None}, problems)
    ending = acts[-1] if acts else None
    if then is not None and isinstance(ending, Mapping) and "then" in ending:
        problems.add((0, 0), "then", "then is given twice: here and as the last act")
    return variants.script_of(convert(SCRIPT, element, Conversion(problems, Path())))


def convert(record: RecordShape, element: Element, conversion: Conversion) -> Values:
    """Return the values of a document; raise ``ScenarioErrors`` if it has problems."""
    problems = conversion.problems
    values = conversion.read(record, element, "") if not problems.full else FAILED
    problems.raise_if_any()
    if not isinstance(values, dict):
        raise TypeError(f"{record.noun} became {values!r} without a problem")
    return values


def read_bytes(path: Path, problems: Problems) -> bytes:
    """Return the content of a file; record a problem if it is too large or not a regular file."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            problems.add((0, 0), "", "cannot be read: it is not a regular file")
        elif status.st_size > MAX_SIZE:
            too_large(problems)
        else:
            return path.read_bytes()
    except (OSError, ValueError) as error:
        problems.add((0, 0), "", f"cannot be read: {getattr(error, 'strerror', None) or error}")
    return b""


def too_large(problems: Problems) -> None:
    """Record that a file is too large."""
    problems.add((0, 0), "", f"is larger than {MAX_SIZE >> 20} MiB; move its files into a project folder")


def decode(data: bytes, problems: Problems) -> str:
    """Return the text of a file in UTF-8, with a byte order mark or none; raise ``ScenarioErrors``."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after a byte order mark.
        start = len(data) - (len(error.object) - error.start)
        before = data[:start].decode("utf-8-sig")
        line, column = place_of(before, len(before))
        bad = data[start]
        problems.add((line, column), "", f"the byte 0x{bad:02X} is not UTF-8; save the file as UTF-8")
        problems.raise_if_any()
    return ""
