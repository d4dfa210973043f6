#!/usr/bin/env python3
import json
import os
import sys

asked = json.load(sys.stdin)
with open(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], ".claude", "edited.log"), "a") as log:
    log.write(asked["tool_input"]["file_path"] + "\n")
