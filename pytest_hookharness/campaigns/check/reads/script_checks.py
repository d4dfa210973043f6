"""
Defects in the texts of scripts: what they read in vain, and what they say where nobody gets it.

Each cause is one symptom, with all hooks that it concerns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check.answers.failed_refusals import failed_refusal
from pytest_hookharness.campaigns.check.answers.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.answers.silent_refusals import silent_answer, silent_refusal
from pytest_hookharness.campaigns.check.answers.unread_answers import lost_answers
from pytest_hookharness.campaigns.check.answers.unseen_advice import advise_on_place, is_fault, unseen_advice
from pytest_hookharness.campaigns.check.answers.user_messages import message_for_agent
from pytest_hookharness.campaigns.check.lone_programs.missing_programs import missing_programs
from pytest_hookharness.campaigns.check.lone_programs.removed_imports import removed_imports
from pytest_hookharness.campaigns.check.reads.input_keys import never_sent
from pytest_hookharness.campaigns.check.reads.recorded_sessions import recorded_session
from pytest_hookharness.campaigns.check.reads.shared_symptoms import together, with_hooks
from pytest_hookharness.campaigns.check.reads.unknown_keys import unknown_keys
from pytest_hookharness.campaigns.check.static.absent_arguments import absent_argument
from pytest_hookharness.campaigns.check.static.session_variables import shared_session
from pytest_hookharness.campaigns.check.static.subagent_transcripts import OWN, reads_main_transcript
from pytest_hookharness.campaigns.check.static.unset_variables import expected_variable, key_for
from pytest_hookharness.judging.checkup.unseen_texts import describe_unseen
from pytest_hookharness.judging.findings.codes import (
    MISSING_INPUT,
    UNSEEN_REASON,
    WRONG_KEY,
)
from pytest_hookharness.judging.findings.finding_catalogue import (
    MANGLED,
    PINGPONG,
    SILENT_REFUSAL,
)
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.protocol import Hook

_REFUSE = (
    "Print a JSON answer and exit with 0; or, to refuse, print the reason to standard error and exit with 2."
)
_NAME_IT = "Name it after `session_id` of the input."
_READ_IT = "Read `session_id` of the input."
_LONGEST = 80
_UNSET = "Find out in another way, or have the command set it: `NAME=value ./hook.sh`."
_NO_KEY = "Take the value from elsewhere, such as the transcript, or remove what depends on it."


def find_in_scripts(hook_set: HookSet) -> Iterator[Iterator[Symptom]]:
    """Yield the symptoms of each kind, so that an error in one kind leaves the others."""
    yield _of_variables(hook_set)
    yield _of_sessions(hook_set)
    yield missing_programs(hook_set)
    yield _of_input(hook_set)
    yield _of_answers(hook_set)
    yield _of_refusals(hook_set)
    yield _of_silence(hook_set)
    yield _of_advice(hook_set)
    yield _of_messages(hook_set)
    yield _of_imports(hook_set)


def _of_variables(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield variables that people expect with the input of a hook, and that the host never sets."""
    found = [(hook, expected_variable(hook_set, hook)) for hook in hook_set.hooks]
    if hooks := [hook for hook, name in found if name]:
        name = next(name for _, name in found if name)
        text = f"${name} is always empty, because {hook_set.host} does not set it."
        symptom = together(MISSING_INPUT, hooks, text)
        yield replace(symptom, advice=f"Read the JSON on standard input: `jq -r .{key_for(name, hooks[0])}`.")

    absent = [(hook, name) for hook in hook_set.hooks if (name := absent_argument(hook_set, hook))]
    if absent:
        names = ", ".join(dict.fromkeys(f"${name}" for _, name in absent))
        text = f"{names} is the script's first argument, and the command gives it none."
        symptom = together(MISSING_INPUT, [hook for hook, _ in absent], text)
        yield replace(symptom, advice="Read the JSON on standard input instead, as with `jq -r .tool_input`.")


def _of_sessions(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield variables by which scripts tell sessions apart in vain, each once with its hooks."""
    found = [(hook, shared_session(hook_set, hook)) for hook in hook_set.hooks]
    for variable, default in dict.fromkeys(pair for _, pair in found if pair[0]):
        text = (
            f"state is named after ${variable}, which {hook_set.host} does not set, so all sessions share "
            f"the one of `{default}`."
        )
        symptom = together(WRONG_KEY, [hook for hook, pair in found if pair == (variable, default)], text)
        yield replace(symptom, advice=_NAME_IT)
    lost = [(hook, recorded_session(hook_set, hook)) for hook in hook_set.hooks]
    if hooks := [hook for hook, (variable, _) in lost if variable]:
        variable = next(one for _, (one, _) in lost if one)
        what = "; ".join(dict.fromkeys(what for _, (_, what) in lost if what))
        text = f"${variable} is always empty, as {hook_set.host} does not set it: {what}."
        yield replace(together(WRONG_KEY, hooks, text), advice=_READ_IT)


def _of_input(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield keys for which scripts look in their input in vain, each once with its hooks."""
    sent = [never_sent(hook_set, hook) for hook in hook_set.hooks]
    for keys, meant in dict.fromkeys(pair for pair in sent if pair[0]):
        text = f"the script reads {keys} of its input, and {hook_set.host} sends {meant}."
        advice = "the file that it names" if "transcript_path" in meant else "that"
        yield _at_entries(hook_set, [one == (keys, meant) for one in sent], text, f"Read {advice} instead.")
    unknown = [unknown_keys(hook_set, hook) for hook in hook_set.hooks]
    for keys in dict.fromkeys(filter(None, unknown)):
        text = f"the script reads {keys} of its input, and {hook_set.host} sends no such key."
        yield _at_entries(hook_set, [one == keys for one in unknown], text, _NO_KEY)
    if hooks := [hook for hook in hook_set.hooks if reads_main_transcript(hook_set, hook)]:
        text = f"the script reads `transcript_path`, the main agent's; `{OWN}` is the subagent's."
        yield replace(together(WRONG_KEY, hooks, text), advice=f"Read `{OWN}`, or `last_assistant_message`.")


def _at_entries(hook_set: HookSet, concerned: Sequence[bool], text: str, advice: str) -> Symptom:
    """Return the symptom of some hooks of a set, as the same command may be right at another event."""
    entries = tuple(number for number, one in enumerate(concerned, 1) if one)
    symptom = together(MISSING_INPUT, [hook_set.hooks[number - 1] for number in entries], text)
    return replace(symptom, advice=advice, entries=entries)


def _of_answers(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the answers in scripts that the host cannot read, each cause once with its hooks."""
    found = [(hook, one) for hook in hook_set.hooks if (one := find_unread_answer(hook_set, hook))]
    for text in dict.fromkeys(one.text for _, one in found):
        same = [(hook, one) for hook, one in found if one.text == text]
        yield replace(together(MANGLED, [hook for hook, _ in same], f"{text}."), advice=same[0][1].fix)
    yield from _of_lost_answers(hook_set, {hook.command for hook, _ in found})


def _of_lost_answers(hook_set: HookSet, told: Collection[str]) -> Iterator[Symptom]:
    """Yield why answers in scripts are lost, each reason once with its places; skip hooks named before."""
    lost: dict[str, dict[str, None]] = {}
    concerned: dict[str, list[Hook]] = {}
    fixes: dict[str, str] = {}
    unseen = set[str]()
    files = dict(hook_set.sources)
    for script, source in {**{hook.command: hook.command for hook in hook_set.hooks}, **files}.items():
        for one in lost_answers(hook_set, script, source):
            place = f"{script}, line {one.line}" if script in files else "the command"
            lost.setdefault(one.why, {})[place] = None
            fixes[one.why] = one.fix
            unseen |= {one.why} if one.is_unseen else set()
            concerned.setdefault(one.why, []).extend(one.hooks)
    for why, places in lost.items():
        if not any(hook.command in told for hook in concerned[why]):
            code = UNSEEN_REASON if why in unseen else MANGLED
            symptom = together(code, concerned[why], f"{why} ({'; '.join(places)}).")
            yield replace(symptom, advice=fixes[why])


def _of_refusals(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the refusals in scripts that their host takes for failures, each once with its hooks."""
    found = [(hook, why) for hook in hook_set.hooks if (why := failed_refusal(hook_set, hook))]
    for why in dict.fromkeys(why for _, why in found):
        symptom = together(MANGLED, [hook for hook, one in found if one == why], f"{why}.")
        yield replace(symptom, advice=_REFUSE)


def _of_silence(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the reasons that scripts print where the host looks for none, together with their hooks."""
    found = [(hook, words) for hook in hook_set.hooks if (words := silent_refusal(hook_set, hook))]
    if found:
        text = (
            f'the reason "{found[0][1]}" is printed to standard output, and with status 2 {hook_set.host} '
            "reads only standard error, so the agent is not told why."
        )
        symptom = together(SILENT_REFUSAL, [hook for hook, _ in found], text)
        yield replace(symptom, advice="Print the reason to standard error, as with `>&2`.")
    told = {hook.command for hook, _ in found}
    mute = [(hook, one) for hook in hook_set.hooks if (one := silent_answer(hook_set, hook))]
    # An answer that the host does not take for a refusal has another defect.
    unread = {
        hook.command
        for hook, _ in mute
        if find_unread_answer(hook_set, hook) or failed_refusal(hook_set, hook)
    }
    if mute := [(hook, one) for hook, one in mute if hook.command not in told | unread]:
        text = f"the answer `{mute[0][1]}` refuses without a reason, so the agent is not told why."
        yield together(SILENT_REFUSAL, [hook for hook, _ in mute], text)


def _of_advice(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the advice in scripts that the agent never gets, each script once."""
    every = [(hook, one) for hook in hook_set.hooks if (one := unseen_advice(hook_set, hook))]
    failed = [(hook, one) for hook, one in every if is_fault(hook_set, hook, one.stream)]
    for words in dict.fromkeys(one.text for _, one in failed):
        hooks = [hook for hook, one in failed if one.text == words]
        text = f'its answer is plain text, "{words[:_LONGEST]}", which {hook_set.host} cannot read there.'
        yield together(MANGLED, hooks, text)
    found = [pair for pair in every if pair not in failed]
    for stream in dict.fromkeys(one.stream for _, one in found):
        same = [(hook, one) for hook, one in found if one.stream == stream]
        hooks = [hook for hook, _ in same]
        events = ", ".join(dict.fromkeys(hook.event for hook in hooks))
        text = describe_unseen(events, same[0][1].text, stream, hook_set.host)
        symptom = replace(together(UNSEEN_REASON, hooks, ""), text=text)
        yield replace(symptom, advice=advise_on_place(hook_set, same[0][0]) or symptom.advice)


def _of_messages(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the messages for the agent that only the user sees, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := message_for_agent(hook_set, hook))[0]]
    for hooks, (path, line, words) in with_hooks(found):
        text = (
            f"only the user sees `systemMessage`, but a comment in {path}, line {line}, says that it is for "
            f'the agent: "{words}".'
        )
        yield replace(together(UNSEEN_REASON, hooks, text), advice=advise_on_place(hook_set, hooks[0]))


def _of_imports(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the commands that remove imports after each edit, each once with its hooks."""
    found = [(hook, command) for hook in hook_set.hooks if (command := removed_imports(hook_set, hook))]
    for command in dict.fromkeys(command for _, command in found):
        text = (
            f"after each edit, `{command}` removes the imports that nothing uses yet, also one that the "
            "agent writes before its first use."
        )
        symptom = together(PINGPONG, [hook for hook, one in found if one == command], text)
        keep = "Add `--unfixable F401`, or let" if command.startswith("ruff") else "Let"
        yield replace(symptom, advice=f"{keep} a Stop hook do this when the agent has finished.")
