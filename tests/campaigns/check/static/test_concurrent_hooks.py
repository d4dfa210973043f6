"""Claims about hooks of one event that rewrite and read the same files at the same time."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static.concurrent_hooks import concurrent_hooks

FORMAT, LINT, TEST = 'npx prettier --write "$f"', "npx eslint --fix src", "npm run test"


def found(root, *hooks, event="PostToolUse", path=".claude/settings.json"):
    """The symptoms of hooks, each a command or a pair of matcher and command."""
    pairs = [hook if isinstance(hook, tuple) else ("Edit|Write", hook) for hook in hooks]
    groups = [{"matcher": each, "hooks": [{"type": "command", "command": text}]} for each, text in pairs]
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": {event: groups}}))
    (hook_set,) = find_hook_sets(root)
    return [*concurrent_hooks(hook_set)]


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        ((FORMAT, TEST), "`npm run test` may read files while `prettier --write` rewrites them"),
        ((FORMAT, LINT), "`eslint --fix` may rewrite files while `prettier --write` rewrites them"),
        (("black .", "python3 -m pytest -q"), "`pytest` may read files while `black` rewrites them"),
        (
            ("cd x && gofmt -w . ; true", "go vet ./..."),
            "`go vet` may read files while `gofmt -w` rewrites them",
        ),
    ],
)
def test_hooks_that_meet(tmp_path, hooks, said):
    """A hook that rewrites files and one that reads or rewrites such files are named together."""
    (symptom,) = found(tmp_path, *hooks)
    assert said in symptom.text
    assert symptom.hook == ", ".join(hooks)
    assert not symptom.must_fix


@pytest.mark.parametrize(
    "hooks",
    [
        pytest.param((f"{FORMAT} && {TEST}",), id="one hook"),
        pytest.param((f"{FORMAT} && {TEST}", "echo done"), id="a sequence, and another hook"),
        pytest.param(("npx prettier --check .", TEST), id="nothing is rewritten"),
        pytest.param(("black .", TEST), id="another language"),
        pytest.param((("Write", FORMAT), ("Bash", TEST)), id="other tools"),
        pytest.param(("echo 'npx prettier --write x'", TEST), id="a text"),
        pytest.param((FORMAT, FORMAT), id="the same command"),
    ],
)
def test_hooks_that_do_not_meet(tmp_path, hooks):
    """Hooks that rewrite nothing, other files, or for other tools do not disturb each other."""
    assert found(tmp_path, *hooks) == []


def test_a_host_that_runs_hooks_one_by_one(tmp_path):
    """Where hooks run one after the other, the list is the sequence that its author means."""
    hooks = [{"type": "command", "bash": text} for text in (FORMAT, TEST)]
    file = tmp_path / ".github/hooks/x.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"version": 1, "hooks": {"postToolUse": hooks}}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert [*concurrent_hooks(hook_set)] == []


def test_hooks_before_calls_are_left_alone(tmp_path):
    """Hooks before a call run before anything of it is written."""
    assert found(tmp_path, FORMAT, TEST, event="PreToolUse") == []
