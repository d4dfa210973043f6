"""
What hooks do without a program: guards that learn of a call by it alone, and gates of stops that need it.

A shell script is read for how its input reaches it, and for a refusal. That it allows calls without the
program is played, and then holds for all calls, as nothing of them reaches the script. Where a script asks
for a program and may refuse, it is played whether the agent can stop without the program. A gate that
refuses while a check fails is played without the program of the check.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import BEFORE_CALLS, STOPS, hooks_at, role_of
from pytest_hookharness.campaigns.check.corpora import MARKER
from pytest_hookharness.campaigns.check.failing_gates import failing_checks
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom, group
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut, shortened
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of, together
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT
from pytest_hookharness.judging.findings.codes import UNGUARDED_TOOL
from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom, is_named
from pytest_hookharness.model.moves import FIRST_PROMPT, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.trace import HookRun

_TOOLS = r"(?P<tool>jq|python3?|node|perl|ruby)"
_COMMENT = re.compile(r"^\s*#[^\n]*|(?<=\s)#\s[^\n'\"]*$", re.MULTILINE)
_CONTINUED = re.compile(r"\\\n")
# How a shell script takes its whole input, and what takes a part of it.
_KEPT = re.compile(
    r"\b(?P<name>\w+)=[\"']?(?:\$\(\s*(?:cat(?:\s+(?:-|/dev/stdin))?(?:\s*\|\|\s*(?:true|:|echo[^)]*))?"
    r"(?:\s*2>\S+)*|<\s*/dev/stdin)\s*\)|`cat`)"
)
_TAKEN = re.compile(r"\bread\s+-|\bread\s+\w|/dev/stdin|\bcat\s*[|)]|`cat`")
_DIRECTLY = re.compile(rf"\$\(\s*{_TOOLS}\s[^\n|]*")
_GETS_INPUT = (
    rf"\$\{{?NAME\}}?[\"']?\s*\|\s*{_TOOLS}\b"
    rf"|\b{_TOOLS.replace('tool', 'other')}\s[^\n|]*<<<\s*[\"']?\$\{{?NAME\b"
)
_REFUSES = re.compile(r"\bexit\s+2\b|[\"'\\](?:deny|block)[\"'\\]")
# What lets every call through as soon as a value of the input is empty.
_LEAVES_EMPTY = (
    r"\[\[?\s+-z\s+[\"']?\$\{?NAME\b[^\n]*?(?:&&|;\s*then|\n\s*then)\s*(?:\{\s*)?exit\s+0"
    r"|\[\[?\s+[\"']?\$\{?NAME(?::-)?\}?[\"']?\s+!=\s+[\"']?[\w|*]+[\"']?\s+\]\]?\s*"
    r"(?:&&|;\s*then|\n\s*then)\s*(?:\{\s*)?exit\s+0"
    r"|\bcase\s+[\"']?\$\{?NAME\}?[\"']?\s+in\b(?:(?!\besac\b|\bexit\s+2)[\s\S])*?(?<=[\s;])\*\)\s*exit\s+0"
    r"|\[\[\s[^\n|&]*\$\{?NAME\b[^\n|&]*=~[^\n]*\]\]\s*\|\|\s*exit\s+0"
    rf"|\bNAME=[\"']?\$\([^\n]*?\b{_TOOLS}\b[^\n]*\)[\"']?\s*\|\|\s*exit\s+\d"
)
_BOUND = re.compile(rf"\b(\w+)=[\"']?\$\([^\n]*?\b{_TOOLS}\b")
# Other data than the input on which a decision may rest.
_OF_WORLD = re.compile(
    r"(?:\[|\btest|&&|\|\||!)\s+-[efdsrwx]\s|\bgit\b|\bgrep\b[^\n|]*\s[\"'$./]*\w+\.\w+|\bdate\b"
)
_ASKED = re.compile(r"\b(?:command\s+-[vV]|which|hash)\s+(?P<tool>[a-z][\w.-]*)")
_LET_GO = "Say what is missing, and let the hook allow the stop, or read `stop_hook_active` before it asks."
# What interpreters and shells write, and no author: an error that nobody caught, or nothing at all.
_UNMEANT = re.compile(
    r"Traceback \(most recent call last\)|\n\s+at [^\n]*(?:node:|\.[cm]?[jt]s:\d)"
    r"|: (?:line )?\d+: [\w.-]+: (?:command )?not found\s*$|\A\s*\Z"
)
_MOST_CHECKS, _LONGEST = 3, 100
_ADVICE = "Begin with `command -v {tool} >/dev/null || {{ echo '{tool} is missing' >&2; exit 2; }}`."


def sole_reader(text: str) -> str:
    """
    Return the program by which alone the input reaches a shell script that refuses; empty if there is none.

    Scripts that ask for the program are left out, and those that may refuse for a reason of the world.
    """
    code = _COMMENT.sub("", _CONTINUED.sub(" ", text))
    if not _REFUSES.search(code):
        return ""
    tools = [*_readers(code)]
    tool = tools[0] if len(set(tools)) == 1 else ""
    asked = re.search(rf"\b(?:command\s+-[vV]|which|type|hash)\b[^\n]*\b{tool}\b", code)
    return tool if tool and not asked and _allows_nothing_read(code) else ""


def _readers(code: str) -> Iterator[str]:
    """Yield the program of each place where the input is read; an empty text for any other use of it."""
    kept = [*_KEPT.finditer(code)]
    rest = _KEPT.sub("", code)
    if not kept:
        found = _DIRECTLY.search(rest)
        yield found["tool"] if found and not _TAKEN.search(rest) else ""
        return
    for name in {one["name"] for one in kept}:
        pattern = re.compile(_GETS_INPUT.replace("NAME", name))
        uses = re.findall(rf"\$\{{?{name}\b", rest)
        reading = [*pattern.finditer(rest)]
        yield from (one["tool"] or one["other"] for one in reading)
        if len(uses) != len(reading) or _TAKEN.search(rest):
            yield ""


def _allows_nothing_read(code: str) -> bool:
    """Return whether a script without any value of its input can refuse no call that was not played."""
    first = _REFUSES.search(code)
    before = code[: first.start()] if first else code
    names = {name for name, _ in _BOUND.findall(before)}
    leaves = any(re.search(_LEAVES_EMPTY.replace("NAME", name), before) for name in names)
    return leaves or not _OF_WORLD.search(code)


def prove_sole_readers(
    hook_set: HookSet, play: TryOut, known: Collection[Problem], played: Sequence[PlayedSession] = ()
) -> Iterator[ProvedSymptom]:
    """
    Play each event without the programs, and yield the guards that then allow every call.

    Played sessions in which the check of a gate fails are played again without the program of the check.
    """
    reported = ", ".join(one.symptom.hook for one in known if one.symptom.kind == UNGUARDED_TOOL.name)
    readers: dict[str, list[Hook]] = {}
    for hook in _commands_of(hook_set, BEFORE_CALLS):
        texts = hook_set.code_of(hook)
        tool = sole_reader(texts[0]) if len(texts) == 1 and not is_named(hook.command, reported) else ""
        if tool:
            readers.setdefault(tool, []).append(hook)
    each = plan_each_event(hook_set)
    once = replace(each.scenario, turns=len(each.scenario.script.acts))
    for tool, hooks in readers.items():
        for one in play([_without(replace(each, scenario=once, ends=False), tool)]):
            allowing = [hook for hook in hooks if _allows_all(one.outcome, hook)]
            if one.outcome is not None and allowing:
                yield ProvedSymptom(_symptom(tool, allowing, one.outcome), one.session, one.outcome.trace)
    yield from _prove_needed(hook_set, play, known)
    yield from _prove_checks(hook_set, play, [one.session for one in played if one.outcome], reported)


def _prove_needed(hook_set: HookSet, play: TryOut, known: Collection[Problem]) -> Iterator[ProvedSymptom]:
    """Play a stop without each program for which a hook of stops asks, and yield the endless refusals."""
    reported = {one.symptom.hook for one in known if one.symptom.kind in ENDLESS}
    asked: dict[str, set[str]] = {}
    for hook in _commands_of(hook_set, STOPS):
        codes = [_COMMENT.sub("", text) for text in hook_set.scripts_of(hook) if SHELL_SCRIPT.match(text)]
        for code in codes if hook.command not in reported else ():
            for tool in _ASKED.findall(code) if _REFUSES.search(code) else ():
                asked.setdefault(tool, set()).add(hook.command)
    stop = CheckSession(title="stops", scenario=scenario_of(hook_set, (FIRST_PROMPT, Stop())))
    for played in play([_without(stop, tool) for tool in asked]):
        (tool,) = played.session.scenario.hidden
        for seen in group(hook_set, [played], mark=MARKER):
            if seen.symptom.kind in ENDLESS and seen.symptom.hook in asked[tool]:
                text = f"with no `{tool}` on the PATH, {seen.symptom.text}"
                symptom = replace(seen.symptom, text=text, advice=_LET_GO)
                yield ProvedSymptom(symptom, seen.session, seen.trace)


def _prove_checks(
    hook_set: HookSet, play: TryOut, sessions: Sequence[CheckSession], reported: str
) -> Iterator[ProvedSymptom]:
    """Play gates without the program of the check that they need, and yield those that end with an error."""
    tried = list[CheckSession]()
    for session in sessions:
        commands = [check for check in failing_checks(session) if check in session.scenario.commands]
        tried += [_without(shortened(session), tool) for tool in commands[:_MOST_CHECKS]]
    for one in play(tried):
        (tool,) = one.session.scenario.hidden
        for event, run in _ended_with_errors(hook_set, one.outcome):
            if one.outcome is None or is_named(run.hook.command, reported):
                continue
            status = run.ending.code if isinstance(run.ending, Exited) else 0
            lines = run.run.stderr.text.split("\n") if run.run is not None else []
            said = next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")
            error = f', "{said[:_LONGEST]}"' if said else ""
            text = (
                f"{event}: with no `{tool}` on the PATH it ends with status {status}{error}, and every "
                "stop is allowed."
            )
            advice = f"Catch that `{tool}` cannot be started, and tell the user that nothing was checked."
            reported = f"{reported}, {run.hook.command}"
            symptom = symptom_of(UNGUARDED_TOOL, run.hook.command, text, advice, turn=1)
            yield ProvedSymptom(symptom, one.session, one.outcome.trace)


def _ended_with_errors(hook_set: HookSet, outcome: Outcome | None) -> Iterator[tuple[str, HookRun]]:
    """Yield the runs that ended with an error at a stop that was allowed, once for each hook."""
    found = dict[str, tuple[str, HookRun]]()
    for _, hooked in outcome.trace.hooked() if outcome is not None else ():
        if hooked.decision.refused or role_of(hook_set.host, hooked.event) not in STOPS:
            continue
        for run in hooked.hook_runs:
            failed = isinstance(run.ending, Exited) and run.ending.code not in (0, 2)
            if run.run is not None and failed and _UNMEANT.search(run.run.stderr.text):
                found.setdefault(run.hook.command, (hooked.event, run))
    yield from found.values()


def _commands_of(hook_set: HookSet, roles: Collection[hosts.Role]) -> list[Hook]:
    """Return the hooks at events of some roles that are commands, each command once."""
    found = hooks_at(hook_set, roles)
    return [*{one.command: one for one in found if one.type == "command"}.values()]


def _without(session: CheckSession, tool: str) -> CheckSession:
    scenario = session.scenario
    doubles = {word: double for word, double in scenario.commands.items() if word != tool}
    scenario = replace(scenario, hidden=(tool,), commands=doubles)
    return replace(session, title=f"no `{tool}` on the PATH", scenario=scenario, harmless=False)


def _runs(outcome: Outcome | None, hook: Hook) -> Iterator[HookRun]:
    if outcome is not None:
        every = (run for _, hooked in outcome.trace.hooked() for run in hooked.hook_runs)
        yield from (run for run in every if run.hook.command == hook.command)


def _allows_all(outcome: Outcome | None, hook: Hook) -> bool:
    """Return whether a hook ran, and each of its runs ended by itself and said nothing about its call."""
    runs = [*_runs(outcome, hook)]
    refused = outcome is not None and any(
        hooked.decision.refused and any(run.hook.command == hook.command for run in hooked.deciding)
        for _, hooked in outcome.trace.hooked()
    )
    ended = all(run.run is not None and isinstance(run.ending, Exited) for run in runs)
    return bool(runs) and ended and not refused and not any(run.reply.context for run in runs)


def _symptom(tool: str, hooks: Sequence[Hook], outcome: Outcome) -> Symptom:
    run = next(_runs(outcome, hooks[0]))
    status = run.ending.code if isinstance(run.ending, Exited) else 0
    them = "they learn" if len(hooks) > 1 else "it learns"
    text = (
        f"{them} of a call only by `{tool}`; with no `{tool}` on the PATH every call is allowed "
        f"(exit {status})."
    )
    return replace(together(UNGUARDED_TOOL, hooks, text, _ADVICE.format(tool=tool)), turn=1)
