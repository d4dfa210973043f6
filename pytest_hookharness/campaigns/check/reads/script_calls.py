"""
Calls in scripts that do not do what they are for, and searches that find too much or nothing.

Each cause is one symptom, with all hooks that it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from pytest_hookharness.campaigns.check.answers.pasted_texts import pasted_texts
from pytest_hookharness.campaigns.check.reads.shared_symptoms import together
from pytest_hookharness.campaigns.check.reads.transcript_searches import (
    unfound_keys,
    words_anywhere,
)
from pytest_hookharness.campaigns.check.shell_code.embedded_programs import embedded_programs
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, inline_program
from pytest_hookharness.campaigns.check.static.ended_searches import (
    ended_searches,
    missed_matches,
    texts_as_options,
)
from pytest_hookharness.campaigns.check.static.exit_statuses import (
    broken_pipes,
    double_counts,
    lost_statuses,
    unreached_statuses,
)
from pytest_hookharness.campaigns.check.static.mac_shell import calls_for_a_mac
from pytest_hookharness.campaigns.check.static.pasted_code import pasted_code
from pytest_hookharness.campaigns.check.static.rewritten_records import (
    may_wait,
    rewritten_records,
    runs_beside_itself,
)
from pytest_hookharness.campaigns.check.static.session_variables import loaded_by
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED, MANGLED
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.verdicts import FindingCode

# What finds sentences in the text of a script, with their lines.
Find = Callable[[str], Iterator[tuple[str, int]]]

_KEEP_STATUS = (
    "Get the status first: `out=$(program 2>&1) || failed=1`, without `local` in the same line; then "
    '`echo "$out" | tail`. For a pipe, `set -o pipefail` also works.'
)
_GIVE = 'Pass it as an argument: `python3 -c "..." "$x"`, then `sys.argv[1]`.'
_END_OPTIONS = "End the options before the text: `printf -- '- %s\\n' \"$x\"`, `grep -q -e '--force'`."
_MAKE_JSON = 'Let jq write the answer: `jq -n --arg text "$text" \'{decision: "block", reason: $text}\'`.'
_GO_ON = "Write `NAME=$(...) || true`, as `grep` fails where it finds nothing."
_READ_ALL = 'Let grep read all of it: `grep -q words <<< "$text"`, or `grep words >/dev/null`.'
_ASK_AT_ONCE = (
    "Write `status=0; program || status=$?`, then test `$status`; with captured output, "
    "`out=$(program) || status=$?`."
)
_READ_TO_THE_END = (
    "Write `{ program || true; } | head`, or replace `head` by a command that reads all lines: "
    "`program | sed -n 1,10p`."
)
_APPEND_LINES = (
    "Append each record as a line of its own (JSON Lines), or hold a lock while the file is rewritten."
)
_COUNT = "Write `|| true`: grep has printed its 0 already."
# The host whose transcript is known to be JSON in lines, with what was said below `message`.
_JSON_LINES = "claude-code"
_READ_LINES = (
    'Look only at what the agent said: `jq -r \'select(.type == "assistant") | .message.content[]? | '
    'select(.type == "text").text\'`.'
)
_READ_MESSAGES = "Calls stand in `.message.content[]`, with `type` `tool_use`, `name` and `input`."

# The path of a program, which is empty for a command, its text, the lines in front of it, and its hooks.
_Program: TypeAlias = tuple[str, str, int, list[Hook]]


def find_in_calls(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the kinds of calls in scripts that do not do what they are for, each once with its hooks."""
    programs = [*_programs(hook_set)]
    of_transcripts = (
        (codes.TEXT_MATCH, _READ_LINES, words_anywhere),
        (codes.MISSING_INPUT, _READ_MESSAGES, unfound_keys),
    )
    for code, advice, find in (
        *(of_transcripts if hook_set.host == _JSON_LINES else ()),
        (CRASHED, CRASHED.fix, calls_for_a_mac),
        (CRASHED, _END_OPTIONS, texts_as_options),
        (codes.STATUS_LEAK, _KEEP_STATUS, lost_statuses),
        (codes.STRICT_SHELL, _COUNT, double_counts),
        (codes.STRICT_SHELL, _GO_ON, partial(ended_searches, plugin=bool(hook_set.plugin))),
        (codes.STRICT_SHELL, _READ_ALL, missed_matches),
        (codes.STRICT_SHELL, _ASK_AT_ONCE, unreached_statuses),
        (codes.STRICT_SHELL, _READ_TO_THE_END, broken_pipes),
        (codes.CARRIED_OUT, _GIVE, pasted_code),
        (MANGLED, _MAKE_JSON, pasted_texts),
    ):
        yield from _found(hook_set, programs, code, advice, find)
    # At other events a host starts one hook after the other. A lock may stand around a program in a script.
    hasty = [one for one in hook_set.sources if not may_wait(f"{one[1]}\n{loaded_by(hook_set, one[1])}")]
    alone = [*_programs(replace(hook_set, sources=tuple(hasty)))]
    for symptom in _found(hook_set, alone, codes.LOST_UPDATES, _APPEND_LINES, rewritten_records, beside=True):
        # No run has lost anything so far, and an agent that makes one call at a time loses nothing.
        yield replace(symptom, avoidable=True)


def _found(
    hook_set: HookSet,
    programs: Iterable[_Program],
    code: FindingCode,
    advice: str,
    find: Find,
    *,
    beside: bool = False,
) -> Iterator[Symptom]:
    """Yield what is found, each sentence once; ``beside``: only for hooks that run side by side."""
    found: dict[str, dict[str, None]] = {}
    concerned: dict[str, list[Hook]] = {}
    for place, source, first, hooks in programs:
        asked = [hook for hook in hooks if not beside or runs_beside_itself(hook_set, hook)]
        for words, line in find(source) if asked else ():
            where = f"{place}, line {first + line}" if place else "the command"
            found.setdefault(words, {})[where] = None
            concerned.setdefault(words, []).extend(asked)
    for words, places in found.items():
        yield together(code, concerned[words], f"{words} ({'; '.join(places)}).", advice)


def _programs(hook_set: HookSet) -> Iterator[_Program]:
    """Yield the scripts, the commands that are programs, and the programs in both."""
    scripts = [(path, source, hook_set.hooks_of(path)) for path, source in hook_set.sources]
    commands = dict.fromkeys(hook.command for hook in hook_set.hooks if hook.type == "command")
    scripts += [
        ("", inline_program(command), [hook for hook in hook_set.hooks if hook.command == command])
        for command in commands
    ]
    for path, source, hooks in scripts:
        if hooks and source:
            yield path, source, 0, hooks
            for one in embedded_programs(source) if SHELL_SCRIPT.match(source) else ():
                yield path, one.text, source.count("\n", 0, one.begin), hooks
