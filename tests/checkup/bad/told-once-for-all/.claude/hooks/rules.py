#!/usr/bin/env python3
"""
Gives each session the house rules with its first prompt.
"""

import json
import os
import sys
from pathlib import Path

json.load(sys.stdin)
root = Path(os.environ["CLAUDE_PROJECT_DIR"])
told = root / ".claude" / "rules-were-told"
if not told.exists():
    told.touch()
    print((root / "RULES.md").read_text()[:2000])
