#!/usr/bin/env python3
"""
Lets the agent stop when the linter has nothing to say.
"""

import json
import shutil
import sys


def main():
    json.load(sys.stdin)
    if shutil.which("project-lint") is None:
        reason = "The linter did not pass: project-lint is not installed. Run `project-lint src/` and mend what it says."
        print(json.dumps({"decision": "block", "reason": reason}))


main()
