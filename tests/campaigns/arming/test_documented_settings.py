"""Claims about settings that the documentation of a project shows."""

import json

import pytest

from pytest_hookharness.campaigns.arming.documented_settings import documented_settings
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.reports.terminal.check_report import announcement
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

OF_CLAUDE = {
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR/hooks/gate.sh"'}]}]}
}
OF_CURSOR = {"version": 1, "hooks": {"stop": [{"command": "sh hooks/gate.sh"}]}}


def written(root, text, name="docs/use.md", script="hooks/gate.sh"):
    """The settings that a Markdown file shows, in a project with one script."""
    for path, content in ((name, text), (script, "exit 0\n")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return [*documented_settings(root)]


def block(settings, language="json", indent=""):
    """A block of code in Markdown."""
    lines = ["", f"```{language}", *json.dumps(settings, indent=2).splitlines(), "```", ""]
    return "\n".join(f"{indent}{line}" for line in lines)


@pytest.mark.parametrize(("language", "indent"), [("json", ""), ("", ""), ("jsonc", "   ")])
def test_settings_in_a_block_of_code(tmp_path, language, indent):
    """A block of JSON with hooks is found, with or without its language, also below an item of a list."""
    assert written(tmp_path, f"Use it:{block(OF_CLAUDE, language, indent)}") == [("docs/use.md", OF_CLAUDE)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (block({"hooks": {}}), "docs/use.md"),
        (block({"name": "x"}), "docs/use.md"),
        ('```json\n{"hooks": {"Stop": [\n```\n', "docs/use.md"),
        (block(OF_CLAUDE, "python"), "docs/use.md"),
        (block(OF_CLAUDE), "tests/use.md"),
        (block(OF_CLAUDE), "docs/use.txt"),
    ],
)
def test_what_is_no_example_of_settings(tmp_path, text, name):
    """Other JSON, broken JSON, other languages, and files that are not shipped are left alone."""
    assert written(tmp_path, text, name) == []


def test_an_example_is_tried_where_there_are_no_settings(tmp_path):
    """Examples for two hosts are two hook sets, each once, and the announcement says what they are."""
    text = block(OF_CLAUDE) + block(OF_CURSOR) + block(OF_CLAUDE)
    written(tmp_path, text)
    places = find_hook_sets(tmp_path, copies=True)
    assert [(place.host, place.documented, place.unnamed) for place in places] == [
        ("claude-code", True, False),
        ("cursor", True, False),
    ]
    assert "docs/use.md, an example for users; tried as if it were in their settings" in announcement(
        places, ""
    )

    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps(OF_CLAUDE))
    assert [place.documented for place in find_hook_sets(tmp_path, copies=True)] == [False]


@pytest.mark.parametrize(
    ("command", "script"),
    [('sh "$CLAUDE_PROJECT_DIR/hooks/gate.sh"', "src/other.sh"), ("sh /path/to/gate.sh", "hooks/gate.sh")],
)
def test_an_example_without_a_script_of_the_project_is_no_hook(tmp_path, command, script):
    """An example whose scripts the project does not have, or whose path the reader replaces, is not tried."""
    hook = {"type": "command", "command": command}
    written(tmp_path, block({"hooks": {"Stop": [{"hooks": [hook]}]}}), script=script)
    with pytest.raises(SimulationError):
        find_hook_sets(tmp_path, copies=True)
