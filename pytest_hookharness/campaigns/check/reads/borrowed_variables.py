"""
Variables with the prefix of one host and the name of another host's variable, which the first one never sets.

Only Claude Code documents ``CLAUDE_ENV_FILE`` and ``CLAUDE_CODE_REMOTE`` (hooks reference); Cursor has a
``CURSOR_CODE_REMOTE`` of its own. Gemini CLI, Codex and Copilot set neither.
"""

from __future__ import annotations

import re

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_known_text
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_PREFIXES = {"gemini-cli": "GEMINI", "codex": "CODEX", "copilot-cli": "COPILOT"}
_NAMES = r"{0}_(?:CODE_REMOTE|ENV_FILE)"
_USED = (
    r"\$\{{?({0})(?!\w|:?-[^}}])|\b(?:environ\.get\(|environ\[|getenv\()\s*[\"']({0})[\"']"
    r"|\bprocess\.env\.({0})\b"
)
# Files that may start the host, or set its variables.
_OF_SETTINGS = re.compile(
    r"\.(?:ya?ml|toml|json|env|sh)$|^(?:Dockerfile|Makefile|justfile|\.env)", re.IGNORECASE
)
_LARGEST = 1 << 16
_SET = r"(?<![\w${{]){0}="


def borrowed_variable(hook_set: HookSet, hook: Hook) -> str:
    """Return a variable that a hook's script uses, and that only another host has under its prefix."""
    prefix = _PREFIXES.get(hook_set.host)
    used = _USED.format(_NAMES.format(prefix)) if prefix else ""
    for text in hook_set.scripts_of(hook) if used else ():
        code = code_of(text) if SHELL_SCRIPT.match(text) else text
        for found in re.finditer(used, code):
            name = next(one for one in found.groups() if one)
            if name not in {**hook_set.env, **hook.env} and not _is_set(hook_set, name):
                return name
    return ""


def _is_set(hook_set: HookSet, name: str) -> bool:
    """Return whether a script, a command of the hooks or settings of the project give a variable a value."""
    texts = (*(text for _, text in hook_set.sources), *(hook.command for hook in hook_set.hooks))
    if any(re.search(_SET.format(name), text) for text in texts):
        return True
    files = (file for file in project_files(hook_set.root) if _OF_SETTINGS.search(file.name))
    kept = (read_known_text(file) for file in files if is_small(file, _LARGEST))
    return any(re.search(rf"\b{name}\"?[ \t]*[=:]", text) for text in kept)
