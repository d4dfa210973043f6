"""Claims about hooks that do nothing until a person starts them."""

import json

import pytest

from pytest_hookharness.campaigns.arming.activation import find_activations, given_activations
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_activated
from pytest_hookharness.frontends.checkup import problem_command
from pytest_hookharness.model.moves import FIRST_PROMPT, Prompt, RunCommand, Stop
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

HOOK = {"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh"}
COMMAND = """---
description: Start the loop
---
```!
sh "${CLAUDE_PLUGIN_ROOT}/start.sh" $ARGUMENTS
```
Work on the task.
"""
STOP = """[ -f .claude/loop.md ] || exit 0
echo "Go on with the task in .claude/loop.md, and remove the file when it is done." >&2
exit 2
"""


# A review in two phases: the second one waits for a file that only a reviewer writes.
REVIEW = """[ -f .claude/review.md ] || exit 0
if grep -q 'phase: task' .claude/review.md; then
    sed -i 's/phase: task/phase: review/' .claude/review.md
    echo "Ask for a review." >&2
else
    [ -f reviews/done.md ] && exit 0
    echo "The review is missing: reviews/done.md" >&2
fi
exit 2
"""
REVIEW_COMMAND = """Set up the loop:

```bash
set -e && mkdir -p .claude && cat > .claude/review.md << END
phase: task
$ARGUMENTS
END
```

Look at what was done:

```bash
git status > other/status.txt
```
"""


@pytest.fixture
def loop(plugin):
    """A plugin whose hook waits for the file of a loop."""
    return lambda **files: plugin(**{"hooks/stop.sh": STOP, **files})


def test_a_command_that_runs_code(loop):
    """A command of the plugin is used as the host would: its code is run, with a task as arguments."""
    (found,) = find_activations(loop(**{"commands/loop.md": COMMAND, "commands/cancel.md": COMMAND}))
    assert found.title == "commands/loop.md used"
    assert found.command == "sh \"../plugin/start.sh\" 'Please do the work.'"


def test_code_in_a_line(loop):
    """Code in a line counts too, and a command that only has words for the agent does not."""
    text = "Begin: !`mkdir -p .claude && touch .claude/loop.md`, then read `!`.\n"
    (found,) = find_activations(loop(**{"commands/a.md": text, "commands/b.md": "Use `git status`.\n"}))
    assert found.command == "mkdir -p .claude && touch .claude/loop.md"


@pytest.mark.slow
def test_a_command_that_asks_for_its_session(loop, harness):
    """A command whose scripts read the variable of newer hosts is also run with it."""
    text = 'mkdir -p .claude; echo "of $CLAUDE_CODE_SESSION_ID" >.claude/loop.md\n'
    stop = 'grep -q "of $(jq -r .session_id)" .claude/loop.md || exit 0; echo Go on. >&2; exit 2\n'
    hook_set = loop(**{"commands/start.md": COMMAND, "start.sh": text, "hooks/stop.sh": stop})
    (hook_set.root / "cache.pyc").write_bytes(b"\xcb\xff")
    plain, known = plan_activated(hook_set)
    assert known.title.endswith("used, with the session in CLAUDE_CODE_SESSION_ID")
    ended = [play_session(one, harness.settings, harness.resources).verdict_name for one in (plain, known)]
    assert ended[0] == "terminated"
    assert ended[1] != "terminated"


def test_code_that_only_reads_makes_nothing_active(loop):
    """A command that only tells the agent about the repository costs no session; one that writes does."""
    text = "!`git diff HEAD` !`git log -10` !`ls -a` !`git status > .claude/loop.md` !`cat a; ./start`\n"
    text += "```!\ngit status\n```\n```!\ngit status\n./start\n```\n"
    found = find_activations(loop(**{"commands/a.md": text}))
    assert [one.command for one in found] == [
        "git status > .claude/loop.md",
        "cat a; ./start",
        "git status\n./start",
    ]


def test_code_that_writes_a_file_of_a_hook(loop):
    """Code that a command tells the agent to run counts if it writes a file that a hook names."""
    (found,) = find_activations(loop(**{"hooks/stop.sh": REVIEW, "commands/review.md": REVIEW_COMMAND}))
    assert found.command.startswith("set -e && mkdir -p .claude")
    assert "\n'Please do the work.'\n" in found.command


def test_a_script_that_writes_a_file_of_a_hook(loop):
    """A script that a command tells the agent to run counts too, with files from templates."""
    texts = {
        "hooks/stop.sh": 'at="$(pwd)"\n[ -f "$at/.loop/state.json" ] && [ -f "$at/.claude/loop.md" ]\n',
        "scripts/start.sh": '[ -f "$1/.loop/state.json" ] || exit 1\necho go > "$1/.claude/loop.md"\n',
        "commands/start.md": '```bash\n"${CLAUDE_PLUGIN_ROOT}/scripts/start.sh" .\n```\n',
        "commands/look.md": '```bash\n"${CLAUDE_PLUGIN_ROOT}/scripts/look.sh" .\n```\n',
        "templates/state.json.tmpl": '{"count": {{COUNT}}}\n',
    }
    used, files = find_activations(loop(**texts))

    assert (used.title, used.command) == ("commands/start.md used", '"../plugin/scripts/start.sh" .')
    assert used.files == files.files == {".loop/state.json": '{"count": 1}\n'}


def test_a_variable_that_means_the_plugins_folder(loop):
    """A variable in a command's text that only says that it means the plugin's folder is filled in."""
    texts = {"hooks/stop.sh": "[ -f .claude/loop.md ]\n", "scripts/start.sh": "echo go >.claude/loop.md\n"}
    start = '```bash\n"$PLUGIN_DIR/scripts/start.sh" $ARGUMENTS; echo $MY_PLUGIN_DIR\n```\n'
    (found,) = find_activations(loop(**texts, **{"commands/start.md": start}))
    assert found.command == """"../plugin/scripts/start.sh" 'Please do the work.'; echo $MY_PLUGIN_DIR"""


def test_commands_of_an_extension(tmp_path):
    """What the user asks a command of a Gemini CLI extension for goes to its script; no other code runs."""
    block = 'prompt = """Run:\n```bash\nnode "${extensionPath}/bin/%s.js" %s\n```\n"""\n'
    hook = {"hooks": [{"type": "command", "command": "node ${extensionPath}/hooks/stop.js"}]}
    texts = {
        "gemini-extension.json": '{"name": "loop", "version": "1.0.0"}',
        "hooks/hooks.json": json.dumps({"hooks": {"AfterAgent": [hook]}}),
        "commands/loop/begin.toml": block % ("begin", "$ARGUMENTS"),
        "commands/loop/look.toml": block % ("look", ""),
        "commands/notes.md": "```bash\nnode ${extensionPath}/bin/x.js $ARGUMENTS\n```\n",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (hook_set,) = find_hook_sets(tmp_path)

    (found,) = find_activations(hook_set)
    assert found.title == "commands/loop/begin.toml used"
    assert found.command == "node \"../plugin/bin/begin.js\" 'Please do the work.'"


def test_a_template_of_a_file_that_hooks_name(loop):
    """A file that a hook names is taken from templates, unless the project has it or programs read it."""
    hook = "[ -f plan.md ] && [ -f notes.md ] && cat settings.json README.md"
    texts = {"hooks/stop.sh": hook, "notes.md": "mine", "skills/x/templates/plan.md": "- [ ] do it\n"}
    others = ["notes.md", "settings.json", "README.md", "unnamed.md"]
    (found,) = find_activations(loop(**texts, **{f"templates/{name}": "1" for name in others}))
    assert found.title == "plan.md as in the templates"
    assert found.files == {"plan.md": "- [ ] do it\n"}


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ('state="$PROJECT/.loop"\n[ -f "$state/loop.local.md" ]', ".loop/loop.local.md"),
        ('top="${top:-$PWD}"\nat="${top}/.loop"\nfile="$at/loop.local.md"', ".loop/loop.local.md"),
        ("[ -f .loop/loop.local.md ]", ".loop/loop.local.md"),
        ('cat "$PWD/loop.local.md"', "loop.local.md"),
        ('cat "${CLAUDE_PLUGIN_ROOT}/templates/loop.local.md"', None),
        ('base="$HOME/.loop"; cat "$base/../loop.local.md.bak"', None),
    ],
)
def test_a_template_of_a_file_in_a_folder_that_a_variable_names(loop, named, path):
    """A template is put where the hook looks for the file, if that is in the project."""
    texts = {"hooks/stop.sh": named, "templates/loop.local.md": "---\nactive: false\n---\n"}
    found = find_activations(loop(**texts))
    assert [one.files for one in found] == ([{path: "---\nactive: true\n---\n"}] if path else [])


@pytest.mark.nightly
def test_the_second_phase_of_a_review_loop(loop, harness):
    """A loop whose first refusal leads to a phase that never ends is found without any configuration."""
    hook_set = loop(**{"hooks/stop.sh": REVIEW, "commands/review.md": REVIEW_COMMAND})
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    (problem,) = (one for one in report.problems if one.symptom.kind in ("livelock", "capped"))
    assert problem.active == "commands/review.md used"
    assert "The review is missing" in problem.symptom.text


@pytest.mark.parametrize(
    "source",
    [
        'glob.glob(os.path.join(".claude", "rules.*.local.md"))',
        'glob.glob(".claude/rules.*.local.md")',
        'Path(".claude").glob("rules.*.local.md")',
    ],
)
def test_an_example_of_a_rule(loop, source):
    """An example whose name fits what hooks look for is put there, and switched on."""
    files = {
        "core/load.py": f"rules = {source}\n",
        "examples/tests.local.md": "---\nname: tests\nenabled: false\n---\nRun the tests.\n",
        "examples/other.md": "no rule\n",
    }
    found = find_activations(loop(**files))
    assert {path: text for one in found for path, text in one.files.items()} == {
        ".claude/rules.tests.local.md": "---\nname: tests\nenabled: true\n---\nRun the tests.\n"
    }
    assert found[0].title == ".claude/rules.tests.local.md as in examples/tests.local.md"


def test_what_a_person_names(tmp_path, monkeypatch):
    """A person may name a command or a file that makes hooks active; the file keeps its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.md").write_text("task\n")
    command, file = given_activations(["touch .active"], ["./loop.md"])
    assert (command.title, command.command) == ("`touch .active` run", "touch .active")
    assert (file.title, file.files) == ("the file loop.md", {"loop.md": "task\n"})
    with pytest.raises(SimulationError, match="there is no such file below"):
        given_activations([], ["other.md"])
    with pytest.raises(SimulationError, match="lies outside the current folder"):
        given_activations([], ["../loop.md"])


@pytest.mark.parametrize(
    "named", [(["mkdir -p .claude; echo >.claude/loop.md"], []), ([], [".claude/loop.md"])]
)
@pytest.mark.nightly
def test_a_loop_that_a_person_starts(loop, harness, tmp_path, monkeypatch, named):
    """A loop that nothing in its plugin starts is found with a command or a file that a person names."""
    hook_set = loop()
    (tmp_path / "armed/.claude").mkdir(parents=True)
    (tmp_path / "armed/.claude/loop.md").write_text("task\n")
    monkeypatch.chdir(tmp_path / "armed")
    run = CheckRun(hook_set, harness.settings, harness.resources, given=given_activations(*named))
    (problem,) = (one for one in run.run().problems if one.symptom.kind in ("livelock", "capped"))
    assert problem.active == ("the file .claude/loop.md" if named[1] else f"`{named[0][0]}` run")
    command = problem_command(problem, tmp_path, "", harness.settings, ["--arm", "touch x"])
    assert "--arm 'touch x'" in command


COUNTING = """[ -f .claude/loop.md ] || exit 0
n=$(cat .claude/loop.md); echo $((n + 1)) >.claude/loop.md
echo "Round $n." >&2
exit 2
"""


@pytest.mark.slow
def test_a_started_loop_shows_soon(loop, harness):
    """A loop that counts its rounds is played until the host overrides it, without looking for a proof."""
    text = "Begin: !`mkdir -p .claude && echo 1 >.claude/loop.md`\n"
    (session,) = plan_activated(loop(**{"hooks/stop.sh": COUNTING, "commands/a.md": text}))
    outcome = play_session(session, harness.settings, harness.resources)
    assert (outcome.verdict_name, outcome.probe_reports) == ("capped", ())


@pytest.mark.parametrize(("asked", "refused"), [("--cached", True), ("HEAD", False)])
def test_a_change_that_the_agent_stages(plugin, harness, asked, refused):
    """A hook of stops that asks for staged changes meets one, which is no loop that somebody started."""
    script = f'[ -z "$(git diff {asked} --name-only)" ] || {{ echo "Commit it." >&2; exit 2; }}\n'
    sessions = [*plan_activated(plugin(**{"hooks/stop.sh": script}))]
    played = [play_session(one, harness.settings, harness.resources) for one in sessions]
    assert [one.verdict_name for one in played] == ["livelock"] * refused
    assert [one.active for one in sessions] == [""] * refused


def test_a_loop_that_waits_for_the_next_prompt(loop):
    """Where hooks run before prompts, the user writes once more after a command has started the work."""
    prompts = {"UserPromptSubmit": [{"hooks": [HOOK]}], "Stop": [{"hooks": [HOOK]}]}
    made = {"commands/a.md": '!`./start.sh "${ARGUMENTS}"`'}
    (plain,) = plan_activated(loop(**made))
    (claimed,) = plan_activated(
        loop(**made, **{".claude-plugin/plugin.json": json.dumps({"hooks": prompts})})
    )
    command = RunCommand(command="./start.sh 'Please do the work.'")
    assert plain.scenario.script.acts == (FIRST_PROMPT, command, Stop())
    assert claimed.scenario.script.acts == (FIRST_PROMPT, command, Prompt(text="Go on."), Stop())


@pytest.mark.nightly
def test_a_loop_that_a_command_starts(loop, harness):
    """A loop that only runs after a command of its plugin is found without any configuration."""
    start = "mkdir -p .claude && echo task >.claude/loop.md\n"
    hook_set = loop(**{"commands/loop.md": COMMAND, "start.sh": start})
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    (problem,) = (one for one in report.problems if one.symptom.kind in ("livelock", "capped"))
    assert problem.active == "commands/loop.md used"
    assert "Activated: commands/loop.md used." in report.tried
