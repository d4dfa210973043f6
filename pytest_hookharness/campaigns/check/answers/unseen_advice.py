"""
Advice that a script prints where the host passes it to nobody: plain text, with the status that allows.

Scripts that have no way to answer are read: no status but 0, no key of an answer, no other program or own
module that could answer for them. Of others only what Python prints is read, as nothing else can get that.
Only texts that tell somebody to do something count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.check.answers.failed_refusals import read_printed
from pytest_hookharness.campaigns.check.answers.lost_warnings import lost_warnings, reads_input
from pytest_hookharness.campaigns.check.answers.printed_texts import printed_texts
from pytest_hookharness.campaigns.check.answers.written_answers import without_comments
from pytest_hookharness.campaigns.check.shell_code.shell_outputs import (
    FOR_AUTHORS,
    goes_elsewhere,
    is_for_authors,
)
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    loaded_texts,
)
from pytest_hookharness.judging.checkup.unseen_texts import FOR_A_PERSON, is_advice
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook, Ruling

# A command that does nothing but say something, which is no object.
_ONLY_SAYS = re.compile(r"\s*echo\s+(?:-\w+\s+)?([\"'])(?!\s*\{)(?P<text>(?:(?!\1).)+)\1\s*;?\s*", re.DOTALL)
# Code that may print an answer, or reach a person in another way.
_ANSWERS = re.compile(
    r"hookSpecificOutput|additional_?context|systemMessage|permission|\bdecision\b|followup_message|_message\b"
    r"|stopReason|\bexit\(?\s*(?:[1-9]|[\"']?\$|[a-zA-Z_])|exit(?:_code|Code|_status)\b|SystemExit|raise\b"
    r"|notify|osascript|terminal-notifier|/dev/tty|\bcurl\b|\btmux\b|\bexec\b|\beval\b|\bwall\b|webhook"
    # A status of another kind, and scripts that a person starts too.
    r"|\bconsole(?:\.\w+)?\s*=(?!=)|\breturn 2\b|(?:^|;)[ \t]*false\b|sys\.argv\[|argparse|process\.argv"
    r"|case\s+\"?\$\{?1\b",
    re.IGNORECASE | re.MULTILINE,
)
# A script that asks for a terminal is for a person too, unless it reads what only a host sends.
_FOR_A_PERSON_TOO = re.compile(r"isatty|isTTY|\s-t\s[01]\b")
# Other files that may answer.
_STARTS = re.compile(
    r"^[ \t]*(?:source|\.)\s|\b(?:bash|sh|python[\d.]*|node|npx|bun|uv|exec)[ \t]+[\"']?[\w$./{(-]"
    r"|\brequire\(\s*(?![\"'](?:node:)?(?:fs|path|os|child_process|util|url|crypto|readline|process)[\"'])"
    r"|\bfrom\s+[\"']\.|\bimport\(|^[ \t]*from\s+\.|sys\.path|subprocess|os\.system"
    r"|[\"']?\$\{?(?:HERE|SCRIPT_DIR|DIR)\b",
    re.MULTILINE,
)
# Output captured in a variable, which is no part of the hook's answer.
_KEPT = re.compile(r"=\"?\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
# A quoted text of one line.
_QUOTED = r"([\"'])(?P<text>(?:(?!\1)[^\n]){3,400})\1"
_SHELL_PRINTS = rf"\b(?:echo\s+(?:-e\s+)?|printf\s+){_QUOTED}"
_DOCUMENT = r"<<-?\s*['\"]?\w+['\"]?"
_ERR = r"(?:>&2|1>&2)"
_PRINTS: Sequence[tuple[str, re.Pattern[str]]] = tuple(
    (stream, re.compile(pattern, re.MULTILINE | re.DOTALL))
    for stream, pattern in (
        ("stderr", rf"^[^#\n]{{0,200}}?{_SHELL_PRINTS}[^\n>|]{{0,99}}{_ERR}"),
        ("stdout", rf"^[^#\n>|]{{0,200}}?{_SHELL_PRINTS}[^\n>|]{{0,99}}(?<!\\)(?:;|&&\s*exit|$)"),
        (
            "stderr",
            rf"^[ \t]*cat\s*(?:{_ERR}\s*{_DOCUMENT}|{_DOCUMENT}\s*{_ERR})\s*\n(?P<text>[^\n]+)",
        ),
        ("stdout", rf"^[ \t]*cat\s*{_DOCUMENT}[ \t]*\n(?P<text>[^\n]+)"),
        ("stderr", r"\bconsole\.(?:error|warn)\(\s*([\"'`])(?P<text>(?:(?!\1).){3,400})\1"),
        ("stdout", r"\bconsole\.log\(\s*([\"'`])(?P<text>(?:(?!\1).){3,400})\1"),
        ("stderr", rf"\bprint\(\s*f?{_QUOTED}\s*,\s*file\s*=\s*sys\.stderr"),
        ("stderr", r"\bstderr\.write\(\s*f?([\"'`])(?P<text>(?:(?!\1)[^\n]){3,400})\1"),
        ("stdout", rf"\bprint\(\s*f?{_QUOTED}\s*\)"),
    )
)
# A function that only prints its argument.
_HELPER = re.compile(
    r"\b(?:function\s+)?(?P<name>\w+)\s*\(\s*\w*\s*\)\s*\{\s*(?:console\.(?P<js>error|warn|log)\(\s*\w+\s*\)|echo\s+\"\$[1*@]\"\s*(?P<sh>>&2)?)\s*;?\s*\}"
)
# Redirections of a command's output.
_REDIRECTS = re.compile(r"(?<!\|)\|(?!\|)|(?<![\d&])>(?!&)|\d>(?!&1|\s*/dev/null)")
_OF_CALLS = frozenset([hosts.Role.BEFORE_TOOL, hosts.Role.AFTER_TOOL, hosts.Role.PROMPT])
# What a command makes of the status of its script.
_CHANGES_STATUS = re.compile(r"\|\||&>|\d?>&\d")
_SAMPLE = "Please run the tests."


@dataclass(frozen=True, slots=True)
class UnseenAdvice:
    """A text that nobody gets, and the stream on which it is printed."""

    text: str
    stream: str


def unseen_advice(hook_set: HookSet, hook: Hook) -> UnseenAdvice | None:
    """Return the first advice in a hook's script that its host passes to nobody; ``None`` for none."""
    texts = hook_set.code_of(hook)
    known = hosts.find(hook_set.host).events
    rule = known.get(hook.event)
    for_a_person = hook.event.lower() == FOR_A_PERSON
    if len(texts) != 1 or rule is None or for_a_person or hook.type != "command":
        return None
    text = texts[0]
    if said := _ONLY_SAYS.fullmatch(text):
        words = said["text"].replace('\\"', '"')
        return UnseenAdvice(words, "stdout") if _is_lost(hook_set, hook, "stdout", words) else None
    code = _KEPT.sub("=", code_of(text)) if SHELL_SCRIPT.match(text) else text
    if _REDIRECTS.search(hook.command):
        return None
    may_ask = _FOR_A_PERSON_TOO.search(text) and not reads_input(text)
    if may_ask or _ANSWERS.search(without_comments(text)) or _STARTS.search(code):
        return _said_beside_answers(hook_set, hook) or _said_before_the_end(hook_set, hook)
    # A script of several events may print a text at one of them alone.
    hooks = [one for path, _ in hook_set.sources_of(hook) for one in hook_set.hooks_of(path)] or [hook]
    lost = {
        stream
        for stream in ("stdout", "stderr")
        if all(_is_lost(hook_set, one, stream) for one in hooks if one.event in known)
    }
    if "2>&1" in hook.command:
        lost = {"stdout", "stderr"} if "stdout" in lost else set()
    found = next((one for one in _printed(text) if one.stream in lost), None)
    return found or _said_beside_answers(hook_set, hook) or _said_before_the_end(hook_set, hook)


def _said_beside_answers(hook_set: HookSet, hook: Hook) -> UnseenAdvice | None:
    """Return what a Python script surely prints as plain text at events where nobody gets that."""
    for path, text in hook_set.sources_of(hook):
        if all(_is_lost(hook_set, one, "stdout") for one in hook_set.hooks_of(path)):
            found = (" ".join(words.split()) for words in printed_texts(text))
            return next((UnseenAdvice(words, "stdout") for words in found if is_advice(words)), None)
    return None


def _said_before_the_end(hook_set: HookSet, hook: Hook) -> UnseenAdvice | None:
    """Return what a shell script prints, and then allows, at events where nobody gets that."""
    if _CHANGES_STATUS.search(hook.command):
        return None
    for path, text in hook_set.sources_of(hook):
        hooks = hook_set.hooks_of(path)
        of_calls = all(role_of(hook_set.host, one.event) in _OF_CALLS for one in hooks)
        for stream, words in lost_warnings(text, [*loaded_texts(hook_set, text)], of_calls=of_calls):
            if all(_is_lost(hook_set, one, stream) for one in hooks):
                return UnseenAdvice(words, stream)
    return None


def where_it_is_read(hook_set: HookSet, hook: Hook) -> str:
    """Return the key of an answer in which the host reads a text for the agent at a hook's event."""
    profile = hosts.find(hook_set.host)
    paths = profile.answers(hook.event).context if profile.events[hook.event].context else ()
    return ".".join(paths[0]) if paths else ""


def advise_on_place(hook_set: HookSet, hook: Hook) -> str:
    """Return in one sentence where to write a text for the agent; empty if the host reads none there."""
    place, profile = where_it_is_read(hook_set, hook), hosts.find(hook_set.host)
    if not place:
        return ""
    more = f"; at {hook.event} it makes the agent go on, and a text for the user belongs in `systemMessage`"
    more = more if profile.events[hook.event].context_continues else ""
    return f"Answer in JSON, with the text in `{place}`{more}."


def _is_lost(hook_set: HookSet, hook: Hook, stream: str, words: str = _SAMPLE) -> bool:
    """Return whether a text on a stream of a hook that ends with 0 is plain text that reaches nobody."""
    reply = read_printed(hosts.find(hook_set.host), hook, 0, **{stream: words})
    return not (reply.context or reply.user_text) and reply.ruling is Ruling.NONE


def is_fault(hook_set: HookSet, hook: Hook, stream: str) -> bool:
    """Return whether a host takes plain text on a stream of a hook that ends with 0 for a failed answer."""
    return bool(read_printed(hosts.find(hook_set.host), hook, 0, **{stream: _SAMPLE}).fault)


def _printed(text: str) -> Iterator[UnseenAdvice]:
    ways, is_shell = [*_PRINTS], SHELL_SCRIPT.match(text) is not None
    text = without_comments(text)
    for found in _HELPER.finditer(text):
        stream = "stderr" if found["js"] in ("error", "warn") or found["sh"] else "stdout"
        call = rf"\b{found['name']}[ (]\s*([\"'`])(?P<text>(?:(?!\1)[^\n]){{3,400}})\1"
        ways.append((stream, re.compile(call)))
    for stream, pattern in ways:
        for found in pattern.finditer(text):
            words = " ".join(found["text"].split())
            place = found.start("text")
            if not is_advice(words):
                continue
            hidden = is_shell and (goes_elsewhere(text, place) or is_for_authors(text, place))
            begin = text.rfind("\n", 0, place)
            # A condition in the line, or in the one before it.
            of_authors = FOR_AUTHORS.search(text, text.rfind("\n", 0, max(begin, 0)) + 1, place)
            if not hidden and not of_authors:
                yield UnseenAdvice(words, stream)
