#!/usr/bin/env python3
"""
Takes imports that are not used out of the file that was just edited.
"""

import json
import os
import re
import sys
from pathlib import Path

asked = json.load(sys.stdin)
file = Path(asked.get("tool_input", {}).get("file_path") or "/")
inside = os.path.realpath(file).startswith(os.path.realpath(os.environ["CLAUDE_PROJECT_DIR"]) + "/")
if file.suffix == ".py" and inside and file.is_file():
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    names = {line: found[1] for line in lines if (found := re.match(r"import (\w+)\s*$", line))}
    text = "".join(line for line in lines if line not in names)
    kept = [line for line in lines if line not in names or re.search(rf"\b{names[line]}\b", text)]
    if kept != lines:
        file.write_text("".join(kept), encoding="utf-8")
