#!/usr/bin/env -S python3 -S -E
# Back-off: the wait that is advised doubles; when it gets silly, stop nagging.
import os
import sys

path = ".claude/backoff"
os.makedirs(".claude", exist_ok=True)
wait = 1
if os.path.exists(path):
    with open(path) as f:
        wait = int(f.read())

if wait > 600:
    os.remove(path)
    sys.exit(0)
with open(path, "w") as f:
    f.write(str(wait * 2))
sys.stderr.write("The staging server does not answer. Try again in %d seconds.\n" % wait)
sys.exit(2)
