"""
Scripts that empty the file of variables that all SessionStart hooks share, so that those of others are lost.

Claude Code reads the file that ``CLAUDE_ENV_FILE`` names before each shell command (hooks reference, "Persist
environment variables": append, to keep the variables of other hooks).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.static.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)

_NAME = "CLAUDE_ENV_FILE"
_IN_SHELL = re.compile(r"(?<![\w$])(\w+)=\"?\$\{?CLAUDE_ENV_FILE\b")
_WRITTEN = r"(?:(?<![>&\d|])>(?![>&|])|\btee[ \t]+(?!-))[ \t]*\"?\$\{{?(?:{0})\b"
_ELSEWHERE = re.compile(
    r"(?<![\w.])(\w+)\s*(?::[^=\n]+)?=\s*[^=\n]{0,40}?\b(?:environ|getenv|process\.env)\b[^\n]{0,12}CLAUDE_ENV_FILE\b"
)
_ENV = (
    r"(?:os\.(?:environ(?:\.get)?|getenv)[\[(][\"']CLAUDE_ENV_FILE[\"'][^\n]{{0,8}}?[\])]"
    r"|process\.env\.CLAUDE_ENV_FILE)"
)
_EMPTIED = (
    r"\bopen\(\s*(?:Path\()?(?:{0}|" + _ENV + r")\)?\s*,\s*(?:mode\s*=\s*)?[\"']w\+?[\"']"
    r"|\bPath\(\s*(?:{0}|" + _ENV + r")\s*\)\.write_text\(|(?<![\w.])(?:{0})\.write_text\("
    r"|\bwriteFile(?:Sync)?\(\s*(?:{0}|" + _ENV + r")\s*,(?![^\n]*\bflag\b)"
)
_READ = (
    r"\b(?:cat|grep|cp|mv)[ \t][^\n]*\$\{{?(?:{0})\b[^\n]*(?:\)\"?|\||>)"
    r"|\b(?:{0})\)?\.read_text\(|\bopen\(\s*(?:{0})\s*(?:\)|,\s*[\"'][ra])|\breadFile(?:Sync)?\(\s*(?:{0})\b"
)
# Only a file that does not exist yet is made.
_MISSING = re.compile(r"![ \t]+-[efs][ \t][^\n]*(?:\n[^\n]*)?\Z|\bnot\b[^\n]*exists[^\n]*(?:\n[^\n]*)?\Z")
_MOST = 10
_LOST = f"it writes ${_NAME} anew, so the variables that other hooks wrote there are lost"


def emptied_files(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a script empties the file of variables, in words, with the line."""
    if _NAME not in text:
        return
    if SHELL_SCRIPT.match(text):
        code, shown = without_comment_lines(text), code_of(text)
        names = "|".join([_NAME, *map(re.escape, _IN_SHELL.findall(code))])
        pattern = _WRITTEN.format(names)
    else:
        code = shown = re.sub(r"^[ \t]*(?:#|//|\*)[^\n]*", "", text, flags=re.MULTILINE)
        found_names = [*_ELSEWHERE.findall(code)]
        for name in found_names[:_MOST]:
            found_names += re.findall(rf"(?<![\w.])(\w+)\s*=\s*Path\(\s*{re.escape(name)}\s*\)", code)
        names = "|".join(map(re.escape, found_names)) or r"\0"
        pattern = _EMPTIED.format(names)
    # What a shell only prints is no code.
    every = (one for one in re.finditer(pattern, code) if shown[one.start()] == code[one.start()])
    found = next((one for one in every if not _MISSING.search(code, 0, one.start())), None)
    # What is read before may be written again.
    end = code.find("\n", found.end()) if found else 0
    if found and not re.search(_READ.format(names), code[: end if end >= 0 else len(code)]):
        yield _LOST, code.count("\n", 0, found.start()) + 1
