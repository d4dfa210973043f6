"""Claims about Stop hooks that start a check of the project, which test doubles replace."""

import shutil
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.failing_gates import (
    find_gates,
    plan_failing_gates,
    with_succeeding_checks,
)
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event

GATE = """#!/bin/bash
{guard}
changed=$(git diff --name-only; git ls-files --others --exclude-standard)
echo "$changed" | grep -qE '\\.(ts|tsx)$' || exit 0
out=$(pnpm check 2>&1) || {{ echo "Fix this first: $out" >&2; exit 2; }}
"""
FLAG = """[ "$(jq -r .stop_hook_active)" = true ] && exit 0"""
OF_SCRIPTS = """import json, subprocess, sys
from pathlib import Path
package = Path("package.json")
scripts = json.loads(package.read_text())["scripts"] if package.exists() else {}
for name in ("lint", "test"):
    if name in scripts and subprocess.run(["npm", "run", name]).returncode:
        print(f"{name} fails.", file=sys.stderr)
        sys.exit(2)
"""
OF_MANIFEST = """import { execSync } from "node:child_process";
import { existsSync } from "node:fs";
if (existsSync("Cargo.toml")) {
  try { execSync("cargo test --quiet"); } catch { console.error("The tests fail."); process.exit(2); }
}
"""
OF_SOURCES = """#!/bin/bash
[ -f go.mod ] && exec "$(dirname "$0")/go-gate"
[ -f package.json ] || exit 0
CHECK_CMD="npm run check"
git status --porcelain -uall | grep -Ev '\\.(md|txt|json)$' | grep -q . || exit 0
eval "$CHECK_CMD" >&2 || exit 2
"""
OF_TARGETS = """#!/bin/sh
grep -q '^lint:' Makefile 2>/dev/null || exit 0
make lint >&2 || exit 2
"""
PYTHON = """import subprocess, sys
if subprocess.run(["npm", "test"], capture_output=True).returncode:
    print("The tests fail.", file=sys.stderr)
    sys.exit(2)
"""


@pytest.fixture
def gates(plugin, harness):
    """The sessions with failing checks that are kept for a Stop hook."""

    def make(name, program, text):
        hook_set = plugin(f'{program} "${{CLAUDE_PLUGIN_ROOT}}/{name}"', **{name: text})
        return find_gates(hook_set, hook_set.hooks, lambda sessions: [*map(played, sessions)])

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    return make


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "program", "text", "started"),
    [
        ("gate.sh", "bash", GATE.format(guard=""), ["pnpm"]),
        ("gate.py", "python3", PYTHON, ["npm"]),
    ],
)
def test_a_gate_whose_check_fails(gates, harness, name, program, text, started):
    """A stop is refused again and again while the check fails, whichever files the gate looks for."""
    (session,) = gates(name, program, text)
    assert [*session.scenario.commands] == started
    assert session.way_out == f"makes the hook's check succeed ({', '.join(started)})"
    outcome = play_session(session, harness.settings, harness.resources)
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "program", "text", "module"),
    [
        ("gate.py", "python3", PYTHON.replace('"npm", "test"', 'sys.executable, "-m", "pytest"'), "pytest"),
        ("gate.sh", "bash", GATE.format(guard="").replace("pnpm check", "python3 -m unittest"), "unittest"),
    ],
)
def test_a_gate_whose_check_is_a_module(gates, harness, name, program, text, module):
    """A module that Python is asked to run fails too, and Python itself runs the hook as before."""
    (session,) = gates(name, program, text)
    assert session.way_out == f"makes the hook's check succeed (python -m {module})"
    assert not session.scenario.commands
    outcome = play_session(session, harness.settings, harness.resources)
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "program", "text", "made"),
    [
        ("gate.py", "python3", OF_SCRIPTS, "a package.json with the scripts lint, test"),
        ("gate.mjs", "node", OF_MANIFEST, "a Cargo.toml"),
        ("gate.sh", "sh", OF_TARGETS, "a Makefile with the targets lint"),
        ("gate.sh", "bash", OF_SOURCES, "a package.json with the scripts check"),
    ],
)
def test_a_gate_that_asks_for_a_file(gates, harness, name, program, text, made):
    """A gate that checks only projects with some file meets one, and the session says which was made."""
    (session,) = gates(name, program, text)
    assert session.active == f"a project that has {made}"
    assert play_session(session, harness.settings, harness.resources).verdict_name in ("livelock", "capped")


@pytest.mark.parametrize(
    ("text", "started"),
    [
        ('COMMANDS = {"lint": "npm run lint"}\nsubprocess.run(COMMANDS["lint"], shell=True)', "npm"),
        ('for name in NAMES:\n    subprocess.run(f"pnpm {name}", shell=True)', "pnpm"),
        ('subprocess.run(["make", "test"])', "make"),
        ('subprocess.run(["uv", "run", "pytest"])', "uv"),
    ],
)
def test_how_python_starts_a_check(plugin, text, started):
    """A check has test doubles in whichever words of Python it is started."""
    hook_set = plugin(
        'python3 "${CLAUDE_PLUGIN_ROOT}/gate.py"', **{"gate.py": f"import subprocess\n{text}\n"}
    )
    first, _ = plan_failing_gates(hook_set, hook_set.hooks)
    assert [*first.scenario.commands] == [started]


@pytest.mark.parametrize(
    "text", ['CMD="npm test"\necho "Run $CMD first." >&2\nexit 2', 'echo "Run" npm test >&2\nexit 2']
)
def test_commands_that_are_only_shown(plugin, text):
    """A command that a shell script only prints has no test doubles."""
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}/gate.sh"', **{"gate.sh": f"#!/bin/bash\n{text}\n"})
    assert [*plan_failing_gates(hook_set, hook_set.hooks)] == []


@pytest.mark.parametrize("text", ['print(["make", "sure"])', 'words = "go on"', 'NAMES = ("go", "up")'])
def test_words_that_start_nothing(plugin, text):
    """Words of English that are names of programs too have no test doubles."""
    hook_set = plugin('python3 "${CLAUDE_PLUGIN_ROOT}/gate.py"', **{"gate.py": f"{text}\n"})
    assert [*plan_failing_gates(hook_set, hook_set.hooks)] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\npnpm check || true\n",
        "#!/bin/bash\necho 'run pnpm check' >&2\nexit 2\n",
        "#!/bin/bash\n# pnpm check\nexit 0\n",
        "#!/bin/bash\npnpm check || echo failed\nexit 2\n",
    ],
)
def test_hooks_that_no_check_decides(gates, text):
    """Nothing is kept if the hook starts no check, or decides the same when it succeeds."""
    assert not gates("gate.sh", "bash", text)


def test_what_starts_the_hook_itself(gates):
    """What starts the script of a hook has no test double."""
    assert not gates("gate.sh", "npx bash", "#!/bin/bash\nnpx tsc || exit 2\n")


HERE = "#!/bin/bash\n"
FROM_PYTHON = "import subprocess\nfrom pathlib import Path\nsubprocess.run({})\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gate.sh", HERE + 'DIR=$(dirname "$0")\nuv run "$DIR/decide.py" || exit 2\n'),
        ("gate.sh", HERE + 'uv run "$(dirname "$0")/decide" || exit 2\n'),
        ("gate.sh", HERE + 'uv run --quiet "$HELPER" || exit 2\n'),
        ("gate.sh", HERE + "poetry run python hooks/decide.py || exit 2\n"),
        ("gate.sh", HERE + "npx tsx hooks/decide.ts || exit 2\n"),
        ("gate.sh", HERE + "npx eslint . && npx tsx hooks/decide.ts || exit 2\n"),
        ("gate.sh", HERE + "go run ./hooks/decide || exit 2\n"),
        ("gate.py", FROM_PYTHON.format('["npx", "tsx", str(Path(__file__).with_name("decide.ts"))]')),
        ("gate.py", FROM_PYTHON.format('["npx", "tsx", HELPER]')),
    ],
)
def test_what_starts_a_helper_of_the_hook(plugin, name, text):
    """A program that starts a helper of the hook has no test double, which would decide in its place."""
    hook_set = plugin('sh "${CLAUDE_PLUGIN_ROOT}/gate"', **{name: text})
    hook_set = replace(hook_set, sources=((name, text),), hooks=(replace(hook_set.hooks[0], command=name),))
    assert [*plan_failing_gates(hook_set, hook_set.hooks)] == []


@pytest.mark.parametrize(
    ("text", "started"),
    [
        ('npx eslint "$FILE" || exit 2', "npx"),
        ("uv run pytest -q tests 2>&1 | tail -3", "uv"),
        ('cd "$CLAUDE_PROJECT_DIR/app" && npm test || exit 2', "npm"),
        ("out=$(npx tsc --noEmit $(git diff --name-only)) || exit 2", "npx"),
        ("poetry run mypy src || exit 2", "poetry"),
        ("go test ./... || exit 2", "go"),
        ('cargo check --manifest-path "$dir/Cargo.toml" || exit 2', "cargo"),
        ('GATE_CMD="npm run check"\neval "$GATE_CMD" || exit 2', "npm"),
        ("test_cmd='cargo test'\nif ! $test_cmd; then exit 2; fi", "cargo"),
        ("git diff --name-only | xargs -r -n 1 npx eslint || exit 2", "npx"),
        ('run_check "Types" npx tsc --noEmit || exit 2', "npx"),
    ],
)
def test_what_starts_a_check(plugin, text, started):
    """A program that checks the files of the project has one test double that fails and one that succeeds."""
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}/gate.sh"', **{"gate.sh": f"#!/bin/bash\n{text}\n"})
    titles = [one.title for one in plan_failing_gates(hook_set, hook_set.hooks)]
    assert titles == [f"failing test doubles for {started}", f"succeeding test doubles for {started}"]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("guard", "kinds"), [("", [True]), (FLAG, [])])
def test_what_is_reported_of_a_gate(plugin, harness, guard, kinds):
    """A gate that ignores that it refused before is worth knowing, one that does not is no problem."""
    text = GATE.format(guard=guard)
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}"/gate.sh', **{"gate.sh": text})
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    found = [one.symptom for one in report.problems if one.symptom.kind in ("livelock", "capped", "no-end")]
    assert all("pnpm fails: a test double stands for it." in one.assumes for one in found)
    assert [one.avoidable for one in found] == kinds
    assert all("makes the hook's check succeed (pnpm)" in one.text for one in found)


@pytest.mark.nightly
@pytest.mark.skipif(bool(shutil.which("flutter")), reason="flutter is installed here")
@pytest.mark.parametrize(
    ("check", "told"),
    [
        (
            "flutter analyze",
            "it may stop if it makes the hook's check succeed (flutter, which is not on the PATH here)",
        ),
        # Its failure decides nothing.
        ("flutter analyze; false", ""),
    ],
)
def test_a_gate_whose_check_is_not_installed(plugin, harness, check, told):
    """A gate whose check is missing on this machine is reported as such a gate, not as an endless loop."""
    text = f"#!/bin/bash\n{check} >&2\nif [ $? -ne 0 ]; then echo 'Fix this first.' >&2; exit 2; fi\n"
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}"/gate.sh', **{"gate.sh": text})
    symptoms = [one.symptom for one in CheckRun(hook_set, harness.settings, harness.resources).run().problems]
    (found,) = [one for one in symptoms if one.kind == "livelock"]
    others = {one.kind for one in symptoms} - {"livelock"}
    assert others == ({"OVERBLOCK", "UNGUARDED-TOOL"} if told else set())
    assert found.avoidable is bool(told)
    assert told in found.text


def test_the_checks_of_a_gate_succeed(plugin):
    """What the refusing hook starts succeeds in one more session, unless it has a test double already."""
    hook_set = plugin("npm test || exit 2")
    (command,) = (hook.command for hook in hook_set.hooks)
    session = plan_each_event(hook_set)
    again = with_succeeding_checks(hook_set, session, command)
    assert [*again.scenario.commands] == ["npm"]
    assert again.way_out.startswith("makes the hook's check succeed (npm")
    assert with_succeeding_checks(hook_set, again, command) is None
    assert with_succeeding_checks(hook_set, session, "another hook") is None


def test_the_modules_of_a_gate_succeed(plugin):
    """A module that the refusing hook runs with Python succeeds in that session too, by its own name."""
    hook_set = plugin("python3 -m unittest -q || exit 2")
    (command,) = (hook.command for hook in hook_set.hooks)
    again = with_succeeding_checks(hook_set, plan_each_event(hook_set), command)
    assert "All checks passed" in again.scenario.files["unittest.py"]
    assert again.way_out == "makes the hook's check succeed (python -m unittest)"
    assert with_succeeding_checks(hook_set, again, command) is None
