"""Claims about questions to a real program, and how they are answered, on plain values."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.live.calibration import ComparedSession, answer_battery
from pytest_hookharness.campaigns.live.comparison import Difference, compare
from pytest_hookharness.campaigns.live.live_scenario import check_playable
from pytest_hookharness.campaigns.live.question import Question, compose_session
from pytest_hookharness.campaigns.live.question_battery import generate_battery
from pytest_hookharness.campaigns.live.session_record import ComparableSession, RecordedRun, SeenText
from pytest_hookharness.hosts.profiles.shared import Calibration, read_calibrations
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

PROFILE = hosts.find("codex")
HOSTS = ("claude-code", "codex", "gemini-cli", "qwen-code")


def question(number, **values):
    """A question about a call, with a mark."""
    given = {"name": f"PreToolUse: case {number}", "event": "PreToolUse", "group": "calls"}
    return Question(**{**given, "mark": f"question-{number}", **values})


class Program:
    """A program that does something else in some questions and ends at some, with all its sessions."""

    def __init__(self, wrong=(), ends=(), once=(), fails=(), silent=False):
        self.wrong, self.ends, self.once, self.fails = set(wrong), set(ends), set(once), set(fails)
        self.sessions, self.silent = [], silent

    def __call__(self, questions):
        marks = [one.mark for one in questions]
        self.sessions.append(marks)
        if self.fails & set(marks):
            raise SimulationError("the program crashed")
        end = next((place for place, mark in enumerate(marks) if mark in self.ends), len(marks))
        played = marks[: end + 1]
        wrong = self.wrong | self.once
        self.once = set()
        simulated, real = self._record(played), self._record(played, wrong)
        if wrong & set(marks) and self.silent:
            real = replace(simulated, files={"workspace/other": "written"})
        return ComparedSession(
            questions=tuple(questions),
            comparison=compare(PROFILE, "1", simulated, real),
            simulated=simulated,
            real=real,
        )

    @staticmethod
    def _record(marks, wrong=()):
        def run(event, mark):
            payload = {"hook_event_name": event, "tool_input": mark}
            return RecordedRun(event=event, command="./hook.sh", stdin=json.dumps(payload).encode())

        runs = [
            (run("PreToolUse", mark), *([run("PostToolUse", mark)] if mark not in wrong else []))
            for mark in marks
        ]
        told = tuple((SeenText(text="Go."),) for _ in marks)
        return ComparableSession(runs=((), *runs), told=told, files={}, end="", folders=())


def answers(program, *questions):
    """The answers, by the number of the question."""
    return {one.question.mark[-1]: one.word for one in answer_battery(questions, program)}


def test_questions_of_a_session_without_differences():
    """Questions of one group are answered by one session."""
    program = Program()

    assert answers(program, *map(question, range(4))) == dict.fromkeys("0123", "same")
    assert len(program.sessions) == 1


def test_a_difference_belongs_to_the_question_at_its_place():
    """A difference after one call is the answer to that call's question, if a second session shows it."""
    program = Program(wrong=["question-2"])

    found = answers(program, *map(question, range(4)))
    assert found == {"0": "same", "1": "same", "2": "different", "3": "same"}
    assert program.sessions[1:] == [["question-2"]]


def test_a_difference_whose_place_names_no_question():
    """A difference that no mark names is looked for in sessions with fewer questions, and is not lost."""
    program = Program(wrong=["question-2"], silent=True)

    found = answers(program, *map(question, range(4)))
    assert found == {"0": "same", "1": "same", "2": "different", "3": "same"}


def test_a_difference_that_is_not_seen_again():
    """What a second session does not show is no difference of the program."""
    program = Program(once=["question-1"])

    assert answers(program, question(0), question(1)) == {"0": "same", "1": "not reached"}


def test_questions_behind_one_that_ends_the_session():
    """Questions that a session did not reach are asked again without those before them."""
    program = Program(ends=["question-1"])

    assert answers(program, *map(question, range(4))) == dict.fromkeys("0123", "same")
    assert program.sessions[1] == ["question-2", "question-3"]


def test_a_program_that_crashes():
    """A crash of the program is no answer, and costs only the question that causes it."""
    program = Program(fails=["question-3"])

    found = {one.question.mark[-1]: one for one in answer_battery([*map(question, range(4))], program)}
    assert [one.word for one in found.values()] == ["same"] * 3 + ["not reached"]
    assert found["3"].why == "the program crashed"


def test_a_question_whose_hook_did_not_run():
    """Two equal sessions in which the hook of the question did not run are no answer."""
    assert answers(Program(), question(1, event="Stop")) == {"1": "not reached"}


@pytest.mark.nightly
@pytest.mark.parametrize("host", HOSTS)
def test_the_battery_of_a_host(host):
    """Each host has more than 200 questions with names of their own, and each has a live equivalent."""
    profile = hosts.find(host)
    battery = generate_battery(profile)

    assert len(battery) > 200
    assert len({one.name for one in battery}) == len(battery)
    for one in battery:
        check_playable(compose_session(profile, [one]))


def test_a_changed_rule_changes_the_battery():
    """The questions follow the profile: another limit of texts and another cap are asked about."""
    profile = hosts.find("claude-code")
    limit = replace(profile.replies.text_limit, most=5000)
    other = replace(profile, replies=replace(profile.replies, text_limit=limit))
    names = [{one.name for one in generate_battery(each)} for each in (profile, other)]

    assert {one.partition(" of ")[2] for one in names[1] - names[0]} == {
        "5000 characters",
        "30000 characters",
    }


def test_the_basis_of_a_fact():
    """A fact is confirmed if the program did the same for all its questions that were reached."""
    asked = Calibration(
        version="1",
        profile="codex@0.169.0",
        date="2026-11-23",
        same=("a", "b"),
        different={"c": "x"},
        known={"e": "z"},
        unreached={"d": "y"},
        facts={"sure": ("a", "b", "d"), "wrong": ("a", "c"), "listed": ("a", "e"), "unknown": ("d",)},
    )

    confirmed = [asked.confirms(text) for text in ("sure", "wrong", "listed", "unknown", "other")]
    assert confirmed == [True] + [False] * 4
    assert [asked.contradicts(text) for text in ("sure", "wrong", "listed")] == [False, True, False]


@pytest.mark.parametrize("host", HOSTS)
def test_stored_answers(host):
    """Stored answers belong to a known profile, and no question has two of them."""
    for one in read_calibrations(host):
        assert hosts.find(one.profile).id == one.profile
        names = [*one.same, *one.different, *one.known, *one.unreached]
        assert len(set(names)) == len(names) > 200


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_hook_notes_belongs_to_its_question(host):
    """A question about surroundings is answered by the file in which its hook notes them, and by no other."""
    asked = [one for one in generate_battery(hosts.find(host)) if "working folder" in one.name]

    def different(path):
        return Difference(category="files", where=path, simulated="a", real="b")

    for one in asked:
        ((command,),) = ([entry["command"] for entry in entries] for entries in one.hooks.values())
        file = command.rpartition(" ")[2]
        assert one.concerns(different(f"workspace/{file}"))
        assert not one.concerns(different(f"workspace/other-{file}"))
