"""
The operating system, behind one small protocol.

Only this folder knows which system it runs on and calls the kernel past the standard library; the rest of
the package calls the functions below. Each returns the implementation of a class of ``protocol``,
``confining`` or ``observation``: a module for Linux or for macOS. For what macOS lacks altogether it is that
for Linux there too, whose functions raise ``OSError`` where the kernel does not know a call.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pytest_hookharness.execution.platform import confining, observation, protocol
    from pytest_hookharness.model.reads import KernelPaths

# Each part is imported when it is first asked for: the supervisor and the programs inside a sandbox start
# often, need few parts, and must not pay for the others.


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
    if sys.platform == "darwin":
        from pytest_hookharness.execution.platform import darwin as system
    else:
        from pytest_hookharness.execution.platform import linux as system

    return system


def waits() -> observation.Waits:
    """Return what shows when a blocked process goes on by itself."""
    from pytest_hookharness.execution.platform import linux_waits

    return linux_waits


def spawning() -> protocol.Spawning:
    """Return what ties a process to its parent."""
    if sys.platform == "darwin":
        from pytest_hookharness.execution.platform import darwin as system
    else:
        from pytest_hookharness.execution.platform import linux as system

    return system


def files() -> protocol.Files:
    """Return the file times and attributes that Python does not offer on every system."""
    if sys.platform == "darwin":
        from pytest_hookharness.execution.platform import darwin as system
    else:
        from pytest_hookharness.execution.platform import linux as system

    return system


def isolation() -> confining.Isolation:
    """Return namespaces and mounts."""
    from pytest_hookharness.execution.platform import linux_namespaces

    return linux_namespaces


def control_groups() -> confining.ControlGroups:
    """Return groups of processes."""
    from pytest_hookharness.execution.platform import linux_control_groups

    return linux_control_groups


def watch_pool() -> protocol.WatchPool:
    """Return a new pool of watches for changed files."""
    from pytest_hookharness.execution.platform.linux_inotify import InotifyPool

    return InotifyPool()


def tracing() -> protocol.Tracing:
    """Return the tracer that stops processes before they change a file."""
    from pytest_hookharness.execution.platform import linux_ptrace

    return linux_ptrace


def observing() -> observation.Observing:
    """Return the tracer that stops processes before they look at anything."""
    from pytest_hookharness.execution.platform import linux_observing

    return linux_observing


def resolver() -> observation.Resolver:
    """Return a new resolver of the paths that stopped processes name."""
    from pytest_hookharness.execution.platform.linux_paths import LinuxResolver

    return LinuxResolver()


def read_calls() -> observation.ReadCalls:
    """Return the calls by which programs look at the world."""
    from pytest_hookharness.execution.platform import linux_read_calls

    return linux_read_calls


def clock_calls() -> observation.ClockCalls:
    """Return the calls by which programs learn the time."""
    from pytest_hookharness.execution.platform import linux_clock_calls

    return linux_clock_calls


def kernel_paths() -> KernelPaths:
    """Return the paths by which the kernel tells about itself."""
    from pytest_hookharness.execution.platform.linux_kernel_paths import LINUX_PATHS

    return LINUX_PATHS
