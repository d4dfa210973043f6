"""
The operating system.

Only this folder knows which system it runs on and calls the kernel past the standard library. The functions
below return the implementation of a class of ``protocol``: a module for Linux or for macOS. What macOS lacks
altogether is in the modules ``linux_*``, which the rest of the package imports on every system: their
functions raise ``OSError`` where the kernel does not know a call.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pytest_hookharness.execution.platform import protocol


def why_unsupported() -> str:
    """Return why hooks cannot be run on this system; empty if they can."""
    if sys.platform in ("linux", "darwin"):
        return ""
    return (
        f"pytest-hookharness runs hooks only on Linux and macOS, and this is {sys.platform}; "
        "use a container or WSL"
    )


def processes() -> protocol.Processes:
    """Return the process table."""
    return _system()


def spawning() -> protocol.Spawning:
    """Return what ties a process to its parent."""
    return _system()


def files() -> protocol.Files:
    """Return the file times and attributes that Python does not offer on every system."""
    return _system()


def _system() -> protocol.System:
    # Imported when it is first asked for: pytest runs that do not use hooks must not pay for it.
    if sys.platform == "darwin":
        from pytest_hookharness.execution.platform import darwin as system
    else:
        from pytest_hookharness.execution.platform import linux as system

    return system
