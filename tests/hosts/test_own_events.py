"""
Names of events that most hosts share.
"""

import pytest

from pytest_hookharness import hosts


@pytest.mark.parametrize(
    "host, name, own",
    [("gemini-cli", "Stop", "AfterAgent"), ("claude-code", "Stop", "Stop"), ("gemini-cli", "Stopp", "Stopp")],
)
def test_a_common_name_is_the_hosts_own(host, name, own):
    """An event that most hosts know by one name is found by it on a host that calls it otherwise."""
    assert hosts.own_event(hosts.find(host), name) == own
