#!/usr/bin/env python3
"""
Refuses to remove the root, the home folder, or the whole project.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from shell_words import commands

EVERYTHING = {"/", "/*", "~", "~/", "~/*", "$HOME", "$HOME/", "${HOME}", "$HOME/*", ".", "./", "*", "./*", "..", "../"}


def removes_everything(words):
    if words[0] != "rm":
        return False
    options = [word for word in words[1:] if word.startswith("-")]
    recursive = any(word == "--recursive" or (word[1:2] != "-" and set(word) & set("rR")) for word in options)
    return recursive and any(word in EVERYTHING for word in words[1:])


def main():
    asked = json.load(sys.stdin)
    line = asked.get("tool_input", {}).get("command", "")
    for words in commands(line):
        if removes_everything(words):
            reason = f"`{' '.join(words)}` removes more than this task owns. Name the folder that has to go, such as `rm -r build`."
            answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
            print(json.dumps({"hookSpecificOutput": answer}))
            return


main()
