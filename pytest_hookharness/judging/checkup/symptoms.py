"""
Symptoms: what is wrong in an outcome, for hooks that have no expectations.

The purpose of the hooks is unknown here, so a missed defect is better than a false alarm: a symptom is never
reported if the host, the machine or the generated session may be its cause.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence

from pytest_hookharness.judging.checkup import refused_work
from pytest_hookharness.judging.checkup.bad_ends import cut_by_us, find_bad_end
from pytest_hookharness.judging.checkup.bypasses import FILE_CALLS, command_calls, find_bypasses
from pytest_hookharness.judging.checkup.evidence import with_evidence
from pytest_hookharness.judging.checkup.file_bypasses import find_file_bypasses
from pytest_hookharness.judging.checkup.file_overblocks import find_file_overblocks
from pytest_hookharness.judging.checkup.lookalikes import Lookalike, all_lookalikes
from pytest_hookharness.judging.checkup.lost_refusals import name_lost_refusal
from pytest_hookharness.judging.checkup.other_readers import find_other_readers
from pytest_hookharness.judging.checkup.unseen_texts import find_unseen_texts
from pytest_hookharness.judging.checkup.written_paths import written_above_project
from pytest_hookharness.judging.comparison.traces import refusers
from pytest_hookharness.judging.findings import codes, finding_catalogue
from pytest_hookharness.judging.findings.uncaught_errors import uncaught_error
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.checkup import Symptom, is_named
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.mutations import ANOTHER_AGENT
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited

# Findings about the session, the machine, or a host's options, and not about a hook.
_NOT_ABOUT_HOOKS = frozenset(
    {"UNREACHED", "NEVER-FIRED", "OPTION-IGNORED", "AGENT-MISSING", "DIVERGE", "CLOCK"}
)
_STAGED = re.compile(r"/\.git/(?:index|HEAD|packed-refs|refs/.+)$")
# Modules that Python keeps, and caches in the home of the user: Java does not ask HOME where that is.
_KEPT = re.compile(
    r"/__pycache__/|^outside/(?:root|(?:home|Users)/[^/]+)/\.(?:gradle|m2|java|ivy2|sbt|kotlin|konan)/"
)
_UNKNOWN_KEYS = re.compile(r"the host knows none of the keys ([\w, ]+)")
# Keys with which some host, or the author of a hook, says a decision or a text for the agent or the user.
_KEYS_OF_HOSTS = frozenset([
    "action", "additionalContext", "additional_context", "agent_message", "agentMessage", "behavior", "block",
    "context", "continue", "decision", "followup_message", "hookSpecificOutput", "message", "ok",
    "permission", "permissionDecision", "permissionDecisionReason", "reason", "stopReason", "systemMessage",
    "updatedInput", "updated_input", "user_message", "userMessage",
])  # fmt: skip
# Errors of Python and JavaScript that a missing file, tool or network does not cause.
_ERROR = re.compile(
    r"(?:ValueError|TypeError|AttributeError|IndexError|UnicodeDecodeError|UnicodeEncodeError|RecursionError"
    r"|NameError|UnboundLocalError|re\.error|ReferenceError|RangeError): .+"
)
_MAY_BE_OURS = re.compile(r"NoneType|undefined|null\b")
_ERROR_LENGTH = 120
# A hook that allows, and could not find a path below HOME.
_LACKS_HOME = re.compile(
    r"although it says .*(?:/hookharness-[^/\s]+/\S*?|[\s\"])home/[^\"]*: No such file or directory",
    re.IGNORECASE,
)
# An answer after other output, and what looks like one.
_LATE_ANSWER, _BRACES = "the answer does not begin the output", re.compile(r"\{[^\n]*\}")


def find_symptoms(outcome: Outcome, *, mark: str = "", harmless: bool = False) -> tuple[Symptom, ...]:
    """
    Return what is wrong, each cause once.

    A file called ``mark`` appears only if a hook executes its input. A ``harmless`` session contains nothing
    that anybody would object to.
    """
    found = [
        *find_bad_end(outcome),
        *_findings(outcome),
        *refused_work.find_refused_words(outcome),
        *_changes(outcome, mark),
        *_uncaught_errors(outcome),
        *refused_work.find_refused_form(outcome),
        *find_bypasses(outcome),
        *find_file_bypasses(outcome),
        *find_file_overblocks(outcome),
        *find_overblocks(outcome),
        *find_other_readers(outcome),
        *find_unseen_texts(outcome),
        *(refused_work.find_blockades(outcome) if harmless else ()),
    ]
    unique = {symptom.cause: symptom for symptom in reversed(found)}
    return tuple(with_evidence(symptom, [outcome]) for symptom in unique.values())[::-1]


def _findings(outcome: Outcome) -> Iterator[Symptom]:
    for finding in outcome.findings:
        if finding.name in _NOT_ABOUT_HOOKS or any(
            excuses(outcome, finding)
            for excuses in (
                _gets_round,
                _is_of_agents,
                _says_so,
                _was_cut_by_us,
                _is_private,
                _is_log,
                _is_of_our_home,
                _quotes_input,
            )
        ):
            continue
        yield name_lost_refusal(refused_work.symptom_of(finding))


def _uncaught_errors(outcome: Outcome) -> Iterator[Symptom]:
    """
    Find hook runs that an uncaught error of Python or JavaScript ended.

    Errors that may come from this machine, or from input that a real host would fill in, are left out.
    """
    for step, hooked in outcome.trace.hooked():
        for hook_run in hooked.hook_runs:
            run = hook_run.run
            if run is None or run.failure is not None or run.ending != Exited(1):
                continue
            error = uncaught_error(run.stderr.text)
            if _ERROR.match(error) and not _MAY_BE_OURS.search(error):
                text = f"{hooked.event}: an uncaught error ends it with 1: {error[:_ERROR_LENGTH]}."
                found = finding_catalogue.CRASHED.found(text, turn=step.turn, hook=hook_run.hook.command)
                yield refused_work.symptom_of(found)


def _was_cut_by_us(outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether a hook only took longer than the harness waits, which shows no defect of the hook."""
    commands = {hook_run.hook.command for hook_run in cut_by_us(outcome)}
    return finding.name == finding_catalogue.HUNG_HOOK.name and {*finding.hook.split(", ")} <= commands


def _is_private(_outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether an answer only has keys that no host reads, so that it asks its host for nothing."""
    found = _UNKNOWN_KEYS.search(finding.text)
    return found is not None and not {*found[1].split(", ")} & _KEYS_OF_HOSTS


def _is_log(_outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether several hooks only log to standard error, perhaps because the machine is busy."""
    return finding.name == codes.DOUBLE_NOISE.name and "write to standard error" in finding.text


def _is_of_our_home(_outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether a hook allows, and its only error is a path missing below HOME, empty in a check."""
    return finding.name == finding_catalogue.MANGLED.name and _LACKS_HOME.search(finding.text) is not None


def _quotes_input(outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether what looks like a lost answer stands in the hook's input, as in the name of a file."""
    if finding.name != finding_catalogue.MANGLED.name or _LATE_ANSWER not in finding.text:
        return False
    printed = [
        (run.payload, run.run.stdout.text)
        for step, run in outcome.trace.hook_runs()
        if step.turn == finding.turn and run.run is not None and is_named(run.hook.command, finding.hook)
    ]
    return any(
        json.dumps(words)[1:-1] in json.dumps(payload)
        for payload, text in printed
        for words in _BRACES.findall(text)
    )


def _gets_round(outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether a guard hook was only bypassed, by a form of code that it does not inspect."""
    if finding.name != codes.TEXT_MATCH.name:
        return False
    refused = (
        result.evidence
        for result in outcome.trial_results
        if result.family == "quoting" and result.outcome == "fail-closed"
    )
    return not any(finding.text.startswith(evidence.partition(": ")[2]) for evidence in refused)


def _is_of_agents(outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether a hook only treats the agents of one session as one, which may be intended."""
    unexpected = (
        result
        for result in outcome.trial_results
        if result.hook == finding.hook and result.outcome != "as declared"
    )
    return finding.name == codes.WRONG_KEY.name and all(result.name == ANOTHER_AGENT for result in unexpected)


def _says_so(outcome: Outcome, finding: verdicts.Finding) -> bool:
    """Return whether a hook that reverts an edit tells the agent about it."""
    return finding.name == finding_catalogue.PINGPONG.name and any(
        step.turn == finding.turn and hooked.decision.to_agent for step, hooked in outcome.trace.hooked()
    )


def _changes(outcome: Outcome, mark: str) -> Iterator[Symptom]:
    # Ignored folders are links from the copy into the project itself.
    own = tuple(
        f"outside{folder}/" for folder in (outcome.scenario.project, outcome.scenario.plugin) if folder
    )
    for step, hooked in outcome.trace.hooked():
        paths = [change.path for change in hooked.changes]
        made = [change for change in hooked.changes if not _is_usual(change.path, paths, own)]
        # The deepest path says most, so it comes first.
        for change in sorted(made, key=lambda change: change.path, reverse=True):
            code, text = _judge(change.path, written_above_project(change.path, hooked), mark)
            if code is not None:
                hooks = change.hooks or tuple(run.hook.command for run in hooked.hook_runs)
                words = f"{hooked.event}: {text}{change.doubt}."
                finding = code.found(words, turn=step.turn, hook=", ".join(dict.fromkeys(hooks)))
                yield refused_work.symptom_of(finding, shared=len({*hooks}) > 1)


def _is_usual(path: str, paths: Sequence[str], own: tuple[str, ...]) -> bool:
    """
    Return whether a change outside is the project's ``own``, or a module or a cache that a language keeps.

    A folder is, if all changes below it are.
    """
    if not path.startswith("outside/"):
        return False
    if f"{path}/".startswith(own) or _KEPT.search(f"{path}/"):
        return True
    below = [one for one in paths if one.startswith(f"{path}/")]
    return bool(below) and all(_is_usual(one, paths, own) for one in below)


def _judge(path: str, above: str, mark: str) -> tuple[verdicts.FindingCode | None, str]:
    if mark and posixpath.basename(path) == mark:
        return codes.CARRIED_OUT, "text from the input was executed"
    if path.startswith("outside/"):
        written = path.removeprefix("outside")
        return finding_catalogue.OUTSIDE_WRITE, f"{written} was written, outside of the project"
    if above:
        return finding_catalogue.OUTSIDE_WRITE, f"{above} was written in a parent folder of the project"
    if _STAGED.search(path) and path.startswith("workspace/"):
        return codes.STAGED, f"{path.removeprefix('workspace/')} was changed"
    return None, ""


_MOST_NAMED = 3


def find_overblocks(outcome: Outcome) -> Iterator[Symptom]:
    """Find harmless commands that were refused each time, and what they resemble allowed before and after."""
    calls = command_calls(outcome)
    found: dict[str, list[tuple[Lookalike, int]]] = {}
    for one in all_lookalikes(calls.refused):
        if not calls.is_kept(one.text) or (one.needs_refusal and not one.belongs_to(calls.refused)):
            continue
        if all(calls.is_allowed_around(control, one.text) for control in one.controls):
            turn = calls.refused[one.text][0]
            found.setdefault(refusers(outcome.trace, turn), []).append((one, turn))
    for some in found.values():
        described = (
            _describe(one, refused_work.refusal_word(outcome, turn)) for one, turn in some[:_MOST_NAMED]
        )
        # There is no room for the details of all.
        further = [_name(one) for one, _ in some[_MOST_NAMED : 2 * _MOST_NAMED]]
        more = [f"so {'are' if len(further) > 1 else 'is'} {' and '.join(further)}"] if further else []
        text = "; ".join([*described, *more])
        yield refused_work.symptom_in_turn(codes.OVERBLOCK, f"{text}.", outcome, some[0][1])


def _describe(one: Lookalike, done: str) -> str:
    allowed = " and ".join(map(_quote, one.controls))
    refused = f"{_name(one)}, {one.detail}, is {done}"
    return f"{refused}, but {allowed} allowed{one.where}" if allowed else refused


def _name(one: Lookalike) -> str:
    return _quote(one.text.replace(WORKSPACE, "<project>"))


def _quote(text: str) -> str:
    if not text.startswith(FILE_CALLS):
        return f"`{text}`"
    call, _, line = text.partition(": ")
    return f"{call} with `{line}`" if line else call
