#!/usr/bin/env python3
# PostToolUse hook: takes imports out of the program that nothing in it uses.
import pathlib
import re

file = pathlib.Path("app.py")
text = file.read_text()
names = re.findall(r"^import (\w+)\n", text, re.MULTILINE)
for name in names:
    if len(re.findall(rf"\b{name}\b", text)) == 1:
        text = text.replace(f"import {name}\n", "")
if text != file.read_text():
    file.write_text(text)
