"""The module of this operating system. It has a function for each need that both systems meet."""

import sys

# Type checkers follow one branch, so both systems are checked by checking the types for both.
if sys.platform == "darwin":
    from pytest_hookharness.execution.platform import darwin as system
else:
    from pytest_hookharness.execution.platform import linux as system

__all__ = ["system"]
