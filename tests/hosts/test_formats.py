"""
Formats of settings files: where handlers are found, which files are read, and how commands are replaced.
"""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, HandlerKeys, Import, Switch
from pytest_hookharness.hosts.settings.formats import (
    FLAT,
    GROUPS,
    NAMED,
    OPEN_GROUPS,
    TABLE,
    command_keys,
    parse_json,
    parse_toml,
    replace_commands,
)


def reading(profile, **values):
    """Return the profile with other rules for settings, and with flawed parts dropped."""
    return replace(profile, config=replace(profile.config, default_effect=Effect.DROPS, **values))


def commands(configuration):
    """Return event, matcher and command of all hooks."""
    return [(hook.event, hook.matcher, hook.command) for hook in configuration.hooks]


GROUP = [{"matcher": "Bash", "hooks": [{"command": "x"}]}]
HANDLER = [{"matcher": "Bash", "command": "x"}]
TOML = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "x"\n'


@pytest.mark.parametrize(
    "form, text",
    [
        (GROUPS, json.dumps({"hooks": {"PreToolUse": GROUP}})),
        (OPEN_GROUPS, json.dumps({"hooks": {"PreToolUse": GROUP}})),
        (OPEN_GROUPS, json.dumps({"PreToolUse": GROUP})),
        (FLAT, json.dumps({"version": 1, "hooks": {"PreToolUse": HANDLER}})),
        (NAMED, json.dumps({"one": {"enabled": True, "PreToolUse": GROUP}})),
        (NAMED, json.dumps({"one": {"enabled": False, "PreToolUse": GROUP}, "two": {"PreToolUse": HANDLER}})),
        (TABLE, TOML),
    ],
)
def test_formats(profile, form, text):
    """A handler is found with its event and matcher in every format."""
    parse = parse_toml if form is TABLE else parse_json
    kind = reading(profile, form=form, parse=parse, untyped="command")

    assert commands(hosts.configure(kind, {"f": text})) == [("PreToolUse", "Bash", "x")]


@pytest.mark.parametrize("form", [GROUPS, OPEN_GROUPS, FLAT, NAMED, TABLE])
@pytest.mark.parametrize(
    "inline", [{"PreToolUse": "x"}, {"PreToolUse": ["x"]}, {"PreToolUse": {"command": "x"}}]
)
def test_short_forms_are_expanded(profile, form, inline):
    """A short form means the same in every format, and settings already in the format stay unchanged."""
    kind = reading(profile, form=form, untyped="command")
    whole = form.build({"PreToolUse": [{"command": "x"}]})

    assert commands(hosts.configure(kind, {}, inline=inline)) == [("PreToolUse", None, "x")]
    assert commands(hosts.configure(kind, {"f": json.dumps(whole)})) == [("PreToolUse", None, "x")]


def test_other_keys_of_handlers(profile):
    """Command, timeout and the key that blocks on failure may have other names, and so may events."""
    keys = HandlerKeys(timeout="timeoutSec", on_failure={"failClosed": True})
    kind = reading(
        profile, form=FLAT, keys=keys, untyped="command", types={"command": "bash"}, events={"stop": "Stop"}
    )
    handler = {"bash": "x", "timeoutSec": 3, "failClosed": True}

    (hook,) = hosts.configure(kind, {"f": json.dumps({"hooks": {"stop": [handler]}})}).hooks

    assert (hook.event, hook.command, hook.timeout, hook.on_failure) == ("Stop", "x", 3.0, "block")
    assert hook.options == {}


def test_which_files_are_read(profile):
    """Files are read in the order of their patterns, either all of them or only the first."""
    files = {
        f"workspace/{name}": json.dumps({"hooks": {"Stop": [{"command": name}]}})
        for name in ("own.json", "many/b.json", "many/a.json")
    }
    paths = ("workspace/many/*.json", "workspace/own.json")
    all_ = reading(profile, paths=paths, form=FLAT, untyped="command")
    first = reading(profile, paths=paths, form=FLAT, untyped="command", first_only=True)

    read = [command for _, _, command in commands(hosts.configure(all_, files))]
    assert read == ["many/b.json", "many/a.json", "own.json"]
    assert [command for _, _, command in commands(hosts.configure(first, files))] == ["many/b.json"]


def test_settings_of_another_host(profile):
    """Settings of another host are read in its format, by its event names, and are marked."""
    foreign = Import(
        paths=("workspace/other.json",),
        form=GROUPS,
        events={"AfterAgent": "Stop"},
        options={"loop_limit": None},
    )
    kind = reading(profile, form=FLAT, untyped="command", imports=(foreign,))
    text = json.dumps({"hooks": {"AfterAgent": [{"hooks": [{"command": "x"}]}], "Unheard": []}})

    configuration = hosts.configure(kind, {"workspace/other.json": text})

    (hook,) = configuration.hooks
    assert (hook.event, hook.options) == ("Stop", {"loop_limit": None})
    assert configuration.problems == ()


def test_switches(profile):
    """A setting can turn hooks off, and the nearest file that has it decides."""
    switch = Switch(("hooksConfig", "enabled"), off=False)
    kind = reading(profile, untyped="command", switches=(switch,), paths=("a", "b"))
    on, off = ({"hooksConfig": {"enabled": value}, "hooks": {"Stop": GROUP}} for value in (True, False))

    assert hosts.configure(kind, {"a": json.dumps(on), "b": json.dumps(off)}).disabled
    assert not hosts.configure(kind, {"a": json.dumps(off), "b": json.dumps(on)}).disabled


def test_an_unknown_key_at_the_top(profile):
    """A host that allows only some top-level keys starts no session with another key."""
    rules = {**profile.config.rules, "refused": profile.config.rules["malformed"]}
    kind = reading(profile, known_keys=("hooks",), flaws={Flaw.UNKNOWN_KEY: Effect.FAILS}, rules=rules)

    assert hosts.configure(kind, {"f": '{"hoks": {}}'}).refused
    assert not hosts.configure(kind, {"f": '{"hooks": {}}'}).refused


@pytest.mark.parametrize(
    "host, name, own",
    [("gemini-cli", "Stop", "AfterAgent"), ("claude-code", "Stop", "Stop"), ("gemini-cli", "Stopp", "Stopp")],
)
def test_a_common_name_is_the_hosts_own(host, name, own):
    """An event given by its common name is found on a host that has another name for it."""
    assert hosts.own_event(hosts.find(host), name) == own


SETTINGS = """\
{
  // "command": "./a.sh" in a remark stays
  "permissions": {"allow": ["./a.sh"]},
\t"hooks": {"Stop": [{"hooks": [{"type":"command",  "command" : "./a.sh", "timeout": 5}]}]},
  "model": "command", "other": "./a.sh" /* "command": "./a.sh" */
}
"""


def test_only_commands_are_replaced():
    """Values of other keys, items of lists and comments are no commands, and spacing stays."""
    text, number = replace_commands(SETTINGS, {"command"}, {"./a.sh": 'x "./a.sh"'})

    assert number == 1
    assert text == SETTINGS.replace('"command" : "./a.sh"', '"command" : "x \\"./a.sh\\""')


@pytest.mark.slow
@given(st.dictionaries(st.text(), st.text() | st.lists(st.text()) | st.integers()), st.text(), st.booleans())
def test_replaced_commands_can_be_put_back(others, command, ascii_only):
    """The reverse replacement restores the file byte for byte."""
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
    """The keys whose values are commands are those of the host."""
    assert command_keys(hosts.find(host).config) == keys
