"""A battery of questions, asked in the simulation and on the real program, and answered one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.live.comparison import Comparison, Difference, compare
from pytest_hookharness.campaigns.live.listed_differences import find_listed
from pytest_hookharness.campaigns.live.live_run import record_both
from pytest_hookharness.campaigns.live.live_scenario import InstalledProgram, NoLiveEquivalent
from pytest_hookharness.campaigns.live.question import Question, compose_session
from pytest_hookharness.campaigns.live.session_record import ComparableSession
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

AnswerWord: TypeAlias = Literal["same", "different", "not reached"]
# The most questions of one session, which has to end within its budget.
_MOST = 20
_UNREACHED = "the hook of the question ran on neither side"
_UNSTEADY = "two plays of the same session did not agree"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswer:
    """The answer to one question: the first difference, and why it is known or was not reached."""

    question: Question
    word: AnswerWord
    difference: Difference | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSession:
    """One session on both sides: the questions that it asks, both records, and what differs."""

    questions: tuple[Question, ...]
    comparison: Comparison
    simulated: ComparableSession
    real: ComparableSession

    def differences(self, question: Question) -> list[Difference]:
        """Return the differences that belong to a question, new ones first."""
        place = self._place(question)
        found = [
            one
            for one in self.comparison.differences
            if question.concerns(one) and (not place or re.search(place, one.where))
        ]
        return sorted(
            found, key=lambda one: find_listed(self.comparison.host, one, question.name) is not None
        )

    def _place(self, question: Question) -> str:
        """Return where the differences of a question with a mark are; empty if they may be anywhere."""
        if not question.mark or len(self.questions) == 1 or self.simulated.turns != self.real.turns:
            return ""
        turns = [turn for turn, runs in enumerate(self.simulated.runs) if any(map(question.is_own, runs))]
        told = "|".join(f"before message {turn + 1} " for turn in turns)
        runs = "|".join(f"after message {turn} " for turn in turns)
        return f"{question.mark}|{told}|{runs}" if turns else question.mark

    def localises(self, question: Question) -> bool:
        """Return whether the place of a difference says if it belongs to a question."""
        return question.localised or bool(self._place(question))

    @property
    def unclear(self) -> bool:
        """Whether a difference may belong to several questions, or is named by no mark."""
        found = [(question, self.differences(question)) for question in self.questions]
        if any(claimed and not self.localises(question) for question, claimed in found):
            return True
        lost = [one for one in self.comparison.differences if not any(one in claimed for _, claimed in found)]
        return any(question.concerns(one) for question in self.questions if question.mark for one in lost)

    def reached(self, question: Question) -> bool:
        """Return whether the hooks of a question ran on both sides."""
        return question.reached(self.simulated) and question.reached(self.real)


# Plays a session that asks some questions; the exceptions are those of `record_both`.
Playing: TypeAlias = Callable[[Sequence[Question]], ComparedSession]


def play_on(installed: InstalledProgram, host: str, settings: Settings, resources: Resources) -> Playing:
    """Return what plays questions about a host on its real program."""
    profile = hosts.find(host)

    def play(questions: Sequence[Question]) -> ComparedSession:
        scenario = compose_session(profile, questions)
        own = replace(settings, turns=scenario.turns)
        _, simulated, real = record_both(scenario, installed, own, resources, Observer())
        found = compare(profile, installed.version, simulated, real, unordered=installed.program.unordered)
        return ComparedSession(questions=tuple(questions), comparison=found, simulated=simulated, real=real)

    return play


def answer_battery(questions: Sequence[Question], play: Playing) -> Iterator[QuestionAnswer]:
    """
    Yield the answers to all questions, in few sessions.

    A difference counts if a second session shows it too.
    """
    for part in _parts(questions):
        differing = []
        for one in _answer_group(part, play):
            if one.word == "different":
                differing.append(one.question)
            else:
                yield one
        for one in _answer_group(tuple(differing), play):
            unsteady = one.word == "same"
            yield (
                QuestionAnswer(question=one.question, word="not reached", why=_UNSTEADY) if unsteady else one
            )


def _parts(questions: Sequence[Question]) -> Iterator[tuple[Question, ...]]:
    for _, group in groupby(sorted(questions, key=lambda one: one.group), lambda one: one.group):
        left = tuple(group)
        while left:
            most = len(left) if left[0].localised else _MOST
            yield left[:most]
            left = left[most:]


def _answer_group(questions: Sequence[Question], play: Playing) -> Iterator[QuestionAnswer]:
    """
    QuestionAnswer questions that may share a session.

    A difference that may belong to several questions is looked for in sessions with half of them. Questions
    that were not reached, because one before them ended the session, are asked again without that one.
    """
    left = list(questions)
    while left:
        try:
            played = play(left)
        except (SimulationError, NoLiveEquivalent) as error:
            if len(left) > 1:
                yield from _answer_halves(left, play)
            else:
                yield QuestionAnswer(question=left[0], word="not reached", why=str(error))
            return
        if len(left) > 1 and played.unclear:
            yield from _answer_halves(left, play)
            return
        # If no hook of a question ran, no question before another one ended the session either.
        answered = [one for one in left if played.reached(one) or played.differences(one)] or left
        yield from (_answer(one, played) for one in answered)
        left = [one for one in left if one not in answered]


def _answer_halves(questions: Sequence[Question], play: Playing) -> Iterator[QuestionAnswer]:
    middle = len(questions) // 2
    for half in (questions[:middle], questions[middle:]):
        yield from _answer_group(half, play)


def _answer(question: Question, played: ComparedSession) -> QuestionAnswer:
    found = played.differences(question)
    if found:
        listed = find_listed(played.comparison.host, found[0], question.name)
        why = listed.reason if listed else ""
        return QuestionAnswer(question=question, word="different", difference=found[0], why=why)
    if not played.reached(question):
        return QuestionAnswer(question=question, word="not reached", why=_UNREACHED)
    return QuestionAnswer(question=question, word="same")
