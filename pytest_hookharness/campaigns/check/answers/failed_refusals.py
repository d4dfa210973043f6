"""
Refusals in scripts that end with a status which their host takes for a failure, so that it allows the call.

A refusal in plain words, a text that tells the agent that a check failed, or a whole answer counts if the
status follows right after it. Scripts that can end with the status that refuses are skipped.
An answer with a text for the agent counts in each script, as some hosts read an answer only with status 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import GATES
from pytest_hookharness.campaigns.check.answers.written_answers import written_answers
from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    loaded_texts,
    script_of,
)
from pytest_hookharness.judging.checkup.lost_refusals import REFUSING
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.processes import Exited, Output, ProcessResult
from pytest_hookharness.model.protocol import Hook, Reply, Ruling

_EXIT = r"(?:\bexit|\bsys\.exit\(|\bprocess\.exit\()\s*(?P<code>\d+)\b"
_REFUSES_BY_CODE = re.compile(
    r"\bexit(?:Code)?(?:\s*=|\(|\s)\s*(?:2\b|[\"']?\$\w)|\bexit\(\s*[A-Za-z_]|SystemExit\((?:2|[a-z])"
)
_KNOWS = re.compile(
    r"permissionDecision\b|\bdecision\\?[\"']?\s*:\s*\\?[\"'](?:block|deny)|\bpermission\\?[\"']?\s*:"
)
# A printed text, and the status at most two lines after it.
_SAID = re.compile(
    r"^[ \t]*(?:echo[ \t]+(?:-e[ \t]+)?|printf[ \t]+|console\.(?:error|log)\(\s*|print\(\s*f?"
    r"|sys\.stderr\.write\(\s*f?)"
    r"([\"'`])(?P<words>(?:(?!\1)[^\n]){3,300})\1[^\n|]{0,60}\n(?:[^\n]{0,200}\n){0,2}?[ \t]*" + _EXIT,
    re.MULTILINE,
)
# The same with a here-document; only its first line is read.
_WRITTEN = re.compile(
    r"^[ \t]*cat[ \t]*(?:>&2[ \t]*)?<<-?[ \t]*([\"']?)(?P<mark>\w+)\1[ \t]*(?:>&2)?[ \t]*\n"
    r"(?P<words>[^\n]{3,300})\n"
    r"(?:(?!(?P=mark)\n)[^\n]*\n){0,60}?(?P=mark)\n(?:[^\n]{0,200}\n){0,2}?[ \t]*" + _EXIT,
    re.MULTILINE,
)
# The same in a group, `{ ...; } >&2`; its first text.
_GROUPED = re.compile(
    r"^[ \t]*\{[ \t]*\n?[ \t]*(?:echo|printf)[ \t]+"
    r"([\"'])(?P<words>(?:(?!\1)[^\n]){3,300})\1(?:(?![ \t]*\})[^\n]{0,200}\n|\n){1,12}?[ \t]*\}"
    r"[ \t]*>&2[ \t]*\n"
    r"(?:[^\n]{0,200}\n)?[ \t]*" + _EXIT,
    re.MULTILINE,
)
# A placeholder of `printf`.
_FORMATTED = re.compile(r"[\"']?%[sd][\"']?")
# Words for a failed check; the next pattern has words for a failure of the hook itself.
_FAILED = re.compile(
    r"\b(?:tests?|specs|suite|lint\w*|type[ -]?check\w*|checks|gates?|build|compilation|formatting)\b"
    r"[^.:;|]{0,30}?\b(?:failed|failing)\b"
    r"|\b(?:lint\w*|type|syntax|compil\w+|format\w*|test) (?:errors|failures|issues)\b"
    r"|\bfound (?:\S+ )?(?:issues|errors|problems)\b",
    re.IGNORECASE,
)
_OF_ITSELF = re.compile(
    r"not (?:found|installed|available|set|a git)|missing|\bjq\b|payload|\bstdin\b|\binput\b|\bcd\b"
    r"|\bpars(?:e|ing)\b|repository|install\b|skip|unknown|invalid|could not|cannot|can't|unable|timed? ?out"
    r"|usage:|failed to\b",
    re.IGNORECASE,
)
# A comment that says that the agent gets the text.
_TOLD = re.compile(
    r"(?:#|//)[^\n]*?\bexit(?:s|ing)?(?: with| code| status)* 1\b"
    r"(?P<what>(?:[^\n]|\n[ \t]*(?:#|//)){0,80}?)\b"
    r"(?:back to|to|tells|blocks|blocking) (?:the )?(?:agent|claude|model)\b",
    re.IGNORECASE,
)
# A comment that says that status 1 refuses, and that status in the code.
_BLOCKS = re.compile(
    r"(?:#|//)[^\n]*?\bexit(?:s|ing)?(?: with| code| status)* 1\b[ \t]*"
    r"(?:[=\u2013\u2014-]+>?|\u2192|to)[ \t]*(?:hard[ \t]+)?block(?:s|ing|ed)?\b(?P<what>[^\n]*)",
    re.IGNORECASE,
)
_ENDS_WITH_ONE = re.compile(r"^(?!\s*(?:#|//))[^\n]*\b(?:process\.|sys\.)?exit\(?[ \t]*1\b", re.MULTILINE)
_NO = re.compile(r"\b(?:not|never|no|only|user)\b|n't|\bnon-", re.IGNORECASE)
_NO_REFUSAL = re.compile(r"\W*(?:usage|warning|note)\b", re.IGNORECASE)
# The status after an answer, and lines that do not lead elsewhere before it.
_ENDS = re.compile(_EXIT)
_BRANCH = re.compile(r"\b(?:if|elif|else|fi|case|esac|def|function|for|while|except|catch)\b|;;")
_NEAR, _MOST = 12, 100
_LOST = "crashed: "
# A command that does more than go on where its script fails may refuse there.
_MINDS = re.compile(r"\|\|(?!\s*(?:true\b|:|exit\s+0\b))|\bexit\s+[1-9]|\$\?|\btrap\b")
# What may make another status of that of a line, or may carry out the line in another process.
_ANOTHER_STATUS = re.compile(
    r"\btrap\b|\bexec\b(?![ \t]+\d*[<>&])|^[ \t]*\([ \t]*$|\|[ \t]*(?:while|for|until|\{|\()|\$\{?1\b"
    r"|SystemExit|\bos\._exit|\batexit\b|\bfinally\b|\bon\(\s*[\"']exit",
    re.MULTILINE,
)
# A command that ends with another status than its script.
_GOES_ON = re.compile(r"[;|\n]|\$\?|\bexec\b|&(?!&)")


def failed_refusal(hook_set: HookSet, hook: Hook) -> str:
    """
    Return why a refusal or a text for the agent in a hook's script has no effect, or nothing.

    The words follow the event.
    """
    return next(_failed(hook_set, hook), "") or next(_lost_texts(hook_set, hook), "")


def _failed(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    profile = hosts.find(hook_set.host)
    rule = profile.events.get(hook.event)
    # The command may make another status of it.
    if rule is None or hook.type != "command" or "||" in hook.command:
        return
    is_gate = rule.role in GATES
    # At some events after a call, the status that refuses gives the text to the agent.
    tells = read_printed(profile, hook, 2, stderr="Tests failed.").ruling is Ruling.DENY
    texts = hook_set.scripts_of(hook)
    tells = tells and not _MINDS.search(hook.command) and not any(map(_REFUSES_BY_CODE.search, texts))
    for text in chain(texts, _called_functions(hook_set, texts)) if is_gate or tells else ():
        if _REFUSES_BY_CODE.search(text):
            continue
        blocks = _BLOCKS.search(text) if not _KNOWS.search(text) else None
        if blocks and not _NO.search(blocks["what"]) and _ENDS_WITH_ONE.search(text):
            reply = read_printed(profile, hook, 1, stderr="BLOCKED")
            if _is_failure(reply):
                fault = (reply.fault or "").removeprefix(_LOST).partition(": ")[0]
                yield f"{fault}, though a comment in the script says that it blocks"
        # A script that knows how to refuse may mean that it failed itself.
        knows = _KNOWS.search(text) is not None
        said = chain.from_iterable(form.finditer(text) for form in (_SAID, _WRITTEN, _GROUPED))
        for found in islice(said, 0 if knows else _MOST):
            words = " ".join(_FORMATTED.sub(" ... ", found["words"]).replace("\\n", " ").split())
            reply = read_printed(profile, hook, int(found["code"]), stderr=words)
            # The pattern for a group requires `>&2`, so it goes to standard error.
            is_shell = found.re is not _GROUPED and SHELL_SCRIPT.match(text) is not None
            captured = is_shell and goes_elsewhere(text, found.start("words"))
            if (
                found["code"] != "0"
                and not captured
                and not _NO_REFUSAL.match(words)
                and (
                    (is_gate and REFUSING.search(words)) or (tells and _says_that_a_check_failed(text, found))
                )
                and _is_failure(reply)
            ):
                yield (reply.fault or "").removeprefix(_LOST)
        for answer in written_answers(text) if is_gate else ():
            code, written = _status_behind(text, answer.line), json.dumps(answer.value)
            refuses = read_printed(profile, hook, 0, stdout=written).ruling is Ruling.DENY
            if code and refuses and _is_failure(read_printed(profile, hook, code, stdout=written)):
                yield f"the refusal ends with {code}, which {hook_set.host} takes for a failure of the hook"


def _called_functions(hook_set: HookSet, texts: Iterable[str]) -> Iterator[str]:
    """Yield, for each shell script, a script of the functions that it calls from files it loads."""
    for text in filter(SHELL_SCRIPT.match, texts):
        code = code_of(text)
        loaded = script_of("\n".join(loaded_texts(hook_set, text)))
        bodies = [
            loaded.code[one.begin : one.end]
            for one in loaded.functions
            if re.search(rf"(?m)(?:^|[;&|(]|\b(?:then|do|else)\b)[ \t]*{one.name}(?=[ \t;&|)]|$)", code)
        ]
        if bodies and not (_REFUSES_BY_CODE.search(text) or "trap" in f"{text}{loaded.code}"):
            yield "\n".join(["#!/bin/sh", *bodies])


def _lost_texts(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    """Yield why the agent does not get a text in an answer that the host reads only with status 0."""
    profile = hosts.find(hook_set.host)
    if hook.event not in profile.events or hook.type != "command" or _GOES_ON.search(hook.command):
        return
    for text in hook_set.scripts_of(hook):
        if _ANOTHER_STATUS.search(text):
            continue
        # Not a status in a program of another language, or in a file that the script writes.
        shown = code_of(text) if SHELL_SCRIPT.match(text) else text
        for answer in written_answers(text):
            code, written = _status_behind(shown, answer.line), json.dumps(answer.value)
            if not code or not _surely_ends(text, answer.line):
                continue
            read = read_printed(profile, hook, 0, stdout=written)
            # Whatever else it says, as with status 2.
            lost = [read_printed(profile, hook, code, stdout=written, stderr=one) for one in ("", "text")]
            if (read.context or read.ruling is Ruling.DENY) and all(map(_is_failure, lost)):
                yield (
                    f"its answer ends with {code}, which {hook_set.host} takes for a failure of the hook, "
                    "so the agent does not get it"
                )


def _surely_ends(text: str, number: int) -> bool:
    """Return whether the status after a line stands alone in a line of the same margin."""
    lines = text.splitlines()[number - 1 : number + _NEAR]
    end = next((line for line in lines if _ENDS.search(line)), "")
    found = _ENDS.match(end.lstrip())
    return found is not None and len(end) - len(end.lstrip()) == len(lines[0]) - len(lines[0].lstrip())


def _says_that_a_check_failed(text: str, found: re.Match[str]) -> bool:
    """Return whether a text says that a check failed, and the script shows that the text is for the agent."""
    between = text[found.end("words") : found.start("code")]
    words = found["words"]
    if not _FAILED.search(words) or _OF_ITSELF.search(words) or _BRANCH.search(between):
        return False
    return any(not _NO.search(one["what"]) for one in _TOLD.finditer(text))


def _status_behind(text: str, number: int) -> int:
    """Return the status with which a script ends after a line, whatever happens; 0 if that is unknown."""
    for line in text.splitlines()[number - 1 : number + _NEAR]:
        if found := _ENDS.search(line):
            return int(found["code"])
        if _BRANCH.search(line):
            return 0
    return 0


def _is_failure(reply: Reply) -> bool:
    return reply.ruling is not Ruling.DENY and (reply.fault or "").startswith(_LOST)


def is_allowed_by_failure(host: str, hook: Hook) -> bool:
    """Return whether a host allows what it asked about where a script of a hook ends with an error."""
    failed = read_printed(hosts.find(host), hook, 1, stderr="Traceback (most recent call last):")
    return failed.ruling is not Ruling.DENY and not _MINDS.search(hook.command)


def read_printed(
    profile: hosts.Profile, hook: Hook, code: int, *, stdout: str = "", stderr: str = ""
) -> Reply:
    """Return the host's reading of a hook run that ended with a status and printed these texts."""
    output, error = stdout.encode(), stderr.encode()
    run = ProcessResult(
        ending=Exited(code), stdout=Output(output, len(output)), stderr=Output(error, len(error))
    )
    return hosts.read_reply(profile, hook, hook.event, run)
