"""Claims about scripts that start a loop: which of them are run, and in which order."""

import pytest

from pytest_hookharness.campaigns.arming.activation import find_activations
from pytest_hookharness.campaigns.arming.starting_scripts import starting_command
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_activated

STOP = """[ -f .claude/loop.json ] || exit 0
# Started by scripts/start-loop.sh.
grep -q task .claude/queue.json || exit 0
echo "Go on." >&2; exit 2
"""
INIT = "mkdir -p .claude; echo '[]' >.claude/queue.json\n"
ADD = '[ -n "$1" ] && echo "[task]" >.claude/queue.json\n'
START = """[ -f .claude/queue.json ] && echo '{"active": true}' >.claude/loop.json\n"""
STEPS = {"scripts/start-loop.sh": START, "scripts/add-task.sh": ADD, "scripts/init.sh": INIT}


@pytest.fixture
def loop(plugin):
    """A plugin with a Stop hook that looks for two files."""
    return lambda stop=STOP, **files: plugin("sh ${CLAUDE_PLUGIN_ROOT}/stop.sh", **{"stop.sh": stop, **files})


@pytest.mark.slow
def test_scripts_are_run_as_a_person_would(loop, harness):
    """What makes the files comes first, then what adds a task, and then what starts the loop."""
    hook_set = loop(**STEPS)
    words = "bash ../plugin/scripts/{}"
    steps = [
        words.format("init.sh"),
        words.format("add-task.sh 'Please do the work.'"),
        words.format("start-loop.sh"),
    ]
    assert starting_command(hook_set) == "; ".join(steps)
    (session,) = plan_activated(hook_set)
    assert session.active == f"`{'; '.join(steps)}` run"
    assert play_session(session, harness.settings, harness.resources).blocks("Stop") > 1


@pytest.mark.parametrize(
    ("stop", "path", "text"),
    [
        (STOP, "scripts/stop-loop.sh", START),
        (STOP, "scripts/start-other.sh", "echo yes >.claude/other.json\n"),
        (STOP, "scripts/start-view.sh", "cat .claude/loop.json\n"),
        (STOP, "tests/start-loop.sh", START),
        (STOP, "scripts/start-loop.txt", START),
        (STOP, "scripts/add-task.sh", ADD),
        ("[ -f package.json ] && exit 2\n", "scripts/start.sh", "echo {} >package.json\n"),
    ],
)
def test_scripts_that_start_nothing(loop, stop, path, text):
    """A script is left out that ends, reads, tests or adds only, or that writes no state of a hook."""
    assert starting_command(loop(stop, **{path: text})) == ""


def test_a_name_that_the_script_fills_in(loop):
    """A script that puts an identifier into a name writes a file for which the hook has a star."""
    stop = 'for F in .claude/loop.*.local.md; do [ -f "$F" ] && exit 2; done; exit 0\n'
    start = 'ID=$RANDOM; echo "id: $ID" >".claude/loop.${ID}.local.md"\n'
    assert starting_command(loop(stop, **{"bin/begin.sh": start})) == "bash ../plugin/bin/begin.sh"


def test_scripts_that_a_command_runs(loop):
    """Scripts are not run once more that the code of a command runs."""
    command = '```!\nbash "${CLAUDE_PLUGIN_ROOT}/scripts/start-loop.sh"\n```\n'
    files = {"scripts/start-loop.sh": START, "commands/go.md": command}
    (found,) = find_activations(loop(**files))
    assert found.title == "commands/go.md used"
