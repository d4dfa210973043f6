#!/usr/bin/env -S python3 -S -E
# Nobody reads more than a page of complaints.
import os
import sys
import time

LOG = os.path.join(os.environ.get("CLAUDE_PROJECT_DIR", "."), "complaints.log")
LIMIT = 4096

size = os.path.getsize(LOG) if os.path.exists(LOG) else 0
if size >= LIMIT:
    sys.exit(0)

with open(LOG, "a") as f:
    f.write(time.strftime("%Y-%m-%dT%H:%M:%S") + " tests are slow\n")
print("Tests are slow. Make them faster.", file=sys.stderr)
sys.exit(2)
