#!/usr/bin/env python3
"""
Logs how long each session took.
"""

import json
import os
import re
import sys
import time
from pathlib import Path


def main():
    asked = json.load(sys.stdin)
    log = Path(os.environ["CLAUDE_PROJECT_DIR"], ".claude", "log")
    stamp = log / ("started-" + re.sub(r"[^\w-]", "", asked["session_id"]))
    try:
        if asked["hook_event_name"] == "SessionStart":
            log.mkdir(exist_ok=True)
            stamp.touch()
        elif stamp.exists():
            took = time.time() - stamp.stat().st_mtime
            stamp.unlink()
            with open(log / "sessions.log", "a", encoding="utf-8") as lines:
                lines.write(f"{time.strftime('%F %T')} {asked['session_id']} {took:.0f} s\n")
    except OSError as error:
        print(f"session times: {error}", file=sys.stderr)


main()
