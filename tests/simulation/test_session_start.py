"""How a session starts: with a setup, and in a worktree; with real hooks and a real git."""

import json

import pytest

from pytest_hookharness.model.verdicts import Terminated, Undecided
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

NOTE = "cat >> $HOME/seen"
STOP = [{"prompt": "go"}, {"stop": "Done."}]


def stop_hook(command):
    """Settings with one hook of Stop."""
    return json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})


def events(outcome):
    """The events whose hooks were asked, in order."""
    return [hooked.event for _, hooked in outcome.trace.hooked()]


@pytest.mark.parametrize("kind", ["init", "maintenance"])
def test_a_setup_comes_before_the_start(play, inputs, kind):
    """A session with a setup runs the hooks of Setup before those of SessionStart, and names its kind."""
    outcome = play(hooks={"Setup": NOTE, "SessionStart": NOTE}, agent=STOP, world={"setup": kind})

    assert events(outcome) == ["Setup", "SessionStart"]
    assert inputs(outcome, "Setup")[0]["trigger"] == kind


def test_without_a_setup_nothing_is_set_up(play):
    """A session without a setup runs no hooks of Setup."""
    outcome = play(hooks={"Setup": NOTE, "SessionStart": NOTE}, agent=STOP)

    assert events(outcome) == ["SessionStart"]


def test_variables_of_a_setup_reach_later_commands(play):
    """Variables that a hook of Setup exports are set in the agent's commands."""
    hook = 'echo "export COLOUR=blue" > "$CLAUDE_ENV_FILE"'

    outcome = play(
        hooks={"Setup": hook},
        agent=[{"prompt": "go"}, {"run": "echo $COLOUR > seen"}, {"stop": "Done."}],
        world={"setup": "init"},
        expect={"files": {"equal": {"seen": "blue\n"}}},
    )

    assert outcome.passed


def test_a_hook_makes_the_worktree(play, inputs):
    """The session works in the folder that the hook printed last, and the project stays where it was."""
    hook = "mkdir .trees; mkdir .trees/one; echo noise; echo .trees/one; echo"
    keep = 'echo "$PWD|$(pwd -P)|$CLAUDE_PROJECT_DIR" > "$CLAUDE_PROJECT_DIR/places"'

    outcome = play(
        hooks={"WorktreeCreate": hook, "SessionStart": NOTE, "Stop": keep},
        agent=[
            {"prompt": "go"},
            {"run": "pwd > here"},
            {"edit": {"file": "new", "text": "x"}},
            {"stop": "."},
        ],
        world={"worktree": "one"},
    )

    root = inputs(outcome, "WorktreeCreate")[0]["cwd"]
    tree = f"{root}/.trees/one"
    assert outcome.verdict == Terminated(turn=3)
    assert events(outcome)[:2] == ["WorktreeCreate", "SessionStart"]
    assert [payload["cwd"] for payload in inputs(outcome)] == [root, tree, tree]
    changed = {
        change.path for step in outcome.trace.steps for change in getattr(step.exchange, "changes", ())
    }
    assert {"workspace/.trees/one/here", "workspace/.trees/one/new", "workspace/places"} <= changed


@pytest.mark.slow
def test_the_folders_of_a_hook_in_a_worktree(play):
    """A hook in a worktree runs there, and gets the project folder as well."""
    keep = '[ "$PWD" = "$CLAUDE_PROJECT_DIR/tree" ] && [ "$(pwd -P)" = "$PWD" ] || exit 2'

    assert play(
        hooks={"WorktreeCreate": "mkdir tree; echo tree", "Stop": keep}, world={"worktree": "x"}
    ).terminated
    assert not play(
        hooks={"WorktreeCreate": "mkdir w; echo w", "Stop": keep}, world={"worktree": "x"}
    ).terminated


def test_the_input_is_the_recorded_one(play, inputs, pairs_with_recording):
    """Hooks of Setup and WorktreeCreate read the input that was recorded of the real host."""
    outcome = play(
        hooks={"WorktreeCreate": "echo .", "Setup": NOTE},
        agent=STOP,
        world={"worktree": "wt1", "setup": "init"},
    )

    for payload in inputs(outcome):
        ours, recorded = pairs_with_recording(payload)
        assert ours == recorded
    assert len(inputs(outcome)) == 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    "hook", ["echo made; exit 1", "echo why >&2; exit 2", "true", "nonsense", "kill -9 $$"]
)
def test_a_worktree_that_is_not_made(play, hook):
    """A hook that fails, or names no folder, ends the session before anything else happens."""
    outcome = play(
        hooks={"WorktreeCreate": hook, "SessionStart": NOTE, "SessionEnd": NOTE}, world={"worktree": "one"}
    )

    assert events(outcome) == ["WorktreeCreate"]
    assert [ruling.value for ruling in outcome.decisions("WorktreeCreate")] == ["deny"]
    assert outcome.iterations == 0


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ("cat", "its last line is taken for the folder of the new worktree: '{"),
        ("echo 'worktree noted'", "is taken for the folder of the new worktree: 'worktree noted'"),
        ("echo noted >&2", "it printed no folder of a new worktree"),
        ("echo .", None),
        ("mkdir -p 'my trees/one'; echo 'my trees/one'", None),
    ],
)
def test_a_hook_that_only_logs_a_worktree(play, hook, said):
    """A hook that prints no folder although it ended well is found: it keeps worktrees from being created."""
    outcome = play(hooks={"WorktreeCreate": hook}, world={"worktree": "one"}, agent=STOP)

    found = [finding for finding in outcome.findings if finding.name in ("MANGLED", "SILENT-REFUSAL")]
    assert [finding.name for finding in found] == (["MANGLED"] if said else [])
    assert not said or said in found[0].text


@pytest.mark.slow
def test_one_hook_of_several_fails_the_worktree(play):
    """A folder that one hook names does not help if another fails."""
    outcome = play(
        hooks={"WorktreeCreate": ["echo .", "exit 1"], "SessionStart": NOTE}, world={"worktree": "one"}
    )

    assert events(outcome) == ["WorktreeCreate"]


def test_a_missing_worktree_folder_is_no_termination(play):
    """A hook that names a folder which does not exist ends the session, and that is no termination."""
    outcome = play(hooks={"WorktreeCreate": "echo nowhere", "SessionStart": NOTE}, world={"worktree": "one"})

    assert isinstance(outcome.verdict, Undecided)
    assert events(outcome) == ["WorktreeCreate"]


def test_git_makes_the_worktree(play, inputs):
    """Without a hook git makes the worktree, and the session works there."""
    outcome = play(
        hooks={"SessionStart": NOTE}, files={"a": "a\n"}, git=True, world={"worktree": "one"}, agent=STOP
    )

    (payload,) = inputs(outcome)
    assert payload["cwd"].endswith("/workspace/.claude/worktrees/one")
    assert outcome.terminated


def test_a_branch_of_the_worktree(play):
    """The commands of the agent run on the worktree's branch, with the files of the commit."""
    check = 'test "$(git branch --show-current)" = worktree-one && grep -q a a'
    agent = [{"prompt": "go"}, {"run": check, "expect": "allow"}, {"stop": "Done."}]

    outcome = play(
        hooks={"PostToolUseFailure": "exit 2", "Stop": "true"},
        files={"a": "a\n"},
        git=True,
        world={"worktree": "one"},
        agent=agent,
    )

    assert outcome.terminated
    assert outcome.hook_runs("PostToolUseFailure") == 0


def test_a_flag_needs_a_host_that_has_one(play):
    """The key `flag` is an error on a host that sends no such flag to hooks."""
    with pytest.raises(SimulationError, match=r"flag: .* does not send stop_hook_active to hooks"):
        play(host="openhands", hooks={"Stop": "true"}, flag="never")


@pytest.mark.slow
def test_a_flag_of_the_scenario(play):
    """A hook gets the flag of the scenario, and a verdict that rests on it says so."""
    hook = {"Stop": "grep -q '\"stop_hook_active\":true' && exit 0; echo again >&2; exit 2"}

    assert play(hooks=hook, flag="always").blocks("Stop") == 0
    assert play(hooks=hook, flag=[False, False, True]).blocks("Stop") == 2
    outcome = play(hooks=hook, flag="never")

    assert outcome.livelock
    assert any("stop_hook_active false" in assumption for assumption in outcome.assumptions)


def test_a_worktree_needs_a_repository_or_a_hook(play):
    """Without a hook and without a repository the scenario is an error that says what to add."""
    with pytest.raises(SimulationError, match="git: true"):
        play(hooks={"Stop": "true"}, world={"worktree": "one"})


@pytest.mark.parametrize(
    ("host", "folder"), [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")]
)
def test_a_session_in_a_subfolder(play, inputs, host, folder):
    """Hooks start in the folder of the session, whose settings are read; the agent works there too."""
    keep = "cat > seen; git rev-parse --show-prefix > prefix; pwd > here"
    outcome = play(
        host=host,
        git=True,
        files={f"packages/api/{folder}": stop_hook(keep), "packages/api/a": "1\n"},
        agent=[
            {"prompt": "go"},
            {"run": "echo 2 >> a"},
            {"edit": {"file": "b", "text": "x"}},
            {"stop": "Done."},
        ],
        world={"subfolder": "packages/api"},
        expect={
            "files": {
                "equal": {
                    "packages/api/a": "1\n2\n",
                    "packages/api/b": "x\n" if host == "codex" else "x",
                    "packages/api/prefix": "packages/api/\n",
                }
            }
        },
    )

    assert outcome.passed, outcome.violations
    assert inputs(outcome, "Stop")[0]["cwd"].endswith("/packages/api")


_LOCAL = ".claude/settings.local.json"


@pytest.mark.parametrize(
    ("host", "name", "git", "sources"),
    [
        ("claude-code", ".claude/settings.json", True, [".claude/settings.json"]),
        ("claude-code", _LOCAL, True, [f"../../{_LOCAL}", _LOCAL]),
        ("claude-code", _LOCAL, False, [_LOCAL]),
        ("codex", ".codex/hooks.json", False, [".codex/hooks.json"]),
        (
            *("codex", ".codex/hooks.json", True),
            ["../../.codex/hooks.json", "../.codex/hooks.json", ".codex/hooks.json"],
        ),
    ],
)
def test_settings_above_the_folder_of_the_session(play, host, name, git, sources):
    """In a repository Codex adds the hooks of all folders from its top, Claude Code its top's local ones."""
    folders = {"": "true top", "packages/": "true middle", "packages/api/": "true own"}
    outcome = play(
        host=host,
        git=git,
        files={f"{folder}{name}": stop_hook(command) for folder, command in folders.items()},
        agent=[{"prompt": "go"}, {"stop": "Done."}],
        world={"subfolder": "packages/api"},
    )

    assert sorted(run.hook.source for _, run in outcome.trace.hook_runs()) == sorted(sources)
