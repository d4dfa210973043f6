"""Claims about the commands that the source of a guard names."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.guards.named_commands import mixed, named_commands, named_files, read_guards
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
        ("a[+--[]b", ["a-b"]),
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
        ('[[ "$path" == docs/adr/* ]] && exit 2', "docs/adr/"),
        ('[[ "$path" == */.env || $path == *.pem ]]', "/.env"),
        ('[[ "$path" == */.env || $path == *.pem ]]', ".pem"),
    ],
)
def test_texts_of_a_source(source, text):
    """Strings, regular expressions and patterns of `case` and `==` in a source give texts."""
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
    none = replace(hook_set, hooks=())
    assert named_commands(hook_set, read_guards(hook_set)) == ["helm delete", "codex exec"]
    assert named_commands(none, read_guards(none)) == []


GUARD = """. "$here/../lib/rules.sh"
node "$here/lib/words.js"
git status -s
grep -f "$here/../lib/words.txt"
"""


EQUAL = "[[ $file == *app.live.json || $file == */domain/* ]] && exit 2\n"


@pytest.fixture
def guarded(tmp_path):
    """The hook set of a project with a guard that loads a file of another folder."""
    for name, text in (
        ("hooks/guard.sh", GUARD),
        (
            "lib/rules.sh",
            "case $file in\n  infra/live/*) exit 2 ;;\n  none/*) exit 2 ;;\nesac\n" + EQUAL,
        ),
        ("lib/words.txt", "# What nobody may do.\n\\bdocker\\s+push\\b\n"),
        ("hooks/lib/words.js", "const rules = [/terraform\\s+apply/];\nrun('git log -1');\n"),
        ("infra/live/main.tf", ""),
        ("src/app.live.json", ""),
        ("src/domain/user.cs", ""),
        (
            ".claude/settings.json",
            '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "sh hooks/guard.sh"}]}]}}',
        ),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (hook_set,) = find_hook_sets(tmp_path)
    return hook_set


def test_what_a_script_loads_from_another_folder(guarded):
    """Files that a script names by a path are read too; what scripts only look up themselves is not."""
    assert named_commands(guarded, read_guards(guarded)) == ["terraform apply", "docker push"]


def test_files_that_a_guard_names(guarded):
    """A folder that a guard names stands for a file in it; what the project lacks is left out."""
    named = named_files(guarded, read_guards(guarded))
    assert {"infra/live/main.tf", "src/app.live.json", "src/domain/user.cs"} <= {*named}
    assert all((guarded.root / name).is_file() for name in named)


def test_commands_of_a_guard_for_one_tool(tmp_path):
    """On a host with several events before calls, the guards of each of them are read."""
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/guard.sh").write_text("grep -q 'helm delete' && exit 2\n")
    (tmp_path / ".cursor/hooks.json").write_text(
        '{"version": 1, "hooks": {"beforeShellExecution": [{"command": ".cursor/guard.sh"}]}}'
    )
    (hook_set,) = find_hook_sets(tmp_path)
    assert named_commands(hook_set, read_guards(hook_set)) == ["helm delete"]
