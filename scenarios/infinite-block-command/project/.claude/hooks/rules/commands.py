"""Runs the command of a rule under a limit of its own, and leaves nothing of it behind."""

import contextlib
import os
import signal
import subprocess


def run(rule, project):
    """What to tell about a failed command; empty if it passed."""
    import tempfile  # takes long to load, and most stops run no command

    # Output goes to a file: a background child that keeps a pipe open would be waited for.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            ["sh", "-c", rule.command],
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            code = process.wait(rule.limit)
            result = f"failed with exit code {code}" if code else ""
        except subprocess.TimeoutExpired:
            result = f"was cut after {rule.limit:g} s"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        lines = output.read().decode("utf-8", "replace").splitlines()[-20:]
    return "\n".join([f"The command `{rule.command}` {result}.", *lines]) if result else ""
