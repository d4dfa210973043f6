"""
State that a script names after a variable which is meant to hold the session, and which its host never sets.

The variable has a default then, so that all sessions share one state. A script that also reads the session
from its input is left out, and so is one that only prints the variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES, files_named, read_text
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, loaded_texts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_NEVER_SET = {"claude-code": "CLAUDE_SESSION_ID"}
# The session in the input, in any of the languages.
_OF_INPUT = re.compile(
    r"[\"']session_?[iI]d[\"'](?!\s*:)|\bcase\s*\{[^\n]*[\"']session_?[iI]d\b"
    r"|\{[^{}]*\bsession_?[iI]d\b[^{}]*\}\s*(?::[^=\n]+)?=\s"
    r"|(?<!self)(?<!this)\.session_?[iI]d\b|\"session_id\\?\":\s*\\?\"[\[(\\]"
    r"|^[ \t]*session_?[iI]d\??\s*:\s*\w"
    r"|\b\w*(?:get|field|json|input|read|jq)\w*\s+[\"']?\.?session_?[iI]d\b",
    re.MULTILINE,
)
_IMPORTED = re.compile(
    r"^[ \t]*(?:from|import)\s+\.*([a-zA-Z]\w*)"
    r"|(?:\brequire\(|\bfrom)\s*[\"']\.{1,2}/(?:[^\"'\n]*/)?([\w-]+)",
    re.MULTILINE,
)
_DEFAULT = r"(?P<default>[A-Za-z][\w-]*)"
_IN_SHELL = r"(?<!:-)\$\{{{0}:?-" + _DEFAULT + r"\}}"
_ELSEWHERE = (
    r"\b(?:environ\.get\(|getenv\()\s*[\"']{0}[\"']\s*,\s*[\"']" + _DEFAULT + r"[\"']\s*\)"
    r"|\bprocess\.env\.{0}\s*(?:\|\||\?\?)\s*[\"']" + _DEFAULT.replace("default", "other") + r"[\"']"
)
_BOUND = re.compile(r"(\w+)\s*=\s*[\"'(]?(?:os\.)?$")
_OF_STATE = r"(?:cache|file|path|state|flag|dir|lock|counter|marker|log)\w*"


def shared_session(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a variable that the host never sets and the one name that all sessions share; empty for none."""
    variable = _NEVER_SET.get(hook_set.host, "")
    texts = hook_set.scripts_of(hook) if variable and variable not in {**hook_set.env, **hook.env} else []
    found = (default for text in texts for default in _defaults(variable, text, loaded_by(hook_set, text)))
    default = next(found, "")
    return (variable, default) if default else ("", "")


def loaded_by(hook_set: HookSet, text: str) -> str:
    """Return the text of the files that a script loads."""
    if SHELL_SCRIPT.match(text):
        return "\n".join(loaded_texts(hook_set, text))
    modules = {one or other for one, other in _IMPORTED.findall(text)}
    names = {f"{module}.{ending}" for module in modules for ending in ("py", "js", "mjs", "cjs", "ts")}
    return "\n".join(read_text(file) or "" for file in files_named(hook_set.root, names))


def _defaults(variable: str, text: str, loaded: str) -> Iterator[str]:
    code, whole = (COMMENT_LINES.sub("", one) for one in (text, f"{text}\n{loaded}"))
    # The script may get the session from its input, or set the variable itself.
    if _OF_INPUT.search(whole) or re.search(rf"(?<![\w${{]){variable}=", whole):
        return
    shell = SHELL_SCRIPT.match(text) is not None
    for found in re.finditer((_IN_SHELL if shell else _ELSEWHERE).format(variable), code):
        line = code[code.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]
        bound = _BOUND.search(code[code.rfind("\n", 0, found.start()) + 1 : found.start()])
        name = re.escape(bound[1]) if bound else ""
        if _names_state(line, "", shell=shell) or (name and _names_state(code, name, shell=shell)):
            groups = found.groupdict()
            yield groups["default"] or groups.get("other") or ""


def _names_state(code: str, name: str, *, shell: bool) -> bool:
    """Return whether a file is named after a variable, or after what stands in the line itself."""
    if shell:
        word = rf"\$\{{?{name}\b" if name else r"\$\{CLAUDE_SESSION_ID:?-"
        return re.search(rf"[\w.}}/-]/[\w./${{}}-]*{word}", code) is not None
    used = rf"\b{name}\b" if name else r"CLAUDE_SESSION_ID"
    return re.search(rf"(?i:{_OF_STATE})[^\n]*{used}|/[^\n\"'`]*\{{{used}\}}", code) is not None
