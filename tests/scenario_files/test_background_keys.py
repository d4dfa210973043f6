"""Process hooks in scenario files."""

import jsonschema
import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.model.background import (
    OnExit,
    OnOutputMatch,
    OnTimeout,
    ProcessHook,
    Rate,
    ThreadLimits,
)
from pytest_hookharness.model.moves import RunCommand, Stop
from pytest_hookharness.scenario_files.json_schema import schema

SCHEMA = jsonschema.Draft202012Validator(schema())


def read(hook=None, **keys):
    """Return the scenario of a file with one process that has one hook."""
    processes = {"build": {"run": "make", "hooks": [hook] if hook else []}}
    data = {"name": "a", "processes": processes, **keys}
    made = scenario_files.scenario_from(data)
    SCHEMA.validate(data)
    return made


@pytest.mark.parametrize(
    ("written", "hook"),
    [
        ({"on_exit": "any"}, ProcessHook(trigger=OnExit())),
        ({"on_exit": 137}, ProcessHook(trigger=OnExit((137,)))),
        ({"on_exit": [1, 2], "max_spawns": 3}, ProcessHook(trigger=OnExit((1, 2)), max_spawns=3)),
        (
            {"on_output_match": "E+", "max_spawns": "off"},
            ProcessHook(trigger=OnOutputMatch("E+"), max_spawns=None),
        ),
        (
            {"on_timeout": "90s", "instructions": "Look."},
            ProcessHook(trigger=OnTimeout(90.0), instructions="Look."),
        ),
    ],
)
def test_a_hook_is_read(written, hook):
    """Each trigger, in each of its forms, becomes its value."""
    assert read(written).processes["build"].hooks == (hook,)


def test_the_agent_of_a_thread_is_read():
    """A thread has a script like any agent, and the default script stops at once."""
    script = read({"on_exit": 0, "agent": [{"run": "x"}, {"stop": "y"}, {"then": "obedient"}]})
    label = "processes.build.hooks[0].agent[0]"
    made = script.processes["build"].hooks[0].script

    assert made.acts[0] == RunCommand(command="x", label=label)
    assert made.then.name == "obedient"
    assert read({"on_exit": 0}).processes["build"].hooks[0].script.acts == (Stop(),)


def test_limits_are_read():
    """Depth, rate and maximum are read, and depth can be switched off."""
    written = {"depth": "off", "rate": {"starts": 5, "per": "1m"}, "most": 9}

    assert read(threads=written).threads == ThreadLimits(depth=None, rate=Rate(5, 60.0), most=9)
    assert read().threads == ThreadLimits(depth=3, rate=None, most=20)


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ({"instructions": "x"}, "a hook needs a trigger: on_exit, on_output_match, on_timeout"),
        ({"on_exit": 1, "on_timeout": "1s"}, "a hook has one trigger, and this one has on_exit already"),
        ({"on_output_match": "("}, "is not a regular expression"),
        ({"on_exit": 256}, "out of range"),
        ({"on_exit": []}, "expected at least 1 item, got an empty list"),
        ({"on_exit": 1, "agent": [{"prompt": "x"}]}, "prompt is an event; a hook thread makes moves"),
        ({"on_exit": 1, "max_spawns": 0}, "out of range"),
    ],
)
def test_a_contradictory_hook_is_refused(hook, message):
    """A mistake in a hook is a problem with its key path."""
    with pytest.raises(scenario_files.ScenarioErrors) as caught:
        read(hook)

    assert message in str(caught.value)
    assert "processes.build.hooks[0]" in str(caught.value)
