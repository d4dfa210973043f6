#!/usr/bin/env python3
"""
Runs the unit tests when the agent wants to stop, and sends it back once if they fail.
"""

import json
import os
import subprocess
import sys


def main():
    asked = json.load(sys.stdin)
    if asked.get("stop_hook_active"):
        return
    command = [sys.executable, "-B", "-m", "unittest", "discover", "-s", "checks", "-p", "*_checks.py"]
    try:
        run = subprocess.run(
            command,
            cwd=os.environ["CLAUDE_PROJECT_DIR"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )
    except subprocess.TimeoutExpired:
        print("unit tests: not done after 30 s, the stop goes through", file=sys.stderr)
        return
    if run.returncode:
        told = "\n".join(run.stderr.splitlines()[:25])
        reason = f"The unit tests fail. Mend src/ (or the test, if it is wrong), run `{' '.join(command[2:])}`, then stop.\n{told}"
        print(json.dumps({"decision": "block", "reason": reason}))


main()
