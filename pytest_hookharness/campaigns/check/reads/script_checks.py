"""
Defects in the texts of scripts: input that is never sent, answers that nobody reads, wrong refusals.

Each cause is one symptom, with all hooks that it concerns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.check.answers.failed_refusals import failed_refusal
from pytest_hookharness.campaigns.check.answers.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.answers.silent_refusals import silent_answer, silent_refusal
from pytest_hookharness.campaigns.check.answers.unread_answers import lost_answers
from pytest_hookharness.campaigns.check.answers.unseen_advice import advise_on_place, is_fault, unseen_advice
from pytest_hookharness.campaigns.check.answers.user_messages import message_for_agent
from pytest_hookharness.campaigns.check.command_guards.word_guards import (
    bypassed_guard,
    example_guard,
    root_guard,
    word_guard,
)
from pytest_hookharness.campaigns.check.gates.early_ends import early_end
from pytest_hookharness.campaigns.check.lone_programs.missing_programs import missing_programs
from pytest_hookharness.campaigns.check.lone_programs.removed_imports import removed_imports
from pytest_hookharness.campaigns.check.reads.compared_tools import (
    former_tool,
    miscased_tool,
    other_shell,
    unreached_tools,
)
from pytest_hookharness.campaigns.check.reads.input_keys import never_sent
from pytest_hookharness.campaigns.check.reads.shared_symptoms import CheckRule, each_found, together
from pytest_hookharness.campaigns.check.reads.transcript_searches import OWN, reads_main_transcript
from pytest_hookharness.campaigns.check.reads.unknown_keys import unknown_keys
from pytest_hookharness.campaigns.check.static.absent_inputs import (
    absent_argument,
    expected_variable,
    key_for,
)
from pytest_hookharness.campaigns.check.static.device_inputs import device_input
from pytest_hookharness.campaigns.check.static.session_variables import shared_session
from pytest_hookharness.campaigns.check.static.shared_loops import shared_loop
from pytest_hookharness.campaigns.check.static.untracked_files import overlooked_files
from pytest_hookharness.judging.checkup.unseen_texts import describe_unseen
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.judging.findings.finding_catalogue import (
    MANGLED,
    NEVER_FIRED,
    PINGPONG,
    SILENT_REFUSAL,
)
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.protocol import Hook

_LONGEST = 80


def find_in_scripts(hook_set: HookSet) -> Iterator[Iterator[Symptom]]:
    """Yield the symptoms of each kind, so that an error in one kind leaves the others."""
    yield from (rule.symptoms(hook_set) for rule in _VARIABLES)
    yield missing_programs(hook_set)
    yield from (rule.symptoms(hook_set) for rule in _INPUT_AND_ANSWERS)
    yield _of_lost_answers(hook_set)
    yield _of_silence(hook_set)
    yield _of_advice(hook_set)
    yield _of_messages(hook_set)
    yield from (rule.symptoms(hook_set) for rule in _LOOPS_AND_GUARDS)
    yield _of_branches(hook_set)


def _never_set(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return a variable that no host sets, and the key of the input that is meant; empty for none."""
    name = expected_variable(hook_set, hook)
    return (name, key_for(name, hook)) if name else ()


def _takes_argument(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return, in words, the argument from which a script takes its input and which is missing; or nothing."""
    return ("first argument",) if absent_argument(hook_set, hook) else ()


def _never_sent(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return keys that the host does not send, the keys that are meant, and what to read; empty for none."""
    keys, meant = never_sent(hook_set, hook)
    return (keys, meant, "the file that it names" if "transcript_path" in meant else "that") if keys else ()


def _overlooks_new_files(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return, in words, where a gate asks Git for changes, and the line; an empty text and 0 for none."""
    path, line = overlooked_files(hook_set, hook)
    return (f" in {path}, line {line}," if path else "", line)


def _removes_imports(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return a command that removes imports, and how the advice about it begins; empty for none."""
    command = removed_imports(hook_set, hook)
    of_ruff = command.startswith("ruff")
    return (command, "Add `--unfixable F401`, or let" if of_ruff else "Let") if command else ()


_VARIABLES = (
    CheckRule(
        code=codes.MISSING_INPUT,
        find=_never_set,
        text="${0} is always empty, because {host} does not set it.",
        advice="Read the JSON on standard input: `jq -r .{1}`.",
    ),
    CheckRule(
        code=codes.MISSING_INPUT,
        find=_takes_argument,
        text="the script takes its input from its {0}, but the command gives it none.",
        advice="Read the JSON on standard input instead, as with `jq -r .tool_input`.",
    ),
    CheckRule(
        code=codes.MISSING_INPUT,
        find=device_input,
        text="the script {0}, a socket under {host}, and Linux opens no socket by name: it gets no input.",
        advice="{1}.",
    ),
    CheckRule(
        code=codes.WRONG_KEY,
        find=shared_session,
        text="state is named after ${0}, which {host} does not set, so all sessions share the one of `{1}`.",
        advice="Name it after `session_id` of the input.",
    ),
)
_INPUT_AND_ANSWERS = (
    CheckRule(
        code=codes.MISSING_INPUT,
        find=_never_sent,
        text="the script reads {0} of its input, and {host} sends {1}.",
        advice="Read {2} instead.",
        by_entry=True,
    ),
    CheckRule(
        code=codes.MISSING_INPUT,
        find=unknown_keys,
        text="the script reads {0} of its input, and {host} sends no such key.",
        advice="Take the value from elsewhere, such as the transcript, or remove what depends on it.",
        by_entry=True,
    ),
    CheckRule(
        code=codes.WRONG_KEY,
        find=reads_main_transcript,
        text=f"the script reads `transcript_path`, which is the main agent's; `{OWN}` is the subagent's.",
        advice=f"Read `{OWN}`, or `last_assistant_message`.",
    ),
    CheckRule(code=MANGLED, find=find_unread_answer, text="{0}.", advice="{1}"),
    CheckRule(
        code=MANGLED,
        find=failed_refusal,
        text="{0}.",
        advice=(
            "Print a JSON answer and exit with 0; or, to refuse, print the reason to standard error and exit "
            "with 2."
        ),
    ),
)
_LOOPS_AND_GUARDS = (
    CheckRule(
        code=PINGPONG,
        find=_removes_imports,
        text=(
            "after each edit, `{0}` removes the imports that nothing uses yet, even one that the agent "
            "writes before its first use."
        ),
        advice="{1} a Stop hook do this when the agent has finished.",
    ),
    CheckRule(
        code=codes.WRONG_KEY,
        find=shared_loop,
        text="the loop in {0} knows no session, so it holds every session of the project.",
        advice=(
            "Let the command that starts the loop write the session into the file, and compare it with "
            "`session_id`."
        ),
        by_event=True,
    ),
    CheckRule(
        code=codes.EARLY_EXIT,
        find=early_end,
        text=(
            "{0}, line {1}, allows every stop where `stop_hook_active` is true, and {host} sets it after "
            "each refusal, so the loop ends after one round, whatever `{2}` is."
        ),
        advice="Remove the test of `stop_hook_active`; the test of `{2}` ends the loop.",
    ),
    CheckRule(
        code=codes.TEXT_MATCH,
        find=word_guard,
        text="`{1}` is refused like `{0}`, because the script only looks for the words.",
    ),
    CheckRule(
        code=codes.BYPASS,
        find=bypassed_guard,
        text="`{0}` is refused, but `{1}` is allowed, because no test in the script matches it.",
    ),
    CheckRule(
        code=codes.OVERBLOCK,
        find=root_guard,
        text="`{1}` is refused like `{0}`, because every path that begins with `/` matches.",
    ),
    CheckRule(
        code=codes.OVERBLOCK,
        find=example_guard,
        text="`{1}` is refused like `{0}`, although it holds no secrets.",
        advice="Allow names that end with `.example`, `.sample`, `.template` or `.pub` before the test.",
    ),
    CheckRule(
        code=codes.FAILS_OPEN,
        find=_overlooks_new_files,
        text=(
            "it asks only `git diff`{0} whether anything changed. That leaves out new files, so every stop "
            "is allowed if the agent made nothing but new files."
        ),
        advice="Ask `git status --porcelain`, or `git ls-files --others --exclude-standard` as well.",
    ),
    *(
        CheckRule(
            code=codes.INERT_GUARD,
            find=find,
            text="the script compares the tool's name with `{0}`, but {host} sends `{1}`.",
            advice="Compare with `{1}`.",
        )
        for find in (miscased_tool, former_tool, other_shell)
    ),
)


def _of_lost_answers(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield why answers in scripts are lost, each reason once with its places; skip hooks named before."""
    known = {hook.command for hook in hook_set.hooks if find_unread_answer(hook_set, hook)}
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
        if not any(hook.command in known for hook in concerned[why]):
            code = codes.UNSEEN_REASON if why in unseen else MANGLED
            yield together(code, concerned[why], f"{why} ({'; '.join(places)}).", fixes[why])


def _of_silence(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the reasons that scripts print where the host looks for none, together with their hooks."""
    found = [(hook, words) for hook in hook_set.hooks if (words := silent_refusal(hook_set, hook))]
    silent = [hook for hook, _ in found]
    if found:
        text = (
            f'the reason "{found[0][1]}" is printed to standard output, and with status 2 {hook_set.host} '
            "reads only standard error, so the agent is not told why."
        )
        yield together(SILENT_REFUSAL, silent, text, "Print the reason to standard error, as with `>&2`.")
    mute = [
        (hook, answer)
        for hook in hook_set.hooks
        if (answer := silent_answer(hook_set, hook))
        and hook.command not in {one.command for one in silent}
        # An answer that the host does not take for a refusal has another defect.
        and not (find_unread_answer(hook_set, hook) or failed_refusal(hook_set, hook))
    ]
    if mute:
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
        yield replace(
            together(codes.UNSEEN_REASON, hooks, "", advise_on_place(hook_set, hooks[0])), text=text
        )


def _of_messages(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the messages for the agent that only the user sees, each script once."""
    for hooks, (path, line, words) in each_found(hook_set, message_for_agent):
        text = (
            f"only the user sees `systemMessage`, but a comment in {path}, line {line}, says that it is for "
            f'the agent: "{words}".'
        )
        yield together(codes.UNSEEN_REASON, hooks, text, advise_on_place(hook_set, hooks[0]))


def _of_branches(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield branches for tools whose calls no matcher lets through, each once with its hooks."""
    for hooks, (tools, line) in each_found(hook_set, unreached_tools):
        matchers = ", ".join(dict.fromkeys(f"`{hook.matcher}`" for hook in hooks))
        text = f"the branch for {tools} in line {line} never runs, as it does not fit the matcher {matchers}."
        yield together(NEVER_FIRED, hooks, text, "Add the tools to the matcher, or remove the branch.")
