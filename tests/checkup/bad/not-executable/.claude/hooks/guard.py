#!/usr/bin/env python3
import json
import os
import sys

asked = json.load(sys.stdin)
if os.path.basename(asked.get("tool_input", {}).get("file_path", "")) == ".env":
    print(".env holds secrets. Use .env.example for the names of the variables.", file=sys.stderr)
    sys.exit(2)
