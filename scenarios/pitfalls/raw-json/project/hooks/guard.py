#!/usr/bin/env python3
# PreToolUse hook: parses its input and looks at the one field that is a command.
import json
import sys

call = json.load(sys.stdin)
if call["tool_input"].get("command", "").startswith("git push --force"):
    print("a forced push loses the work of others; push without --force", file=sys.stderr)
    sys.exit(2)
