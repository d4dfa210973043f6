"""
The lines of shell scripts: those that can be run, and those that were.

Pure.

Statements: where in a shell script bash can say that it runs something.

Pure. Bash tells of commands, assignments, tests and the heads of ``for``, ``select`` and
``case``; not of function definitions, of a redirection alone, nor of words such as ``then``. What a statement
substitutes, ``$(...)`` and ``<(...)``, is part of it: bash 5.2 names lines for it that are up to its whole
length off. So is a here-document.

Hits: the statements of a script that its trace shows to have run.

Pure. A line alone proves nothing: for `eval`, traps and what a command substitutes bash
names lines on which something else may stand. So what was traced has to begin as the statement does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_hookharness.model.line_coverage import TracedLine

if TYPE_CHECKING:
    from tree_sitter import Node

# What bash writes in a trace as it stands in the script, whatever the values of variables.
_PLAIN = re.compile(r"[A-Za-z0-9_./:,+@%-]+")
# What follows these is traced, and not they.
_PREFIXES = frozenset({"time", "coproc"})
_PARTS = frozenset(
    {"command_substitution", "process_substitution", "heredoc_body", "string", "raw_string", "ERROR"}
)
# Of what bash tells at least that much is kept.
_KEPT = 100
_PRAGMA = "pragma: no cover"


class ShellExtraMissing(ImportError):
    """
    The libraries are missing that read shell scripts.
    """

    def __init__(self) -> None:
        super().__init__(
            "lines of shell scripts cannot be told without tree-sitter; "
            "install it: pip install 'pytest-hookharness[shell]'"
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """
    One thing that bash tells of when it runs it.

    Attributes:
        first: The line on which it begins, by which it is counted.
        last: The last line that bash may name for it.
        begins: How what bash tells begins, as far as it can be foreseen; empty for anything.
    """

    first: int
    last: int
    begins: str


@dataclass(frozen=True, slots=True)
class ScriptLines:
    """
    What can be run in a script.

    Attributes:
        statements: Everything that bash tells of.
        excluded: Lines that the author does not want counted.
    """

    statements: tuple[Statement, ...]
    excluded: frozenset[int]

    @property
    def lines(self) -> frozenset[int]:
        """
        The lines that count.
        """
        return frozenset(statement.first for statement in self.statements)


def read_script(source: bytes) -> ScriptLines:
    """
    Find what can be run in a script.

    Raises:
        ShellExtraMissing: Nothing is installed that reads shell scripts.
    """
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
                # With a bracket for one of an array, and with `+=` where bash says so.
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
    """
    What stands in a node and can hold statements: not the words of a ``for``, nor what a ``case`` compares.
    """
    if node.type in ("for_statement", "c_style_for_statement"):
        return [child for child in node.children if child.type in ("do_group", "compound_statement")]
    if node.type == "case_statement":
        return [child for child in node.children if child.type == "case_item"]
    return list(node.children)


def _statement(node: Node, begins: str) -> Statement:
    return Statement(node.start_point.row + 1, node.end_point.row + 1, begins)


def _head(node: Node, begins: str, body: str) -> Statement:
    ends = next(
        (child.start_point.row for child in node.children if child.type == body), node.start_point.row
    )
    return Statement(node.start_point.row + 1, ends + 1, begins)


def _beginning(command: Node) -> str:
    """
    The first words of a command, up to one that is not traced as it stands there.
    """
    words: list[str] = []
    for child in command.named_children:
        if child.type == "variable_assignment" and not words:
            continue
        text = _text(child)
        if not _PLAIN.fullmatch(text) or text in _PREFIXES:
            break
        words.append(text)
    return "".join(f"{word} " for word in words)[:_KEPT]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _excluded(root: Node) -> Iterator[int]:
    """
    Lines with the words that coverage knows, and all of what begins on them.
    """
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
    """
    The lines of the statements that ran.
    """
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
