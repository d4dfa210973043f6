#!/usr/bin/env python3
"""
Lets the agent stop once it has said that the tests pass.
"""

import json
import sys
from pathlib import Path

asked = json.load(sys.stdin)
try:
    said = Path(asked["transcript_path"]).read_text(encoding="utf-8", errors="replace")
except OSError:
    said = ""
if '"ALL TESTS PASS"' not in said.replace("\\", ""):
    reason = "Run `make test`. When they all pass, end your message with that in capitals and in quotation marks."
    print(json.dumps({"decision": "block", "reason": reason}))
