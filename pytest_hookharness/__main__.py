"""The entry point of the shell command."""

from __future__ import annotations

import signal
import sys
import time

_INTERRUPTED = 2
# Seconds after Ctrl-C in which another one is ignored: what was found is being printed.
_HELD = 3.0


def main() -> int:
    """Run the shell command; Ctrl-C while it is being imported ends it in one line too."""
    _hold_interrupts()
    try:
        from pytest_hookharness.frontends.cli import main as cli
    except KeyboardInterrupt:
        sys.stderr.write("hookharness: interrupted\n")
        return _INTERRUPTED
    status = cli.main()
    # Python's own end would turn it into another exit status.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status


def _hold_interrupts() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt`, and ignore further ones for some seconds."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    last = 0.0

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal last
        now = time.monotonic()
        if last and now - last < _HELD:
            return
        last = now
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


if __name__ == "__main__":
    raise SystemExit(main())
