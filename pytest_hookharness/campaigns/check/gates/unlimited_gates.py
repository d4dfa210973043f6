"""
Gates of stops that may refuse again and again: their scripts neither ask whether they refused, nor count.

A loop is one if its limit counts only above 0. Any other gate is one if nothing that it does in front of its
refusals can be seen by its next run, and if it looks at nothing that was said. A gate that starts another
script, or uses a module that is not read, may know more, and is left out.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import project_files, read_text
from pytest_hookharness.campaigns.check.answers.failed_refusals import read_printed
from pytest_hookharness.campaigns.check.answers.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.answers.written_answers import without_comments
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import REFUSES_IN_JSON
from pytest_hookharness.campaigns.check.lone_programs.lone_searches import refusals_of
from pytest_hookharness.campaigns.check.static.session_variables import loaded_by
from pytest_hookharness.campaigns.check.static.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    loaded_texts,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Json, Ruling

# The keys by which hosts tell a gate that it has refused.
_TELLS = frozenset({"stop_hook_active", "loop_count"})
_KNOWS = re.compile(r"stop_?hook_?active|loop_?count|to_entries|retr(?:y|ies)|attempts?\b", re.IGNORECASE)
_STATUS = re.compile(r"\bexit\(?[ \t]*2\b|\breturn[ \t]+2\b|\bexitCode[ \t]*=[ \t]*2\b")
_WORD, _WORDS = re.compile(r"[a-z_]+"), frozenset({"block", "deny", "ask"})
# A limit that counts only above 0, in a condition with the number that it limits.
_ABOVE_ZERO = re.compile(
    r"\$\{?(?P<shell>\w+)\}?\"?[ \t]+-gt[ \t]+0[ \t]*(?:\]\]?[ \t]*)?&&[ \t]*(?:\[\[?[ \t]+)?"
    r"\"?\$\{?\w+\}?\"?[ \t]+-g(?:t|e)[ \t]+\"?\$\{?(?P=shell)\b"
    r"|(?<![\w.])(?:\w+\.)?(?P<code>\w+)[ \t]*>[ \t]*0[ \t]*(?:&&|and\b)[ \t]*[\w.]+[ \t]*>=?"
    r"[ \t]*(?:\w+\.)?(?P=code)\b"
)
_LIMIT = re.compile(r"max|limit", re.IGNORECASE)
# In a line of its own, so it is no example of how to call something.
_GIVEN_LIMIT = re.compile(r"^[ \t]*--(?:max|limit)[\w-]*[= ][ \t]*[1-9]", re.MULTILINE)
# What the next run may see, or another person's clock, and what was said.
_LEAVES = re.compile(
    r"(?<![<&\d=-])>>?(?![&=])[ \t]*(?!/dev/null|/dev/stderr)[\"'$\w./~]"
    r"|\b(?:tee|touch|mktemp|mkdir|rm|mv|cp|ln|sed[ \t]+-i|date|read)\b[ \t]+[-\"'$\w./~+]"
    r"|\bgit[ \t]+(?:add|commit|stash|checkout|restore|reset|tag|config|notes)\b"
    r"|\bopen\([^)\n]*,\s*[\"'][wax]|\.(?:write_text|write_bytes|unlink|touch|mkdir|rename|replace)\("
    r"|\bos\.(?:remove|replace|rename)|\b(?:writeFile|appendFile|unlink|rename|mkdir|rm)(?:Sync)?\("
    r"|\b(?:time|datetime)\.\w+\(|\bDate\b|\brandom\b"
    r"|\bcurl\b|\bsqlite"
)
_SAID = re.compile(r"transcript|last_?assistant|prompt_response|\bprompt\b", re.IGNORECASE)
_STARTS = re.compile(
    r"\b(?:bash|sh|zsh|node|bun|deno|python[\d.]*|uv|npx|claude|codex|gemini)[ \t]+(?!-[ce]\b)[\"'$\w./~{-]"
    r"|[\"'](?:bash|sh|node|python3?|uv|npx|claude|codex|gemini)[\"']\s*,|sys\.executable|\beval\b|\bexec\b|\bimport\("
    r"|^[ \t]*\"?\$\{?\w+\}?/",
    re.MULTILINE,
)
_LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
_OWN_MODULE = re.compile(r"\brequire\(\s*[\"']\.|\bfrom\s+[\"']\.|^[ \t]*from\s+\.|sys\.path", re.MULTILINE)


def unlimited_gate(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return the key that a gate of stops does not read, and its limit that 0 switches off; or nothing."""
    profile, texts = hosts.find(hook_set.host), hook_set.scripts_of(hook)
    rule = profile.events.get(hook.event)
    if rule is None or rule.role is not hosts.Role.STOP or hook.type != "command" or len(texts) != 1:
        return "", ""
    # The entry may have a limit of its own.
    if hook.options.get(profile.cap.per_hook) is not None:
        return "", ""
    key = next((one.name for one in rule.fields.fields if one.name in _TELLS), "")
    text = without_comments(texts[0])
    loaded = loaded_by(hook_set, texts[0])
    if (
        not key
        or not _refuses(profile, hook, text)
        or _KNOWS.search(f"{text}\n{loaded}")
        or find_unread_answer(hook_set, hook)
    ):
        return "", ""
    limits = (one["shell"] or one["code"] for one in _ABOVE_ZERO.finditer(text))
    limit = next((one for one in limits if _LIMIT.search(one)), "")
    endless = not _gives_limit(hook_set) if limit else _is_same_again(hook_set, texts[0], loaded)
    return (key, limit) if endless else ("", "")


def _gives_limit(hook_set: HookSet) -> bool:
    """Return whether a command or skill of the project starts something with a limit, as it is written."""
    folders = {"commands", "skills"}
    files = (one for one in project_files(hook_set.root) if one.suffix == ".md" and folders & {*one.parts})
    return any(_GIVEN_LIMIT.search(read_text(one) or "") for one in files)


def _refuses(profile: hosts.Profile, hook: Hook, text: str) -> bool:
    """Return whether a script refuses in a way that its host understands."""
    if _STATUS.search(text) and read_printed(profile, hook, 2, stderr="x").ruling is Ruling.DENY:
        return True
    for found in REFUSES_IN_JSON.finditer(text):
        word = _WORD.findall(found[0])[-1]
        value: dict[str, Json] = (
            {word: "x"} if word.endswith("message") else {"decision": word, "reason": "x"}
        )
        if hosts.read_reply(profile, hook, hook.event, value).ruling is Ruling.DENY:
            return True
    return False


def _is_same_again(hook_set: HookSet, source: str, loaded: str) -> bool:
    """Return whether a gate that has refused does the same in its next run, as far as it is left alone."""
    if not SHELL_SCRIPT.match(source):
        text = f"{without_comments(source)}\n{loaded}"
        return not any(one.search(text) for one in (_OWN_MODULE, _LEAVES, _SAID, _STARTS))
    if len(_LOADS.findall(source)) > len([*loaded_texts(hook_set, source)]):
        return False
    # What it does behind its last refusal, it does only where it allows the stop.
    code, shown = without_comment_lines(source), code_of(source)
    last = max(refusals_of(code, shown), default=0)
    shown = f"{shown[:last]}\n{code_of(loaded)}"
    return not (_LEAVES.search(shown) or _STARTS.search(shown) or _SAID.search(f"{code[:last]}\n{loaded}"))
