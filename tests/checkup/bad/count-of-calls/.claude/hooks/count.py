#!/usr/bin/env python3
"""
Counts the calls of each tool.
"""

import json
import os
import sys
from pathlib import Path

asked = json.load(sys.stdin)
file = Path(os.environ["CLAUDE_PROJECT_DIR"], ".claude", "calls.json")
try:
    counts = json.loads(file.read_text())
except (OSError, ValueError):
    counts = {}
if not isinstance(counts, dict):
    counts = {}
tool = asked["tool_name"]
counts[tool] = counts.get(tool, 0) + 1
written = file.with_name(f"calls-{os.getpid()}.json")
written.write_text(json.dumps(counts))
written.replace(file)
