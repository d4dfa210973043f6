"""``hookharness calibrate``: ask the real program of a host whether it follows the rules of its profile."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.live.calibration import QuestionAnswer, answer_battery, play_on
from pytest_hookharness.campaigns.live.live_scenario import (
    VARIABLE,
    InstalledProgram,
    NoProgram,
    find_installed,
)
from pytest_hookharness.campaigns.live.question import Question
from pytest_hookharness.campaigns.live.question_battery import generate_battery
from pytest_hookharness.campaigns.live.question_writer import unasked_events
from pytest_hookharness.execution.user_files import create_file, store_file
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.option_types import OptionError, require_new, seconds
from pytest_hookharness.frontends.screen import shell_line
from pytest_hookharness.hosts.profiles.shared import Calibration, facts_file, parse_calibrations
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.wire.programs import find_program, known_programs
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings

_SAME, _DIFFERENT, _UNKNOWN = 0, 1, 2
_MOST = 300
_ABOUT = (
    "Asks the installed real program of HOST questions that the rules of its profile answer, each in a short "
    "session that is played in the simulation too. The answers are stored beside the profile. Exit status: 0 "
    "the program does the same, apart from listed differences, 1 it does something else, 2 unknown."
)


def declare_calibrate(parser: argparse.ArgumentParser) -> None:
    """Declare ``hookharness calibrate``."""
    parser.description = _ABOUT
    parser.add_argument(
        "host", metavar="HOST", help="a host; with @VERSION a program of another version than its profile's"
    )
    parser.add_argument(
        "--programs", type=Path, metavar="FOLDER", help=f"where it is installed (${VARIABLE})"
    )
    parser.add_argument(
        "--facts", type=Path, metavar="FILE", help="where the answers are stored (beside the profile)"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only questions whose name contains TEXT")
    parser.add_argument(
        "--budget", default="60s", metavar="TIME", help="wall-clock time for one session: 30s, 2m (60s)"
    )
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write a new version of the profile into FILE, as a patch"
    )
    parser.set_defaults(call=_calibrate)


def _calibrate(arguments: argparse.Namespace) -> int:
    if arguments.write is not None:
        require_new(arguments.write, "--write")
    name, _, version = arguments.host.partition("@")
    program = find_program(name)
    if program is None:
        raise OptionError(f"no program of {name!r} is known; expected {', '.join(known_programs())}")
    profile = hosts.find(name)
    folder = arguments.programs or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    asked = [one for one in generate_battery(profile) if arguments.only in one.name]
    if not asked:
        raise OptionError(f"--only: no question about {profile.id} contains {arguments.only!r}")
    try:
        installed = find_installed(program, version or profile.version, folder and folder.expanduser())
        answers, interrupted = _ask(
            profile, installed, asked, Settings(wall=seconds(arguments.budget, "--budget"))
        )
    except NoProgram as reason:
        raise OptionError(str(reason).replace("the ini key hook_live_path or", "--programs or")) from reason
    file = arguments.facts or facts_file(name)
    before = parse_calibrations(file.read_text(encoding="utf-8")) if file.exists() else ()
    calibration = _collect(profile, installed.version, answers, before)
    print("\n".join(_report(profile, calibration, answers, len(asked), before)))
    _store(file, calibration, before)
    if arguments.write is not None:
        create_file(arguments.write, "".join(_proposal(profile, installed.version, answers)))
        print(
            f"hookharness: wrote {arguments.write}; apply it in the repository with git apply",
            file=sys.stderr,
        )
    if interrupted or not answers:
        return _UNKNOWN
    return _DIFFERENT if any(one.word == "different" and not one.why for one in answers) else _SAME


def _ask(
    profile: Profile, installed: InstalledProgram, asked: Sequence[Question], settings: Settings
) -> tuple[list[QuestionAnswer], bool]:
    """Return the answers, and whether Ctrl-C ended the battery before all were given."""
    answers: list[QuestionAnswer] = []
    line = shell_line(sys.stderr)
    with Harness(settings) as harness, line.about(f"{profile.name} {installed.version}") as entry:
        play = play_on(installed, profile.id, settings, harness.resources)
        entry.step("questions", 0, len(asked))
        try:
            for answer in answer_battery(asked, play):
                answers.append(answer)
                entry.step("questions", len(answers), len(asked))
        except (KeyboardInterrupt, Interrupted):
            return answers, True
    return answers, False


def _collect(
    profile: Profile, version: str, answers: Sequence[QuestionAnswer], before: Sequence[Calibration]
) -> Calibration:
    """
    Return all answers of a version: those of now, and earlier ones to questions not asked now.

    Facts get their present words, so that answers outlast a change of the words.
    """
    new = {one.question.name: one for one in answers}
    battery = {one.name: one for one in generate_battery(profile)}
    old = next((one for one in before if (one.version, one.profile) == (version, profile.id)), None)
    kept = old or Calibration(version=version, profile=profile.id, date="")
    unasked = battery.keys() - new.keys()
    differing = {name: one for name, one in new.items() if one.word == "different"}
    different = {name: _words(one) for name, one in differing.items() if not one.why}
    known = {name: _words(one) for name, one in differing.items() if one.why}
    unreached = {name: plain(one.why, _MOST) for name, one in new.items() if one.word == "not reached"}

    def still(texts: Mapping[str, str]) -> dict[str, str]:
        return {name: text for name, text in texts.items() if name in unasked}

    collected = Calibration(
        version=version,
        profile=profile.id,
        date=datetime.now(UTC).date().isoformat() if new else kept.date,
        same=(
            *(name for name in kept.same if name in unasked),
            *(name for name, one in new.items() if one.word == "same"),
        ),
        different={**still(kept.different), **different},
        known={**still(kept.known), **known},
        unreached={**still(kept.unreached), **unreached},
    )
    answered = _by_question(collected)
    facts: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for name, question in battery.items():
        for rule in question.rules if name in answered else ():
            facts[rule.text] += (name,)
    return dataclasses.replace(collected, facts=dict(facts))


def _words(answer: QuestionAnswer) -> str:
    found = answer.difference
    if found is None:
        return ""
    known = f" (known: {answer.why})" if answer.why else ""
    real, simulated = plain(found.real, _MOST), plain(found.simulated, _MOST)
    return f"{found.category}, {plain(found.where, _MOST)}: real {real}; simulated {simulated}{known}"


def _report(
    profile: Profile,
    calibration: Calibration,
    answers: Sequence[QuestionAnswer],
    asked: int,
    before: Sequence[Calibration],
) -> Iterator[str]:
    number = Counter(one.word for one in answers)
    left = f", {asked - len(answers)} not asked" if len(answers) < asked else ""
    counts = ", ".join(f"{number[word]} {word}" for word in ("same", "different", "not reached"))
    yield f"{profile.id} and program {calibration.version}, {counted(asked, 'question')}: {counts}{left}"
    for one in answers:
        if one.difference is not None:
            yield f"\ndifferent: {plain(one.question.name, 120)}"
            yield f"  {one.difference.category}, {plain(one.difference.where, 200)}"
            yield f"  simulated: {plain(one.difference.simulated, _MOST)}"
            yield f"  real:      {plain(one.difference.real, _MOST)}"
            for rule in one.question.rules:
                yield f"  rule:      {plain(rule.text, _MOST)} [{rule.basis.value}]"
            if one.why:
                yield f"  known:     {one.why}"
    unreached = defaultdict(list)
    for one in answers:
        if one.word == "not reached":
            unreached[one.why].append(one.question.name)
    for why, names in unreached.items():
        yield f"\nnot reached, {plain(why, _MOST)}:"
        yield from (f"  {plain(name, 120)}" for name in names)
    if events := unasked_events(profile):
        yield f"\nno question leads to: {', '.join(events)}"
    yield from _changes(calibration, before)


def _changes(calibration: Calibration, before: Sequence[Calibration]) -> Iterator[str]:
    """Yield the questions to which the version asked last before gave another answer."""
    other = next((one for one in before if one.version != calibration.version), None)
    if other is None:
        return
    now, then = _by_question(calibration), _by_question(other)
    changed = [name for name in now if name in then and now[name] != then[name]]
    yield f"\nsince {other.version} (asked {other.date}): {counted(len(changed), 'answer')} changed"
    yield from (f"  {plain(name, 120)}: {then[name]}, now {now[name]}" for name in changed)


def _by_question(one: Calibration) -> Mapping[str, str]:
    words = {
        "same": one.same,
        "different": (*one.different, *one.known),
        "not reached": one.unreached,
    }
    return {name: word for word, names in words.items() for name in names}


def _store(file: Path, calibration: Calibration, before: Sequence[Calibration]) -> None:
    others = [one for one in before if one.version != calibration.version]
    text = json.dumps([dataclasses.asdict(one) for one in (calibration, *others)], indent=1) + "\n"
    try:
        file.parent.mkdir(exist_ok=True)
        store_file(file, text.encode(), 0o644)
    except OSError as error:
        print(f"hookharness: the answers are not stored: {error}", file=sys.stderr)
    else:
        print(f"hookharness: stored the answers in {file}", file=sys.stderr)


def _proposal(profile: Profile, version: str, answers: Sequence[QuestionAnswer]) -> Iterator[str]:
    """Yield a patch of the package: the new version, and beside each fact what did not hold."""
    root = Path(__file__).parents[2]
    new_ones = [one for one in answers if one.difference and not one.why]
    wrong = {rule.text: answer for answer in new_ones for rule in answer.question.rules}
    for file in sorted(root.rglob("*.py")):
        old = file.read_text(encoding="utf-8")
        new = old.replace(f'"{profile.id}"', f'"{profile.name}@{version}"')
        if f'name="{profile.name}"' in old and file.is_relative_to(root / "hosts" / "profiles"):
            new = new.replace(f'version="{profile.version}"', f'version="{version}"')
        if profile.name.partition("-")[0] in file.parent.name:
            new = new.replace(profile.version.replace(".", "-"), version.replace(".", "-"))
            new = "".join(_noted(new.splitlines(keepends=True), version, wrong))
        name = file.relative_to(root.parent)
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
        yield from difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")


def _noted(lines: Sequence[str], version: str, wrong: Mapping[str, QuestionAnswer]) -> Iterator[str]:
    for line in lines:
        for text, answer in wrong.items():
            # A long fact is written in several lines.
            if f'"{text[:30]}' in line:
                indent = line[: len(line) - len(line.lstrip())]
                yield f"{indent}# {version}, {answer.question.name}: {_words(answer)}\n"
        yield line
