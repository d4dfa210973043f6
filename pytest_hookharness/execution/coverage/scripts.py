"""
Scripts that hooks run: the project's file behind each, its statements, and which of these ran.

Hooks run copies. A line of a copy is a line of the original only as long as both hold the same text.

A statement is what bash reports in a trace when it runs: commands, assignments, tests and the heads of
``for``, ``select`` and ``case``; not function definitions, a redirection alone, or words such as ``then``.
What a statement substitutes, ``$(...)`` and ``<(...)``, is part of it: bash 5.2 reports lines for it that are
wrong by up to its whole length. The same is true of a here-document.

A traced line proves nothing by its number: for `eval`, traps and the body of a substitution bash reports
lines on which something else may stand. So the traced text has to begin as the statement does.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_hookharness.execution.paths import WorkspaceError, read_bytes
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.line_coverage import Gap, TracedLine
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.protocol import fill_variables

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_SIZE = 4 << 20
_SUFFIXES = (".sh", ".bash", ".py")
_BASH = re.compile(rb"#!.*\bbash\b")
_PYTHON = re.compile(rb"#!.*\bpython")
_SHELL = re.compile(rb"#!.*\b(sh|dash|ash|ksh|mksh|zsh)\b")
INLINE = "a scenario writes it itself (`files`) or it was changed meanwhile, so its lines are in no file"
GONE = "it no longer exists"
OWN_TRACE = (
    "it, or a file that it may load, sets or reads options such as xtrace, or closes all descriptors, so the "
    "trace is left to it"
)
CLEARED = "line {line} starts a process with a cleared environment, which is not recorded"
TAKEN = "line {line} of {script} began a trace, which the recorder took from standard error; run it without"
_SILENT = {
    "bash": "bash reported nothing of it: started as sh, with -p, or with a cleared environment (env -i), or "
    "older than 4.1",
    "python": "Python reported nothing of it: started with -I, -E or -S or with a cleared environment "
    "(env -i), killed, or older than 3.10",
    "shell": "it is run by another shell than bash, which writes a trace to standard error only",
    "other": "it is written neither for bash nor for Python",
}


@dataclass(frozen=True, slots=True)
class SourceMap:
    """
    Finds the file behind a script.

    Attributes:
        copies: Folders that hooks see, and the folders that these are copies of.
        base: The folder of the workspace; what lies in it and is not a copy belongs to no project.
        own: Folders of the harness, whose scripts are not the hooks'.
    """

    copies: Mapping[Path, Path]
    base: Path
    own: tuple[Path, ...]

    def find(self, script: str) -> str | Gap | None:
        """Return the project's file; a gap where there is none, and ``None`` for a script of the harness."""
        path = Path(script)
        if any(path.is_relative_to(folder) for folder in self.own):
            return None
        for copy, source in self.copies.items():
            if path.is_relative_to(copy) and copy != source:
                original = source / path.relative_to(copy)
                text = _content(original)
                # Compared at the end of the run: a hook may have changed its own copy.
                same = text is not None and text == _content(path)
                return os.path.realpath(original) if same else Gap(str(path.relative_to(copy)), INLINE)
        if path.is_relative_to(self.base):
            return Gap(str(path.relative_to(self.base)), INLINE)
        return os.path.realpath(path) if _content(path) is not None else Gap(script, GONE)


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(Path(os.path.realpath(path)), most=_MAX_SIZE)
    except WorkspaceError:
        return None


def called_scripts(spec: ProcessSpec) -> Iterator[str]:
    """Yield the scripts that a command line names."""
    for word in _words(spec.argv):
        filled = fill_variables(word, spec.env)
        path = os.path.normpath(os.path.join(spec.cwd, filled))
        text = _content(Path(path)) if "/" in filled and "\0" not in filled else None
        if text is not None and (text.startswith(b"#!") or path.endswith(_SUFFIXES)):
            yield path


def _words(argv: Sequence[str]) -> Iterator[str]:
    for word in argv:
        try:
            yield from shlex.split(word)
        except ValueError:
            yield word


def why_silent(script: str) -> str:
    """Explain why nothing was recorded of a script that ran."""
    first = (_content(Path(script)) or b"").split(b"\n", 1)[0]
    if _BASH.match(first) or (not first.startswith(b"#!") and script.endswith((".sh", ".bash"))):
        return _SILENT["bash"]
    if _PYTHON.match(first) or script.endswith(".py"):
        return _SILENT["python"]
    return _SILENT["shell" if _SHELL.match(first) else "other"]


# Words that bash writes in a trace as they stand in the script, whatever the values of variables.
_PLAIN = re.compile(r"[A-Za-z0-9_./:,+@%-]+")
# The words after these are traced, and these are not.
_PREFIXES = frozenset({"time", "coproc"})
_PARTS = frozenset(
    {"command_substitution", "process_substitution", "heredoc_body", "string", "raw_string", "ERROR"}
)
# The most characters of a traced command that are kept for certain.
_MAX_TEXT = 100
_PRAGMA = "pragma: no cover"


class ShellExtraMissing(ImportError):
    """The libraries that read shell scripts are not installed."""

    def __init__(self) -> None:
        super().__init__(
            "shell coverage needs tree-sitter; install it: pip install 'pytest-hookharness[shell]'"
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """
    One part of a script that bash reports when it runs.

    Attributes:
        first: The line on which it begins, by which it is counted.
        last: The last line that bash may report for it.
        begins: How its traced text begins, as far as that can be predicted; empty for anything.
    """

    first: int
    last: int
    begins: str


@dataclass(frozen=True, slots=True)
class ScriptLines:
    """The statements of a script, and the lines that its author excluded from coverage."""

    statements: tuple[Statement, ...]
    excluded: frozenset[int]

    @property
    def lines(self) -> frozenset[int]:
        """The lines that count."""
        return frozenset(statement.first for statement in self.statements)


def read_script(source: bytes) -> ScriptLines:
    """Find the statements of a script; raise `ShellExtraMissing` if no library for that is installed."""
    try:
        import tree_sitter_bash
        from tree_sitter import Language, Parser
    except ImportError as error:
        raise ShellExtraMissing from error
    root = Parser(Language(tree_sitter_bash.language())).parse(source).root_node
    return ScriptLines(tuple(_statements(root)), frozenset(_excluded(root)))


def _statements(root: Node) -> Iterator[Statement]:
    pending = [root]
    while pending:
        node = pending.pop()
        match node.type:
            case "command":
                yield _statement(node, _beginning(node))
                continue
            case "declaration_command" | "unset_command":
                yield _statement(node, f"{_text(node.children[0])} ")
                continue
            case "variable_assignment":
                # With a bracket for an element of an array, and with `+=` where bash reports it so.
                operator = "+=" if any(child.type == "+=" for child in node.children) else "="
                yield _statement(node, f"{_text(node.children[0])}{operator}")
                continue
            case "test_command":
                opening = _text(node.children[0])
                yield _statement(node, {"[": "'[' ", "((": "(("}.get(opening, f"{opening} "))
                continue
            case "compound_statement" if node.children and node.children[0].type == "((":
                yield _statement(node, "((")
                continue
            case "for_statement":
                yield _head(node, f"{_text(node.children[0])} {_text(node.children[1])} ", "do_group")
            case "c_style_for_statement":
                yield _head(node, "((", "do_group")
            case "case_statement":
                yield _head(node, "case ", "case_item")
            case kind if kind in _PARTS:
                continue
            case _:
                pass
        pending += reversed(_within(node))


def _within(node: Node) -> list[Node]:
    """List the children that can hold statements: no words of a ``for``, and no subject of a ``case``."""
    kinds = {
        "for_statement": ("do_group", "compound_statement"),
        "c_style_for_statement": ("do_group", "compound_statement"),
        "case_statement": ("case_item",),
    }.get(node.type)
    return [child for child in node.children if kinds is None or child.type in kinds]


def _statement(node: Node, begins: str) -> Statement:
    return Statement(node.start_point.row + 1, node.end_point.row + 1, begins)


def _head(node: Node, begins: str, body: str) -> Statement:
    ends = next(
        (child.start_point.row for child in node.children if child.type == body), node.start_point.row
    )
    return Statement(node.start_point.row + 1, ends + 1, begins)


def _beginning(command: Node) -> str:
    """Return the first words of a command, up to the first that is not traced as it stands there."""
    words: list[str] = []
    for child in command.named_children:
        if child.type == "variable_assignment" and not words:
            continue
        text = _text(child)
        if not _PLAIN.fullmatch(text) or text in _PREFIXES:
            break
        words.append(text)
    return "".join(f"{word} " for word in words)[:_MAX_TEXT]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _excluded(root: Node) -> Iterator[int]:
    """Yield lines with coverage's own comment, and all lines of what begins on them."""
    marked = {
        node.start_point.row for node in _nodes(root) if node.type == "comment" and _PRAGMA in _text(node)
    }
    if not marked:
        return
    for node in _nodes(root):
        if node.is_named and node.type != "program" and node.start_point.row in marked:
            yield from range(node.start_point.row + 1, node.end_point.row + 2)


def _nodes(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += node.children


def lines_run(statements: Sequence[Statement], traced: Iterable[TracedLine]) -> frozenset[int]:
    """Return the lines of the statements that ran."""
    at: dict[int, list[Statement]] = {}
    for statement in statements:
        for line in range(statement.first, statement.last + 1):
            at.setdefault(line, []).append(statement)
    return frozenset(
        statement.first
        for one in traced
        for statement in at.get(one.line, ())
        if f"{one.text} ".startswith(statement.begins)
    )
