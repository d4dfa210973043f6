"""Claims about held loops: whether they hold another session too, and whether they need a tool."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.arming.activation import Activation
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.held_loops import meet_held_loops
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_activated, plan_each_event

# Started by a command that needs jq, as the hook does.
START = """mkdir -p .claude && jq -n '{active: true, iteration: 0, task: "Do it."}' >.claude/loop.json"""
LOOP = """F="$CLAUDE_PROJECT_DIR/.claude/loop.json"
[ -f "$F" ] || exit 0
N=$(jq .iteration "$F") || exit 1
echo "{\\"active\\": true, \\"iteration\\": $((N + 1))}" >"$F"
echo "Go on." >&2; exit 2
"""
# Each learns its session in another place: from the command, at its first refusal, at the next prompt.
OF_SESSION = """S=$(jq -r .session_id)
[ "$S" = "$(jq -r .session_id .claude/loop.json 2>/dev/null)" ] || exit 0
echo "Go on." >&2; exit 2
"""
LEARNS = """S=$(jq -r .session_id) F=.claude/loop.json
[ -f "$F" ] || exit 0
grep -q owner "$F" || echo "{\\"active\\": true, \\"owner\\": \\"$S\\"}" >"$F"
grep -q "$S" "$F" || exit 0
echo "Go on." >&2; exit 2
"""
TASKS = """grep -q '^- \\[ \\]' TODO.md 2>/dev/null || exit 0
echo "Finish the open tasks of TODO.md." >&2; exit 2
"""
STAYS = """[ -f .claude/loop.json ] || exit 0
echo "Go on." >&2; exit 2
"""
# Knows its turns by what the user asked for.
ASKED = """F=.claude/loop.json
[ ! -f "$F" ] || grep -q "$(jq -r .task "$F")" "$(jq -r .transcript_path)" || rm -f "$F"
"""
TASK = """mkdir -p .claude; echo '{"active": true, "task": "Please do the work."}' >.claude/loop.json"""
UNNAMED = START.replace("iteration: 0", "session_id: null, iteration: 0")
TAKES_OVER = """[ -f "$CLAUDE_PROJECT_DIR/.claude/loop.json" ] || exit 0
echo '{"active": true, "iteration": 0}' >"$CLAUDE_PROJECT_DIR/.claude/loop.json"
"""


@pytest.fixture
def met(plugin, harness):
    """Play a Stop hook that a command or a file activates, and meet its loop in real sessions."""

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    def make(text, command="", prompt="", **files):
        hook_set = plugin("sh ${CLAUDE_PLUGIN_ROOT}/stop.sh", **{"stop.sh": text, "prompt.sh": prompt})
        if prompt:
            file = hook_set.root / ".claude-plugin" / "plugin.json"
            manifest = json.loads(file.read_text())
            run = {"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/prompt.sh"}
            manifest["hooks"]["UserPromptSubmit"] = [{"hooks": [run]}]
            file.write_text(json.dumps(manifest))
            (hook_set,) = find_hook_sets(hook_set.root)
        given = [Activation(title="start.md used", command=command, files=files)]
        sessions = [plan_each_event(hook_set), *plan_activated(hook_set, given)]
        first = [played(replace(one, scenario=replace(one.scenario, turns=6))) for one in sessions]
        assert first[1].held
        return meet_held_loops(hook_set, first, lambda planned: [*map(played, planned)]), played

    return make


@pytest.mark.nightly
def test_a_loop_that_is_kept_for_the_project(met):
    """A loop whose state names no session is reported, as it also refuses the stop of another session."""
    found, _ = met(LOOP, START)
    (problem,) = found.problems
    assert problem.symptom.kind == "WRONG-KEY"
    assert problem.symptom.hook == "sh ${CLAUDE_PLUGIN_ROOT}/stop.sh"
    assert "a session that did not start the loop" in problem.symptom.text
    assert "the first session left in .claude/loop.json after its refused stop" in problem.symptom.text
    assert problem.session.active == "start.md used, as it was after a refused stop"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "command", "prompt", "files"),
    [
        (OF_SESSION, "", "", {".claude/loop.json": '{"active": true, "session_id": "{{session_id}}"}'}),
        (LEARNS, START, "", {}),
        (LOOP, START, TAKES_OVER, {}),
        (TASKS, "", "", {"TODO.md": "- [ ] Do it.\n"}),
        (STAYS, UNNAMED, "", {}),
    ],
    ids=["by-session", "learns", "takes-over", "tasks", "place-for-a-session"],
)
def test_loops_that_may_hold_what_they_hold(met, text, command, prompt, files):
    """No loop is reported that knows its session, that a prompt takes over, or that is for all sessions."""
    found, _ = met(text, command, prompt, **files)
    assert not found.problems


@pytest.mark.nightly
def test_a_tool_that_the_start_of_a_loop_needs_too(met):
    """A loop that allows the stop without jq is found, although the command that starts it needs jq too."""
    found, played = met(LOOP, START)
    (session,) = found.sessions
    named = {one.name: one.text for one in played(session).outcome.findings}
    assert "no `jq` on the PATH" in named["UNGUARDED-TOOL"]


@pytest.mark.nightly
def test_a_loop_of_the_first_session_that_stops(met):
    """A loop that learns its session from its first stop is also tried with another session beside it."""
    found, played = met(LEARNS, START)
    (finding,) = (one for one in played(found.sessions[1]).outcome.findings if one.name == "WRONG-KEY")
    assert "with another session that does the same, allows" in finding.text


@pytest.mark.nightly
def test_a_loop_that_ends_with_the_first_prompt_of_another_session(met):
    """If another session removes the state of a loop, this is reported once, without a second session."""
    found, _ = met(f'{ASKED}[ -f "$F" ] || exit 0; echo "Go on." >&2; exit 2\n', TASK)
    assert ["removes .claude/loop.json" in one.symptom.text for one in found.problems] == [True]
    assert [one.scenario.vary[0].family for one in found.sessions] == ["tools"]


@pytest.mark.slow
def test_sessions_without_a_loop(plugin, harness):
    """Of hooks that nothing activated, one session with a refused stop is tried with a tool missing."""
    hook_set = plugin("exit 0")
    session = plan_each_event(hook_set)
    outcome = play_session(session, harness.settings, harness.resources)
    played = [PlayedSession(session, outcome)]
    assert not meet_held_loops(hook_set, played, lambda _: []).sessions
    refusing = plugin("exit 2")
    session = plan_each_event(refusing)
    outcome = play_session(session, harness.settings, harness.resources)
    found = meet_held_loops(refusing, [PlayedSession(session, outcome)] * 2, lambda _: [])
    assert [one.scenario.vary[0].family for one in found.sessions] == ["tools"]


# A loop that refuses nothing: it counts in any session, removes what another one started, or always ends.
COUNTS = """F="$CLAUDE_PROJECT_DIR/.claude/loop.json"
[ -f "$F" ] || exit 0
N=$(jq .iteration "$F")
echo "{\\"active\\": true, \\"iteration\\": $((N + 1))}" >"$F"
"""
CLEANS = """F=.claude/loop.json
[ "$(jq -r .session_id)" = "$(jq -r .session_id "$F" 2>/dev/null)" ] || rm -f "$F"
"""
ENDS = "rm -f .claude/loop.json\n"
KNOWN = (
    """mkdir -p .claude; jq -n --arg s "$(cat ~/me)" '{active: true, session_id: $s}' >.claude/loop.json"""
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "command", "does"),
    [
        (COUNTS, START, "counts its own turns in"),
        (CLEANS, KNOWN, "removes"),
        (ASKED, TASK, "removes"),
        (CLEANS, UNNAMED, ""),
        (ENDS, START, ""),
        ("exit 0", START, ""),
    ],
    ids=["counts", "removes", "removes-by-the-prompt", "place-for-a-session", "always-ends", "nothing"],
)
def test_a_loop_that_another_session_changes(plugin, harness, text, command, does):
    """A loop that refuses nothing is reported if another session removes its state, or counts in it."""
    hook_set = plugin("sh ${CLAUDE_PLUGIN_ROOT}/stop.sh", **{"stop.sh": text})

    def played(sessions):
        outcomes = [play_session(one, harness.settings, harness.resources) for one in sessions]
        return [PlayedSession(*one) for one in zip(sessions, outcomes, strict=True)]

    given = [Activation(title="start.md used", command=command, home={"me": "{{session_id}}"})]
    found = meet_held_loops(hook_set, played([*plan_activated(hook_set, given)]), played).problems
    assert [one.symptom.kind for one in found] == ["WRONG-KEY"] * bool(does)
    if does:
        said = f"Stop: a session that did not start the loop {does} .claude/loop.json, its state."
        assert found[0].symptom.text == said
        assert found[0].session.active == "start.md used, as it was when it began"
