"""
The rules by which a host reads the reply of a hook, merges several replies, and words them for the agent.

The meaning of exit codes is a table; the parts of a JSON answer are found by key paths.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import field

from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Payload, Rule, Ruling


class Precedence(enum.Enum):
    """Which ruling holds if several replies have one."""

    STRONGEST = "deny wins over defer, defer over ask, ask over allow"
    LAST_SAID = "the ruling of the last reply that has one"
    OWN_FIELD = "the last ruling in the event's part of an answer; without one, the strongest"
    FIRST_REFUSAL = "the first refusal; if hooks run one after the other, the rest do not run"


class ReasonChoice(enum.Enum):
    """Which of several reasons the agent gets."""

    EACH = "each"
    FIRST = "the first"
    LAST = "the last"
    JOINED = "all, joined by newlines"
    SAID = "the last one in the event's part of an answer; without one all of them and all notices, joined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """
    How the replies to one event become one decision.

    Attributes:
        in_finish_order: Whether replies are in the order in which the hooks ended; otherwise they are in
            the order of the settings.
        context_replaces_reason: Whether a text for the model replaces the reasons.
        context_cancels_refusal: Whether a text for the model cancels a refusal.
        refusal_drops_context: Whether the model gets no other text beside the reason of a refusal.
        joins_contexts: Whether the model gets all texts for it as one, joined by newlines.
        several: The name of the fact behind a decision of several refusals.
    """

    in_finish_order: bool = False
    precedence: Precedence = Precedence.STRONGEST
    reasons: ReasonChoice = ReasonChoice.EACH
    context_replaces_reason: bool = False
    context_cancels_refusal: bool = False
    refusal_drops_context: bool = False
    joins_contexts: bool = False
    several: str = "several"


class Stream(enum.Enum):
    """An output stream of a hook."""

    OUT = "standard output"
    ERR = "standard error"


class CodeMeaning(enum.Enum):
    """What an exit code, or a signal, means if the hook gave no JSON answer."""

    PLAIN = "the output is plain text"
    NOTHING = "nothing"
    IGNORED = "nothing, and the report says so"
    FAILS = "the hook has failed: its output has no effect, or it blocks if it is configured so"
    REFUSES = "a refusal"
    REFUSES_IF_WORDS = "a refusal if there is a text for its reason, otherwise a failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRule:
    """
    What certain exit codes mean.

    Attributes:
        codes: The exit codes; ``None`` for all that no earlier rule names.
        answer: The streams in which a JSON answer is looked for; the first that is not blank counts.
        reason_streams: The streams that give the reason of a refusal; the first that is not blank counts.
        meaning: What the code means without a JSON answer.
        ignores_silence: Whether the code means nothing if standard output is empty.
        overrides_answer: Whether the code refuses even if the answer does not.
        keeps_reason: Whether such a refusal keeps the answer's reason and its text for the model.
        rule: The name of the fact behind a refusal or a failure.
    """

    codes: tuple[int, ...] | None = None
    answer: tuple[Stream, ...] = ()
    reason_streams: tuple[Stream, ...] = (Stream.ERR,)
    meaning: CodeMeaning = CodeMeaning.PLAIN
    ignores_silence: bool = False
    overrides_answer: bool = False
    keeps_reason: bool = False
    rule: str = "crashed"


class Halting(enum.Enum):
    """What ``continue: false`` does."""

    IGNORED = "nothing"
    AT_ONCE = "the turn ends, and the call in question is not made"
    AFTER_CALL = "the turn ends after the calls are made"
    REFUSES = "it is a refusal with its own reason"
    REPLACES = "the agent gets its reason instead of the result of the call"


class EmptyAnswer(enum.Enum):
    """What a JSON object without a decision means."""

    NOTHING = "nothing"
    REFUSES = "a refusal"
    FAILS = "a failure of the hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPath:
    """
    Where an answer can state a verdict.

    Attributes:
        path: The key path of the verdict.
        reason: The key path of its reason; empty if the agent gets none, only the user.
        rulings: What its values mean; other values mean nothing.
        ignores_case: Whether upper and lower case are the same.
        any_text: Whether any text there is a refusal, with itself as the reason.
        roles: The roles of events on which it counts; empty for all. On other events the report says that
            it has no effect, and no later path is tried.
        command: Whether a command can state it, and not only other types of handlers.
    """

    path: KeyPath
    reason: KeyPath = ("reason",)
    rulings: Mapping[str | bool, Ruling] = field(default_factory=dict)
    ignores_case: bool = False
    any_text: bool = False
    roles: tuple[Role, ...] = ()
    command: bool = True


class JsonParser(enum.Enum):
    """
    The parser with which a host reads JSON.

    ``JAVASCRIPT`` reads any number and any depth. ``PYTHON`` refuses an integer of more than 4,300 digits and
    about 1,000 levels. ``RUST`` (serde_json) refuses a number that is too large, and 128 levels.
    """

    JAVASCRIPT = "JavaScript"
    PYTHON = "Python"
    RUST = "Rust"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRules:
    """
    How JSON answers are found and read.

    Attributes:
        starts: The first characters of an answer; other output is plain text. Empty if only parsing decides.
        strips_mark: Whether a byte order mark is removed first.
        accepts_nan: Whether NaN and infinities count as JSON.
        nested_json: Whether JSON inside a JSON string is read.
        ignores_non_objects: Whether JSON that is not an object is an answer without effect; otherwise it is
            plain text.
        check: Returns why the host rejects an answer, given the event and the answer; ``None`` if it
            accepts it. ``None`` in place of the function if the host accepts all.
        known: All keys that have a meaning. The report names an answer that has none of them. Empty for no
            such check.
        verdicts: Where verdicts can stand; the first one that is there counts.
        grant: The key path of the object that answers a permission request; empty for none.
        fallback_streams: The streams that give the reason if the answer has none.
        halting: What ``continue: false`` does.
        halting_reason: The key path of its reason.
        context: Key paths of a text for the model; the first one that is there counts.
        changed_input: Key paths of a replacement of the tool's input.
        input_needs_allow: Whether such a replacement counts only beside an explicit allow.
        input_merges: Whether it is merged into the input.
        next_merges: Whether it is so in what the next hook gets, where hooks run one by one.
        changed_output: Key paths of a replacement of the tool's result.
        person: Key paths of a text for the user.
        empty: What ``{}`` means.
    """

    starts: str = ""
    strips_mark: bool = True
    parser: JsonParser = JsonParser.JAVASCRIPT
    accepts_nan: bool = False
    nested_json: bool = False
    ignores_non_objects: bool = False
    check: Callable[[str, Payload], str | None] | None = None
    known: frozenset[str] = frozenset()
    verdicts: tuple[VerdictPath, ...] = ()
    grant: KeyPath = ()
    fallback_streams: tuple[Stream, ...] = ()
    halting: Halting = Halting.IGNORED
    halting_reason: KeyPath = ("stopReason",)
    context: tuple[KeyPath, ...] = ()
    changed_input: tuple[KeyPath, ...] = ()
    input_needs_allow: bool = False
    input_merges: bool = False
    next_merges: bool = False
    changed_output: tuple[KeyPath, ...] = ()
    person: tuple[KeyPath, ...] = ()
    empty: EmptyAnswer = EmptyAnswer.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimit:
    """
    The longest text that reaches the model.

    Attributes:
        in_bytes: Whether ``most`` counts bytes of UTF-8 instead.
        kept: How many characters or bytes of a longer text are kept; ``most`` if 0.
        both_ends: Whether the two ends of it are kept; otherwise its beginning.
        notice: What the model gets of it; a template over ``kept``, ``kilobytes`` and ``tokens``.
        reasons: Whether reasons of refusals are cut too.
        spared: Roles of events on which they are not.
    """

    most: int
    in_bytes: bool = False
    kept: int = 0
    both_ends: bool = False
    notice: str = "{kept}"
    reasons: bool = True
    spared: tuple[Role, ...] = ()

    def cut(self, text: str) -> str:
        """Return what the model gets of a text that may be too long."""
        length, kept = self.measure(text), self.kept or self.most
        if length <= self.most:
            return text
        size = len(text.encode("utf-8", "replace"))
        named = {"kilobytes": f"{size / 1024:.1f}", "tokens": (size + 3) // 4}
        if not self.both_ends:
            return self.notice.format(kept=self._slice(text, 0, kept), **named)
        head, tail = self._slice(text, 0, kept // 2), self._slice(text, length - kept // 2, length)
        return self.notice.format(kept=f"{head}\n...\n{tail}", **named)

    def _slice(self, text: str, start: int, end: int) -> str:
        if not self.in_bytes:
            return text[start:end]
        return text.encode("utf-8", "replace")[start:end].decode("utf-8", "ignore")

    def measure(self, text: str) -> int:
        """Return the length of a text as the host counts it."""
        return len(text.encode("utf-8", "replace")) if self.in_bytes else len(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRules:
    """
    How the host reads the reply of a hook. An event can have codes and answers of its own.

    Attributes:
        codes: What exit codes mean; the first rule that fits counts.
        signalled: What it means that a signal ended the hook.
        notices: What a hook that only printed ``words`` adds to reasons of others, by meaning of its code.
        undecodable_fails: Whether output that is not UTF-8 is a failure, whatever the exit code.
        shows_unparsable: Whether output that begins like an answer and is none is plain text.
        background: Whether the host does not wait for a hook with ``async: true``.
        announced: Whether a hook can ask not to be waited for in the first line of its output.
        code_reason: The reason of a refusal by exit code; a template over ``command`` and ``words``.
        no_reason: The reason if none is given; a template over ``event``.
        no_error_text: The reason if standard error is empty; a template over ``event``.
        keeps_blanks: Whether white space on standard error is told: at the end of a reason, and in its place.
        late_context: Whether a text for the model from a hook in the background after a call reaches it.
        text_limit: The longest text that reaches the model; ``None`` for no limit.
        rules: The facts about replies. Always ``silent``, ``plain``, ``shown``, ``answer``, ``crashed``,
            ``signalled``, ``timed out``, ``not run``, ``no power``, ``invalid``, ``unanswered``,
            ``no hooks``, ``precedence``, ``several``; others where a field or an event needs them.
    """

    codes: tuple[CodeRule, ...]
    signalled: CodeMeaning = CodeMeaning.FAILS
    notices: Mapping[CodeMeaning, str] = field(default_factory=dict)
    answers: AnswerRules = AnswerRules()
    undecodable_fails: bool = False
    shows_unparsable: bool = False
    background: bool = False
    announced: bool = False
    code_reason: str = "{words}"
    no_reason: str = ""
    no_error_text: str = ""
    keeps_blanks: bool = False
    late_context: bool = False
    text_limit: TextLimit | None = None
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """
    The texts that the agent's model reads about hooks; ``str.format`` templates.

    Attributes:
        label: The name of an event that has a target.
        refusal: The result of a refused tool call; over ``label``, ``reason``, ``event``, ``tool`` and
            ``subject``, the command or file of the call.
        between: What stands between several reasons that replace the result of a call.
        feedback: A refused stop; over ``event``, ``reason``, and ``index`` and ``source`` (file) of the hook.
        blocked: The notice before the feedback, or in its place where a refusal stops nothing. Empty for no
            notice; where a refusal stops nothing, the agent then reads the reason alone.
        context: A text that a hook adds.
        shown: Plain output that reaches the model; over ``label``, with the source of a start, and ``text``.
            Empty for the same as ``context``.
        escapes: What is replaced in the texts of hooks that stand between tags in these templates.
        escapes_context: Whether it is replaced in a text that a hook adds even without tags.
        modified: What follows the result of a call whose input a hook changed; over ``changed``, the keys.
    """

    label: str = "{event}"
    refusal: str = "{reason}"
    between: str = "\n"
    feedback: str = "{reason}"
    blocked: str = ""
    context: str = "{text}"
    shown: str = ""
    escapes: Mapping[str, str] = field(default_factory=dict)
    escapes_context: bool = False
    modified: str = ""

    def fill(self, template: str, **named: object) -> str:
        """Return a template with values in it, escaped where the host does so."""
        if "<" in template or (self.escapes_context and template == self.context):
            for old, new in self.escapes.items():
                named = {name: str(value).replace(old, new) for name, value in named.items()}
        return template.format(**named)
