"""Claims about scenarios on real programs: which can be played, and what their agent answers."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.live.live_agent import LiveAgent, find_event
from pytest_hookharness.campaigns.live.live_scenario import (
    NoLiveEquivalent,
    check_playable,
    check_recordable,
    live_form,
)
from pytest_hookharness.hosts.wire.programs import find_program
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.scenario_files import scenario_from, script_from


def scenario(*agent, when=None, **keys):
    """A scenario for Codex with these acts."""
    made = scenario_from({"name": "test", "host": "codex", **keys})
    return replace(made, script=script_from(list(agent), when=when))


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (scenario({"prompt": "Go."}, {"wait": "10s"}), "wait"),
        (scenario({"prompt": "Go."}, {"stop": "Done."}, {"prompt": "Again."}), "second prompt"),
        (scenario({"run": "rm -rf x", "expect": "deny"}), "should refuse"),
        (scenario({"run": "true; rm -rf x", "expect": "deny"}), "should refuse"),
        (scenario({"run": "echo $(rm -rf x)", "expect": "deny"}), "should refuse"),
        (scenario({"run": "x", "result": "y"}), "given result"),
        (scenario(world={"cwd": "src"}), "cwd"),
        (scenario(commands={"codex": {"agent": "codex"}}), "fake agents"),
        (scenario(hooks="elsewhere.json"), "elsewhere.json"),
        (scenario({"subagent": {"prompt": "Look."}}), "subagents"),
        (scenario({"tool": {"name": hosts.find("codex").tools.subagent, "input": {}}}), "subagents"),
        (scenario(plugin="."), "plugins"),
    ],
)
def test_no_live_equivalent(made, reason):
    """A scenario that a real program cannot be made to play is refused with what it asks for."""
    with pytest.raises(NoLiveEquivalent, match=reason):
        check_playable(made)


@pytest.mark.parametrize(
    "made",
    [
        scenario({"prompt": "Go."}, {"run": "echo x", "expect": "deny"}),
        scenario({"prompt": "Go."}, {"stop": "Done."}, {"resume": True}, {"prompt": "Again."}),
        scenario({"edit": {"file": "a", "text": "b"}}, hooks={"Stop": "true"}),
        scenario(hooks=".codex/hooks.json"),
    ],
)
def test_a_live_equivalent(made):
    """Calls, stops, resumed sessions and harmless commands that hooks should refuse can be played."""
    check_playable(made)


def test_a_resumed_session_of_a_program_that_resumes_none():
    """A scenario that resumes its session is refused for a program that starts each session anew."""
    acts = ({"prompt": "Go."}, {"stop": "Done."}, {"resume": True}, {"prompt": "Again."})
    made = replace(scenario(*acts), host="openhands")

    with pytest.raises(NoLiveEquivalent, match="openhands resumes no session"):
        live_form(made, find_program("openhands"))


def test_hooks_that_cannot_be_recorded():
    """A hook that is no command line, or in a file that is no JSON, is refused."""
    check_recordable((Hook(event="Stop", command="true", source=".codex/hooks.json"),))
    for hook in (Hook(event="Stop", type="prompt"), Hook(event="Stop", command="a", source="config.toml")):
        with pytest.raises(NoLiveEquivalent):
            check_recordable((hook,))


def test_the_form_for_both_sides():
    """Both sides read the hooks from the host's own file, play no campaign, and end at the same turn."""
    made = scenario(hooks={"Stop": "./check.sh"}, turns=200)
    form = live_form(replace(made, vary=(VaryRequest(family="env"),)), find_program("codex"))

    settings = json.loads(form.files[".codex/hooks.json"])
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "./check.sh"
    assert (form.hooks, form.vary, form.until, form.turns) == (None, (), "guard", 30)
    assert live_form(made, find_program("codex"), 7).turns == 7


def live_agent(made, limit=9, known=None):
    """The agent of a scenario behind its host's wire format, after its first prompt."""
    agent = LiveAgent(
        agents.start(made.script),
        hosts.find(made.host),
        find_program(made.host).wire,
        workspace="/w",
        limit=limit,
        known=known or {},
        unwrapped={"tap ./check.sh": "./check.sh"},
    )
    prompt, resumed = agent.next_prompt()
    assert (prompt.text, resumed) == ("Go.", False)
    return agent


def ask(agent, *texts):
    """Send a request with these new texts; returns the items of the answer."""
    items = [{"role": "assistant", "content": "Before."}]
    items += [{"role": "user", "content": [{"text": text}]} for text in texts]
    answer = agent.answer("/v1/responses", json.dumps({"input": items, "tools": [{}]}).encode())
    return json.loads(answer.body.decode().split("data: ")[-1])["response"]["output"]


def test_the_script_behind_the_server():
    """Requests get the moves of the script one by one, and the limit of turns ends the program."""
    agent = live_agent(scenario({"prompt": "Go."}, {"run": "echo hi"}), limit=2)

    assert json.loads(ask(agent, "Go.")[0]["arguments"]) == {"cmd": "echo hi"}
    assert ask(agent, "hi")[0]["content"][0]["text"] == "Done."
    assert agent.answer("/v1/responses", b'{"tools": [{}]}') is None
    assert agent.cut
    assert agent.next_prompt() is None


@pytest.mark.slow
def test_a_subagent_beside_the_agent():
    """Requests of a subagent get its texts in order, after the agent's stop, and are not counted."""
    texts = ["Looked.", "Looked again."]
    made = replace(
        scenario({"prompt": "Go."}, {"subagent": {"prompt": "Look.", "text": texts}}), host="claude-code"
    )
    agent = live_agent(made)

    def send(*messages):
        body = {"messages": [{"role": role, "content": content} for role, content in messages]}
        return agent.answer("/v1/messages", json.dumps({**body, "tools": [{}, {}]}).encode())

    called = send(("user", "Go."))
    assert b'"name": "Agent"' in called.body or b'"name":"Agent"' in called.body
    first = send(("user", "Look."))
    again = send(("user", "Look."), ("assistant", "Looked."), ("user", "look closer"))
    used = {"type": "tool_use", "id": "toolu_000000" + "0" * 16, "name": "Agent", "input": {}}
    stopped = send(("user", "Go."), ("assistant", [used]))

    for text, answer in zip(texts, (first, again), strict=True):
        assert json.dumps(text).encode() in answer.body
    assert b"Done." in stopped.body
    assert first.after is again.after is not None
    assert stopped.after is None
    assert first.after.wait(10)
    assert len(agent.told) == len(agent.moves) == 2


def test_a_reaction_to_a_hook():
    """`when` is asked with the words that the real host told the model, and with the event behind them."""
    when = [{"event": "Stop", "reason": "finish", "do": [{"run": "echo fixed"}]}]
    made = scenario({"prompt": "Go."}, {"stop": "Done."}, when=when)
    agent = live_agent(made, known={"finish it": "Stop"})

    ask(agent, "Go.")
    assert json.loads(ask(agent, '<p id="stop:0">finish it</p>')[0]["arguments"]) == {"cmd": "echo fixed"}
    assert [one.event for one in agent.told[-1]] == ["Stop"]


def test_texts_without_the_tap():
    """Where a host quotes the command of a hook, the command of the scenario is noted and not the tap's."""
    agent = live_agent(scenario({"prompt": "Go."}))
    ask(agent, "[tap ./check.sh]: finish")

    assert agent.told[0][0].text == "[./check.sh]: finish"


def test_the_event_behind_a_text():
    """An event is known by the words of its hooks, or named by the host; a text without both has none."""
    events = ("PreToolUse", "Stop")

    assert find_event("[x]: do more", {"do more": "Stop"}, events) == "Stop"
    assert find_event("PreToolUse:Bash hook error: no", {}, events) == "PreToolUse"
    assert find_event("Command blocked by PreToolUse hook: no", {}, events) == "PreToolUse"
    assert find_event('<p id="1">do more</p>', {"do more": "Stop"}, events) == "Stop"
    assert find_event("Stop the car", {}, events) == ""
    assert find_event("You can do more than that; a Stop hook helps.", {"do more": "Stop"}, events) == ""


def test_other_requests():
    """A side request is answered without a move, and an unknown one is refused and noted."""
    agent = live_agent(scenario({"prompt": "Go."}, {"run": "echo hi"}))

    assert agent.answer("/v1/responses", b'{"tools": []}').status == 200
    assert agent.answer("/v1/models?x", b"").status == 200
    assert agent.answer("/v1/other", b"").status == 404
    assert (agent.told, agent.other) == ([], ["/v1/other"])
