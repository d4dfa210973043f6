#!/usr/bin/env python3
# PreToolUse hook: refuses `rm -rf` where a shell would run it; in quotes and heredocs it is only text.
import json
import re
import shlex
import sys

SHELLS = {"sh", "bash", "dash", "zsh"}
HEREDOC = re.compile(r"^(.*?)<<-?\s*['\"]?(\w+)['\"]?(.*)\n((?s:.*?))^\2$", re.MULTILINE)
SUBSTITUTION = re.compile(r"\$\((.*?)\)|`(.*?)`", re.DOTALL)


def removes(line):
    for command, _, _, body in HEREDOC.findall(line):
        if SHELLS & {*command.split()[:1]} and removes(body):
            return True
    line = HEREDOC.sub(r"\1\3", line)
    if any(map(removes, filter(None, sum(SUBSTITUTION.findall(re.sub(r"'[^']*'", "", line)), ())))):
        return True
    words = shlex.shlex(line.replace("\n", ";"), posix=True, punctuation_chars=True)
    commands = [[]]
    for word in words:
        commands[-1:] = [commands[-1], []] if set(word) <= set(";|&()") else [[*commands[-1], word]]
    return any(runs_removal(one, before) for before, one in zip([[], *commands], commands))


def runs_removal(words, piped):
    if words[:1] == ["xargs"]:
        return runs_removal([*words[1:], *piped[1:]], [])
    if SHELLS & {*words[:1]} and "-c" in words[:-1]:
        return removes(words[words.index("-c") + 1])
    return words[:2] == ["rm", "-rf"]


if removes(json.load(sys.stdin)["tool_input"].get("command", "")):
    print("removing folders is not for agents; ask for it", file=sys.stderr)
    sys.exit(2)
