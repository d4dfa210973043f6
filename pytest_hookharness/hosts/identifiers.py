"""
This module is concerned with values that a host makes up: identifiers and times.

Middle floor: hosts. They follow from the seed and a position, so that a run can be repeated.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def derive_digest(seed: int, *parts: object) -> str:
    """
    A hexadecimal digest of a seed and a position.
    """
    text = "\n".join(str(part) for part in (seed, *parts))
    return hashlib.sha256(text.encode()).hexdigest()


def derive_uuid(seed: int, *parts: object) -> str:
    """
    An identifier that looks like a random UUID.
    """
    digest = derive_digest(seed, *parts)
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def derive_moment(position: int, waited: float) -> datetime:
    """
    A time: one second for each position, and what the script waited.
    """
    return _EPOCH + timedelta(seconds=position + waited)


def derive_time(position: int, waited: float) -> str:
    """
    The same as a time stamp.
    """
    return derive_moment(position, waited).isoformat(timespec="milliseconds").replace("+00:00", "Z")
