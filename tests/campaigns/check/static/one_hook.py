"""A set of hooks in which one has a script, for tests of what is read in scripts."""

from pathlib import Path

from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


def one_hook(event, text, others=()):
    """Return the set of a hook of an event, given its script and those of others, and the hook."""
    hook = Hook(event=event, command="bash x.sh")
    sources = (("x.sh", text), *((f"{number}.sh", other) for number, other in enumerate(others)))
    root = Path(__file__).parent
    return HookSet(host="claude-code", root=root, files=(), hooks=(hook,), sources=sources), hook
