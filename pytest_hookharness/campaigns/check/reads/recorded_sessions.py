"""
Records of a session that a script takes from a variable which its host never sets, and conditions on it.

The record has the same word for every session, or none. A condition on the variable never holds. Nothing is
said of a script that gets the session in another way too, or only prints it.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    loaded_texts,
    without_comment_lines,
)
from pytest_hookharness.campaigns.check.static.session_variables import (
    BOUND,
    NEVER_SET,
    knows_session,
    loaded_by,
    shared_session,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_IN_SHELL = r"(?<!:-)\$\{{?{0}(?:(?::?-(?P<default>[\w-]*))?\}}|(?![\w:}}-]))"
_ELSEWHERE = (
    r"\b(?:environ\.get\(|getenv\()\s*[\"']{0}[\"']\s*(?:,\s*[\"'](?P<default>[\w-]*)[\"']\s*)?\)"
    r"|\bprocess\.env\.{0}\s*(?:\|\||\?\?)\s*[\"'](?P<other>[\w-]*)[\"']"
)
_LABEL = r"(?i:\bsession(?:_?id)?)"
# A record with the session, in a line that goes to a file, or under a key.
_TO_FILE = re.compile(r"(?<![&\d>])>>?[ \t]*[\"']?[$/.~\w]")
_IN_LINE = _LABEL + r"[ \t]*[:=][ \t]*\\?[\"']?{0}"
_AT_KEY = r"\\?[\"']" + _LABEL + r"\\?[\"'][ \t]*:[ \t]*\\?[\"']?{0}"
_IN_DICTIONARY = r"(?:[\"'](?i:session(?:_?id)?|id|sid)[\"']|\bsession_?[iI]d)\s*:\s*{0}"
# A condition with one branch.
_HOLDS_NEVER = re.compile(
    r"^[ \t]*if[ \t]+\[\[?[ \t]+-n[ \t]+\"?\$\{?CLAUDE_SESSION_ID(?::?-)?\}?\"?[ \t]+\]\]?"
    r"[ \t]*(?:;|\n)\s*then\b"
    r"(?:(?:(?!^[ \t]*(?:if|elif|else|fi)\b)[^\n]*\n){1,20}?)[ \t]*fi\b",
    re.MULTILINE,
)
_LOADS = re.compile(r"(?:^|&&|;)[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
_WRAPPED = re.compile(r"\\\n[ \t]*")


def recorded_session(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a variable that the host never sets, and what comes of it, in words; empty for none."""
    variable = NEVER_SET.get(hook_set.host, "")
    texts = hook_set.scripts_of(hook) if variable and variable not in {**hook_set.env, **hook.env} else []
    if len(texts) != 1 or variable not in texts[0] or shared_session(hook_set, hook)[0]:
        return "", ""
    text = texts[0]
    # A file that is not known may set it.
    loads = len(_LOADS.findall(text)) if SHELL_SCRIPT.match(text) else 0
    if loads > len([*loaded_texts(hook_set, text)]):
        return "", ""
    known = "\n".join((text, loaded_by(hook_set, text), hook.command))
    what = "" if knows_session(variable, known) else lost_session(variable, text)
    path = next((path for path, source in hook_set.sources_of(hook) if source == text), "")
    return (variable, what.format(PurePath(path).name or "the script")) if what else ("", "")


def lost_session(variable: str, text: str) -> str:
    """Return what is lost as a variable is empty, in words with a gap for the script; empty for nothing."""
    shell = SHELL_SCRIPT.match(text) is not None
    code = without_comment_lines(text)
    dead = _HOLDS_NEVER.search(code) if shell else None
    if dead:
        line = code.count("\n", 0, code.index("if", dead.start())) + 1
        return f"the condition in line {line} of {{}} never holds"
    code = _WRAPPED.sub(" ", code)
    for found in re.finditer((_IN_SHELL if shell else _ELSEWHERE).format(variable), code):
        begin = code.rfind("\n", 0, found.start()) + 1
        bound = BOUND.search(code[begin : found.start()])
        alone = bound and len(re.findall(rf"\b{bound[1]}\s*=(?!=)", code)) == 1
        names = [bound[1]] if bound and alone else []
        uses = [re.escape(found[0]), *(rf"\$\{{?{name}\b" if shell else rf"{name}\b" for name in names)]
        if any(_is_recorded(use, code, shell=shell) for use in uses):
            word = found.groupdict()["default"] or found.groupdict().get("other")
            return f"every session is recorded as `{word}`" if word else "the session is not recorded"
    return ""


def _is_recorded(use: str, code: str, *, shell: bool) -> bool:
    """Return whether a script keeps a value as the session of a record."""
    if not shell:
        return re.search(_IN_DICTIONARY.format(use), code) is not None
    lines = [line for line in code.split("\n") if ">&2" not in line]
    at_key, in_line = re.compile(_AT_KEY.format(use)), re.compile(_IN_LINE.format(use))
    return any(
        at_key.search(line) or ((found := in_line.search(line)) and _TO_FILE.search(line, found.end()))
        for line in lines
    )
