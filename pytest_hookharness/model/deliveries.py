"""
This module is concerned with deliveries: how standard input may reach a hook, other than as its host writes.

Ground floor: values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Inlet: TypeAlias = Literal["", "socket", "pipe", "pty", "null", "closed"]
Form: TypeAlias = Literal["whole", "empty", "partial-line", "partial-json", "bom"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """
    A way of writing standard input that is not the host's usual one.

    Attributes:
        kind: What standard input is connected to; empty for what the host uses.
        close: Whether end of file is signalled afterwards.
        chunk: Write in pieces of this many bytes; ``None`` for all at once.
        delay: Seconds before the first byte and between pieces.
        shape: What is written: the ``whole`` input, nothing (``empty``), all but the end of the line
            (``partial-line``), the first half (``partial-json``), or all behind a byte order mark (``bom``).
        size: Bytes that the input has at least, by one more key that nobody knows; 0 for as it is.
        events: Ways of single events, which hold in place of this one.
    """

    kind: Inlet = ""
    close: bool = True
    chunk: int | None = None
    delay: float = 0.0
    shape: Form = "whole"
    size: int = 0
    events: Mapping[str, Delivery] = field(default_factory=dict)

    def of(self, event: str) -> Delivery:
        """
        The way for one event.
        """
        return self.events.get(event, self)
