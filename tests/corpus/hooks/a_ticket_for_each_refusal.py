#!/usr/bin/env -S python3 -S -E
"""Every refusal opens a ticket. A full inbox means that somebody else has to look."""
import os
import sys

inbox = os.path.join(os.environ["HOME"], "inbox")
os.makedirs(inbox, exist_ok=True)
tickets = os.listdir(inbox)
if len(tickets) >= 120:
    sys.exit(0)

name = "ticket-%d-%d.txt" % (len(tickets) + 1, os.getpid())
with open(os.path.join(inbox, name), "w") as f:
    f.write("agent wants to stop, accessibility audit is open\n")
print("Accessibility audit is open, see " + name, file=sys.stderr)
sys.exit(2)
