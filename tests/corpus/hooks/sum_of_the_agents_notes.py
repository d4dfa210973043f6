#!/usr/bin/env -S python3 -S -E
# The agent writes numbers into files of the project. Enough is enough.
import glob
import sys

total = 0
for name in glob.glob("touched-*.txt"):
    with open(name) as f:
        words = f.read().split()
    total += sum(int(word) for word in words if word.isdigit())

if total > 100:
    sys.exit(0)
print("Points so far: %d. Go on." % total, file=sys.stderr)
sys.exit(2)
