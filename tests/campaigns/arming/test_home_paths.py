"""Claims about the files below HOME that scripts name."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.arming.home_paths import home_files
from pytest_hookharness.campaigns.arming.state_paths import HookScript
from pytest_hookharness.model.checkup import HookSet

PLACE = HookSet(host="claude-code", root=Path("/p"), files=(), hooks=())


def named(text, place=PLACE):
    return home_files(place, HookScript(name="hooks/x", text=text))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('F="$HOME/.loop/state.json"', ".loop/state.json"),
        ("cat ${HOME}/.loop/state.json", ".loop/state.json"),
        ("[ -f ~/.claude/loop.local.md ]", ".claude/loop.local.md"),
        ('DIR="$HOME/.loop"\n[ -f "$DIR/on.flag" ]', ".loop/on.flag"),
        ('os.path.expanduser("~/.loop/state.json")', ".loop/state.json"),
        ('Path.home() / ".loop" / "state.json"', ".loop/state.json"),
        ('folder = Path.home() / ".loop"\nfile = folder / "state.json"', ".loop/state.json"),
        ('const file = path.join(os.homedir(), ".loop", "state.json")', ".loop/state.json"),
        (
            'const dir = path.join(os.homedir(), ".loop")\nconst f = join(dir, "state.json")',
            ".loop/state.json",
        ),
    ],
)
def test_files_below_home_are_found(text, path):
    """A file below HOME is found as shell, Python and JavaScript name it, also by its folder's name."""
    assert named(text) == [f"~/{path}"]


@pytest.mark.parametrize(
    "text",
    [
        "# see ~/.loop/state.json",
        "cat ~/.claude/settings.json",
        "cat ~/.aws/credentials.json",
        'echo x >>"$HOME/.loop/logs/all.txt"',
        '[ -f "$CLAUDE_PROJECT_DIR/.loop/state.json" ]',
        'DIR=".loop"\n[ -f "$DIR/on.flag" ]',
        'Path.cwd() / ".loop" / "state.json"',
        "cat ~/../x/state.json",
        "cat $HOME//tmp/state.json",
        'Path.home() / "/tmp/state.json"',
        'DIR="$HOME/.loop"\n[ -f "$DIR//tmp/on.flag" ]',
        f"cat ~/{'a' * 300}.json",
    ],
)
def test_what_is_no_state_below_home(text):
    """Comments, settings, secrets, logs, files outside of HOME and names that are too long are left out."""
    assert named(text) == []


@pytest.mark.parametrize(
    "text", ["a=b;" * 75_000, "x = 1, " * 45_000, "\n" * 300_000], ids=["JavaScript", "names", "empty lines"]
)
def test_long_texts_are_read_once(text):
    """A long line, as in minified JavaScript, does not make the reading of a script endless."""
    file = 'const file = path.join(os.homedir(), ".loop", "state.json")'
    assert named(f"{text}\n{file}") == ["~/.loop/state.json"]


def test_a_file_that_is_lent_is_left_out(tmp_path):
    """A file that the person has and lends to the sessions needs no other text."""
    (tmp_path / ".loop").mkdir()
    (tmp_path / ".loop/state.json").write_text("{}")
    place = HookSet(host="claude-code", root=Path("/p"), files=(), hooks=(), home=tmp_path)
    assert named("cat ~/.loop/state.json", place) == []
    assert named(f"cat ~/{'a' * 300}.json", place) == []
