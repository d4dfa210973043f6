#!/usr/bin/env python3
import json
import os
import sys

json.load(sys.stdin)
allowed = {"README.md", "CHANGELOG.md"}
strays = [name for name in sorted(os.listdir(os.environ["CLAUDE_PROJECT_DIR"])) if name.endswith(".md") and name not in allowed]
if strays:
    print(json.dumps({"decision": "block", "reason": f"Remove {strays[0]}: only README.md and CHANGELOG.md belong there."}))
