"""Fake agents: sessions that hooks start, inside the same sandbox and with real hooks."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.verdicts import Recursing
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

AGENT = {"agent": "claude-code", "stdout": "A summary."}
SCRIPT = [{"prompt": "Do it."}, {"stop": "Done."}]
ASKS_ONCE = """\
#!/bin/sh
echo "$CLAUDE_CODE_SESSION_ID" >>sessions
[ -z "$GUARD" ] || exit 0
echo more | GUARD=1 claude -p 'Sum it up.' >summary
test -s "$HOME"/.claude/projects/*/"$(tail -1 sessions).jsonl"
"""


def hooks(*commands, event="SessionEnd"):
    return {event: [{"command": command, "timeout": 60} for command in commands]}


@pytest.mark.nightly
def test_a_hook_that_starts_the_agent_again_recurses(play):
    """Each session that a hook starts runs that hook again, until the limit refuses another one."""
    outcome = play(
        agent=SCRIPT,
        commands={"claude": AGENT},
        world={"nesting": {"depth": 1}},
        hooks=hooks("claude -p 'Summarise it.' </dev/null"),
        expect={"verdict": "recursing", "depth": 1, "sessions": 1},
    )

    assert outcome.passed, outcome.violations
    assert isinstance(outcome.verdict, Recursing)
    assert outcome.verdict.limit == "a depth of 1"
    assert [line.split(" by ")[0] for line in outcome.verdict.chain] == [
        "SessionEnd claude -p 'Summarise it.' </dev/null starts session 1",
        "SessionEnd claude -p 'Summarise it.' </dev/null starts session 2",
    ]
    assert "chain of causes:" in story(outcome)


@pytest.mark.slow
def test_an_inner_session_has_its_own_facts(play):
    """Hooks of a session that a hook starts get an id, an environment and a prompt of their own."""
    outcome = play(
        agent=SCRIPT,
        commands={"claude": AGENT},
        files={"hook.sh": ASKS_ONCE},
        hooks=hooks("./hook.sh", event="UserPromptSubmit"),
        expect={"files": {"equal": {"summary": "A summary.\n"}}, "sessions": 1},
    )
    (_, child), *_ = outcome.trace.children()
    (hook_run,) = child.hook_runs
    (outer,) = [hook_run.payload for _, hook_run in outcome.trace.hook_runs()]

    assert outcome.passed, outcome.violations
    assert hook_run.payload["prompt"] == "Sum it up.\nmore\n"
    assert hook_run.payload["session_id"] != outer["session_id"]
    assert hook_run.payload["cwd"] == outer["cwd"]
    assert child.ended == "stopped"
    assert (child.environment["GUARD"], child.starter) == ("1", "UserPromptSubmit ./hook.sh")


@pytest.mark.slow
def test_a_single_event_has_the_sessions_it_started(hook_fire, agent_command):
    """The response of hooks that run once has the sessions that they started."""
    claude = agent_command("claude", stdout="A summary.")
    response = hook_fire("Stop", '[ "$GUARD" ] || GUARD=1 claude -p --output-format json x </dev/null >&2')
    (child,) = response.hooked.children

    assert (child.ended, child.starter[:4], len(claude.calls)) == ("stopped", "Stop", 1)
    assert json.loads(response.stderr)["result"] == "A summary."


@pytest.mark.nightly
@pytest.mark.parametrize(
    "call",
    [
        "setsid nohup claude -p x </dev/null >/dev/null 2>&1 &",
        'env -i PATH="$PATH" HOME="$HOME" claude -p x </dev/null',
        '(env -i PATH="$PATH" HOME="$HOME" setsid sh -c \'claude -p x\' </dev/null >/dev/null 2>&1 &) &',
    ],
    ids=["in the background", "without environment", "forked twice"],
)
def test_no_descendant_hides_its_depth(play, call):
    """In the background, without environment or forked twice: a session knows its depth."""
    outcome = play(
        agent=SCRIPT,
        commands={"claude": AGENT},
        world={"nesting": {"depth": 2}},
        hooks=hooks(call, event="Stop"),
        expect={"verdict": "recursing", "depth": 2, "sessions": 2},
    )

    assert outcome.passed, outcome.violations
    assert [child.parent for _, child in outcome.trace.children()] == [0, 1, 2]


@pytest.mark.nightly
def test_a_storm_of_sessions_is_refused(play):
    """A hook that starts one session after the other reaches the limit of number, not of depth."""
    outcome = play(
        agent=SCRIPT,
        commands={"claude": AGENT},
        world={"nesting": {"sessions": 3}},
        hooks=hooks(
            '[ "$GUARD" ] || for n in 1 2 3 4; do GUARD=1 claude -p $n </dev/null; done; exit 0', event="Stop"
        ),
        expect={"verdict": "recursing", "depth": 1, "sessions": 3},
    )

    assert outcome.passed, outcome.violations
    assert outcome.verdict.limit == "3 sessions of one event"


@pytest.mark.nightly
def test_one_session_a_turn_is_no_recursion(play):
    """A refused stop that starts one session each time is a loop of its own, however long it is."""
    outcome = play(
        agent=SCRIPT,
        commands={"claude": AGENT},
        world={"nesting": {"sessions": 1}},
        until="guard",
        turns=4,
        hooks=hooks(
            '[ "$GUARD" ] || { GUARD=1 claude -p x </dev/null; echo fix >&2; exit 2; }', event="Stop"
        ),
        expect={"verdict": "undecided"},
    )

    assert outcome.sessions >= 3
    assert outcome.verdict_name != "recursing"


@pytest.mark.nightly
def test_other_hosts_have_their_own_command_line(play):
    """Fake agents for Codex and Gemini are called as these are, and run the hooks of their own settings."""
    entry = {"hooks": [{"type": "command", "command": "cat >>payloads"}]}
    outcome = play(
        agent=[
            {"run": "codex exec --json 'Do it.' </dev/null && gemini -p 'Do it.' </dev/null"},
            {"stop": "x"},
        ],
        commands={"codex": {"agent": "codex", "stdout": "one"}, "gemini": {"agent": "gemini-cli", "exit": 3}},
        files={
            ".codex/hooks.json": json.dumps({"hooks": {"Stop": [entry]}}),
            ".gemini/settings.json": json.dumps({"hooks": {"AfterAgent": [entry]}}),
        },
        hooks=hooks("true", event="Stop"),
    )
    children = [child for _, child in outcome.trace.children()]

    assert [(child.host.partition("@")[0], child.ended) for child in children] == [
        ("codex", "stopped"),
        ("gemini-cli", "stopped"),
    ]
    assert [hook_run.event for child in children for hook_run in child.hook_runs] == ["Stop", "AfterAgent"]
    assert {child.starter for child in children} == {"a call of Bash"}


@pytest.mark.slow
def test_a_call_that_a_fake_agent_cannot_run_is_an_error(play):
    """A call that the fake agent does not know is an error of the harness, and no answer of an agent."""
    with pytest.raises(SimulationError, match=r"`claude -p --fly x` .*the option '--fly'; known here are"):
        play(agent=SCRIPT, commands={"claude": AGENT}, hooks=hooks("claude -p --fly x; exit 0", event="Stop"))


def test_a_host_without_a_known_command_line_is_an_error(play):
    """A fake agent for a host whose command line is unknown is refused before any hook runs."""
    for agent, message in (
        ("openhands", "there are fake agents for claude-code, codex"),
        ("x", "no host 'x'"),
    ):
        with pytest.raises(SimulationError, match=f"commands.a.agent: .*{message}"):
            play(agent=SCRIPT, commands={"a": {"agent": agent}}, hooks=hooks("true", event="Stop"))


@pytest.mark.nightly
def test_a_guard_hook_that_a_variable_switches_off_is_found(play):
    """A guard hook that allows in the session of a hook what it refuses without its variable is reported."""
    gate = 'if [ "$GUARD" ]; then exit 0; fi; grep -q force && { echo fix >&2; exit 2; }; exit 0'
    starts = '[ "$GUARD" ] || GUARD=1 claude -p x </dev/null'

    def found(gate):
        outcome = play(
            agent=SCRIPT,
            commands={"claude": {**AGENT, "does": [{"run": "echo force"}, {"run": "echo hello"}]}},
            hooks={**hooks(gate, event="PreToolUse"), **hooks(starts, event="Stop")},
        )
        return [finding.text for finding in outcome.findings]

    (text,) = found(gate)
    assert text.endswith("lets a call of Bash pass; with the same input but without GUARD it refuses.")
    assert found(gate.replace("$GUARD", "$OTHER")) == []


@pytest.mark.nightly
@pytest.mark.parametrize(("commands", "verdict"), [({"claude": AGENT}, "recursing"), ({}, "terminated")])
def test_an_agent_in_the_background_is_found_without_a_subreaper(tmp_path, commands, verdict):
    """A tier that only has process groups finds an agent in the background, and says what it may not see."""
    hook = "command -v claude >/dev/null && setsid nohup claude -p x </dev/null >/dev/null 2>&1 &"
    scenario = scenario_from({"name": "x", "hooks": {"Stop": hook}, "commands": commands})
    scenario = replace(scenario, script=script_from(SCRIPT))
    with Harness(Settings(base=tmp_path, tier=Tier.GROUP)) as harness:
        outcome = harness.simulate(scenario)

    assert outcome.verdict_name == verdict
    assert any("process groups" in note for note in outcome.assumptions) == bool(commands)


GATE = """#!/bin/sh
# Allows the first call with any variables.
[ -e seen ] && { echo no >&2; exit 2; }
echo >seen
"""


@pytest.mark.slow
def test_a_guard_hook_that_also_refuses_with_the_variables_is_not_open(play):
    """A guard hook that refuses again for another reason than a missing variable is not reported."""
    start = '[ -n "$GUARD" ] || GUARD=1 claude -p x </dev/null >/dev/null'
    outcome = play(
        agent=SCRIPT,
        commands={"claude": {**AGENT, "does": [{"run": "ls"}]}},
        files={"gate.sh": GATE},
        hooks={"PreToolUse": "./gate.sh", **hooks(start, event="Stop")},
    )
    (_, child), *_ = outcome.trace.children()

    assert [hook_run.ruling for hook_run in child.hook_runs if hook_run.event == "PreToolUse"] == ["none"]
    assert "GUARD-OPEN" not in [finding.name for finding in outcome.findings]
