"""
Checks of files that run for one of the host's two tools for writing files, and for no call of the other.

Only scripts count that read the file, run a known checker for it, or read the text that a tool writes and can
refuse. Nothing is said if the script speaks of what only one of the tools does, or if any hook of the set
runs for the other.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.lone_programs.inline_scripts import shell_program
from pytest_hookharness.campaigns.check.static.shell_scripts import code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit
from pytest_hookharness.model.protocol import Hook

# Hosts whose two tools are known from a release, and send different names.
_HOSTS = frozenset(["claude-code", "gemini-cli", "qwen-code", "copilot-cli"])
_ALL_CHANGES = frozenset(["FileChanged", "PostToolBatch", "afterFileEdit"])
_CHECKER = (
    r"(?<![\w./-])(?P<program>prettier|eslint|biome|oxlint|stylelint|dprint|ruff|black|isort|mypy|pyright"
    r"|flake8|pylint|gofmt|goimports|rustfmt|shellcheck|shfmt|rubocop|markdownlint(?:-cli2?)?|clang-format"
    r"|php-cs-fixer|yamllint|swiftformat|swiftlint|ktlint)(?![\w-])"
)
_PATH = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)[ \t]*=(?!=)[^\n;]{0,200}?[\"'.](?:file_?path|filePath)\b"
)
_LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:#|//|\*)[^\n]*", re.MULTILINE)
# How a program gets the file: `grep` behind a pattern, or a checker.
_SHELL = (
    r"(?:\bgrep(?:[ \t]+-\S+)*[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[^-\s\"'$|;&][^\s\"'$|;&]*)"
    rf"|{_CHECKER}[^\n|;&<>]*?)[ \t]+\"?\$\{{?NAME\b"
)
_PIPED = re.compile(
    rf"[\"'.]file_?path\b[^\n]*\|[ \t]*xargs\b[^\n|;&]*?{_CHECKER}"
    rf"|{_CHECKER.replace('program', 'other')}[^\n|;&]*\$\([ \t]*jq\b[^)\n]*\.file_?path\b"
)
_OPENED = (
    r"\bopen\(\s*NAME\s*[,)](?!\s*[\"'][wa])|\bPath\(\s*NAME\s*\)\.read_|\bNAME\.read_text\("
    r"|\breadFileSync\(\s*NAME\b"
)
_REFUSES = re.compile(r"\bexit\(?\s*2\b|[\"'\\](?:deny|ask|block)[\"'\\]")
# Words for what only an edit has; words for what matters only for new files.
_OF_EDITS = re.compile(
    r"old_?str|oldString|replace_all|[pP]atch\b|original_?[fF]ile"
    r"|\bgit\b[^\n]{0,40}\b(?:diff|show|log|blame)\b"
)
_OF_NEW_FILES = re.compile(
    r"\s-[efs]\s|exist|is_?file|stat\(|\bnew\b|creat|overwrit|licen[sc]e|header|template|boilerplate"
    r"|wc\s+-l|lines",
    re.IGNORECASE,
)


def missed_tool(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return the tool for which a check of files runs, and the one for which no hook runs; or nothing."""
    profile = hosts.find(hook_set.host)
    rule, text = profile.events.get(hook.event), _text_of(hook_set, hook)
    if rule is None or hook_set.host not in _HOSTS or hook_set.part.endswith(".md") or not text:
        return "", ""
    edit, write = (profile.tools.call(Edit(file="f", text="t", old=old), "/w").name for old in ("o", None))
    named = {one.strip() for one in re.split(r"[|,]", hook.matcher or "")}
    before = rule.role is hosts.Role.BEFORE_TOOL
    if edit in named and all(one == edit or one.endswith("Edit") for one in named):
        own, other = edit, write
        looks = _looks_at_text(text, "new_string") if before else _checker_of(hook_set, hook, text)
    elif named == {write} and before and not _OF_NEW_FILES.search(text):
        own, other = write, edit
        looks = _looks_at_text(text, "content")
    else:
        return "", ""
    if not looks or _OF_EDITS.search(text) or _speaks_of(own, other, text):
        return "", ""
    return ("", "") if _is_covered(hook_set, hook, other, looks) else (own, other)


def _text_of(hook_set: HookSet, hook: Hook) -> str:
    """Return the whole text of what a hook runs; empty if it may be more than that, or for several hosts."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    of_tools = rule is not None and rule.role in (hosts.Role.BEFORE_TOOL, hosts.Role.AFTER_TOOL)
    scripts = hook_set.scripts_of(hook)
    if not of_tools or hook.type != "command" or len(scripts) > 1 or "if" in hook.options:
        return ""
    text = scripts[0] if scripts else shell_program(hook_set, hook)
    return "" if any(named_hosts(hook_set.host, text)) or _LOADS.search(text) else text


def _checker_of(hook_set: HookSet, hook: Hook, text: str) -> str:
    """Return the program that checks a file, or `grep` or `open` for a script that reads it; else empty."""
    code = _without_comments(text)
    if shell_program(hook_set, hook):
        shown = code_of(text)
        if found := _PIPED.search(code):
            return found["program"] or found["other"]
        calls = (
            call
            for one in _PATH.finditer(code)
            for call in re.finditer(_SHELL.replace("NAME", one["name"]), code)
        )
        # The call itself is code, and no text.
        real = (one for one in calls if code[one.start()] == shown[one.start()])
        return next((one["program"] or "grep" for one in real), "")
    opened = (re.search(_OPENED.replace("NAME", one["name"]), code) for one in _PATH.finditer(code))
    return "open" if any(opened) else ""


def _without_comments(text: str) -> str:
    """Return a script of the same length, with blanks for the lines that are comments."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


def _looks_at_text(text: str, key: str) -> str:
    """Return `guard` if a script reads the text that a tool writes and can refuse; else empty."""
    code = _without_comments(text)
    return "guard" if _REFUSES.search(code) and re.search(rf"[\"'.]{key}\b", code) else ""


def _speaks_of(own: str, other: str, text: str) -> bool:
    """Return whether a script names the other tool alone, or compares the tool's name with its own."""
    both = rf"\b(?:{own}|{other})\W{{1,5}}(?:(?:or|and)\W)?(?:{own}|{other})\b"
    rest = re.sub(both, "", text)
    compared = rf"[\"'|(=]\s*{own}\s*[\"'|)]|^\s*{own}\)"
    return bool(
        re.search(rf"\b{other}\b", rest) or re.search(compared, _without_comments(rest), re.MULTILINE)
    )


def _is_covered(hook_set: HookSet, hook: Hook, other: str, looks: str) -> bool:
    """Return whether any hook may look at what the other tool writes, or runs the same program later."""
    profile = hosts.find(hook_set.host)
    for one in (one for one in hook_set.hooks if one != hook):
        rule = profile.events.get(one.event)
        if rule is None or one.event in _ALL_CHANGES:
            return True
        if rule.target == "tool_name" and hosts.select(profile, (one,), one.event, other):
            return True
        texts = (one.command, *hook_set.scripts_of(one))
        if looks not in ("grep", "open", "guard", "") and any(looks in text for text in texts):
            return True
    return False
