"""Claims about reasons that scripts print where their host does not read them."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

REASON = "Run the tests first."


@pytest.fixture
def found(tmp_path):
    """The reasons in a script that the agent never gets, in words."""

    def read(text, event="Stop", script="hook.sh", more=""):
        (tmp_path / script).write_text(text)
        program = {"py": "python3", "js": "node"}.get(script.rpartition(".")[2], "sh")
        command = f'{program} "$CLAUDE_PROJECT_DIR/{script}"{more}'
        file = tmp_path / ".claude/settings.json"
        file.parent.mkdir()
        file.write_text(
            json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}})
        )
        (hook_set,) = find_hook_sets(tmp_path)
        symptoms = check_statically(hook_set).symptoms
        return [symptom for symptom in symptoms if symptom.kind == "SILENT-REFUSAL"]

    return read


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", f'#!/bin/sh\nif [ -f red ]; then\n  echo "{REASON}"\n  exit 2\nfi\n'),
        ("hook.sh", f'#!/bin/sh\necho ""\necho "{REASON}"\necho "--- $(date)"\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\nif ! make 2>&1; then\n  echo "{REASON}"\n  rm -f x\n  exit 2\nfi\n'),
        ("hook.sh", f'#!/bin/sh\nlog() {{\n  echo "$1" >>log\n}}\nlog x\necho "{REASON}"\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\nif a=$(cat); then\n  echo no >&2\n  exit 0\nfi\necho "{REASON}"\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\n[ -f red ] && {{ echo "{REASON}"; exit 2; }}\n'),
        ("hook.sh", f"#!/bin/sh\nprintf '%s\\n' \"{REASON}\"\nexit 2\n"),
        ("hook.sh", f"#!/bin/sh\nprintf -- '%s' '{REASON}'\nexit 2\n"),
        (
            "hook.sh",
            f'#!/bin/sh\nget() {{\n  echo no >&2\n  return 1\n}}\nmode=$(get x)\necho "{REASON}"\nexit 2\n',
        ),
        ("hook.py", f'import sys\n\nif sys.argv:\n    print(f"{REASON}")\n    sys.exit(2)\n'),
        ("hook.js", f"if (red) {{\n  console.log('{REASON}');\n  process.exit(2);\n}}\n"),
    ],
)
def test_a_reason_on_standard_output(found, script, text):
    """A refusal by status whose reason is on standard output is named with its words."""
    (symptom,) = found(text, script=script)
    assert f'Stop: the reason "{REASON}" is printed to standard output' in symptom.text
    assert symptom.must_fix


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", f'#!/bin/sh\necho "{REASON}" >&2\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\nexec 1>&2\necho "{REASON}"\nexit 2\n'),
        (
            "hook.sh",
            f'#!/bin/sh\necho "Checked." >&2\nif [ -f red ]; then\n  echo "{REASON}"\n  exit 2\nfi\n',
        ),
        ("hook.sh", f'#!/bin/sh\nif a; then\n  echo no >&2\nfi\necho "{REASON}"\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\nnpx eslint .\necho "{REASON}"\nexit 2\n'),
        (
            "hook.sh",
            f'#!/bin/sh\nsay() {{ echo x >&2; }}\nwarn() {{ say; }}\nwarn x\necho "{REASON}"\nexit 2\n',
        ),
        ("hook.sh", f'#!/bin/sh\n. ./missing.sh\nwarn x\necho "{REASON}"\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\necho "{REASON}" >>log\nexit 2\n'),
        (
            "hook.sh",
            f'#!/bin/sh\nget() {{\n  echo no >&2\n  return 1\n}}\nget || bad=1\necho "{REASON}"\nexit 2\n',
        ),
        (
            "hook.sh",
            f'#!/bin/sh\nget() {{\n  echo no >&2\n  return 1\n}}\nget\nbad=$?\necho "{REASON}"\nexit 2\n',
        ),
        ("hook.sh", f'#!/bin/sh\necho "{REASON}"\nexit 0\n'),
        ("hook.sh", '#!/bin/sh\necho \'{"decision": "block", "reason": "Run the tests."}\'\nexit 2\n'),
        ("hook.py", f'import sys\n\nprint("{REASON}", file=sys.stderr)\nprint("{REASON}")\nsys.exit(2)\n'),
        (
            "hook.js",
            f"if (red) {{\n  console.error('no');\n  console.log('{REASON}');\n  process.exit(2);\n}}\n",
        ),
        ("hook.sh", f'#!/bin/sh\njq . >x 2>&1 || {{ echo "{REASON}" >&2; exit 2; }}\n'),
        ("hook.sh", f'#!/bin/sh\nsay() {{ echo x >&2; }}\necho "{REASON}"\n[ -f red ] && say\nexit 2\n'),
        ("hook.sh", f'#!/bin/sh\nif [ -t 0 ]; then\n  echo "{REASON}"\n  exit 2\nfi\n'),
        ("hook.sh", f"#!/bin/sh\ntrap 'cat why >&2' EXIT\necho '{REASON}'\nexit 2\n"),
        (
            "hook.py",
            (
                "import sys\n\nout = sys.stderr\nif 1:\n"
                f'    print("{REASON}")\n    print(1, file=out)\n    sys.exit(2)\n'
            ),
        ),
        (
            "hook.py",
            f'import sys\n\nsys.stdout = sys.stderr\nif 1:\n    print("{REASON}")\n    sys.exit(2)\n',
        ),
        ("hook.py", f'import sys\nfrom own import say\n\nsay("no")\nprint("{REASON}")\nsys.exit(2)\n'),
        (
            "hook.py",
            (
                "import logging, sys\n\nlog = logging.getLogger()\nif 1:\n"
                f'    print("{REASON}")\n    log.error(1)\n    sys.exit(2)\n'
            ),
        ),
        ("hook.sh", f'#!/bin/sh\n[ -f red ] && {{ echo "{REASON}"; exit 2; }} >&2\n'),
        ("hook.sh", f'#!/bin/sh\nif [ -f red ]; then\n  echo "{REASON}"\n  exit 2\nfi >&2\n'),
        ("hook.sh", f'#!/bin/sh\ndeny() {{\n  echo "{REASON}"\n  exit 2\n}}\ndeny "$x" >&2\n'),
        ("hook.sh", f'#!/bin/sh\nwhy() {{\n  echo "{REASON}"\n  exit 2\n}}\nx=$(why) || echo "$x" >&2\n'),
        ("hook.sh", f'#!/bin/sh\nx=$(\n  echo "{REASON}"\n  exit 2\n)\n'),
        ("hook.sh", '#!/bin/sh\necho "usage: hook.sh [-v]"\nexit 2\n'),
        (
            "hook.js",
            f"process.once('exit', why);\nif (red) {{\n  console.log('{REASON}');\n  process.exit(2);\n}}\n",
        ),
        (
            "hook.py",
            (
                "import os, sys\n\nclass Guard:\n    def tell(self):\n        os.write(2, b'no')\n"
                f'    def run(self):\n        print("{REASON}")\n        self.tell()\n        sys.exit(2)\n'
            ),
        ),
        ("hook.js", f"if (red) {{\n  warn('no');\n  console.log('{REASON}');\n  process.exit(2);\n}}\n"),
    ],
)
def test_a_reason_that_may_arrive(found, script, text):
    """Nothing is said where something may go to standard error, or where the host reads the answer."""
    assert not found(text, script=script)


@pytest.mark.parametrize("more", [" 1>&2", " >&2", " | cat >&2"])
def test_a_command_that_joins_the_streams(found, more):
    """A command that sends standard output to standard error passes the reason on."""
    assert not found(f'#!/bin/sh\necho "{REASON}"\nexit 2\n', more=more)


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", "#!/bin/sh\njq -n '{decision: \"block\"} + {reason: $why}'\n"),
        ("hook.sh", "#!/bin/sh\njq -n '{decision: \"block\"} | .reason = $why'\n"),
        ("hook.py", 'print(json.dumps({"decision": "block"} | why))\n'),
        ("hook.py", 'out = {"decision": "block"}\nout |= why\nprint(json.dumps(out))\n'),
        ("hook.py", 'out = {"decision": "block"}\nout = {**out, **why}\nprint(json.dumps(out))\n'),
        ("hook.py", 'out = {"decision": "block"}\nexplain(out)\nprint(json.dumps(out))\n'),
        (
            "hook.js",
            "let out = { decision: 'block' };\nout = { ...out, why };\nconsole.log(JSON.stringify(out));\n",
        ),
    ],
)
def test_an_answer_to_which_code_adds(found, script, text):
    """An object is no whole answer where an operator, another object or a function may add the reason."""
    assert not found(text, script=script)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('echo \'{"decision": "block"}\'', True),
        ('printf \'%s\' "{\\"decision\\": \\"block\\", \\"reason\\": \\"$why\\"}"', False),
        ('echo \'{"decision": "approve"}\'', False),
        ('echo \'{"decision": "block"}\' # as codex wants it', False),
    ],
)
def test_an_answer_without_a_reason(found, text, named):
    """A written answer that refuses and has no reason is named, unless it may be for another host."""
    texts = [symptom.text for symptom in found(f"#!/bin/sh\n{text}\n")]
    assert [("refuses without a reason" in one) for one in texts] == [True] * named


def test_a_script_that_a_program_made(found):
    """A script of more than 65,536 characters is not read, as that could take minutes."""
    assert not found(f'#!/bin/sh\necho "{REASON}"\nexit 2\n' + "#" * (1 << 16))


def test_a_format_is_no_reason(found):
    """A format of printf is not taken for the words of a reason."""
    assert not found("#!/bin/sh\nprintf '%s\\n' $why\nexit 2\n")


def test_nothing_is_said_of_a_host_that_names_no_stream(tmp_path):
    """Cursor documents that status 2 refuses, and not from where the reason is taken."""
    (tmp_path / "hook.sh").write_text(f"#!/bin/sh\necho '{REASON}'\nexit 2\n")
    file = tmp_path / ".cursor/hooks.json"
    file.parent.mkdir()
    hooks = {"beforeShellExecution": [{"command": "sh ./hook.sh"}]}
    file.write_text(json.dumps({"version": 1, "hooks": hooks}))

    (hook_set,) = find_hook_sets(tmp_path)

    assert "SILENT-REFUSAL" not in [symptom.kind for symptom in check_statically(hook_set).symptoms]


@pytest.mark.parametrize(("event", "named"), [("beforeShellExecution", True), ("beforeTabFileRead", False)])
def test_a_refusal_where_no_agent_waits(tmp_path, event, named):
    """Nothing is said of a refusal at an event of which it is not known who is told."""
    (tmp_path / "hook.sh").write_text('#!/bin/sh\necho \'{"permission": "deny"}\'\n')
    file = tmp_path / ".cursor/hooks.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"version": 1, "hooks": {event: [{"command": "sh ./hook.sh"}]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    kinds = [one.kind for one in check_statically(hook_set).symptoms]
    assert ("SILENT-REFUSAL" in kinds) is named
