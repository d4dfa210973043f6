"""
Claims about settings files whose commands are exchanged.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness import hosts
from pytest_hookharness.hosts.settings.formats import command_keys, replace_commands

SETTINGS = """\
{
  // "command": "./a.sh" in a remark stays
  "permissions": {"allow": ["./a.sh"]},
\t"hooks": {"Stop": [{"hooks": [{"type":"command",  "command" : "./a.sh", "timeout": 5}]}]},
  "model": "command", "other": "./a.sh" /* "command": "./a.sh" */
}
"""


def test_only_commands_are_exchanged():
    """What stands behind another key, in a list or in a remark is no command, and spaces stay."""
    text, number = replace_commands(SETTINGS, {"command"}, {"./a.sh": 'x "./a.sh"'})

    assert number == 1
    assert text == SETTINGS.replace('"command" : "./a.sh"', '"command" : "x \\"./a.sh\\""')


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text()) | st.integers()), st.text(), st.booleans())
def test_what_was_exchanged_can_be_exchanged_back(others, command, ascii_only):
    """The same exchange the other way round gives the file as it was, byte for byte."""
    before = json.dumps(
        {"a": others, "command": command}, ensure_ascii=False, indent=1 if ascii_only else None
    )
    there = {command: f"wrapped {command}"}

    meanwhile, number = replace_commands(before, {"command"}, there)
    after, again = replace_commands(meanwhile, {"command"}, {new: old for old, new in there.items()})

    assert number >= 1
    assert json.loads(meanwhile)["command"] == f"wrapped {command}"
    assert (after, again) == (before, number)


@pytest.mark.parametrize(
    ("host", "keys"), [("claude-code", {"command"}), ("copilot-cli", {"bash", "command"})]
)
def test_hosts_have_keys_of_their_own(host, keys):
    """The keys behind which commands stand are those of the host."""
    assert command_keys(hosts.find(host).config) == keys
