"""
Forms of settings files other than the groups of the first host, and which files are read.
"""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.settings import Effect, Flaw, HandlerKeys, Import, Switch
from pytest_hookharness.hosts.settings.formats import (
    FLAT,
    GROUPS,
    NAMED,
    OPEN_GROUPS,
    TABLE,
    parse_json,
    parse_toml,
)


def reading(profile, **values):
    """
    The profile with other rules for settings, which drops what is wrong.
    """
    return replace(profile, config=replace(profile.config, default_effect=Effect.DROPS, **values))


def commands(configuration):
    """
    What the hooks run, with their events and matchers.
    """
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
def test_forms(profile, form, text):
    """A handler is found with its event and matcher in every form."""
    parse = parse_toml if form is TABLE else parse_json
    kind = reading(profile, form=form, parse=parse, untyped="command")

    assert commands(hosts.configure(kind, {"f": text})) == [("PreToolUse", "Bash", "x")]


@pytest.mark.parametrize("form", [GROUPS, OPEN_GROUPS, FLAT, NAMED, TABLE])
@pytest.mark.parametrize(
    "inline", [{"PreToolUse": "x"}, {"PreToolUse": ["x"]}, {"PreToolUse": {"command": "x"}}]
)
def test_short_forms_are_dressed(profile, form, inline):
    """A short form means the same in every form, and what is already in form stays."""
    kind = reading(profile, form=form, untyped="command")
    whole = form.build({"PreToolUse": [{"command": "x"}]})

    assert commands(hosts.configure(kind, {}, inline=inline)) == [("PreToolUse", None, "x")]
    assert commands(hosts.configure(kind, {"f": json.dumps(whole)})) == [("PreToolUse", None, "x")]


def test_other_keys_of_handlers(profile):
    """Command, limit and what blocks on a failure may have other names, and events other spellings."""
    keys = HandlerKeys(timeout="timeoutSec", on_failure={"failClosed": True})
    kind = reading(
        profile, form=FLAT, keys=keys, untyped="command", types={"command": "bash"}, events={"stop": "Stop"}
    )
    handler = {"bash": "x", "timeoutSec": 3, "failClosed": True}

    (hook,) = hosts.configure(kind, {"f": json.dumps({"hooks": {"stop": [handler]}})}).hooks

    assert (hook.event, hook.command, hook.timeout, hook.on_failure) == ("Stop", "x", 3.0, "block")
    assert hook.options == {}


def test_which_files_are_read(profile):
    """Files are read in the order of their patterns, all of them or the first alone."""
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
    """Settings of another host are read in its form, by its names of events, and are marked."""
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
    """Hooks are off by any setting that says so, and the nearest file that has it decides."""
    switch = Switch(("hooksConfig", "enabled"), off=False)
    kind = reading(profile, untyped="command", switches=(switch,), paths=("a", "b"))
    on, off = ({"hooksConfig": {"enabled": value}, "hooks": {"Stop": GROUP}} for value in (True, False))

    assert hosts.configure(kind, {"a": json.dumps(on), "b": json.dumps(off)}).disabled
    assert not hosts.configure(kind, {"a": json.dumps(off), "b": json.dumps(on)}).disabled


def test_a_key_that_a_file_must_not_have(profile):
    """A host that allows only some keys at the top does not begin with another."""
    rules = {**profile.config.rules, "refused": profile.config.rules["malformed"]}
    kind = reading(profile, known_keys=("hooks",), flaws={Flaw.UNKNOWN_KEY: Effect.FAILS}, rules=rules)

    assert hosts.configure(kind, {"f": '{"hoks": {}}'}).refused
    assert not hosts.configure(kind, {"f": '{"hooks": {}}'}).refused
