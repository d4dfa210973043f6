"""Claims about limits in scripts that are together longer than the timeout of their hook."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.added_limits import limits_in_a_row
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

SHELL = "#!/bin/bash\ntimeout 180 npm test || failed=1\ntimeout 180 npm run lint || failed=1\n"
PYTHON = """import subprocess
NAMES = ("lint", "build", "test")
failed = []
for name in NAMES:
    result = subprocess.run(["npm", "run", name], timeout=180)
    if result.returncode:
        failed.append(name)
"""
IN_FUNCTIONS = """import subprocess
NAMES = ("lint", "build", "test")

def run(words):
    return subprocess.run(words, timeout=180)

def main(scripts):
    commands = [["npm", "run", name] for name in NAMES if name in scripts]
    for command in commands:
        result = run(command)
        print(result.returncode)
"""
IN_A_ROW = """import subprocess
def main():
    tests = subprocess.run(["npm", "test"], timeout=180)
    print(tests.returncode)
    try:
        lint = subprocess.run(["npm", "run", "lint"], timeout=90)
    except OSError:
        return
if __name__ == "__main__":
    main()
"""
BY_FUNCTION = """import subprocess, sys
def run(words, timeout=60):
    try:
        return subprocess.run(words, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
def main():
    tests = run(["npm", "test"], timeout=120)
    status = run(["git", "status"])
    if tests:
        print(status)
    lint = run(["npm", "run", "lint"])
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("text", "seconds", "number"),
    [
        (SHELL, 360, 2),
        (SHELL.replace("bash\n", "bash\nset -e\n"), 360, 2),
        (
            "#!/bin/sh\nif ! timeout 1m make; then f=1; fi\nif ! timeout 2m make lint; then f=1; fi\n",
            180,
            2,
        ),
        (PYTHON, 540, 3),
        (PYTHON.replace("in NAMES", 'in ["a", "b"]'), 360, 2),
        (IN_FUNCTIONS, 540, 3),
        (IN_A_ROW, 270, 2),
        (BY_FUNCTION, 180, 2),
        (BY_FUNCTION.replace("timeout=120", "120"), 180, 2),
        (BY_FUNCTION.replace("run(words, t", "run(words, *, t", 1), 180, 2),
        ("import subprocess\n" + 'subprocess.run(["make"], timeout=60)\n' * 3, 180, 3),
    ],
)
def test_limits_that_follow_each_other(text, seconds, number):
    """The limits of commands in a row, and of the rounds of a loop, are added."""
    (found,) = limits_in_a_row(text)
    assert (found.seconds, found.number) == (seconds, number)


@pytest.mark.parametrize(
    "text",
    [
        # The first failure ends it, or only one of them runs.
        SHELL.replace("failed=1", "exit 2"),
        SHELL.replace(" || failed=1", "").replace("bash\n", "bash\nset -e\n"),
        SHELL.replace(" || failed=1\ntimeout", " && timeout"),
        "#!/bin/sh\nif [ -f x ]; then\n  timeout 180 make || f=1\nelse\n  timeout 180 npm test || f=1\nfi\n",
        "#!/bin/sh\na() {\n  timeout 180 make || f=1\n}\nb() {\n  timeout 180 npm test || f=1\n}\n",
        SHELL.replace("failed=1\n", 'failed=1\n[ -n "$failed" ] && exit 2\n', 1),
        PYTHON + "        break\n",
        PYTHON.replace("failed.append(name)", "sys.exit(2)"),
        # The programs are quick, or the script has a limit for all of them.
        PYTHON.replace("180", "5"),
        SHELL.replace("180", "5"),
        "import signal\nsignal.alarm(290)\n" + PYTHON,
        SHELL.replace("failed=1\n", 'failed=1\n[ "$SECONDS" -lt 200 ] && date\n', 1),
        # The number of rounds or the limit is unknown.
        PYTHON.replace("in NAMES", "in sys.argv"),
        PYTHON.replace("failed = []", "NAMES = load()"),
        PYTHON.replace("timeout=180", "timeout=LIMIT"),
        PYTHON.replace("    result =", "    if name in scripts:\n      result ="),
        PYTHON + "(",
        # One of the calls in a row may be the last, or is one of another way to start the script.
        IN_A_ROW.replace("print(tests.returncode)", "if tests.returncode:\n        return"),
        IN_A_ROW.replace("print(tests.returncode)", "sys.exit(tests.returncode)"),
        IN_A_ROW.replace("    main()", "    if sys.argv[1:]:\n        main()"),
        IN_A_ROW.replace("    try:\n", "    try:\n        start()\n    except OSError:\n", 1).replace(
            "    except OSError:\n        return\n", "", 1
        ),
        IN_A_ROW.replace("lint = ", "lint = tests and "),
        IN_A_ROW.replace("lint = ", "lint = lambda: "),
        IN_A_ROW.replace("lint = ", "if tests:\n            lint = "),
        IN_A_ROW.replace("timeout=90", "timeout=5"),
        IN_A_ROW.replace("import subprocess", "import subprocess, threading\nThread = threading.Thread"),
        BY_FUNCTION.replace("return None", "sys.exit(0)"),
        BY_FUNCTION.replace("    try:", "    if words[0] not in changed:\n        return None\n    try:"),
        BY_FUNCTION.replace("    try:", "    timeout = min(timeout, 5)\n    try:"),
        BY_FUNCTION.replace("timeout=120", "timeout=LIMIT"),
        BY_FUNCTION.replace('"npm", "test"', '"git", "fetch"'),
        BY_FUNCTION.replace("sys.exit(main())", "if ask():\n    main()"),
        # The function runs once or later, is another one, or its limit is not known.
        BY_FUNCTION.replace("def run", "@cache\ndef run"),
        BY_FUNCTION.replace("        return subprocess", "        yield subprocess"),
        BY_FUNCTION.replace("import subprocess, sys", "import subprocess, sys\nfrom lib import run"),
        BY_FUNCTION.replace("def main", "run = print\ndef main"),
        BY_FUNCTION.replace("def run", "class Runs:\n  run = 1\ndef run"),
        BY_FUNCTION.replace(", timeout=120)", ", **LIMITS)"),
        BY_FUNCTION.replace('run(["npm", "test"], timeout=120)', "run(*TESTS)"),
        # It may start nothing, or takes no time.
        IN_A_ROW.replace('if __name__ == "__main__"', 'if __name__ == "__main__" and len(sys.argv) > 1'),
        IN_A_ROW.replace("==", "!="),
        IN_A_ROW.replace("lint = ", "lint = {").replace("timeout=90)", "timeout=90) for x in sys.argv}"),
        *(
            IN_A_ROW.replace('["npm", "test"]', words)
            for words in (
                '"git status", shell=True',
                'args=["git", "diff"]',
                '("/usr/bin/git", "diff")',
                '["date"]',
            )
        ),
        "from signal import alarm\nalarm(50)\n" + PYTHON,
    ],
)
def test_limits_that_may_not_follow_each_other(text):
    """Nothing is added where one program may be the last, or where the number is unknown."""
    assert not limits_in_a_row(text)


def said(text, *timeouts):
    """Return what is said of the timeouts of the entries of one script."""
    hook_set, hook = one_hook("Stop", text)
    hooks = tuple(replace(hook, timeout=timeout) for timeout in timeouts)
    return [
        one for one in check_statically(replace(hook_set, hooks=hooks)).symptoms if one.kind == "TIMEOUT-UNIT"
    ]


def test_what_is_said():
    """A timeout is named that is long enough for each program and not for all."""
    (found,) = said(SHELL, 300.0)
    words = (
        "ends the hook after 300 s, and the 2 programs from x.sh, line 2, may take 360 s one after the other"
    )
    assert words in found.text
    assert "above 360 s" in found.advice
    assert not said(SHELL, 360.0)
    assert not said(SHELL, None)
    assert not said(SHELL, 300.0, 600.0)
    (single,) = said(SHELL, 120.0)
    assert "the limit of 180 s" in single.text


@pytest.mark.parametrize(
    "part",
    [SHELL, PYTHON, IN_FUNCTIONS, IN_A_ROW, BY_FUNCTION, "for x in y:\n    f()\n", "timeout 5 x || true\n"],
)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(lambda length: part * (length // len(part)), limits_in_a_row, 0.003)
