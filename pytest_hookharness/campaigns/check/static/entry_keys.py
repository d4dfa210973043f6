"""
Keys of a hook's entry, or of its group, that the host does not read, and files that it refuses as a whole.

Only keys that would change how a hook runs are named: a name or a description is not meant for the host.
Observed of Claude Code, though each hook is well formed: the manifest of a plugin names the file that the
host loads by itself ("Duplicate hooks file detected"); 2.1.138 reports it, and 2.1.220 loads none of the
plugin's hooks (affaan-m/ECC#103, open-gsd/gsd-core#3029). A permission mode that does not exist is an error
of the settings, and files with errors are skipped as a whole.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import read_object
from pytest_hookharness.hosts.matcher_names import has_tool_matchers
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Json

_WAITS = "so the host waits for the hook; it reads `async`"
_LIMIT = "so the default timeout holds; it reads `timeout`, in seconds"
_RUNS = "so the hook runs"
_MEANT: Mapping[str, Mapping[str, str]] = {
    "claude-code": dict.fromkeys(
        ["background", "run_in_background", "runInBackground", "isAsync", "detached", "nonBlocking"], _WAITS
    )
    | dict.fromkeys(
        [
            *("timeoutMs", "timeout_ms", "timeoutSec", "timeout_sec", "timeoutSeconds", "timeout_seconds"),
            *("timeOut", "TimeOut", "Timeout", "time_out"),
        ],
        _LIMIT,
    )
    | dict.fromkeys(["disabled"], _RUNS)
}
_OFF: Mapping[str, Mapping[str, str]] = {"claude-code": {"enabled": _RUNS}}
# Hosts that compare nothing in a group but its matcher.
_MATCHING_ONLY = frozenset({"claude-code", "codex", "gemini-cli", "qwen-code"})
# Names for a list of tools, files or events, or for a condition, without plural, case and separators.
_LIMITS = re.compile(
    r"(?:tool|toolname|matcher|match|file|filename|filepath|filetype|filepattern|pathpattern|toolpattern|pattern"
    r"|glob|fileglob|path|include|exclude|extension|fileextension|event|condition|when|filter|if|only)s?"
)
# A note for readers, in words alone.
_PROSE = re.compile(r"[A-Z]?[a-z]+(?:,? [\w'-]+){2,}\.?")
# Patterns that fit everything, so that they limit nothing.
_EVERYTHING = re.compile(r"(?:\^?\.?[*+]\$?|\*\*(?:/\*)?|all|always|true)?", re.IGNORECASE)


def unread_key(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a key of an entry that has no effect, and what follows, in words; or nothing."""
    for table, acts in ((_MEANT, True), (_OFF, False)):
        for key, why in table.get(hook_set.host, {}).items():
            if key in hook.options and bool(hook.options[key]) is acts:
                return key, why
    return "", ""


def unread_limit(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a key that looks as if it limited a hook, and where it stands and what follows; or nothing."""
    if hook_set.host not in _MATCHING_ONLY:
        return "", ""
    # A host may read a condition of an entry.
    own = {key: value for key, value in hook.options.items() if hook.type == "command" and key != "if"}
    for place, keys in (("hooks", hook.group), ("command", own)):
        for key, value in keys.items():
            # A key that begins with another mark is a note, such as `_if`.
            is_limit = key[:1].isalpha() and _LIMITS.fullmatch(re.sub("[_-]", "", key).lower())
            if is_limit and not _is_said(hook, [*_words(value)]):
                return key, f"beside `{place}`, so it limits nothing: {_runs(hook_set, hook)}"
    return "", ""


def _words(value: Json) -> Iterator[str]:
    """Yield the texts of a value, also those in lists and in objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (word for one in value.values() for word in _words(one))
    elif isinstance(value, Sequence):
        yield from (word for one in value for word in _words(one))


def _is_said(hook: Hook, words: Sequence[str]) -> bool:
    """Return whether words limit nothing, are a note, or say what event, matcher or command say."""
    if all(_EVERYTHING.fullmatch(word) or _PROSE.fullmatch(word) for word in words):
        return True
    # The path of the script itself.
    if all("." in word and word.removeprefix("./") in hook.command for word in words):
        return True
    names = {name for word in words for name in re.split(r"[|,\s]+", word)}
    own = {re.sub(r"\W|_", "", name).lower() for name in names}
    return own <= {hook.event.lower()} or names == {*re.split(r"[|,\s]+", hook.matcher or "")}


def _runs(hook_set: HookSet, hook: Hook) -> str:
    """Return when the hooks of a group run, in words."""
    if hook.matcher and not _EVERYTHING.fullmatch(hook.matcher):
        return f"the hooks run whenever the matcher `{hook.matcher}` fits"
    of_tools = has_tool_matchers(hook_set.host, hook.event)
    return "the hooks run for every call of every tool" if of_tools else f"the hooks run at each {hook.event}"


_HOST = "claude-code"
_MODES = ("acceptEdits", "bypassPermissions", "default", "dontAsk", "plan", "auto", "delegate")
# Another word may be a mode of a newer release.
_NEAR = 0.55


def refused_files(hook_set: HookSet) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with files of the settings that the host refuses, and what to do about it."""
    if hook_set.host != _HOST:
        return
    config = hosts.find(hook_set.host).config
    if hook_set.plugin and config.plugin_path in hook_set.files:
        written = read_object(hook_set.root / config.plugin_manifest).get("hooks")
        named = [posixpath.normpath(one) for one in _list(written) if isinstance(one, str)]
        if config.plugin_path in named:
            text = (
                f"{config.plugin_manifest} names {config.plugin_path}, which {_HOST} loads by itself: it "
                "reports `Duplicate hooks file detected`, and newer releases load none of the plugin's hooks."
            )
            yield text, f"Remove `hooks` from {config.plugin_manifest}; keep it for further files only."
    for file in hook_set.files:
        permissions = read_object(hook_set.root / file).get("permissions")
        mode = permissions.get("defaultMode") if isinstance(permissions, Mapping) else None
        near = get_close_matches(mode, _MODES, 1, _NEAR) if isinstance(mode, str) else []
        if near and mode not in _MODES:
            text = (
                f"{file}: `permissions.defaultMode` is {mode!r}, which is no mode of {_HOST}; it skips a "
                "settings file with such an error as a whole, with all hooks in it."
            )
            yield text, f"Write `{near[0]}`, if that is meant."


def _list(value: Json) -> list[Json]:
    return [*value] if isinstance(value, list) else [value]
