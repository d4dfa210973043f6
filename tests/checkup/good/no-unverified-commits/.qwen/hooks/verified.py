#!/usr/bin/env python3
"""
Refuses commits that skip the hooks of git.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from shell_words import commands

WITH_VALUE = {"-m", "--message", "-F", "--file", "-C", "-c", "--author", "--date", "-t"}


def skips_hooks(words):
    """
    Whether this is a commit with --no-verify, or -n, as an option and not as the value of one.
    """
    if words[0] != "git" or "commit" not in words:
        return False
    rest = iter(words[words.index("commit") + 1 :])
    for word in rest:
        if word == "--":
            return False
        if word in WITH_VALUE:
            next(rest, None)
        elif word == "--no-verify" or (word.startswith("-") and word[1:2] != "-" and "n" in word.partition("m")[0]):
            return True
    return False


def main():
    asked = json.load(sys.stdin)
    if any(map(skips_hooks, commands(asked.get("tool_input", {}).get("command", "")))):
        reason = "Commits go through the checks here: leave --no-verify out, and mend what the checks say."
        answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
        print(json.dumps({"hookSpecificOutput": answer}))


main()
