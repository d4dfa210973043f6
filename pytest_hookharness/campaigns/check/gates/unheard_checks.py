"""
Hooks that start tests or a linter after an edit, or at the stop, and do not tell the agent that these fail.

Each is played with test doubles that fail. It is a problem only if the hook prints their output where the
host passes it to nobody: a hook that drops the output may run the program only to change files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.checked_projects import project_for_checks
from pytest_hookharness.campaigns.arming.hook_roles import hooks_at
from pytest_hookharness.campaigns.check.failing_gates import FAILS, changed_places, started_checks
from pytest_hookharness.campaigns.check.gates.local_checks import (
    is_of_module,
    local_checks,
    stand_in,
    words_for,
)
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.check.session_scenario import (
    alone,
    may_be_alone,
    short_scenario_of,
)
from pytest_hookharness.judging.findings.codes import UNSEEN_REASON
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom, is_named
from pytest_hookharness.model.moves import Edit
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Hook, Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace

_ROLES = (hosts.Role.AFTER_TOOL, hosts.Role.STOP)
# Programs that check something, by name or arguments, and programs that change files.
_CHECKS = re.compile(
    r"test|lint|check|tsc|type|\bvet\b|clippy|jest|mypy|pyright|ruff|biome|flake8|phpstan|phpunit|rspec|rubocop"
    r"|verify",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"--fix|--apply|:fix\b|--write|\binstall\b|\bgenerate\b|\bfmt\b|(?<!-)(?:\bformat|Format)\b"
    r"|prettier(?!.*(?:--check|-c)\b)"
)
# Programs that show a person a message.
_NOTIFIES = re.compile(r"\b(?:notify-send|osascript|terminal-notifier)\b")
# A part of the output of the test doubles and of the scripts that replace checks.
_MARK = "1 check failed"
# Kinds of files for hooks that name none.
_USUAL = ("ts", "py")
_MOST_FILES = 4
# Problems that already report this; CRASHED says that only exit code 2 refuses.
_ALREADY_REPORTED = frozenset({UNSEEN_REASON.name, CRASHED.name})


def prove_unheard_checks(
    hook_set: HookSet, play: TryOut, known: Collection[Problem], _played: Sequence[PlayedSession]
) -> Iterator[ProvedSymptom]:
    """Yield the hooks that do not tell the agent that their check failed, if no problem says so already."""
    reported = ", ".join(one.symptom.hook for one in known if one.symptom.kind in _ALREADY_REPORTED)
    # Only hooks that the host waits for.
    hooks = [hook for hook in hooks_at(hook_set, _ROLES) if not hook.options.get("async")]
    checks = {hook.command: names for hook in hooks if (names := _checks_of(hook_set, hook))}
    waiting = [hook for hook in hooks if hook.command in checks and not is_named(hook.command, reported)]
    named = set[str]()
    for one in play([_session(hook_set, waiting, checks)]) if waiting else ():
        for hooked, run, end in _unheard(one.outcome.trace) if one.outcome is not None else ():
            command = run.hook.command
            if one.outcome and command in checks and command not in named and not is_named(command, reported):
                named.add(command)
                symptom = _symptom(hook_set.host, hooked, run, end, checks[command])
                yield ProvedSymptom(symptom, one.session, one.outcome.trace)


def _checks_of(hook_set: HookSet, hook: Hook) -> list[str]:
    """Return the commands and paths of the checks that a hook starts, without what changes files."""
    text = "\n".join(hook_set.code_of(hook))
    found = [*dict.fromkeys([*started_checks(hook_set, hook), *local_checks(hook_set, [hook])])]
    return (
        [] if _NOTIFIES.search(text) else [name for name in found if _checks(text, name.removesuffix(".py"))]
    )


def _checks(text: str, name: str) -> bool:
    uses = re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])[^\n;|&\])]*", text)
    return any(_CHECKS.search(use) and not _CHANGES.search(use) for use in uses)


def _session(hook_set: HookSet, waiting: Sequence[Hook], checks: Mapping[str, Sequence[str]]) -> CheckSession:
    """Return the short session in which the agent changes files and stops while all checks fail."""
    texts = hook_set.code_of(*waiting)
    names = [*dict.fromkeys(name for hook in waiting for name in checks[hook.command])]
    paths = [name for name in names if "/" in name or name in ("gradlew", "mvnw") or is_of_module(name)]
    commands = [name for name in names if name not in paths]
    made = project_for_checks(hook_set, texts, commands)
    places = [*changed_places("\n".join(texts))] or [("", kind) for kind in made.kinds or _USUAL]
    files = [f"{place}changed.{kind}" for place, kind in places][:_MOST_FILES]
    # Some hooks see only new files, or only changes of one passage.
    edits = [
        edit
        for file in files
        for edit in (Edit(file=file, text="one\n"), Edit(file=file, text="two", old="one"))
    ]
    scenario = short_scenario_of(hook_set, edits)
    if may_be_alone(hook_set, waiting):
        # Other hooks, such as guards, may refuse the edits.
        scenario = alone(scenario, *waiting)
    # Some hooks keep only the lines with the name of the file.
    doubles = {
        name: replace(FAILS, stdout="".join(f"{file}:1:1: error: {_MARK} by {name}\n" for file in files))
        for name in commands
    }
    stand_ins = {path: stand_in(path, fails=True) for path in paths}
    return CheckSession(
        title=f"failing test doubles for {', '.join(map(words_for, names))}",
        scenario=replace(
            scenario,
            commands={**scenario.commands, **doubles},
            files={**scenario.files, **made.files, **stand_ins},
        ),
        ends=False,
        proof=True,
        active=f"a project that has {made.words}" if made.files else "",
    )


def _unheard(trace: Trace) -> Iterator[tuple[HookEvent, HookRun, str]]:
    """
    Yield the hook runs that print a failure which the agent does not see.

    Each comes with its event, and with the stream and the exit code in words.
    """
    decisions = [hooked.decision for _, hooked in trace.hooked()]
    texts = (text for one in decisions for text in (*one.to_agent, *one.to_user, *one.reasons))
    # A later refusal may tell the agent what an earlier hook has noted.
    heard = any(_MARK in text for text in texts)
    for _, hooked in () if heard else trace.hooked():
        for run in hooked.hook_runs:
            reply = run.reply
            if run.run is None or reply.context or reply.user_text or reply.ruling is not Ruling.NONE:
                continue
            streams = {"standard output": run.run.stdout, "standard error": run.run.stderr}
            printed = next((stream for stream, output in streams.items() if _MARK in output.text), "")
            if printed and isinstance(run.ending, Exited):
                yield hooked, run, f"on {printed} and ends with status {run.ending.code}"


def _symptom(host: str, hooked: HookEvent, run: HookRun, end: str, checks: Sequence[str]) -> Symptom:
    said = f"{run.run.stdout.text}{run.run.stderr.text}" if run.run is not None else ""
    checks = [name for name in checks if f"{_MARK} by {name}\n" in said] or checks
    names = " and ".join(f"`{words_for(name)}`" for name in checks)
    text = (
        f"{hooked.event}: while {names} {'fail' if len(checks) > 1 else 'fails'}, the hook prints the "
        f"failure {end}. {host} does not pass it to the agent."
    )
    return symptom_of(UNSEEN_REASON, run.hook.command, text, turn=1)
