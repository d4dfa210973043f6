"""Claims about programs of Python gates whose failure nothing catches."""

import subprocess
import sys
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.uncaught_programs import find_uncaught
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

HEAD = "import json, subprocess, sys\n"
CALL = 'result = subprocess.run(["npm", "test"], timeout=180)\n'
REFUSES = "if result.returncode:\n    sys.exit(2)\n"
GATE = HEAD + CALL + REFUSES
IN_FUNCTIONS = """
def check(words):
    return subprocess.run(words, timeout=180)

def main():
    for name in ("lint", "test"):
        if check(["npm", "run", name]).returncode:
            return 2
    return 0

if __name__ == "__main__":
    raise SystemExit(main())
"""


def caught(error, call=CALL):
    """Return a gate that catches an error of its call."""
    return HEAD + f"try:\n    {call}except {error}:\n    sys.exit(0)\n" + REFUSES


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        (GATE, ["", "npm"]),
        (HEAD + IN_FUNCTIONS, ["", "npm"]),
        (GATE.replace("sys.exit(2)", "print(json.dumps({'decision': 'block', 'reason': 'x'}))"), ["", "npm"]),
        (GATE.replace(", timeout=180", ""), ["npm"]),
        (GATE.replace('"npm", "test"', '"git", "diff"'), [""]),
        (GATE.replace("import json", "import shutil") + "shutil.which('npm')\n", [""]),
        (caught("FileNotFoundError"), [""]),
        (caught("(OSError, ValueError)"), [""]),
        (caught("subprocess.TimeoutExpired"), ["npm"]),
        (caught("subprocess.CalledProcessError"), ["", "npm"]),
        (
            HEAD
            + IN_FUNCTIONS.replace(
                "def main", "try:\n    json.load(sys.stdin)\nexcept Exception:\n    pass\n\ndef main"
            ),
            ["", "npm"],
        ),
    ],
)
def test_what_ends_a_gate(text, programs):
    """A gate is named that a slow or a missing program ends, as nothing catches the error."""
    assert [one.program for one in find_uncaught(text)] == programs


@pytest.mark.parametrize(
    "text",
    [
        # Something catches it, here or around the function.
        caught("Exception"),
        caught("(subprocess.TimeoutExpired, FileNotFoundError)"),
        caught("MY_ERRORS"),
        HEAD
        + IN_FUNCTIONS.replace(
            "raise SystemExit(main())", "try:\n        main()\n    except Exception:\n        sys.exit(2)"
        ),
        HEAD
        + "import contextlib\nresult = None\nwith contextlib.suppress(Exception):\n    "
        + CALL
        + "sys.exit(2)\n",
        HEAD + "sys.excepthook = print\n" + CALL + REFUSES,
        HEAD + "with closed():\n    " + CALL + "sys.exit(2)\n",
        # It has decided before.
        HEAD + "if json.load(sys.stdin):\n    sys.exit(2)\n" + CALL,
        # It is never called, in this file or directly.
        HEAD + IN_FUNCTIONS.replace("raise SystemExit(main())", "pass"),
        HEAD + IN_FUNCTIONS.replace("def check", "@retried\ndef check"),
        # It refuses nothing, or starts nothing that may be missing and has no limit.
        HEAD + CALL,
        GATE.replace("exit(2)", "exit(1)"),
        GATE.replace('"npm", "test"', '"git", "diff"').replace(", timeout=180", ""),
        GATE.replace('["npm", "test"], timeout=180', '"npm test", shell=True'),
        GATE + "(",
    ],
)
def test_a_gate_that_minds(text):
    """Nothing is said of a gate that catches the error, or refuses nothing."""
    assert not find_uncaught(text)


def test_python_agrees(tmp_path):
    """Python ends the gate with 1 if its program is missing or slow."""
    text = GATE.replace('"npm", "test"', '"sleep", "9"').replace("180", "0.1")
    for each in (text, GATE):
        run = subprocess.run(
            [sys.executable, "-c", each],
            capture_output=True,
            env={"PATH": "/bin:/usr/bin"} if each == text else {"PATH": ""},
            check=False,
        )
        assert run.returncode == 1


def gate(text, **changes):
    """Return what is said of a Stop hook in Python."""
    hook_set, hook = one_hook("Stop", text)
    hook = replace(hook, command="python3 x.py", **changes)
    return check_statically(replace(hook_set, hooks=(hook,), sources=(("x.py", text),))).symptoms


def test_what_is_said():
    """Each error is named once, with the line of the call and what becomes of the stop."""
    found = {one.kind: one.text for one in gate(GATE) if one.kind in ("CRASHED", "UNGUARDED-TOOL")}
    assert found["CRASHED"].startswith("Stop: where the program takes longer than its limit, nothing catches")
    assert (
        "with no `npm` on the PATH, nothing catches the error of the call in x.py, line 2,"
        in found["UNGUARDED-TOOL"]
    )
    assert all(text.endswith("and the stop is allowed.") for text in found.values())


def test_events_without_a_decision():
    """At an event where nothing can be refused, nothing is said."""
    assert not [one for one in gate(GATE, event="SessionStart") if one.kind in ("CRASHED", "UNGUARDED-TOOL")]


def test_what_goes_on_behind_the_script():
    """A command that refuses where its script fails, and a program that starts the script, are no defects."""
    hook_set, hook = one_hook("Stop", GATE)
    for command in ("python3 x.py || exit 2", "npm exec x.py"):
        changed = replace(hook, command=command)
        hooks = replace(hook_set, hooks=(changed,), sources=(("x.py", GATE),))
        found = [one.text for one in check_statically(hooks).symptoms if "traceback" in one.text]
        assert not [one for one in found if "npm" in one or "||" in command]


@pytest.mark.parametrize(
    "part", [CALL, "def f():\n    f()\n", "try:\n    f()\nexcept ValueError:\n    pass\n"]
)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + part * (length // len(part)) + CALL + REFUSES

    takes_linear_time(text_of, find_uncaught, 0.003)
