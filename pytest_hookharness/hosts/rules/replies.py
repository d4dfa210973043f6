"""
The rules by which a host reads what a hook said.

Exit codes are a table, answers in JSON are paths.

The rules by which several replies become one decision.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import Payload, Rule, Ruling


class Precedence(enum.Enum):
    """
    Whose ruling holds.
    """

    STRONGEST = "deny goes before defer, defer before ask, ask before allow"
    LAST_SAID = "the last reply that has a ruling"
    FIRST_REFUSAL = "the first refusal; the hooks after it are not asked, where they run one by one"


class Words(enum.Enum):
    """
    Which of several reasons are told.
    """

    EACH = "each"
    FIRST = "the first"
    LAST = "the last"
    JOINED = "all, joined by line ends"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """
    How the replies to one event are merged.

    Attributes:
        as_ended: Whether replies come in the order in which the hooks ended; otherwise in that of
            configuration.
        precedence: Whose ruling holds.
        words: Which reasons are told.
        context_wins: Whether a text for the model stands in for the reasons.
        context_undoes: Whether such a text undoes a refusal.
        several: Name of the rule behind a decision that several refusals made.
    """

    as_ended: bool = False
    precedence: Precedence = Precedence.STRONGEST
    words: Words = Words.EACH
    context_wins: bool = False
    context_undoes: bool = False
    several: str = "several"


class Stream(enum.Enum):
    """
    Where a hook speaks.
    """

    OUT = "standard output"
    ERR = "standard error"


class Alone(enum.Enum):
    """
    What an exit code, or a signal, means without an answer in JSON.
    """

    PLAIN = "the output is plain text"
    NOTHING = "nothing"
    IGNORED = "nothing, and that is pointed out"
    FAILS = "the hook has failed: it has no say, or blocks if it is configured to"
    REFUSES = "a refusal"
    REFUSES_IF_WORDS = "a refusal if there are words to go with it, else a failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRule:
    """
    What exit codes mean.

    Attributes:
        codes: Which; ``None`` for all that no earlier rule names.
        answer: Where an answer in JSON is sought; the first stream that is not blank counts.
        words: Where the words of a refusal come from, likewise.
        alone: What the code means without an answer.
        spares_silent: Whether it means nothing at all if there is nothing on standard output.
        wins: Whether it refuses whatever the answer says.
        keeps: Whether the answer's reason, and its text for the model, stay with such a refusal.
        rule: Name of the rule behind a refusal or a failure.
    """

    codes: tuple[int, ...] | None = None
    answer: tuple[Stream, ...] = ()
    words: tuple[Stream, ...] = (Stream.ERR,)
    alone: Alone = Alone.PLAIN
    spares_silent: bool = False
    wins: bool = False
    keeps: bool = False
    rule: str = "crashed"


class Halting(enum.Enum):
    """
    What ``continue: false`` does.
    """

    IGNORED = "nothing"
    AT_ONCE = "the turn ends, and a call that it is about is not made"
    AFTER_CALL = "the turn ends once the calls are made"
    REFUSES = "it is a refusal, with its own text"


class Empty(enum.Enum):
    """
    What an object without a word in it means.
    """

    NOTHING = "nothing"
    REFUSES = "a refusal"
    FAILS = "a failure of the hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPath:
    """
    Where in an answer a verdict stands.

    Attributes:
        path: Its key path.
        reason: Where the reason stands.
        words: What its values mean; others mean nothing.
        folds: Whether upper and lower case are the same.
        any_text: Whether any text there is a refusal, with itself as the reason.
        roles: On which events it means something; empty for all. Elsewhere it is pointed out, and nothing
            after it counts.
        command: Whether a command may say it, and not only other kinds of handlers.
    """

    path: KeyPath
    reason: KeyPath = ("reason",)
    words: Mapping[str | bool, Ruling] = field(default_factory=dict)
    folds: bool = False
    any_text: bool = False
    roles: tuple[Role, ...] = ()
    command: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRules:
    """
    How answers in JSON are found and read.

    Attributes:
        starts: What an answer begins with; other output is plain text. Empty for whatever parses.
        strips_mark: Whether a byte order mark is dropped first.
        constants: Whether NaN and the like count as JSON.
        twice: Whether JSON inside a string of JSON is read.
        others_say_nothing: Whether JSON that is no object is an answer without a word; otherwise text.
        check: Why the host takes an answer for none, by event and answer; ``None`` if it takes all.
        known: Keys that the host knows; an answer with none of them is pointed out. Empty for no such look.
        verdicts: Where verdicts stand; the first that is there counts.
        grant: Where an answer to a permission request stands, an object; empty for nowhere.
        falls_to: Where a missing reason is sought.
        halting: What ``continue: false`` does.
        halting_words: Where its text stands.
        context: Where a text for the model stands, first come first served.
        changed_input: Where a replacement of the tool's input stands.
        input_needs_allow: Whether such a replacement counts only beside an explicit allow.
        input_merges: Whether it is merged into the input.
        changed_output: Where a replacement of the tool's result stands.
        person: Where a text for the person stands.
        empty: What ``{}`` means.
    """

    starts: str = ""
    strips_mark: bool = True
    constants: bool = False
    twice: bool = False
    others_say_nothing: bool = False
    check: Callable[[str, Payload], str | None] | None = None
    known: frozenset[str] = frozenset()
    verdicts: tuple[VerdictPath, ...] = ()
    grant: KeyPath = ()
    falls_to: tuple[Stream, ...] = ()
    halting: Halting = Halting.IGNORED
    halting_words: KeyPath = ("stopReason",)
    context: tuple[KeyPath, ...] = ()
    changed_input: tuple[KeyPath, ...] = ()
    input_needs_allow: bool = False
    input_merges: bool = False
    changed_output: tuple[KeyPath, ...] = ()
    person: tuple[KeyPath, ...] = ()
    empty: Empty = Empty.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimit:
    """
    How much of one text reaches the model.

    Attributes:
        most: Most of it, in characters.
        in_bytes: Whether that is counted in bytes of UTF-8 instead.
        spared: The roles of events whose reasons for a refusal are told whole.
    """

    most: int
    in_bytes: bool = False
    spared: tuple[Role, ...] = ()

    def cut(self, text: str) -> str:
        """
        The part of a text that is not too long.
        """
        if not self.in_bytes:
            return text[: self.most]
        return text.encode("utf-8", "replace")[: self.most].decode("utf-8", "ignore")

    def measure(self, text: str) -> int:
        """
        The length of a text as the host counts it.
        """
        return len(text.encode("utf-8", "replace")) if self.in_bytes else len(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRules:
    """
    How the host reads what a hook said. An event can have codes and answers of its own.

    Attributes:
        codes: What exit codes mean; the first rule that fits counts.
        signalled: What it means that a signal ended the hook.
        answers: How answers are read.
        undecodable_fails: Whether output that is not UTF-8 is a failure, whatever the exit code.
        background: Whether a hook with ``async: true`` is not waited for.
        announced: Whether one that begins its output with an answer that says so is not either.
        code_reason: The reason for a refusal by exit code; a template over ``command`` and ``words``.
        no_reason: What stands in for a reason that was not given; a template over ``event``.
        no_error_text: What stands in for an empty standard error; likewise.
        text_limit: How much of one text reaches the model; ``None`` for all of it.
        rules: Where this is known from. Always: ``silent``, ``plain``, ``shown``, ``answer``, ``crashed``,
            ``signalled``, ``timed out``, ``not run``, ``no power``, ``invalid``, ``unanswered``,
            ``no hooks``, ``precedence``, ``several``; ``text limit`` where there is one;
            ``allow reason`` where such a reason is known not to reach the model; others as other fields, and
            events, need them.
    """

    codes: tuple[CodeRule, ...]
    signalled: Alone = Alone.FAILS
    answers: AnswerRules = AnswerRules()
    undecodable_fails: bool = False
    background: bool = False
    announced: bool = False
    code_reason: str = "{words}"
    no_reason: str = ""
    no_error_text: str = ""
    text_limit: TextLimit | None = None
    rules: Mapping[str, Rule]
