"""
Defects of hooks that are certain before anything is run: settings, files, matchers, timeouts.

They are found for all hooks, whatever the time budget. What only this machine lacks is no defect: such hooks
could not be tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.reads.script_calls import find_in_calls
from pytest_hookharness.campaigns.check.reads.script_checks import find_in_scripts
from pytest_hookharness.campaigns.check.reads.shared_symptoms import (
    CheckRule,
    each_found,
    symptom_of,
    together,
)
from pytest_hookharness.campaigns.check.session_errors import gather
from pytest_hookharness.campaigns.check.static.concurrent_hooks import concurrent_hooks
from pytest_hookharness.campaigns.check.static.correctable_hooks import original_commands, rename_hooks
from pytest_hookharness.campaigns.check.static.entry_keys import refused_files, unread_key, unread_limit
from pytest_hookharness.campaigns.check.static.hook_program import (
    Obstacle,
    find_obstacle,
    foreign_test,
    relative_script,
)
from pytest_hookharness.campaigns.check.static.relative_files import relative_file
from pytest_hookharness.campaigns.check.static.split_paths import unquoted_paths
from pytest_hookharness.campaigns.check.static.timeout_units import odd_timeouts
from pytest_hookharness.campaigns.check.static.unknown_events import without_many
from pytest_hookharness.campaigns.check.static.unwired_hooks import unwired_hooks
from pytest_hookharness.campaigns.check.tool_names import (
    find_expressions,
    is_ignored,
    left_out,
)
from pytest_hookharness.hosts.matcher_names import never_matches
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.judging.findings.finding_catalogue import (
    CONFIG_OFF,
    EVENT_UNKNOWN,
    NEVER_FIRED,
    NOT_RUN,
)
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

# A flaw of an entry: its file, the path of keys to the entry, and what is wrong.
_ENTRY = re.compile(r"(?P<at>[^:]+, )(?P<path>\S+): (?P=path) (?P<what>.+)")
# A flaw of a whole file, which several files may have.
_OF_FILE = re.compile(r"(?P<at>)(?P<path>[^:,]+): (?P<what>there is no key .+)")

# A larger script is made by a program, from many others.
_LARGEST = 1 << 16


# What also depends on the event that a hook is configured for, and on the hooks beside it.
OF_SETTINGS = frozenset({codes.DOUBLE_NOISE.name, codes.MISSING_INPUT.name, NEVER_FIRED.name})


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
    sources = tuple(one for one in hook_set.sources if len(one[1]) <= _LARGEST)
    readable = replace(hook_set, sources=sources)
    symptoms, errors = gather(
        without_many(_of_settings(hook_set)),
        _not_run([(hook, found) for hook, found in obstacles if not found.local]),
        _of_entries(hook_set),
        _of_timeouts(hook_set),
        *(rule.symptoms(hook_set) for rule in _OF_KEYS),
        _of_expressions(hook_set),
        *find_in_scripts(readable),
        find_in_calls(readable),
        _of_shells(hook_set, [hook for hook, _ in obstacles]),
        _of_paths(readable),
        _of_unwired(hook_set),
        concurrent_hooks(readable),
    )
    unique = {
        (symptom.kind, symptom.text): symptom
        for symptom in symptoms
        if not (hook_set.unnamed and symptom.kind in OF_SETTINGS)
    }
    return StaticResult(
        symptoms=tuple(unique.values()),
        stuck={hook.command: found.text for hook, found in local},
        errors=tuple(errors),
    )


def in_words_of(hook_set: HookSet, static: StaticResult) -> StaticResult:
    """
    Return the result with each hook's command as sessions run it.

    NOT-RUN keeps the original command, because sessions find the script.
    """
    after = {before: command for command, before in original_commands(hook_set).items()}
    symptoms = (one if one.kind == NOT_RUN.name else rename_hooks(one, after) for one in static.symptoms)
    return replace(static, symptoms=tuple(symptoms))


def _flaw_in(text: str) -> re.Match[str] | None:
    return _ENTRY.fullmatch(text) or _OF_FILE.fullmatch(text)


def _of_settings(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the flaws of the settings, the same one of several entries or files once with all places."""
    found = [one for one in hook_set.findings if one.name in (CONFIG_OFF.name, EVENT_UNKNOWN.name)]
    places: dict[tuple[str, str], list[str]] = {}
    for finding in found:
        if flaw := _flaw_in(finding.text):
            places.setdefault((flaw["at"], flaw["what"]), []).append(flaw["path"])
    for finding in found:
        said = finding.text
        if flaw := _flaw_in(finding.text):
            paths = places[flaw["at"], flaw["what"]]
            if flaw["path"] != paths[0]:
                continue
            listed = ", ".join(paths) if flaw["at"] else first_few(paths)
            said = f"{flaw['at']}{listed}: {flaw['what']}"
        # The list of all names would hide the one that is meant.
        text, _, known = said.partition(" known events: ")
        text = f"{text.removesuffix(';')}." if known and not text.endswith("?") else text
        advice = f"{finding.advice} Known events: {known}." if known else finding.advice
        yield Symptom(kind=finding.name, code=finding.code, text=text, advice=advice)
    for text, advice in refused_files(hook_set):
        yield replace(together(CONFIG_OFF, hook_set.hooks, "", advice), text=text)


def _not_run(obstacles: Sequence[tuple[Hook, Obstacle]]) -> Iterator[Symptom]:
    """Yield one symptom for each cause, with all hooks that it keeps from running."""
    for cause in dict.fromkeys(found.cause for _, found in obstacles):
        same = [(hook, found) for hook, found in obstacles if found.cause == cause]
        obstacle = same[0][1]
        others = len({found.text for _, found in same}) - 1
        so = f"; the same holds for {counted(others, 'other file')}" if others else ""
        symptom = together(NOT_RUN, [hook for hook, _ in same], f"{obstacle.text}{so}.")
        yield replace(symptom, advice=obstacle.fix)


def _of_shells(hook_set: HookSet, broken: Sequence[Hook]) -> Iterator[Symptom]:
    """Yield the commands whose conditions the host's shell does not know."""
    sound = [hook for hook in hook_set.hooks if hook not in broken]
    for hooks, shell in each_found(hook_set, foreign_test, sound):
        text = f"{shell}, which is /bin/sh here, does not know `[[`, so the condition never holds."
        yield together(codes.STRICT_SHELL, hooks, text, "Use `[` or `case`, or start `bash -c '...'`.")


def _of_paths(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield which paths hold only in some folders, each form once with all its hooks."""
    for hooks, variable in each_found(hook_set, _unquoted_variable):
        text = f"{variable} is not quoted, so the shell makes two words of a path with a space."
        yield together(codes.UNQUOTED_PATH, hooks, text, f'Put it in double quotes: `"{variable}"`.')
    # Also of scripts that cannot run yet: the path stays wrong when they can.
    if relative := [(hook, script) for hook in hook_set.hooks if (script := relative_script(hook_set, hook))]:
        script = relative[0][1]
        text = f"{script} is looked up in the agent's current folder, so after a `cd` it is not found."
        advice = _from_the_project(hook_set.host, script)
        yield together(codes.RELATIVE_PATH, [hook for hook, _ in relative], text, advice)
    if written := [(hook, file) for hook in hook_set.hooks if (file := relative_file(hook_set, hook))]:
        file, *more = dict.fromkeys(file for _, file in written)
        others = " and ".join([file, *more[:1]]) + (f" and {len(more) - 1} more" if len(more) > 1 else "")
        are, they = ("are", "they are other files") if more else ("is", "it is another file")
        text = f"{others} {are} looked up in the agent's current folder, so after a `cd` {they}."
        advice = _from_the_project(hook_set.host, file)
        yield together(codes.RELATIVE_PATH, [hook for hook, _ in written], text, advice)


def _unquoted_variable(hook_set: HookSet, hook: Hook) -> str:
    return next((str(found[0]) for found in unquoted_paths(hook_set, hook)), "")


def _from_the_project(host: str, script: str) -> str:
    """Return the advice to begin a script's path with the project's folder, in the host's words."""
    variable = next(iter(hosts.find(host).process.project_variables), "")
    path = script.removeprefix("./")
    example = f'as in `"${variable}"/{path}`' if variable else "or write the whole path"
    return f"Begin the path with the project's folder, {example}."


def _of_entries(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the defects of single entries, each once, with the positions of its entries."""
    found: dict[tuple[str, str], list[tuple[int, Symptom]]] = {}
    for number, hook in enumerate(hook_set.hooks, 1):
        for symptom in _of_hook(hook_set, hook):
            found.setdefault((symptom.kind, symptom.text), []).append((number, symptom))
    for same in found.values():
        commands = ", ".join(dict.fromkeys(symptom.hook for _, symptom in same))
        yield replace(same[0][1], hook=commands, entries=tuple(number for number, _ in same))


def _of_hook(hook_set: HookSet, hook: Hook) -> Iterator[Symptom]:
    if why := never_matches(hook_set.host, hook):
        each = "Write an entry of its own for each permission rule."
        other = "Correct the matcher, or configure the hook for the event that is meant."
        advice = each if "several permission rules" in why else other
        yield together(NEVER_FIRED, [hook], f"it never runs, because {why}.", advice)
    for name, meant in left_out(hook_set, hook):
        text = f"the matcher `{hook.matcher}` leaves out `{meant}`, which is written `{name}`."
        yield together(CONFIG_OFF, [hook], text, f"Write `{meant}` in the matcher.")
    if is_ignored(hook_set, hook):
        text = f"{hook_set.host} ignores the matcher `{hook.matcher}`, so the hook always runs."
        advice = f"Remove the matcher; to limit the hook, check its input ({hook.event}) in the script."
        yield together(CONFIG_OFF, [hook], text, advice)


_OF_KEYS = (
    CheckRule(
        code=CONFIG_OFF,
        find=unread_key,
        text="{host} does not read the key `{0}`, {1}.",
        advice="Remove `{0}`, or write what the host reads.",
        by_entry=True,
    ),
    CheckRule(
        code=CONFIG_OFF,
        find=unread_limit,
        text="{host} does not read the key `{0}` {1}.",
        advice="Name tools in `matcher`, such as `Edit|Write`, and check everything else in the script.",
        by_entry=True,
    ),
)


def _of_timeouts(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the timeouts in a wrong unit, once for each settings file."""
    for why, entries in odd_timeouts(hook_set):
        symptom = together(codes.TIMEOUT_UNIT, [hook_set.hooks[number - 1] for number in entries], f"{why}.")
        yield replace(symptom, entries=tuple(entries))


def _of_expressions(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield what the host makes of matchers that are conditions, each result once with all its entries."""
    for fits, entries in find_expressions(hook_set).items():
        hooks = [hook_set.hooks[number - 1] for number in entries]
        code, often = (CONFIG_OFF, "it runs for every tool") if fits else (NEVER_FIRED, "it never runs")
        ending = ", and an empty alternative (`||`) fits every name." if fits else "."
        text = (
            f"{often}, because {hook_set.host} compares the matcher `{hooks[0].matcher}` with names of tools"
            f"{ending}"
        )
        advice = "Name the tools in the matcher, such as `Edit|Write`, and look at their input in the script."
        yield replace(together(code, hooks, text, advice), entries=tuple(entries))


def _of_unwired(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield the scripts that are said to be hooks, and that nothing starts, all at once."""
    if found := [*unwired_hooks(hook_set)]:
        said = [
            f"{path} is said to be a hook of {event}" + (f", and {document} names it" if document else "")
            for path, event, document in found
        ]
        it = "it" if len(found) == 1 else "them"
        text = f"{'; '.join(said)}; no settings or scripts of the project start {it}."
        yield symptom_of(NEVER_FIRED, "", text, f"Add {it} to the settings, or remove {it}.")
