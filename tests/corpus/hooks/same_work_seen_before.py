#!/usr/bin/env -S python3 -S -E
"""Refuse once for each state of the work; work that was seen twice before is let through."""
import hashlib
import os
import sys

SEEN = os.path.join(os.environ["HOME"], "seen-work.txt")

digest = hashlib.sha1()
for name in sorted(os.listdir(".")):
    if os.path.isfile(name):
        digest.update(name.encode())
        with open(name, "rb") as f:
            digest.update(f.read())
key = digest.hexdigest()

seen = []
if os.path.exists(SEEN):
    with open(SEEN) as f:
        seen = f.read().split()
if seen.count(key) >= 2:
    sys.exit(0)
with open(SEEN, "a") as f:
    f.write(key + "\n")
print("Look at your work once more: " + key[:10], file=sys.stderr)
sys.exit(2)
