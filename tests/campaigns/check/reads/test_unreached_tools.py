"""Claims about branches for tools that no matcher lets through."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.reads.compared_tools import unreached_tools

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nTOOL=$(jq -r '.tool_name // empty')\n"
BASH = 'if [ "$TOOL" = "Bash" ]; then\n  exit 2\nfi\n'
BOTH = 'if [[ "$TOOL" == "Write" ]] || [[ "$TOOL" == "Edit" ]]; then\n  exit 2\nfi\n'
ONE = 'if [[ "$TOOL" == "Write" || "$TOOL" == "Edit" ]]; then\n  exit 2\nfi\n'


def found(text, matcher, root=Path("/no/project")):
    """Return the tools of a branch that is never reached."""
    hook_set, hook = one_hook("PreToolUse", text)
    hook = replace(hook, matcher=matcher)
    return unreached_tools(replace(hook_set, hooks=(hook,), root=root), hook)


@pytest.mark.parametrize(
    ("text", "matcher", "tools"),
    [
        (HEAD + BASH, "Write|Edit", "`Bash`"),
        (HEAD + BOTH, "Bash", "`Write`, `Edit`"),
        (HEAD + ONE, "Bash", "`Write`, `Edit`"),
        (HEAD + BASH.replace("if", "if false; then :\nelif", 1), "Write", "`Bash`"),
    ],
)
def test_a_branch_that_never_runs(text, matcher, tools):
    """A condition on tools that the matcher leaves out is named with them."""
    assert found(text, matcher)[0] == tools


@pytest.mark.parametrize(
    ("text", "matcher"),
    [
        (HEAD + BASH, "Bash"),
        (HEAD + BASH, None),
        (HEAD + BASH, "*"),
        (HEAD + BASH, "B.*"),
        (HEAD + BOTH, "Edit"),
        (HEAD + BASH.replace(' = "Bash" ]', ' = "Bash" ] || [ -f x ]'), "Write"),
        (HEAD + BASH.replace("=", "!="), "Write"),
        (HEAD + BASH.replace("Bash", "MyTool"), "Write"),
        (HEAD + "TOOL=Bash\n" + BASH, "Write"),
        (HEAD + "# for codex\n" + BASH, "Write"),
        (HEAD + BASH.replace("$TOOL", "$MODE"), "Write"),
        (HEAD + "cat <<'END'\n" + BASH + "END\n", "Write"),
        (HEAD + BASH.replace("exit 2", "exit 0"), "Write"),
    ],
)
def test_a_branch_that_may_run(text, matcher):
    """Other conditions, unknown tools and scripts for several hosts are left alone."""
    assert found(text, matcher) == ("", 0)


def test_another_hook_with_the_script():
    """A branch that another hook of the same script reaches is left alone."""
    hook_set, hook = one_hook("PreToolUse", HEAD + BASH)
    hooks = tuple(replace(hook, matcher=matcher) for matcher in ("Write", "Bash"))
    assert unreached_tools(replace(hook_set, hooks=hooks), hooks[0]) == ("", 0)


def test_another_script_that_starts_it(tmp_path):
    """A branch of a script that another one starts may run for its tools; a list of scripts starts none."""
    (tmp_path / "setup.sh").write_text("#!/bin/sh\ncat <<END\nHooks:\n  - x.sh (says no)\nEND\n")
    assert found(HEAD + BASH, "Write", tmp_path)[0] == "`Bash`"
    (tmp_path / "all.sh").write_text("#!/bin/sh\n./x.sh\n")
    assert found(HEAD + BASH, "Write", tmp_path) == ("", 0)
