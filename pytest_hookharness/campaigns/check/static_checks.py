"""
Defects of hooks that are certain before anything is run: settings, files, matchers, timeouts.

They are found for all hooks, whatever the time budget. What only this machine lacks is no defect: such hooks
could not be tried.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.session_errors import gather
from pytest_hookharness.campaigns.check.static.failed_refusals import failed_refusal
from pytest_hookharness.campaigns.check.static.hook_program import (
    Obstacle,
    find_obstacle,
    foreign_test,
    relative_script,
    unquoted_paths,
)
from pytest_hookharness.campaigns.check.static.input_keys import never_sent
from pytest_hookharness.campaigns.check.static.lost_statuses import lost_statuses
from pytest_hookharness.campaigns.check.static.mac_shell import calls_for_a_mac
from pytest_hookharness.campaigns.check.static.relative_files import relative_file
from pytest_hookharness.campaigns.check.static.script_answers import find_unread_answer
from pytest_hookharness.campaigns.check.static.timeout_units import odd_timeouts
from pytest_hookharness.campaigns.check.static.unread_answers import lost_answers
from pytest_hookharness.campaigns.check.static.unseen_advice import unseen_advice, where_it_is_read
from pytest_hookharness.campaigns.check.static.unset_variables import expected_variable, key_for
from pytest_hookharness.campaigns.check.tool_names import (
    find_expressions,
    is_ignored,
    miscased_tool,
    never_matches,
)
from pytest_hookharness.judging.findings.codes import (
    RELATIVE_PATH,
    STATUS_LEAK,
    STRICT_SHELL,
    TIMEOUT_UNIT,
    UNQUOTED_PATH,
    UNSEEN_REASON,
)
from pytest_hookharness.judging.findings.finding_catalogue import (
    CONFIG_OFF,
    CRASHED,
    EVENT_UNKNOWN,
    MANGLED,
    NEVER_FIRED,
    NOT_RUN,
)
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.verdicts import FindingCode

_KEEP_STATUS = (
    "Get the status first: `out=$(program 2>&1) || failed=1`, without `local` in the same line; then "
    '`echo "$out" | tail`. For a pipe, `set -o pipefail` also works.'
)
_REFUSE = (
    "To refuse, print the reason to standard error and exit with 2, or print a JSON answer and exit with 0."
)
_STREAMS = {"stdout": "standard output", "stderr": "standard error"}
# A flaw of an entry: its file, the path of keys to the entry, and what is wrong.
_ENTRY = re.compile(r"(?P<file>[^:]+), (?P<path>\S+): (?P=path) (?P<flaw>.+)")


@dataclass(frozen=True, slots=True)
class StaticResult:
    """
    What is certain without a run.

    Attributes:
        symptoms: The defects, each cause once.
        stuck: Commands of the hooks that cannot run on this machine, with what it lacks.
        errors: Sentences about errors of the harness, each of which ended the search for one kind of defect.
    """

    symptoms: tuple[Symptom, ...] = ()
    stuck: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[str, ...] = ()


def check_statically(hook_set: HookSet) -> StaticResult:
    """Return the defects of all hooks of a hook set that are certain without a run."""
    obstacles = [(hook, found) for hook in hook_set.hooks if (found := find_obstacle(hook_set, hook))]
    local = [(hook, found) for hook, found in obstacles if found.local]
    symptoms, errors = gather(
        _of_settings(hook_set),
        _not_run([(hook, found) for hook, found in obstacles if not found.local]),
        _of_entries(hook_set),
        _of_timeouts(hook_set),
        _of_expressions(hook_set),
        _of_variables(hook_set),
        _of_input(hook_set),
        _of_scripts(hook_set),
        _of_answers(hook_set),
        _of_refusals(hook_set),
        _of_advice(hook_set),
        _of_shells(hook_set, [hook for hook, _ in obstacles]),
        _of_paths(hook_set),
    )
    unique = {(symptom.kind, symptom.text): symptom for symptom in symptoms}
    return StaticResult(
        symptoms=tuple(unique.values()),
        stuck={hook.command: found.text for hook, found in local},
        errors=tuple(errors),
    )


def _of_settings(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the flaws of the settings, the same one of several entries once with all their places."""
    found = [one for one in hook_set.findings if one.name in (CONFIG_OFF.name, EVENT_UNKNOWN.name)]
    places: dict[tuple[str, str], list[str]] = {}
    for finding in found:
        if entry := _ENTRY.fullmatch(finding.text):
            places.setdefault((entry["file"], entry["flaw"]), []).append(entry["path"])
    for finding in found:
        entry = _ENTRY.fullmatch(finding.text)
        paths = places[entry["file"], entry["flaw"]] if entry else []
        if entry and entry["path"] != paths[0]:
            continue
        said = f"{entry['file']}, {', '.join(paths)}: {entry['flaw']}" if entry else finding.text
        # The list of all names would hide the one that is meant.
        text, _, known = said.partition(" known events: ")
        advice = f"{finding.advice} Known events: {known}." if known else finding.advice
        yield Symptom(kind=finding.name, code=finding.code, text=text, advice=advice)


def _not_run(obstacles: Sequence[tuple[Hook, Obstacle]]) -> Iterator[Symptom]:
    """Yield one symptom for each cause, with all hooks that it keeps from running."""
    for cause in dict.fromkeys(found.cause for _, found in obstacles):
        same = [(hook, found) for hook, found in obstacles if found.cause == cause]
        events = ", ".join(dict.fromkeys(hook.event for hook, _ in same))
        commands = ", ".join(dict.fromkeys(hook.command for hook, _ in same))
        obstacle = same[0][1]
        yield Symptom(
            kind=NOT_RUN.name,
            code=NOT_RUN.code,
            hook=commands,
            text=f"{events}: {obstacle.text}.",
            advice=obstacle.fix,
        )


def _of_variables(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield variables that people expect with the input of a hook, and that the host never sets."""
    found = [(hook, expected_variable(hook_set, hook)) for hook in hook_set.hooks]
    if hooks := [hook for hook, name in found if name]:
        name = next(name for _, name in found if name)
        text = f"${name} is always empty, as {hook_set.host} sets no such variable."
        symptom = _together(CONFIG_OFF, hooks, text)
        yield replace(symptom, advice=f"Read the JSON on standard input: `jq -r .{key_for(name)}`.")


def _of_input(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield keys and names for which scripts look in their input in vain, each once with its hooks."""
    found = [(hook, never_sent(hook_set, hook)) for hook in hook_set.hooks]
    for key, meant in dict.fromkeys(pair for _, pair in found if pair[0]):
        text = f"the script reads `{key}` of its input, and {hook_set.host} sends `{meant}`."
        symptom = _together(CONFIG_OFF, [hook for hook, pair in found if pair == (key, meant)], text)
        yield replace(symptom, advice=f"Read `{meant}`.")
    found = [(hook, miscased_tool(hook_set, hook)) for hook in hook_set.hooks]
    for name, meant in dict.fromkeys(pair for _, pair in found if pair[0]):
        text = f"the tool's name is compared with `{name}`, and {hook_set.host} sends `{meant}`."
        symptom = _together(CONFIG_OFF, [hook for hook, pair in found if pair == (name, meant)], text)
        yield replace(symptom, advice=f"Compare with `{meant}`.")


def _of_scripts(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the kinds of calls in scripts that do not do what they are for, each once with its hooks."""
    for code, advice, find in (
        (CRASHED, CRASHED.fix, calls_for_a_mac),
        (STATUS_LEAK, _KEEP_STATUS, lost_statuses),
    ):
        found: dict[str, dict[str, None]] = {}
        concerned: dict[str, list[Hook]] = {}
        for path, source in hook_set.sources:
            hooks = hook_set.hooks_of(path)
            for words, line in find(source) if hooks else ():
                found.setdefault(words, {})[f"{path}, line {line}"] = None
                concerned.setdefault(words, []).extend(hooks)
        for words, places in found.items():
            symptom = _together(code, concerned[words], f"{words} ({'; '.join(places)}).")
            yield replace(symptom, advice=advice)


def _of_answers(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the answers in scripts that the host cannot read, each cause once with its hooks."""
    found = [(hook, one) for hook in hook_set.hooks if (one := find_unread_answer(hook_set, hook))]
    for text in dict.fromkeys(one.text for _, one in found):
        same = [(hook, one) for hook, one in found if one.text == text]
        yield replace(_together(MANGLED, [hook for hook, _ in same], f"{text}."), advice=same[0][1].fix)
    yield from _of_lost_answers(hook_set, {hook.command for hook, _ in found})


def _of_lost_answers(hook_set: HookSet, told: Collection[str]) -> Iterator[Symptom]:
    """Yield why answers in scripts are lost, each reason once with its places; skip hooks named before."""
    lost: dict[str, dict[str, None]] = {}
    concerned: dict[str, list[Hook]] = {}
    fixes: dict[str, str] = {}
    files = dict(hook_set.sources)
    for script, source in {**{hook.command: hook.command for hook in hook_set.hooks}, **files}.items():
        for one in lost_answers(hook_set, script, source):
            place = f"{script}, line {one.line}" if script in files else "the command"
            lost.setdefault(one.why, {})[place] = None
            fixes[one.why] = one.fix
            concerned.setdefault(one.why, []).extend(one.hooks)
    for why, places in lost.items():
        if not any(hook.command in told for hook in concerned[why]):
            symptom = _together(MANGLED, concerned[why], f"{why} ({'; '.join(places)}).")
            yield replace(symptom, advice=fixes[why])


def _of_refusals(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the refusals in scripts that their host takes for failures, each once with its hooks."""
    found = [(hook, why) for hook in hook_set.hooks if (why := failed_refusal(hook_set, hook))]
    for why in dict.fromkeys(why for _, why in found):
        symptom = _together(CRASHED, [hook for hook, one in found if one == why], f"{why}.")
        yield replace(symptom, advice=_REFUSE)


def _of_advice(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the advice in scripts that the agent never gets, each script once."""
    found = [(hook, one) for hook in hook_set.hooks if (one := unseen_advice(hook_set, hook))]
    for stream in dict.fromkeys(one.stream for _, one in found):
        same = [(hook, one) for hook, one in found if one.stream == stream]
        text = (
            f'"{same[0][1].text}" is plain text on {_STREAMS[stream]}, and with status 0 {hook_set.host} '
            "does not pass it to the agent."
        )
        symptom = _together(UNSEEN_REASON, [hook for hook, _ in same], text)
        place = where_it_is_read(hook_set, same[0][0])
        yield replace(
            symptom, advice=f"Answer in JSON, with the text in `{place}`." if place else symptom.advice
        )


def _of_shells(hook_set: HookSet, broken: Sequence[Hook]) -> Iterator[Symptom]:
    """Yield the commands whose conditions the host's shell does not know."""
    sound = [hook for hook in hook_set.hooks if hook not in broken]
    found = [(hook, shell) for hook in sound if (shell := foreign_test(hook_set, hook))]
    if found:
        text = f"{found[0][1]}, which is /bin/sh here, does not know `[[`, so the condition never holds."
        symptom = _together(STRICT_SHELL, [hook for hook, _ in found], text)
        yield replace(symptom, advice="Use `[` or `case`, or start `bash -c '...'`.")


def _of_paths(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield which paths hold only in some folders, each form once with all its hooks."""
    unquoted = [(hook, found[0][0]) for hook in hook_set.hooks if (found := unquoted_paths(hook_set, hook))]
    for variable in dict.fromkeys(variable for _, variable in unquoted):
        text = f"{variable} is not quoted, so the shell makes two words of a path with a space."
        symptom = _together(UNQUOTED_PATH, [hook for hook, one in unquoted if one == variable], text)
        yield replace(symptom, advice=f'Put the variable in double quotes: `"{variable}"`.')
    # Also of scripts that cannot run yet: the path stays wrong when they can.
    relative = [(hook, script) for hook in hook_set.hooks if (script := relative_script(hook_set, hook))]
    if relative:
        script = relative[0][1]
        text = f"{script} is looked up in the agent's current folder, so after a `cd` it is not found."
        symptom = _together(RELATIVE_PATH, [hook for hook, _ in relative], text)
        yield replace(symptom, advice=_from_the_project(hook_set.host, script))
    if written := [(hook, file) for hook in hook_set.hooks if (file := relative_file(hook_set, hook))]:
        file = written[0][1]
        text = f"{file} is looked up in the agent's current folder, so after a `cd` it is another file."
        symptom = _together(RELATIVE_PATH, [hook for hook, _ in written], text)
        yield replace(symptom, advice=_from_the_project(hook_set.host, file))


def _from_the_project(host: str, script: str) -> str:
    """Return the advice to begin a script's path with the project's folder, in the host's words."""
    known = hosts.find(host).process.env
    variable = next((name for name, value in known.items() if value == "{workspace}"), "")
    path = script.removeprefix("./")
    example = f'as in `"${variable}"/{path}`' if variable else "or write the whole path"
    return f"Begin the path with the project's folder, {example}."


def _together(code: FindingCode, hooks: Sequence[Hook], text: str) -> Symptom:
    events = ", ".join(dict.fromkeys(hook.event for hook in hooks))
    commands = ", ".join(dict.fromkeys(hook.command for hook in hooks))
    return Symptom(kind=code.name, code=code.code, hook=commands, text=f"{events}: {text}", advice=code.fix)


def _of_entries(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the defects of single entries, each once for a command, with the positions of its entries."""
    found: dict[tuple[str, str, str], list[tuple[int, Symptom]]] = {}
    for number, hook in enumerate(hook_set.hooks, 1):
        for symptom in _of_hook(hook_set, hook):
            found.setdefault((symptom.kind, symptom.hook, symptom.text), []).append((number, symptom))
    for same in found.values():
        yield replace(same[0][1], entries=tuple(number for number, _ in same))


def _of_hook(hook_set: HookSet, hook: Hook) -> Iterator[Symptom]:
    if why := never_matches(hook_set, hook):
        symptom = _symptom(NEVER_FIRED, hook, f"{hook.event}: it never runs, because {why}.")
        yield replace(
            symptom, advice="Correct the matcher, or configure the hook for the event that is meant."
        )
    if is_ignored(hook_set, hook):
        text = f"{hook.event}: {hook_set.host} ignores the matcher `{hook.matcher}`, so the hook always runs."
        advice = f"Remove the matcher; to limit the hook, check its input ({hook.event}) in the script."
        yield replace(_symptom(CONFIG_OFF, hook, text), advice=advice)


def _of_timeouts(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the timeouts in another unit, each settings file once with all its entries."""
    for why, entries in odd_timeouts(hook_set):
        symptom = _together(TIMEOUT_UNIT, [hook_set.hooks[number - 1] for number in entries], f"{why}.")
        yield replace(symptom, entries=tuple(entries))


def _of_expressions(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield what the host makes of matchers that are conditions, each result once with all its entries."""
    for fits, entries in find_expressions(hook_set).items():
        hooks = [hook_set.hooks[number - 1] for number in entries]
        code, often = (CONFIG_OFF, "it runs for every tool") if fits else (NEVER_FIRED, "it never runs")
        text = (
            f"{often}, because {hook_set.host} compares the matcher `{hooks[0].matcher}` with names of tools"
        )
        ending = ", and an empty alternative (`||`) fits every name." if fits else "."
        advice = "Name the tools in the matcher, such as `Edit|Write`, and look at their input in the script."
        symptom = _together(code, hooks, text + ending)
        yield replace(symptom, advice=advice, entries=tuple(entries))


def _symptom(code: FindingCode, hook: Hook, text: str) -> Symptom:
    return Symptom(kind=code.name, code=code.code, hook=hook.command, text=text, advice=code.fix)
