"""Programs that a machine lacks, and what runs in their place in the sessions of a check."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from pytest_hookharness.execution.workspace import uv_stand_in
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.scenario import Double

_UV = "uv"
_CALLS_UV = re.compile(r"(?<![\w./-])uv\s+run\s")
# A command that does something else where there is no uv.
_ASKS_FOR_UV = re.compile(r"\b(?:command\s+-[vV]|which|hash|type)\s+(?:-\w+\s+)?uv\b")


def stand_ins(hook_set: HookSet) -> dict[str, Double]:
    """Return the test doubles of programs that hooks start and that this machine lacks, by their names."""
    commands = [hook.command for hook in hook_set.hooks]
    called = any(map(_CALLS_UV.search, commands)) and not any(map(_ASKS_FOR_UV.search, commands))
    if not called or shutil.which(_UV) is not None:
        return {}
    return {_UV: Double(module=uv_stand_in.__name__)}


def describe_stand_ins(hook_set: HookSet) -> Iterator[str]:
    """Yield what ran in the place of programs that this machine lacks."""
    if stand_ins(hook_set):
        yield "uv is not on PATH: its scripts that need no package were run with Python alone."
