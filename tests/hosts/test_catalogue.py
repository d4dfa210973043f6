"""
Which hosts are known, and what is known about them.
"""

import subprocess
import sys

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.replies import Alone, Empty, Halting
from pytest_hookharness.hosts.rules.settings import Effect
from pytest_hookharness.hosts.rules.turns import Resets
from pytest_hookharness.model.protocol import Basis, Ruling

ALWAYS = {
    *("silent", "plain", "shown", "answer", "unparsable", "invalid", "signalled", "timed out", "not run"),
    *("no power", "unanswered", "no hooks", "precedence"),
}


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
    parts = (profile.config, profile.replies, profile.process, profile.cap, profile.tools)
    rules = [rule for part in parts for rule in part.rules.values()]
    rules += [profile.matchers.rule, profile.transcript.rule]
    for event in profile.events.values():
        rules += [event.rule, event.fields.rule]

    for rule in rules:
        assert rule.text
        assert rule.source
        assert isinstance(rule.basis, Basis)


def needed(profile):
    """
    The facts about replies that the engine names, as far as the profile comes to them.
    """
    events = profile.events.values()
    codes = [code for event in events for code in event.codes or profile.replies.codes]
    answers = [event.answers or profile.replies.answers for event in events]
    rulings = {ruling for one in answers for verdict in one.verdicts for ruling in verdict.words.values()}
    roles = {event.role for event in events}
    cases = {
        "async": profile.replies.background or profile.replies.announced or not all(e.waits for e in events),
        "undecodable": profile.replies.undecodable_fails,
        "wordless": any(code.alone is Alone.REFUSES_IF_WORDS for code in codes),
        "failure blocks": bool(profile.config.keys.on_failure),
        "halt": any(one.halting is not Halting.IGNORED for one in answers),
        "empty": any(one.empty is not Empty.NOTHING for one in answers),
        "ask": Ruling.ASK in rulings,
        "defer": Ruling.DEFER in rulings,
        "continuation": any(event.context_continues for event in events),
        "ignored": any(event.ignores for event in events),
        "folder": hosts.Role.WORKTREE in roles,
        "no folder": hosts.Role.WORKTREE in roles,
    }
    named = {code.rule for code in codes if code.alone not in (Alone.PLAIN, Alone.NOTHING)}
    merged = {event.merging.several for event in events}
    return ALWAYS | named | merged | {name for name, holds in cases.items() if holds}


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_every_fact_that_is_named_is_there(profile):
    """Whatever fact the engine may name for a decision stands in the profile."""
    config, guard = profile.config, profile.cap
    fails = Effect.FAILS in (config.otherwise, *config.flaws.values())
    settings = {"malformed", "unreadable", "unknown event", "unpassable", "unreachable"}
    settings |= {"disabled"} if config.switches else set()
    settings |= {"refused"} if fails else set()
    net = {"no cap"} if guard.cap is None else {"cap", "counted"}
    net |= {"reset"} if guard.resets is not Resets.NOTHING else set()
    net |= {"cap across refused calls"} if guard.resets is Resets.CALLS_DONE else set()
    net |= {"off"} if guard.cap is not None and guard.low is None else set()

    assert needed(profile) <= set(profile.replies.rules)
    assert settings <= set(config.rules)
    assert net <= set(guard.rules)


def test_names_are_known_without_loading_a_profile():
    """Hosts can be listed by name without importing any of them."""
    code = (
        "import sys; from pytest_hookharness import hosts; names = hosts.names(); "
        "loaded = [name for name in sys.modules if 'hosts.claude' in name]; print(len(names) > 1, loaded)"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["True", "[]"]
    assert set(hosts.names()) == {name for one in hosts.known() for name in (one.name, one.id)}


def test_the_first_of_a_name_is_the_newest():
    """All versions of a host stand together, and its bare name means the first of them."""
    names = [profile.name for profile in hosts.known()]

    for name in dict.fromkeys(names):
        first = names.index(name)
        assert names[first : first + names.count(name)] == [name] * names.count(name)
        assert hosts.find(name) == hosts.known()[first]


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_roles_of_events(profile):
    """Only events for certain tools and second names share a role; one without a role says why."""
    free = [event.role for event in profile.events.values() if not event.tools and not event.also]
    roles = [role for role in free if role is not hosts.Role.OTHER]

    assert len(roles) == len(set(roles))
    for event in profile.events.values():
        assert bool(event.unreachable) is (event.role is hosts.Role.OTHER), event.name
