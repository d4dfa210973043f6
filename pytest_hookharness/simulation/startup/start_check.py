"""
The start check: whether a hook that ended with an error had run at all.

Only hook runs that could be such a case are checked: they ended with a code other than 0, printed no answer
and no text of their own, and name a file that does not exist or show the name of one. The hook is then run
again on the testbed, traced and with changes, and everything is undone. A hook that answers or exits with 0
costs nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

from pytest_hookharness.execution.paths import is_file
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec
from pytest_hookharness.model.protocol import Hook, Payload, fill_variables
from pytest_hookharness.model.start_failures import FINDS_PROGRAMS, NO_NETWORK, StartFailure
from pytest_hookharness.simulation.testbed.host_actions import run_again
from pytest_hookharness.simulation.testbed.testbed import Testbed

NOT_FOUND = (126, 127)
_ENOUGH = 3
_MOST_KNOWN = 500
_MOST_PROCESSES = 5
_WORD = re.compile(r"[^\s\"'`;|&<>(){}=]+")
# Words that look like a file: a path, or a name with an extension. Only whole words are tried, or a long one
# would take the square of its length.
_FILE = re.compile(r"(?<![\w./~-])(?:[\w.~-]*/[\w./~-]*\w|\w[\w-]*\.[A-Za-z]\w{0,4}\b)")
# Where a shell decides something, the command is not a simple one.
_DECIDES = re.compile(r"[;|&\n(){}`<>]")
_SAID = re.compile(r"[^\W\d]+")
_LONGEST_INPUT = 1 << 16
# Characters with which a message begins as a text in the source.
_BEGINNING = 12
_LACKS = re.compile(
    r"no such file|not found|can(?:not|'t) (?:find|open)|could not (?:find|open)|no module|no rule"
    r"|syntax ?error|traceback",
    re.IGNORECASE,
)
_DIFFERS_AGAIN = "it ended differently when it ran again"
_CUT = "it takes too long to be tried with other programs"
# Doubts that a busy machine or chance may cause, so that another check may not have them.
_MAY_CHANGE = (_DIFFERS_AGAIN, _CUT)
# Files that are no programs and do not say what to run. Test doubles are compared by the scenario.
_DATA = re.compile(r"\.(?:log|txt|md|jsonl|csv|out|tmp|html|css|svg|png|gif|jpe?g|db|sqlite3?)$")
_OWN = ("bin/", "doubles/")
_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Finding:
    """
    Why the hook's program did not run, or why that is doubtful; both are empty if it ran.

    ``suspect`` is true if the hook ended as an interpreter without its program does.
    """

    failure: StartFailure | None = None
    doubt: str = ""
    suspect: bool = False

    @property
    def counts(self) -> bool:
        """Whether a refusal counts."""
        return self.failure is None and not self.suspect


_RAN = _Finding()


@dataclass(slots=True)
class _Checks:
    """
    The results of the checks of one testbed, by program: how often it ran, and its words then.

    ``unsure`` has findings that hold for this testbed alone.
    """

    ran: Counter[_Key] = field(default_factory=Counter[_Key])
    said: defaultdict[_Key, list[frozenset[str]]] = field(
        default_factory=lambda: defaultdict(list[frozenset[str]])
    )
    unsure: dict[_Key, _Finding] = field(default_factory=dict[_Key, _Finding])


# If equal commands in equal surroundings fail with equal words, the reason is the same.
_known: dict[_Key, _Finding] = {}
# The words that each program said when it had run.
_said: dict[_Key, list[frozenset[str]]] = {}
# The last doubt about each program whose check found nothing.
_unsure: dict[_Key, str] = {}
# A program that ran is checked again only if it says a word that it did not say before, and on one testbed at
# most `_ENOUGH` times.
_checks: WeakKeyDictionary[Testbed, _Checks] = WeakKeyDictionary()


def explain_failures(
    testbed: Testbed,
    hooks: Sequence[Hook],
    specs: Sequence[ProcessSpec | None],
    given: Sequence[ProcessResult | Payload],
) -> tuple[ProcessResult | Payload, ...]:
    """
    Return the results of hook runs, with the reason of each that ended before its hook could run.

    The changes by the hooks must have been scanned. A hook without a spec was not started.
    """
    checked = list(given)
    for place, (spec, run) in enumerate(zip(specs, given, strict=True)):
        if spec is not None and isinstance(run, ProcessResult) and (code := _failed(run)):
            # It may have removed the folder in which it was started.
            folder = testbed.workspace.present(spec.cwd)
            again = spec if folder == spec.cwd else replace(spec, cwd=folder)
            words = _words(hooks[place], again)
            if _is_doubtful(run, code, hooks[place].command, words, again):
                found = _look_up(testbed, hooks[place], again, run, code, words)
                failure = _placed(found.failure, testbed.workspace.root, Path(again.cwd))
                checked[place] = replace(run, failure=failure, doubt=found.doubt, suspect=found.suspect)
    return tuple(checked)


def _placed(failure: StartFailure | None, root: Path, folder: Path) -> StartFailure | None:
    """Return a failure with the folder where its program was missing, if the workspace itself has it."""
    if failure is None or failure.kind != "missing" or folder == root or not folder.is_relative_to(root):
        return failure
    if Path(failure.name).is_absolute() or not is_file(root / failure.name):
        return failure
    return replace(failure, lost_in=str(folder.relative_to(root)))


def _look_up(
    testbed: Testbed, hook: Hook, spec: ProcessSpec, run: ProcessResult, code: int, words: Sequence[str]
) -> _Finding:
    if obstacle := _obstacle(testbed, spec):
        return _Finding(doubt=obstacle)
    files = tuple(_digest(Path(spec.cwd, word)) for word in words if _FILE.fullmatch(word))
    program: _Key = (hook.event, hook.command, hook.args, code, *files)
    checks = _checks.setdefault(testbed, _Checks())
    if checks.ran[program] >= _ENOUGH:
        return _RAN
    texts = _texts(testbed, run)
    said = frozenset(_SAID.findall(" ".join(texts)))
    if said and any(said <= earlier for earlier in checks.said[program]):
        return _RAN
    around = (*program, *_surroundings(testbed, spec))
    if said and any(said <= earlier for earlier in _said.get(around, ())):
        return _RAN
    key = (*around, *texts)
    if (found := _known.get(key, checks.unsure.get(key))) is None:
        found = _explain(testbed, hook, spec, run, code)
        if len(_known) >= _MOST_KNOWN:
            for each in (_known, _unsure, _said):
                each.clear()
        # A finding that chance or a busy machine may cause must occur in two simulations.
        if found.doubt not in _MAY_CHANGE or _unsure.get(key) == found.doubt:
            _known[key] = found
        else:
            checks.unsure[key], _unsure[key] = found, found.doubt
    if code not in NOT_FOUND:
        if found == _RAN:
            checks.said[program].append(said)
            _said.setdefault(around, []).append(said)
        checks.ran[program] += found.counts
    return found


def _surroundings(testbed: Testbed, spec: ProcessSpec) -> _Key:
    """Return what decides which programs a hook finds, without what differs between equal sessions."""
    scenario, base = testbed.scenario, str(testbed.workspace.base)
    own = f"{base}/doubles/"
    environment = {
        name: ":".join(part for part in value.split(":") if own not in part).replace(base, "")
        for name, value in spec.env.items()
        if name in scenario.env or FINDS_PROGRAMS.search(name)
    }
    doubles = frozenset((name, repr(double)) for name, double in scenario.commands.items())
    files = frozenset(
        (path, entry.mode, entry.content)
        for path, entry in testbed.files.items()
        if entry.kind != "folder" and not path.startswith(_OWN) and not _DATA.search(path)
    )
    searched = frozenset((name, value) for name, value in environment.items() if value)
    return testbed.sandbox.tier, searched, scenario.unset, scenario.hidden, scenario.shell, doubles, files


def _obstacle(testbed: Testbed, spec: ProcessSpec) -> str:
    """Return why a hook cannot be run again; empty if it can."""
    scenario = testbed.scenario
    if scenario.cover:
        return "nothing runs a second time on covered folders"
    if scenario.fake_agents:
        return "fake agents keep records of every run"
    if scenario.readonly or scenario.full:
        return "a folder of the scenario cannot be written to"
    return "its input is too long" if len(spec.stdin.data) > _LONGEST_INPUT else ""


def _failed(run: ProcessResult) -> int:
    """Return the exit code of a hook that failed or refused by its code alone; 0 for any other."""
    ending = run.own_ending
    answered = run.stdout.data.lstrip()[:1] == b"{"
    return 0 if answered or not isinstance(ending, Exited) else ending.code


def _words(hook: Hook, spec: ProcessSpec) -> list[str]:
    """Return the words of a hook's command, with its variables expanded."""
    if hook.args is not None:
        return [*spec.argv]
    return _WORD.findall(fill_variables(hook.command.replace('"', ""), spec.env))


def _is_doubtful(
    run: ProcessResult, code: int, command: str, words: Sequence[str], spec: ProcessSpec
) -> bool:
    """Return whether a hook run may have ended before its program ran; quick, and rather too often true."""
    printed = run.stderr.text + run.stdout.text
    if NO_NETWORK.search(printed):
        # Such a program ran, and to wait for the network again and again would take long.
        return False
    if code in NOT_FOUND or not printed.strip():
        return True
    paths = {word: Path(spec.cwd, word) for word in words}
    files = {word: path for word, path in paths.items() if is_file(path)}
    gone = any(word not in files and _FILE.fullmatch(word) for word in words)
    # The last file is the program; one before it may be an interpreter of the project.
    if not gone and _says_own_words(run.stderr.text, [command, *map(_text, [*files.values()][-1:])]):
        return False
    if _FILE.search(printed):
        return True
    # A simple command that is given no file may look for a program by itself, as make does.
    if not files and not _DECIDES.search(command):
        return True
    others = (path for word, path in paths.items() if word not in files and _FILE.fullmatch(word))
    if not all(os.access(path, os.F_OK) for path in others):
        return True
    # An interpreter that does not name the file, or was given a text, names at least a line of it.
    if any(sign.isdigit() for sign in printed):
        return True
    values = {after for before, after in pairwise(words) if before.startswith("-")}
    if any(len(word) > 1 and word in printed for word in values):
        return True
    # A program says words of its own text or of its input, an interpreter has others.
    left = set(_SAID.findall(printed))
    for path in files.values():
        left.difference_update(_SAID.findall(_text(path)))
    given = f"{command} {spec.stdin.data.decode('utf-8', 'replace')}" if left else ""
    return not left <= set(_SAID.findall(given))


def _says_own_words(said: str, programs: Sequence[str]) -> bool:
    """
    Return whether a message begins as a text in a program does, so that the program ran until there.

    No interpreter begins a message so: before the line at fault it names the file. Where the message goes on
    about something that is missing, that may be a program which the hook calls.
    """
    begins = said[:_BEGINNING]
    if len(begins) < _BEGINNING or "\n" in begins or _LACKS.search(said):
        return False
    return any(f"{quote}{begins}" in program for program in programs for quote in "\"'`")


def _texts(testbed: Testbed, run: ProcessResult) -> tuple[str, ...]:
    base = str(testbed.workspace.base)
    return tuple(re.sub(r"\d+", "0", part.text.replace(base, "")) for part in (run.stderr, run.stdout))


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except OSError:
        return "?"


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    return "" if "\0" in text else text


def _explain(testbed: Testbed, hook: Hook, spec: ProcessSpec, run: ProcessResult, code: int) -> _Finding:
    # Not at the top: most runs have no such hook, and the modules are many.
    from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
    from pytest_hookharness.execution.startup.process_trace import trace
    from pytest_hookharness.simulation.startup.experiments import find_failure, find_missing
    from pytest_hookharness.simulation.startup.program_trials import find_missing_tool
    from pytest_hookharness.simulation.startup.resemblance import find_doubt
    from pytest_hookharness.simulation.startup.trial_runs import Trial, TrialRuns
    from pytest_hookharness.simulation.testbed.undo import undone

    seen = Trial(code, run.stderr.text, run.stdout.text)
    try:
        with undone(testbed):
            traced = trace(partial(run_again, testbed), spec)
            if traced is None:
                return _Finding(doubt="processes cannot be traced here")
            if not Trial(traced.code, traced.stderr).is_same(seen):
                return _Finding(doubt=_DIFFERS_AGAIN)
            decider = traced.find_decider()
            trials = TrialRuns(testbed, spec, decider)
            shown = seen if seen.stderr.strip() else trials.run_decider(seen)
            failure = find_failure(trials, shown)
            if failure is None and code in NOT_FOUND:
                failure = find_missing_tool(trials, hook, seen)
            # A process that started the deciding one has found its own program.
            above = [*traced.ancestors(decider)]
            others = [each for each in traced.processes.values() if each.code and each.argv]
            for process in others[:_MOST_PROCESSES] if failure is None else ():
                if process not in (decider, *above) and (
                    missing := find_missing(TrialRuns(testbed, spec, process), process.code, seen)
                ):
                    failure = replace(missing, kind="called")
                    break
            if failure is None:
                doubt = find_doubt(trials, shown) if code not in NOT_FOUND else ""
                return _Finding(doubt=doubt or (_CUT if trials.cut else ""), suspect=bool(doubt))
            # A program that the hook calls may count its runs, so that an experiment ends differently.
            return _Finding(failure) if trials.run_hook().is_same(seen) else _Finding(doubt=_DIFFERS_AGAIN)
    except SnapshotError as error:
        return _Finding(doubt=f"the state cannot be saved and restored: {error}")
