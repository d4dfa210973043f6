"""Claims about what scripts read from their input, and what their hosts send in its place."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.reads.javascript_reads import javascript_reads
from pytest_hookharness.campaigns.check.reads.python_reads import python_reads
from pytest_hookharness.campaigns.check.reads.shell_reads import jq_reads, shell_reads
from pytest_hookharness.campaigns.check.static_checks import check_statically


def words(reads):
    return sorted("|".join(sorted(map(".".join, read))) for read in reads)


@pytest.mark.parametrize(
    ("program", "paths"),
    [
        (".a.b // .c // empty", ["a.b|c"]),
        ('{"n": (.usage.tokens // 0), d: .ms}', ["ms", "usage.tokens"]),
        (".tool_input | .command", ["tool_input"]),
        ('select(.tool == "x") | .y', ["tool"]),
        ('.tool_input["file_path"]?, ."own-key"', ["tool_input.file_path"]),
        (".list[-1].text", ["list"]),
        ('map(.a) | "\\(.b)"', []),
        (". as $x | $x.a", []),
    ],
)
def test_paths_of_jq(program, paths):
    """The paths of a program of jq are those that begin at its input, alternatives as one."""
    assert sorted("|".join(sorted(map(".".join, found))) for found in jq_reads(program)) == paths


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("IN=$(cat)\nA=$(echo \"$IN\" | jq -r '.a // empty')\necho $A\n", ["a"]),
        ("A=$(jq -r '.a')\necho $A\n", ["a"]),
        ("IN=$(cat)\nA=$(jq -r '.a' state.json)\necho $A\n", []),
        ('IN=$(cat)\nA=$(jq .a <<<"$IN")\nB=$(echo "$A" | jq -r \'.b\')\necho $B $A\n', ["a", "a.b"]),
        ('IN=$(cat)\nA=$(jq .a <<<"$IN")\n[ -n "$A" ] || A=$(jq .b <<<"$IN")\n', ["a|b"]),
        ('IN=$(cat)\nget() { echo "$IN" | jq -r "$1 // empty"; }\nA=$(get .a)\necho $A\n', ["a"]),
        (
            "A=$(python3 -c \"import json,sys; print(json.load(sys.stdin).get('a',''))\")\necho $A\n",
            ["a"],
        ),
        (
            "tag() {\n  python3 -c 'import json, sys\nprint(json.load(sys.stdin)[\"a\"])'\n}\ncurl x | tag\n",
            [],
        ),
        ("pyright x | {\n  python3 -c 'import json, sys\nprint(json.load(sys.stdin)[\"a\"])'\n}\n", []),
        (
            "IN=$(cat)\nA=$(node -e 'const d = JSON.parse(process.argv[1]); f(d.a)' -- \"$IN\" x)\necho $A\n",
            ["a"],
        ),
        (
            "IN=$(cat)\nA=$(node -e 'const d = JSON.parse(process.argv[2]); f(d.a)' -- \"$IN\" x)\necho $A\n",
            [],
        ),
        ('IN=$(cat)\nget() {\n  jq -r ".$1 // empty" <<<"$IN"\n}\nA=$(get a.b)\necho $A\n', ["a.b"]),
        (
            (
                'get() {\n  local j="$1" k="$2"\n  echo "$j" | jq -r ".$k"\n}\n'
                'IN=$(cat)\nA=$(get "$IN" "a")\nB=$(get "$S" b)\nC=$(get "$IN" "$d")\necho $A $B $C\n'
            ),
            ["a"],
        ),
        ('get() {\n  jq -r ".$1" state.json\n}\nIN=$(cat)\nA=$(get a)\necho $A\n', []),
        ('IN=$(cat)\nA=$(jq .a <<<"$IN")\n', []),
        ("jq -n '.a'\n", []),
        (
            'IN=$(cat)\nA=$(echo "${IN:-{}}" | jq -r \'.a\')\nB=$(jq .b <<<"${IN:-}")\necho $A $B\n',
            ["a", "b"],
        ),
    ],
)
def test_reads_of_a_shell(text, found):
    """Followed are the variable with the input, its parts, and functions that ask jq."""
    assert words(shell_reads(f"#!/bin/bash\n{text}")) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("d = json.load(sys.stdin)\nprint(d['a'].get('b'))\n", ["a.b"]),
        (
            "raw = sys.stdin.read().strip()\nd = json.loads(raw)\nprint(d.get('a') or d.get('b', ''))\n",
            ["a|b"],
        ),
        ("def f(e):\n    return e.get('a')\nprint(f(json.load(sys.stdin)))\n", ["a"]),
        ("def f(e):\n    return e.get('a')\nd = json.load(sys.stdin)\n", []),
        ("from utils import load\nd = load()\nprint(d['a'])\n", ["a"]),
        ("d = json.load(sys.stdin)\nx = d.get('a')\nif not x:\n    x = d.get('b')\nprint(x)\n", ["a|b"]),
        ("d = json.load(open('x'))\nprint(d['a'])\n", []),
        ("d = json.load(sys.stdin)\nfor p in x:\n    d = json.loads(p.read_text())\n    print(d['a'])\n", []),
        ("d = json.load(sys.stdin)\nprint(d['a'])\nfor d in x:\n    print(d['b'])\n", []),
        ("def f(e):\n    return e['a']\nprint(f(json.load(sys.stdin)), f(other()))\n", []),
        ("d = json.load(sys.stdin)\ne = d['a']\ne = other()\nprint(e.get('b') or d['c'])\n", ["a"]),
        ("d = {}\nd = json.load(sys.stdin)\nprint(d['a'])\n", ["a"]),
        ("d = json.load(sys.stdin)\nx = d['a']\n", []),
        ("def broken(:\n", []),
    ],
)
def test_reads_of_python(text, found):
    """Followed are variables, arguments, results, and a module that parses the input."""
    module = (
        "def load():\n    try:\n        return json.loads(sys.stdin.read())\n    except OSError:\n        0\n"
    )
    assert words(python_reads(text, lambda name: module if name == "utils" else "")) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("const d = JSON.parse(readFileSync(0, 'utf8'));\nuse(d.a?.b ?? d.c);\n", ["a.b|c"]),
        ("stdin.on('data', c => raw += c);\nconst d = JSON.parse(raw || '{}');\nuse(d['a']);\n", ["a"]),
        ("const d = JSON.parse(await text(stdin));\nconst { e, f: g = {} } = d;\nuse(e, g);\n", ["e", "f"]),
        ("const d = JSON.parse(read(stdin));\nconst t = d.tool_input ?? {};\nuse(t.x || t.y);\n",
         ["tool_input", "tool_input.x|tool_input.y"]),
        ("function run(i) {\n  use(i.a);\n}\nconst d = JSON.parse(read(stdin));\nrun(d);\n", ["a"]),
        (
            "const d = JSON.parse(readFileSync('x'));\ne = JSON.parse(readFileSync(0));\nuse(d.a, e.b);\n",
            ["b"],
        ),
        ("const d = JSON.parse(file);\nuse(d.a);\n", []),
        ("read(stdin);\nfor (const l of lines) {\n  const d = JSON.parse(l);\n  use(d.a);\n}\n", []),
        ("read(stdin);\nconst t = readFileSync(path);\nconst d = JSON.parse(t);\nuse(d.a);\n", []),
        ("process.stdin.resume();\nconst d = JSON.parse(readFileSync('x'));\nuse(d.a);\n", []),
        ("readStdin().then(raw => {\n  const d = JSON.parse(raw);\n  use(d.a || d.b);\n});\n", ["a|b"]),
        ("const d = JSON.parse(read(stdin));\nd.a = 1;\nuse(d.b.trim(), d.c.length);\n", ["b", "c"]),
    ],
)  # fmt: skip
def test_reads_of_javascript(text, found):
    """Followed are the parsed input, patterns that take it apart, its parts, and parameters."""
    assert words(javascript_reads(text)) == found


@pytest.fixture
def wrong_keys(tmp_path):
    """The wrong keys of a script, in words."""

    def read(text, event, *, matcher=None, host="claude-code", script="hook.py", start=""):
        at, top = {
            "claude-code": (".claude/settings.json", {}),
            "codex": (".codex/hooks.json", {}),
            "cursor": (".cursor/hooks.json", {"version": 1}),
            "copilot-cli": (".github/hooks/hooks.json", {"version": 1}),
            "gemini-cli": (".gemini/settings.json", {}),
        }[host]
        command = f"{start}{'python3' if script.endswith('py') else 'bash'} ./{script}"
        entry = {"type": "command", "command": command, **({"bash": command} if top else {})}
        hooks = [entry] if top else [{"hooks": [entry], **({"matcher": matcher} if matcher else {})}]
        (tmp_path / script).write_text(text)
        (tmp_path / at).parent.mkdir(parents=True)
        (tmp_path / at).write_text(json.dumps({**top, "hooks": {event: hooks}}))
        (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == host]
        symptoms = check_statically(hook_set).symptoms
        return [one.text for one in symptoms if "of its input" in one.text]

    return read


DATA = "import json, sys\nd = json.load(sys.stdin)\n"


@pytest.mark.parametrize(
    ("event", "expression", "said"),
    [
        ("TaskCompleted", "(d['tool_input'] or {}).get('title')", "`tool_input.title` of its input, and "),
        ("TaskCreated", "d.get('tool_input', {}).get('title')", "claude-code sends `task_subject`"),
        ("SubagentStart", "d.get('agentType')", "sends `agent_type`"),
        ("StopFailure", "d.get('error_type')", "sends `error`"),
        ("StopFailure", "d.get('error_message')", "sends `error_details`"),
        ("TaskCreated", "d.get('description')", "sends `task_description`"),
        ("PostToolUseFailure", "d['error']['message']", "sends `error` as text"),
        ("Stop", "d.get('conversation_history', [])", "sends `transcript_path`"),
        ("SubagentStop", "d.get('usage', {}).get('tokens')", "sends `agent_transcript_path`"),
        ("UserPromptSubmit", "d.get('user_prompt')", "sends `prompt`"),
        ("PreToolUse", "d.get('command')", "sends `tool_input`"),
        ("Stop", "d.get('response') or d.get('message')", "sends `last_assistant_message`"),
        ("SubagentStop", "d.get('output')", "sends `last_assistant_message`"),
        ("Stop", "d.get('response') or d['last_assistant_message']", ""),
        ("SessionEnd", "d.get('message')", ""),
        ("UserPromptSubmit", "d.get('user_prompt', d.get('prompt'))", ""),
        ("Stop", "d.get('messages') or open(d['transcript_path'])", ""),
        ("PostToolUseFailure", "d['error'] if isinstance(d['error'], str) else d['error']['message']", ""),
        ("Notification", "d.get('user_prompt')", ""),
        ("Stop", "d.get('usage') if CODEX else 0", ""),
    ],
)  # fmt: skip
def test_a_key_that_means_another(wrong_keys, event, expression, said):
    """A key is named with the one that the host sends at this event, if the script reads that nowhere."""
    found = wrong_keys(f"{DATA}print({expression})\n", event)
    assert bool(found) is bool(said)
    assert said in "".join(found)


@pytest.mark.parametrize(
    ("matcher", "expression", "named"),
    [
        ("Bash", "d['tool_response'].get('exit_code')", True),
        ("Bash", "d['tool_response'].get('exit_code') or d['tool_response']['stderr']", False),
        ("Bash", "d['tool_response'].get('output')", True),
        ("Bash", "d['tool_response'].get('output') or d['tool_response'].get('stdout')", False),
        ("Bash|Task", "d['tool_response'].get('output')", False),
        ("Task", "d['tool_response'].get('status')", False),
        ("Write|Edit", "d['tool_input'].get('newContent')", True),
        ("Write|Edit", "d['tool_input'].get('filepath')", True),
        ("Write|Edit", "d['tool_input'].get('filepath') or d['tool_input'].get('file_path')", False),
        ("Write|Edit", "d['tool_input'].get('newContent') or d['tool_input'].get('content')", False),
        ("NotebookEdit", "d['tool_input'].get('new_source')", False),
        ("mcp__slack__post_message", "d['tool_input'].get('text')", False),
        ("", "d['tool_name'][:5] == 'mcp__' and d['tool_input'].get('filename')", False),
    ],
)
def test_a_key_of_a_tool(wrong_keys, matcher, expression, named):
    """A key below the tool's input or result is named if the tools of the hook are known not to have it."""
    assert bool(wrong_keys(f"{DATA}print({expression})\n", "PostToolUse", matcher=matcher)) is named


@pytest.mark.parametrize(
    ("event", "matcher", "read", "named"),
    [
        ("PreToolUse", "Write|NotebookEdit", "", True),
        ("PreToolUse", "Write|Edit", "", False),
        ("PreToolUse", "Write|NotebookEdit", "F=$(jq -r .tool_input.notebook_path <<<$IN)", False),
        ("PostToolUse", "Write|NotebookEdit", "", False),
        ("PostToolUse", "Write|NotebookEdit", '[ -z "$F" ] && exit 0', False),
        ("PostToolUse", "Write|NotebookEdit", 'FILE=$F; if [[ -z "$FILE" ]]; then exit 0; fi', True),
        ("PostToolUse", "Write|Edit", 'FILE=$F; if [[ -z "$FILE" ]]; then exit 0; fi', False),
        (
            "PostToolUse",
            "Write|NotebookEdit",
            '[ $T = NotebookEdit ] && exit 0; [ -z "$FILE" ] && exit 0',
            False,
        ),
        ("PostToolUse", "Write|NotebookEdit", '[[ -z "$PROFILE" ]] && exit 0', False),
        (
            "PostToolUse",
            "Write|NotebookEdit",
            '[[ -z "$FILE" ]] && exit 0; case $FILE in *.py) ;; esac',
            False,
        ),
        ("PreToolUse", "Write|NotebookEdit", "case $T in\n  NotebookEdit) exit 2 ;;\nesac", False),
    ],
)
def test_a_guard_of_notebooks(wrong_keys, event, matcher, read, named):
    """A guard of notebooks that knows the paths of files alone is named, also if it serves Codex."""
    text = f"IN=$(cat)\nF=$(jq -r .tool_input.file_path <<<$IN)\n{read}\n[ $F = /codex ] && exit 2\n"
    found = wrong_keys(f"#!/bin/bash\n{text}", event, matcher=matcher, script="hook.sh")
    assert ["`notebook_path` for NotebookEdit" in one for one in found] == [True] * named


def test_a_result_that_is_text(wrong_keys):
    """Codex sends the result of a tool as text, so no key is below it."""
    (text,) = wrong_keys(f"{DATA}print(d['tool_response']['exit_code'])\n", "PostToolUse", host="codex")
    assert "reads `tool_response.exit_code` of its input, and codex sends `tool_response` as text" in text


def test_a_key_that_a_function_gets(wrong_keys):
    """Cursor sends the command of a tool in its input, also for a function that gets the key."""
    text = (
        'field() {\n  local json="$1" key="$2"\n  echo "$json" | jq -r ".$key // empty"\n}\n'
        'IN=$(cat)\nCMD=$(field "$IN" "command")\n[ "$CMD" = x ] && exit 2\n'
    )
    (found,) = wrong_keys(f"#!/bin/bash\n{text}", "preToolUse", host="cursor", script="hook.sh")
    assert "reads `command` of its input, and cursor sends `tool_input`" in found


def test_the_keys_of_another_host(wrong_keys):
    """The tools of Copilot name what they write otherwise."""
    text = 'IN=$(cat)\nARGS=$(jq -r .toolArgs <<<"$IN")\nT=$(jq -r \'.content\' <<<"$ARGS")\necho $T\n'
    (found,) = wrong_keys(f"#!/bin/bash\n{text}", "preToolUse", host="copilot-cli", script="hook.sh")
    assert "sends `file_text` and `new_str`" in found


@pytest.mark.parametrize(
    ("host", "event", "expression", "said"),
    [
        ("copilot-cli", "sessionEnd", "d.get('session_id', '')", "copilot-cli sends `sessionId`"),
        ("copilot-cli", "sessionEnd", "d.get('session_id') or d.get('sessionId')", ""),
        ("copilot-cli", "SessionEnd", "d.get('session_id')", ""),
        ("cursor", "sessionEnd", "d.get('status', 'unknown')", "cursor sends `reason`"),
        ("cursor", "stop", "d.get('status')", ""),
        ("cursor", "sessionEnd", "d.get('status') or d.get('reason')", ""),
        ("cursor", "subagentStart", "d.get('agent_name')", "cursor sends `subagent_type`"),
        ("cursor", "subagentStart", "d.get('agent_name') or d.get('subagent_type')", ""),
        ("cursor", "postToolUseFailure", "d.get('error')", "cursor sends `error_message`"),
        ("cursor", "afterFileEdit", "d.get('hookEvent') or d.get('event')", "cursor sends `hook_event_name`"),
        ("cursor", "afterFileEdit", "d.get('path')", "cursor sends `file_path`"),
        ("cursor", "afterFileEdit", "d.get('path') or d.get('file_path')", ""),
        ("cursor", "afterFileEdit", "d.get('event') or d.get('hook_event_name')", ""),
        ("gemini-cli", "AfterModel", "d['request'], d['response']", "sends `llm_request`, `llm_response`"),
        ("gemini-cli", "AfterModel", "d.get('llm_request') or d['request']", ""),
        ("gemini-cli", "AfterAgent", "d['prompt_response']", ""),
        ("gemini-cli", "BeforeTool", "d['tool_input'].get('path')", ""),
        ("cursor", "beforeMCPExecution", "json.loads(d['tool_input']).get('filename')", ""),
    ],
)  # fmt: skip
def test_a_key_at_another_host(wrong_keys, host, event, expression, said):
    """A key of other hosts, or of other events, is named with the one that this host sends at the event."""
    found = wrong_keys(f"{DATA}print({expression})\n", event, host=host)
    assert bool(found) is bool(said)
    assert said in "".join(found)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("d.get('session_id') or d.get('conversation_id')", True),
        ("d.get('session_id') or d.get('conversation_id') or d.get('sessionId')", False),
        ("d.get('conversation_id') if CURSOR else ''", False),
        ("d.get('conversation_id') or d.get('generation_id')", False),
    ],
)
def test_keys_for_all_hosts(wrong_keys, expression, named):
    """In a script for several hosts a value that is looked for in the words of some lacks at another host."""
    text = f"{DATA}HOSTS = 'claude', 'cursor', 'copilot'\nprint({expression})\n"
    assert bool(wrong_keys(text, "sessionEnd", host="copilot-cli")) is named


@pytest.mark.parametrize(
    ("test", "read", "named"),
    [
        ("tool == 'gemini'", "d['response']", True),
        ("tool == 'claude'", "d['response']", False),
        ("tool == 'gemini' and old", "d['response']", False),
        ("tool == 'gemini'", "d.get('response') or d['llm_response']", False),
    ],
)
def test_a_branch_for_one_host(wrong_keys, test, read, named):
    """In a script for several hosts the branch for this host is judged."""
    text = f"{DATA}TOOLS = 'gemini', 'claude'\nif {test}:\n    print({read})\n"
    assert bool(wrong_keys(text, "AfterModel", host="gemini-cli")) is named


def test_a_script_that_another_one_starts(tmp_path, wrong_keys):
    """Of two scripts in a command the one that reads the input is judged."""
    (tmp_path / "run.sh").write_text('#!/bin/sh\nexec "$@"\n')
    (found,) = wrong_keys(f"{DATA}print(d.get('user_prompt'))\n", "UserPromptSubmit", start="sh ./run.sh ")
    assert "reads `user_prompt` of its input, and claude-code sends `prompt`" in found


@pytest.mark.parametrize(
    ("command", "script", "named"),
    [
        ("bash -c 'C=$(jq -r .command); [ -z \"$C\" ] || bash ./hook.sh'", "", True),
        ("bash -c 'C=$(jq -r .tool_input.command); [ -z \"$C\" ] || bash ./hook.sh'", "", False),
        ("jq -c .tool_input | bash ./hook.sh", "C=$(jq -r .command)\necho $C\n", False),
    ],
)
def test_what_a_command_reads(tmp_path, command, script, named):
    """The command is read as a script is; what a script gets from it is no input of a hook."""
    (tmp_path / "hook.sh").write_text(f"#!/bin/bash\n{script}")
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    found = [one for one in check_statically(hook_set).symptoms if "reads `command` of its input" in one.text]
    assert len(found) == named


def test_one_command_at_two_events(tmp_path):
    """Only the entry is named at whose event the key is not sent."""
    (tmp_path / "hook.py").write_text(f"{DATA}print(d.get('user_prompt'))\n")
    entry = {"hooks": [{"type": "command", "command": "python3 ./hook.py"}]}
    (tmp_path / ".claude").mkdir()
    settings = {"hooks": {"SessionEnd": [entry], "UserPromptSubmit": [entry]}}
    (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
    (hook_set,) = find_hook_sets(tmp_path)
    (found,) = [one for one in check_statically(hook_set).symptoms if "of its input" in one.text]
    assert found.entries == (2,)


@pytest.mark.parametrize(("other", "named"), [("statusline", False), ("stats", True)])
def test_a_script_that_prints_the_status_line_too(wrong_keys, other, named):
    """What the host sends to the program of its status line is no key that a hook reads in vain."""
    text = f"{DATA}import sys\nif sys.argv[1] == '{other}':\n    print(d['context_window'])\n"
    assert bool(wrong_keys(text, "Stop")) is named
