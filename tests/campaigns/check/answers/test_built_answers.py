"""Claims about answers that a Python script builds key by key, and about those in a host's own folder."""

import json

import pytest

from pytest_hookharness.campaigns.check.answers.built_answers import built_answers
from pytest_hookharness.campaigns.check.answers.written_answers import written_answers
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

HEAD = "import json, sys\n"
NESTED = "out['hookSpecificOutput'] = {'hookEventName': 'Stop', 'additionalContext': text}\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("out = {}\nout['decision'] = 'allow'\nprint(json.dumps(out))\n", {"decision": "allow"}),
        ("out: dict = {'a': 1}\nout['b'] = True\njson.dump(out, sys.stdout)\n", {"a": 1, "b": True}),
        ("out = {'a': 1}\nif x:\n    out['a'] = 2\nprint(json.dumps(out, indent=1))\n", {"a": 2}),
        (
            "def f():\n    out = {}\n    out['a'] = 1\n    print(json.dumps(out))\nout = g()\nuse(out)\n",
            {"a": 1},
        ),
        ("out = {'a': 1}\nlog(x)\nout['b'] = 2\nsys.stdout.write(json.dumps(out))\n", {"a": 1, "b": 2}),
    ],
)
def test_an_answer_that_is_built(text, value):
    """The parts are put together, those below one condition too, with the line of the first part."""
    (found,) = written_answers(HEAD + text)
    assert (dict(found.value), found.line) == (value, 3 if "def" in text else 2)


@pytest.mark.parametrize(
    "text",
    [
        "out = {}\nout['a'] = 1\nout.update(more)\nprint(json.dumps(out))\n",
        "out = {}\nout['a'] = 1\nchange(out)\nprint(json.dumps(out))\n",
        "out = {}\nout['a'] = 1\nprint(json.dumps(out), file=log)\n",
        "out = {}\nout['a'] = 1\njson.dump(out, log)\n",
        "out = {}\nout['a']['b'] = 1\nout['c'] = 1\nprint(json.dumps(out))\n",
        "out = {}\nif x:\n    out['a'] = 1\nelse:\n    out['b'] = 1\nprint(json.dumps(out))\n",
        "out = {}\nif x:\n    out['a'] = 1\nif y:\n    out['b'] = 1\nprint(json.dumps(out))\n",
        "def f():\n  out = {}\n  if x:\n    out['a'] = 1\n    return\n  print(json.dumps(out))\n",
        "out = {}\nfor x in y:\n    out['a'] = x\nprint(json.dumps(out))\n",
        "out = {}\nout['a'] = 1\nout = {}\nprint(json.dumps(out))\n",
        "out = {}\nout[key] = 1\nprint(json.dumps(out))\n",
        "out = {}\nout['a'] = 1\ntext = json.dumps(out)\n",
        "out = {**more}\nout['a'] = 1\nprint(json.dumps(out))\n",
        "out = {\nout['a'] = 1\nprint(json.dumps(out))\n",
    ],
)
def test_an_answer_that_code_changes(text):
    """An object that something else uses, or that may not be printed so, is left out."""
    assert not [*written_answers(HEAD + text)]


def test_a_text_without_answers():
    """A script in another language has no answer of this kind."""
    assert not [*built_answers("#!/bin/bash\nx['a'] = json.dumps\n")]


@pytest.fixture
def mangled(tmp_path):
    """The answers of a script at Codex's Stop that the host does not read, in words."""

    def read(text, place=".codex/hooks/stop.sh", others=()):
        program = "python3" if place.endswith(".py") else "bash"
        command = f'{program} "$(git rev-parse --show-toplevel)/{place}"'
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
        for file, written in ((place, text), (".codex/hooks.json", json.dumps({"hooks": hooks})), *others):
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(written)
        (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == "codex"]
        return [one.text for one in check_statically(hook_set).symptoms if one.kind == "MANGLED"]

    return read


def test_a_built_answer_at_codex(mangled):
    """Codex refuses a nested answer at Stop, also where a program builds it."""
    (text,) = mangled(f"{HEAD}out = {{}}\n{NESTED}print(json.dumps(out))\n", ".codex/hooks/stop.py")
    assert "'hookSpecificOutput' is not a key of an answer to Stop" in text


ANSWER = 'jq -n --arg x "$msg" \'{hookSpecificOutput: {hookEventName: "Stop", additionalContext: $x}}\'\n'
HINTS = '# For Claude.\nDIR="${CLAUDE_DIR:-$PWD}"\n[ "$CLAUDE_RAN" = 1 ] && exit 0\nexport CLAUDE_RAN=1\n'


def test_words_of_another_host(mangled):
    """Comments, defaults and own variables with another host's name make no script for two hosts."""
    assert mangled(f"#!/bin/bash\n{HINTS}{ANSWER}")


@pytest.mark.parametrize(
    ("more", "place", "others"),
    [
        ('[ -n "$CLAUDE_PROJECT_DIR" ] || exit 0\n', ".codex/hooks/stop.sh", ()),
        (HINTS, "hooks/stop.sh", ()),
        (HINTS, ".codex/hooks/stop.sh", [(".claude/settings.json", '{"hooks": ".codex/hooks/stop.sh"}')]),
    ],
)
def test_a_script_for_two_hosts(mangled, more, place, others):
    """A script that asks for its host, or may be one of several, is left alone."""
    assert not mangled(f"#!/bin/bash\n{more}{ANSWER}", place, others)
