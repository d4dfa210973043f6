#!/usr/bin/env python3
# PreToolUse hook: refuses `rm -rf` where a shell would run it: text in quotes and heredocs is data, unless a shell is given it.
import json
import re
import shlex
import sys

SHELLS = {"sh", "bash", "dash", "zsh"}
HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(.*)\n((?s:.*?))^\2$", re.MULTILINE)
SUBSTITUTION = re.compile(r"\$\((.*?)\)|`(.*?)`", re.DOTALL)
SINGLE_QUOTED = re.compile(r"'[^']*'")


def removes(line):
    """Whether a command line removes a folder with all that is in it."""
    for found in HEREDOC.finditer(line):
        fed = line[: found.start()].rpartition("\n")[2].split()
        if fed[:1] and fed[0] in SHELLS and removes(found[4]):
            return True
    line = HEREDOC.sub(r"\3", line)
    if any(removes(one or other) for one, other in SUBSTITUTION.findall(SINGLE_QUOTED.sub("", line))):
        return True
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&()\n")
    lexer.whitespace, lexer.whitespace_split = " \t", True
    piped = []
    command = []
    for word in [*lexer, ";"]:
        if not set(word) <= set(";|&()\n"):
            command.append(word)
            continue
        if runs_removal(command, piped):
            return True
        piped, command = (command if word == "|" else []), []
    return False


def runs_removal(words, piped):
    """Whether one simple command removes a folder, by itself or by what it hands to another."""
    if words[:1] == ["xargs"]:
        return runs_removal([*words[1:], *piped[1:]], [])
    if words[:1] and words[0] in SHELLS and "-c" in words[:-1]:
        return removes(words[words.index("-c") + 1])
    return words[:2] == ["rm", "-rf"]


try:
    refused = removes(json.load(sys.stdin)["tool_input"].get("command", ""))
except ValueError:
    refused = True
if refused:
    print("removing folders is not for agents; ask for it", file=sys.stderr)
    sys.exit(2)
