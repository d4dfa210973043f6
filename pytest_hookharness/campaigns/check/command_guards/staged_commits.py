"""
Guards of `git commit` that look only at what is staged: the command itself may stage more.

Such a guard ends with 0 where nothing is staged. Nothing is said if a hook of the set looks at the options of
a commit, at `git add`, or at the files in another way.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.lone_programs.lone_searches import refusals_of
from pytest_hookharness.campaigns.check.static.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_COMMENT = re.compile(r"^[ \t]*(?:#|//|\*)[^\n]*", re.MULTILINE)
_LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
# A test of the command, in any grammar of patterns.
_COMMIT = re.compile(r"\bgit\b[^\n\w]{0,3}(?:\\?s|\[\[:space:\]\]|[ \t.*+\\()\[\]{}?-]){1,30}commit\b")
_GIT = r"\bgit(?:[ \t]+-C[ \t]+\S+|[ \t]+--no-pager)*[ \t]+"
_OF_INDEX = r"[^\n|;&)]*--(?:cached|staged)\b"
_STAGED = rf"{_GIT}diff(?:-index)?\b(?={_OF_INDEX})"
_LISTED = re.compile(rf"^[ \t]*(?P<name>[A-Za-z_]\w*)=\"?\$\([ \t]*{_STAGED}", re.MULTILINE)
_EMPTY = (
    r"^if[ \t]+\[\[?[ \t]+-z[ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+\]\]?[ \t]*(?:;[ \t]*|\n[ \t]*)then\s+"
    r"(?:(?:echo|printf)\b[^\n]*\n\s*)?exit[ \t]+0\b"
    r"|^\[\[?[ \t]+-z[ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+\]\]?[ \t]*&&[ \t]*exit[ \t]+0\b"
    r"|^\[\[?[ \t]+-n[ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+\]\]?[ \t]*\|\|[ \t]*exit[ \t]+0\b"
)
_QUIET = re.compile(rf"^{_STAGED}[^\n|;&]*--quiet\b[^\n|;&]*&&[ \t]*exit[ \t]+0\b", re.MULTILINE)
# What may see, or forbid, what the command stages.
_SEES_MORE = re.compile(
    r"(?<![\w-])-\w{0,4}a(?:m\w*)?(?![\w-])|--(?:all|only|include|dry-run)\b|\bgit\b[^\n]{0,40}\badd\b|INDEX_FILE"
    rf"|{_GIT}(?:status|ls-files|stash|write-tree|commit-tree)\b|{_GIT}diff(?:-index|-files)?\b(?!{_OF_INDEX})"
)


def staged_guard(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the script of a guard that sees only what is staged before, and the line where; or nothing."""
    rule, sources = hosts.find(hook_set.host).events.get(hook.event), hook_set.sources_of(hook)
    if rule is None or rule.role is not hosts.Role.BEFORE_TOOL or len(sources) != 1:
        return "", 0
    (path, text), *_ = sources
    others = [_COMMENT.sub("", one) for _, one in hook_set.sources if one != text]
    if hook.type != "command" or any(_SEES_MORE.search(one) for one in others if _COMMIT.search(one)):
        return "", 0
    line = line_of_staged_question(text)
    return (path, line) if line else ("", 0)


def line_of_staged_question(text: str) -> int:
    """
    Return the line in which a guard of commits asks Git for staged files only; 0 for none.

    It counts only if the guard allows the commit if there are none.
    """
    if not SHELL_SCRIPT.match(text):
        return 0
    code, shown = without_comment_lines(text), code_of(text)
    # A file that it loads may look at more.
    if not _COMMIT.search(code) or _SEES_MORE.search(code) or _LOADS.search(shown):
        return 0
    last = max(refusals_of(code, shown), default=0)
    for found in (*_LISTED.finditer(code, 0, last), *_QUIET.finditer(code, 0, last)):
        name = found.groupdict().get("name")
        ends = re.compile(_EMPTY.format(name), re.MULTILINE) if name else None
        is_code = shown.startswith(name or "git", found.start("name") if name else found.start())
        if is_code and (ends is None or ends.search(code, found.end(), last)):
            return code.count("\n", 0, found.start("name") if name else found.start()) + 1
    return 0
