"""Hooks that are there to commit: that they change the repository is no defect of theirs."""

from __future__ import annotations

import re

from pytest_hookharness.campaigns.check.static.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)
from pytest_hookharness.judging.findings.codes import STAGED
from pytest_hookharness.model.checkup import HookSet, Symptom, is_named

# As a command, or as a list of its words.
_COMMITS = re.compile(r"\bgit[\"']?,?\s+(?:[\"']?-[cC][\"']?,?\s+\S+\s+)*[\"']?commit\b")


def is_meant_to_commit(place: HookSet, symptom: Symptom) -> bool:
    """Return whether a hook that changed the repository has a script, or a command, that commits."""
    hooks = [hook for hook in place.hooks if is_named(hook.command, symptom.hook)]
    scripts = [text for hook in hooks for text in (hook.command, *place.scripts_of(hook))]
    texts = (code_of(text) if SHELL_SCRIPT.match(text) else without_comment_lines(text) for text in scripts)
    return symptom.kind == STAGED.name and any(map(_COMMITS.search, texts))
