#!/usr/bin/env python3
"""
Keeps the agent away from files with secrets.
"""

import json
import re
import sys
from pathlib import PurePath

SECRET = re.compile(r"\.env(\.(?!(.+\.)?(example|sample|template)$).*)?|id_(rsa|ed25519)|credentials\.json")


def main():
    asked = json.load(sys.stdin)
    name = PurePath(asked.get("tool_input", {}).get("file_path") or "").name
    if SECRET.fullmatch(name):
        print(f"{name} holds secrets, which are not for the agent. Use .env.example for the names of the variables.", file=sys.stderr)
        return 2
    return 0


sys.exit(main())
