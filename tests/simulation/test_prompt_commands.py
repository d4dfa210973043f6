"""Prompts that name a command, with real hooks that refuse or allow the expansion."""

import json

import pytest

from pytest_hookharness.model.trace import Moved

MINE = "---\ndescription: mine\n---\nDo $ARGUMENTS now.\n"
FILES = {".claude/commands/mycmd.md": MINE}
AGENT = [{"prompt": "/mycmd some args"}, {"stop": "Done."}]


def shown(outcome):
    """Return all that the agent saw before its first move."""
    moved = next(step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Moved))
    return [(message.kind, message.text) for message in moved.saw.messages]


def test_a_command_is_expanded(play, inputs, pairs_with_recording):
    """The hooks read the recorded input, and the model gets the text of the command."""
    outcome = play(hooks={"UserPromptExpansion": "true"}, files=FILES, agent=AGENT)

    (payload,) = inputs(outcome)
    ours, recorded = pairs_with_recording(payload)
    assert ours == recorded
    assert shown(outcome) == [("prompt", "Do some args now.")]


def test_both_events_of_a_prompt(play, inputs):
    """The expansion comes after UserPromptSubmit, and the hooks of both read the prompt as it was typed."""
    outcome = play(
        hooks={"UserPromptExpansion": "true", "UserPromptSubmit": "true"}, files=FILES, agent=AGENT
    )

    assert [(payload["hook_event_name"], payload["prompt"]) for payload in inputs(outcome)] == [
        ("UserPromptSubmit", "/mycmd some args"),
        ("UserPromptExpansion", "/mycmd some args"),
    ]


@pytest.mark.parametrize(
    "hook",
    [
        "echo fix >&2; exit 2",
        'echo \'{"decision": "block", "reason": "no"}\'',
        'echo \'{"continue": false, "stopReason": "no"}\'',
    ],
)
def test_a_refused_expansion_is_never_seen(play, hook):
    """A refusal ends the turn before the agent sees anything."""
    outcome = play(hooks={"UserPromptExpansion": hook, "UserPromptSubmit": "true"}, files=FILES, agent=AGENT)

    assert outcome.iterations == 0
    assert outcome.hook_runs() == 2
    assert outcome.verdict_name == "terminated"


@pytest.mark.slow
def test_a_refused_prompt_leaves_nothing_of_its_expansion(play):
    """A prompt that its hooks refuse is not expanded, so no expansion hook runs for it."""
    refuse = "grep -q /mycmd && exit 2 || exit 0"
    agent = [*AGENT[:1], {"prompt": "plain"}, {"stop": "Done."}]

    outcome = play(
        hooks={"UserPromptExpansion": "echo hint", "UserPromptSubmit": refuse}, files=FILES, agent=agent
    )

    assert shown(outcome) == [("prompt", "plain")]
    assert outcome.hook_runs("UserPromptExpansion") == 0


SAID = {"hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "additionalContext": "hint"}}


@pytest.mark.parametrize(
    ("hook", "words"),
    [("echo hint", " hook success"), (f"echo '{json.dumps(SAID)}'", " hook additional context")],
)
def test_the_output_of_expansion_hooks(play, hook, words):
    """Plain output and additionalContext reach the model, after the text of the command."""
    (_, prompt), (kind, text) = shown(play(hooks={"UserPromptExpansion": hook}, files=FILES, agent=AGENT))

    assert prompt == "Do some args now."
    assert kind == "context"
    assert f"UserPromptExpansion{words}: hint" in text


@pytest.mark.parametrize("prompt", ["/other x", "mycmd", "please /mycmd", "/mycmd.md", "/"])
def test_other_prompts_are_taken_as_they_are(play, prompt):
    """A prompt that names no command of the workspace is not expanded."""
    outcome = play(
        hooks={"UserPromptExpansion": "exit 2"}, files=FILES, agent=[{"prompt": prompt}, {"stop": "Done."}]
    )

    assert outcome.hook_runs() == 0
    assert shown(outcome) == [("prompt", prompt)]


@pytest.mark.parametrize("matcher, hook_runs", [("mycmd", 1), ("other", 0)])
def test_matchers_name_the_command(play, matcher, hook_runs):
    """A matcher is compared with the name of the command."""
    hooks = {"UserPromptExpansion": {"matcher": matcher, "command": "true"}}

    assert play(hooks=hooks, files=FILES, agent=AGENT).hook_runs() == hook_runs


def test_an_event_that_is_reached_is_no_finding(play):
    """Only the hooks of events that the session cannot reach are reported as unreached."""
    events = ("UserPromptExpansion", "TaskCreated", "TaskCompleted", "CwdChanged", "WorktreeCreate")

    reached = play(hooks={**dict.fromkeys(events, "true"), "Stop": "true"})
    unreached = play(hooks={"Notification": "true", "Stop": "true"})

    assert reached.findings == ()
    assert [finding.name for finding in unreached.findings] == ["UNREACHED"]
