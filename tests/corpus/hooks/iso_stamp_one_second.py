#!/usr/bin/env -S python3 -S -E
"""Give the file watcher a second to notice the last edits."""
import os
import sys
from datetime import datetime, timedelta, timezone

path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "watcher-since.txt")
now = datetime.now(timezone.utc)

if os.path.exists(path):
    with open(path) as f:
        since = datetime.fromisoformat(f.read().strip())
else:
    since = now
    with open(path, "w") as f:
        f.write(now.isoformat() + "\n")

if now - since >= timedelta(seconds=1):
    sys.exit(0)
print("The watcher has not settled yet (since %s)." % since.strftime("%H:%M:%S"), file=sys.stderr)
sys.exit(2)
