"""
Refusals in scripts that end with a status which their host takes for a failure, so that it allows the call.

Read are a text that refuses in plain words, or a whole answer, with the status right behind it; and only
scripts that never end with the status that refuses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.written_answers import written_answers
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import GATES
from pytest_hookharness.campaigns.check.static.shell_outputs import goes_elsewhere
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT
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
# A printed text, and the status at most two lines behind it.
_SAID = re.compile(
    r"^[ \t]*(?:echo[ \t]+(?:-e[ \t]+)?|printf[ \t]+|console\.(?:error|log)\(\s*|print\(\s*f?"
    r"|sys\.stderr\.write\(\s*f?)"
    r"([\"'`])(?P<words>(?:(?!\1)[^\n]){3,300})\1[^\n|]{0,60}\n(?:[^\n]{0,200}\n){0,2}?[ \t]*" + _EXIT,
    re.MULTILINE,
)
_REFUSING = re.compile(
    r"\bblock(?:ed|ing)\b|(?<!permission )(?<!access )\bden(?:ied|ying)\b|\bnot (?:allowed|permitted)\b"
    r"|\bforbidden\b|\bprohibited\b"
    r"|\brefus(?:ed|ing)\b|\brejected\b|\bviolation\b|\bbefore (?:stopping|you stop|finishing|committing)\b",
    re.IGNORECASE,
)
_NO_REFUSAL = re.compile(r"\W*(?:usage|warning|note)\b", re.IGNORECASE)
# The status behind an answer, and lines that do not lead elsewhere before it.
_ENDS = re.compile(_EXIT)
_BRANCH = re.compile(r"\b(?:if|elif|else|fi|case|esac|def|function|for|while|except|catch)\b|;;")
_NEAR = 12
_LOST = "crashed: "
# A command that does more than to go on where its script fails may refuse there.
_MINDS = re.compile(r"\|\|(?!\s*(?:true\b|:|exit\s+0\b))|\bexit\s+[1-9]|\$\?|\btrap\b")


def failed_refusal(hook_set: HookSet, hook: Hook) -> str:
    """Return why a refusal in a hook's script has no effect, in words that follow the event; or nothing."""
    return next(_failed(hook_set, hook), "")


def _failed(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    profile = hosts.find(hook_set.host)
    rule = profile.events.get(hook.event)
    # The command may make another status of it.
    if rule is None or rule.role not in GATES or hook.type != "command" or "||" in hook.command:
        return
    for text in hook_set.scripts_of(hook):
        if _REFUSES_BY_CODE.search(text):
            continue
        # A script that knows how to refuse may mean that it failed itself.
        knows = _KNOWS.search(text) is not None
        for found in _SAID.finditer(text) if not knows else ():
            words = " ".join(found["words"].split())
            reply = read_printed(profile, hook, int(found["code"]), stderr=words)
            captured = SHELL_SCRIPT.match(text) and goes_elsewhere(text, found.start("words"))
            if (
                found["code"] != "0"
                and not captured
                and not _NO_REFUSAL.match(words)
                and _REFUSING.search(words)
                and _is_failure(reply)
            ):
                yield (reply.fault or "").removeprefix(_LOST)
        for answer in written_answers(text):
            code, written = _status_behind(text, answer.line), json.dumps(answer.value)
            refuses = read_printed(profile, hook, 0, stdout=written).ruling is Ruling.DENY
            if code and refuses and _is_failure(read_printed(profile, hook, code, stdout=written)):
                yield f"the refusal ends with {code}, which {hook_set.host} takes for a failure of the hook"


def _status_behind(text: str, number: int) -> int:
    """Return the status with which a script ends behind a line, whatever happens; 0 if that is unknown."""
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
