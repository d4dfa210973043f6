"""
Variables and arguments in which scripts expect the input of a hook, although no host sets them.

A host gives the input on standard input. A variable is reported if a command names it, or a script that reads
nothing from standard input and so has no other input. An argument is reported if the command ends with the
script, and if the script assigns its first argument to a variable outside of all functions, looks nowhere
else for its input, and names the variable like something that a host sends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    PRINTS,
    SHELL_SCRIPT,
    code_of,
    script_of,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# From old examples and from code that models write; the host gives all of this on standard input.
_NEVER_SET = {
    "claude-code": r"CLAUDE_(?:TOOL_(?:INPUT(?:_\w+)?|NAME|OUTPUT|RESULT|RESPONSE|EXIT_CODE|COMMAND|FILE_PATH"
    r"|ARGS|PARAMS)|FILE_PATHS?|(?:EDITED|MODIFIED|CHANGED)_FILES?|TRANSCRIPT(?:_PATH|_FILE)?|USER_PROMPT"
    r"|BASH_COMMAND|STOP_REASON|NOTIFICATION(?:_MESSAGE|_TYPE)?|LAST_(?:MESSAGE|RESPONSE)"
    r"|HOOK_(?:EVENT(?:_NAME)?|INPUT|DATA|PAYLOAD))|TOOL_(?:NAME\b|(?:INPUT|OUTPUT|RESPONSE)(?:_\w+)?)"
}
# Keys of the input with what such a variable is meant to have, by a part of its name.
_KEYS = {
    "TRANSCRIPT": "transcript_path",
    "PROMPT": "prompt",
    "TOOL_NAME": "tool_name",
    "EVENT": "hook_event_name",
    "COMMAND": "tool_input.command",
    "NOTIFICATION": "message",
    "LAST_": "last_assistant_message",
    "FILE": "tool_input.file_path",
} | dict.fromkeys(["OUTPUT", "RESULT", "RESPONSE", "EXIT_CODE"], "tool_response")
_SHELL_TOOLS = re.compile(r"\bbash\b|shell|\bexec|terminal", re.IGNORECASE)
# Without a default of its own, or with one that says that its author expects a value.
_BARE = r"\$\{{?({0})(?![\w:-])"
_UNKNOWN = r"\$\{{({0}):?-(?:unknown)?\}}"
# In a script also with an empty default, or with an argument that the command does not give.
_IN_SHELL = r"\$\{{({0}):?-(?:\$[1-9@*]|\$\{{[1-9@*]:?-?\}}|''|\"\")?\}}"
_IN_PYTHON = (
    r"\b(?:environ\.get\(|environ\[|getenv\()\s*[\"']({0})[\"']\s*(?:\]|\)|,\s*(?:\"\"|''|None)\s*\))"
)
_IN_JAVASCRIPT = r"\bprocess\.env\.({0})\b(?!\s*(?:\?\?|\|\|)(?!\s*(?:[\"']\{{?\}}?[\"']|null|undefined)))"
_PYTHON, _SHELL = re.compile(r"#!.*python|^(?:import|from) \w+", re.MULTILINE), re.compile(r"#!.*sh\b")
# What sets a variable in a shell names it without a dollar; elsewhere it is an assignment.
_NAMED = r"(?<![\w${{]){0}\b|\b{0}\}}?:?="
_ASSIGNED = r"\b{0}(?:[\"']\])?\s*=(?!=)|setdefault\(\s*[\"']{0}\b"
# Standard input by one of its names, wherever it stands.
_STDIN = re.compile(
    r"stdin|\binput\(|\bopen\(\s*0|Sync\(\s*0|\bread\(\s*0|\bfd:\s*0|fd/0\b|<&0|@-|\bfileinput\b"
)
_PYTHON_IMPORT = re.compile(r"^[ \t]*(?:from\s+([\w.]+)\s+import|import\s+([^\n#;]+))", re.MULTILINE)
_PYTHON_STARTS = re.compile(
    r"\bos\.(?:exec|system|popen|spawn)|\brunpy\b|\bimportlib\b|__import__|sys\.executable"
    r"|[\"'](?:jq|cat|tee|head|bash|sh|node|python[\d.]*)[\"']|\w\.(?:py|sh|js|mjs|ts)[\"']"
)
_JAVASCRIPT_IMPORT = re.compile(r"(?:\bfrom|\brequire\(|\bimport\(?)\s*(?:[\"'`]([^\"'`\n]*)|[^\s\"'`{*])")
_JAVASCRIPT_OWN = re.compile(
    r"(?:node:)?(?:fs|path|os|child_process|util|url|crypto|process|https?|assert)(?:/promises)?"
)
# A variable that a script gives to jq, which searches it for keys of an input.
_PIPED = re.compile(
    r"\b" + PRINTS + r"(?:-\w+[ \t]+)?\"?\$\{?([A-Za-z_]\w*)\}?\"?[ \t]*"
    r"\|[ \t]*jq\b[^|;)\n]{0,80}"
    r"\.(?:tool_input|tool_name|tool_response|transcript_path|session_id|hook_event_name|prompt)\b"
)
# Where a command begins, unless it is after a pipe, and its first word, in code without quoted text.
_COMMAND = re.compile(
    r"(?:^|[;`]|(?<!>)&|(?<!=)\(|\|\||[{!](?=\s)|\)\"?(?=\s))[ \t]*"
    r"(?:(?:if|elif|while|until|then|else|do|!|\{)\s+)*"
    r"(?:\w+\+?=[^\s()`;&|<>]*[ \t]+)*(?P<word>[\w\"$./~:\[][^\s;&|()<>`]*)(?=(?P<rest>[^;&|)\n]{0,300}))",
    re.MULTILINE,
)
_ARRAY = re.compile(r"\b\w+\+?=\([^()]*\)")
_CONDITION = re.compile(r"\[\[(?:(?!\]\]|\$\(|`).){0,300}\]\]|\(\((?:(?!\)\)|\$\().){0,300}\)\)")
_CASE = re.compile(
    r"(?:^|;;|\bin\b)[ \t]*\(?(?!cat\b|jq\b)[^\s()&;|`]+(?:[ \t]*\|[ \t]*[^\s()&;|`]+)*[ \t]*\)", re.MULTILINE
)
# Words of a shell, and programs that do not look at standard input; all others may be a way to the input.
_READ_NOTHING = re.compile(
    r":|\[|alias|basename|biome|black|break|case|cd|chmod|continue|cp|curl|date|declare|diff|dirname|do"
    r"|done|echo|elif|else|esac|eslint|exit|export|false|fi|find|for|function|git|gofmt|goimports|shfmt|hash|if|isort"
    r"|kill|let|ln|local|ls|mkdir|mktemp|mv|mypy|prettier|printf|pwd|pyright|pytest|readonly|realpath"
    r"|return|rm|rmdir|ruff|rustfmt|set|shift|shopt|sleep|stat|test|then|touch|trap|true|tsc|type"
    r"|typeset|umask|uname|unset|wait|which|whoami|while"
)
# With a file that is not `-` and not an argument of the script; a quoted `$1` is two hidden characters.
_PLAIN_CAT = re.compile(r"\s+(?:<<|[^\s<>\d\"$-]|\"(?!_{1,2}\"|\$)|\$(?![@*\d{]))")
_OF_A_CHECK = re.compile(r"\s+(?:--?[\w-]+\s+)*(?:prettier|eslint|tsc|biome|test|lint|format)\b")
# With no default, or one that says that there is no value.
_GIVEN_IN_SHELL = re.compile(
    r"(?<![\w$.-])(?:readonly[ \t]+|export[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<mark>\"?)"
    r"(?:\$1|\$\{1(?::?-[\"']?(?:unknown|none|null|n/?a)?[\"']?)?\})(?P=mark)(?=[ \t]*(?:[;\n#]|$))",
    re.IGNORECASE,
)
_GIVEN_IN_PYTHON = re.compile(r"^(?P<name>[A-Za-z_]\w*)\s*=\s*sys\.argv\[1\]", re.MULTILINE)
_GIVEN_IN_JAVASCRIPT = re.compile(
    r"^(?:const|let|var)\s+(?P<name>\w+)\s*=\s*process\.argv\[2\]\s*(?:;|\|\|\s*(?:''|\"\"|null))",
    re.MULTILINE,
)
# The script has another way to the input, or knows that it may have no argument.
_OTHER_WAYS = re.compile(
    r"stdin|\bjq\b|\$\(cat\)|`cat`|\bread\b|\bmapfile\b|\$#|\busage\b|argparse|\blen\(sys\.argv|argv\.length"
    r"|^\s*(?:source|\.)\s|\bset\s+--|\bshift\b|\binput\(|Sync\(\s*0|fd/0|CLAUDE_\w*(?:INPUT|FILE|TOOL)",
    re.IGNORECASE | re.MULTILINE,
)
# The script can do without the value, or gets it elsewhere.
_OPTIONAL = (
    r"-[nz]\s+\"?\$\{{?{0}\b(?![^\n]*\bexit\b)|\$\{{{0}:?[-=+]|(?<![\w$]){0}=(?![\"']?\$\{{?1)"
    r"|\$\{{?{0}\}}?\"?\s*!?==?\s*[\"']?--?\w|\[\s+\"?\$\{{?{0}\}}?\"?\s+\](?![^\n]*\bexit\b)"
)
# Names of values on which a hook works. Any other word may choose what to do, and be empty on purpose.
_OF_INPUT = re.compile(
    r"(?:(?:changed|edited|modified|target|current|hook)_?)?(?:file|path|tool|input|json|payload|prompt|message"
    r"|title|(?:sub)?agent|session|transcript|content)(?:_?(?:name|path|type|id|input|json))?",
    re.IGNORECASE,
)


def expected_variable(hook_set: HookSet, hook: Hook) -> str:
    """Return a variable that is never set, and from which a hook takes its input; empty for none."""
    names, given = _NEVER_SET.get(hook_set.host), {**hook_set.env, **hook.env}
    texts = hook_set.scripts_of(hook)
    if name := next((one for one in _piped(texts[0] if texts else hook.command) if one not in given), ""):
        return name
    if names is None:
        return ""
    reads = _STDIN.search(hook.command) or "$(cat)" in hook.command
    ways = (_BARE, _UNKNOWN)
    found = [name for way in ways for name in re.findall(way.format(names), hook.command) if not reads]
    if not found and len(texts) == 1 and is_bare(hook_set, hook):
        found = [*_in_script(names, texts[0])]
    named = (name for name in found if name not in given)
    return next((name for name in named if not re.search(_NAMED.format(name), hook.command)), "")


def _piped(text: str) -> Iterator[str]:
    """Yield the variables that a text gives to `jq` as the input of a hook, and that it never assigns."""
    loads = re.search(r"(?:^|[;&|]|\bthen\b)[ \t]*(?:\.|source)[ \t]+\S", text, re.MULTILINE)
    for name in dict.fromkeys(_PIPED.findall(text)) if not loads else ():
        assigned = (
            rf"(?<![\w$]){name}\+?=|\b(?:read|mapfile|readarray)\b[^\n;|]*\b{name}\b|\bfor\s+{name}\b"
            rf"|\bset\s+(?:-\w+\s+)*{name}\b|\bprintf\s+-v\s+{name}\b|\benviron\b|\bexport\s+{name}\b"
        )
        if not re.search(assigned, text):
            yield name


def key_for(variable: str, hook: Hook) -> str:
    """Return the key of the input to read instead of a variable, for the tools of a hook's matcher."""
    any_input = "tool_input.command" if _SHELL_TOOLS.search(hook.matcher or "") else "tool_input.file_path"
    return next((key for part, key in _KEYS.items() if part in variable), any_input)


def is_bare(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a command is a script with nothing after it, and nothing that gives it arguments."""
    ends = tuple(path.rpartition("/")[2] for path, _ in hook_set.sources)
    piped = re.search(r"(?<!\|)\|(?!\|)|\bxargs\b", hook.command)
    return hook.args is None and not piped and hook.command.rstrip(" \"'").endswith(ends)


def _in_script(names: str, text: str) -> Iterator[str]:
    code, sets = text, _ASSIGNED
    if _SHELL.match(text):
        code, sets, ways, may_read = code_of(text), _NAMED, [_BARE, _IN_SHELL], _shell_may_read
    elif _PYTHON.search(text):
        ways, may_read = [_IN_PYTHON], _python_may_read
    else:
        ways, may_read = [_IN_JAVASCRIPT], _javascript_may_read
    found = [name for way in ways for name in re.findall(way.format(names), text)]
    if found and not _STDIN.search(text) and not may_read(code):
        yield from (name for name in found if not re.search(sets.format(name), code))


def _python_may_read(text: str) -> bool:
    """Return whether a script loads modules that are no part of Python, or starts another script."""
    loaded = {
        module.strip().partition(" ")[0].partition(".")[0]
        for one, several in _PYTHON_IMPORT.findall(text)
        for module in (one or several).split(",")
    }
    return not loaded <= sys.stdlib_module_names or bool(_PYTHON_STARTS.search(text))


def _javascript_may_read(text: str) -> bool:
    """Return whether a script loads modules that are no part of Node, or starts what has the same input."""
    loaded = _JAVASCRIPT_IMPORT.findall(text)
    return "inherit" in text or not all(map(_JAVASCRIPT_OWN.fullmatch, loaded))


def _shell_may_read(text: str) -> bool:
    """Return whether a command of a script, in code without quoted text, may read the input of the script."""
    own = {one.name for one in script_of(text).functions}
    commands = _COMMAND.finditer(_CASE.sub(";", _CONDITION.sub(":", _ARRAY.sub("x=", text))))
    return any(_may_read(one["word"], one["rest"]) for one in commands if one["word"] not in own)


def _may_read(word: str, rest: str) -> bool:
    word = word.removeprefix("./").removeprefix("node_modules/.bin/")
    if _READ_NOTHING.fullmatch(word) or re.fullmatch(r"_+[\"']?|\w+(?:\[[^]]*\])?\+?=.*", word):
        return False
    if word == "cat":
        return not _PLAIN_CAT.match(rest)
    if word == "command":
        return not rest.lstrip().startswith("-v")
    if word in ("npx", "pnpm", "npm", "yarn", "bunx"):
        return not _OF_A_CHECK.match(rest)
    # It has an input of its own.
    return "<" not in rest


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
            for one in _GIVEN_IN_SHELL.finditer(code)
            if script.is_code(one.start("name")) and not script.function_at(one.start())
        ]
    else:
        found = [*_GIVEN_IN_PYTHON.finditer(code), *_GIVEN_IN_JAVASCRIPT.finditer(code)]
    names = (one["name"] for one in found if _OF_INPUT.fullmatch(one["name"]))
    return next((name for name in names if not re.search(_OPTIONAL.format(name), code)), "")
