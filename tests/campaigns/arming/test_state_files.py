"""Claims about the state files that a hook may wait for: which they are, and what stands in them."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pytest_hookharness.campaigns.arming.state_examples import examples
from pytest_hookharness.campaigns.arming.state_files import state_files
from pytest_hookharness.campaigns.arming.state_paths import looked_for, scripts

SHELL = """F=.claude/loop.json
[ -f "$F" ] || exit 0
[ "$(jq -r .active "$F")" = "true" ] || exit 0
I=$(jq -r .iteration "$F"); M=$(jq -r .max_iterations "$F")
[ "$I" -ge "$M" ] && exit 0
echo "Go on." >&2; exit 2
"""
COMMAND = """Create `.claude/loop.json`:

```json
{
  "active": true,
  "task": "$ARGUMENTS",
  "iteration": 1,
  "max_iterations": 50,
  "session_id": "<your session>",
  "started_at": "2025-01-01T00:00:00Z"
}
```

When all is done, delete `.claude/loop.json`:

```json
{"active": false, "iteration": 9, "max_iterations": 50}
```
"""


def states(hook_set):
    """Return the state files for all scripts of a hook set."""
    return state_files(hook_set, scripts(hook_set))


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.sh", 'S="$CLAUDE_PROJECT_DIR/.claude/x.md"\n[ -f "$S" ]\n', [".claude/x.md"]),
        ("a.sh", 'D="${CWD}/.loop"\ncat "$D/state.json"\n', [".loop/state.json"]),
        ("a.sh", "[ -f .claude/on ] || exit 0\n", [".claude/on"]),
        ("a.sh", 'A=".run/active"\nif [ -f "$A" ]; then exit 2; fi\n', [".run/active"]),
        ("a.sh", 'cat "$HOME/.x/state.json" "${CLAUDE_PLUGIN_ROOT}/state.json" ~/.y/z.json\n', []),
        ("a.sh", 'D=".run/$NAME"\ncat "$D/state.json"\n', []),
        ("a.sh", 'echo "Read notes.md first"\n# cat notes.md\ncat .claude/settings.json\n', []),
        ("a.py", 'p = os.path.join(cwd, ".claude", "loop.json")\n', [".claude/loop.json"]),
        ("a.py", 'p = Path(cwd) / ".claude" / "loop.json"\n', [".claude/loop.json"]),
        ("a.py", 'DIR = ".claude"\np = os.path.join(DIR, "loop.json")\n', [".claude/loop.json"]),
        ("a.js", "const f = path.join(process.cwd(), '.claude', 'loop.json');\n", [".claude/loop.json"]),
        (
            "a.js",
            "const a = join(directory, '.omc');\nconst b = join(a, 'state');\nread(join(b, 'loop.json'));\n",
            [".omc/state/loop.json"],
        ),
        ("a.js", "function f(dir) { return join(dir, 'x', 'loop.json'); }\n", []),
        ("a.js", "const names = ['a.json', 'b.json'];\nconst ends = ['.json', '.md'];\n", []),
        ("a.js", "const f = path.join(os.homedir(), '.claude', 'loop.json');\n", []),
    ],
)
def test_what_a_hook_looks_for(plugin, name, text, found):
    """The files are those in the project that the source names and that are not there."""
    hook_set = plugin(f"run ${{CLAUDE_PLUGIN_ROOT}}/hooks/{name}", **{f"hooks/{name}": text})
    (script,) = scripts(hook_set)
    assert looked_for(hook_set, script) == found


@pytest.mark.parametrize(
    ("folder", "own"), [(".venv/", False), ("node_modules/", False), (".git/", False), ("docs/", True)]
)
def test_documents_of_packages_hold_no_examples(plugin, folder, own):
    """What the document of an installed package tells to write is no example of the project."""
    hook_set = plugin(**{f"{folder}made/up/start.md": COMMAND})
    assert bool(examples(hook_set)) == own


def test_what_the_kernel_saw_comes_first(plugin):
    """A path that a hook was seen to look for counts if the source has its name, whatever it is made of."""
    text = 'cat "$(dirs_of x)/loop-$SESSION.json"\ngit diff --quiet HEAD; git log ORIG_HEAD\n'
    hook_set = plugin(**{"hooks/stop.sh": text})
    seen = (".claude/loop-{{session_id}}.json", "other.json", ".git/HEAD", "HEAD", "ORIG_HEAD")
    (script,) = scripts(hook_set)
    assert looked_for(replace(hook_set, looked_for=seen), script) == [".claude/loop-{{session_id}}.json"]


def test_what_a_script_loads_belongs_to_it(plugin):
    """The fields that a sourced file reads are those of the hook."""
    files = {"hooks/stop.sh": ". ./lib/state.sh\n", "lib/state.sh": "[ -f .loop/on.json ]\n"}
    (script,) = scripts(plugin(**files))
    assert "[ -f .loop/on.json ]" in script.text


def test_an_example_of_a_command(plugin):
    """Placeholders are filled in; the limit is near, the time is now, and the session is the own one."""
    first = states(plugin(**{"hooks/stop.sh": SHELL, "commands/start.md": COMMAND}))[0]
    state = json.loads(first.files[".claude/loop.json"])
    assert state.pop("started_at").startswith("20")
    assert state == {
        "active": True,
        "task": "Please do the work.",
        "iteration": 1,
        "max_iterations": 3,
        "session_id": "{{session_id}}",
    }
    assert first.verbatim
    assert first.title.startswith('.claude/loop.json: {"active": true, "task": "Please do the work."')
    assert first.title.endswith("as commands/start.md says")
    assert json.loads(first.finished[".claude/loop.json"])["active"] is False


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Create `.claude/loop.json` with: active=true, iteration=1, max_iterations=9\n", "commands/a.md"),
        ('Write `.claude/loop.json` with `{"active": true, "iteration": 1}`.\n', "commands/a.md"),
        ('```bash\necho \'{"active": true, "iteration": 1}\' > .claude/loop.json\n```\n', "commands/a.md"),
        (
            '```bash\ncat > .claude/loop.json <<END\n{"active": true, "iteration": 1}\nEND\n```\n',
            "commands/a.md",
        ),
        ("Write `.claude/loop.json` with:\n- `active`: true\n- `iteration`: 1\n", "commands/a.md"),
        (
            'Its state:\n\n```json\n{"active": true, "iteration": 1, "max_iterations": 2}\n```\n',
            "commands/a.md",
        ),
        ("Delete `other.json`.\n", "hooks/stop.sh"),
    ],
)
def test_how_a_document_says_it(plugin, said, expected):
    """A block, a heredoc, a redirection, code, pairs or a list say what a file has; else the source does."""
    first = states(plugin(**{"hooks/stop.sh": SHELL, "commands/a.md": said}))[0]
    state = json.loads(first.files[".claude/loop.json"])
    assert (state["active"], state["iteration"]) == (True, 1)
    assert expected in first.origin


def test_a_placeholder_with_alternatives(plugin):
    """Of alternatives that one is chosen for which the hook goes on; a path leads to a list of tasks."""
    hook = 'F=.claude/run.local.md\nM=$(grep "^mode:" "$F")\n[[ "$M" != "auto" ]] && exit 0\nexit 2\n'
    text = "Write `.claude/run.local.md`:\n\n```\n---\nmode: {manual or auto}\nend: {time or null}\n"
    text += "tasks_file: {path}\n---\n```\n\nAnd `.claude/tasks.md`:\n\n```markdown\n- [ ] {a task}\n```\n"
    first = states(plugin(**{"hooks/stop.sh": hook, "skills/x/SKILL.md": text}))[0]
    assert first.files == {
        ".claude/run.local.md": "---\nmode: auto\nend: null\ntasks_file: .claude/tasks.md\n---\n",
        ".claude/tasks.md": "# Tasks\n\n- [ ] Please do the work.\n",
    }
    assert first.finished == {".claude/tasks.md": "# Tasks\n\n- [x] Please do the work.\n"}


def test_a_checklist(plugin):
    """A list of tasks in which a hook looks for open ones has one."""
    hook = "if grep -q '^- \\[ \\]' TODO.md; then echo 'Finish TODO.md' >&2; exit 2; fi\n"
    (found,) = states(plugin(**{"hooks/stop.sh": hook}))
    assert found.files == {"TODO.md": "# Tasks\n\n- [ ] Please do the work.\n"}
    assert found.origin == "as hooks/stop.sh reads it"


def test_fields_of_the_source(plugin):
    """Without an example the file has what the hook compares, in the form that its name asks for."""
    hook = 'F=.loop.md\nA=$(sed -n "s/^active: //p" "$F")\n[ "$A" = true ] || exit 0\nexit 2\n'
    (found,) = states(plugin(**{"hooks/stop.sh": hook}))
    assert found.files == {".loop.md": "---\nactive: true\n---\n\nPlease do the work.\n"}


@pytest.mark.parametrize(
    ("hook", "ticks"),
    [
        ("#!/bin/sh\nT=$(jq -r '.startTime // 0' .claude/loop.json)\n[ $(( $(date +%s) - T )) -ge 9 ]\n", 1),
        (
            "const s = JSON.parse(read('.claude/loop.json'));\nx = Date.now() - s.startTime;\n",
            1000,
        ),
        ("s = json.load(open('.claude/loop.json'))\nage = parse(s['startTime'])\n", 0),
    ],
)
def test_a_time_that_a_hook_reads(plugin, hook, ticks):
    """A state says that its loop has just begun, as a number where the hook calculates with it."""
    suffix = "js" if "JSON" in hook else "py" if "json.load" in hook else "sh"
    hook_set = plugin(f"node ${{CLAUDE_PLUGIN_ROOT}}/stop.{suffix}", **{f"stop.{suffix}": hook})
    time = json.loads(states(hook_set)[0].files[".claude/loop.json"])["startTime"]
    if ticks:
        assert abs(datetime.now(UTC).timestamp() - time / ticks) < 1000
    else:
        assert datetime.fromisoformat(time).tzinfo is not None


def test_files_that_end_a_loop_are_none(plugin):
    """A file whose name says that it ends or configures something is not tried."""
    assert states(plugin(**{"hooks/stop.sh": "[ -f .claude/stop-loop ] && exit 0\n"})) == []


def test_examples_about_the_end(plugin):
    """An example behind words about an end is known as such."""
    hook_set = plugin(**{"hooks/stop.sh": SHELL, "commands/start.md": COMMAND})
    found = [(one.ending, '"iteration": 9' in one.text) for one in examples(hook_set) if one.text]
    assert (True, True) in found
    assert (False, True) not in found
