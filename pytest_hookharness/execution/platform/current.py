"""The module of this operating system, ``linux`` or ``darwin``. Callers use the functions that both have."""

import sys

# A type checker follows one branch only, so mypy is run for both systems.
if sys.platform == "darwin":
    from pytest_hookharness.execution.platform import darwin as system
else:
    from pytest_hookharness.execution.platform import linux as system

__all__ = ["system"]
