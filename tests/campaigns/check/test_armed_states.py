"""Claims about loops whose state only a model writes: their state files are tried, and kept if they act."""

import json
from functools import partial

import pytest

from pytest_hookharness.campaigns.arming.activation import given_activations
from pytest_hookharness.campaigns.check.armed_states import arm_states
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.home_search import look_in_project, with_looked_for
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_activated, plan_each_event

SHELL = """F="$CLAUDE_PROJECT_DIR/.claude/loop.json"
[ -f "$F" ] || exit 0
grep -q '"active": *true' "$F" || exit 0
echo "Go on with the task in .claude/loop.json." >&2; exit 2
"""
COMMAND = """Start the loop. Create `.claude/loop.json`:

```json
{"active": true, "task": "$ARGUMENTS"}
```
"""
PYTHON = """import json, os, pathlib, sys
event = json.load(sys.stdin)
file = pathlib.Path(event["cwd"]) / ".run" / "state.json"
if not file.exists():
    sys.exit(0)
state = json.loads(file.read_text())
if state.get("session_id") != event["session_id"]:
    sys.exit(0)
left = [task for task in state["tasks"] if task["status"] == "pending"]
if left:
    print(json.dumps({"decision": "block", "reason": f"{len(left)} tasks are pending in .run/state.json"}))
"""
NODE = """const fs = require("fs"), path = require("path");
const event = JSON.parse(fs.readFileSync(0, "utf8"));
const file = path.join(event.cwd, ".claude", "gate.json");
if (!fs.existsSync(file)) process.exit(0);
const state = JSON.parse(fs.readFileSync(file, "utf8"));
if (!state.enabled || state.iteration >= state.maxIterations) {
  process.exit(0);
}
fs.writeFileSync(file, JSON.stringify({ ...state, iteration: state.iteration + 1 }));
console.log(JSON.stringify({ decision: "block", reason: "Once more." }));
"""
LIMITED = """Write `.claude/gate.json` with `{"enabled": true, "iteration": 0, "maxIterations": 100}`.
"""
CHECKLIST = """if grep -q '^- \\[ \\]' TODO.md 2>/dev/null; then
    echo "Finish the open tasks of TODO.md." >&2
    exit 2
fi
"""
SPELL = """F=.claude/spell.local.md
[ -f "$F" ] || exit 0
[ "$(sed -n 's/^active: //p' "$F")" = true ] || exit 0
grep -q '<promise>GREEN</promise>' "$(jq -r .transcript_path)" && exit 0
echo "Say <promise>GREEN</promise> when all tests pass." >&2; exit 2
"""


ENDLESS = """F=.claude/again.md
[ -f "$F" ] || exit 0
most=$(sed -n 's/^max_rounds: //p' "$F") round=$(sed -n 's/^round: //p' "$F")
[ "$most" -gt 0 ] && [ "$round" -ge "$most" ] && exit 0
sed -i "s/^round: .*/round: $((round + 1))/" "$F"
echo "Go on." >&2; exit 2
"""
AGAIN = """Write `.claude/again.md`; `max_rounds` is a number (default 0 for {word}):

```markdown
---
round: 1
max_rounds: 20
---
```
"""


@pytest.fixture
def armed(plugin, harness):
    """State files tried with a hook, in real sessions."""

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    def make(name, program, text, **files):
        command = f"{program} ${{CLAUDE_PLUGIN_ROOT}}/hooks/{name}"
        hook_set = plugin(command, **{f"hooks/{name}": text}, **files)
        first = played(plan_each_event(hook_set))
        found = arm_states(hook_set, [first], lambda sessions: [*map(played, sessions)])
        return found, [played(session).outcome for session in found.sessions]

    return make


@pytest.mark.nightly
def test_a_file_of_which_a_command_tells(armed):
    """A loop in shell whose state a command has a model write is active with it, and refuses every stop."""
    found, (outcome,) = armed("stop.sh", "sh", SHELL, **{"commands/start.md": COMMAND})
    (session,) = found.sessions
    state = '.claude/loop.json: {"active": true, "task": "Please do the work."}'
    assert session.active == f"{state}, as commands/start.md says"
    assert outcome.verdict_name in ("livelock", "capped")
    assert found.unmet == ()


@pytest.mark.nightly
def test_fields_that_python_compares(armed):
    """A loop in Python is active with the fields and values that it compares, and with its own session."""
    found, (outcome,) = armed("stop.py", "python3", PYTHON)
    (session,) = found.sessions
    ((path, text),) = session.scenario.files.items()
    state = {"session_id": "{{session_id}}", "tasks": [{"status": "pending"}]}
    assert (path, json.loads(text)) == (".run/state.json", state)
    assert session.active.endswith("as hooks/stop.py reads it")
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.nightly
@pytest.mark.parametrize("files", [{}, {"README.md": LIMITED}])
def test_a_loop_that_ends_by_its_own_limit(armed, files):
    """A loop in Node that counts up to a limit is active, and is not called endless, whatever the limit."""
    found, (outcome,) = armed("stop.js", "node", NODE, **files)
    assert '"enabled": true' in found.sessions[0].active
    assert outcome.blocks("Stop") > 1
    assert outcome.verdict_name == "terminated"


@pytest.mark.nightly
def test_a_checklist_that_the_agent_can_tick(armed):
    """A loop over open tasks is active, and the way out of an agent that ticks them is known."""
    found, (outcome,) = armed("stop.sh", "sh", CHECKLIST)
    (session,) = found.sessions
    assert session.way_out == "writes the finished state into TODO.md"
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("box", "text", "kept"),
    [
        ("'^- \\[ \\]'", "Nothing to do.\n", True),
        ("-E '^\\s*-\\s*\\[\\s*\\]'", "- [x] One\n", True),
        ("'^- \\[x\\]'", "- [ ] One\n", False),
    ],
)
def test_a_list_whose_tasks_are_done(armed, box, text, kept):
    """A list of tasks that the project has is tried with an open one, if the hook looks for it."""
    hook = CHECKLIST.replace("'^- \\[ \\]'", box)
    found, _ = armed("stop.sh", "sh", hook, **{"TODO.md": text})
    assert bool(found.sessions) is kept


POINTED = """NAME=$(cat "$CLAUDE_PROJECT_DIR/.plans/current" 2>/dev/null) || exit 0
STATE="$CLAUDE_PROJECT_DIR/.plans/all/$NAME/state.json"
[ -f "$STATE" ] || exit 0
DONE=$(jq -r '.doneTasks // 0' "$STATE")
TOTAL=$(jq -r '.totalTasks // 0' "$STATE")
[ "$DONE" -lt "$TOTAL" ] || exit 0
echo "Go on with $STATE." >&2; exit 2
"""


@pytest.mark.nightly
def test_a_state_whose_folder_another_file_names(plugin, harness):
    """A loop is active with a state in a folder that a first file names, and with that file."""
    (hook_set,) = with_looked_for(
        [plugin("sh ${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh", **{"hooks/stop.sh": POINTED})],
        harness.settings,
        harness.resources,
    )

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    first = played(plan_each_event(hook_set))
    look = partial(look_in_project, settings=harness.settings, resources=harness.resources)
    found = arm_states(hook_set, [first], lambda sessions: [*map(played, sessions)], look)
    assert len(found.sessions) == 1
    files = found.sessions[0].scenario.files
    assert json.loads(files[".plans/all/work/state.json"])["totalTasks"] == 3
    assert files[".plans/current"] == "work\n"


IN_HOME = """DIR="$HOME/.looper"
F="$DIR/state.json"
[ -f "$F" ] || exit 0
[ "$(jq -r .status "$F")" = working ] || exit 0
echo "The work is not complete; see ~/.looper/state.json." >&2; exit 2
"""
IN_HOME_PYTHON = """import json, pathlib, sys
folder = pathlib.Path.home() / ".looper"
file = folder / "state.json"
state = json.loads(file.read_text()) if file.exists() else {}
if state.get("active"):
    print(json.dumps({"decision": "block", "reason": "Go on."}))
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "program", "text"), [("stop.sh", "sh", IN_HOME), ("stop.py", "python3", IN_HOME_PYTHON)]
)
def test_a_state_below_home(armed, name, program, text):
    """A loop whose state lies below HOME is active with it, in the HOME of each session."""
    found, (outcome,) = armed(name, program, text)
    (session,) = found.sessions
    assert session.active.startswith("~/.looper/state.json: ")
    assert set(session.scenario.home) == {".looper/state.json"}
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.nightly
def test_a_list_below_home_that_the_agent_can_tick(armed):
    """An agent ticks the tasks of a list below HOME too, in its shell."""
    text = CHECKLIST.replace("TODO.md", '"$HOME"/.looper/TODO.md')
    found, _ = armed("stop.sh", "sh", text)
    assert found.sessions[0].way_out == "writes the finished state into ~/.looper/TODO.md"


@pytest.mark.nightly
def test_a_promise_of_which_the_message_tells(armed):
    """An agent that says what the message asks for is tried too."""
    found, _ = armed("stop.sh", "sh", SPELL)
    assert 'says "<promise>GREEN</promise>"' in found.sessions[0].way_out


@pytest.mark.slow
def test_a_file_that_the_message_asks_to_remove(armed):
    """An agent that removes a file when it is asked to is tried too."""
    text = "[ -f .claude/on ] || exit 0\necho 'Remove .claude/on when you are done.' >&2\nexit 2\n"
    found, _ = armed("stop.sh", "sh", text)
    assert found.sessions[0].way_out == "runs `rm -f .claude/on`"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        # It does the same with and without the file.
        "[ -f .claude/loop.json ] && cat .claude/loop.json\nexit 0\n",
        # The guessed state only breaks it.
        'F=.claude/loop.json\n[ -f "$F" ] || exit 0\n[ "$(jq -r .active "$F")" = true ] || exit 0\nexit 1\n',
    ],
)
def test_what_changes_nothing_is_left_out(armed, text):
    """A state that changes nothing, or only makes a hook fail, is not kept; the report asks for one."""
    found, _ = armed("stop.sh", "sh", text)
    assert found.sessions == ()
    (words,) = found.unmet
    assert words.startswith("Stop 1 (stop.sh) looks for .claude/loop.json")
    assert "--arm-file .claude/loop.json" in words


@pytest.mark.nightly
def test_a_hook_that_a_text_made_refuse_asks_for_no_state(armed):
    """A hook that refuses a stop for a text in a file needs no other file that it looks for."""
    text = "[ -f .claude/loop.json ] && exit 0\ngrep -q 'console.log' changed.txt && exit 2\nexit 0\n"
    found, _ = armed("stop.sh", "sh", text)
    (session,) = found.sessions
    assert session.way_out == "removes these texts from its files"
    assert found.unmet == ()


@pytest.mark.nightly
def test_a_gate_that_refused_asks_for_no_state(armed):
    """A gate that refuses a stop while its check fails needs no file that it looks for."""
    text = (
        "#!/bin/bash\n[ -f .claude/off ] && exit 0\ncommand -v pnpm >/dev/null || exit 0\n"
        "jq -e .stop_hook_active >/dev/null && exit 0\npnpm check >&2 || exit 2\n"
    )
    found, _ = armed("stop.sh", "bash", text)
    assert found.unmet == ()


@pytest.mark.nightly
def test_what_was_activated_is_not_tried_again(plugin, harness):
    """A hook that a command of its plugin made active needs no state files."""
    hook_set = plugin(**{"hooks/stop.sh": SHELL, "commands/start.md": COMMAND})

    def played(session, active=""):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    first = played(plan_each_event(hook_set))
    (session,) = arm_states(hook_set, [first], lambda sessions: [*map(played, sessions)]).sessions
    again = arm_states(hook_set, [first, played(session)], lambda sessions: [*map(played, sessions)])
    assert (again.sessions, again.unmet) == ((), ())


@pytest.mark.slow
def test_a_hook_that_fails_when_it_is_active_asks_for_no_state(plugin, harness):
    """A hook that fails only when a command made it active is not said to be without its state."""
    hook_set = plugin(**{"hooks/stop.sh": "[ -f .claude/on ] || exit 0\necho 'Go on.'\nexit 1\n"})

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    first = played(plan_each_event(hook_set))
    (activated,) = plan_activated(hook_set, given_activations(["mkdir -p .claude; touch .claude/on"], []))
    assert arm_states(hook_set, [first], lambda sessions: [*map(played, sessions)]).unmet
    plays = [first, played(activated)]
    assert not arm_states(hook_set, plays, lambda sessions: [*map(played, sessions)]).unmet


@pytest.mark.slow
def test_what_hooks_look_for_in_the_project_is_seen(plugin, harness):
    """One observed session shows which files the hooks look for in vain, by path in the project."""
    hook_set = plugin(**{"hooks/stop.sh": 'N=loop; [ -f "$CLAUDE_PROJECT_DIR/.claude/$N.json" ]; exit 0\n'})
    (found,) = with_looked_for([hook_set], harness.settings, harness.resources)
    assert ".claude/loop.json" in found.looked_for


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[ -f .claude/loop.json ]", True),
        ("jq -r .cwd | xargs -I{} test -f {}/.claude/loop.json", True),
        ('[ -f "$CLAUDE_PROJECT_DIR/.claude/loop.json" ]', False),
        ("[ -f .claude/loop.json ] || [ -f ../.claude/loop.json ]", False),
        ('[ -f .claude/loop.json ] || [ -f "$CLAUDE_PROJECT_DIR/.my/loop.json" ]', False),
        ('cd "$(git rev-parse --show-toplevel)" && [ -f .claude/loop.json ]', False),
        ("[ -f src/loop.json ]", False),
        ("date >count.txt", True),
        ('date >"$CLAUDE_PROJECT_DIR/count.txt"', False),
    ],
)
def test_what_hooks_use_where_the_agent_works(plugin, harness, text, seen):
    """A second observed session shows the state that hooks look for, or write, in the agent's folder."""
    hook_set = plugin(**{"hooks/stop.sh": f"{text}\nexit 0\n"})
    (found,) = with_looked_for([hook_set], harness.settings, harness.resources)
    paths = {path for path, command in found.aside if hook_set.hooks[0].command in command}
    assert paths == ({"count.txt" if "date" in text else ".claude/loop.json"} if seen else set())


@pytest.mark.nightly
def test_the_report_of_an_active_loop(plugin, harness):
    """The report says with which file a loop was active and who says so, and how an agent may stop."""
    hook_set = plugin(**{"hooks/stop.sh": CHECKLIST})
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    (problem,) = (one for one in report.problems if one.symptom.kind in ("livelock", "capped"))
    assert problem.active == "TODO.md: # Tasks; - [ ] Please do the work., as hooks/stop.sh reads it"
    assert "if the agent does nothing more; it may stop if it writes the finished" in problem.symptom.text
    assert "forever" not in problem.symptom.text
    assert not problem.symptom.must_fix


@pytest.mark.nightly
@pytest.mark.parametrize(("word", "limits"), [("unlimited", ["3", "0"]), ("tests", ["3"])])
def test_a_loop_whose_documents_say_that_0_is_no_limit(armed, word, limits):
    """A loop with a limit is also tried without one, if the project says how to write that."""
    found, outcomes = armed("s.sh", "sh", ENDLESS, **{"commands/go.md": AGAIN.format(word=word)})
    texts = [one.scenario.files[".claude/again.md"] for one in found.sessions]
    assert [text.partition("max_rounds: ")[2][0] for text in texts] == limits
    assert [one.verdict_name == "terminated" for one in outcomes] == [limit != "0" for limit in limits]
