"""Claims about hooks of edits that look for a file where Codex only sends a patch."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

SHELL = "#!/bin/bash\n# Reads the call of Claude.\n"
GUARD = "IN=$(cat)\nfile=$(jq -r '.tool_input.file_path // .tool_input.path // empty' <<<\"$IN\")\n"
REFUSE = '[[ -z "$file" ]] && exit 0\n[[ "$file" == *.env ]] && exit 2\nexit 0\n'
PYTHON = "import json, os, sys\nd = json.load(sys.stdin)\n"


@pytest.fixture
def unnamed(tmp_path):
    """Whether a hook of Codex is said to look for a file in vain."""

    def read(text, matcher="Edit|Write|MultiEdit", event="PreToolUse"):
        script = "hook.sh" if text.startswith("#!") else "hook.py"
        (tmp_path / script).write_text(text)
        command = f"{'bash' if script == 'hook.sh' else 'python3'} ./{script}"
        hooks = {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}
        file = tmp_path / ".codex/hooks.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"hooks": hooks}))
        (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == "codex"]
        texts = [one.text for one in check_statically(hook_set).symptoms if one.kind == "MISSING-INPUT"]
        return any("`tool_input.command` with the text of the patch" in one for one in texts)

    return read


@pytest.mark.parametrize("matcher", ["Edit|Write|MultiEdit", "apply_patch", "^apply_patch$|Edit", "Write"])
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PermissionRequest"])
def test_a_script_that_reads_only_a_file(unnamed, matcher, event):
    """A hook of patches that only reads the path of a file is named, also if it speaks of another host."""
    assert unnamed(SHELL + GUARD + REFUSE, matcher, event)


def test_a_program_that_reads_only_a_file(unnamed):
    """The same holds for Python, also where another place for the path is no key of Codex."""
    found = "t = d.get('tool_input') or {}\npath = t.get('file_path') or d.get('file_path', '')\n"
    assert unnamed(f"{PYTHON}{found}if path.endswith('.env'):\n    sys.exit(2)\n")


@pytest.mark.parametrize(("first", "named"), [("", True), ("text = json.dumps(d)\n", False)])
def test_a_program_that_answers_in_json(unnamed, first, named):
    """An answer that Python writes is no look at the input, and what it makes of the input is one."""
    found = "path = d['tool_input'].get('file_path', '')\nif '.env' in path:\n    "
    answer = 'print(json.dumps({"decision": "block", "reason": "no"}))\n'
    assert unnamed(f"{PYTHON}{first}{found}{answer}") is named


@pytest.mark.parametrize("matcher", ["Bash|Edit", "*", "mcp__files__write|Edit", "Bash", "Edit|Read"])
def test_a_hook_of_other_calls_too(unnamed, matcher):
    """A hook whose matcher lets other calls through may be about these."""
    assert not unnamed(SHELL + GUARD + REFUSE, matcher)


@pytest.mark.parametrize(
    "more",
    [
        'patch=$(jq -r .tool_input.command <<<"$IN")',
        'file=$(grep -oE "File: .*" <<<"$(jq -r .tool_input.input <<<"$IN")")',
        'grep -q "^\\*\\*\\* Update File: .*env" <<<"$IN" && exit 2',
        'echo "$IN" | grep -qF .env && exit 2',
        "[[ $IN == *.env* ]] && exit 2",
        '[[ $IN = *".env"* ]] && exit 2',
        'for one in $("$(dirname "$0")/changed-files" <<< "$IN"); do check "$one"; done',
        'jq -r ".tool_input[]" <<< "$IN" | check',
        "[[ -n $file ]] || file=$(git diff --name-only | head -1)",
        'for one in $(git status --porcelain); do check "$one"; done',
        "file=${file:-$(newest)}",
        "file=$1",
        'jq -e ".tool_input | tostring" <<<"$IN"',
        'said=$(jq -r .tool_response <<<"$IN")',
    ],
)
def test_a_script_that_may_learn_the_file(unnamed, more):
    """A script that knows patches, other parts of the input or another source for the file is left alone."""
    assert not unnamed(f"{SHELL}{GUARD}{more}\n{REFUSE}")


@pytest.mark.parametrize("more", ['[ -z "$IN" ] && exit 0', 'T=$(echo "$IN" | jq -r .tool_name | tr a b)'])
def test_a_script_that_looks_at_no_more(unnamed, more):
    """A script that tests for empty input, or reads the tool's name, does not learn the file."""
    assert unnamed(f"{SHELL}{GUARD}{more}\n{REFUSE}")


def test_a_program_with_another_source(unnamed):
    """A path that may also come from the environment is left alone."""
    path = "path = d['tool_input'].get('file_path') or os.environ.get('FILE')\n"
    assert not unnamed(f"{PYTHON}{path}if path:\n    sys.exit(2)\n")


def test_a_program_that_writes_the_call(unnamed):
    """A program that uses all of the input has the patch too."""
    path = "path = d['tool_input'].get('file_path')\nprint(json.dumps(d))\n"
    assert not unnamed(f"{PYTHON}{path}if path:\n    sys.exit(2)\n")
