"""Claims about scripts that write files by relative paths."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.relative_files import relative_file
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


def found(text, command="bash x.sh", host="claude-code", event="PostToolUse", matcher=None):
    """The file that is named for a hook with one script."""
    hook = Hook(event=event, command=command, matcher=matcher)
    sources = (("x.sh", text),)
    return relative_file(
        HookSet(host=host, root=Path(__file__).parent, files=(), hooks=(hook,), sources=sources), hook
    )


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nCOUNT=".run/count"\necho 1 > "$COUNT"\n',
        "#!/bin/sh\necho done >>.run/count\n",
        "#!/bin/sh\nmkdir -p .run; date | tee -a .run/count\n",
        '#!/bin/sh\nHERE="$(cd "$(dirname "$0")" && pwd)"\nF=.run/count\nif [ ! -f "$F" ]; then exit 0; fi\n',
        "#!/bin/bash\n[[ -s .run/count ]] || exit 0\n",
        "#!/usr/bin/env bash\nreadonly FLAG=.run/count\n[ -f .x ] || touch ${FLAG}\n",
        "#!/bin/bash\nF=.run/count\nread -r seen < ${F}\nif (( seen > most/2 )); then echo 1 > $F; fi\n",
        '#!/bin/bash\nLOG=.run/log\nF=.run/count\necho x >> "$LOG"\nif [ ! -f "$F" ]; then exit 0; fi\n',
        "#!/bin/bash\n[[ $1 == x && ! -e .run/count ]] && exit 0\n",
        "#!/bin/bash\nif test -f .run/count; then exit 0; fi\n",
    ],
)
def test_files_in_the_current_folder(text):
    """A file that a shell script writes by a relative path is named, unless something changes the folder."""
    assert found(text) == ".run/count"
    assert not found(text, 'cd "$CLAUDE_PROJECT_DIR" && bash x.sh')
    first, _, rest = text.partition("\n")
    assert not found(f'{first}\ncd "$CLAUDE_PROJECT_DIR" || exit 0\n{rest}')
    assert not found(f"{first}\n. ./lib.sh\n{rest}")


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("bash x.sh --init", False),
        ('bash "$ROOT"/x.sh" --init 2>/dev/null', False),
        ("bash x.sh start", False),
        ("bash x.sh", True),
        ("bash x.sh other", True),
        ("bash x.sh || start", True),
    ],
)
def test_a_script_with_several_tasks(command, named):
    """Of a script that compares its argument, it is not known whether the hook comes to the file."""
    text = '#!/bin/bash\nif [ "$1" = "--init" ]; then exit 0; fi\ncase $1 in start|stop) exit 0;; esac\n'
    assert bool(found(f"{text}date > .run/count\n", command)) is named


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("if [ ! -d .run ]; then exit 2; fi", ".run"),
        ("LAST=$(ls -1t .run/*/state.json 2>/dev/null | head -1)", ".run/*/state.json"),
        ("[ -d .git ] || exit 0", ""),
        ("[ -d src ] || exit 0", ""),
        ("git ls-files .run/x; ls src/*.py; echo 'ls .run/x'", ""),
    ],
)
def test_hidden_folders(code, named):
    """A hidden folder that a script looks for, or whose files it lists, is named; one of a tool is not."""
    assert found(f"#!/bin/bash\n{code}\n") == named


def test_a_folder_that_python_makes():
    """A folder that a Python script makes below the current one is named."""
    text = "from pathlib import Path\nlogs = Path.cwd() / 'logs'\nlogs.mkdir(exist_ok=True)\n"
    assert found(text) == "logs"
    # An option of a Python script seldom chooses another part of it.
    assert found(f"{text}parser.add_argument('--notify')\n", "python3 x.sh --notify") == "logs"
    assert not found(f"import os\nos.chdir('/')\n{text}")
    assert not found("from pathlib import Path\nenv = Path.cwd() / '.env'\nprint(env.read_text())\n")


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("logs = Path('.run/logs')\nlogs.mkdir(exist_ok=True)\n", ".run/logs"),
        ("def end():\n    logs = Path('logs') / 'stops'\n    logs.mkdir()\n", "logs"),
        ("FLAG: Path = Path('.run.flag')\nif FLAG.exists():\n    FLAG.unlink()\nFLAG.touch()\n", ".run.flag"),
        # It is only read, or stands elsewhere, or is that of another program.
        ("logs = Path('logs')\nprint(logs.exists())\n", ""),
        ("logs = Path('/tmp/logs')\nlogs.mkdir()\n", ""),
        ("logs = Path('~/logs').expanduser()\nlogs.mkdir()\n", ""),
        ("logs = Path(__file__).parent / 'logs'\nlogs.mkdir()\n", ""),
        ("logs = Path('.pytest_cache')\nlogs.mkdir()\n", ""),
        ("logs = Path('logs')\n(root / logs).mkdir()\n", ""),
        # Another value or folder may be meant.
        ("logs = Path('logs')\nif root:\n    logs = root / 'logs'\nlogs.mkdir()\n", ""),
        ("logs = Path('logs')\nos.chdir(root)\nlogs.mkdir()\n", ""),
        ("logs = Path('logs')\nroot = os.environ['CLAUDE_PROJECT_DIR']\nlogs.mkdir()\n", ""),
        ("logs = Path('logs')\ndef make(logs):\n    logs.mkdir()\n", ""),
        ("logs = Path('logs')\nfor logs in map(Path, sys.argv[1:]):\n    logs.mkdir()\n", ""),
        ("logs = Path('logs')\nwith new_folder() as logs:\n    logs.touch()\n", ""),
        ("logs = Path('logs')\nif (logs := find()):\n    logs.mkdir()\n", ""),
        ("logs = Path('logs')\nroot, logs = find()\nlogs.mkdir()\n", ""),
        (
            "class Run:\n    logs = Path('logs')\n    def go(self):\n        go(self.logs)\nlogs.mkdir()\n",
            "",
        ),
        ("logs = Path('logs') / ROOT\nlogs.mkdir()\n", ""),
        ("logs = Path('logs')\nos.fchdir(3)\nlogs.mkdir()\n", ""),
        # It is there only while the script runs, or belongs to another program.
        ("lock = Path('run.lock')\nlock.mkdir()\nlock.rmdir()\n", ""),
        ("cache = Path('node_modules') / '.cache'\ncache.mkdir()\n", ""),
    ],
)
def test_paths_that_python_makes_or_writes(text, file):
    """A relative path that a Python script makes or writes is named, if it has no other value."""
    assert found(f"from pathlib import Path\n{text}") == file


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nCOUNT="$CLAUDE_PROJECT_DIR/.run/count"\necho 1 > "$COUNT"\n',
        '#!/bin/bash\nCOUNT=.run/count\n[ -n "$1" ] && \nCOUNT="$1"\necho 1 > "$COUNT"\n',
        "#!/bin/bash\nCOUNT=.run/count\ncat < $COUNT >&2\n",
        "#!/bin/bash\n[ -f node_modules/.bin/eslint ] || exit 0\n",
        '#!/bin/bash\nTOOL=src/main.ts\n[ -f "$TOOL" ] || exit 0\n',
        "#!/bin/bash\necho 1 > /dev/null 2> /tmp/log/x\n",
        "#!/bin/bash\necho 'text > .run/count'\n# date > .run/count\n",
        '#!/bin/bash\necho 1 > "$HOME"/.run/count\n',
        "#!/bin/bash\nif (( $(f $(g)) && used > limit/2 )); then exit 2; fi\n",
        "#!/bin/bash\nhalf=$(( used >> limit/2 ))\n",
        "#!/bin/bash\n[[ $a > b/c &&\n $b > b/c ]] && exit 2\n",
        "#!/bin/bash\nif git diff --name-only | grep -q -e .github/workflows; then exit 2; fi\n",
        "#!/bin/bash\ngrep -a -e .github/workflows all.txt\n",
        '#!/bin/bash\ngit -C "$CLAUDE_PROJECT_DIR" ls-files -s .husky/pre-commit\n',
        "#!/bin/bash\njq -e .tool_input/x && npm test -f .run/count\n",
        '#!/bin/bash\nF=.run/count\ngit ls-files -s "$F"\n',
        '#!/bin/bash\ncat >"$ROOT"/x.sh <<\'END\'\nF=.run/count\necho 1 >"$F"\nEND\n',
        '#!/bin/bash\nF=.run/count\n# echo 1 >"$F"\necho "see >$F"\n',
        '#!/bin/bash\nF=.run/count\n[ -n "$1" ] && F="$1"\necho 1 >"$F"\n',
        '#!/bin/bash\nF=.run/count\nread -r F < "$1"\necho 1 >"$F"\n',
        "#!/bin/bash\necho to see it: [ -f .run/count ]\n",
        '#!/bin/bash\nF=.run/count\nW=".run/count"\nprintf "%b" "$W: [ -f .run/count ]"\necho "$F"\n',
        "#!/bin/bash\ncat <<END\ntest -f .run/count\necho 1 > .run/count\nEND\n",
    ],
)
def test_files_elsewhere(text):
    """Files of other folders, and files that are only read, are not named."""
    assert not found(text)


@pytest.mark.parametrize(
    "move",
    [
        'if ! cd "$CLAUDE_PROJECT_DIR"; then exit 0; fi',
        'if cd "$CLAUDE_PROJECT_DIR"; then :; fi',
        'while ! cd "$CLAUDE_PROJECT_DIR"; do :; done',
        'CDPATH= cd -- "$CLAUDE_PROJECT_DIR"',
        'builtin cd "$CLAUDE_PROJECT_DIR"',
        'time cd "$CLAUDE_PROJECT_DIR"',
        'case "$1" in\n  *) cd "$CLAUDE_PROJECT_DIR" ;;\nesac',
        'eval "cd $CLAUDE_PROJECT_DIR"',
        'pushd "$CLAUDE_PROJECT_DIR" >/dev/null',
    ],
)
def test_scripts_that_change_the_folder(move):
    """A script that changes its folder is not named, wherever the call stands."""
    assert not found(f"#!/bin/bash\n{move}\necho 1 >.run/count\n")
    assert found("#!/bin/bash\nabcd x --cd=y cd.txt\necho 1 >.run/count\n") == ".run/count"


@pytest.mark.parametrize(
    ("event", "matcher", "named"),
    [
        ("SessionStart", "startup", False),
        ("SessionStart", "^startup$", False),
        ("SessionStart", "startup|resume", False),
        ("Setup", None, False),
        ("SessionStart", "startup|clear", True),
        ("SessionStart", None, True),
        ("Stop", "startup", True),
    ],
)
def test_events_before_the_agent_works(event, matcher, named):
    """A hook that runs only before the agent can leave its first folder is not named."""
    assert bool(found("#!/bin/bash\necho 1 >.run/count\n", event=event, matcher=matcher)) is named


@pytest.mark.parametrize(("loaded", "named"), [("say() { echo; }\n", True), ('cd "$1" || exit 0\n', False)])
def test_scripts_that_load_others(plugin, loaded, named):
    """A script that loads another one is named only if that one stays in the folder too."""
    text = '#!/bin/bash\n. "${CLAUDE_PLUGIN_ROOT}/lib.sh"\n[ -f .run/count ] && exit 2\n'
    hook_set = plugin(
        'bash "${CLAUDE_PLUGIN_ROOT}"/x.sh', **{"x.sh": text, "lib.sh": f"#!/bin/bash\n{loaded}"}
    )
    assert bool(relative_file(hook_set, hook_set.hooks[0])) is named


@pytest.mark.slow
def test_long_empty_parts():
    """Empty lines do not make the reading of a script endless."""
    assert found("#!/bin/bash\n" + "\n" * 300_000 + "F=.run/count\necho 1 >$F\n") == ".run/count"


@pytest.mark.parametrize(
    ("text", "seen", "named"),
    [
        ("const F = join(input.cwd, '.run', 'loop.json')", (".run/loop.json", "node x.sh"), ".run/loop.json"),
        ("F=.run/$1-$ID.json", (".run/loop-{{session_id}}.json", "node x.sh"), ""),
        ("F=.run/loop-$ID", (".run/loop-{{session_id}}", "/bin/sh -c node x.sh"), ".run/loop-SESSION_ID"),
        # What a program of the hook looks for, and what another hook does.
        ("run('tool')", (".run/loop.json", "node x.sh"), ""),
        ("const F = join(input.cwd, '.run', 'loop.json')", (".run/loop.json", "node y.sh"), ""),
    ],
)
def test_files_that_were_seen_where_the_agent_works(tmp_path, text, seen, named):
    """A file that a hook was seen to use where the agent works is named if the hook names it too."""
    (tmp_path / "x.sh").write_text(f"#!/usr/bin/env node\n{text}\n")
    hook = Hook(event="Stop", command="node x.sh")
    sources = (("x.sh", (tmp_path / "x.sh").read_text()),)
    hook_set = HookSet(
        host="claude-code", root=tmp_path, files=(), hooks=(hook,), sources=sources, aside=(seen,)
    )
    assert relative_file(hook_set, hook) == named


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ('#!/bin/bash\nif [ ! -f "CLAUDE.md" ]; then exit 0; fi\n', "CLAUDE.md"),
        ("#!/bin/sh\n[ -f ./package.json ] && npm test\n", "package.json"),
        ("#!/bin/bash\nif [[ -f Cargo.toml ]]; then cargo fmt; fi\n", "Cargo.toml"),
        ("from pathlib import Path\nif Path('pyproject.toml').exists():\n    check()\n", "pyproject.toml"),
        ('import os\nif os.path.exists("package.json"):\n    check()\n', "package.json"),
        ('#!/bin/bash\n[ -f "$ROOT/package.json" ] && npm test\n', ""),
        ('#!/bin/bash\n[ -f "web/package.json" ] && npm test\n', ""),
        ("#!/bin/bash\necho 'if [ -f package.json ]'\n", ""),
        ("#!/bin/bash\n[ -f notes.txt ] && cat notes.txt\n", ""),
        ("from pathlib import Path\nif (Path(cwd) / 'pyproject.toml').exists():\n    check()\n", ""),
        ("from pathlib import Path\np = root / Path('package.json')\n", ""),
        ("from pathlib import Path\nfor d in [Path('CLAUDE.md')]:\n    (root / d).read_text()\n", ""),
        ('#!/bin/bash\n[ -f "$ROOT/package.json" ] || [ -f package.json ] && npm test\n', ""),
        ("#!/bin/bash\nR=$(git rev-parse --show-toplevel)\n[ -f package.json ] && R=.\n", ""),
        ("import os\nos.chdir(root)\nif os.path.exists('package.json'):\n    check()\n", ""),
    ],
)
def test_files_that_are_in_the_project_only(text, file):
    """A file of the project's first folder that a script looks for where it starts is named."""
    assert found(text) == file


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nDIR="$(pwd)/.run"\n[[ -d "$DIR" ]] || exit 0\n',
        "#!/bin/bash\nDIR=${PWD}/.run\n[ -d $DIR ] || exit 0\n",
        'state = Path.cwd() / ".run" / "count"\n',
        'cwd = data.get("cwd") or os.getcwd()\nstate = os.path.join(cwd, ".run", "count")\n',
        'root: Path = Path(os.getcwd())\nstate = f"{root}/.run/count"\n',
        "const root = input.cwd ? resolve(String(input.cwd)) : process.cwd();\nread(join(root, '.run'));\n",
        "const state = path.join(process.cwd(), '.run', 'count');\n",
        "const dir = input.cwd || process.cwd();\nread(`${dir}/.run/count`);\n",
        "#!/bin/bash\nnode -e \"read(require('path').join(process.cwd(), '.run'))\"\n",
    ],
)
def test_state_in_a_hidden_folder_of_the_current_one(text):
    """State is named that a script joins to its current folder, also to the one that the host sends."""
    assert found(text) == ".run"


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nDIR="$(git rev-parse --show-toplevel)/.run"\n[[ -d "$DIR" ]] || exit 0\n',
        '#!/bin/bash\ncd "$CLAUDE_PROJECT_DIR"\nDIR="$(pwd)/.run"\n[[ -d "$DIR" ]] || exit 0\n',
        'root = os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()\nstate = os.path.join(root, ".run")\n',
        "const root = process.env.CLAUDE_PROJECT_DIR || process.cwd();\nread(join(root, '.run'));\n",
        'for folder in [Path.cwd(), *Path.cwd().parents]:\n    state = Path.cwd() / ".run"\n',
        'os.chdir(home)\nstate = Path.cwd() / ".run"\n',
        'cwd = Path.cwd()\ncwd = find(cwd)\nstate = cwd / ".run"\n',
        'state = Path.cwd() / "src"\n',
        'rc = Path(data["cwd"]) / ".nvmrc"\n',
        "#!/bin/bash\n[ -d .terraform ] || exit 0\n",
        "#!/bin/bash\n[ -f .venv/bin/activate ] || exit 2\n",
        '#!/bin/bash\n[[ "$PWD" == "$CLAUDE_PROJECT_DIR" ]] || exit 0\n[ -f .run/on ] || exit 0\n',
        '#!/bin/bash\n[ -n "$UP" ] || exec env -C "$TOP" UP=1 bash "$0"\n[ -f .run/on ] || exit 0\n',
        'root = Path.cwd()\ndef record(root):\n    return root / ".run"\n',
        "const cwd = input.cwd;\nfunction place(cwd) { return join(cwd, '.run'); }\n",
        'let top = process.cwd();\nwhile (up(top)) top = resolve(top, "..");\nread(join(top, ".run"));\n',
        '#!/bin/bash\npython3 - <<P\nimport os\nos.chdir("$R")\nx = os.getcwd() + "/.run"\nP\n',
        'env = Path.cwd() / ".env"\n',
        "const root = findUp(process.cwd());\nread(join(root, '.run'), process.cwd());\n",
        '# state = Path.cwd() / ".run"\nstate = Path.home() / ".run"\n',
    ],
)
def test_state_in_another_folder(text):
    """State in the project's folder, in one that the script looks for, and other files are left alone."""
    assert not found(text)


def test_a_path_in_a_loaded_file(tmp_path):
    """The relative path of a variable may stand in a file that the script loads."""
    (tmp_path / "state.sh").write_text("STATE=.run/count\n", "utf-8")
    text = '#!/bin/bash\nsource "$(dirname "$0")/state.sh"\n[[ -f "$STATE" ]] || exit 0\n'
    hook = Hook(event="Stop", command="bash x.sh")
    hook_set = HookSet(host="claude-code", root=tmp_path, files=(), hooks=(hook,), sources=(("x.sh", text),))

    assert relative_file(hook_set, hook) == ".run/count"
