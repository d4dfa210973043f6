"""
Machines that have no file descriptors, processes, memory or space left, said in words.

Loaded by the supervisor too.
"""

from __future__ import annotations

import errno
import resource
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

# The message of CPython if the system refuses a thread, which counts as a process.
_NO_THREAD = "can't start new thread"


class Exhausted(Exception):
    """The machine has no more of what the harness needs. Never a fault of a hook."""


def explain_exhaustion(error: BaseException) -> str:
    """Return what the machine lacks and what to do; empty for an error of another kind."""
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        number = errno.EAGAIN
    match number:
        case errno.EMFILE:
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            return (
                f"no file descriptor is left, with a limit of {limit} for each process; raise it with "
                "ulimit -n, or run less at once"
            )
        case errno.ENFILE:
            return "no file descriptor is left on the machine; end other programs, or run less at once"
        case errno.EAGAIN:
            return (
                "no process can be started; end other programs, raise the limit with ulimit -u, or run less "
                "at once"
            )
        case errno.ENOMEM:
            return "no memory is left; end other programs, or run less at once"
        case errno.ENOSPC | errno.EDQUOT:
            return f"no space is left for {getattr(error, 'filename', None) or 'a file'}; remove files"
        case _:
            return ""


@contextmanager
def naming_exhaustion() -> Generator[None]:
    """Raise `Exhausted`, which says what is missing, if the machine has run out of something in the block."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        lack = explain_exhaustion(error)
        if not lack:
            raise
        raise Exhausted(f"the machine is exhausted: {lack}") from error
