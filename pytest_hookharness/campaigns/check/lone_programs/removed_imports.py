"""
Linters that remove unused imports after each edit, even one that the agent writes before its first use.

The agent adds the import again, and the next edit removes it again. A project whose own settings keep such
imports is left out.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.arming.project_texts import files_named, read_known_text
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of, script_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# In a shell, and in a list of words.
_CALL = re.compile(
    r"(?P<program>ruff[ \t]+(?:check[ \t]+)?(?=[^\n;|&]*--fix(?!-only)\b)"
    r"|autoflake[ \t]+(?=[^\n;|&]*--in-place|[^\n;|&]*-i\b))(?P<words>[^\n;|&]*)"
    r"|[\"']ruff[\"'][ \t]*,[ \t]*[\"']check[\"'](?=[^\])]*[\"']--fix[\"'])(?P<list>[^\])]*)"
)
_KEEPS = re.compile(
    r"--unfixable|F401|--(?:extend-)?(?:select|ignore)|--fixable|--config|--diff|--check\b|\$\{?\w*(?:ARGS|OPTS|FLAGS)"
)
# A script that runs it only at some events or commands, or with some argument.
_CHOOSES = re.compile(r"git commit|hook_event_name|--final|\$\{?FINAL\b|\bRUFF_|\+import")
_ARGUMENT, _ALL_ARGUMENTS = re.compile(r"\$\{?[1-9]\b"), re.compile(r"\$\{?[@*]")
_COUNTS = re.compile(r"\$\{?#(?!\w)|\bfor[ \t]+\w+[ \t]*(?:;|$)", re.MULTILINE)
# Standard input, or a file that is not the one of the edit.
_ANOTHER_FILE = re.compile(r"(?:^|[ \t])(?:-|[\"']?/\S+)(?=[ \t)]|$)")
_OF_RUFF = frozenset(["pyproject.toml", "ruff.toml", ".ruff.toml"])
_SELECTED = re.compile(r"(?:^|\{)[ \t]*(?:lint\.)?select[ \t]*=[ \t]*\[([^\]]*)\]", re.MULTILINE)
_OTHERWISE = re.compile(
    r"F401|^[ \t]*(?:lint\.)?(?:un)?fixable\b|^[ \t]*(?:lint\.)?ignore\b|^[ \t]*extend\b", re.MULTILINE
)
_UNUSED = re.compile(r"[\"'](?:F|F4|F40|F401|ALL)[\"']")
_EDITS = re.compile(r"Edit|Write|edit|write|replace|\*")


def removed_imports(hook_set: HookSet, hook: Hook) -> str:
    """Return the command by which a hook removes unused imports after each edit; empty for none."""
    after = role_of(hook_set.host, hook.event) is hosts.Role.AFTER_TOOL
    if not after or hook.type != "command":
        return ""
    if hook.matcher and not _EDITS.search(hook.matcher):
        return ""
    for whole in hook_set.code_of(hook):
        text = whole.replace("\\\n", "  ")
        shell = SHELL_SCRIPT.match(text) is not None or whole == hook.command
        others = {one.event for path, _ in hook_set.sources_of(hook) for one in hook_set.hooks_of(path)}
        if _KEEPS.search(text) or _CHOOSES.search(text) or _takes_argument(text) or len(others) > 1:
            continue
        code = code_of(text) if shell else ""
        for found in _CALL.finditer(text):
            # Not what a shell only shows; elsewhere only a list of words is a call.
            shown = code[found.start()] == text[found.start()] if shell else found["list"] is not None
            words = found["words"] if found["list"] is None else found["list"]
            name = "ruff" if found["list"] is not None else found["program"].split()[0]
            other = _ANOTHER_FILE.search(re.sub(r"\d?>[ \t]*\S+", "", words))
            if shown and not other and not _KEEPS.search(words) and (name != "ruff" or _removes(hook_set)):
                return "ruff check --fix" if name == "ruff" else name
    return ""


def _takes_argument(text: str) -> bool:
    """Return whether a script may look at its own arguments, or run the linter in a function with some."""
    script = script_of(text)
    within = [script.function_at(found.start()) for found in _ARGUMENT.finditer(text)]
    if not all(within) or _COUNTS.search(text):
        return True
    # A function that looks at an argument may run the linter, or decide whether another one does.
    if within and any(_CALL.search(text, one.begin, one.end) for one in script.functions):
        return True
    # Its own arguments may be those of a function that looks at them.
    return bool(within) and not all(script.function_at(one.start()) for one in _ALL_ARGUMENTS.finditer(text))


def _removes(hook_set: HookSet) -> bool:
    """Return whether all settings in a project let ruff remove unused imports, as its defaults do."""
    texts = [read_known_text(file) for file in files_named(hook_set.root, _OF_RUFF)]
    selected = [words for text in texts for words in _SELECTED.findall(text)]
    return not any(_OTHERWISE.search(text) for text in texts) and all(
        _UNUSED.search(words) for words in selected
    )
