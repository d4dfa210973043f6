"""The mutations, one module for each family; ``FAMILIES`` is the whole registry."""

from __future__ import annotations

from pytest_hookharness.campaigns.stress.mutation import Plan
from pytest_hookharness.campaigns.stress.mutations import (
    environment,
    filesystem,
    folders,
    hook_order,
    large_files,
    other_sessions,
    stdin,
    tools,
    wording,
)

# The order in which mutations of one request are tried.
FAMILIES: tuple[Plan, ...] = (
    stdin.plan,
    tools.plan,
    folders.plan,
    filesystem.plan,
    large_files.plan,
    environment.plan,
    wording.plan,
    hook_order.plan,
    other_sessions.plan,
)
