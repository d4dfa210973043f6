"""
The operating system.

Only this folder knows which system it runs on, and makes system calls that the standard library lacks.
``current`` has the module of this system, ``linux`` or ``darwin``. What macOS lacks is in the modules
``linux_*``, which the rest of the package imports on every system: where the kernel does not know a call,
their functions raise ``OSError`` or answer that nothing is known.
"""

from __future__ import annotations

import sys


def why_unsupported() -> str:
    """Return why hooks cannot be run on this system; empty if they can."""
    if sys.platform in ("linux", "darwin"):
        return ""
    return (
        f"pytest-hookharness runs hooks only on Linux and macOS, and this is {sys.platform}; "
        "use a container or WSL"
    )
