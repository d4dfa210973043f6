"""
Hooks that commit: whether a commit takes more than what the agent or the hook has changed.

To commit is what such a hook is for, and no problem. It is one if the commit also takes what the user had
staged, or files that are not tracked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check.grouping import COMMITS, TAKES_ALL, ProvedSymptom
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.judging.findings.codes import STAGED
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, End, Prompt, RunCommand, Script
from pytest_hookharness.model.outcome import Outcome

_OF_USER, _UNTRACKED = "staged-by-the-user.txt", "not-tracked.txt"
_STAGES = RunCommand(
    command=f"echo draft >{_UNTRACKED}; echo mine >{_OF_USER} && git add -- {_OF_USER}", say="Ready."
)
_LISTS = RunCommand(command="git log --name-only --format= --max-count=20")
_REF = re.compile(r"^workspace/\.git/refs/heads/.+$")
_ADVICE = (
    "Name the files in the commit (`git commit -m MESSAGE -- FILES`), or use an index of its own "
    "(`GIT_INDEX_FILE`): what the user staged stays staged."
)


def with_whole_commits(report: CheckReport) -> CheckReport:
    """Return a report that says of commits of all files what is wrong with them."""
    told = (replace(one, symptom=_of_all_files(report.place, one.symptom)) for one in report.problems)
    return replace(report, problems=tuple(told))


def _of_all_files(hook_set: HookSet, symptom: Symptom) -> Symptom:
    ran = [hook for hook in hook_set.hooks if hook.command in symptom.hook.split(", ")]
    code = "\n".join(text for hook in ran for text in (hook.command, *hook_set.scripts_of(hook)))
    found = TAKES_ALL.search(code) if symptom.kind == STAGED.name else None
    if found is None or "refs/heads" not in symptom.text:
        return symptom
    event = symptom.text.partition(":")[0]
    words = " ".join(re.findall(r"[\w.-]+", found[0]))
    whose = "changed" if words.startswith("commit") else "staged or not yet added"
    text = f"{event}: its commit takes all files (`git {words}`), also those that the user had {whose}."
    return replace(symptom, text=text, advice=_ADVICE)


def prove_taken_files(
    hook_set: HookSet, play: TryOut, known: Collection[Problem], _played: Sequence[PlayedSession]
) -> Iterator[ProvedSymptom]:
    """Yield the hooks whose commits take what the user had staged; those known as such are left out."""
    told = {
        command
        for one in known
        if one.symptom.kind == STAGED.name
        for command in one.symptom.hook.split(", ")
    }
    committing = [
        hook
        for hook in hook_set.hooks
        if hook.command not in told and any(map(COMMITS.search, (hook.command, *hook_set.scripts_of(hook))))
    ]
    if not (committing and hook_set.git):
        return
    session = plan_each_event(hook_set)
    acts = [act for act in session.scenario.script.acts if act != FIRST_PROMPT and not isinstance(act, End)]
    script = Script(acts=(FIRST_PROMPT, _STAGES, *acts, Prompt(text="Go on."), _LISTS))
    scenario = replace(session.scenario, script=script, turns=len(script.acts) + 1)
    proof = replace(session, title="files of the user beside", scenario=scenario, ends=False, harmless=False)
    for one in play([proof]):
        hooks = _that_committed(one.outcome)
        taken = [name for name in (_OF_USER, _UNTRACKED) if name in _committed(one.outcome)]
        if one.outcome is not None and hooks and _OF_USER in taken:
            files = _OF_USER + ("" if len(taken) == 1 else f" and {_UNTRACKED}, which Git does not track")
            text = f"its commit takes {files}: what the user had staged, and not only its own files."
            symptom = symptom_of(STAGED, hooks, text, _ADVICE, turn=1)
            yield ProvedSymptom(symptom, proof, one.outcome.trace)


def _that_committed(outcome: Outcome | None) -> str:
    """Return the commands of the hooks that were seen to move a branch."""
    moved = (
        command
        for _, hooked in (outcome.trace.hooked() if outcome is not None else ())
        for change in hooked.changes
        if _REF.match(change.path)
        for command in change.hooks
    )
    return ", ".join(dict.fromkeys(moved))


def _committed(outcome: Outcome | None) -> list[str]:
    """Return the names of the files in the commits, as the last command of the agent lists them."""
    performed = [done for _, done in outcome.trace.performed()] if outcome is not None else []
    listed = [one.run for one in performed if one.call.input.get("command") == _LISTS.command]
    return listed[-1].stdout.text.split() if listed and listed[-1] is not None else []
