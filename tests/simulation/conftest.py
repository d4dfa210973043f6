"""The shared harness of all simulation tests: starting its supervisor is what takes time."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    """A harness with default settings."""
    with Harness(Settings(base=tmp_path_factory.mktemp("simulation"))) as made:
        yield made


@pytest.fixture
def play(harness):
    """Simulate a scenario that is given as keywords."""

    def run(*, agent=(), then="idle", when=None, **keys):
        made = scenario_from({"name": "test", **keys})
        return harness.simulate(replace(made, script=script_from(list(agent), then=then, when=when)))

    return run


RECORDED = Path(__file__).parents[1] / "data" / "claude-code" / "payloads.json"


@pytest.fixture
def inputs():
    """Return the standard inputs of an outcome's hook runs, of one event or of all."""

    def list_inputs(outcome, event=None):
        hook_runs = [
            hook_run for _, hook_run in outcome.trace.hook_runs() if event in (None, hook_run.hook.event)
        ]
        return [json.loads(hook_run.stdin) for hook_run in hook_runs]

    return list_inputs


@pytest.fixture
def pairs_with_recording():
    """Return keys and values of an input in order, and the recorded ones, with placeholders."""

    def pairs(payload):
        event = payload["hook_event_name"]
        home, _, rest = payload["transcript_path"].partition("/.claude/projects/")
        words = {
            f"{home.removesuffix('/home')}/workspace": "<PROJECT>",
            home: "<HOME>",
            rest.partition("/")[0]: "<PROJECT_SLUG>",
            payload["session_id"]: "<UUID-1>",
            payload.get("prompt_id", payload["session_id"]): "<UUID-2>"
            if "prompt_id" in payload
            else "<UUID-1>",
        }
        text = json.dumps(list(payload.items()))
        for word, placeholder in words.items():
            text = text.replace(word, placeholder)
        recorded = json.loads(RECORDED.read_text(encoding="utf-8"))["payloads"]
        (theirs,) = (one["stdin"] for one in recorded if one["event"] == event)
        return json.loads(text), [list(item) for item in theirs.items()]

    return pairs
