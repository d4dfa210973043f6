"""
The first moments of the shell command, before its own words are there.
"""

from __future__ import annotations

import sys

_INTERRUPTED = 2


def main() -> int:
    """
    The console script: an interruption while it is still being loaded is told in a line like any later one.
    """
    try:
        from pytest_hookharness.frontends.cli import main as cli
    except KeyboardInterrupt:
        sys.stderr.write("hookharness: interrupted\n")
        return _INTERRUPTED
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
