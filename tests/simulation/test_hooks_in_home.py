"""Hooks that lie in the home folder of the user, which is hidden but for what they name."""

import shutil
import tempfile
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.model.processes import Tier

# Refuses if a file beside it is there.
GUARD = """#!{python}
import pathlib, sys
if pathlib.Path(__file__).with_name("deny").exists():
    sys.exit(print("no", file=sys.stderr) or 2)
"""


@pytest.fixture
def home(monkeypatch):
    """A home folder with a hook, the file that it reads, and an interpreter of its own; and a key."""
    if available_tiers()[0] is not Tier.NAMESPACES:
        pytest.skip("no home folder is hidden here")
    try:
        made = Path(tempfile.mkdtemp(prefix="hookharness-home-", dir="/var/lib"))
    except PermissionError:
        pytest.skip("only root can make a home folder beside those of the users")
    python = made / "envs/one/bin/python"
    for file in (python, made / "hooks/guard.py", made / "hooks/deny", made / ".ssh/id"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('#!/bin/sh\nexec /usr/bin/env python3 "$@"\n')
    (made / "envs/one/lib").mkdir()
    (made / "hooks/guard.py").write_text(GUARD.format(python=python))
    for file in (python, made / "hooks/guard.py"):
        file.chmod(0o755)
    monkeypatch.setenv("HOME", str(made))
    yield made
    shutil.rmtree(made)


CALL = {"run": "true", "expect": "deny"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hook", "env"),
    [
        ({"command": "{home}/hooks/guard.py"}, {}),
        ({"command": "{home}/hooks/guard.py", "args": []}, {}),
        ({"command": "env", "args": ["{home}/hooks/guard.py"]}, {}),
        ({"command": "D={home}/hooks; exec $D/guard.py"}, {}),
        ({"command": "exec $HOOKS/guard.py"}, {"HOOKS": "{home}/hooks"}),
    ],
)
def test_a_hook_in_the_home_of_the_user_runs(home, play, hook, env):
    """A hook that a command, an argument or a variable names runs; a key stays hidden."""
    filled = {
        key: value.format(home=home) if isinstance(value, str) else [each.format(home=home) for each in value]
        for key, value in hook.items()
    }
    outcome = play(
        hooks={"PreToolUse": [{"hooks": [{"type": "command", **filled}]}]},
        env={name: value.format(home=home) for name, value in env.items()},
        agent=[{"prompt": "x"}, CALL, {"stop": "Done."}],
    )

    assert outcome.violations == ()
    said = next(each for each in outcome.assumptions if str(home) in each)
    assert f"{home}/hooks" in said
    assert ".ssh" not in said
