"""
The scenarios of a check's sessions: what they have in common, whatever the agent does and the machine lacks.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.fixes.draft_files import DraftFiles
from pytest_hookharness.campaigns.check.static.correctable_hooks import bare_scripts, right_commands
from pytest_hookharness.campaigns.check.static.hook_program import runs_without_uv
from pytest_hookharness.campaigns.check.static.timeout_units import in_right_unit, short_timeouts
from pytest_hookharness.execution.workspace import uv_stand_in
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import FIRST_PROMPT, WORKSPACE, Act, Behaviour, Script, Stop
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.protocol import Hook, Json
from pytest_hookharness.model.scenario import Answer, Double, Scenario

_PROGRAMS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini-cli"}
# More than the moves need, for what hooks ask for.
_TURNS = 24
# Keys of an entry that only a person reads.
_IDLE = frozenset(["statusMessage", "description"])
# A command that every shell has, and that has no effect.
NOTHING = ":"


def with_commands(hook_set: HookSet, commands: Mapping[str, str]) -> HookSet | None:
    """
    Return a hook set whose sessions run other commands in the place of some.

    ``None`` if there are none, or if they do not stand in JSON files of the project.
    """
    if hook_set.plugin or hook_set.inline is not None:
        return None
    files = draft = _settings_of(hook_set)
    for file in hook_set.files:
        files = files.with_commands(hook_set.host, file, commands) or files
    return replace(hook_set, texts={**hook_set.texts, **files.texts}) if files != draft else None


def _settings_of(hook_set: HookSet) -> DraftFiles:
    """Return the settings files that sessions have in the place of the project's own."""
    files = DraftFiles(hook_set.root, {})
    for file in hook_set.files:
        if file in hook_set.texts:
            files = files.write(file, hook_set.texts[file].encode("utf-8", "surrogateescape"))
    return files


def with_corrections(hook_set: HookSet, hindering: Collection[str]) -> HookSet:
    """
    Return a hook set whose sessions have correct paths, executable scripts and long enough timeouts.

    `:` replaces each hindering command that these corrections do not repair.
    """
    right = right_commands(hook_set)
    if not hook_set.plugin:
        # Those that stand in a file that can be changed.
        right = {old: new for old, new in right.items() if with_commands(hook_set, {old: new})}
    placed = _renamed(hook_set, right)
    bare = bare_scripts(placed)
    texts = {path: text for scripts in bare.values() for path, text in scripts.items()}
    if hook_set.plugin:
        correctable = (texts or right) and all(_is_plain(hook_set, hook) for hook in hook_set.hooks)
        return _opened(placed, texts) if correctable else hook_set
    # A session makes files executable that begin as programs do.
    corrected = _with_longer_timeouts(replace(placed, texts={**placed.texts, **texts}))
    # Keep hooks that only a too short timeout ended.
    pairs = zip(corrected.hooks, hook_set.hooks, strict=True)
    able = {*bare, *(before.command for one, before in pairs if one.timeout != before.timeout)}
    return with_commands(corrected, {**dict.fromkeys({*hindering} - able, NOTHING), **right}) or corrected


def _with_longer_timeouts(hook_set: HookSet) -> HookSet:
    """Return a hook set whose sessions have timeouts of the host's unit in the place of too short ones."""
    unit = hosts.find(hook_set.host).config.limits.unit
    odd = short_timeouts(hook_set)
    if not odd or hook_set.inline is not None:
        return hook_set
    files, longer = _settings_of(hook_set), dict[int, int]()
    texts = {**hook_set.texts}
    for file in hook_set.files:
        after, found = in_right_unit((files.read(file) or b"").decode("utf-8", "replace"), odd, unit)
        texts |= {file: after} if found else {}
        longer |= found
    if not longer:
        return hook_set
    hooks = list[Hook]()
    for hook in hook_set.hooks:
        meant = longer.get(round((hook.timeout or 0) / unit))
        hooks.append(replace(hook, timeout=meant * unit) if meant else hook)
    return replace(hook_set, texts=texts, hooks=tuple(hooks), found=hook_set.found or hook_set)


def _renamed(hook_set: HookSet, commands: Mapping[str, str]) -> HookSet:
    """Return a hook set with other commands of its hooks."""
    if not commands:
        return hook_set
    hooks = (replace(hook, command=commands.get(hook.command, hook.command)) for hook in hook_set.hooks)
    return replace(hook_set, hooks=tuple(hooks), found=hook_set)


def _opened(hook_set: HookSet, texts: Mapping[str, str]) -> HookSet:
    """Return a plugin as a project of its own: the folder of a plugin is not the session's to change."""
    bare = replace(hook_set, plugin=False, texts=texts, found=hook_set.found or hook_set)
    scenario = alone(scenario_of(hook_set, ()), *hook_set.hooks)
    inline = scenario.hooks if isinstance(scenario.hooks, Mapping) else None
    return replace(bare, inline=inline, env={**hook_set.env, **scenario.env})


def may_be_alone(hook_set: HookSet, hooks: Sequence[Hook]) -> bool:
    """Return whether a scenario can have some hooks without the others."""
    return hook_set.inline is None and all(_is_plain(hook_set, hook) for hook in hooks)


def _is_plain(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether an entry of its event can say all about a hook: a command, a matcher and other keys."""
    own = {hosts.find(hook_set.host).config.plugin_root} if hook_set.plugin else set()
    given = hook.env.keys() - own
    # The meaning of another host's settings is reported once for the whole file.
    own_keys = not hook.foreign or hook.options.keys() <= _IDLE
    return hook.type == "command" and not given and own_keys


def varied(scenario: Scenario, *families: str) -> Scenario:
    """Return the scenario with the mutations of some families."""
    return replace(scenario, vary=tuple(map(VaryRequest, families)))


def scenario_of(hook_set: HookSet, acts: Sequence[Act], then: Behaviour | None = None) -> Scenario:
    """Return the scenario of a session: its moves, and all that the hook set needs."""
    return Scenario(
        name="check",
        host=hook_set.host,
        project=None if hook_set.plugin else hook_set.root,
        plugin=hook_set.root if hook_set.plugin else None,
        hooks=hook_set.inline or hook_set.only or None,
        env={**hook_set.lent_env, **hook_set.env},
        files=hook_set.texts,
        home_folder=hook_set.home,
        reach=hook_set.reach,
        git=hook_set.git,
        commands=_fake_agents(hook_set) | stand_ins(hook_set),
        answers=tuple(_answers(hook_set)),
        options=_without_stuck_detection(hook_set.host),
        script=Script(acts=tuple(acts), then=then or Behaviour()),
        turns=len(acts) + _TURNS,
        expect=Expectation(verdict="terminated"),
    )


def _without_stuck_detection(host: str) -> dict[str, bool | int | float | str]:
    """Return the option that keeps a host from ending repetitive sessions, as that would hide a loop."""
    stuck = hosts.find(host).stuck
    return {stuck.option: False} if stuck is not None and stuck.option else {}


def cut_short(title: str, scenario: Scenario) -> CheckSession:
    """Return a session that ends after its acts, however often a stop is refused."""
    return CheckSession(title=title, scenario=replace(scenario, turns=len(scenario.script.acts)), ends=False)


def alone(scenario: Scenario, *hooks: Hook) -> Scenario:
    """Return the scenario of these hooks only. A host adds all hooks of a plugin, so that is its project."""
    config = hosts.find(scenario.host).config
    configured: dict[str, list[Json]] = {}
    for hook in hooks:
        handler: dict[str, Json] = {} if config.untyped else {config.keys.type: "command"}
        handler[config.types["command"]], *arguments = hook.words
        if hook.args is not None:
            handler[config.keys.args] = arguments
        handler |= {key: value for key, value in hook.options.items() if key not in _IDLE}
        if hook.matcher is not None:
            handler["matcher"] = hook.matcher
        configured.setdefault(hook.event, []).append(handler)
    if scenario.plugin is None:
        return replace(scenario, hooks=configured)
    env = {**scenario.env, **({config.plugin_root: WORKSPACE} if config.plugin_root else {})}
    return replace(scenario, project=scenario.plugin, plugin=None, env=env, hooks=configured)


def _answers(hook_set: HookSet) -> Iterator[Answer]:
    """Yield empty answers for handlers that are not commands, so that the other hooks can be played."""
    for event, kind in dict.fromkeys((hook.event, hook.type) for hook in hook_set.hooks):
        if kind != "command":
            yield Answer(event=event, type=kind)


def _fake_agents(hook_set: HookSet) -> dict[str, Double]:
    """Return fake agents for the agent programs that the hooks mention, so that nested hooks are seen too."""
    words = {
        word
        for text in (*(text for _, text in hook_set.sources), *(hook.command for hook in hook_set.hooks))
        for word in re.findall(r"(?<![\w./-])(?:claude|codex|gemini)(?![\w./-])", text)
    }
    return {word: Double(agent=_PROGRAMS[word], stdout="All is well.\n") for word in sorted(words)}


def short_scenario_of(hook_set: HookSet, moves: Sequence[Act]) -> Scenario:
    """Return the scenario of a session that ends after some moves and one attempt to stop."""
    acts = (FIRST_PROMPT, *moves, Stop())
    return replace(scenario_of(hook_set, acts), turns=len(acts))


_UV = "uv"
_CALLS_UV = re.compile(r"(?<![\w./-])uv\s+run\s")
# A script that names the packages that it needs.
_DEPENDS = re.compile(r"^#\s*dependencies\s*=\s*\[\s*(?:\n#\s*)?[\"']", re.MULTILINE)
# A command that does something else where there is no uv.
_ASKS_FOR_UV = re.compile(r"\b(?:command\s+-[vV]|which|hash|type)\s+(?:-\w+\s+)?uv\b")


def stand_ins(hook_set: HookSet) -> dict[str, Double]:
    """Return the test doubles of programs that hooks start and that this machine lacks, by their names."""
    commands = [hook.command for hook in hook_set.hooks]
    called = any(map(_CALLS_UV.search, commands)) and not any(map(_ASKS_FOR_UV.search, commands))
    if not called or (shutil.which(_UV) is not None and not _lacks_packages(hook_set)):
        return {}
    return {_UV: Double(module=uv_stand_in.__name__)}


def _lacks_packages(hook_set: HookSet) -> bool:
    """Return whether uv never got a package here, and the hooks that it runs can do without it."""
    of_uv = [hook for hook in hook_set.hooks if _CALLS_UV.search(hook.command)]
    cache = Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")
    needs = any(_DEPENDS.search(text) for hook in of_uv for text in hook_set.scripts_of(hook))
    return (
        needs and not any(cache.glob("archive-v*/*")) and all(runs_without_uv(hook_set, one) for one in of_uv)
    )


def describe_stand_ins(hook_set: HookSet) -> Iterator[str]:
    """Yield sentences about test doubles that replaced programs which this machine lacks."""
    if stand_ins(hook_set):
        why = "has no packages here" if shutil.which(_UV) else "is not on PATH"
        yield f"uv {why}: its scripts whose modules the harness's Python has were run with that."
