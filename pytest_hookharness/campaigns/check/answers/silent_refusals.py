"""
Refusals in scripts that print their reason to standard output, where a host looks for it on standard error.

Read is what surely runs before the status that refuses: the lines of its block, and of the blocks around it.
A line that may write to standard error may print the reason there, so nothing is said then.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.failed_refusals import read_printed
from pytest_hookharness.campaigns.check.answers.printed_texts import (
    blocks_of,
    exit_status,
    names_of,
    printed,
    uses,
)
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.answers.written_answers import written_answers
from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    loaded_texts,
    script_of,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Ruling

_LONGEST = 100
_REFUSES = re.compile(r"\"(?:deny|block)\"")
_STATUS, _MOST = 2, 100
_EXIT = re.compile(r"(?:^|[;{&]|\bthen\b)\s*exit\s+2\b")
_ENDS = re.compile(r"\b(?:exit|return)\b")
_OPENS = re.compile(
    r"(?:^|[;&|]\s*|\bthen\s+|\bdo\s+|\belse\s+)(?:if|for|while|until|case|select)\b|[\w)]\s*\{\s*$|^\s*\{\s*$"
)
_CLOSES = re.compile(r"(?:^|;)\s*(?:fi|done|esac|\})(?=\s|;|$|\))")
_BRANCH = re.compile(r"^\s*(?:else|elif)\b|;;")
_SAYS = re.compile(r"(?:^|[;{&|]|\bthen|\bdo|\belse)\s*(?P<call>echo|printf)\s+(?P<rest>[^\n]*)")
_DOCUMENT = re.compile(r"^\s*cat\s*<<-?\s*['\"]?\w+['\"]?\s*$")
# In a command: what joins the streams, or gives the output to another program or a variable.
_SENT_ON = re.compile(r">&|(?<!\|)\|(?!\|)|\w=[\"']?\$\(")
_TO_ERROR = re.compile(r">&\s*[2\"$]|/dev/stderr|\bexec\b|\beval\b|\bset\s+-\w*x")
_ELSEWHERE = re.compile(r"(?<![0-9&])>(?!&)|(?<!\|)\|(?!\|)")
# Commands that write nothing to standard error unless they fail.
_QUIET = re.compile(
    r"\s*(?:(?:if|elif|while|until|then|else|do|!|\{|local|export|readonly|declare)\s+)*"
    r"(?:echo|printf|cat|\w+\+?=|\[|\(\(|:|true|false|rm|mv|cp|mkdir|touch|jq|git|sed|grep|tail|head|awk|cut|tr|set|shift"
    r"|date|sleep|command|cd|test|read|return|exit|then|else|do|done|fi|esac|case|for|while|if|[{}]|unset|trap|wc|sort)"
    r"(?![\w-])|\s*(?:\w+\+?=|\[\[|\(\(|\S+\)|;;)"
)
# What only a person does who starts the script by hand, and what prints at the very end.
_NOT_TOLD = re.compile(
    r"\s-t\s+[01]\b|\$#|\$\{?1\b[^\n]*=\s|--help|\b[uU]sage\b|\bhelp\s*\(\)|^\s*trap\s[^\n]*\b(?:EXIT|0)\b"
)
_QUOTED = re.compile(r"^\s*(?:-\w+\s+)*(['\"])(?P<text>.*?)(?<!\\)\1")
# A format of printf that prints its arguments and no words of its own.
_BARE_FORMAT = re.compile(r"^\s*(?:--\s+)?(['\"]?)(?:%[sb]|\\n|[ ])+\1(?=\s)")
_WORD = re.compile(r"[\w-]+")
_NAMED = re.compile(r"\s*(?:then\s+|else\s+|do\s+)?([A-Za-z_][\w-]*)(?=\s|$|;)")
# The message of a function before it fails, which is no reason of a refusal.
_FAILS = re.compile(r"^[^\n]*>&\s*2[ \t]*(?:\n[ \t]*|;[ \t]*)(?:return|exit)[ \t]+[1-9][^\n]*$", re.MULTILINE)
# What writes an error in Python, and what replaces the output, or prints at the end.
_LOUD = re.compile(r"stderr|os\.write\(\s*2|logg(?:er|ing)|warnings?\.|traceback")
_REPLACED = re.compile(
    r"redirect_stdout|sys\.stdout\s*=|\batexit\b|excepthook|import \*|sys\.argv\[|len\(sys\.argv|isatty"
)
# A line that calls something that may write an error.
_CALLED = re.compile(
    r"^[ \t]*(?!console\.log\(|process\.stdout\.|if\b|return\b|(?:const|let|var)\b)[\w.]+\(", re.MULTILINE
)
_OF_JAVASCRIPT = re.compile(r"^[ \t]*process\.exit\(\s*2\s*\)", re.MULTILINE)
_LOGS = re.compile(
    r"^[ \t]*(?:console\.log|process\.stdout\.write)\(\s*(?P<what>[^\n]*?)\)?;?[ \t]*$", re.MULTILINE
)


def silent_refusal(hook_set: HookSet, hook: Hook) -> str:
    """Return the text of a refusal in a hook's script that the host does not read; empty for none."""
    profile = hosts.find(hook_set.host)
    by_status = profile.replies.rules.get("code refuses")
    texts = hook_set.scripts_of(hook)
    # For some hosts it is not documented from which stream they take the reason.
    if by_status is None or "standard error" not in by_status.text:
        return ""
    is_known = hook.event in profile.events and hook.type == "command" and len(texts) == 1
    if not is_known or _SENT_ON.search(hook.command):
        return ""
    found = (words for words in _printed(hook_set, texts[0]) if _is_silent(hook_set, hook, words))
    return " ".join(next(found, "").split())[:_LONGEST]


def silent_answer(hook_set: HookSet, hook: Hook) -> str:
    """Return an answer in a hook's script that refuses without a reason, as JSON; empty for none."""
    profile = hosts.find(hook_set.host)
    rule = profile.events.get(hook.event)
    # At an event that no simulation has, it is unknown who reads the reason.
    if rule is None or rule.unreachable or hook.type != "command":
        return ""
    for text in (hook.command, *hook_set.scripts_of(hook)):
        for answer in () if any(named_hosts(hook_set.host, text)) else written_answers(text):
            reply = hosts.read_reply(profile, hook, hook.event, answer.value)
            written = json.dumps(answer.value)
            meant = _REFUSES.search(written) and not answer.broken
            if meant and reply.ruling is Ruling.DENY and reply.silent:
                return written[:_LONGEST]
    return ""


def _is_silent(hook_set: HookSet, hook: Hook, words: str) -> bool:
    reply = read_printed(hosts.find(hook_set.host), hook, _STATUS, stdout=words)
    return reply.ruling is Ruling.DENY and reply.silent


def _printed(hook_set: HookSet, text: str) -> Iterator[str]:
    """Yield the texts that a script prints to standard output before it refuses, and nothing else."""
    if SHELL_SCRIPT.match(text):
        found = _in_shell(text, _functions(hook_set, text))
    elif re.search(r"^(?:import|from) \w", text, re.MULTILINE) and "process." not in text:
        found = _in_python(text)
    else:
        found = _in_javascript(text)
    yield from found


def _functions(hook_set: HookSet, text: str) -> dict[str, bool]:
    """Return whether each function of a shell script, and of the files that it loads, writes an error."""
    loaded = [*loaded_texts(hook_set, text)]
    bodies = {
        name: one[begin:end] for one in (*loaded, text) for name, begin, end in script_of(one).functions
    }
    every = code_of("\n".join((*loaded, text)))
    loud = {
        name: bool(_TO_ERROR.search(_FAILS.sub("", body) if _is_ended_by(name, every) else body))
        for name, body in bodies.items()
    }
    for _ in bodies:
        called = {name for name, body in bodies.items() if any(loud.get(one) for one in _WORD.findall(body))}
        loud |= dict.fromkeys(called, True)
    return loud


def _is_ended_by(name: str, text: str) -> bool:
    """Return whether a script does not go on to refuse where a function fails, as far as its calls show."""
    lines = [line for line in text.splitlines() if re.search(rf"(?<![\w-]){name}(?![\w-]|\s*\()", line)]
    value = re.compile(rf"^\s*(?:local\s+)?\w+=\"?\$\(\s*{name}\b[^|&;]*$")
    if re.search(r"^\s*set\s+-\w*e|^#!.*\s-\w*e", text, re.MULTILINE):
        value = re.compile(rf"^\s*(?:\w+=\"?\$\(\s*)?{name}\b[^|&;]*$")
    elif "$?" in text:
        return False
    return all(value.match(line) for line in lines)


def _in_shell(text: str, functions: dict[str, bool]) -> Iterator[str]:
    whole, place = code_of(text), 0
    code, lines = whole.split("\n"), text.split("\n")
    refusing = 0
    for number, line in enumerate(code):
        exits = _EXIT.search(line) if refusing < _MOST else None
        if exits and not goes_elsewhere(whole, place + exits.start()):
            refusing += 1
            before = [*code[:number], line[: exits.start()]]
            written = [*lines[:number], lines[number][: exits.start()]]
            yield from _before_exit(before, written, functions)
        place += len(line) + 1


def _before_exit(code: Sequence[str], lines: Sequence[str], functions: dict[str, bool]) -> Iterator[str]:
    """Yield the first text that is printed before the end of some lines, if nothing may be an error there."""
    said, depth, told, ends, inside = "", 0, False, False, True
    for line, written in zip(reversed(code), reversed(lines), strict=True):
        shut, opened = len(_CLOSES.findall(line)), len(_OPENS.findall(line))
        if shut > opened and depth == 0:
            told = ends = False
        depth += shut - opened
        loud = _is_loud(line, functions)
        if depth > 0:
            # A block that ends the script is not on the way.
            told, ends = told or loud, ends or bool(_ENDS.search(line))
            continue
        if (opened or shut) and told and not ends:
            return
        told = False
        if depth < 0 or _BRANCH.search(line):
            inside, depth = False, 0
        if loud or _NOT_TOLD.search(written):
            return
        if re.match(r"\s*[\w-]+\s*\(\)", line):
            break
        said = (_said(line, written) if inside else "") or said
    if said:
        yield said


def _is_loud(line: str, functions: dict[str, bool]) -> bool:
    """Return whether a line may write to standard error."""
    if _TO_ERROR.search(line) or any(functions.get(word) for word in _WORD.findall(line)):
        return True
    if not line.strip("_ \t") or "2>&1" in line or re.search(r"2>\s*/dev/null|&>\s*/dev/null", line):
        return False
    named = _NAMED.match(line)
    if named and named[1] in functions:
        return False
    return not _QUIET.match(line) and not re.match(r"\s*(?:source|\.)\s", line)


def _said(line: str, written: str) -> str:
    """Return the text that a line prints to standard output; empty for none."""
    found = _SAYS.search(line)
    if found is None or _ELSEWHERE.search(found["rest"]):
        return ""
    rest = written[found.start("rest") :]
    quoted = _QUOTED.match(_BARE_FORMAT.sub("", rest) if found["call"] == "printf" else rest)
    words = quoted["text"].replace('\\"', '"') if quoted else ""
    return words if any(map(str.isalpha, words)) else ""


def _in_python(text: str) -> Iterator[str]:
    """Yield the texts that a script prints in a block of Python up to a status that refuses."""
    if _REPLACED.search(text):
        return
    loud = names_of(text, _LOUD)
    for block in blocks_of(text):
        said: list[str] = []
        for statement in block:
            if exit_status(statement) == str(_STATUS):
                yield from said[:1]
            if exit_status(statement) or _LOUD.search(ast.unparse(statement)) or uses(statement, loud):
                break
            said += [words] if (words := printed(statement)) else []


def _in_javascript(text: str) -> Iterator[str]:
    if re.search(
        r"console\.error\s*=|\bstdout\s*=|console\.log\s*=|\.once?\(\s*['\"]exit|isTTY|argv\.length", text
    ):
        return
    for exits in _OF_JAVASCRIPT.finditer(text):
        block = text[: exits.start()].rpartition("{")[2]
        if re.search(r"stderr|console\.(?:error|warn)|\}", block) or _CALLED.search(block):
            continue
        if found := _LOGS.search(block):
            quoted = _QUOTED.match(found["what"]) or re.match(r"`(?P<text>[^`]*)`", found["what"])
            yield quoted["text"] if quoted else found["what"]
