"""
This module is concerned with wrapping: settings files whose hooks another program runs, and back again.

Middle floor: hosts. Only the texts of commands are exchanged; every other byte stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping

from pytest_hookharness.hosts.rules.configuring import ConfigRules

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|:|[^\s":/]+|.', re.DOTALL)


def command_keys(config: ConfigRules) -> frozenset[str]:
    """
    The keys behind which a host's settings have command lines.
    """
    own = config.types["command"]
    return frozenset({own, *(alias for alias, key in config.keys.aliases.items() if key == own)})


def exchange(text: str, keys: Collection[str], commands: Mapping[str, str]) -> tuple[str, int]:
    """
    Put other command lines in the place of some.

    Args:
        text: A settings file in JSON, with or without comments.
        keys: The keys behind which commands stand.
        commands: What stands there, with what is put there.

    Returns:
        The new text, and how many were exchanged.
    """
    parts: list[str] = []
    key, before, number = "", "", 0
    for piece in _PIECE.findall(text):
        told = piece
        if piece.startswith('"'):
            value = _value(piece)
            if key in keys and value in commands:
                told, number = json.dumps(commands[value], ensure_ascii=False), number + 1
            key, before = "", value
        elif piece == ":":
            key = before
        elif not piece.isspace() and not piece.startswith(("//", "/*")):
            key = before = ""
        parts.append(told)
    return "".join(parts), number


def _value(literal: str) -> str:
    try:
        value = json.loads(literal, strict=False)
    except ValueError:
        return ""
    return str(value)
