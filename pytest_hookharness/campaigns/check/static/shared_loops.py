"""
Loops of Stop hooks whose state names no session, so that every session of the project is held by them.

A shell script counts as a loop if it allows the stop without its state file, which it also writes or removes,
refuses it otherwise, and counts its rounds. It knows its session if the word stands anywhere in it, or in a
file that it loads. So may a script that names its file after the transcript, after what a command prints or
after the environment, that asks the environment whether to work, or that reads `stop_hook_active`; these are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import hooks_at, only_script
from pytest_hookharness.campaigns.check.answers.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import REFUSES_IN_JSON
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    loaded_texts,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Words that may distinguish sessions, or end the loop after one round.
KNOWS_SESSION = re.compile(
    r"session[_ -]?(?:id|uuid|key|name|file|token)|\b(?:sid|tty|pid|ppid|owner|tmux_pane|term_session\w*)\b"
    r"|CLAUDE_CODE_\w{0,30}SESSION|hash\w*\s+[^\n]{0,200}transcript|transcript\w{0,30}\s*(?:=|!)="
    r"|stop_?hook_?active|\bprintenv\b|\benv\s*\|"
    r"|\bgit\s+(?:branch|symbolic-ref|worktree)\b|--abbrev-ref"
    # The prompt of the input may be compared with that of the loop.
    r"|\$\{?\w{0,20}input\w{0,20}[^\n]{0,200}\.prompt\b"
    # Another script gets the input, and may know the session.
    r"|^[^\n#]*\b(?:python3?|node|bun|ruby|bash|sh)\s+[\"']?[\w$./({-][^\n]{0,200}\.(?:py|[cm]?js|ts|rb|sh)\b",
    re.IGNORECASE | re.MULTILINE,
)
# The stop is allowed if a file is missing.
_LEAVES = re.compile(
    r"(?:\bif\s+\[\[?\s+!\s+-[fes]\s+[\"']?\$\{?(?P<name>\w+)\}?[\"']?\s+\]\]?\s*(?:;|\n)\s*then\b(?P<way>(?:(?!\bfi\b|\belse\b)[\s\S]){0,400}?)\bexit\s+0\b"
    r"|\[\[?\s+!\s+-[fes]\s+[\"']?\$\{?(?P<short>\w+)\}?[\"']?\s+\]\]?\s*&&\s*(?:\{[^}\n]{0,200})?\bexit\s+0\b"
    r"|\[\[?\s+-[fes]\s+[\"']?\$\{?(?P<other>\w+)\}?[\"']?\s+\]\]?\s*\|\|\s*(?:\{[^}\n]{0,200})?\bexit\s+0\b)"
)
_COUNTER = r"(?<!\w)\w{0,30}(?:iter|attempt|round|cycle)\w{0,30}"
_COUNTS = re.compile(
    _COUNTER + r"[\"']?\s*(?:\|?=[^\n=]{0,200}\+\s*1\b|\+=\s*1\b|\+\+)",
    re.IGNORECASE,
)
# The number that is written for a counter, and how it grows.
_SHOWS = re.compile(_COUNTER + r"\\?[\"']?\s?[:=]\s?\\?[\"']?\$\{?(?P<name>[A-Za-z_]\w*)", re.IGNORECASE)
_GROWS = re.compile(r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)=[^\n=]{0,200}\+\s*1\b")
# A value and the quotes in it; it ends early at a substitution.
_ASSIGNED = r"(?<![\w$.{{-]){0}\+?=(?P<value>(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"';&|()])*)"
_VARIABLE = re.compile(r"\$(?:\{(?P<long>[^\n{}]*)\}|(?P<name>[A-Za-z_]\w*)|(?P<odd>.))")
# Variables of the environment that are the same in every session of a project.
_SAME = re.compile(r"\w*PROJECT_(?:DIR|ROOT)|CLAUDE_PLUGIN_ROOT|HOME|PWD|TMPDIR|USER|XDG_\w+_HOME")
# The file is changed: it is the target of an output or a move, or it is removed.
_WRITTEN = (
    r"(?<!>)>\|?\s*{0}(?=[\s;&|)}}]|$)"
    r"|\b(?:sed\s+-i[^\n]{{0,200}}|(?:rm|mv|tee|truncate)[^\n;|&]{{0,200}})\s{0}(?=[\s;&|)}}]|$)"
    r"|\bcp\s[^\n;|&]{{0,200}}\s{0}[ \t]*(?=[\n;&|)}}]|$)"
)
_NAMED = r"\"?\$\{{?{0}\b\}}?\"?"
# The conditions of a script: the words of its tests.
_TESTS = re.compile(
    r"\[\s(?P<test>[^\n\]]{0,150})\]|\btest\s(?P<word>[^\n;&|]{0,300})|\bcase\s(?P<case>[^\n]{0,100}?)\sin\b"
    r"|^[ \t]*(?P<first>\$[^\n;&|]{0,100})(?:\|\||&&)|[;{]\s*(?P<later>\$[^\n;&|]{0,100})(?:\|\||&&)"
    r"|\(\((?P<sum>[^\n)]{0,100})\)\)",
    re.MULTILINE,
)
_SET = re.compile(
    r"(?<![\w$.{-])(?P<name>[A-Za-z_]\w*)\+?=(?P<value>[^\n]{0,300})|\bfor\s+(?P<each>\w+)\s+in\b"
    r"|\bread\s+(?:-\w+\s+)*(?P<read>\w+)"
)
# The transcript, which is named after the session, and the ways to read the last message of it.
_TRANSCRIPT = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)=\"?\$\([^\n()]{0,200}?transcript_?path\b[^\n()|]{0,200}\)\"?",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[.\"']transcript_?path\b", re.IGNORECASE)
_EXISTS = r"-[fersznd]\s+\"?\$\{{?(?:{0})\b\}}?\"?"
_MESSAGE = re.compile(r"\b(?:echo|printf)\s[^\n|;>]{0,300}>&2")
_LAST = re.compile(r"\b(?:tail|tac|cat|jq|grep)\s")
_MORE = re.compile(
    r"sum\b|hash|\b(?:basename|dirname|sed|awk|cut|tr|base64|openssl|user|python3?|node|contains|test)\b|[%#]|/tmp"
)
# Code that allows the stop if a text lacks a word.
_ASKS = re.compile(
    r"\bgrep\s[^\n]{0,200}\|\|\s*(?:\{[^\n}]{0,200})?\bexit\s+0\b|\bif\s+!\s[^\n]{0,200}\bgrep\s[^\n]*"
    r"|\[\[\s[^\n]{0,100}\*[^\n]{0,60}\]\]\s*\|\|\s*(?:\{[^\n}]{0,200})?\bexit\s+0\b"
)
_ENDS = frozenset({hosts.Role.SESSION_START, hosts.Role.SESSION_END})
# Scripts test few files; a longer search would take a long time in a strange one.
_MOST = 20


def shared_loop(hook_set: HookSet, hook: Hook) -> str:
    """Return the state file of a loop that holds every session of the project; empty for none."""
    text = only_script(hook_set, hook, {hosts.Role.STOP})
    # A loop whose answer nobody can read holds no session.
    if not text or find_unread_answer(hook_set, hook):
        return ""
    state = loop_for_all(text, [*loaded_texts(hook_set, text)])
    return "" if state and _is_removed(hook_set, state.rpartition("/")[2]) else state


def _is_removed(hook_set: HookSet, name: str) -> bool:
    """Return whether a hook at the start or the end of each session removes a file."""
    removes = re.compile(rf"\brm\b[^\n]*{re.escape(name)}")
    return any(
        removes.search(text)
        for hook in hooks_at(hook_set, _ENDS)
        for text in (hook.command, *hook_set.scripts_of(hook))
    )


def loop_for_all(text: str, loaded: list[str]) -> str:
    """Return the state file of the loop in a shell script that knows no session; empty for none."""
    if not SHELL_SCRIPT.match(text):
        return ""
    code = without_comment_lines(text)
    whole = "\n".join([code, *(without_comment_lines(one) for one in loaded)])
    if KNOWS_SESSION.search(whole) or not REFUSES_IN_JSON.search(code) or not _counts(whole):
        return ""
    if _names_by_transcript(whole) or _asks_environment(whole):
        return ""
    return next(_states(code, whole), "")


def _counts(whole: str) -> bool:
    """Return whether a script adds one to a counter of rounds."""
    if _COUNTS.search(whole):
        return True
    shown = {found["name"] for found in _SHOWS.finditer(whole)}
    return bool(shown) and any(found["name"] in shown for found in _GROWS.finditer(whole))


def _names_by_transcript(whole: str) -> bool:
    """Return whether a script does more with the path of the transcript than to read the last message."""
    names = {found["name"] for found in _TRANSCRIPT.finditer(whole)}
    rest = _TRANSCRIPT.sub("", whole)
    if _FIELD.search(rest) or len(names) > _MOST:
        return True
    if not names:
        return False
    any_of = "|".join(sorted(names))
    rest = _MESSAGE.sub("", re.sub(_EXISTS.format(any_of), "", rest.replace("\\\n", "  ")))
    used = re.compile(rf"\$\{{?(?:{any_of})\b")
    return any(not _reads_last(line) for line in rest.splitlines() if used.search(line))


def _reads_last(line: str) -> bool:
    """Return whether a line only reads the last message of the transcript."""
    plain = not _MORE.search(line) and _LAST.search(line)
    return bool(plain) and ("assistant" in line or "grep" not in line)


def _asks_environment(whole: str) -> bool:
    """Return whether a test of a script needs a variable that another program may set."""
    given: dict[str, set[str]] = {}
    for one in _SET.finditer(whole):
        name = one["name"] or one["each"] or one["read"]
        value = re.match(r"[\"']?\$\{?([A-Za-z_]\w*)", one["value"] or "")
        given.setdefault(name, set()).add(value[1] if value else "")
    # A default for what may be set, `A=${A:-0}`, is no value of its own.
    outer = {name for name, values in given.items() if values == {name}}
    outer |= {
        name
        for name, values in given.items()
        if any(one in outer or (one and one not in given and not _SAME.fullmatch(one)) for one in values)
    }
    for test in _TESTS.finditer(whole):
        words = next(filter(None, test.groups()), "")
        for found in re.finditer(r"\$\{?([A-Za-z_]\w*)", words):
            name = found[1]
            if name in outer or (name not in given and not _SAME.fullmatch(name)):
                return True
    return False


def _states(code: str, whole: str) -> Iterator[str]:
    found = (one["name"] or one["short"] or one["other"] for one in _LEAVES.finditer(code))
    for name in [*dict.fromkeys(found)][:_MOST]:
        values = _values(name, whole)
        written = re.search(_WRITTEN.format(_NAMED.format(name)), whole, re.MULTILINE)
        if values and written and _is_same(name, whole) and not _asks_for_word(name, whole):
            yield values[0].replace('"', "").replace("'", "")


def _asks_for_word(name: str, whole: str) -> bool:
    """Return whether a script allows the stop if a word is missing in a text that is not its state."""
    own = re.compile(_NAMED.format(name))
    return any(not own.search(one[0]) and "assistant" not in one[0] for one in _ASKS.finditer(whole))


def _values(name: str, whole: str) -> list[str]:
    """Return the values that a script assigns to a variable, with their quotes."""
    found = [one["value"] for one in re.finditer(_ASSIGNED.format(name), whole)]
    return found if all(found) else []


def _is_same(state: str, whole: str) -> bool:
    """Return whether the value of a variable is the same in every session of a project."""
    met, todo = {state}, [state]
    while todo:
        name = todo.pop()
        values = _values(name, whole)
        if (not values and not _SAME.fullmatch(name)) or len(met) > _MOST:
            return False
        for value in values:
            # A default may stand after a name: `${NAME:-.}`.
            found = [one["long"] or one["name"] or "" for one in _VARIABLE.finditer(value)]
            plain = [re.fullmatch(r"(\w+)(?::?-[^\n$]*)?", one) for one in found]
            needed = {one[1] for one in plain if one}
            if "`" in value or value.endswith("$") or None in plain or name in needed:
                return False
            todo += needed - met
            met |= needed
    return True
