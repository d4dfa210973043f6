#!/usr/bin/env python3
"""
Has the work read twice: once for what it does, once for how it reads.
"""

import json
import os
import sys
from pathlib import Path

json.load(sys.stdin)
phase = Path(os.environ["CLAUDE_PROJECT_DIR"], ".claude", "review-phase")
now = phase.read_text().strip() if phase.exists() else "content"
if now == "content":
    phase.write_text("style\n")
    reason = "Read src/ once more for what it does, and mend what is wrong; next comes the style."
else:
    phase.write_text("content\n")
    reason = "Read src/ once more for its style; after that what it does has to be checked again."
print(json.dumps({"decision": "block", "reason": reason}))
