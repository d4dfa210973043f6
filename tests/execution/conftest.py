"""Fixtures for the tests of execution: a supervisor, and a sandbox of each tier."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Tier

STRONGER = (Tier.NAMESPACES, Tier.SUBREAPER)


@pytest.fixture(scope="session")
def supervisor() -> Iterator[Supervisor]:
    """One supervisor for the whole run, as in use."""
    with Supervisor() as running:
        yield running


def _skip_if_missing(supervisor: Supervisor, tier: Tier) -> None:
    reason = supervisor.tiers()[tier]
    if reason:
        pytest.skip(f"no {tier.value} here: {reason}")


_OTHER = pytest.param(Tier.SUBREAPER, marks=pytest.mark.slow)


@pytest.fixture(params=[Tier.NAMESPACES, _OTHER], ids=lambda tier: tier.name.lower())
def sandbox(supervisor: Supervisor, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each tier in which nothing survives; where there is none, one of process groups."""
    tier = Tier.GROUP if all(map(supervisor.tiers().get, STRONGER)) else request.param
    _skip_if_missing(supervisor, tier)
    with supervisor.open(Confinement(tier=tier)) as opened:
        yield opened


@pytest.fixture
def own_supervisor() -> Iterator[Supervisor]:
    """A supervisor that a test may break."""
    with Supervisor() as running:
        yield running


@pytest.fixture
def isolating(supervisor: Supervisor) -> Supervisor:
    """A supervisor where namespaces are available."""
    _skip_if_missing(supervisor, Tier.NAMESPACES)
    return supervisor
