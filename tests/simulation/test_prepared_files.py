"""What a scenario puts into workspace and home before the session, and paths that tools are given."""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.trace import Performed


def test_files_can_name_the_session(play, inputs):
    """The session's identifier stands where files and home ask for it, in paths and in texts."""
    hook = (
        'read -r -d \'\' input; id=$(printf %s "$input" | sed \'s/.*"session_id":"\\([^"]*\\)".*/\\1/\')\n'
        'grep -q "$id" "state/$id.json" && grep -q "$id" "$HOME/$id" || exit 2'
    )
    outcome = play(
        hooks={"Stop": "bash check.sh"},
        files={"check.sh": hook, "state/{{session_id}}.json": '{"id": "{{session_id}}"}'},
        world={"home": {"{{session_id}}": "{{session_id}} and {{another}}"}},
        modes={"state/{{session_id}}.json": "0600"},
        agent=[{"stop": "Done."}],
        expect={
            "verdict": "terminated",
            "files": {"contain": {"state/{{session_id}}.json": "{{session_id}}"}},
        },
    )

    assert outcome.passed, outcome.violations
    (seen,) = inputs(outcome, "Stop")
    session = hosts.session_id(0)
    assert seen["session_id"] == session
    assert outcome.scenario.home == {session: f"{session} and {{{{another}}}}"}
    assert outcome.scenario.modes == {f"state/{session}.json": 0o600}


def test_a_folder_is_copied_into_home(play, tmp_path):
    """A folder's files are in each new home, with their modes, below those that the scenario writes."""
    folder = tmp_path / "home"
    (folder / ".config").mkdir(parents=True)
    (folder / ".config" / "tool").write_text("mine")
    (folder / ".config" / "run").write_text("#!/bin/sh\necho ran\n")
    (folder / ".config" / "run").chmod(0o755)
    (folder / "both").write_text("folder")

    outcome = play(
        hooks={"Stop": '"$HOME"/.config/run >out; cat ~/.config/tool ~/both ~/own >>out; echo x >~/both'},
        world={"home_folder": folder, "home": {"both": "text", "own": "own"}},
        agent=[{"stop": "Done."}],
        expect={"verdict": "terminated", "files": {"equal": {"out": "ran\nminetextown"}}},
    )

    assert outcome.passed, outcome.violations
    assert (folder / "both").read_text() == "folder"


def test_a_home_folder_that_leads_out_is_refused(play, tmp_path):
    """A link that leaves the folder is an error, for a hook could write to the developer's files by it."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "link").symlink_to("/etc")

    with pytest.raises(WorkspaceError, match="leaves"):
        play(hooks={"Stop": "true"}, world={"home_folder": folder}, agent=[{"stop": "x"}])


def test_hooks_see_the_path_of_an_edit_as_it_was_written(play, inputs):
    """An edit by a path with .. happens in the workspace, and the hook is asked about the path as it is."""
    outcome = play(
        hooks={"PreToolUse": "true"},
        agent=[{"edit": {"file": "sub/../x", "text": "hi"}}, {"read": "sub/../x"}, {"stop": "Done."}],
        expect={"verdict": "terminated", "files": {"equal": {"x": "hi"}}},
    )

    assert outcome.passed, outcome.violations
    assert all(each["tool_input"]["file_path"].endswith("/workspace/sub/../x") for each in inputs(outcome))
    performed = [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Performed)]
    assert not any(each.result.failed for each in performed)


AGENT = """---
name: reviewer
description: Reviews.
hooks:
  Stop:
    - hooks: [{type: command, command: 'echo reviewer >>log'}]
%s---
Review.
"""
MOVES = [
    {"subagent": {"kind": "reviewer", "prompt": "look"}},
    {"subagent": {"kind": "other", "prompt": "look"}},
    {"stop": "Done."},
]


@pytest.mark.parametrize("place", ["files", "home"])
def test_hooks_of_a_subagent_run_when_it_stops(play, place):
    """A Stop hook in the front matter of a subagent runs when that subagent stops, and for no other stop."""
    files = {".claude/agents/any.md": AGENT % ""}

    outcome = play(
        agent=MOVES,
        expect={
            "verdict": "terminated",
            "files": {"equal": {"log": "reviewer\n"}},
            "fires": {"SubagentStop": 1},
        },
        **({"files": files} if place == "files" else {"world": {"home": files}}),
    )

    assert outcome.passed, outcome.violations


@pytest.mark.slow
def test_a_subagents_hook_can_refuse_its_stop(play):
    """A refusal by a hook of the front matter makes the subagent go on, as one of the settings does."""
    text = AGENT.replace("echo reviewer >>log", "test -e log || { touch log; echo no >&2; exit 2; }") % ""

    outcome = play(
        files={".claude/agents/reviewer.md": text}, agent=MOVES, expect={"blocks": {"SubagentStop": 1}}
    )

    assert outcome.passed, outcome.violations


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        (
            ".claude/agents/r.md",
            AGENT % "  PreToolUse:\n    - hooks: [{type: command, command: 'true'}]\n",
            ".claude/agents/r.md, hooks.PreToolUse: these hooks were not played, for in a simulation",
        ),
        (
            ".claude/skills/deploy/SKILL.md",
            "---\nname: deploy\nhooks: {Stop: [{hooks: [{type: command, command: 'true'}]}]}\n---\n",
            ".claude/skills/deploy/SKILL.md, hooks.Stop: these hooks were not played",
        ),
        (
            ".claude/commands/team/go.md",
            "---\r\nhooks:\r\n  Stop: []\r\n---\r\nGo.\r\n",
            ".claude/commands/team/go.md, hooks.Stop",
        ),
        (
            ".claude/skills/x/SKILL.md",
            "---\nhooks: [\n---\n",
            ".claude/skills/x/SKILL.md, hooks: the front matter",
        ),
    ],
)
def test_hooks_of_components_that_are_not_played_are_listed(play, path, text, named):
    """Hooks in the front matter of a component that do not run are a finding that names them."""
    outcome = play(files={path: text}, hooks={"Stop": "true"}, agent=[{"stop": "Done."}])

    assert [finding.text for finding in outcome.findings if named in finding.text]
    assert {finding.code for finding in outcome.findings} <= {"HH015", "HH007"}


def test_files_without_hooks_are_no_components(play):
    """Front matter without hooks, a text about hooks, and files elsewhere change nothing."""
    files = {
        ".claude/agents/a.md": "---\nname: a\ntools: [Bash]\n---\nhooks:\n  Stop: x\n",
        ".claude/commands/b.md": "Write hooks: {Stop: x}\n",
        "docs/agents/c.md": AGENT % "",
        ".claude/agents/d.txt": AGENT % "",
    }

    outcome = play(files=files, hooks={"Stop": "true"}, agent=[{"stop": "Done."}])

    assert outcome.findings == ()
