"""Claims about values that look like keys of a hook's input, and come from elsewhere."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

PYTHON = "import json, sys\nd = json.load(sys.stdin)\n"
SCRIPT = "const d = JSON.parse(readFileSync(0));\n"
SHELL = "#!/bin/bash\nIN=$(cat)\n"


@pytest.fixture
def read_in_vain(tmp_path):
    """The sentences about keys that a hook's script reads in vain, given its text and other files."""

    def read(text, *, event="Stop", start="", end="", matcher="*", settings=(), **files):
        is_shell, is_python = text.startswith("#!"), "import json" in text
        script = "hook.sh" if is_shell else "hook.py" if is_python else "hook.js"
        program = {"hook.sh": "bash", "hook.py": "python3", "hook.js": "node"}[script]
        for name, other in {script: text, **files}.items():
            (tmp_path / name).write_text(other)
        entry = {"type": "command", "command": f"{start}{program} ./{script}{end}"}
        hooks = {event: [{"matcher": matcher, "hooks": [entry]}]}
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks, **dict(settings)}))
        (hook_set,) = find_hook_sets(tmp_path)
        return [one.text for one in check_statically(hook_set).symptoms if "of its input" in one.text]

    return read


@pytest.mark.parametrize(
    "text",
    [
        (
            "import json, sys\nraw = sys.stdin.read()\nd = json.loads(raw)\n"
            "def load(f):\n    raw = f.read()\n    s = json.loads(raw)\n    return s['messages']\n"
            "print(load(open('x')), d['session_id'])\n"
        ),
        f"{PYTHON}d = {{**d, 'project_root': '/w'}}\nprint(d['project_root'])\n",
        f"{PYTHON}e = dict(d, project_root='/w')\nprint(e['project_root'])\n",
        f"{PYTHON}d.update(project_root='/w')\nprint(d['project_root'])\n",
        f"{PYTHON}d['project_root'] = find_root()\nprint(d['project_root'])\n",
        (
            "import json, sys\nt = sys.stdin.read()\ntry:\n    d = json.loads(t)\nexcept ValueError:\n"
            "    d = {'raw_text': t}\nprint(d['raw_text'])\n"
        ),
        "import json, sys\nd = json.loads(P) if P else json.load(sys.stdin)\nprint(d['usage'], d['cwd'])\n",
        f"{PYTHON}print([d['messages'] for d in rows], d['session_id'])\n",
        f"{PYTHON}rows.sort(key=lambda d: d['usage'])\nprint(d['session_id'])\n",
        f"{PYTHON}def total(d):\n    return d['usage']\nprint(sum(map(total, rows)), d['session_id'])\n",
    ],
)
def test_another_object_in_python(read_in_vain, text):
    """A name of another object, and what the script adds to the input, are no keys of the input."""
    assert read_in_vain(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "let d = JSON.parse(readFileSync(0));\nd = { ...d, project_root: root };\nuse(d.project_root);\n",
        "let d;\ntry { d = JSON.parse(read(stdin)); } catch { d = { raw_text: t }; }\nuse(d.raw_text);\n",
        f"{SCRIPT}Object.assign(d, load());\nuse(d.project_root);\n",
        f"{SCRIPT}use(d.session_id, rows.map((d) => d.message));\n",
        f"{SCRIPT}rows.forEach(d => {{ use(d.usage); }});\n",
        (
            "function input() {\n  const raw = readFileSync(0);\n  const d = JSON.parse(raw);\n"
            "  return d;\n}\n"
            "function state(f) {\n  const raw = readFileSync(f);\n  const d = JSON.parse(raw);\n"
            "  return d.messages;\n}\nuse(input(), state('x'));\n"
        ),
        f"function sum(d) {{\n  return d.messages;\n}}\n{SCRIPT}use(sum(state), d.session_id);\n",
        f"function get(o) {{\n  return o.message;\n}}\n{SCRIPT}use(get(d), get(state));\n",
    ],
)
def test_another_object_in_javascript(read_in_vain, text):
    """A parameter of a callback, and an object to which the script adds keys, are not the input."""
    assert read_in_vain(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\nC=$(gh pr view --json message |\n  jq -r '.message')\necho $C\n",
        f'{SHELL}IN=$(curl -s localhost)\nM=$(jq -r .message <<< "$IN")\necho $M\n',
        f'{SHELL}IN=$(jq -c \'. + {{a_root: 1}}\' <<< "$IN")\nR=$(jq -r .a_root <<< "$IN")\necho $R\n',
        f'{SHELL}of() {{\n  local IN\n  IN=$(gh run view)\n  jq -r .message <<< "$IN"\n}}\nof\n',
        f'{SHELL}get() {{\n  jq -r "$1 // empty" <<< "${{2:-$IN}}"\n}}\nM=$(get .message "$S")\necho $M\n',
        "#!/bin/bash\nall() {\n  jq -r '.messages[]?'\n}\ngh api inbox | all\n",
    ],
)
def test_what_another_program_gives(read_in_vain, text):
    """What another program pipes into jq, or puts in the place of the input, is no input of the hook."""
    assert read_in_vain(text) == []


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (
            (
                '#!/bin/bash\n. ./lib.sh\nIN=$(cat)\nO=$(output "$IN")\n'
                'O=${O:-$(jq -r .tool_result <<< "$IN")}\necho "$O"\n'
            ),
            {"lib.sh": 'output() { jq -r .tool_response.stdout <<< "$1"; }\n'},
        ),
        (
            f"{PYTHON}from lib import output\nolder = d.get('tool_result')\nprint(output(d) or older)\n",
            {"lib.py": "def output(d):\n    return d['tool_response']['stdout']\n"},
        ),
        (
            f"{SCRIPT}const {{ output }} = require('./lib');\nconst o = d.tool_result;\nuse(output(d), o);\n",
            {"lib.js": "exports.output = (d) => d.tool_response.stdout;\n"},
        ),
    ],
)
def test_the_key_that_a_loaded_file_reads(read_in_vain, text, files):
    """A script whose library reads the key that is sent may look for another one as well."""
    assert read_in_vain(text, event="PostToolUse", **files) == []


def test_what_the_agent_said_last(read_in_vain):
    """A script that reads what is said last may look for all messages in another version."""
    text = (
        f"{SHELL}L=$(jq -r '.last_assistant_message' <<< \"$IN\")\nM=$(jq -r '.messages[-1]' <<< \"$IN\")\n"
    )
    assert read_in_vain(f'{text}echo "$L$M"\n') == []


def test_a_script_of_a_status_line(read_in_vain):
    """A script that shows the status line too gets the cost from there."""
    line = {"type": "command", "command": "python3 ./hook.py"}
    assert read_in_vain(f"{PYTHON}print(d.get('cost'))\n", settings={"statusLine": line}) == []


def test_a_script_that_the_agent_may_start(read_in_vain):
    """A permission to start the script gives it no other input."""
    allowed = {"allow": ["Bash(python3 ./hook.py)"]}
    assert read_in_vain(f"{PYTHON}print(d.get('cost'))\n", settings={"permissions": allowed})


@pytest.mark.parametrize(("start", "end"), [("cat | ", ""), ("", " | tee log")])
def test_a_pipe_that_changes_nothing(read_in_vain, start, end):
    """A pipe that passes the input on, and one behind the script, add no key."""
    assert len(read_in_vain(f"{PYTHON}print(d['task_count'])\n", start=start, end=end)) == 1


@pytest.mark.parametrize(
    ("start", "files"),
    [
        ("jq -c '. + {task_count: 3}' | ", {}),
        ("", {"report.sh": "echo '{\"task_count\": 3}' | python3 hook.py\n"}),
    ],
)
def test_a_key_that_the_project_gives(read_in_vain, start, files):
    """A key that the command adds, or with which another script starts the hook's script, has a source."""
    assert read_in_vain(f"{PYTHON}print(d['task_count'])\n", start=start, **files) == []


@pytest.mark.parametrize(
    "text",
    [
        f'{SHELL}T=$(jq -r .tool_name <<< "$IN")\n[ "$T" = NotebookEdit ] && exit 2\n',
        f'{SHELL}jq -e \'[.tool_input | .. | strings] | any(. == "x")\' <<< "$IN" && exit 2\n',
    ],
)
def test_a_guard_that_refuses_notebooks_in_another_way(read_in_vain, text):
    """A guard that refuses all notebooks, or searches all values, needs no path of a notebook."""
    text += 'F=$(jq -r .tool_input.file_path <<< "$IN")\n[ "$F" = x ] && exit 2\n'
    assert read_in_vain(text, event="PreToolUse", matcher="Edit|NotebookEdit") == []


@pytest.mark.parametrize(
    ("event", "value"),
    [
        ("PostToolUse", ".tool_response.exit_code // 0"),
        ("PostToolUse", '.tool_response | if type == "object" then .output else . end'),
        ("Stop", '.message // "Claude has finished"'),
    ],
)
def test_a_value_that_is_right_where_the_key_is_missing(read_in_vain, event, value):
    """A status of success after a call, and a text of the script's own, are right where nothing is sent."""
    assert (
        read_in_vain(f'{SHELL}V=$(jq -r \'{value}\' <<< "$IN")\necho "$V"\n', event=event, matcher="Bash")
        == []
    )


def test_a_status_that_is_looked_at(read_in_vain):
    """A failure for which a script looks after a call never shows there."""
    text = f'{SHELL}C=$(jq -r \'.tool_response.exit_code // 0\' <<< "$IN")\n[ "$C" -ne 0 ] && echo Failed\n'
    (found,) = read_in_vain(text, event="PostToolUse", matcher="Bash")
    assert "after a failed command it runs `PostToolUseFailure` hooks" in found
