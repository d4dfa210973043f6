#!/usr/bin/env python3
"""
Demands a passing check; after three refusals the agent may stop all the same.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

json.load(sys.stdin)
root = Path(os.environ["OPENHANDS_PROJECT_DIR"])
run = subprocess.run(["sh", "check.sh"], cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL)
if run.returncode == 0:
    sys.exit(0)
count = root / ".openhands" / "refusals"
try:
    times = int(count.read_text())
except (OSError, ValueError):
    times = 0
if times >= 3:
    sys.exit(0)
count.write_text(f"{times + 1}\n")
print(f"check.sh fails: {run.stdout.strip()[:300]}; mend version.txt, then stop.", file=sys.stderr)
sys.exit(2)
