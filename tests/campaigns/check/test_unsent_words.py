"""Claims about words with which scripts compare values of their input, and that hosts write otherwise."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

SHELL = "#!/bin/bash\nIN=$(cat)\nS=$(jq -r '.source // empty' <<<\"$IN\")\n"
PYTHON = "import json, sys\nd = json.load(sys.stdin)\n"


@pytest.fixture
def compared(tmp_path):
    """The words of a script that its host does not send, in words."""

    def read(text, event="SessionStart", command="bash ./hook.sh", **files):
        script = "hook.py" if "import" in text else "hook.sh"
        (tmp_path / script).write_text(text)
        for name, content in files.items():
            (tmp_path / name.replace("_", "-")).write_bytes(content)
        command = "python3 ./hook.py" if script == "hook.py" else command
        events = {event: [{"hooks": [{"type": "command", "command": command}]}]}
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": events}))
        (hook_set,) = find_hook_sets(tmp_path)
        return [one.text for one in check_statically(hook_set).symptoms if "is compared with" in one.text]

    return read


@pytest.mark.parametrize(
    "text",
    [
        f'{SHELL}[ "$S" = "precompact" ] && exit\n',
        f"{SHELL}[[ $S == precompact ]] && exit\n",
        f'{SHELL}case "$S" in\n  startup|precompact) exit ;;\nesac\n',
        f"{PYTHON}s = d.get('source')\nif s == 'precompact':\n    print(s)\n",
        f"{PYTHON}def run(e):\n    s = e['source']\n    return s == 'precompact'\nprint(run(d))\n",
        f"{PYTHON}s = d['source']\nif s in ('startup', 'precompact'):\n    print(s)\n",
    ],
)
def test_a_word_like_the_one_that_is_sent(compared, text):
    """A word that is another form of one that the host sends never fits."""
    (found,) = compared(text)
    assert found == (
        "SessionStart: `source` of its input is compared with `precompact`, and claude-code sends `compact`."
    )


@pytest.mark.parametrize(
    "text",
    [
        f'{SHELL}[ "$S" = "compact" ] && exit\n',
        f'{SHELL}case "$S" in\n  compact|precompact) exit ;;\nesac\n',
        f'{SHELL}[ "$S" = "new" ] && exit\n',
        f'{SHELL}# [ "$S" = "precompact" ] && exit\n',
        f'{SHELL}[ "$T" = "precompact" ] && exit\n',
        f'{SHELL}T=$(cat .claude/.source)\n[ "$T" = "precompact" ] && exit\n',
        f'{SHELL}T=$(jq -r \'.source | ltrimstr("x")\' <<< "$IN")\n[ "$T" = resumed ] && exit\n',
        f"{PYTHON}for rule in RULES:\n    s = rule['source']\n    if s == 'precompact':\n        print(d)\n",
        f"{PYTHON}s = CONFIG['source']\nif s == 'precompact':\n    print(s)\n",
    ],
)
def test_other_words(compared, text):
    """Nothing is said where the right word is compared too, and of words that are like none."""
    assert not compared(text)


def test_the_name_of_an_agent(compared):
    """Agents may have any name."""
    text = f"{PYTHON}a = d.get('agent_type')\nif a == 'plan-reviewer':\n    print(a)\n"
    assert not compared(text, event="SubagentStart")


def test_a_script_that_another_one_starts(compared):
    """A script without an ending that another one gets by its name is read too, and a program is not."""
    start = '#!/bin/sh\nexec "$(dirname "$0")/$1"\n'
    script = f'{SHELL}[ "$S" = "precompact" ] && exit\n'.encode()
    command = "./hook.sh my-start my-program"
    assert len(compared(start, command=command, my_start=script, my_program=b"\xff\x00")) == 1
