"""Claims about recordings as acts of an agent."""

import json

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.model.moves import Prompt, Stop, ToolCall, ToolResult, Tools
from pytest_hookharness.scenario_files.recordings import read_recordings

CALL = {"tool_use_id": "c", "tool_name": "Bash", "tool_input": {"command": "cat /home/dev/p/a.py"}}
RESPONSE = {"stdout": "x"}


@pytest.fixture
def load(tmp_path):
    """Store payloads as recordings, and load a scenario that plays them."""

    def load(*events):
        folder = tmp_path / "kept"
        folder.mkdir()
        for number, (event, payload) in enumerate(events):
            record = {"event": event, "at": number, "payload": {"cwd": "/home/dev/p", **payload}}
            (folder / f"{99 - number}.json").write_text(json.dumps(record))
        file = tmp_path / "a.scenario.yaml"
        file.write_text("name: a\nwhy: w\nagent:\n  - recording: kept\n  - then: idle\n")
        (scenario,) = scenario_files.load(file)
        return scenario.script.acts

    return load


def test_payloads_become_acts(load):
    """Prompts, calls and stops are acts in the order of time; a call has its recorded result."""
    acts = load(
        ("SessionStart", {}),
        ("UserPromptSubmit", {"prompt": "Go."}),
        ("PreToolUse", CALL),
        ("PreToolUse", CALL),
        ("PostToolUse", {**CALL, "tool_response": RESPONSE}),
        ("Stop", {"last_assistant_message": "Done!"}),
    )
    result = ToolResult(text='{"stdout": "x"}', response=RESPONSE)
    call = ToolCall(name="Bash", input={"command": "cat a.py"}, given=result)
    assert acts == (Prompt(text="Go."), Tools(calls=(call,)), Stop(text="Done!"))


def test_one_file(load, tmp_path):
    """A single recording is played by its name; a missing one is a problem that names those beside it."""
    assert load(("Stop", {})) == (Stop(),)
    file = tmp_path / "a.scenario.yaml"
    text = file.read_text()
    file.write_text(text.replace("recording: kept", "recording: kept/99.json"))
    (scenario,) = scenario_files.load(file)
    assert scenario.script.acts == (Stop(),)

    file.write_text(text.replace("recording: kept", "recording: kept/98.json"))
    with pytest.raises(scenario_files.ScenarioErrors, match=r"no entry 98\.json(.|\n)*99\.json"):
        scenario_files.load(file)


def test_recordings_of_openhands(load):
    """OpenHands names the session's folder and the prompt in its own way."""
    call = {"cwd": None, "working_dir": "/home/dev/p", "tool_name": "terminal"}
    prompt, act = load(
        ("UserPromptSubmit", {"message": "Go."}),
        ("PreToolUse", {**call, "tool_input": {"command": "cat /home/dev/p/a.py"}}),
    )
    assert (prompt, act.calls[0].input) == (Prompt(text="Go."), {"command": "cat a.py"})


def test_a_call_without_its_result_is_not_carried_out(load):
    """A call that was refused, or whose result was not recorded, has an empty result."""
    (act,) = load(("PreToolUse", CALL))
    assert act.calls[0].given == ToolResult()


@pytest.mark.parametrize(
    ("events", "says"),
    [([], "has no recording"), ([("Setup", {})], "no recording of a prompt, a call or a stop")],
)
def test_folders_without_acts_are_a_problem(load, events, says):
    """A folder without recordings, or without any of an act, is a problem at its place in the file."""
    with pytest.raises(scenario_files.ScenarioErrors, match=says):
        load(*events)


def test_other_lists_have_no_recordings():
    """Reactions are moves, so they cannot play a recording."""
    with pytest.raises(scenario_files.ScenarioErrors):
        scenario_files.script_from([], when=[{"do": [{"recording": "kept"}]}])


def test_the_recorded_folder_for_temporary_files(tmp_path):
    """Whatever the folder for temporary files was called, payloads name it as a hook elsewhere does."""
    payload = {"a": ["/scratch/ci-7/x /scratch/ci-70"]}
    record = {"event": "Stop", "tmpdir": "/scratch/ci-7/", "payload": payload}
    (tmp_path / "1.json").write_text(json.dumps(record))
    assert read_recordings(tmp_path) == {"Stop": [{"a": ["/tmp/x /scratch/ci-70"]}]}
