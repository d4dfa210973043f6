#!/usr/bin/env python3
"""
Logs which tools were called.
"""

import json
import os
import sys
import time

asked = json.load(sys.stdin)
log = os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "..", "agent-calls.log")
try:
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, f"{time.strftime('%F %T')} {asked['tool_name']}\n".encode())
    os.close(file)
except OSError:
    pass
