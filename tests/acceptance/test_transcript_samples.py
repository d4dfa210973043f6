"""
What is found in sessions of the real programs, driven by a scripted model, and cut to what is read.

Claude Code 2.1.329, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.24.4 and the OpenHands SDK 1.58.0.
"""

import json
import shutil
from pathlib import Path

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.reproduce.reproduction_run import ReproductionRun
from pytest_hookharness.frontends.cli.report import analyze
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.testbed.run_settings import Settings

SAMPLES = Path(__file__).parents[1] / "data" / "transcripts"
FORMS = {
    "claude": "claude-code",
    "codex": "codex",
    "gemini": "gemini-cli",
    "openhands": "openhands",
    "qwen": "qwen-code",
}
# The one loop of each session; every other session is healthy.
LOOPS = {
    "claude-cycle3": ("cycle of 3", 4),
    "claude-editfail4": ("failures", 4),
    "claude-errvar4": ("failures", 4),
    "claude-posttool_block": ("refusals of PostToolUse", 4),
    "claude-pretool_deny": ("refusals of PreToolUse", 4),
    "claude-reploop": ("refusals of Stop", 12),
    "claude-same5": ("repetition", 5),
    "claude-stoploop": ("refusals of Stop", 4),
    "claude-stoploop_work": ("refusals of Stop", 4),
    "claude-subagent-sub": ("repetition", 3),
    "codex-cycle3": ("cycle of 3", 4),
    "codex-editfail4": ("failures", 4),
    "codex-errvar4": ("failures", 4),
    "codex-posttool_block": ("refusals of PostToolUse", 4),
    "codex-pretool_deny": ("refusals of PreToolUse", 4),
    "codex-reploop": ("refusals of Stop", 15),
    "codex-same5": ("repetition", 5),
    "codex-stoploop": ("refusals of Stop", 4),
    "codex-stoploop_work": ("refusals of Stop", 4),
    "gemini-cycle3": ("cycle of 3", 4),
    "gemini-same5": ("repetition", 4),
    "gemini-stoploop_work": ("refusals of AfterAgent", 4),
    "openhands-argerr4": ("repetition", 4),
    "openhands-finish_loop": ("refusals of Stop", 13),
    "openhands-pre_deny4": ("refusals of PreToolUse", 5),
    "openhands-same5": ("repetition", 5),
    "openhands-stoploop": ("refusals of Stop", 13),
    "openhands-stoploop_think": ("refusals of Stop", 6),
    "qwen-same5": ("repetition", 4),
    "qwen-stoploop_work": ("refusals of Stop", 4),
    "qwen-subagent-sub": ("repetition", 3),
}
CHECK = "if grep -q TODO src.txt; then echo 'TODO left: remove it before you stop' >&2; exit 2; fi"
LINT, TESTS = (
    "echo 'lint: missing semicolon in hello.txt' >&2; exit 2",
    "echo 'tests still fail: 3 of 10' >&2; exit 2",
)
GUARD, POST = "echo 'never delete build' >&2; exit 2", "echo 'format: line too long' >&2; exit 2"
# The text that refused, after the name of a session.
HOOKS = {
    "claude-reploop": CHECK,
    "codex-reploop": CHECK,
    "claude-stoploop": LINT,
    "codex-stoploop": LINT,
    "claude-stoploop_work": TESTS,
    "codex-stoploop_work": TESTS,
    "gemini-stoploop_work": TESTS,
    "qwen-stoploop_work": TESTS,
    "claude-pretool_deny": GUARD,
    "codex-pretool_deny": GUARD,
    "claude-posttool_block": POST,
    "codex-posttool_block": POST,
    "openhands-stoploop": "echo lint >&2; exit 2",
    "openhands-stoploop_think": "echo lint >&2; exit 2",
    "openhands-finish_loop": "echo lint >&2; exit 2",
    "openhands-pre_deny4": "echo no >&2; exit 2",
}
PLACES = {"claude": "settings.json", "gemini": "settings.json", "qwen": "settings.json"}


def test_every_sample_is_claimed():
    """There are 39 sessions: 31 with a loop, and 8 healthy ones."""
    names = {file.stem for file in SAMPLES.iterdir()}
    assert (len(names), len(names - {*LOOPS}), {*LOOPS} - names) == (39, 8, set())


@pytest.mark.parametrize("file", sorted(SAMPLES.iterdir()), ids=lambda file: file.stem)
def test_loops_of_real_sessions(file):
    """Each loop is named with its kind and its number, and a healthy session has none."""
    analysis = analyze(file)
    expected = [LOOPS[file.stem]] if file.stem in LOOPS else []

    assert analysis.form == FORMS[file.stem.partition("-")[0]]
    assert [(loop.title, loop.count) for loop in analysis.loops] == expected
    assert not analysis.unread


def test_a_session_with_its_subagent(tmp_path):
    """A loop of a subagent is found in the session that started it."""
    shutil.copy(SAMPLES / "claude-subagent-main.jsonl", tmp_path / "s.jsonl")
    (tmp_path / "s" / "subagents").mkdir(parents=True)
    shutil.copy(SAMPLES / "claude-subagent-sub.jsonl", tmp_path / "s" / "subagents" / "agent-1.jsonl")
    assert [(loop.title, loop.count) for loop in analyze(tmp_path / "s.jsonl").loops] == [("repetition", 3)]


@pytest.mark.nightly
@pytest.mark.parametrize("name", HOOKS)
def test_reproductions_of_real_sessions(name, tmp_path):
    """Each row of refusals is reproduced and shrunk to a prompt and the refused move, in few plays."""
    host, (title, count) = name.partition("-")[0], LOOPS[name]
    settings = tmp_path / "project" / f".{host}" / PLACES.get(host, "hooks.json")
    settings.parent.mkdir(parents=True)
    hook = {"type": "command", "command": HOOKS[name]}
    settings.write_text(json.dumps({"hooks": {title.rpartition(" ")[2]: [{"hooks": [hook]}]}}))
    for file, text in (("notes.txt", "v0\n"), ("src.txt", "one\n# TODO two\n")):
        (tmp_path / "project" / file).write_text(text)
    with Harness(Settings()) as harness:
        result = ReproductionRun(
            source=SAMPLES / f"{name}.jsonl",
            settings=harness.settings,
            resources=harness.resources,
            project=tmp_path / "project",
            output=tmp_path / "out",
        ).run()

    assert result.reproduced, result
    compared = result.compared
    assert (compared.same, compared.recorded, compared.difference) == (count, count, "")
    assert result.plays <= 30
    small, _ = sorted((tmp_path / "out").iterdir(), key=lambda file: len(file.name))
    (scenario,) = scenario_files.load(small)
    assert len(scenario.script.acts) == 2
