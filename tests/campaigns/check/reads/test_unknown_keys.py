"""Claims about keys that scripts read from their input and that no host sends."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

PYTHON = "import json, sys\nd = json.load(sys.stdin)\n"
SHELL = "#!/bin/bash\nIN=$(cat)\n"


@pytest.fixture
def unknown(tmp_path):
    """The keys of a script that its host does not send, in words."""

    def read(text, *, event="PreCompact", host="claude-code"):
        script = "hook.sh" if text.startswith("#!/bin/bash") else "hook.js" if "const" in text else "hook.py"
        program = {"hook.sh": "bash", "hook.js": "node", "hook.py": "python3"}[script]
        entry = {"type": "command", "command": f"{program} ./{script}"}
        at, hooks = {
            "claude-code": (".claude/settings.json", [{"hooks": [entry]}]),
            "cursor": (".cursor/hooks.json", [entry]),
        }[host]
        (tmp_path / script).write_text(text)
        (tmp_path / at).parent.mkdir(parents=True)
        (tmp_path / at).write_text(json.dumps({"version": 1, "hooks": {event: hooks}}))
        (hook_set,) = find_hook_sets(tmp_path)
        symptoms = check_statically(hook_set).symptoms
        return [one.text for one in symptoms if one.text.endswith("sends no such key.")]

    return read


@pytest.mark.parametrize(
    "text",
    [
        f"{PYTHON}print(d['loaded_skills'])\n",
        f"{PYTHON}skills = d.get('loaded_skills', [])\nprint(skills)\n",
        f"{SHELL}S=$(echo \"$IN\" | jq -r '.loaded_skills // [] | join(\",\")' || echo '')\necho $S\n",
        f'{SHELL}S=$(jq -r \'.loaded_skills // "unknown"\' <<<"$IN" || echo "unknown")\necho $S\n',
        "const d = JSON.parse(readFileSync(0));\nconst s = d.loaded_skills ?? [];\nuse(s);\n",
    ],
)
def test_a_key_that_no_host_sends(unknown, text):
    """A value with no other source is named, as it is always missing."""
    (found,) = unknown(text)
    assert found == (
        "PreCompact: the script reads `loaded_skills` of its input, and claude-code sends no such key."
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{PYTHON}print(d['trigger_file_path'], d['mcp_context'])\n",
        f"{PYTHON}print(d.get('loaded_skills') or find_skills())\n",
        f"{PYTHON}print(d.get('loaded_skills', DEFAULT))\n",
        f"{PYTHON}print(d['loaded_skills'] if 'loaded_skills' in d else 0)\n",
        f"{PYTHON}s = d.get('loaded_skills')\nif not s:\n    s = find_skills()\nprint(s)\n",
        f"{PYTHON}d['loaded_skills'] = find_skills()\nprint(d['loaded_skills'])\n",
        f"{PYTHON}print(d.get('max_rounds', 5))\n",
        f"{PYTHON}print(d.get('dry_run', False))\n",
        f"{PYTHON}print(d.get('payload') or '')\n",
        f"{PYTHON}print(d.get('conversation_id'))\n",
        f"{PYTHON}print(d.get('loaded_skills'), os.environ.get('CURSOR_VERSION'))\n",
        f"{PYTHON}state = json.load(open('state.json'))\nprint(state['loaded_skills'])\n",
        f'{SHELL}S=$(jq -r \'.loaded_skills // empty\' <<<"$IN")\n[ -n "$S" ] || S=$(ls skills)\necho $S\n',
        f'{SHELL}S=$(jq -r \'.loaded_skills // empty\' <<<"$IN")\necho "${{S:-$ALL}}"\n',
        f"{SHELL}S=$(jq -r '.loaded_skills // .trigger' <<<\"$IN\")\necho $S\n",
        "const d = JSON.parse(readFileSync(0));\nconst s = d.loaded_skills ?? find();\nuse(s);\n",
    ],
)
def test_a_value_from_elsewhere(unknown, text):
    """Nothing is said of a value with another source, a setting, and a key of another host or program."""
    assert not unknown(text)


def test_a_host_of_which_no_input_is_recorded(unknown):
    """A host that is only known from documents may send more than these name."""
    assert not unknown(f"{PYTHON}print(d['loaded_skills'])\n", event="preCompact", host="cursor")


def test_a_key_that_is_told_with_its_meaning(unknown):
    """A key in the place of another one is not reported twice."""
    assert not unknown(f"{PYTHON}print(d.get('assistant_response'), d.get('final_output'))\n", event="Stop")
