"""
Which hosts are known, and what is known about them.
"""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.protocol import Basis


@pytest.mark.parametrize("name", ["claude-code", "claude-code@2.1.329"])
def test_a_host_is_found(name):
    """A bare name is the newest version, and a version is that one."""
    assert hosts.find(name).id == "claude-code@2.1.329"


@pytest.mark.parametrize("name", ["claude", "claude-code@2.1", "claude-code@1", "gemini", ""])
def test_an_unknown_host_is_an_error(name):
    """An unknown host or version is an error that lists the known ones."""
    with pytest.raises(hosts.UnknownHost, match=r"claude-code@2\.1\.329"):
        hosts.find(name)


def test_the_nearest_name_is_offered():
    """A name with a slip in it is answered with the name that was probably meant."""
    with pytest.raises(hosts.UnknownHost, match="did you mean 'claude-code'"):
        hosts.find("claude-cod")


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_every_fact_has_a_source(profile):
    """Every rule of a profile is a sentence with a basis and a source, and none of them is both."""
    parts = (profile.config, profile.replies, profile.process, profile.guard, profile.tools)
    rules = [rule for part in parts for rule in part.rules.values()]
    rules += [profile.matchers.rule, profile.transcript.rule]
    for event in profile.events.values():
        rules += [event.rule, event.fields.rule]

    for rule in rules:
        assert rule.text
        assert rule.source
        assert isinstance(rule.basis, Basis)


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_each_role_has_one_event(profile):
    """No two events have the same role, and what a session never comes to has none and says why."""
    roles = [event.role for event in profile.events.values() if event.role is not hosts.Role.OTHER]

    assert len(roles) == len(set(roles))
    for event in profile.events.values():
        assert bool(event.unreachable) is (event.role is hosts.Role.OTHER), event.name
