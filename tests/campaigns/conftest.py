"""Campaigns are tested with the same harness as single simulations."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session

from ..simulation.conftest import harness, inputs, play

__all__ = ["harness", "inputs", "play"]
HOOK = {"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh"}


@pytest.fixture
def plugin(tmp_path):
    """A plugin with a Stop hook and further files."""

    def make(command=HOOK["command"], **files):
        hook = {"type": "command", "command": command}
        manifest = {"name": "loop", "hooks": {"Stop": [{"hooks": [hook]}]}}
        texts = {".claude-plugin/plugin.json": json.dumps(manifest), **files}
        for path, text in texts.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (hook_set,) = find_hook_sets(tmp_path)
        return hook_set

    return make


@pytest.fixture
def try_out(harness):
    """Plays the sessions of a check, as a check run does."""

    def play(sessions):
        outcomes = [play_session(one, harness.settings, harness.resources) for one in sessions]
        return [PlayedSession(one, outcome) for one, outcome in zip(sessions, outcomes, strict=True)]

    return play
