"""Explanations of hosts: invented hook runs, read by the functions of the simulation."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.replies import CodeMeaning
from pytest_hookharness.model.moves import Prompt, RunCommand, Stop
from pytest_hookharness.model.protocol import Basis, Rule

STEPS = {hosts.Role.STOP: [Prompt(text="go"), Stop(text="done"), Stop(text="done")]}
CALL = [Prompt(text="go"), RunCommand(command="ls"), Stop(text="done")]


def meaning(name, event, case):
    """What one end of a hook run means on one event of a host; the last case of that name."""
    (explained,) = hosts.explain(hosts.find(name), event)
    return [one for one in explained.meanings if one.case == case][-1]


@pytest.mark.parametrize(
    "name, event, case, refuses",
    [
        ("claude-code", "Stop", "exit 2, text on stderr", True),
        ("claude-code", "Stop", "exit 1, text on stderr", False),
        ("claude-code", "PreToolUse", "no such command", False),
        ("claude-code", "PreToolUse", "ask", True),
        ("cursor", "stop", "exit 2, text on stderr", False),
        ("cursor", "stop", "the host's own refusal", True),
        ("copilot-cli", "preToolUse", "no such command", True),
        ("copilot-cli", "preToolUse", "killed at its timeout", False),
        ("copilot-cli", "agentStop", "decision block", True),
        ("antigravity", "Stop", "decision block", False),
        ("goose", "PreToolUse", "exit 0, silent", False),
        ("kimi", "Stop", "decision block", False),
        ("droid", "PreToolUse", "broken JSON", False),
    ],
)
def test_whether_a_hook_refuses(name, event, case, refuses):
    """Each end of a hook run is explained as the host reads it."""
    assert meaning(name, event, case).refuses is refuses


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
def test_every_event_is_explained(profile):
    """Every event of a session is explained with its timeout, and each end of a hook run with a fact."""
    explained = hosts.explain(profile)

    assert [one.event for one in explained] == [
        name for name, rule in profile.events.items() if not rule.unreachable
    ]
    for one in explained:
        assert one.limit > 0
        assert len(one.meanings) >= 12
        for each in one.meanings:
            assert isinstance(each.rule.basis, Basis)
            assert each.rule.source
            assert each.action


@pytest.mark.parametrize("profile", hosts.known(), ids=lambda profile: profile.id)
@pytest.mark.parametrize("role", [hosts.Role.STOP, hosts.Role.BEFORE_TOOL])
def test_explanations_agree_with_simulations(play, ended, profile, role):
    """A session with such a hook does what the explanation says, and its agent gets the same texts."""
    event = profile.by_role(role).name
    (explained,) = hosts.explain(profile, event)
    code = {"exit 1": 1, "exit 2": 2, "exit 3": 3, "no such": 127}

    for one in explained.meanings:
        if one.case == "killed at its timeout":
            continue
        words = one.case.endswith("stderr")
        err = "TEXT" if words else "sh: ./hook: not found" if "no such" in one.case else ""
        run = ended(code.get(one.case[:6].strip(), code.get(one.case[:7], 0)), one.printed, err)
        settings = {event: "./hook"}

        acts = STEPS.get(role, CALL)
        played = play(settings, acts, lambda *_, run=run: run, profile=profile, most=12)

        decision = next(made for made in played.decisions if made.event == event)
        assert decision.refused is one.refuses, one.case
        received = () if played.endings and played.endings[0].how == "waiting" else decision.to_agent
        assert len(received) == len(one.to_agent), one.case
        assert decision.rule.text == one.rule.text, one.case


def test_refusals_are_shown_in_the_host_s_own_form():
    """The shown refusal is made of the key paths that the host reads."""
    cursor = meaning("cursor", "stop", "the host's own refusal")
    droid = meaning("droid", "PreToolUse", "ask")

    assert json.loads(cursor.printed) == {"followup_message": "TEXT"}
    assert json.loads(droid.printed)["hookSpecificOutput"]["permissionDecision"] == "ask"


def test_another_rule_gives_another_explanation():
    """With another rule for exit code 1 its explanation differs."""
    claude = hosts.find("claude-code")
    codes = tuple(
        replace(code, meaning=CodeMeaning.REFUSES) if code.codes is None else code
        for code in claude.replies.codes
    )
    other = replace(claude, replies=replace(claude.replies, codes=codes))

    (explained,) = hosts.explain(other, "Stop")

    case = next(one for one in explained.meanings if one.case.startswith("exit 1"))
    assert (case.refuses, case.action) == (True, "the agent continues")


def test_an_unknown_event_is_an_error():
    """An event that the host does not have is an error that names the nearest event."""
    with pytest.raises(ValueError, match="did you mean 'Stop'"):
        hosts.explain(hosts.find("kimi"), "Stp")


@pytest.mark.parametrize(
    "name, cap",
    [
        ("claude-code", "overrides refusal 9"),
        ("openhands@pr3183", "ends with an error at refusal 5"),
        ("kimi", "runs no stop hooks after refusal 1"),
        ("codex", "none"),
        ("goose", "none is known"),
    ],
)
def test_caps_in_a_line(name, cap):
    """A cap is summarised by the refusal at which it acts, and an unknown cap is not called none."""
    assert hosts.summarise(hosts.find(name)).cap == cap


def test_facts_are_counted_once():
    """All facts of a profile are found, wherever they are, and each counts once."""
    droid = hosts.find("droid")
    extra = Rule("one more", Basis.OBSERVED, "this test")
    events = {
        name: replace(rule, rests_on=(*rule.rests_on, extra, extra)) for name, rule in droid.events.items()
    }

    before, after = hosts.summarise(droid), hosts.summarise(replace(droid, events=events))

    facts = hosts.known_facts(droid)
    assert before.observed + before.documented + before.assumed == len(facts) == len(set(facts))
    assert (before.observed, after.observed) == (0, 1)
    assert droid.transcript.rule in facts


def test_second_names_are_not_counted():
    """An event with two names counts as one event."""
    copilot = hosts.find("copilot-cli")

    explained = hosts.summarise(copilot)

    assert explained.events + explained.unreached < len(copilot.events)
