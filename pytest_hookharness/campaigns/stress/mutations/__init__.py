"""The mutations, one module for each family; ``FAMILIES`` is the whole registry."""

from __future__ import annotations

from pytest_hookharness.campaigns.stress.mutation import Family
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
FAMILIES: tuple[Family, ...] = (
    stdin,
    tools,
    folders,
    filesystem,
    large_files,
    environment,
    wording,
    hook_order,
    other_sessions,
)
