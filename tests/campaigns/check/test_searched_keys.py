"""Claims about keys that shell scripts look for in the text of their input, and that hosts do not send."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.reads.searched_keys import searched_keys
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

HEAD = "#!/bin/bash\nIN=$(cat)\n"
BY_GREP = 'F=$(echo "$IN" | grep -o \'"file":\\s*"[^"]*"\' | cut -d\'"\' -f4)\necho "$F" >> log\n'
BY_SED = (
    'F=$(printf \'%s\' "$IN" | sed -n \'s/.*"filePath"[[:space:]]*:[[:space:]]*"\\([^"]*\\)".*/\\1/p\')\n'
)
STATUS = 'S=$(echo "$IN" | grep -oE \'"exitCode": *[0-9]+\')\necho "$S" >> log\n'
FILE = ("`file`", "`file_path`")


def hooks(text, *events, host="cursor"):
    """A hook set with one script at some events."""
    entries = tuple(Hook(event=event, command="bash x.sh") for event in events)
    root = Path(__file__).parent
    return HookSet(host=host, root=root, files=(), hooks=entries, sources=(("x.sh", text),))


@pytest.mark.parametrize(
    ("event", "text", "expected"),
    [
        ("afterFileEdit", HEAD + BY_GREP, FILE),
        ("beforeReadFile", HEAD + BY_GREP, FILE),
        ("afterFileEdit", HEAD + BY_SED, ("`filePath`", "`file_path`")),
        ("afterShellExecution", HEAD + STATUS, ("`exitCode`", "no status")),
        # It reads the key that is sent, or looks in something else.
        ("afterFileEdit", HEAD + BY_GREP.replace('"file"', '"file_path"'), ("", "")),
        ("afterFileEdit", HEAD + BY_GREP + '[ -n "$F" ] || jq -r .file_path <<<"$IN"\n', ("", "")),
        ("afterFileEdit", HEAD + BY_GREP.replace("$IN", "$STATE"), ("", "")),
        ("afterFileEdit", HEAD + BY_GREP + 'F="$2"\n', ("", "")),
        ("afterFileEdit", HEAD + "# " + BY_GREP.replace("\n", "\n# "), ("", "")),
        # No such key is known there, or one of a tool may have this name.
        ("afterShellExecution", HEAD + BY_GREP, ("", "")),
        ("afterFileEdit", HEAD + STATUS, ("", "")),
        ("postToolUse", HEAD + BY_GREP, ("", "")),
        ("afterFileEdit", HEAD + BY_GREP.replace('"file"', '"edits"'), ("", "")),
    ],
)
def test_a_search_in_vain(event, text, expected):
    """A key is named if nothing in the input of the event has it, and another key has the value."""
    hook_set = hooks(text, event)
    assert searched_keys(hook_set, hook_set.hooks[0]) == expected


def test_a_script_of_several_events_and_hosts():
    """Nothing is said if the script has another event, or names another host, that may send the key."""
    both = hooks(HEAD + BY_GREP, "afterFileEdit", "postToolUse")
    assert searched_keys(both, both.hooks[0]) == ("", "")
    shared = hooks(
        f'{HEAD}[ -n "$CLAUDE_PROJECT_DIR" ] && cd "$CLAUDE_PROJECT_DIR"\n{BY_GREP}', "afterFileEdit"
    )
    assert searched_keys(shared, shared.hooks[0]) == ("", "")
    other = hooks(HEAD + BY_GREP, "PostToolUse", host="claude-code")
    assert searched_keys(other, other.hooks[0]) == ("", "")


def test_what_is_said_of_searches():
    """The static checks name both keys."""
    symptoms = check_statically(hooks(HEAD + BY_GREP, "afterFileEdit")).symptoms
    (found,) = (one for one in symptoms if one.kind == "MISSING-INPUT")
    assert (
        found.text == "afterFileEdit: the script looks for `file` in its input, and cursor sends `file_path`."
    )
    assert "jq" in found.advice
