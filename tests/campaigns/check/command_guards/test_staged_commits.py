"""Claims about guards of commits that look only at what is staged."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.command_guards.staged_commits import (
    line_of_staged_question,
    staged_guard,
)
from pytest_hookharness.campaigns.check.reads.guard_checks import find_in_guards

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nCMD=$(jq -r '.tool_input.command')\n"
COMMIT = 'if ! echo "$CMD" | grep -qE "git commit"; then\n  exit 0\nfi\n'
LISTS = "STAGED=$(git diff --cached --name-only)\n"
EMPTY = 'if [ -z "$STAGED" ]; then\n  exit 0\nfi\n'
REFUSES = 'if echo "$STAGED" | grep -q "\\.env$"; then\n  echo "No secrets." >&2\n  exit 2\nfi\nexit 0\n'
GUARD = HEAD + COMMIT + LISTS + EMPTY + REFUSES


@pytest.mark.parametrize(
    "text",
    [
        GUARD,
        GUARD.replace("git commit", "git[[:space:]]+commit"),
        GUARD.replace("git commit", r"(^|;)\s*git\s+commit\b"),
        GUARD.replace(COMMIT, 'case "$CMD" in *"git commit"*) ;; *) exit 0 ;; esac\n'),
        GUARD.replace(COMMIT, '[[ "$CMD" == *"git commit"* ]] || exit 0\n'),
        GUARD.replace("--cached --name-only", "--name-only --staged"),
        GUARD.replace("git diff", 'git -C "$DIR" diff'),
        GUARD.replace(LISTS, 'STAGED="$(git diff --cached 2>/dev/null || true)"\n'),
        GUARD.replace(EMPTY, '[[ -z "$STAGED" ]] && exit 0\n'),
        GUARD.replace(EMPTY, '[ -n "${STAGED}" ] || exit 0\n'),
        GUARD.replace(EMPTY, EMPTY.replace("  exit", '  echo "Nothing is staged."\n  exit')),
        GUARD.replace(LISTS + EMPTY, "git diff --cached --quiet && exit 0\n" + LISTS),
        GUARD.replace("exit 2", 'echo \'{"decision": "block", "reason": "No."}\'\n  exit 0'),
    ],
)
def test_a_guard_that_sees_only_what_is_staged(text):
    """A guard that ends with 0 where nothing is staged misses what the command itself stages."""
    line = next(number for number, one in enumerate(text.splitlines(), 1) if " diff " in one)
    assert line_of_staged_question(text) == line


@pytest.mark.parametrize(
    "text",
    [
        # It looks at the options, at `git add`, or at the files in another way.
        GUARD.replace(LISTS, 'case "$CMD" in *" -am "*) exit 2 ;; esac\n' + LISTS),
        GUARD.replace(LISTS, 'echo "$CMD" | grep -qE -- "-a|--all" && exit 2\n' + LISTS),
        GUARD.replace(LISTS, 'echo "$CMD" | grep -qE "git +add" && exit 2\n' + LISTS),
        GUARD.replace(LISTS, LISTS + "STAGED=$STAGED$(git diff HEAD --name-only)\n"),
        GUARD.replace(LISTS, LISTS + "STAGED=$STAGED$(git diff --name-only)\n"),
        GUARD.replace(LISTS, LISTS + 'STAGED="$STAGED$(git status --porcelain)"\n'),
        GUARD.replace(LISTS, "git add -A\n" + LISTS),
        GUARD.replace("diff --cached --name-only", "commit --dry-run --short"),
        GUARD.replace(LISTS, '. "$(dirname "$0")/lib.sh"\n' + LISTS),
        # Where nothing is staged, it refuses, or goes on to look elsewhere.
        GUARD.replace(EMPTY, EMPTY.replace("exit 0", "exit 2")),
        GUARD.replace(EMPTY, ""),
        GUARD.replace(EMPTY, "if [ -f calm ]; then\n  " + EMPTY.replace("\n", "\n  ") + "\nfi\n"),
        # It refuses nothing, or is about other commands.
        GUARD.replace("exit 2", "exit 0"),
        GUARD.replace("git commit", "git push"),
        GUARD.replace("#!/bin/bash", "#!/usr/bin/env node"),
        GUARD.replace("STAGED=", "# STAGED="),
        HEAD + COMMIT + "cat <<'END'\n" + LISTS + EMPTY + "END\n" + REFUSES,
    ],
)
def test_a_guard_that_may_see_more(text):
    """Guards that know of `-a` and `git add`, or refuse where nothing is staged, are left alone."""
    assert line_of_staged_question(text) == 0


@pytest.mark.parametrize(
    ("event", "others", "is_found"),
    [
        ("PreToolUse", [], True),
        ("PreToolUse", ["#!/bin/bash\necho done\n"], True),
        # Another hook refuses what stages and commits at once.
        ("PreToolUse", ['#!/bin/bash\necho "$CMD" | grep -q "git commit -a" && exit 2\n'], False),
        ("PostToolUse", [], False),
        ("Stop", [], False),
    ],
)
def test_hooks_of_the_same_set(event, others, is_found):
    """Only a guard before the call counts, and only if no other hook looks at such commits."""
    assert staged_guard(*one_hook(event, GUARD, others)) == (("x.sh", 6) if is_found else ("", 0))


def test_the_problem_names_both_commands():
    """The problem says which commands stage what the guard does not see."""
    hook_set, hook = one_hook("PreToolUse", GUARD)
    symptoms = [
        one
        for kind in find_in_guards(replace(hook_set, hooks=(hook,)))
        for one in kind
        if "staged" in one.text
    ]
    assert [one.kind for one in symptoms] == ["BYPASS"]
    assert "(x.sh, line 6)" in symptoms[0].text
    assert "`git commit -am x` and `git add . && git commit -m x`" in symptoms[0].text
