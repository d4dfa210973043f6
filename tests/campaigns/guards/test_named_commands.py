"""Claims about the commands that the source of a guard names."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.guards.named_commands import mixed, named_commands
from pytest_hookharness.campaigns.guards.pattern_texts import find_texts, texts_of


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"git\s+merge", ["git merge"]),
        (r"\b(git\s+merge|gh\s+pr\s+merge)\b", ["git merge", "gh pr merge"]),
        (r"rm\s+-[a-zA-Z]*r[a-zA-Z]*", ["rm -r"]),
        (r"^git[[:space:]]+push[[:space:]].*(--force|-f)$", ["git push  --force", "git push  -f"]),
        (r"kubectl (?:-n \S+ )?delete (?!pod)\w{2}", ["kubectl delete xx", "kubectl -n x delete xx"]),
        (r"drop\.[^a-x]+", ["drop. "]),
        ("a plain text.", ["a plain text."]),
        ("(not closed", []),
        ("closed)", []),
        (r"(a)\1", []),
        ("[z", []),
    ],
)
def test_texts_that_match_a_pattern(pattern, texts):
    """A pattern is read as far as needed for short texts that match it; what is no pattern gives none."""
    assert texts_of(pattern) == texts


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('re.compile(r"npm\\s+publish")', "npm publish"),
        ("if (/git\\s+clean/i.test(command)) {", "git clean"),
        ("[[ $text =~ git[[:space:]]+stash ]]", "git stash"),
        ("  *terraform\\ destroy*|*pulumi*) exit 2 ;;", "terraform destroy"),
        ("case $text in\n  git\\ tag*) exit 2 ;;", "git tag"),
    ],
)
def test_texts_of_a_source(source, text):
    """Strings, regular expressions and patterns of `case` in a source give texts."""
    assert text in [*find_texts(source)]


def test_commands_of_other_programs_come_first():
    """The first command of each program stands before the second of any."""
    commands = ["rm a", "rm b", "git push", "git merge", "rm a"]
    assert mixed(commands) == ["rm a", "git push", "git merge", "rm b"]


def test_commands_that_a_guard_names(tmp_path):
    """Commands come from a script, a file of rules beside it and documents; prose and other words do not."""
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/guard.py").write_text(
        'RULES = "rules.json"\nWORDS = {"codex", "exec"}\nNOTE = "git push is refused. Ask a person."\n'
    )
    (tmp_path / "hooks/rules.json").write_text('["helm\\\\s+delete", "some other words"]')
    (tmp_path / "hooks/other.json").write_text('["helm install"]')
    (tmp_path / "README.md").write_text("It refuses `codex exec` and never `codex login`.\n")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "python3 hooks/guard.py"}]}]}}'
    )
    (hook_set,) = find_hook_sets(tmp_path)
    assert named_commands(hook_set) == ["helm delete", "codex exec"]
    assert named_commands(replace(hook_set, hooks=())) == []
