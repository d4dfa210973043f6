#!/usr/bin/env -S python3 -S -E
# Works on a task again and again. The loop's file has its settings on top and the prompt below.
import json
import os
import re
import sys

LOOP = ".claude/loop.local.md"
if not os.path.exists(LOOP):
    os.makedirs(".claude", exist_ok=True)
    with open(LOOP, "w") as f:
        f.write("---\niteration: 1\nmax_iterations: 30\n---\nMake all tests pass.\n")

with open(LOOP) as f:
    text = f.read()
iteration = int(re.search(r"^iteration: (\d+)$", text, re.M)[1])
limit = int(re.search(r"^max_iterations: (\d+)$", text, re.M)[1])

if limit > 0 and iteration >= limit:
    print("loop: %d iterations are over" % iteration)
    sys.exit(0)

text = re.sub(r"^iteration: \d+$", "iteration: %d" % (iteration + 1), text, flags=re.M)
with open(LOOP, "w") as f:
    f.write(text)
prompt = text.split("---", 2)[2].strip()
print(json.dumps({"decision": "block", "reason": prompt, "systemMessage": "iteration %d" % iteration}))
