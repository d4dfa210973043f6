#!/usr/bin/env python3
# PreToolUse hook: refuses to remove build/, and takes it for granted that the call has a tool_name.
import json
import sys

call = json.load(sys.stdin)
if call["tool_name"] != "Read" and "rm -rf build" in json.dumps(call["tool_input"]):
    print("build/ is shared; remove single files in it instead.", file=sys.stderr)
    sys.exit(2)
