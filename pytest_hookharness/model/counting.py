"""
This module is concerned with numbers and their nouns.

Ground floor.
"""

from __future__ import annotations


def counted(number: object, word: str) -> str:
    """
    A number, or what is promised of one, with its noun: ``1 block``, ``2 blocks``, ``at most 1 block``.
    """
    return f"{number} {word}" if str(number).rpartition(" ")[2] == "1" else f"{number} {word}s"
