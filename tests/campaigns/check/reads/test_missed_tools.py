"""Claims about checks of files that run for one of two tools which write files."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.reads.guard_checks import find_in_guards
from pytest_hookharness.campaigns.check.reads.missed_tools import missed_tool
from pytest_hookharness.model.protocol import Hook

from ..static.one_hook import one_hook

HEAD = '#!/bin/bash\nINPUT=$(cat)\nFILE=$(echo "$INPUT" | jq -r \'.tool_input.file_path // ""\')\n'
SEARCH = HEAD + 'grep -n "console\\.log\\|debugger" "$FILE" >&2 && exit 2\n'
FORMAT = HEAD + 'npx prettier --write "$FILE"\n'
PYTHON = (
    "#!/usr/bin/env python3\nimport json, sys\ndata = json.load(sys.stdin)\n"
    'path = data["tool_input"]["file_path"]\nfor line in open(path):\n    print(line)\n'
)
NODE = (
    "#!/usr/bin/env node\nconst file = input.tool_input.file_path;\n"
    "const text = fs.readFileSync(file, 'utf8');\nif (/debugger/.test(text)) process.exit(2);\n"
)
GUARD = (
    "#!/bin/bash\nTEXT=$(jq -r '.tool_input.new_string')\ncase $TEXT in *password=*) exit 2 ;; esac\nexit 0\n"
)
OF_WRITES = GUARD.replace("new_string", "content")


def found(text, event="PostToolUse", matcher="Edit", others=(), host="claude-code", **options):
    """Return the tool for which a check runs, and the one for which none does."""
    hook_set, hook = one_hook(event, text)
    hook = replace(hook, matcher=matcher, options=options)
    return missed_tool(replace(hook_set, hooks=(hook, *others), host=host), hook)


@pytest.mark.parametrize("text", [SEARCH, FORMAT, PYTHON, NODE])
@pytest.mark.parametrize("matcher", ["Edit", "Edit|MultiEdit", "MultiEdit|Edit|NotebookEdit"])
def test_a_check_of_edits_alone(text, matcher):
    """A script that reads the file, or runs a checker for it, misses files that the agent writes."""
    assert found(text, matcher=matcher) == ("Edit", "Write")


@pytest.mark.parametrize(
    "command",
    [
        "jq -r '.tool_input.file_path' | xargs npx prettier --write",
        "npx eslint --fix \"$(jq -r '.tool_input.file_path')\"",
        "FILE=$(jq -r '.tool_input.file_path'); ruff check \"$FILE\"",
    ],
)
def test_a_command_that_checks_edits_alone(command):
    """A check may stand in the settings, without a script."""
    hook_set, hook = one_hook("PostToolUse", "")
    hook = replace(hook, matcher="Edit", command=command)
    assert missed_tool(replace(hook_set, hooks=(hook,)), hook) == ("Edit", "Write")


@pytest.mark.parametrize(
    ("text", "matcher", "tools"),
    [(GUARD, "Edit", ("Edit", "Write")), (OF_WRITES, "Write", ("Write", "Edit"))],
)
def test_a_guard_of_one_tool(text, matcher, tools):
    """A guard that looks at the text of one tool never sees that of the other."""
    assert found(text, "PreToolUse", matcher) == tools


@pytest.mark.parametrize(
    ("host", "event", "tools"),
    [
        ("gemini-cli", "AfterTool", ("replace", "write_file")),
        ("qwen-code", "PostToolUse", ("edit", "write_file")),
        ("copilot-cli", "PostToolUse", ("edit", "create")),
    ],
)
def test_the_tools_of_other_hosts(host, event, tools):
    """Each host has its own names for the two tools."""
    assert found(SEARCH, event, tools[0], host=host) == tools


@pytest.mark.parametrize(
    "text",
    [
        # It compares with what was there before, or says that only edits matter.
        HEAD + "OLD=$(echo \"$INPUT\" | jq -r '.tool_input.old_string')\n" + SEARCH[len(HEAD) :],
        HEAD + 'git diff "$FILE" | grep -q TODO && exit 2\n' + SEARCH[len(HEAD) :],
        "#!/bin/bash\n# Write has no passage to compare.\n" + SEARCH[len("#!/bin/bash\n") :],
        SEARCH + '[ "$TOOL" = "Edit" ] || exit 0\n',
        # It only logs, or looks for the file in a list.
        HEAD + 'echo "$FILE" >> .claude/edited.log\n',
        HEAD + 'grep -qx "$FILE" .claude/edited.log || exit 2\n',
        HEAD + 'echo "$FILE" | grep -q "\\.ts$" && exit 2\n',
        HEAD + "echo 'run prettier --write \"$FILE\"' >&2\n",
        HEAD + '# npx prettier --write "$FILE"\n',
        PYTHON.replace("open(path)", "open(path, 'w')"),
        # Another file that it loads may know more.
        SEARCH.replace("INPUT", ". ./lib.sh\nINPUT", 1),
        SEARCH + "# For codex too.\n",
    ],
)
def test_a_script_that_is_about_edits(text):
    """A script that looks at no file, or says why it looks at edits, is left alone."""
    assert found(text) == ("", "")


@pytest.mark.parametrize(
    "other",
    [
        Hook(event="PostToolUse", command="bash x.sh", matcher="Write"),
        Hook(event="PostToolUse", command="./log.sh"),
        Hook(event="PostToolUse", command="./log.sh", matcher="*"),
        Hook(event="PreToolUse", command="./check.sh", matcher="Write|Edit"),
        Hook(event="PostToolBatch", command="./check.sh"),
        Hook(event="Stop", command="npx prettier --write ."),
    ],
)
def test_another_hook_that_looks(other):
    """Where any hook runs for the other tool, or runs the same program later, nothing is said."""
    assert found(FORMAT, others=[other]) == ("", "")


def test_hooks_of_other_tools():
    """Hooks that look at commands, prompts and stops see no files."""
    others = [
        Hook(event="PreToolUse", command="./guard.sh", matcher="Bash"),
        Hook(event="Stop", command="./remind.sh"),
        Hook(event="Notification", command="./tell.sh"),
    ]
    assert found(SEARCH, others=others) == ("Edit", "Write")


@pytest.mark.parametrize("matcher", ["Edit|Write", "Write|Edit|MultiEdit", "*", None, "Edit|Bash", "E.*"])
def test_matchers_that_name_more(matcher):
    """Only a matcher that names the tool for edits alone leaves out the other."""
    assert found(SEARCH, matcher=matcher) == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        OF_WRITES.replace("exit 0", '[ -f "$FILE" ] && exit 0'),
        OF_WRITES.replace("#!/bin/bash", "#!/bin/bash\n# Refuses to create files."),
        OF_WRITES.replace("#!/bin/bash", "#!/bin/bash\n# New files need a license."),
        OF_WRITES.replace("exit 2", "exit 0"),
        GUARD,
    ],
)
def test_guards_of_new_files(text):
    """A guard of `Write` that is about new files, refuses nothing or reads no text is left alone."""
    assert found(text, "PreToolUse", "Write") == ("", "")


@pytest.mark.parametrize(
    ("given", "value"), [("host", "codex"), ("host", "cursor"), ("if", "Edit(*.ts)"), ("event", "Stop")]
)
def test_where_the_tools_are_not_known(given, value):
    """A condition of the entry, another event and hosts with one tool are left alone."""
    assert found(SEARCH, **{given: value}) == ("", "")


def test_the_problem_names_the_tools_and_the_entry():
    """The problem names both tools, and the entry."""
    hook_set, hook = one_hook("PostToolUse", SEARCH)
    symptoms = [
        one
        for kind in find_in_guards(replace(hook_set, hooks=(replace(hook, matcher="Edit"),)))
        for one in kind
    ]
    assert [(one.kind, one.entries) for one in symptoms] == [("BYPASS", (1,))]
    assert symptoms[0].text == (
        "PostToolUse: it runs for `Edit` but not for `Write`, so it does not check files that the agent "
        "writes with `Write`."
    )
