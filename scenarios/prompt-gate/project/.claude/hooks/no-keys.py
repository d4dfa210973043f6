#!/usr/bin/env python3
# UserPromptSubmit hook: refuses a prompt that holds something like a secret key.
import json
import re
import sys

payload = json.loads(sys.stdin.readline())
if re.search(r"\bkey-[0-9a-f]{8,}\b", payload["prompt"]):
    print(json.dumps({"decision": "block", "reason": "There is a key in your prompt; take it out."}))
