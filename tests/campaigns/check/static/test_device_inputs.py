"""Claims about scripts that open their input by the name of a device."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.device_inputs import device_input
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


def found(text, path="x.sh", host="claude-code", event="PreToolUse"):
    """What is told of a hook with one script."""
    hook = Hook(event=event, command=path)
    place = HookSet(host=host, root=Path(__file__).parent, files=(), hooks=(hook,), sources=((path, text),))
    return (device_input(place, hook) or ("",))[0]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("#!/bin/bash\nC=$(jq -r .tool_input.command < /dev/stdin)\n", "x.sh"),
        ("#!/bin/sh\nINPUT=$(cat /dev/stdin)\n", "x.sh"),
        ("#!/usr/bin/env python3\nimport json\ndata = json.load(open('/dev/stdin'))\n", "x.py"),
        ("const d = require('fs').readFileSync('/dev/stdin', 'utf8')\nrun(d)\n", "x.js"),
        ("const at = fs.readFileSync(process.platform === 'win32' ? 0 : \"/dev/stdin\")\nrun(at)\n", "x.js"),
    ],
)
def test_a_script_that_opens_its_input_by_name(text, path):
    """A script that opens /dev/stdin gets nothing from a host with sockets, and all from one with pipes."""
    assert found(text, path) == "opens /dev/stdin"
    assert not found(text, path, host="codex", event="PreToolUse")
    assert not found(text.replace("/dev/stdin", "input.json"), path)


def test_a_script_that_asks_for_a_pipe():
    """A script that reads only from a pipe gets nothing from a socket."""
    assert found("#!/bin/sh\n[ -p /dev/stdin ] && INPUT=$(cat)\n").startswith("reads only if /dev/stdin")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('#!/bin/sh\nI=$(cat)\necho "$I" | jq .a /dev/stdin\n', "x.sh"),
        ('#!/bin/sh\nI=$(cat)\njq .a /dev/stdin <<< "$I"\n', "x.sh"),
        ("#!/bin/sh\n# cat /dev/stdin fails here\nI=$(cat)\n", "x.sh"),
        ("#!/bin/sh\nI=$(cat /dev/stdin 2>/dev/null || cat)\n", "x.sh"),
        ("#!/bin/sh\nawk '{print}' /dev/stdin\n", "x.sh"),
        ("#!/bin/sh\nfield() { jq -r .a /dev/stdin; }\ncat | field\n", "x.sh"),
        ("#!/bin/sh\ncat |\n  jq -r .a /dev/stdin\n", "x.sh"),
        ("#!/bin/sh\njq .a /dev/stdin < rules.json\n", "x.sh"),
        ("#!/bin/sh\n[ -p /dev/stdin ] || [ ! -t 0 ] && I=$(cat)\n", "x.sh"),
        ("run(fs.readFileSync(os === 'darwin' ? '/dev/stdin' : 0))\ngo()\n", "x.js"),
        ("#!/bin/sh\necho 'try: x.sh < /dev/stdin'\n", "x.sh"),
        ("try {\n  d = fs.readFileSync('/dev/stdin')\n} catch {\n  d = fs.readFileSync(0)\n}\n", "x.js"),
    ],
)
def test_names_of_another_input(text, path):
    """Nothing is said of a pipe within a script, of comments and messages, or beside another way."""
    assert not found(text, path)
