"""
Variables that people expect to have the input of a hook, and that no host sets.

They are named in a command, or in a script that reads nothing from standard input, so that it has no other
way to its input.
"""

from __future__ import annotations

import re

from pytest_hookharness.campaigns.check.static.mac_shell import code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Of old examples, and of what models write; the host gives all of this on standard input.
_NEVER_SET = {"claude-code": r"CLAUDE_(?:TOOL_(?:INPUT|NAME|OUTPUT|FILE)|FILE_PATHS?|HOOK_EVENT|OUTPUT)\w*"}
# Without a default of its own.
_BARE = r"\$\{{?({0})(?![\w:-])"
# In a script also with an empty default, or with an argument that the command does not give.
_IN_SHELL = r"\$\{{({0}):?-(?:\$[1-9@*]|\$\{{[1-9@*]:?-?\}}|''|\"\")?\}}"
_IN_PYTHON = (
    r"\b(?:environ\.get\(|environ\[|getenv\()\s*[\"']({0})[\"']\s*(?:\]|\)|,\s*(?:\"\"|''|None)\s*\))"
)
_IN_JAVASCRIPT = r"\bprocess\.env\.({0})\b(?!\s*(?:\?\?|\|\|)(?!\s*(?:[\"']\{{?\}}?[\"']|null|undefined)))"
_PYTHON, _SHELL = re.compile(r"#!.*python|^(?:import|from) \w+", re.MULTILINE), re.compile(r"#!.*sh\b")
# How scripts come to their input, themselves or in files that they load.
_READS = re.compile(
    r"stdin\b|\binput\(|open\(0|readFileSync\(\s*0|fd/0\b|<&0"
    r"|(?<![\w.-])cat\s*(?:-\s*)?(?:[)|>;&`]|\d>|$)"
    r"|(?:^|[;&({`!]|\b(?:if|while|until|then|do|else)\s)\s*(?:\w+=\S*\s+)*(?:read|jq|mapfile|readarray|tee|source|\.)\s",
    re.MULTILINE,
)


def expected_variable(hook_set: HookSet, hook: Hook) -> str:
    """Return a variable from which a hook takes its input in vain; empty for none."""
    names = _NEVER_SET.get(hook_set.host)
    if names is None:
        return ""
    if found := re.search(_BARE.format(names), hook.command):
        return found[1]
    texts = hook_set.scripts_of(hook)
    found_in = _in_script(names, texts[0]) if len(texts) == 1 and _is_bare(hook_set, hook) else ""
    return "" if f"{found_in}=" in hook.command or found_in in hook_set.env else found_in


def _is_bare(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a command is a script and nothing behind it."""
    ends = tuple(path.rpartition("/")[2] for path, _ in hook_set.sources)
    return hook.args is None and hook.command.rstrip(" \"'").endswith(ends)


def _in_script(names: str, text: str) -> str:
    if _SHELL.match(text):
        code = code_of(text)
        lines = [line for line in code.split("\n") if "<<<" not in line]
        ways, reads = [_BARE, _IN_SHELL], _READS.search("\n".join(lines))
    elif _PYTHON.search(text):
        ways, reads = [_IN_PYTHON], _READS.search(text)
    else:
        ways, reads = [_IN_JAVASCRIPT], _READS.search(text)
    found = [name for way in ways for name in re.findall(way.format(names), text)] if not reads else []
    return next((name for name in found if not re.search(rf"\b{name}(?:=|\}}?:=)", text)), "")
