"""OpenHands on plain values: what no recorded row covers, and the cap of its branch."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.profiles.openhands.tools import find_repetition
from pytest_hookharness.model.moves import (
    Edit,
    Performance,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    ToolCall,
    ToolResult,
    Tools,
)

GO, DONE = Prompt(text="go"), Stop(text="done")
DENY = {"decision": "deny", "reason": "not yet"}
STOP = {"Stop": [{"hooks": [{"command": "./hook"}]}]}


@pytest.fixture(name="release")
def give_release():
    """The newest release."""
    return hosts.find("openhands")


@pytest.fixture(name="branch")
def give_branch():
    """The branch with a cap."""
    return hosts.find("openhands@pr3183")


def call(name, **given):
    """A move with one call."""
    return Tools(calls=(ToolCall(name=name, input=given),))


def always(answer):
    """The same answer for every hook."""
    return lambda *_: answer


def test_the_release_is_the_newest():
    """The bare name means the release, not the branch."""
    assert hosts.find("openhands").id == "openhands@1.58"


@pytest.mark.parametrize("options, asked", [({}, 5), ({"max_consecutive_stop_denials": 2}, 2)])
def test_the_cap_ends_the_run(play, branch, options, asked):
    """The refusal at the cap ends the run with an error that has the count, the cap and the reason."""
    played = play(STOP, [GO, *[DONE] * 9], always(DENY), profile=branch, options=options)

    ending = played.endings[0]
    assert len(played.asked("Stop")) == asked
    assert (ending.how, ending.status) == ("capped", "error")
    assert f"denied {asked} times without progress (limit {asked}). Last feedback: not yet" in ending.why
    assert "StopHookLoopDetected" in ending.why


def test_a_fork_has_the_cap_of_its_origin(play, branch):
    """A forked conversation has its own identifier, the same cap, and a count that starts at 0."""
    acts = [GO, DONE, Resume(fork=True), GO, *[DONE] * 9]
    options = {"max_consecutive_stop_denials": 3}

    played = play(STOP, acts, always(DENY), profile=branch, options=options)

    names = [request.payload["session_id"] for request in played.asked("Stop")]
    assert names[0] != names[1]
    assert names[1:] == [names[1]] * 3
    assert played.endings[-1].how == "capped"


def test_a_cap_of_zero_is_one(play, branch):
    """A cap below 1 does not turn the cap off."""
    options = {"max_consecutive_stop_denials": 0}

    played = play(STOP, [GO, *[DONE] * 9], always(DENY), profile=branch, options=options)

    assert len(played.asked("Stop")) == 1


@pytest.mark.parametrize(
    "between", [call("think", thought="x"), RunCommand(command="true"), call("finish", message="x")]
)
def test_any_call_resets_the_count(play, branch, between):
    """Four refusals do not reach a cap of three if a call lies between the second and the third."""
    answers = iter([DENY, DENY, DENY, DENY, None])
    options = {"max_consecutive_stop_denials": 3}

    played = play(
        STOP,
        [GO, DONE, DONE, between, DONE, DONE, DONE],
        lambda *_: next(answers),
        profile=branch,
        options=options,
    )

    assert played.endings[0].how == "stopped"


def test_a_prompt_resets_the_count(play, branch):
    """Refusals of an earlier run do not count."""
    answers = iter([DENY, DENY, None, DENY, DENY, None])
    options = {"max_consecutive_stop_denials": 3}

    played = play(
        STOP,
        [GO, DONE, DONE, DONE, GO, DONE, DONE, DONE],
        lambda *_: next(answers),
        profile=branch,
        options=options,
    )

    assert {ending.how for ending in played.endings} == {"stopped"}


def test_the_release_ignores_the_option(play, release):
    """A release accepts the option of the cap, has no cap, and the report says so."""
    options = {"max_consecutive_stop_denials": 2}

    played = play(STOP, [GO, *[DONE] * 9], always(DENY), profile=release, options=options)

    assert len(played.asked("Stop")) == 9
    assert [problem.path for problem in hosts.find_ignored(release, options)] == [*options]
    assert "no release up to 1.58.2" in hosts.find_ignored(release, options)[0].text


def test_the_branch_ignores_nothing(branch):
    """On the branch the option of the cap has its effect, and the report names no ignored option."""
    assert hosts.find_ignored(branch, branch.options) == ()


@pytest.mark.parametrize("move, status", [(DONE, "finished"), (RunCommand(command="true"), "error")])
def test_the_limit_of_moves(play, release, move, status):
    """A run at the limit of moves ends as finished after a stop as its last move, and else with an error."""
    options = {"max_iteration_per_run": 3, "stuck_detection": False}

    played = play(STOP, [GO, *[move] * 9], always(DENY), profile=release, options=options)

    assert (played.endings[0].how, played.endings[0].status) == ("capped", status)
    assert len(played.asked("Stop")) == (2 if move is DONE else 0)


def test_a_session_without_a_prompt_runs_no_hooks(play, release):
    """Hooks at the start and the end run only if there was a message."""
    every = {event: [{"hooks": [{"command": "./hook"}]}] for event in ("SessionStart", "SessionEnd")}

    assert play(every, [], always(None), profile=release).events == []
    assert play(every, [GO, DONE], always(None), profile=release).events == ["SessionStart", "SessionEnd"]


def test_every_input_has_all_keys(release):
    """Outside of a session too, an input has all eight keys, with null for those without a value."""
    facts = hosts.facts(release, workspace="/project", home="/home/dev", tmp="/tmp/x")

    for event in release.events:
        payload = hosts.payload_for(release, event, facts)
        assert len(payload) == 8
        assert payload["event_type"] == event
        assert payload["working_dir"] == "/project"
        assert (payload["tool_name"] is None) is (event not in ("PreToolUse", "PostToolUse"))


def test_tool_input_as_hooks_see_it(play, release):
    """Hooks see an input with its kind and all keys of its tool, and no other keys."""
    groups = {"PreToolUse": [{"hooks": [{"command": "./hook"}]}]}
    move = call("terminal", command="ls", security_risk="LOW")

    asked = play(groups, [GO, move, DONE], always(None), profile=release).asked()[0]

    assert asked.payload["tool_input"] == {
        "command": "ls",
        "is_input": False,
        "timeout": None,
        "reset": False,
        "kind": "TerminalAction",
    }


@pytest.mark.parametrize(
    "move",
    [RunCommand(command="ls"), Edit(file="a", text="x"), Edit(file="a", old="x", text="y"), Read(file="a")],
)
def test_operations_and_calls(release, move):
    """An operation becomes a call, and the call is read as the same operation."""
    made = release.tools.call(move, "/project")

    assert replace(release.tools.operation(made, "/project"), label="") == replace(move, label="")


def test_calls_that_cannot_be_performed(release):
    """Input for a running command, an undone edit and a tool of another program are no operations."""
    made = [
        ToolCall(name="terminal", input={"command": "y", "is_input": True}),
        ToolCall(name="file_editor", input={"command": "undo_edit", "path": "/project/a"}),
        ToolCall(name="browser", input={"url": "x"}),
    ]

    assert [release.tools.operation(one, "/project") for one in made] == [None, None, None]


def test_results(release):
    """A failed command is not an error, a missing file is one, and a given result has the host's form too."""
    ran = ToolCall(name="terminal", input={"command": "exit 3"})
    missing = ToolCall(name="file_editor", input={"command": "view", "path": "/project/a"})

    failed = release.tools.result(ran, Performance(exit=3, stdout="x\n"), "/project")
    lost = release.tools.result(missing, Performance(error="No such file or directory"), "/project")
    given = release.tools.given(ran, ToolResult(text="y"))

    assert (failed.failed, lost.failed) == (False, True)
    assert "exit code 3" in failed.text
    assert failed.response["exit_code"] == 3
    assert "does not exist" in lost.text
    assert given.response["kind"] == "TerminalObservation"


@pytest.mark.parametrize(
    "moves, circle",
    [
        (["a", "a", "a"], False),
        (["a", "a", "a", "a"], True),
        (["a", "a", "b", "a", "a"], False),
        (["!a", "!a", "!a"], True),
        (["!a", "!a", "a"], False),
        (["a", "b", "a", "b", "a", "b"], True),
        (["a", "b", "a", "b", "a", "c"], False),
        ([".x", ".x", ".x", ".x", ".x", ".x"], False),
        (["a", ".x", "a", ".x", "a", ".x", "a"], True),
        ([], False),
    ],
)
def test_repetitions_end_the_run(moves, circle):
    """The same call four times, with an error three times, or two calls in turn six times end the run."""
    kinds = {"!": "failed", ".": "stop"}
    recent = tuple((kinds.get(move[0], "call"), move[-1]) for move in moves)

    assert bool(find_repetition(recent)) is circle


@pytest.mark.parametrize(
    "settings, refused",
    [
        ({"hooks": {"stop": [{"hooks": [{"command": "x"}]}]}}, False),
        ({"Stop": [{"hooks": [{"command": "x"}]}]}, False),
        ({"Stop": [{"hooks": [{"command": "x", "timeout": 0.5}]}]}, True),
        ({"Stop": [{"hooks": [{"command": "x", "other": 1}]}]}, False),
        ({"hooks": {"SubagentStop": []}}, True),
        ({"SubagentStop": []}, True),
        ({"permissions": {}}, True),
    ],
)
def test_settings(release, settings, refused):
    """Hooks are read with or without a key above them and by either name; unknown keys and events fail."""
    read = hosts.configure(release, {"workspace/.openhands/hooks.json": json.dumps(settings)})

    assert bool(read.refused) is refused
    assert [hook.event for hook in read.hooks] == ([] if refused else ["Stop"])


def test_the_first_file_counts(release):
    """The user's hooks are not used if the project has its own."""
    files = {
        f"{root}/.openhands/hooks.json": json.dumps({"Stop": [{"hooks": [{"command": root}]}]})
        for root in ("home", "workspace")
    }

    assert [hook.command for hook in hosts.configure(release, files).hooks] == ["workspace"]


@pytest.mark.parametrize(
    "matcher, hook_runs",
    [
        ("terminal", True),
        ("Terminal", False),
        ("term", False),
        ("term.*", True),
        ("/terminal/", True),
        ("/(/", False),
    ],
)
def test_matchers_of_tools(release, matcher, hook_runs):
    """A matcher is the whole name, or a regular expression for all of it."""
    configured = hosts.configure(
        release, {}, inline={"PreToolUse": [{"matcher": matcher, "hooks": [{"command": "x"}]}]}
    )

    assert bool(hosts.select(release, configured.hooks, "PreToolUse", "terminal")) is hook_runs


@pytest.mark.parametrize("move, made", [(Read(file="a"), 4), (call("nothing"), 3)])
def test_errors_of_the_host_count_as_errors(play, release, move, made):
    """A call of an unknown tool ends the run the third time, and a failing call the fourth time."""
    if isinstance(move, Tools):
        error = ToolResult(text="no such tool", failed=True)
        move = Tools(calls=(replace(move.calls[0], given=error),))

    played = play(
        {},
        [GO, *[move] * 9],
        always(None),
        profile=release,
        perform=lambda _: Performance(error="No such file or directory"),
    )

    assert len(played.performed) == made
    assert played.endings[0].status == "stuck"


def test_the_cap_in_words(play, branch, release):
    """A cap that ends the run is described so, and a host without a cap has no description."""
    denied = play(STOP, [GO, DONE, DONE], always(DENY), profile=branch).sessions[-1]
    released = play(STOP, [GO, DONE, DONE], always(DENY), profile=release).sessions[-1]

    guard = hosts.cap_for(denied, [])

    assert guard.overrides == 5
    assert "4 refusals in a row; then " in guard.why
    assert hosts.cap_for(released, []) is None


SAME = [GO, *[call("terminal", command="ls"), DONE] * 2]


@pytest.mark.parametrize(
    "acts, period, options, turns",
    [
        ([GO, DONE, DONE, DONE], 1, {}, [500]),
        ([GO, DONE, DONE, DONE], 1, {"max_iteration_per_run": 7}, [7]),
        # The fourth equal call; two of them were made in four turns.
        (SAME, 2, {}, [7, 500]),
        (SAME, 2, {"stuck_detection": False}, [500]),
        # A repetition as long as all moves of the turn began before its prompt.
        ([GO, DONE, DONE], 2, {}, []),
    ],
)
def test_what_would_end_a_loop(play, release, acts, period, options, turns):
    """A loop's report names the turn in which the limit of moves or of repetitions would end it."""
    played = play(STOP, acts, always(DENY), profile=release, options=options)
    session = [session for session in played.sessions if session.in_turn][-1]
    before = sum(1 for act in acts if act is not GO)

    assert [limit.turn for limit in hosts.find_limits(session, before, period)] == turns


@pytest.mark.parametrize(
    "answer, stderr, reason",
    [
        ({"continue": False, "reason": "R"}, "E", "R"),
        ({"continue": False, "stopReason": "S"}, "E", "E"),
        ({"continue": False}, "", "Blocked by hook"),
        ({"decision": "Deny"}, " E ", "E"),
    ],
)
def test_where_a_reason_comes_from(play, ended, release, answer, stderr, reason):
    """The reason of a refusal without one is the text on standard error, or the host's default."""
    run = ended(0, json.dumps(answer), stderr)

    played = play(STOP, [GO, DONE], lambda *_: run, profile=release)

    assert played.decisions[0].to_agent == (f"[Stop hook feedback] {reason}",)
