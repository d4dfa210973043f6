"""The known hosts, and the facts about them."""

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.replies import CodeMeaning, EmptyAnswer, Halting
from pytest_hookharness.hosts.rules.settings import Effect
from pytest_hookharness.hosts.rules.turns import Resets
from pytest_hookharness.model.protocol import Basis, Ruling
from pytest_hookharness.scenario_files.variants import is_known

ALWAYS = {
    *("silent", "plain", "shown", "answer", "unparsable", "invalid", "signalled", "timed out", "not run"),
    *("no power", "unanswered", "no hooks", "precedence"),
}


@pytest.mark.parametrize("name", ["claude-code", "claude-code@2.1.329"])
def test_a_host_is_found(name):
    """A bare name gives the newest version, and a name with a version gives that version."""
    assert hosts.find(name).id == "claude-code@2.1.329"


@pytest.mark.parametrize("name", ["claude", "claude-code@2.1", "claude-code@1", "gemini", ""])
def test_an_unknown_host_is_an_error(name):
    """An unknown host or version is an error that lists the known hosts."""
    with pytest.raises(hosts.UnknownHost, match=r"claude-code@2\.1\.329"):
        hosts.find(name)


def test_the_nearest_name_is_offered():
    """A misspelled name is an error that offers the nearest name."""
    with pytest.raises(hosts.UnknownHost, match="did you mean 'claude-code'"):
        hosts.find("claude-cod")


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_every_fact_has_a_source(profile):
    """Every fact of a profile has a text, a basis and a source."""
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
    """The facts about replies that a decision of this profile can name."""
    events = profile.events.values()
    codes = [code for event in events for code in event.codes or profile.replies.codes]
    answers = [event.answers or profile.replies.answers for event in events]
    rulings = {ruling for one in answers for verdict in one.verdicts for ruling in verdict.rulings.values()}
    roles = {event.role for event in events}
    cases = {
        "async": profile.replies.background or profile.replies.announced or not all(e.waits for e in events),
        "undecodable": profile.replies.undecodable_fails,
        "late context": profile.replies.late_context,
        "halt replaces": any(one.halting is Halting.REPLACES for one in answers),
        "wordless": any(code.meaning is CodeMeaning.REFUSES_IF_WORDS for code in codes),
        "failure blocks": bool(profile.config.keys.on_failure),
        "halt": any(one.halting is not Halting.IGNORED for one in answers),
        "empty": any(one.empty is not EmptyAnswer.NOTHING for one in answers),
        "ask": Ruling.ASK in rulings,
        "defer": Ruling.DEFER in rulings,
        "continuation": any(event.context_continues for event in events),
        "ignored": any(event.ignores for event in events),
        "folder": hosts.Role.WORKTREE in roles,
        "no folder": hosts.Role.WORKTREE in roles,
    }
    named = {code.rule for code in codes if code.meaning not in (CodeMeaning.PLAIN, CodeMeaning.NOTHING)}
    merged = {event.merging.several for event in events}
    return ALWAYS | named | merged | {name for name, holds in cases.items() if holds}


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_every_fact_that_a_decision_names_exists(profile):
    """Every fact that the simulation can name for a decision is in the profile."""
    config, cap = profile.config, profile.cap
    fails = Effect.FAILS in (config.default_effect, *config.flaws.values())
    settings = {"malformed", "unreadable", "unknown event", "unpassable", "unreachable"}
    settings |= {"disabled"} if config.switches else set()
    settings |= {"refused"} if fails else set()
    cap_facts = {"no cap"} if cap.cap is None else {"cap", "counted"}
    cap_facts |= {"reset"} if cap.resets is not Resets.NOTHING else set()
    cap_facts |= {"cap across refused calls"} if cap.resets is Resets.CALLS_DONE else set()
    cap_facts |= {"off"} if cap.cap is not None and cap.below_one is None else set()

    assert needed(profile) <= set(profile.replies.rules)
    assert settings <= set(config.rules)
    assert cap_facts <= set(cap.rules)


def loaded_profiles(code):
    """The folders below ``hosts/profiles`` that a new process imports when it runs some code."""
    found = f"{code}; print(*{{n.split('.')[3] for n in sys.modules if 'hosts.profiles.' in n}})"
    start = "import sys; from pytest_hookharness import hosts; "
    ran = subprocess.run([sys.executable, "-c", start + found], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_names_are_known_without_loading_a_profile():
    """Hosts can be listed by name without importing any of them."""
    assert loaded_profiles("assert len(hosts.names()) > 1") == set()
    assert set(hosts.names()) == {name for one in hosts.known() for name in (one.name, one.id)}


@pytest.mark.slow
def test_finding_a_host_loads_no_other():
    """A host is found without importing the profiles of other hosts."""
    assert loaded_profiles("hosts.find('codex')") & {"claude_code", "gemini", "qwen"} == set()
    assert "codex" in loaded_profiles("hosts.find('codex')")


def test_a_built_in_host_needs_no_entry_points():
    """Entry points are not read for a host that the package knows itself."""
    broken = "hosts.catalogue._plugged_in = None; print(hosts.find('codex').name)"

    assert "codex" in loaded_profiles(f"hosts.find; {broken}")


def test_names_of_the_package_and_of_its_stub():
    """The package offers exactly the names that its stub lists for type checkers."""
    stub = Path(hosts.__path__[0], "__init__.pyi").read_text()
    listed: dict[str, list[str]] = {}
    exec(stub[stub.index("__all__") :], listed)  # noqa: S102
    offered = [name for names in hosts._MODULES.values() for name in names]

    assert sorted(listed["__all__"]) == sorted(offered)
    assert all(hasattr(hosts, name) for name in offered)


def test_a_name_that_the_package_does_not_have():
    """A name that the package does not offer is an error that repeats it."""
    with pytest.raises(AttributeError, match="no 'fnd'"):
        hosts.fnd  # noqa: B018


def test_the_first_of_a_name_is_the_newest():
    """All versions of a host are listed together, and its bare name means the first of them."""
    names = [profile.name for profile in hosts.known()]

    for name in dict.fromkeys(names):
        first = names.index(name)
        assert names[first : first + names.count(name)] == [name] * names.count(name)
        assert hosts.find(name) == hosts.known()[first]


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_roles_of_events(profile):
    """Only events for certain tools and second names share a role, and an event without a role says why."""
    free = [event.role for event in profile.events.values() if not event.tools and not event.second_name_of]
    roles = [role for role in free if role is not hosts.Role.OTHER]

    assert len(roles) == len(set(roles))
    for event in profile.events.values():
        assert bool(event.unreachable) is (event.role is hosts.Role.OTHER), event.name


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("openhands@1.58.0", "openhands@1.58"),
        ("openhands@1.58.0.0", "openhands@1.58"),
        ("codex@0.169", "codex@0.169.0"),
        ("openhands@1.12.0", "openhands@1.12"),
    ],
)
def test_zeros_at_the_end_of_a_version_mean_nothing(name, found):
    """A version with zeros at its end is the release without them, also in scenario files."""
    assert hosts.find(name).id == found
    assert is_known(name, hosts.names())
    assert not is_known("openhands@1.5.0", hosts.names())
