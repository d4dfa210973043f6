"""Claims about limits in scripts that are longer than the timeout of their hook."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.inner_limits import inner_limits, longest_limit
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

SHELL = "#!/bin/bash\nOUT=$(timeout 240 make check 2>&1); STATUS=$?\n"
PYTHON = "#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['make'], timeout=180)\n"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (SHELL, [240]),
        (SHELL.replace("240", "-k 5 4m"), [240]),
        (SHELL.replace("timeout 240", "gtimeout --foreground 240s"), [240]),
        ("#!/bin/sh\nif timeout 90 make; then\n  timeout 1h make\nfi\n", [90, 3600]),
        (PYTHON, [180]),
        (PYTHON.replace("run(", "check_output(").replace("180", "2.5"), [2.5]),
        # It goes on behind the hook, is no call, or no number.
        (SHELL.replace("OUT=$(", "").replace(" 2>&1); STATUS=$?", " &"), []),
        (SHELL.replace("make", "nohup make"), []),
        (SHELL.replace("240", '"$LIMIT"'), []),
        ("#!/bin/sh\necho 'timeout 240 make'\n# timeout 240 make\ncurl --timeout 240 x\n", []),
        # What the script starts beside itself has as much time as it needs.
        ("#!/bin/sh\n(\n  timeout 300 make > log 2>&1\n) &\n", []),
        ("#!/bin/sh\nbuild() {\n  timeout 300 make\n}\nbuild &\ndisown\n", []),
        (PYTHON + "subprocess.Popen([sys.executable, __file__, '--worker'])\n", []),
        # The input ends at once, and other callers may have more time.
        ("#!/bin/sh\nINPUT=$(timeout 5 cat || true)\n", []),
        ('#!/bin/sh\nif [ -n "$CI" ]; then\n  timeout 600 make\nfi\n', []),
        (PYTHON.replace("subprocess.run(", "client.run("), []),
        (PYTHON.replace("180", "LIMIT"), []),
        (PYTHON.replace("subprocess.run(['make'],", "connect("), []),
        (PYTHON + "(", []),
        # A helper runs any program, also those that are quick.
        ("import subprocess\ndef run(words):\n    return subprocess.run(words, timeout=180)\n", []),
        ("#!/usr/bin/env node\nrun({timeout: 240})\n", []),
    ],
)
def test_limits_of_scripts(text, seconds):
    """Written limits of programs are found in shell scripts and in Python."""
    assert [one for one, _ in inner_limits(text)] == seconds


def hooks_with(text, *timeouts):
    """Return the hooks that start one script, each with its timeout."""
    hook_set, hook = one_hook("Stop", text)
    hooks = tuple(replace(hook, timeout=timeout) for timeout in timeouts)
    return replace(hook_set, hooks=hooks), hooks[0]


def test_timeouts_that_are_shorter():
    """Only a limit above the timeout of every entry of the script is named."""
    assert longest_limit(*hooks_with(SHELL, 120.0)) == (240, "x.sh", 2)
    assert longest_limit(*hooks_with(PYTHON, 60.0)) == (180, "x.sh", 3)
    assert not longest_limit(*hooks_with(SHELL, 240.0))[0]
    assert not longest_limit(*hooks_with(SHELL, 600.0))[0]
    assert not longest_limit(*hooks_with(SHELL, None))[0]
    assert not longest_limit(*hooks_with(SHELL, 120.0, 300.0))[0]


def test_what_is_said():
    """The static checks name both limits, and the line."""
    hook_set, _ = hooks_with(SHELL, 120.0)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "TIMEOUT-UNIT")
    said = "claude-code ends the hook after 120 s, so the limit of 240 s in x.sh, line 2, is never reached"
    assert said in found.text
    assert "above 240 s" in found.advice


@pytest.mark.parametrize("part", [SHELL, "timeout ", "timeout 5 ", "if ", "A=b ", "--foreground "])
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return SHELL + "timeout " + part * (length // len(part)) + "\n"

    takes_linear_time(text_of, lambda text: [*inner_limits(text)])
