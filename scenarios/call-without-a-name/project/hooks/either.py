#!/usr/bin/env python3
# PreToolUse hook: refuses to remove build/, whichever names the host has for a tool and its input.
import json
import sys

call = json.load(sys.stdin)
given = call.get("tool_input") or json.loads(call["toolArgs"])
if "rm -rf build" in given.get("command", ""):
    print("build/ is shared; remove single files in it instead.", file=sys.stderr)
    sys.exit(2)
