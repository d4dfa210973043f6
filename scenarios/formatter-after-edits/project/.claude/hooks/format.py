#!/usr/bin/env python3
# PostToolUse hook: takes the spaces at the ends of lines out of the file that was just edited.
import json
import pathlib
import sys

payload = json.loads(sys.stdin.readline())
file = pathlib.Path(payload["tool_input"]["file_path"])
before = file.read_text()
after = "".join(line.rstrip() + "\n" for line in before.splitlines())
if after != before:
    file.write_text(after)
