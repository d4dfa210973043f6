#!/usr/bin/env -S python3 -S -E
# One line for each stop in all projects.
import os
import sys
import time

history = os.path.expanduser("~/.agent_history")
with open(history, "a") as f:
    f.write("%d\t%s\n" % (time.time(), os.path.basename(os.getcwd())))

if os.environ.get("AGENT_MAY_STOP") != "1":
    print("AGENT_MAY_STOP is not set, go on with the backlog.", file=sys.stderr)
    sys.exit(2)
