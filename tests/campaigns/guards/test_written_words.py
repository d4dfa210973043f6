"""Claims about guards that refuse edits for what is written, also where it is no code."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_proofs, plan_refusals, plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.judging.checkup.symptoms import find_symptoms

GUARD = """text=$(jq -r '.tool_input.content // empty')
printf '%%s' "$text" | grep -Eq '%s' || exit 0
echo 'That is dangerous.' >&2; exit 2
"""
# Names the word, and looks for it at the beginning of a line of code.
EXACT = GUARD % r"^[^#/]*\beval\(text" + "# eval\n"
EXACT = EXACT.replace("|| exit 0", '|| exit 0; case "$text" in Never*) exit 0 ;; esac')
# Warns of an edit once.
ONCE = GUARD.replace("|| exit 0", '|| exit 0; [ -e "$CLAUDE_PROJECT_DIR/warned" ] && exit 0').replace(
    "echo", 'touch "$CLAUDE_PROJECT_DIR/warned"; echo'
)


@pytest.fixture
def found(tmp_path, harness):
    """The problems of harmless edits that a guard is found to refuse."""

    def play(script):
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/guard.sh").write_text(script)
        hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
        settings = {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [hook]}]}}
        (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)
        outcomes = []
        for plan in (plan_refusals, plan_rewordings, plan_proofs):
            given = {plan_refusals: (), plan_rewordings: (outcomes,), plan_proofs: (outcomes, [])}[plan]
            sessions = [*plan(hook_set, *given)]
            outcomes += [play_session(one, harness.settings, harness.resources) for one in sessions]
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == "OVERBLOCK"]

    return play


@pytest.mark.nightly
def test_a_guard_that_looks_for_words(found):
    """What a document or a comment says, and a method of another object, is not the code that is meant."""
    (text,) = found(GUARD % r"eval\(")
    assert text == (
        "writing docs/notes.md with `Never write eval(text);`, a document, is refused, but writing "
        "docs/notes.md with `Never write that` allowed; writing src/sample.js with `model.eval();`, a method "
        "of another object, is refused, but writing src/sample.js with `model.train();` allowed; writing "
        "src/sample.js with `// Never write eval(text);`, a comment, is refused, but writing src/sample.js "
        "with `// Never write that` allowed."
    )


@pytest.mark.nightly
@pytest.mark.parametrize("script", [EXACT, ONCE % r"eval\(", GUARD % r"^eval|Never", "# content eval\n"])
def test_a_guard_that_looks_at_code(found, script):
    """A guard that knows code, one that warns once, one of other words, and none are not such."""
    assert found(script) == []
