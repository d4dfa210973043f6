"""
Programs that hooks need and that may be missing: without them scripts refuse nothing, or every prompt.

A script that may refuse prompts for another reason has chosen to refuse where it cannot decide. Even then
nobody wants to need `python`, which many systems only have as `python3`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import BEFORE_CALLS, role_of
from pytest_hookharness.campaigns.check.answers.failed_refusals import is_allowed_by_failure, read_printed
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import REFUSES_IN_JSON, lone_answer
from pytest_hookharness.campaigns.check.lone_programs.lone_switches import lone_switch
from pytest_hookharness.campaigns.check.lone_programs.program_questions import questions_always_asked
from pytest_hookharness.campaigns.check.lone_programs.silent_ends import silent_end, unheard_end
from pytest_hookharness.campaigns.check.lone_programs.strict_scripts import ends_without
from pytest_hookharness.campaigns.check.reads.shared_symptoms import each_found, together
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    inline_program,
    shell_program,
    shell_script_of,
)
from pytest_hookharness.judging.findings.codes import UNGUARDED_TOOL
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.protocol import Hook, Ruling

_SAY_SO = "Begin with `command -v {0} >/dev/null || {{ echo '{0} is missing' >&2; exit {1}; }}`."
_UNHEARD = " Its warning goes to standard error, which nobody sees with that status."
# The subject of an event's decision, if it is no call.
DECIDED = {hosts.Role.STOP: "stop", hosts.Role.SUBAGENT_STOP: "stop", hosts.Role.PROMPT: "prompt"}
# Returns the program that a hook cannot do without, and the line; an empty text and 0 for none.
_Find = Callable[[HookSet, Hook], tuple[str, int]]


def missing_programs(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield a symptom for each program that hooks cannot do without; a session may show it better."""
    # Where a failure refuses, the failure of a missing program does too.
    open_hooks = [hook for hook in hook_set.hooks if is_allowed_by_failure(hook_set.host, hook)]
    reported = list[Hook]()
    for hooks, tool in each_found(hook_set, lone_answer, open_hooks, by_event=True):
        text = f"`{tool}` writes every refusal, so with no `{tool}` on the PATH nothing is refused."
        yield together(UNGUARDED_TOOL, hooks, text, _say_so(hook_set, hooks, tool))
        reported += hooks
    # A command that is the script itself does not mind how a script ends.
    inline = [hook for hook in hook_set.hooks if not hook_set.sources_of(hook) and hook not in open_hooks]
    others = [*(hook for hook in open_hooks if hook not in reported), *inline]
    for hooks, tool in each_found(hook_set, lone_switch, others, by_event=True):
        what = DECIDED.get(hosts.find(hook_set.host).events[hooks[0].event].role, "call")
        text = f"it decides by what `{tool}` prints, so with no `{tool}` on the PATH every {what} is allowed."
        yield together(UNGUARDED_TOOL, hooks, text, _say_so(hook_set, hooks, tool))
        reported += hooks
    left = [hook for hook in hook_set.hooks if hook not in reported]
    yield from _of_ends(
        hook_set, [hook for hook in left if hook in open_hooks], ends_without, "with an error"
    )
    yield from _of_ends(hook_set, left, silent_end, "silently")
    yield from _of_ends(hook_set, left, unheard_end, "with 0")
    for hooks, tool in each_found(hook_set, refused_without, left, by_event=True):
        text = f"with no `{tool}` on the PATH it ends with 2, which refuses every prompt."
        advice = f"End with 0 where `{tool}` is missing, and say so on standard error."
        advice += " Try `python3` first, as many systems have no `python`." if tool == "python" else ""
        yield together(UNGUARDED_TOOL, hooks, text, advice)


def _of_ends(hook_set: HookSet, hooks: Sequence[Hook], find: _Find, how: str) -> Iterator[Symptom]:
    """Yield the programs without which scripts end before they can refuse, each event once."""
    for same, tool in each_found(hook_set, lambda *of: find(*of)[0], hooks, by_event=True):
        lines = " or ".join(dict.fromkeys(str(find(hook_set, hook)[1]) for hook in same))
        role = hosts.find(hook_set.host).events[same[0].event].role
        then = f"every {DECIDED[role]} is allowed" if role in DECIDED else "it refuses nothing"
        text = f"with no `{tool}` on the PATH the script ends {how} in line {lines}, and {then}."
        text += _UNHEARD if how == "with 0" else ""
        yield together(UNGUARDED_TOOL, same, text, _say_so(hook_set, same, tool))


def _say_so(hook_set: HookSet, hooks: Sequence[Hook], tool: str) -> str:
    # Status 2 refuses a call. At a stop, it would be an endless loop, and at a prompt, nobody could work.
    status = 2 if hosts.find(hook_set.host).events[hooks[0].event].role in BEFORE_CALLS else 1
    return _SAY_SO.format(tool, status)


# A branch that ends the script, followed only by printed words and the exit status.
_ONLY_WITH = re.compile(
    r"^if[ \t]+(?:command[ \t]+-[vV]|which|type|hash)[ \t]+(?P<tool>[A-Za-z][\w.+-]*)[^\n|]*"
    r"(?:;|\n)[ \t]*then[ \t]*\n"
    r"(?:[ \t][^\n]*\n|\n){0,30}?[ \t]+(?:exit|exec)\b[^\n]*\nfi[ \t]*\n"
    r"(?:[ \t]*\n|(?:echo|printf)[ \t][^\n]*\n){0,6}exit[ \t]+2\s*$",
    re.MULTILINE,
)
# A call whose failure refuses.
_OR_REFUSES = re.compile(
    r"^[ \t]*(?P<tool>python)[ \t]+(?!-[cm]\b)[^\n;&|]*\|\|[ \t]*exit[ \t]+2\b", re.MULTILINE
)
_REFUSES = re.compile(r"\b(?:exit|return)[ \t]+(?:2\b|[\"$])|\bexit[ \t]*(?:$|[;)}])", re.MULTILINE)
# The script may provide the program, as from a virtual environment.
_BRINGS = re.compile(r"\bPATH\+?=|^[ \t]*(?:source|\.|eval|alias)[ \t]", re.MULTILINE)
_RENAMED, _MOST = "python", 20


def refused_without(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook refuses every prompt; empty for none."""
    of_prompts = role_of(hook_set.host, hook.event) is hosts.Role.PROMPT
    if not of_prompts or hook.type != "command":
        return ""
    if read_printed(hosts.find(hook_set.host), hook, 2, stderr="No.").ruling is not Ruling.DENY:
        return ""
    programs = (shell_program(hook_set, hook), inline_program(hook.command) if hook.args is None else "")
    return next(filter(None, map(needed_program, programs)), "")


def needed_program(text: str) -> str:
    """Return the program without which a shell script ends with 2 whatever it reads; empty for none."""
    script = shell_script_of(text)
    if script is None or _BRINGS.search(script.shown):
        return ""
    code, shown = script.code, script.shown
    found = [one.tool for one in questions_always_asked(script) if one.refuses]
    found += [one["tool"] for one in _ONLY_WITH.finditer(code) if shown.startswith("if", one.start())]
    calls = [(one["tool"], one.start("tool")) for one in islice(_OR_REFUSES.finditer(code), _MOST)]
    found += [
        tool for tool, place in calls if shown.startswith(tool, place) and not script.conditions_at(place)
    ]
    alone = len(_REFUSES.findall(shown)) == 1 and not REFUSES_IN_JSON.search(code)
    renamed = "python3" not in code
    return next((tool for tool in found if alone or (tool == _RENAMED and renamed)), "")
