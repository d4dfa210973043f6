"""
Arguments that scripts expect and that their hooks do not give: a host gives the input on standard input.

Only a script is named whose command ends with it, that takes its first argument into a variable outside of
all functions, and that looks nowhere else for its input. The variable has the name of what a host sends.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.shell_code.script_parts import script_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT
from pytest_hookharness.campaigns.check.static.unset_variables import is_bare
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# With no default, or one that says that there is no value.
_IN_SHELL = re.compile(
    r"(?<![\w$.-])(?:readonly[ \t]+|export[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<mark>\"?)"
    r"(?:\$1|\$\{1(?::?-[\"']?(?:unknown|none|null|n/?a)?[\"']?)?\})(?P=mark)(?=[ \t]*(?:[;\n#]|$))",
    re.IGNORECASE,
)
_IN_PYTHON = re.compile(r"^(?P<name>[A-Za-z_]\w*)\s*=\s*sys\.argv\[1\]", re.MULTILINE)
_IN_JAVASCRIPT = re.compile(
    r"^(?:const|let|var)\s+(?P<name>\w+)\s*=\s*process\.argv\[2\]\s*(?:;|\|\|\s*(?:''|\"\"|null))",
    re.MULTILINE,
)
# Another way to the input, or a script that knows that it may have no argument.
_OTHER_WAYS = re.compile(
    r"stdin|\bjq\b|\$\(cat\)|`cat`|\bread\b|\bmapfile\b|\$#|\busage\b|argparse|\blen\(sys\.argv|argv\.length"
    r"|^\s*(?:source|\.)\s|\bset\s+--|\bshift\b|\binput\(|Sync\(\s*0|fd/0|CLAUDE_\w*(?:INPUT|FILE|TOOL)",
    re.IGNORECASE | re.MULTILINE,
)
# A value that the script can do without, or gets elsewhere.
_OPTIONAL = (
    r"-[nz]\s+\"?\$\{{?{0}\b(?![^\n]*\bexit\b)|\$\{{{0}:?[-=+]|(?<![\w$]){0}=(?![\"']?\$\{{?1)"
    r"|\$\{{?{0}\}}?\"?\s*!?==?\s*[\"']?--?\w|\[\s+\"?\$\{{?{0}\}}?\"?\s+\](?![^\n]*\bexit\b)"
)
# What a hook works on. Any other word may choose what to do, and have no value on purpose.
_OF_INPUT = re.compile(
    r"(?:(?:changed|edited|modified|target|current|hook)_?)?(?:file|path|tool|input|json|payload|prompt|message"
    r"|title|(?:sub)?agent|session|transcript|content)(?:_?(?:name|path|type|id|input|json))?",
    re.IGNORECASE,
)


def absent_argument(hook_set: HookSet, hook: Hook) -> str:
    """Return the variable that a script takes from an argument that its hook does not give; or nothing."""
    texts = hook_set.scripts_of(hook)
    if hook.type != "command" or len(texts) != 1 or not is_bare(hook_set, hook):
        return ""
    (text,) = texts
    script = script_of(text)
    code = script.code
    if hosts.find(hook_set.host).events.get(hook.event) is None or _OTHER_WAYS.search(code):
        return ""
    if SHELL_SCRIPT.match(text):
        found = [
            one
            for one in _IN_SHELL.finditer(code)
            if script.is_code(one.start("name")) and not script.function_at(one.start())
        ]
    else:
        found = [*_IN_PYTHON.finditer(code), *_IN_JAVASCRIPT.finditer(code)]
    names = (one["name"] for one in found if _OF_INPUT.fullmatch(one["name"]))
    return next((name for name in names if not re.search(_OPTIONAL.format(name), code)), "")
