#!/usr/bin/env python3
import json
import os
import sys

json.load(sys.stdin)
if not os.path.exists(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "HANDOVER.md")):
    print(json.dumps({"decision": "block", "reason": "Write HANDOVER.md in the project folder before you stop."}))
