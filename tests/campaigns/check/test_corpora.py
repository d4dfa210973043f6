"""Claims about generated texts."""

from pytest_hookharness.campaigns.check.corpora import commonly_refused, hostile_texts
from pytest_hookharness.model.moves import Edit, RunCommand


def test_the_seed_decides_the_texts_that_are_made_up():
    """Texts are drawn anew for another seed, and are the same for the same one."""
    assert hostile_texts(1) == hostile_texts(1)
    assert {*hostile_texts(1)} - {*hostile_texts(2)}


def test_edits_of_files_that_hooks_need(tmp_path):
    """An edit of a file that the project has keeps its text, so a hook that needs it goes on working."""
    (tmp_path / "rules.json").write_text("{}")
    (tmp_path / "secrets.yaml").write_text("key: 1")
    asked = commonly_refused(['open("rules.json"); open("none.txt")'], tmp_path)
    edits = {move.file: move.text for move in asked if isinstance(move, Edit)}
    names = ("rules.json", "secrets.yaml", "none.txt")
    assert [edits[name] for name in names] == ["{}\n", "text\n", "text\n"]


def test_commands_that_scripts_mention_are_asked_about(tmp_path):
    """All usual commands whose words stand in a script are tried, and of the others a few only."""
    asked = [one.command for one in commonly_refused(["git push"], tmp_path) if isinstance(one, RunCommand)]
    assert asked[:2] == ["git push --force", "git push origin main"]
    assert 2 < len(asked) < 8
