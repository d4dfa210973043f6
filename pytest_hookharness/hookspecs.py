"""
This module is concerned with the pytest hooks by which others extend the harness.

Top floor.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_hookharness.agents import BehaviourFunction


@pytest.hookspec
def pytest_hook_behaviours() -> Mapping[str, BehaviourFunction]:  # type: ignore[empty-body]
    """
    Register behaviours for ``then:``, as generator functions by name.
    """
