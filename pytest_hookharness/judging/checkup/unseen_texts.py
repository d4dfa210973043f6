"""
Texts that hooks print for the agent or the user, on a stream that the host passes to nobody.

A text counts if it tells somebody to do something: notes about the hook itself, and progress, are no loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.judging.checkup.refused_work import symptom_of
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Json, Ruling
from pytest_hookharness.model.trace import HookRun

_TELLS = re.compile(
    r"\b(?:remember to|reminder|please|consider|should|must|do not|don't|make sure|be sure|ensure"
    r"|you may want|recommend\w*|suggest\w*|never|instead of|before (?:you|\w+ing)|ask the user)\b"
    r"|\b(?:review|verify|check|fix|update) (?:the|your|it|all|this)\b"
    r"|(?-i:(?:^|[.!]\s+)(?:Add|Address|Commit|Create|Delete|Move|Remove|Replace|Resolve|Run|Split|Use|Write)"
    r"\s+(?:an?|all|only|the|these|this|your)\b)[^\n]*\b(?:first|before|until|again|instead|only)\b"
    r"|\b(?:blocked|refused) until\b"
    # What is to be done next, after a dash: no words about a review that is done.
    r"|\s[-\u2013\u2014]\s+(?:review|verify|inspect|address|fix|resolve|rerun|re-run)\s+"
    r"(?!(?:in|is|was|complete\w*|done|passe[ds]|started|finished|skipped|mode|ok|status|phase|step)\b)[a-z]+"
    r"|\brun [/`'\"]|\u26a0|\U0001f6a8|^\W*(?:warning|caution|important|tip|hint|note)\b"
    # Please, must, attention, warning and advice in Chinese, and please in Japanese and Korean.
    r"|\u8bf7|\u8acb|\u5fc5\u987b|\u6ce8\u610f|\u8b66\u544a|\u5efa\u8bae"
    r"|\u3057\u3066\u304f\u3060\u3055\u3044|\uc8fc\uc138\uc694",
    re.IGNORECASE,
)
# Words of a script about itself or its machine.
_OF_ITSELF = re.compile(
    r"not (?:found|installed|available|on PATH|set)|missing|failed|failure|\berror\b|usage:|install\b"
    r"|skip|unknown|invalid|could not|cannot|can't|unable",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$\{?\w+\}?")
# A failed check of the project is not a failure of the script.
_CHECK_FAILED = re.compile(
    r"\b(?:tests?|specs|suite|lint\w*|type[ -]?check\w*|checks?|build|compilation|format\w*)[ \t]+"
    r"(?:has[ \t]+|have[ \t]+)?(?:failed|failing|failures?|errors?)\b",
    re.IGNORECASE,
)
# How programs such as git and compilers begin their own lines on standard error.
_OF_PROGRAM = re.compile(r"(?:\S+: )?(?:hint|warning|note): ")
# At an event for the user, plain text may be for a log.
FOR_A_PERSON = "notification"
_STREAMS = {"stdout": "standard output", "stderr": "standard error"}
_LONGEST, _SHORTEST_QUOTE = 100, 4


def is_advice(words: str) -> bool:
    """Return whether a text tells somebody to do something."""
    own = _CHECK_FAILED.sub("", _VARIABLE.sub("", words))
    return bool(_TELLS.search(words)) and not _OF_ITSELF.search(own)


def describe_unseen(event: str, words: str, stream: str, host: str) -> str:
    """Return the sentence about a text that nobody gets."""
    shown = " ".join(words.split())[:_LONGEST]
    return (
        f'{event}: "{shown}" is plain text on {_STREAMS[stream]}, and with status 0 {host} '
        "does not pass it to the agent."
    )


def find_unseen_texts(outcome: Outcome) -> Iterator[Symptom]:
    """Find texts that hooks printed in a session and that nobody got, one for each hook."""
    for step, hook_run in outcome.trace.hook_runs():
        for stream, words in _unseen(hook_run):
            text = describe_unseen(hook_run.hook.event, words, stream, outcome.scenario.host)
            yield symptom_of(codes.UNSEEN_REASON.found(text, turn=step.turn, hook=hook_run.hook.command))
            break


def _unseen(hook_run: HookRun) -> Iterator[tuple[str, str]]:
    run, reply = hook_run.run, hook_run.reply
    answered = reply.context or reply.user_text or reply.fault or reply.ruling is not Ruling.NONE
    if run is None or run.ending != Exited(0) or answered or hook_run.hook.event.lower() == FOR_A_PERSON:
        return
    given = sorted(_texts(hook_run.payload), key=len, reverse=True)
    for stream, text in (("stdout", run.stdout.text), ("stderr", run.stderr.text)):
        lines = [] if text.lstrip().startswith("{") else map(str.strip, text.splitlines())
        own = (line for line in lines if stream == "stdout" or not _OF_PROGRAM.match(line))
        # What stands in the input is quoted.
        yield from ((stream, line) for line in own if is_advice(line) and is_advice(_without(line, given)))


def _texts(value: Json) -> Iterator[str]:
    """Yield the lines of all texts in a value."""
    if isinstance(value, str):
        yield from filter(None, map(str.strip, value.splitlines()))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _texts(one)


def _without(line: str, given: Sequence[str]) -> str:
    """Return what a line says besides some texts; it may have only the begin of one."""
    if any(line in text for text in given):
        return ""
    for text in given:
        line = line.replace(text, " ") if len(text) >= _SHORTEST_QUOTE else line
    return line
