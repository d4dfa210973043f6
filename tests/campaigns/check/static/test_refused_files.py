"""Claims about settings files that Claude Code refuses as a whole."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

HOOKS = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}


@pytest.fixture
def said(tmp_path):
    """The problems found in the settings files of a plugin or a project."""

    def say(**files):
        for path, content in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(json.dumps(content))
        (hook_set,) = [one for one in find_hook_sets(tmp_path, "") if one.host == "claude-code"]
        found = check_statically(hook_set).symptoms
        return [one.text for one in found if one.kind == "CONFIG-OFF"]

    return say


@pytest.mark.parametrize(
    ("named", "refused"),
    [("./hooks/hooks.json", True), (["./hooks/hooks.json"], True), ("./more.json", False), (None, False)],
)
def test_a_manifest_that_names_the_usual_file(said, named, refused):
    """A manifest that names the file which is loaded anyway is refused; one that names another is not."""
    manifest = {"name": "one", **({"hooks": named} if named else {})}
    settings = {"hooks": HOOKS}
    files = {".claude-plugin/plugin.json": manifest, "hooks/hooks.json": settings, "more.json": settings}
    texts = said(**files)
    assert [text.partition(",")[0] for text in texts] == [
        ".claude-plugin/plugin.json names hooks/hooks.json"
    ] * refused


@pytest.mark.parametrize(
    ("mode", "refused"), [("allowEdits", True), ("acceptEdits", False), ("yolo", False), ("auto", False)]
)
def test_a_permission_mode_that_does_not_exist(said, mode, refused):
    """A misspelled mode is named with what it costs; an unknown one may be of a newer release."""
    settings = {"permissions": {"defaultMode": mode}, "hooks": HOOKS}
    assert bool(said(**{".claude/settings.json": settings})) is refused
