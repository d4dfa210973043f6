"""
Counts of refusals that a gate of stops keeps in one file for all sessions.

The gate gives up after some refusals. If a session ends before, its count stays, and the gate gives up
earlier in the next one. Nothing is said if the script may know its session or the time, or if another hook
knows the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.activation import STOPS
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of, loaded_texts
from pytest_hookharness.campaigns.check.static.shared_loops import KNOWS_SESSION
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_BETWEEN = frozenset({hosts.Role.SESSION_START, hosts.Role.SESSION_END, hosts.Role.PROMPT})
# A path that is the same in every session of a project.
_FOLDER = (
    r"\$\(dirname[ \t]+\"?\$(?:0|\{BASH_SOURCE(?:\[0\])?\})\"?\)"
    r"|\$\(git[ \t]+rev-parse[ \t]+--show-toplevel[^()]*\)"
    r"|\$\{?(?:CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|HOME|PWD)\}?|\$\{CLAUDE_PROJECT_DIR:?-[^{}$\n]*\}"
    r"|\$\{TMPDIR:-/tmp\}"
)
_FILE = re.compile(rf"^(?P<name>[A-Za-z_]\w*)=(?P<path>\"?(?:{_FOLDER})?[\w./-]*\"?)[ \t]*$", re.MULTILINE)
_READ = r"^[ \t]*(?P<count>[A-Za-z_]\w*)=\"?\$\([ \t]*(?:cat[ \t]+|<[ \t]*)\"?\$\{{?{0}\}}?\"?(?=[ \t)])"
_WRITTEN = r"\b(?:echo|printf)\b[^\n>|;]*\$\{{?(?:{1})\}}?\"?[^\n>|;]*>[ \t]*\"?\$\{{?{0}\}}?\"?"
_GROWN = r"^[ \t]*(?P<next>[A-Za-z_]\w*)=\$\(\([ \t]*\$?\{{?{0}\}}?[ \t]*\+[ \t]*1[ \t]*\)\)"
# At the limit it allows the stop; up to the limit it refuses.
_LIMIT = (
    r"^if[ \t]+\[\[?[ \t]+\"?\$\{{?(?:{0})\}}?\"?[ \t]+-g[et][ \t]+\"?(?:[2-9]\b|\d\d|\$)"
    r"(?:(?!\n(?:fi|el))[\s\S]){{0,500}}\bexit[ \t]+0\b"
    r"|^if[ \t]+\[\[?[ \t]+\"?\$\{{?(?:{0})\}}?\"?[ \t]+-l[et][ \t]+\"?(?:[2-9]\b|\d\d|\$)"
    r"(?:(?!\n(?:fi|el))[\s\S]){{0,500}}\b(?:exit[ \t]+2|block)\b"
)
_REFUSES = re.compile(r"\bexit[ \t]+2\b|[\"']?decision\\?[\"']?[ \t]*:[ \t]*\\?[\"']block\b")
# The time, or the state of the work, may reset the count.
_RESETS = re.compile(
    r"\b(?:stat|date|find|sha\w*sum|md5\w*|cksum|hash\w*)\b|[ \t]-[no]t[ \t]"
    r"|\$\$|EPOCH|[tT]ranscript|rev-parse[ \t]+HEAD"
)
_LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
# What may remove or write any file.
_SWEEPS = re.compile(
    r"\brm\b|unlink|rmtree|truncate|\bgit[ \t]+clean\b|>[ \t]*[\"$/.\w]"
    r"|write|\bopen\(|^[ \t]*(?:source|\.)[ \t]",
    re.MULTILINE,
)


def shared_count(hook_set: HookSet, hook: Hook) -> str:
    """Return the file with a count of refusals that all sessions share; empty for none."""
    rule, sources = hosts.find(hook_set.host).events.get(hook.event), hook_set.sources_of(hook)
    if rule is None or rule.role not in STOPS or hook.type != "command" or len(sources) != 1:
        return ""
    (path, text), *_ = sources
    loaded = [*loaded_texts(hook_set, text)]
    file = count_for_all(text, loaded) if len(loaded) == len(_LOADS.findall(code_of(text))) else ""
    # Another hook, or this one at another event, may reset the count.
    same = {one.event for one in hook_set.hooks_of(path)} == {hook.event}
    return file if file and same and not _is_known(hook_set, path, file.rpartition("/")[2]) else ""


def _is_known(hook_set: HookSet, path: str, name: str) -> bool:
    """Return whether another hook names a file, or may remove all files where a turn or session begins."""
    events = hosts.find(hook_set.host).events
    others = [one.command for one in hook_set.hooks] + [
        one for script, one in hook_set.sources if script != path
    ]
    between = [one for one in hook_set.hooks if one.event in events and events[one.event].role in _BETWEEN]
    texts = [text for one in between for text in (one.command, *hook_set.scripts_of(one))]
    return any(name in one for one in others) or any(map(_SWEEPS.search, texts))


def count_for_all(text: str, loaded: Sequence[str] = ()) -> str:
    """Return the file in which a shell script counts its refusals for all sessions; empty for none."""
    if not SHELL_SCRIPT.match(text):
        return ""
    code, *others = map(_without_comments, (text, *loaded))
    if any(KNOWS_SESSION.search(one) or _RESETS.search(one) for one in (code, *others)):
        return ""
    if not _REFUSES.search(code):
        return ""
    for found in _FILE.finditer(code):
        name = found["name"]
        if len(re.findall(rf"(?<![\w$.-]){name}=", code)) > 1:
            continue
        for read in re.finditer(_READ.format(name), code, re.MULTILINE):
            counts = read["count"]
            if grown := re.search(_GROWN.format(counts), code, re.MULTILINE):
                counts = f"{counts}|{grown['next']}"
            limit = re.search(_LIMIT.format(counts), code, re.MULTILINE)
            if grown and limit and re.search(_WRITTEN.format(name, counts), code):
                return found["path"].strip('"').rpartition(")/")[2]
    return ""


def _without_comments(text: str) -> str:
    """Return a script without its comments, also those behind a command."""
    lines = zip(text.splitlines(), code_of(text).splitlines(), strict=False)
    return "\n".join(_cut(line, shown) for line, shown in lines)


def _cut(line: str, shown: str) -> str:
    found = re.search(r"(?:^|[ \t])(_+)$", shown)
    return line[: found.start(1)] if found and line[found.start(1)] == "#" else line
