"""Mutations of words: refused commands as data or as other code, and files with the same base name."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import field, replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.first_run import GIVEN, HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.comparison.traces import is_asked, refusers, was_asked, was_refused
from pytest_hookharness.judging.findings.codes import BASENAME, RAW_JSON, TEXT_MATCH
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act, Edit, Read, RunCommand, Script, Stop, Tools
from pytest_hookharness.model.mutations import FaultOutcome, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Moved, Performed, Trace
from pytest_hookharness.model.verdicts import Finding

_MOST = 3
# A command that no guard has a reason to refuse.
HARMLESS = "echo hello"
# Labels of the call that must be allowed for the next one to prove anything, and of that one.
CONTROL, TRIED = "variation: control", "variation: tried"
# Commands with a text for people.
_HAS_MESSAGE = re.compile(r"(?:git commit|gh (?:pr|issue))\b")
_PLAIN = re.compile(r"[\w./=:@%+,-]+( [\w./=:@%+,-]+)+")


@dataclass(frozen=True, slots=True)
class CommandForm:
    """A way to write a command: its name, the command line, and whether that executes the command."""

    form: str
    text: str
    code: bool


def forms_of(command: str) -> Iterator[CommandForm]:
    """Yield the ways to write a command, those in which it is data first."""
    quoted = shlex.quote(command)
    yield CommandForm("a heredoc", f"cat >notes.txt <<'END'\n{command}\nEND", code=False)
    if not _HAS_MESSAGE.match(command):
        # A guard of messages rightly finds there what it looks for.
        yield CommandForm("a commit message", f"git commit --allow-empty -m {quoted}", code=False)
        message = shlex.quote(f"Update the notes\n\n{command}")
        yield CommandForm("a line of a commit message", f"git commit --allow-empty -m {message}", code=False)
        yield CommandForm("a title", f"gh pr create --title {quoted} --body text", code=False)
    # Behind a semicolon, so that a guard shows that splits a line without reading its quotes.
    yield CommandForm("an argument of echo", f"echo {shlex.quote(f'Done; {command}')}", code=False)
    yield CommandForm("a search", f"grep -rn {quoted} docs", code=False)
    if "\n" not in command:
        yield CommandForm("a comment", f"echo hello # {command}", code=False)
    yield CommandForm("`sh -c`", f"sh -c {quoted}", code=True)
    yield CommandForm("`bash -c`", f"bash -c {quoted}", code=True)
    yield CommandForm("a shell that reads a heredoc", f"bash <<'END'\n{command}\nEND", code=True)
    yield CommandForm("a command substitution", f'echo "$({command})"', code=True)
    if _PLAIN.fullmatch(command):
        first, _, rest = command.partition(" ")
        yield CommandForm("xargs", f"echo {rest} | xargs {first}", code=True)


@dataclass(frozen=True, slots=True)
class _Worded(Mutation):
    """The words of a refused command in another place, where they are executed or not."""

    turn: int
    command: str
    must_be_refused: bool = field(kw_only=True)

    def calls(self, scenario: Scenario) -> tuple[Act, Act]:
        """Return a harmless call of the same form, and the call to try."""
        raise NotImplementedError

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        control, tried = self.calls(scenario)
        # Where the harmless call is refused as well, a refusal does not show that it is for the words.
        controls = () if self.must_be_refused else (control,)
        return replace(scenario, script=Script(acts=(*replay.until(self.turn), *controls, tried, Stop())))

    def outcome_of(self, finding: Finding, usual: Trace, seen: Trace) -> FaultOutcome:
        return "fail-open" if self.must_be_refused else "fail-closed"

    def _is_misjudged(self, seen: Trace) -> bool:
        refused = was_refused(seen, TRIED)
        if self.must_be_refused:
            return refused is False
        return refused is True and was_refused(seen, CONTROL) is False


@dataclass(frozen=True, slots=True)
class MovedWords(_Worded, family="words"):
    """Words in the description of a call, where they command nothing."""

    words: str

    def __str__(self) -> str:
        return f"`{self.command}` described as `{self.words}`"

    @property
    def name(self) -> str:
        return str(self)

    def calls(self, scenario: Scenario) -> tuple[Act, Act]:
        control = _described(scenario, HARMLESS, "Says hello", CONTROL)
        return control, _described(scenario, self.command, self.words, TRIED)

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        if not self._is_misjudged(seen):
            return None
        word = "is let through" if self.must_be_refused else "is refused"
        word = "is asked about" if was_asked(seen, TRIED) else word
        hook = refusers(usual, self.turn)
        return RAW_JSON.found(f"A call of {self} {word}.", turn=self.turn, hook=hook)


def _described(scenario: Scenario, command: str, description: str, label: str) -> Tools:
    profile = hosts.find(scenario.host)
    call = profile.tools.call(RunCommand(command=command, given=GIVEN, label=label), "/")
    return Tools(calls=(replace(call, input={**call.input, "description": description}),))


@dataclass(frozen=True, slots=True)
class Quoted(_Worded, family="quoting"):
    """The words of a refused command, as data or as code of another form, and harmless ones in that form."""

    form: str
    text: str
    harmless: str

    def __str__(self) -> str:
        return f"the same words {'run by' if self.must_be_refused else 'in'} {self.form}"

    @property
    def subject(self) -> str:
        return f"`{self.command}`"

    @property
    def name(self) -> str:
        return self.form

    @property
    def group(self) -> str:
        # Code that passes and data that does not are two defects with one code.
        return "code" if self.must_be_refused else ""

    def calls(self, scenario: Scenario) -> tuple[Act, Act]:
        control = RunCommand(command=self.harmless, given=GIVEN, label=CONTROL)
        return control, RunCommand(command=self.text, given=GIVEN, label=TRIED)

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        if not self._is_misjudged(seen):
            return None
        asked = is_asked(usual, self.turn)
        words = f", and so are {self}"
        if self.must_be_refused:
            words = f"; {self} are let through"
        elif was_asked(seen, TRIED) and not asked:
            words = f", and the user is asked about {self}"
        hook = refusers(usual, self.turn)
        done = "asked about" if asked else "refused"
        return TEXT_MATCH.found(f"`{self.command}` is {done}{words}.", turn=self.turn, hook=hook)


@dataclass(frozen=True, slots=True)
class SameName(Mutation, family="names"):
    """A move repeated on another file, which usually has the base name of the first."""

    turn: int
    file: str
    twin: str

    @classmethod
    def of(cls, turn: int, file: str) -> SameName:
        """Return the repetition on a file with the same base name in another folder."""
        return cls(turn, file, _nested(file, ""))

    def __str__(self) -> str:
        return f"{self.twin} after {self.file}"

    @property
    def subject(self) -> str:
        return self.twin

    @property
    def reference(self) -> SameName:
        """The repetition on a file with another base name."""
        return SameName(self.turn, self.file, _nested(self.file, "other-"))

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        move = replay.move(self.turn)
        if not isinstance(move, Edit | Read):
            raise TypeError(f"only a move on a file can be repeated on another, not {move!r}")
        acts = (*replay.until(self.turn), move, replace(move, file=self.twin), Stop())
        text = move.old if isinstance(move, Edit) and move.old is not None else "text\n"
        files = {**scenario.files, self.twin: text}
        return replace(scenario, files=files, script=Script(acts=acts))

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        for before, after in zip(_last_turn(usual), _last_turn(seen), strict=False):
            if before.event != after.event:
                return None
            lost = [word for word, there in _effects(before).items() if there and not _effects(after)[word]]
            if lost:
                hook = before.hook_runs[0].hook.command if before.hook_runs else ""
                effects = " and no ".join(lost)
                text = f"{before.event}: for {self} there was no {effects}, as for any other name."
                return BASENAME.found(text, turn=self.turn, hook=hook)
        return None

    def outcome_of(self, finding: Finding, usual: Trace, seen: Trace) -> FaultOutcome:
        return "differs"


def _nested(file: str, prefix: str) -> str:
    folder, name = posixpath.split(file)
    return posixpath.join(folder, "nested", f"{prefix}{name}")


def _last_turn(trace: Trace) -> list[HookEvent]:
    moves = [step.turn for step in trace.steps if isinstance(step.exchange, Moved)]
    # The last move is the stop that ends the run.
    return [hooked for step, hooked in trace.hooked() if moves[-2:-1] == [step.turn]]


def _effects(hooked: HookEvent) -> dict[str, bool]:
    decision = hooked.decision
    return {
        "refusal": decision.refused,
        "word to the agent": bool(decision.to_agent),
        "change of a file": bool(hooked.changes),
    }


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield other places and forms of refused commands, and a file of the same base name."""
    match request.family:
        case "words":
            yield from _moved(outcome)
        case "quoting":
            yield from _quoted(outcome)
        case "names":
            yield from _names(outcome)
        case _:
            return


def _moved(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    refused = _refused(outcome.trace)
    if not refused:
        yield _nothing_refused("words")
    allowed = [command for command, _ in _commands(outcome.trace, refused=False)]
    for command, turn in refused[:_MOST]:
        yield MovedWords(turn, HARMLESS, command, must_be_refused=False)
        for words in dict.fromkeys(allowed[:_MOST]):
            yield MovedWords(turn, command, words, must_be_refused=True)


def _quoted(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    refused = _refused(outcome.trace)
    if not refused:
        yield _nothing_refused("quoting")
    harmless = {one.form: one.text for one in forms_of(HARMLESS)}
    for command, turn in refused[:_MOST]:
        for one in forms_of(command):
            yield Quoted(turn, command, one.form, one.text, harmless[one.form], must_be_refused=one.code)
    yield from (NotTried("quoting", f"`{command}`, one of many") for command, _ in refused[_MOST:])


def _nothing_refused(family: str) -> NotTried:
    return NotTried(
        family, "no shell command was refused in the run; add one that must be, with `expect: deny`"
    )


def _commands(trace: Trace, *, refused: bool) -> Iterator[tuple[str, int]]:
    """Yield the shell commands that hooks refused or allowed, each with its turn."""
    moves = {step.turn: step.exchange.move for step in trace.steps if isinstance(step.exchange, Moved)}
    for step in trace.steps:
        if isinstance(step.exchange, Performed) and step.exchange.refused is refused:
            command = _command(moves.get(step.turn))
            if command:
                yield command, step.turn


def _refused(trace: Trace) -> list[tuple[str, int]]:
    """Return the refused shell commands, each once, with the turn of the first refusal."""
    first: dict[str, int] = {}
    for command, turn in _commands(trace, refused=True):
        first.setdefault(command, turn)
    return [*first.items()]


def _command(move: object) -> str:
    match move:
        case RunCommand(command=command):
            return command
        case Tools(calls=(call,)):
            return str(call.input.get("command", ""))
        case _:
            return ""


def _names(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    effective = {step.turn for step, hooked in outcome.trace.hooked() if any(_effects(hooked).values())}
    for step in outcome.trace.steps:
        match step.exchange:
            case Moved(move=Edit(file=file) | Read(file=file)) if step.turn in effective:
                yield SameName.of(step.turn, file)
                return
            case _:
                continue
    yield NotTried("names", "no hook did anything about a file that the agent read or changed")
