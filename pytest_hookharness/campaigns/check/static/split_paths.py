"""Paths of files that a hook gives to ``xargs``, which makes several words of one with a space."""

from __future__ import annotations

import re

from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# The path of a tool call, filters, and options without which a line is not one word.
_SPLITS = re.compile(
    r"\bjq\b[^|\n]*\b(?:file_?[pP]ath|notebook_path|target_file)\b[^\n]{0,200}?"
    r"\|[ \t]*xargs(?P<options>(?:[ \t]+-[^\s|]+(?:[ \t]+(?:\d+|'[^'\n]*'))?)*)[ \t]+(?P<program>[\w./][\w./-]*)"
)
# One word for each line: NUL, another mark between words, or a place for the whole line.
_KEEPS = re.compile(r"[ \t](?:-\w*[0dIi]|--(?:null|delimiter|replace))")


def splitting_xargs(hook_set: HookSet, hook: Hook) -> str:
    """Return the program to which a hook's ``xargs`` gives the words of a path; empty for none."""
    if hook.type != "command":
        return ""
    found = (one for text in hook_set.code_of(hook) for one in _SPLITS.finditer(text))
    return next((one["program"] for one in found if not _KEEPS.search(one["options"])), "")
