"""The syntax tree of a Python program that a person wrote."""

from __future__ import annotations

import ast

from pytest_hookharness.model.regex import without_warnings


def parse_python(text: bytes | str) -> ast.Module | None:
    """Return the syntax tree of a program, without warnings about it; ``None`` if it cannot be parsed."""
    try:
        with without_warnings():
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
