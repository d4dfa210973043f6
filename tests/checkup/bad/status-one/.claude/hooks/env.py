#!/usr/bin/env python3
"""
Keeps the agent away from .env.
"""

import json
import os
import sys

asked = json.load(sys.stdin)
if os.path.basename(asked.get("tool_input", {}).get("file_path", "")) == ".env":
    print("Blocked: .env holds secrets. Use .env.example for the names of the variables.", file=sys.stderr)
    sys.exit(1)
