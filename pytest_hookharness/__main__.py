"""The entry point of the shell command."""

from __future__ import annotations

import sys

_INTERRUPTED = 2


def main() -> int:
    """Run the shell command; Ctrl-C while it is being imported ends it in one line too."""
    try:
        from pytest_hookharness.frontends.cli import main as cli
    except KeyboardInterrupt:
        sys.stderr.write("hookharness: interrupted\n")
        return _INTERRUPTED
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
